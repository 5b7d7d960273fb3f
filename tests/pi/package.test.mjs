// The package as people get it: from the checkout, installed, and as the tarball of `npm pack`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { NODE, PI_VERSIONS, REPO, piCli, piCommand } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";

const NEXT = { calls: [{ name: "workflow_step", arguments: { action: "next" } }] };
const FILES = {
  "one/workflow.yaml": "name: One\ncommandName: one\ninitialMessage: Go\nphases: [a.md]\n",
  "one/a.md": "---\nid: a\nname: A\nemoji: '*'\n---\nDo it.\n",
};

const manifest = JSON.parse(readFileSync(join(REPO, "package.json"), "utf8"));

/** Whatever comes to lie in the package's folders: these files are published and no others. */
const PACKED = [
  ...["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "package.json"],
  ...["formats", "pi-workflows", "places", "workflows"].map((name) => `cli/${name}.js`),
  ...["moving", "reference", "tutorial"].map((name) => `docs/${name}.md`),
  ...["core.wasm", "core2.wasm", "core3.wasm", "js"].map((name) => `host-shim/component/pi_workflows.${name}`),
  ...["registrations.json", "shim.cjs"].map((name) => `host-shim/component/${name}`),
  ...["dialogs", "drawing", "exec", "extension", "files", "guest"].map((name) => `host-shim/${name}.js`),
  ...["index.cjs", "load.js", "record.js", "session.js", "store.js", "terminal-watch.js"].map((name) => `host-shim/${name}`),
  ...["schemas/phase.json", "schemas/workflow.json", "skills/workflow-authoring/SKILL.md"],
  ...["wit/extension.wit", "wit/tools/tools.wit"],
  ...Object.entries({
    "": ["README.md"],
    "_shared/": ["hand-over.md"],
    "_shared/implement-review/": ["implement.md", "review.md", "workflow.yaml"],
    "_shared/quality-check/": ["sign-off.md", "static-checks.md", "workflow.yaml"],
    "_shared/test-suite/": ["run.md", "triage.md", "workflow.yaml"],
    "audit/": ["inspect.md", "report.md", "scope.md", "workflow.yaml"],
    "bugfix/": ["patch.md", "reproduce.md", "verify.md", "workflow.yaml"],
    "quick/": ["do.md", "look.md", "workflow.yaml"],
    "release/": ["prepare.md", "publish-notes.md", "workflow.yaml"],
    "rpir/": ["implement.md", "plan.md", "research.md", "review.md", "workflow.yaml"],
    "until-clean/": ["spec.md", "workflow.yaml"],
  }).flatMap(([folder, names]) => names.map((name) => `workflows-examples/${folder}${name}`)),
].sort();
/** In bytes. */
const MAX_TARBALL = 500_000;

/** npm that belongs to the Node of the machine; pi is run by the repository's own. */
function npm(/** @type {string[]} */ parameters, /** @type {string} */ cwd) {
  return execFileSync("npm", [...parameters, "--loglevel=error"], { cwd, encoding: "utf8" });
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

for (const version of PI_VERSIONS) {
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
    for (const name of ["workflow", "cancel-workflow", "skill:workflow-authoring"]) assert.ok(names.includes(name), name);
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
    assert.ok(offered.includes("workflow-authoring") && offered.includes("skills/workflow-authoring/SKILL.md"), offered);
    const loaded = messages.slice(1).map(messageText).join("\n");
    for (const part of ["# Writing a workflow", "npx pi-workflows check", "one for reviews"]) assert.ok(loaded.includes(part), part);
  });
}

test("a component that is not built says what to do", async (t) => {
  const { sandbox } = await stage(t, [], {});
  const copy = join(sandbox.root, "copy");
  for (const path of ["host-shim", "package.json"]) cpSync(join(REPO, path), join(copy, path), { recursive: true });
  rmSync(join(copy, "host-shim/component"), { recursive: true });
  const [node, ...parameters] = piCommand({ sandbox, extension: copy, args: ["-p", "hello"] });
  assert.equal(node, NODE);
  assert.throws(
    () => execFileSync(node, parameters, { cwd: sandbox.project, env: sandbox.env(), stdio: "pipe" }),
    /The component of pi-workflows is not built \(npm run build\)/,
  );
});
