// The package as users get it: from the checkout, installed, and as the tarball of `npm pack`.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { LONG, VERSIONS } from "./harness/extent.mjs";
import { NODE, REPO, piCli, piCommand } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";

const NEXT = { calls: [{ name: "workflow_step", arguments: { action: "next" } }] };
const FILES = {
  "one/workflow.yaml": "name: One\ncommandName: one\ninitialMessage: Go\nphases: [a.md]\n",
  "one/a.md": "---\nid: a\nname: A\nemoji: '*'\n---\nDo it.\n",
};

const manifest = JSON.parse(readFileSync(join(REPO, "package.json"), "utf8"));

/** All published files. */
const PACKED = [
  ...["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "action.yml", "package.json"],
  ...[
    "action",
    "command-line",
    "exports",
    "formats",
    "models",
    "new",
    "new-package",
    "packages",
    "pi-workflows",
    "places",
    "words",
    "workflows",
  ].map((name) => `cli/${name}.js`),
  "cli/models-extension.mjs",
  ...[
    "README.md",
    "package.json",
    ...[
      "answer",
      "compare",
      "enclosure",
      "figures",
      "formats",
      "hidden",
      "html",
      "new-tasks",
      "pi-workflows-compare",
    ].map((name) => `${name}.js`),
    ...["results", "script", "statistics", "tasks", "trial", "view"].map((name) => `${name}.js`),
  ].map((file) => `packages/compare/${file}`),
  ...["agent", "conversation", "events", "output", "pi", "progress", "questions", "run"].map(
    (name) => `cli/headless/${name}.js`,
  ),
  ...[
    "branch",
    "clean",
    "columns",
    "course",
    "figures",
    "find",
    "formats",
    "process",
    "readable",
    "report",
    "sessions",
    "stats",
  ].map((name) => `cli/runs/${name}.js`),
  ...["data", "nodes", "page", "style", "timeline", "view"].map((name) => `cli/runs/html/${name}.js`),
  ...["README", "ci", "coming-from", "differences", "evaluating", "moving", "recipes"].map((name) => `docs/${name}.md`),
  ...[
    "budgets",
    "built-in",
    "commands-in-pi",
    "context",
    "diagnostics",
    "events",
    "gates",
    "groups-and-branches",
    "inputs-and-outputs",
    "limits",
    "outcomes-and-conditions",
    "packages",
    "phase-files",
    "pi-workflows",
    "reports",
    "runs",
    "scripts-and-ci",
    "settings",
    "steps-and-questions",
    "values-for-commands",
    "variables",
    "workflow-yaml",
  ].map((name) => `docs/reference/${name}.md`),
  "docs/tutorial.md",
  ...["core.wasm", "core2.wasm", "core3.wasm", "js"].map((name) => `host-shim/component/pi_workflows.${name}`),
  ...["registrations.json", "shim.cjs"].map((name) => `host-shim/component/${name}`),
  ...[
    "actions",
    "agent-output",
    "argument-text",
    "blocked-status",
    "branch-entries",
    "calls",
    "claims",
    "clock",
    "commands",
    "confinement",
    "context",
    "dialog-turns",
    "dialogs",
    "drawing",
    "events",
    "exports",
    "extension",
    "file-tools",
    "files",
    "folders",
    "guest",
    "interface",
    "joined-prompt",
    "json",
  ].map((name) => `host-shim/${name}.js`),
  ...[
    "last-handler",
    "load",
    "local-time",
    "manifest",
    "messages",
    "model-failure",
    "models",
    "packages",
    "pi-session",
    "programs",
    "renderers",
    "requests",
    "session",
    "shell",
    "snapshot",
    "store",
    "terminal-watch",
    "timers",
    "tools",
    "turns",
    "ui",
    "usage",
    "view",
  ].map((name) => `host-shim/${name}.js`),
  "host-shim/index.ts",
  ...["children", "origin", "session", "ui"].map((name) => `host-shim/children/${name}.js`),
  ...[
    "agent-folder",
    "bubblewrap",
    "command-line",
    "copies",
    "exec",
    "file-operations",
    "git-exclude",
    "git-folders",
    "hard-links",
    "hidden-paths",
    "index",
    "key-folders",
    "known",
    "listed-sockets",
    "look",
    "look-thread",
    "mounts",
  ].map((name) => `sandbox/${name}.js`),
  ...[
    "output-file",
    "placeholders",
    "plain",
    "processes",
    "programs",
    "running-commands",
    "seatbelt",
    "seccomp",
    "session",
    "session-folder",
    "shell-quote",
    "sockets",
    "untrusted-files",
    "ways",
    "write-target",
  ].map((name) => `sandbox/${name}.js`),
  ...["README.md", "package.json"].map((name) => `sandbox/${name}`),
  ...["README.md", "package.json", "test/workflows.test.js"].map((name) => `package-example/${name}`),
  ...["review-branch/read.md", "review-branch/report.md", "review-branch/workflow.yaml"].map(
    (name) => `package-example/workflows/${name}`,
  ),
  ...["run.md", "workflow.yaml"].map((name) => `package-example/workflows/_shared/run-checks/${name}`),
  ...[
    "schemas/event.json",
    "schemas/phase.json",
    "schemas/settings.json",
    "schemas/task.json",
    "schemas/workflow.json",
    "skills/workflow-authoring/SKILL.md",
  ],
  ...["wit/extension.wit", "wit/tools/tools.wit"],
  ...Object.entries({
    "csv-quotes": ["csv", "quotes"],
    "leap-year": ["calendar", "centuries"],
    "lost-update": ["shop", "at-once"],
    "overlapping-ranges": ["bookings", "within"],
    "rounded-shares": ["bill", "sums"],
  }).flatMap(([task, [code, hidden]]) =>
    [
      "check",
      "task.md",
      "project/package.json",
      `project/${code}.js`,
      `project/test/${code}.test.js`,
      `tests/${code}.test.js`,
      `tests/${hidden}.test.js`,
    ].map((name) => `packages/compare/evals-examples/bugfix/${task}/${name}`),
  ),
  ...Object.entries({
    "": ["README.md"],
    "_shared/": ["hand-over.md"],
    "_shared/implement-review/": ["implement.md", "review.md", "workflow.yaml"],
    "_shared/quality-check/": ["sign-off.md", "static-checks.md", "workflow.yaml"],
    "_shared/test-suite/": ["run.md", "triage.md", "workflow.yaml"],
    "audit/": ["inspect.md", "report.md", "scope.md", "workflow.yaml"],
    "backlog/": ["check.md", "cut.md", "do.md", "workflow.yaml", "wrap-up.md"],
    "bugfix/": ["patch.md", "reproduce.md", "triage.md", "verify.md", "workflow.yaml"],
    "panel/": ["bugs.md", "docs.md", "hand-over.md", "implement.md", "tests.md", "workflow.yaml"],
    "pull-request/": ["change.md", "describe.md", "open.md", "workflow.yaml"],
    "quick/": ["do.md", "look.md", "workflow.yaml"],
    "release/": ["prepare.md", "publish-notes.md", "workflow.yaml"],
    "rpir/": ["implement.md", "plan.md", "research.md", "review.md", "workflow.yaml"],
    "until-clean/": ["spec.md", "workflow.yaml"],
  }).flatMap(([folder, names]) => names.map((name) => `workflows-examples/${folder}${name}`)),
  ...["fix", "goal", "plan", "review"].map((name) => `workflows/${name}/workflow.yaml`),
  "workflows/review/scripts/change.sh",
].sort();
/** In bytes. */
const MAX_TARBALL = 1_360_000;

/** Runs the machine's npm; pi runs on the repository's own Node. */
function npm(/** @type {string[]} */ parameters, /** @type {string} */ cwd) {
  return execFileSync("npm", [...parameters, "--loglevel=error"], { cwd, encoding: "utf8" });
}

const IDENTITY = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

/**
 * Makes a repository with one commit of this repository's files.
 * @param {string} folder
 */
function repository(folder) {
  const git = (/** @type {string[]} */ ...parameters) =>
    execFileSync("git", parameters, {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, ...IDENTITY },
      stdio: "pipe",
    }).trim();
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: REPO,
    encoding: "utf8",
  });
  for (const file of listed.split("\0").filter((name) => name && existsSync(join(REPO, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(REPO, file), join(folder, file));
  }
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=All");
  const release = (/** @type {string[]} */ ...parameters) =>
    spawnSync(NODE, ["scripts/release.mjs", ...parameters], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, ...IDENTITY },
    });
  return { git, release };
}

test("the manifest is that of a pi package without runtime dependencies", () => {
  assert.equal(manifest.dependencies, undefined);
  assert.ok(manifest.keywords.includes("pi-package"));
  assert.ok(manifest.pi.extensions.length === 1 && existsSync(join(REPO, manifest.pi.extensions[0])));
  assert.ok(manifest.pi.skills.every((/** @type {string} */ path) => existsSync(join(REPO, path))));
  for (const [name, range] of Object.entries(manifest.peerDependencies)) {
    assert.match(name, /^@earendil-works\//);
    assert.equal(range, "*");
  }
});

for (const version of VERSIONS) {
  test(`${version}: the unpacked tarball loads from a folder without Rust or node_modules`, async (t) => {
    const { model, sandbox } = await stage(t, [NEXT, { text: "Done." }], { globalFiles: FILES });
    const [{ filename, files, size }] = JSON.parse(
      npm(["pack", "--ignore-scripts", "--json", "--pack-destination", sandbox.root], REPO),
    );
    const paths = files.map((/** @type {{ path: string }} */ { path }) => path);
    assert.deepEqual(paths.sort(), PACKED);
    assert.ok(size <= MAX_TARBALL, `${size} bytes`);
    execFileSync("tar", ["xzf", join(sandbox.root, filename)], { cwd: sandbox.root });
    const rpc = await startRpc({ version, sandbox, extension: join(sandbox.root, "package") });
    await rpc.promptAndSettle("/workflow one it");
    assert.deepEqual(rpc.extensionErrors(), []);
    assert.equal(model.requests.length, 2);
    assert.ok((await rpc.entries()).some((entry) => entry.customType === "workflow:complete"));
  });

  test(`${version}: pi install makes it part of every session`, async (t) => {
    const { model, sandbox } = await stage(t, [NEXT, { text: "Done." }], { globalFiles: FILES });
    const [node, cli] = piCli(version);
    const env = sandbox.env();
    execFileSync(node, [cli, "install", REPO], { cwd: sandbox.project, env, stdio: "pipe" });
    const rpc = await startRpc({ version, sandbox, extension: [] });
    const { data } = await rpc.send({ type: "get_commands" });
    const names = data.commands.map((/** @type {{ name: string }} */ { name }) => name);
    for (const name of ["workflow", "cancel-workflow", "skill:workflow-authoring"])
      assert.ok(names.includes(name), name);
    await rpc.promptAndSettle("/workflow one it");
    assert.equal(model.requests.length, 2);
  });

  test(`${version}: the skill is found, offered to the model, and loads`, async (t) => {
    const { model, sandbox } = await stage(t, [{ text: "Done." }], {});
    const [node, cli] = piCli(version);
    execFileSync(node, [cli, "install", REPO], { cwd: sandbox.project, env: sandbox.env(), stdio: "pipe" });
    const rpc = await startRpc({ version, sandbox, extension: [] });
    await rpc.promptAndSettle("/skill:workflow-authoring one for reviews");
    const [{ messages }] = model.requests;
    const offered = messageText(messages[0]);
    assert.ok(
      offered.includes("workflow-authoring") && offered.includes("skills/workflow-authoring/SKILL.md"),
      offered,
    );
    const loaded = messages.slice(1).map(messageText).join("\n");
    for (const part of ["# Writing a workflow", "../../cli/pi-workflows.js check", "one for reviews"])
      assert.ok(loaded.includes(part), part);
  });
}

test("a release is a commit of the packed files, made beside what is checked out", LONG, async (t) => {
  const { sandbox } = await stage(t, [], {});
  const folder = join(sandbox.root, "clone");
  mkdirSync(folder);
  const { git, release } = repository(folder);
  assert.equal(release().stderr, "release: The component is not built: npm run build\n");
  cpSync(join(REPO, "host-shim/component"), join(folder, "host-shim/component"), { recursive: true });
  for (const [parameters, stderr, status] of /** @type {[string[], string, number][]} */ ([
    [["a b"], 'release: "a b" is not a valid name of a branch.\n', 1],
    [["main"], 'release: "main" is checked out; a release needs another branch.\n', 1],
    [["--force"], "usage: npm run release [-- BRANCH]\n", 2],
    [["a", "b"], "usage: npm run release [-- BRANCH]\n", 2],
  ])) {
    const done = release(...parameters);
    assert.deepEqual([done.stderr, done.status], [stderr, status], parameters.join(" "));
  }
  const head = git("rev-parse", "HEAD");
  const built = `Version ${manifest.version}, built from ${git("rev-parse", "--short", "HEAD")}`;
  assert.equal(release().stdout, `release: ${built}\nTo publish it: git push origin release\n`);
  assert.deepEqual(
    [git("rev-parse", "HEAD"), git("branch", "--show-current"), git("status", "--porcelain")],
    [head, "main", ""],
  );
  assert.deepEqual(git("ls-tree", "-r", "--name-only", "release").split("\n").sort(), PACKED);
  assert.equal(git("log", "--format=%s", "release"), built);
  assert.equal(release().stdout, "release already has these files.\n");
  writeFileSync(join(folder, "CHANGELOG.md"), "# Changelog\n");
  assert.equal(release().stderr, "release: There are uncommitted changes; commit them first.\n");
  git("commit", "--quiet", "--all", "--message=More");
  assert.match(release().stdout, /^release: Version/);
  assert.equal(git("rev-list", "--count", "release"), "2");
});

for (const version of VERSIONS) {
  test(
    `${version}: pi install git:HOST/PATH@release works, and an install of the sources reports the missing build`,
    LONG,
    async (t) => {
      const { model, sandbox } = await stage(t, [NEXT, { text: "Done." }], { globalFiles: FILES });
      const remote = join(sandbox.root, "remote/someone/pi-workflows");
      mkdirSync(remote, { recursive: true });
      const { release } = repository(remote);
      cpSync(join(REPO, "host-shim/component"), join(remote, "host-shim/component"), { recursive: true });
      assert.equal(release().status, 0);
      // git reads the folder instead of the host.
      writeFileSync(
        join(sandbox.home, ".gitconfig"),
        `[url "file://${sandbox.root}/remote/"]\n\tinsteadOf = https://example.org/\n`,
      );
      const [node, cli] = piCli(version);
      const pi = (/** @type {string[]} */ ...parameters) =>
        spawnSync(node, [cli, ...parameters], {
          cwd: sandbox.project,
          env: { ...sandbox.env(), npm_config_offline: "true" },
          encoding: "utf8",
        });
      const installed = pi("install", "git:example.org/someone/pi-workflows@release");
      assert.equal(installed.status, 0, installed.stderr + installed.stdout);
      const listed = pi("list").stdout;
      const folder = join(sandbox.agent, "git/example.org/someone/pi-workflows");
      assert.ok(listed.includes(folder), listed);
      assert.equal(existsSync(join(folder, "node_modules")), false);
      const command = spawnSync(node, [join(folder, "cli/pi-workflows.js"), "list"], {
        cwd: sandbox.project,
        env: sandbox.env(),
        encoding: "utf8",
      });
      assert.deepEqual(
        [command.status, command.stderr],
        [0, "There is no .pi/workflows here: the workflows are those of your own folder and of installed packages.\n"],
      );
      const rpc = await startRpc({ version, sandbox, extension: [] });
      await rpc.promptAndSettle("/workflow one it");
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.equal(model.requests.length, 2);

      rmSync(join(folder, "host-shim/component"), { recursive: true });
      const unbuilt = pi("--offline", "-p", "hello");
      assert.match(
        unbuilt.stderr,
        /The component of pi-workflows is not built\. Run "npm run build" in .*example\.org\/someone\/pi-workflows\/, or install/,
      );
    },
  );
}

test("a component that is not built is reported with the command to build it", async (t) => {
  const { sandbox } = await stage(t, [], {});
  const copy = join(sandbox.root, "copy");
  for (const path of ["host-shim", "sandbox", "package.json"])
    cpSync(join(REPO, path), join(copy, path), { recursive: true });
  rmSync(join(copy, "host-shim/component"), { recursive: true });
  const [node, ...parameters] = piCommand({ sandbox, extension: copy, args: ["-p", "hello"] });
  assert.equal(node, NODE);
  assert.throws(
    () => execFileSync(node, parameters, { cwd: sandbox.project, env: sandbox.env(), stdio: "pipe" }),
    /The component of pi-workflows is not built\. Run "npm run build" in \S+\/copy\/, or install a branch or tag that holds the built files\./,
  );
});
