// The command `pi-workflows`, run as a process.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";

import { canConfine } from "#sandbox";
import { LONG, variants } from "../pi/harness/extent.mjs";
import { NODE, PI_VERSIONS, REPO, piCli } from "../pi/harness/pi.mjs";
import { workflow } from "../pi/harness/workflows.mjs";

const CLI = join(REPO, "cli/pi-workflows.js");
const FLOW = workflow("flow", [{ id: "look", tools: { blacklist: ["edit"] } }, "@part"], { loopable: false });
const PART = workflow("part", ["do", "see"], { show: "workflows", commandName: undefined, initialMessage: undefined });

/**
 * Creates a folder with a project and a home.
 *
 * @param {import("node:test").TestContext} t
 * @param {Record<string, string>} project files of `.pi/workflows`
 * @param {Record<string, string>} [global] files of pi's folder
 */
function place(t, project, global = {}) {
  const root = mkdtempSync(join(tmpdir(), "pi-workflows-cli-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folders = { home: join(root, "home"), project: join(root, "project") };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  write(join(folders.project, ".pi/workflows"), project);
  write(join(folders.home, ".pi/agent"), { "workflows/settings.yaml": "builtin: false\n", ...global });
  const run = (/** @type {string[]} */ parameters, cli = CLI, cwd = folders.project) => {
    const env = { PATH: process.env.PATH, HOME: folders.home, USERPROFILE: folders.home };
    const { status, stdout, stderr } = spawnSync(NODE, [cli, ...parameters], {
      cwd,
      env,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  return { root, ...folders, run };
}

/** @param {string} folder @param {Record<string, string>} files */
function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const INVALID = {
  ...FLOW,
  ...PART,
  "flow/look.md": "---\nid: look\nname:\n---\nLook at {descripton}, 100%.\n",
};

test("check shows every diagnostic, and fails if one is an error", (t) => {
  const { run } = place(t, INVALID);
  assert.deepEqual(run(["check"]), {
    status: 1,
    stdout: `.pi/workflows/flow/look.md:3:1: error: \`name\` has no value
  3 | name:
    | ^^^^
  help: write a value, or remove the key

.pi/workflows/flow/look.md:5:9: warning: unknown variable \`{descripton}\`; it is not replaced
  5 | Look at {descripton}, 100%.
    |         ^^^^^^^^^^^^
  help: did you mean \`{description}\`?

1 error, 1 warning. 1 workflow is left out.
`,
    stderr: "",
  });
  const json = run(["check", "--format", "json"]);
  assert.equal(json.status, 1);
  assert.deepEqual(JSON.parse(json.stdout).diagnostics[1], {
    severity: "warning",
    file: ".pi/workflows/flow/look.md",
    line: 5,
    column: 9,
    endColumn: 21,
    message: "unknown variable `{descripton}`; it is not replaced",
    help: "did you mean `{description}`?",
  });
  const github = run(["check", "--format=github"]);
  assert.equal(github.status, 1);
  assert.equal(
    github.stdout.split("\n")[1],
    "::warning file=.pi/workflows/flow/look.md,line=5,col=9,endColumn=21::unknown variable `{descripton}`; it is not replaced%0Adid you mean `{description}`?",
  );
});

test("check takes a project, a workflows folder or a workflow", (t) => {
  const { project, home, run } = place(t, INVALID, { "workflows/bad/workflow.yaml": "7\n" });
  const files = (/** @type {string[]} */ ...parameters) => {
    const { diagnostics } = JSON.parse(run(["check", "--format", "json", ...parameters]).stdout);
    return [...new Set(diagnostics.map((/** @type {{ file: string }} */ { file }) => file))];
  };
  assert.deepEqual(files(), ["~/.pi/agent/workflows/bad/workflow.yaml", ".pi/workflows/flow/look.md"]);
  for (const dir of [project, ".", ".pi/workflows", ".pi/workflows/flow"]) {
    assert.deepEqual(files(dir), [".pi/workflows/flow/look.md"], dir);
  }
  assert.deepEqual(files(".pi/workflows/part"), []);
  assert.equal(run(["check", ".pi/workflows/part"]).status, 0);
  assert.deepEqual(files(join(home, ".pi/agent/workflows/bad")), ["~/.pi/agent/workflows/bad/workflow.yaml"]);
  assert.deepEqual(run(["check", "nowhere"]), { status: 2, stdout: "", stderr: "There is no folder nowhere.\n" });
});

test("check DIR reports and counts the diagnostics of DIR, with any file names", LONG, (t) => {
  const broken = workflow("broken", ["one"], { phases: ["one.md", "missing.md"] });
  const shared = { "_shared/deep.md": "---\nid: deep\nname:\n---\nDo it.\n" };
  const dotted = workflow("dotted", ["see"], { phases: ["see.md", "..bad.md"] });
  const files = {
    ...workflow("sound", ["do"]),
    ...broken,
    ...shared,
    ...workflow("borrower", ["own"], { phases: ["own.md", "../_shared/deep.md"] }),
    ...dotted,
    "dotted/..bad.md": "---\nid: bad\nname:\n---\nDo it.\n",
    "..odd/workflow.yaml": "7\n",
  };
  const { project, root, run } = place(t, files);
  const check = (/** @type {string} */ dir) => {
    const { status, stdout } = run(["check", dir]);
    return [
      status,
      stdout.trimEnd().split("\n").at(-1),
      [...stdout.matchAll(/^(\S+?):.*(?:error|warning): /gm)].map(([, file]) => file),
    ];
  };
  const error = "1 error, 0 warnings. 1 workflow is left out.";
  assert.deepEqual(check(".pi/workflows/sound"), [0, "1 workflow, no errors.", []]);
  assert.deepEqual(check(".pi/workflows/broken"), [1, error, [".pi/workflows/broken/workflow.yaml"]]);
  assert.deepEqual(check(".pi/workflows/dotted"), [1, error, [".pi/workflows/dotted/..bad.md"]]);
  assert.deepEqual(check(".pi/workflows/..odd"), [1, error, [".pi/workflows/..odd/workflow.yaml"]]);
  assert.deepEqual(
    check(".pi/workflows/borrower"),
    [1, error, [".pi/workflows/_shared/deep.md"]],
    "a phase file elsewhere",
  );
  symlinkSync(join(project, ".pi/workflows/broken"), join(root, "link"));
  assert.deepEqual(check(join(root, "link")), [1, error, [".pi/workflows/broken/workflow.yaml"]], "a link to it");
  const all = check(".");
  assert.deepEqual([all[0], all[1]], [1, "4 errors, 0 warnings. 4 workflows are left out."]);
});

test("check names the folders of git for which rules with .git/ stand", (t) => {
  const rules = { hide: [".git/", "secret.txt"], write: [".git/", "src/"] };
  const { project, root, run } = place(t, workflow("hidden", ["do"], rules));
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { stdio: "ignore" });
  const main = join(root, "main");
  git("init", "-q", main);
  git("-C", main, "commit", "-q", "--allow-empty", "-m", "first");
  git("-C", main, "worktree", "add", "-q", "-f", join(root, "tree"));
  const told = () => run(["check"]).stdout.match(/^`.*$/gm);
  const stands = (/** @type {string} */ field, /** @type {string[]} */ ...paths) =>
    `\`.git/\` in \`${field}\` stands for ${paths.map((path) => join(root, path)).join(", ") || "nothing"}`;
  assert.deepEqual(told(), [stands("hide"), stands("write")], "outside of a work tree");
  renameSync(join(root, "tree/.git"), join(project, ".git"));
  git("-C", main, "worktree", "repair", project);
  const linked = "main/.git/worktrees/tree";
  assert.deepEqual(told(), [
    stands("hide", `${basename(project)}/.git`, linked, "main/.git"),
    stands("write", "main/.git"),
  ]);
  const { gitFolders } = JSON.parse(run(["check", "--format", "json"]).stdout);
  assert.deepEqual(gitFolders[1], { field: "write", path: ".git/", folders: [join(root, "main/.git")] });
  writeFileSync(join(root, linked, "gitdir"), "/elsewhere/.git\n");
  assert.match(told()?.[1] ?? "", /stands for nothing: .*\/tree, which .*\/\.git names, does not name it$/);
});

test("check --strict fails on warnings", (t) => {
  const { run } = place(t, workflow("flow", ["do"], { initialMessage: "Do {decription}" }));
  const check = run(["check"]);
  assert.equal(check.status, 0);
  assert.match(check.stdout, /\n0 errors, 1 warning\.\n$/);
  assert.deepEqual(run(["check", "--strict"]), { ...check, status: 1 });
  assert.equal(run(["check", "--strict", "--format", "json", ".pi/workflows/flow"]).status, 1);
  assert.equal(run(["check", "--strict", "--tools", "read"]).status, 1);
  const sound = place(t, workflow("flow", ["do"]));
  assert.equal(sound.run(["check", "--strict"]).status, 0);
});

test("check knows the tools and profiles in its arguments", (t) => {
  const look = { id: "look", tools: { whitelist: ["raed", "deploy"] }, availableProfiles: ["scout", "planer"] };
  const { home, run } = place(t, workflow("flow", [look]));
  const messages = (/** @type {string[]} */ ...parameters) => {
    const { diagnostics } = JSON.parse(run(["check", "--format", "json", ...parameters]).stdout);
    return diagnostics.map((/** @type {{ message: string }} */ { message }) => message);
  };
  assert.deepEqual(messages(), ["unknown tool `raed`"]);
  assert.deepEqual(messages("--tools", "read"), ["unknown tool `raed`", "unknown tool `deploy`"]);
  assert.deepEqual(messages("--tools", "raed,deploy", "--profiles", "scout"), ["unknown subagent profile `planer`"]);
  write(join(home, ".pi/agent/agents"), { "a.md": "---\nname: scout\n---\n", "planer.md": "Plan.\n" });
  assert.deepEqual(messages("--tools", "raed,deploy"), []);
});

test("graph draws a flowchart", (t) => {
  const { run } = place(t, { ...FLOW, ...PART });
  assert.deepEqual(run(["graph", "flow"]), {
    status: 0,
    stdout: `flowchart TD
  start(["The flow"])
  p1["🔹 Look"]
  n1>"without edit"]:::note
  subgraph g1["The part"]
    p2["🔹 Do"]
    p3["🔹 See"]
  end
  done(["DONE"])
  p1 -.- n1
  start --> p1
  p1 --> p2
  p2 --> p3
  p3 -. loop .-> p2
  p3 --> done
  classDef note stroke-dasharray: 3 3
`,
    stderr: "",
  });
  assert.deepEqual(run(["graph", "flwo"]), {
    status: 2,
    stdout: "",
    stderr: 'There is no workflow "flwo". Did you mean "flow"?\n',
  });
  for (const words of [
    ["stats", "flwo"],
    ["runs", "--workflow", "flwo"],
  ]) {
    const { status, stderr } = run(words);
    assert.deepEqual([status, stderr], [0, 'There is no workflow "flwo": did you mean flow?\n']);
  }
});

test("show and run-through print the messages to an agent", (t) => {
  const { run } = place(t, { ...FLOW, ...PART });
  const show = run(["show", "flow", "--task", "the task"]);
  assert.equal(show.status, 0);
  for (const part of [
    "  1. 🔹 Look  (without edit)\n  2. The part > 🔹 Do\n",
    "Start The flow: the task",
    "Do see for the task.",
  ]) {
    assert.ok(show.stdout.includes(part), part);
  }
  const play = run(["run-through", "flow", "--task", "the task"]);
  assert.equal(play.status, 0);
  const titles = play.stdout.split("\n").filter((line) => line.startsWith("━━"));
  assert.equal(titles.filter((title) => /Turn \d: .* told ━━$/.test(title)).length, 3);
  assert.equal(titles.at(-1), "━━ What the user is shown at the end ━━");
  for (const part of [
    "Do look for the task.",
    "Do do for the task.",
    "Do see for the task.",
    "✅ **The flow Complete**",
  ]) {
    assert.ok(play.stdout.includes(part), part);
  }
  assert.deepEqual(run(["run-through", "part"]), {
    status: 2,
    stdout: "",
    stderr: '"part" can only run as part of another workflow.\n',
  });
});

/** A plan with outcomes and outputs, a phase that depends on them, a question, and groups for each item of lists. */
const PLAYED = workflow("fix", [], {
  inputs: {
    scope: { type: "choice", options: ["api", "web"] },
    note: { type: "text", default: "none" },
    files: { type: "list", default: ["x"] },
  },
  phases: [
    {
      id: "plan",
      prompt: "Plan {description}: {input.note}.",
      outcomes: { small: "next", large: "next" },
      outputs: { n: { type: "number" }, tasks: { type: "list" } },
    },
    { id: "design", prompt: "Design.", when: { "outcome.plan": "large", "input.scope": "api", "output.plan.n": 2 } },
    { ask: "Is it right?", id: "ok", outcomes: { go: "next", drop: "stop" } },
    { id: "work", each: "output.plan.tasks", phases: [{ id: "do", prompt: "Do {item} of {itemCount}." }] },
    { id: "files", each: "input.files", phases: [{ id: "look", prompt: "Look at {item} of {itemCount}." }] },
    { id: "fixed", each: ["a"], phases: [{ id: "last", prompt: "End with {item}." }] },
  ],
});

test("run-through takes inputs, outcomes, outputs, answers and items", (t) => {
  const { run } = place(t, PLAYED);
  const play = (/** @type {string[]} */ ...options) => {
    const { status, stdout, stderr } = run(["run-through", "fix", "--input", "scope=api", ...options]);
    assert.deepEqual([status, stderr], [0, ""]);
    return stdout;
  };
  const lines = (/** @type {string} */ stdout) => stdout.match(/^(Design|Do .*|Look at .*|End .*)\.$/gm);
  // The task is not read as values of inputs.
  const words = ["--task", "scope=web note=x", "--input", 'note=a "b" \\ c=d', "--outcome", "plan=large"];
  const items = ["work=the door", "files=a.md", "work=the roof", "files=b.md"].flatMap((item) => ["--item", item]);
  const large = play(...words, "--output", "plan.n=2", ...items, "--answer", "ok=go");
  assert.ok(large.includes('Plan scope=web note=x: a "b" \\ c=d.'), large);
  assert.match(
    large,
    /with next and the outcome large and the outputs n: 2, tasks: \[the door, the roof\], and is told/,
  );
  assert.deepEqual(lines(large), [
    "Design.",
    "Do the door of 2.",
    "Do the roof of 2.",
    "Look at a.md of 2.",
    "Look at b.md of 2.",
    "End with a.",
  ]);
  const tasks = ["--output", "plan.tasks=one two", "--output", "plan.tasks=three", "--input", "files="];
  assert.deepEqual(lines(play(...tasks)), ["Do one two of 2.", "Do three of 2.", "End with a."]);
  assert.match(play("--answer", "ok=drop"), /⛔ The fix was stopped in ❓ ok: drop\n/);
});

test("run-through refuses what there is not", (t) => {
  const { run } = place(t, PLAYED);
  const api = ["--input", "scope=api"];
  for (const [options, stderr] of variants(
    /** @type {[string[], string][]} */ ([
      [[], "Inputs without a value: --input scope=… (`api` or `web`)\n"],
      [["--input", "scope"], '--input takes NAME=VALUE, but is "scope".\n'],
      [["--input", "=x"], '--input takes NAME=VALUE, but is "=x".\n'],
      [["--input", ""], "--input needs a value.\n"],
      [[...api, ...api], "`scope` is given twice.\n"],
      [[...api, "--outcome", "plan="], '--outcome takes ID=NAME[,NAME...], but is "plan=".\n'],
      [[...api, "--answer", "ok"], '--answer takes ID=NAME[,NAME...], but is "ok".\n'],
      [[...api, "--output", "size"], '--output takes ID.NAME=VALUE, but is "size".\n'],
      [[...api, "--output", "plan.n=x"], "`plan.n`: expected a number, found `x`.\n"],
      [
        [...api, "--output", "plan.task=x"],
        "There is no output `plan.task`. Did you mean `plan.tasks`? There are plan.n, plan.tasks.\n",
      ],
      [[...api, "--item", "work"], '--item takes GROUP=TEXT, but is "work".\n'],
      [[...api, "--item", "fixed=x"], "The items of `fixed` stand in its file.\n"],
      [
        [...api, "--item", "wrok=x"],
        "There is no repeated group `wrok`. Did you mean `work`? There are work, files, fixed.\n",
      ],
    ]),
    3,
  )) {
    assert.deepEqual(run(["run-through", "fix", ...options]), { status: 2, stdout: "", stderr }, options.join(" "));
  }
  assert.deepEqual(run(["show", "fix", ...api]), {
    status: 2,
    stdout: "",
    stderr: "pi-workflows show takes no --input.\n",
  });
});

const LIMITED = workflow("flow", [
  { id: "plan", write: ["docs/plan.md", "tests/"], network: false },
  { id: "look", write: [], tools: { whitelist: ["read", "bash", "deploy"] } },
  { id: "free", tools: { blacklist: ["edit"] } },
  "@part",
]);

test("may decides on a tool call, and names the rule", (t) => {
  const { project, run } = place(t, { ...LIMITED, ...PART });
  const phase = (/** @type {string} */ id) =>
    readFileSync(join(project, `.pi/workflows/flow/${id}.md`), "utf8").split("\n");
  const line = (/** @type {string} */ id, /** @type {string} */ key) =>
    `.pi/workflows/flow/${id}.md:${phase(id).findIndex((text) => text.includes(key)) + 1}`;
  mkdirSync(join(project, "docs"));
  symlinkSync("/etc", join(project, "tests"));
  for (const [call, status, text] of variants(
    /** @type {[string, number, string][]} */ ([
      ["flow plan edit docs/plan.md", 0, `allowed: "docs/plan.md" is in write, ${line("plan", "write")}`],
      [
        "flow plan write @docs/../docs/plan.md",
        0,
        `allowed: "@docs/../docs/plan.md" is in write, ${line("plan", "write")}`,
      ],
      ["flow plan write src/a.rs", 1, `refused: "src/a.rs" cannot be written; write, ${line("plan", "write")}`],
      [
        "flow plan write tests/a",
        1,
        `refused: "tests/a" cannot be written: "tests/" leads through a link, so it allows nothing; write, ${line("plan", "write")}`,
      ],
      ["flow plan read src/a.rs", 0, 'allowed: no rule of the phase "plan" limits "read"'],
      [
        "flow plan deploy",
        1,
        `refused: "deploy" is not one of pi's own tools, so it may write any file; write, ${line("plan", "write")}`,
      ],
      ["flow look deploy now", 0, `allowed: "deploy" is in tools.whitelist, ${line("look", "whitelist")}`],
      ["flow look grep", 1, `refused: "grep" is not in tools.whitelist, ${line("look", "whitelist")}`],
      ["flow free edit a", 1, `refused: "edit" is in tools.blacklist, ${line("free", "blacklist")}`],
      ["flow free bash", 0, 'allowed: no rule of the phase "free" limits "bash"'],
      ["part do bash", 0, 'allowed: no rule of the phase "do" limits "bash"'],
    ]),
    4,
  )) {
    assert.deepEqual(run(["may", ...call.split(" ")]), { status, stdout: `${text}\n`, stderr: "" }, call);
  }
});

test("may tells how a command is confined, or why it cannot be", (t) => {
  const { project, run } = place(t, { ...LIMITED, ...PART });
  for (const folder of ["docs", "tests"]) mkdirSync(join(project, folder));
  let reason;
  try {
    canConfine(false);
  } catch (error) {
    reason = /** @type {Error} */ (error).message;
  }
  const { status, stdout, stderr } = run(["may", "flow", "plan", "bash", "echo x > docs/plan.md"]);
  assert.deepEqual([status, stderr], [reason ? 1 : 0, ""]);
  const at = String.raw`\.pi/workflows/flow/plan\.md:\d+`;
  if (reason) assert.match(stdout, new RegExp(`^refused: write, ${at}; this system has no sandbox: .+\n$`));
  else
    assert.match(
      stdout,
      new RegExp(`^confined: writable: docs/plan\\.md, tests/, and \\$TMPDIR, ${at}; no network, ${at}\n$`),
    );
  const preferred = place(t, workflow("flow", [{ id: "plan", network: false, sandbox: "preferred" }]));
  assert.equal(preferred.run(["may", "flow", "plan", "bash"]).status, 0);
});

test("paths of limits are relative to the project that is checked", (t) => {
  const { root, project } = place(t, { ...LIMITED, ...PART });
  const elsewhere = place(t, PART);
  mkdirSync(join(root, "real"));
  symlinkSync(join(root, "real"), join(project, "tests"));
  for (const parameters of [
    ["check", project],
    ["check", "--dir", project],
  ]) {
    assert.match(elsewhere.run(parameters).stdout, /`tests\/` leads through a link/);
  }
  assert.equal(
    elsewhere.run(["may", "--dir", project, "flow", "plan", "write", join(project, "docs/plan.md")]).status,
    0,
  );
});

test("may refuses names that it does not know", (t) => {
  const { run } = place(t, { ...LIMITED, ...PART });
  for (const [parameters, stderr] of variants(
    /** @type {[string[], string][]} */ ([
      [["flwo", "plan", "bash"], 'There is no workflow "flwo". Did you mean "flow"?\n'],
      [["flow", "plna", "bash"], 'There is no phase "plna" in the workflow "flow". Did you mean "plan"?\n'],
      [["flow", "do", "bash"], 'There is no phase "do" in the workflow "flow", only plan, look, free.\n'],
      [["flow", "plan", "edit"], "edit needs an ARGUMENT: the path of the file.\n"],
      [["flow", "plan"], "pi-workflows may needs a TOOL.\n"],
      [["flow"], "pi-workflows may needs a PHASE.\n"],
      [[], "pi-workflows may needs a WORKFLOW.\n"],
      [["flow", "plan", "edit", ""], "pi-workflows may needs an ARGUMENT.\n"],
      [["flow", "plan", "bash", "ls", "x"], '"x" is one word too many. Put a text in quotes.\n'],
    ]),
    3,
  )) {
    assert.deepEqual(run(["may", ...parameters]), { status: 2, stdout: "", stderr }, parameters.join(" "));
  }
});

test("new writes a workflow that checks clean and runs through", (t) => {
  const { project, home, run } = place(t, {});
  assert.equal(run(["new", "ship-it"]).status, 0);
  const yaml = join(project, ".pi/workflows/ship-it/workflow.yaml");
  assert.equal(run(["list"]).stdout, "ship-it  Ship It: Look first, then change.  .pi/workflows/ship-it\n");
  assert.deepEqual(run(["check", "--strict"]), { status: 0, stdout: "1 workflow, no errors.\n", stderr: "" });
  assert.equal(run(["run-through", "ship-it"]).status, 0);
  writeFileSync(yaml, "mine");
  assert.deepEqual(run(["new", "ship-it"]), {
    status: 2,
    stdout: "",
    stderr: ".pi/workflows/ship-it is there already.\n",
  });
  assert.equal(readFileSync(yaml, "utf8"), "mine");
  assert.equal(run(["new", "../x"]).status, 2);
  assert.equal(run(["new", "mine", "--global"]).status, 0);
  assert.ok(existsSync(join(home, ".pi/agent/workflows/mine/workflow.yaml")));
});

test("each template of new checks clean and runs through", (t) => {
  const { run } = place(t, {});
  const templates = join(REPO, "src/definition/templates");
  const checked = { status: 0, stdout: "3 workflows, no errors.\n", stderr: "" };
  assert.deepEqual(run(["check", "--strict", templates]), checked);
  for (const name of readdirSync(templates))
    assert.match(run(["run-through", name, "--dir", templates]).stdout, /DONE/, name);
});

test("new takes the answers as options, and quotes them", (t) => {
  const { project, run } = place(t, {});
  const said = 'Ship: "it" # \\ {all}';
  assert.equal(run(["new", "ship", "--description", said, "--gate", said]).status, 0);
  const yaml = readFileSync(join(project, ".pi/workflows/ship/workflow.yaml"), "utf8");
  const quoted = JSON.stringify(said);
  for (const line of [`description: ${quoted}\n`, `\n      - run: ${quoted}\n`]) assert.ok(yaml.includes(line), yaml);
  assert.deepEqual(run(["check", "--strict"]), { status: 0, stdout: "1 workflow, no errors.\n", stderr: "" });
  assert.equal(run(["run-through", "ship"]).status, 0);
  for (const [more, why] of variants(
    /** @type {[string[], RegExp][]} */ ([
      [["--template", "perhaps"], /^"perhaps" is none of: look: /],
      [["--template", "panel", "--gate", "true"], /^new takes --gate with --template check only\./],
      [["--description", "x".repeat(1001)], /^An answer is one line of at most 1000 characters/],
      [["--gate", "true", "--from", "quick"], /^new takes --gate or --from, not both\./],
    ]),
    3,
  )) {
    const refused = run(["new", "other", ...more]);
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, why);
  }
  assert.deepEqual(readdirSync(join(project, ".pi/workflows")), ["ship"]);
});

test("new --package writes a package that checks clean, runs through and passes its own test", (t) => {
  const { run, project, root } = place(t, {});
  const { status, stdout } = run(["new", "--package", "@acme/ship-it"]);
  assert.equal(status, 0);
  const files = ["package.json", "README.md", "test/workflows.test.js", "workflows/ship-it/workflow.yaml"];
  assert.deepEqual(
    stdout.split("\n\n")[0].split("\n"),
    files.map((file) => join("ship-it", file)),
  );
  assert.match(stdout, /"pi install \.\/ship-it"/);
  const manifest = JSON.parse(readFileSync(join(project, "ship-it/package.json"), "utf8"));
  assert.equal(manifest.name, "@acme/ship-it");
  assert.deepEqual(manifest["pi-workflows"], { workflows: ["./workflows"] });
  assert.deepEqual(run(["check", "--strict", "ship-it"]), {
    status: 0,
    stdout: "1 workflow, no errors. From packages: @acme/ship-it (1).\n",
    stderr: "",
  });
  assert.deepEqual(
    run(["check", "ship-it/workflows/ship-it"]).stdout,
    "1 workflow, no errors. From packages: @acme/ship-it (1).\n",
  );
  for (const name of ["ship-it", "@acme/ship-it/ship-it"])
    assert.match(run(["run-through", name, "--dir", "ship-it"]).stdout, /Look first|DONE/);
  passesItsTest(root, join(project, "ship-it"));
  const before = readFileSync(join(project, "ship-it/package.json"), "utf8");
  assert.deepEqual(run(["new", "--package", "ship-it"]), {
    status: 2,
    stdout: "",
    stderr: "ship-it is there already.\n",
  });
  assert.equal(readFileSync(join(project, "ship-it/package.json"), "utf8"), before);
  for (const name of variants(
    ["Ship", "../x", "@acme/", "@/x", "a/b", "node_modules", "a b", ".x", "x".repeat(215), "é"],
    2,
  )) {
    const refused = run(["new", "--package", name]);
    assert.equal(refused.status, 2, name);
    assert.match(refused.stderr, /^".*" is not a valid name of a package: .*\n$/);
  }
  assert.equal(run(["new", "--package", "x", "--global"]).stderr, "new takes --package or --global, not both.\n");
  assert.deepEqual(readdirSync(project), ["ship-it"]);
});

test("the example package checks clean and passes its own test", (t) => {
  const { root, run } = place(t, {});
  const folder = join(root, "package-example");
  cpSync(join(REPO, "package-example"), folder, { recursive: true });
  assert.deepEqual(run(["check", "--strict", folder]), {
    status: 0,
    stdout: "2 workflows, no errors. From packages: review-kit (2).\n",
    stderr: "",
  });
  passesItsTest(root, folder);
});

/**
 * Runs the test of a package, with the command pi-workflows.
 * @param {string} root a folder for the command
 * @param {string} cwd
 */
function passesItsTest(root, cwd) {
  const bin = join(root, "bin");
  write(bin, { "pi-workflows": `#!/bin/sh\nexec "${NODE}" "${CLI}" "$@"\n` });
  chmodSync(join(bin, "pi-workflows"), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: root };
  const { status, stdout } = spawnSync(NODE, ["--test", "--test-reporter=tap"], { cwd, env, encoding: "utf8" });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^# pass 2$/m);
}

/** A package with these workflows, as files by path. @param {string} name @param {Record<string, string>} workflows */
const packageOf = (name, workflows) => ({
  "package.json": JSON.stringify({ name, "pi-workflows": { workflows: ["./workflows"] } }),
  ...Object.fromEntries(Object.entries(workflows).map(([path, text]) => [`workflows/${path}`, text])),
});

test("texts name the outcome and the summary of a nested workflow by its key, with and without its package", (t) => {
  const { run, project } = place(t, {});
  const kit = (/** @type {string} */ text, /** @type {string} */ key) =>
    packageOf("@acme/kit", {
      ...workflow("ship", [
        "@review",
        { id: "fix", when: { [`outcome.${key}`]: "bad" } },
        { id: "last", instructions: text },
      ]),
      ...workflow("review", ["look", { id: "judge", outcomes: { good: "next", bad: "next" } }], {
        show: "workflows",
        commandName: undefined,
        initialMessage: undefined,
      }),
    });
  for (const key of variants(["review", "@acme/kit/review"])) {
    write(join(project, "kit"), kit(`It is {outcome.${key}}: {summary.${key}}. {outcome.kit/review}`, key));
    const check = run(["check", "--strict", "kit"]);
    assert.match(check.stdout, /unknown variable `\{outcome\.kit\/review\}`/);
    assert.match(check.stdout, /\n0 errors, 1 warning\. /);
    const { stdout } = run(["run-through", "ship", "--dir", "kit"]);
    assert.ok(stdout.includes("It is good: (what the agent hands over). {outcome.kit/review}"), stdout);
    write(join(project, "kit"), kit("No {summary.@acme/kit/rview} {summary.x/review}", key));
    assert.match(run(["check", "kit"]).stdout, /rview[^]*did you mean[^]*review/i);
  }
});

test("installed packages are read where pi can be loaded", LONG, (t) => {
  const { run, home, project, root } = place(
    t,
    { ...FLOW, ...PART },
    { "settings.json": JSON.stringify({ packages: ["../../../kit"] }) },
  );
  write(join(root, "kit"), packageOf("@acme/kit", { ...FLOW, ...PART, ...workflow("ship", ["go"]) }));
  write(join(project, "tools/two"), packageOf("two", workflow("two", ["go"])));
  write(join(project, ".pi"), { "settings.json": JSON.stringify({ packages: ["../tools/two"] }) });
  const pi = join(root, "bin/pi");
  mkdirSync(dirname(pi));
  symlinkSync(piCli()[1], pi);
  const cli = (/** @type {string} */ PATH, /** @type {string[]} */ ...parameters) => {
    const { status, stdout, stderr } = spawnSync(NODE, [CLI, ...parameters], {
      cwd: project,
      env: { PATH, HOME: home },
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  const names = (/** @type {string} */ stdout) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split("  ")[0]);
  for (const version of PI_VERSIONS) {
    rmSync(pi);
    symlinkSync(piCli(version)[1], pi);
    const { stdout, stderr } = cli(dirname(pi), "list");
    assert.deepEqual(names(stdout), ["flow", "(part)", "@acme/kit/flow", "(@acme/kit/part)", "ship", "two"]);
    assert.match(stdout, /^ship .* package @acme\/kit: .*kit\/workflows\/ship$/m);
    assert.equal(stderr, "");
  }
  const check = cli(dirname(pi), "check");
  assert.match(
    check.stdout,
    /`\/workflow flow` starts "flow" \(.pi\/workflows\/flow\/workflow.yaml\), not this workflow of the package "@acme\/kit"/,
  );
  assert.match(check.stdout, /0 errors, 1 warning\. From packages: @acme\/kit \(3\), two \(1\)\.\n$/);
  assert.match(cli(dirname(pi), "show", "@acme/kit/flow").stdout, /^Started by \/workflow @acme\/kit\/flow TASK\.$/m);
  assert.equal(cli(dirname(pi), "run-through", "@acme/kit/flow").status, 0);
  // Beside the packed files there is no pi.
  const alone = join(root, "alone");
  for (const part of ["cli", "host-shim", "sandbox", "package.json"])
    cpSync(join(REPO, part), join(alone, part), { recursive: true });
  const without = run(["list"], join(alone, "cli/pi-workflows.js"));
  const told =
    "Installed pi packages are not looked at: pi cannot be loaded. It is found by the command `pi`, or beside this package.\n";
  const env = { PATH: "/nowhere", HOME: home };
  const nowhere = spawnSync(NODE, [join(alone, "cli/pi-workflows.js"), "list"], {
    cwd: project,
    env,
    encoding: "utf8",
  });
  assert.deepEqual([nowhere.status, nowhere.stderr, names(nowhere.stdout)], [0, told, ["flow", "(part)"]]);
  assert.equal(without.status, 0);
});

test("list prints the workflows that load", (t) => {
  const { run } = place(t, {
    ...FLOW,
    ...PART,
    ...workflow("flow", ["look"], { description: "What it does.\nAnd more." }),
  });
  assert.equal(
    run(["list"]).stdout,
    "flow  The flow: What it does.  .pi/workflows/flow\n(part)  The part  .pi/workflows/part\n",
  );
});

test("no control sequence of a file reaches the terminal", (t) => {
  const evil = "\u001b]0;title\u0007\u001b[31m";
  const { run } = place(t, {
    ...workflow("flow", [{ id: "a", name: `A${evil}`, instructions: `Do ${evil}\u009b31m {x}` }], {
      name: `N${evil}`,
      description: evil,
    }),
    [`bad${evil.replaceAll("/", "")}/workflow.yaml`]: `name: ${evil}\n`,
  });
  for (const parameters of [
    ["check"],
    ["check", "--format", "github"],
    ["check", "--format", "json"],
    ["list"],
    ["graph", "flow"],
    ["show", "flow"],
    ["run-through", "flow"],
  ]) {
    const { stdout, stderr } = run(parameters);
    assert.doesNotMatch(stdout + stderr, /[\0-\x08\x0b-\x1f\x7f-\x9f]/, parameters.join(" "));
    assert.ok(stdout.length > 0);
  }
});

test("help, version, and unknown commands", (t) => {
  const { run } = place(t, {});
  const help = run(["--help"]);
  assert.equal(help.status, 0);
  for (const command of ["check", "graph", "show", "run-through", "may", "new", "list", "runs", "stats"])
    assert.match(help.stdout, new RegExp(`^  ${command}\\b`, "m"));
  const { version } = JSON.parse(readFileSync(join(REPO, "package.json"), "utf8"));
  assert.deepEqual(run(["--version"]), { status: 0, stdout: `${version}\n`, stderr: "" });
  for (const [parameters, stderr] of variants(
    /** @type {[string[], string][]} */ ([
      [["chekc"], 'There is no command "chekc": did you mean check?\n'],
      [["chek"], 'There is no command "chek": did you mean check?\n'],
      [["help", "chek"], 'There is no command "chek": did you mean check?\n'],
      [["rnus"], 'There is no command "rnus": did you mean runs?\n'],
      [
        ["new", "x", "--from", "bugs"],
        'There is no example "bugs", only audit, backlog, bugfix, panel, pull-request, quick, release, rpir, until-clean.\n',
      ],
      [["show"], "pi-workflows show needs a NAME.\n"],
      [["check", "--format", "xml"], 'There is no format "xml", only text, json, github.\n'],
      [["check", "--frob"], "Unknown option '--frob': did you mean --from?\n"],
      [["check", "--format=__proto__"], 'There is no format "__proto__", only text, json, github.\n'],
      [["check", "--format", "toString"], 'There is no format "toString", only text, json, github.\n'],
      [
        ["constructor"],
        'There is no command "constructor", only check, graph, show, run-through, may, list, run, new, runs, report, stats.\n',
      ],
      [
        ["chec\x1b[31mk\nx"],
        'There is no command "chec[31mk x", only check, graph, show, run-through, may, list, run, new, runs, report, stats.\n',
      ],
      [
        ["a".repeat(5000)],
        `There is no command "${"a".repeat(200)}…", only check, graph, show, run-through, may, list, run, new, runs, report, stats.\n`,
      ],
      [["check", "--__proto__"], "Unknown option '--__proto__'\n"],
      [["check", "--dir"], "Option '--dir <value>' argument missing\n"],
      [["check", "--dir", "--strict"], "Option '--dir' argument is ambiguous.\n"],
      [["graph", "__proto__"], 'There is no workflow "__proto__", and no other.\n'],
      [["show", "a", "b"], '"b" is one word too many. Put a text in quotes.\n'],
      [["list", "a"], '"a" is one word too many. Put a text in quotes.\n'],
      [["graph", "a", "--format", "json"], "pi-workflows graph takes no --format.\n"],
      [["run", "x", "--budget", "turns=3", "--budget=cost=1"], "--budget is given twice.\n"],
      [["check", "--global"], "pi-workflows check takes no --global.\n"],
      [["check", ".", "--dir", "."], "check takes a DIR or --dir, not both.\n"],
      [["new", "x", "--dir", "y", "--global"], "new takes --dir or --global, not both.\n"],
      [["runs", "--format", "github"], 'There is no format "github", only text, json.\n'],
      [["runs", "x"], '"x" is one word too many. Put a text in quotes.\n'],
      [["stats", "--workflow", "x"], "pi-workflows stats takes no --workflow.\n"],
      [["check", ""], "pi-workflows check needs a DIR.\n"],
      [["show", ""], "pi-workflows show needs a NAME.\n"],
      [["new", "../x"], 'A name is 1 to 200 letters, digits, `_` or `-`, not "../x".\n'],
      [["check", "--tools", " , "], "--tools needs names, with commas between them.\n"],
      ...[
        "check --dir=",
        "check --format=",
        "check --tools=",
        "check --profiles=",
        "show x --task=",
        "new x --dir=",
      ].map((line) => /** @type {[string[], string]} */ ([line.split(" "), `${/--\w+/.exec(line)} needs a value.\n`])),
    ]),
    8,
  )) {
    assert.deepEqual(run(parameters), { status: 2, stdout: "", stderr }, parameters.join(" "));
  }
});

test("the README's first workflow has no errors and is offered by its description", (t) => {
  const readme = readFileSync(join(REPO, "README.md"), "utf8");
  const { project, run } = place(t, {});
  const files = [...readme.matchAll(/`(\.pi\/workflows\/\S+)`:\n\n```\w+\n([^]*?)^```$/gm)].map(([, path, text]) => [
    path,
    text,
  ]);
  assert.equal(files.length, 1);
  write(project, Object.fromEntries(files));
  assert.deepEqual(run(["check", "--strict"]), { status: 0, stdout: "1 workflow, no errors.\n", stderr: "" });
  assert.deepEqual(run(["list"]).stdout, "tidy  Tidy: Look first, then change.  .pi/workflows/tidy\n");
});

test("without a command, each command stands on one line of a narrow terminal", (t) => {
  const { status, stdout, stderr } = place(t, {}).run([]);
  assert.deepEqual([status, stdout], [2, ""]);
  const names = [...stderr.matchAll(/^  (\S+) +\S/gm)].map(([, name]) => name);
  const all = [
    ...place(t, {})
      .run(["--help"])
      .stdout.matchAll(/^  ([a-z][a-z-]*) .*\S/gm),
  ].map(([, name]) => name);
  assert.deepEqual(names, [...new Set(all)]);
  for (const line of stderr.split("\n")) assert.ok(line.length <= 80, line);
});

test("the reference contains the output of --help", (t) => {
  const { stdout } = place(t, {}).run(["--help"]);
  const page = readFileSync(join(REPO, "docs/reference/pi-workflows.md"), "utf8");
  assert.ok(page.includes(`\n\`\`\`text\n${stdout.trimEnd()}\n\`\`\`\n`));
});

test("nothing tells a user to run the package `pi-workflows` of the registry", () => {
  const pages = readdirSync(join(REPO, "docs"), { encoding: "utf8", recursive: true });
  const docs = pages.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`);
  for (const file of ["README.md", ...docs, "skills/workflow-authoring/SKILL.md", "workflows-examples/README.md"]) {
    assert.doesNotMatch(
      readFileSync(join(REPO, file), "utf8"),
      /npx pi-workflows|npm:pi-workflows|node_modules\/pi-workflows/,
      file,
    );
  }
});

/** Runs a command line in a shell, in which `pi-workflows` is the command. */
const inShell = (/** @type {ReturnType<typeof place>} */ { project, home }, /** @type {string} */ line) => {
  const script = `pi-workflows() { "${NODE}" "${CLI}" "$@"; }\n${line}`;
  const env = { PATH: process.env.PATH, HOME: home };
  return spawnSync("bash", ["-c", script], { cwd: project, env, encoding: "utf8", timeout: 60_000 });
};

test(
  "a failing write of the output is reported in one line, and a closed pipe is not reported",
  { skip: !existsSync("/dev/full") },
  (t) => {
    const there = place(t, { ...FLOW, ...PART, "flow/look.md": "---\nid:\n---\nLook.\n" });
    const full = "The output cannot be written: no space left on device\n";
    for (const command of variants(
      ["check", "check --format json", "list", "graph part", "run-through flow", "--help", "--version"],
      2,
    )) {
      const { status, stderr } = inShell(there, `pi-workflows ${command} > /dev/full`);
      if (command !== "run-through flow") assert.deepEqual([status, stderr], [2, full], command);
      else assert.match(stderr, /has errors/);
    }
    // A closed pipe does not change the exit status.
    for (const [line, status] of variants(
      /** @type {[string, number][]} */ ([
        ["pi-workflows check | true; exit ${PIPESTATUS[0]}", 1],
        ["pi-workflows check | head -1 >/dev/null; exit ${PIPESTATUS[0]}", 1],
        ["pi-workflows --help | true; exit ${PIPESTATUS[0]}", 0],
        ["pi-workflows chekc 2> /dev/full", 2],
        ["pi-workflows chekc 2>&-", 2],
        ["pi-workflows check <&- >&-", 1],
      ]),
      3,
    )) {
      const done = inShell(there, line);
      assert.deepEqual([done.status, done.stderr], [status, ""], line);
    }
  },
);

test(
  "new writes nothing if it cannot write everything, and reports the error in one line",
  { skip: process.platform !== "linux" },
  (t) => {
    const there = place(t, {});
    const { project, run } = there;
    symlinkSync("nowhere", join(project, "dangling"));
    symlinkSync("loop", join(project, "loop"));
    symlinkSync("nowhere", join(project, ".pi-link"));
    writeFileSync(join(project, "file"), "");
    for (const [dir, stderr] of variants(
      [
        ["dangling", "dangling: file already exists\n"],
        ["dangling/deeper", "dangling: file already exists\n"],
        ["loop", "loop/x: too many symbolic links encountered\n"],
        ["file", "file/x: not a directory\n"],
        ["file/deeper", "file/deeper/x: not a directory\n"],
        ["/dev/null", "/dev/null/x: not a directory\n"],
        ["/proc", "/proc/x: no such file or directory\n"],
        ["/proc/none/deeper", "/proc/none: no such file or directory\n"],
      ],
      3,
    )) {
      assert.deepEqual(run(["new", "x", "--dir", dir]), { status: 2, stdout: "", stderr }, dir);
    }
    mkdirSync(join(project, ".pi/workflows"), { recursive: true });
    symlinkSync("nowhere", join(project, ".pi/workflows/taken"));
    assert.deepEqual(run(["new", "taken"]), {
      status: 2,
      stdout: "",
      stderr: ".pi/workflows/taken is there already.\n",
    });
    assert.deepEqual(readdirSync(project).sort(), [".pi", ".pi-link", "dangling", "file", "loop"]);
  },
);

test(
  "a path that is no folder, or no longer exists, is reported in one line",
  { skip: process.platform === "win32" },
  (t) => {
    const there = place(t, {});
    const { project, run } = there;
    for (const command of variants(
      ["check", "check /", "list", "graph x", "show x", "run-through x", "new x", "new x --dir y"],
      3,
    )) {
      const { status, stdout, stderr } = inShell(
        there,
        `mkdir gone && cd gone && rmdir ../gone && pi-workflows ${command}`,
      );
      assert.deepEqual([status, stdout, stderr], [2, "", "The current folder is not there any more.\n"], command);
    }
    writeFileSync(join(project, "file"), "");
    symlinkSync("loop", join(project, "loop"));
    mkdirSync(join(project, "other/.pi"), { recursive: true });
    writeFileSync(join(project, "other/.pi/workflows"), "");
    for (const [dir, stderr] of variants(
      [
        ["file", "file is not a folder.\n"],
        ["file/x", "There is no folder file/x.\n"],
        ["loop", "loop: too many symbolic links encountered\n"],
        ["a".repeat(5000), `${"a".repeat(200)}…: name too long\n`],
        ["other", `${join(project, "other/.pi/workflows")} is not a folder.\n`],
      ],
      2,
    )) {
      for (const parameters of [
        ["check", dir],
        ["list", "--dir", dir],
      ])
        assert.deepEqual(run(parameters), { status: 2, stdout: "", stderr });
    }
  },
);

test("the packed tarball contains the command", LONG, (t) => {
  const { root, run } = place(t, INVALID);
  const options = /** @type {const} */ ({ cwd: REPO, encoding: "utf8" });
  const [{ filename }] = JSON.parse(
    execFileSync(
      "npm",
      ["pack", "--ignore-scripts", "--json", "--pack-destination", root, "--loglevel=error"],
      options,
    ),
  );
  execFileSync("tar", ["xzf", join(root, filename)], { cwd: root });
  const { bin } = JSON.parse(readFileSync(join(root, "package/package.json"), "utf8"));
  const cli = join(root, "package", bin["pi-workflows"]);
  assert.match(readFileSync(cli, "utf8"), /^#!\/usr\/bin\/env node\n/);
  assert.equal(run(["check"], cli).status, 1);
  // npm installs it for npx as a link in a folder of commands.
  const installed = join(root, "installed");
  mkdirSync(installed);
  writeFileSync(join(installed, "package.json"), "{}");
  execFileSync(
    "npm",
    ["install", "--offline", "--no-audit", "--no-fund", "--legacy-peer-deps", "--loglevel=error", join(root, filename)],
    {
      cwd: installed,
    },
  );
  const version = execFileSync(join(installed, "node_modules/.bin/pi-workflows"), ["--version"], {
    encoding: "utf8",
    env: { ...process.env, PATH: `${dirname(NODE)}:${process.env.PATH}` },
  });
  assert.match(version, /^\d+\.\d+\.\d+\n$/);
  cpSync(join(REPO, "workflows-examples"), join(root, "examples"), { recursive: true });
  assert.deepEqual(run(["check", join(root, "examples")], cli), {
    status: 0,
    stdout: "12 workflows, no errors.\n",
    stderr: "",
  });
});

test(
  "no command waits for a pipe at a file that it reads",
  process.platform === "win32" ? { skip: true } : LONG,
  (t) => {
    const { root, home, project } = place(t, { ...FLOW, ...PART }, { "workflows/x/workflow.yaml": "name: X\n" });
    const pipe = (/** @type {string} */ path) => {
      rmSync(path, { force: true });
      execFileSync("mkfifo", [path]);
    };
    const sessions = join(home, ".pi/agent/sessions", `--${project.slice(1).replaceAll("/", "-")}--`);
    mkdirSync(sessions, { recursive: true });
    const pipes = [
      ...[
        ".pi/settings.json",
        ".pi/agents",
        "package.json",
        ".pi/workflows/flow/look.md",
        ".pi/workflows/part/workflow.yaml",
      ].map((path) => join(project, path)),
      ...["settings.json", "models.json", "auth.json", "workflows/settings.yaml", "workflows/x/workflow.yaml"].map(
        (path) => join(home, ".pi/agent", path),
      ),
      join(sessions, "2026-01-01T00-00-00-000Z_0.jsonl"),
      join(root, "one.jsonl"),
    ];
    for (const path of pipes) pipe(path);
    const commands = [
      "check",
      "check .",
      "list",
      "runs",
      "runs --all",
      "stats",
      "report",
      "graph flow",
      "show flow",
      "run-through flow",
      "may flow look read",
      `runs --sessions ${join(root, "one.jsonl")}`,
      `check --dir ${join(project, ".pi/workflows")}`,
    ];
    for (const words of commands) {
      const env = { PATH: process.env.PATH, HOME: home };
      const { error, signal } = spawnSync(NODE, [CLI, ...words.split(" ")], {
        cwd: project,
        env,
        encoding: "utf8",
        timeout: 20_000,
      });
      assert.deepEqual([error, signal], [undefined, null], words);
    }
  },
);

test("what cannot be seen is written out in every output", LONG, (t) => {
  const hidden = "a\u202eb\u200bc\u2066d\u00ade\ufefff\u{e0041}g";
  const seen = "a\\u{202e}b\\u{200b}c\\u{2066}d\\u{ad}e\\u{feff}f\\u{e0041}g";
  const flow = workflow("flow", [{ id: "look", name: hidden, emoji: "👩‍💻" }], { name: hidden, description: hidden });
  const { run } = place(t, flow);
  for (const words of [["list"], ["show", "flow"], ["graph", "flow"], ["run-through", "flow", "--task", hidden]]) {
    const { stdout } = run(words);
    // Drawings put U+FFFD in the place of what changes the direction.
    assert.ok(stdout.includes(words[0] === "graph" ? "\\u{200b}" : seen), `${words}: ${stdout}`);
    assert.doesNotMatch(stdout, /[\u202e\u200b\u2066\u00ad\ufeff]/, words.join(" "));
  }
  assert.match(run(["show", "flow"]).stdout, /👩‍💻/, "an emoji keeps its joiner");
  assert.match(run(["show", `x${hidden}`]).stderr, /x?a\\u\{202e\}b/);
  const json = place(t, {
    ...flow,
    "flow/1.md": `---\nid: look\nname: A\nemoji: x\n---\n{${"descriptoin"}}\n`,
    [`${"w"}/workflow.yaml`]: `name: "${hidden}"\n"${hidden}": 1\n`,
  }).run(["check", "--format", "json"]).stdout;
  assert.doesNotMatch(json, /[\u202e\u200b\u2066\u00ad\ufeff]/);
  JSON.parse(json);
});

test("check in a package's own folder checks the package, list outside a project says so", (t) => {
  const { root, home, run } = place(t, { ...FLOW, ...PART });
  const folder = join(root, "kit");
  cpSync(join(REPO, "package-example"), folder, { recursive: true });
  const there = (/** @type {string[]} */ parameters, cwd = folder) => {
    const { status, stdout, stderr } = spawnSync(NODE, [CLI, ...parameters], {
      cwd,
      env: { PATH: process.env.PATH, HOME: home },
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  assert.deepEqual(there(["check"]), there(["check", "."]));
  assert.match(there(["check"]).stdout, /^2 workflows, no errors\. From packages: review-kit \(2\)\./);
  assert.match(there(["list"]).stdout, /review-kit/);
  assert.equal(there(["list"]).stderr, "");
  const outside = there(["list"], root);
  assert.deepEqual([outside.status, outside.stdout], [0, ""]);
  assert.match(outside.stderr, /^There is no \.pi\/workflows here: /);
  assert.deepEqual(run(["list"]).stderr, "");
});

test("each command has help of its own", LONG, (t) => {
  const { run } = place(t, {});
  const { stdout } = run(["--help"]);
  for (const parameters of [["-h"], ["help"]]) assert.deepEqual(run(parameters), { status: 0, stdout, stderr: "" });
  const commands = ["check", "graph", "show", "run-through", "may", "new", "list", "runs", "report", "stats"];
  for (const command of commands) {
    const help = run([command, "--help"]);
    assert.deepEqual([help.status, help.stderr], [0, ""]);
    assert.match(help.stdout, new RegExp(`^Usage: pi-workflows ${command}[^]*\n  ${command} `));
    assert.deepEqual(run([command, "-h"]), help);
    assert.deepEqual(run(["help", command]), help);
  }
  assert.match(run(["new", "--help"]).stdout, /\n {2}--from EXAMPLE /);
  assert.doesNotMatch(run(["list", "--help"]).stdout, /--from/);
});

test("new --from copies each example, which then has no errors", LONG, (t) => {
  for (const example of [
    "audit",
    "backlog",
    "bugfix",
    "panel",
    "pull-request",
    "quick",
    "release",
    "rpir",
    "until-clean",
  ]) {
    const { run } = place(t, {});
    const { status, stdout, stderr } = run(["new", "mine", "--from", example]);
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, /^\.pi\/workflows\/mine\//);
    assert.match(run(["check", "--strict"]).stdout, /no errors/, example);
    assert.equal(run(["show", "mine"]).status, 0, example);
  }
});

for (const version of PI_VERSIONS.slice(0, 1)) {
  test(`pi ${version}: check knows the models that pi knows, and the aliases of the user`, (t) => {
    const flow = workflow("flow", ["look"], { model: ["sonnet", "anthropic/clode-opus-4-5", "scripted/one"] });
    const known = {
      providers: {
        scripted: { baseUrl: "http://localhost:1", apiKey: "x", api: "openai-completions", models: [{ id: "one" }] },
      },
    };
    const { run, root, home } = place(t, flow, { "models.json": JSON.stringify(known) });
    const [node, cli] = piCli(version);
    const pi = (/** @type {string} */ name, /** @type {string} */ line) => {
      write(root, { [name]: `#!/bin/sh\n${line}\n` });
      chmodSync(join(root, name), 0o755);
      return join(root, name);
    };
    const real = pi("pi", `exec ${node} ${cli} "$@"`);
    const told = run(["check", "--pi", real]);
    assert.equal(told.stderr, "");
    assert.deepEqual([told.status, run(["check", "--strict", "--pi", real]).status], [0, 1]);
    assert.match(told.stdout, /unknown alias `sonnet` of a model/);
    assert.match(told.stdout, /unknown model `anthropic\/clode-opus-4-5`/);
    assert.doesNotMatch(told.stdout, /`scripted\/one`/);
    assert.match(told.stdout, /\n0 errors, 2 warnings\.\n$/);
    // Without a list nothing is said of the file.
    const sound = { status: 0, stdout: "1 workflow, no errors.\n" };
    for (const [path, why] of [
      [join(root, "nowhere"), /^Models were not looked at: There is no [^\n]*nowhere"\.\n$/],
      [
        pi("empty", `case $1 in --version) echo 1.0.0;; *) echo '{"type":"models","models":[]}' >&2;; esac`),
        /^Models were not looked at: pi knows none\.\n$/,
      ],
      [
        pi("broken", `case $1 in --version) echo 1.0.0;; *) echo no >&2;; esac`),
        /^Models were not looked at: pi does not tell its models: no\n$/,
      ],
    ]) {
      const { stderr, ...found } = run(["check", "--strict", "--pi", String(path)]);
      assert.deepEqual(found, sound);
      assert.match(stderr, /** @type {RegExp} */ (why));
    }
    // pi is not asked where no file names a model.
    write(join(home, ".pi/agent"), { "workflows/none/workflow.yaml": "phases: [{ prompt: x }]\n" });
    rmSync(join(root, "project/.pi/workflows/flow"), { recursive: true });
    assert.equal(run(["check", "--pi", join(root, "nowhere")]).stderr, "");
  });
}

test("below the top of a repository the folder above with workflows is told", (t) => {
  const { project, run } = place(t, FLOW);
  const below = (/** @type {string[]} */ ...parameters) => run([...parameters], CLI, join(project, "a/b"));
  mkdirSync(join(project, "a/b"), { recursive: true });
  assert.equal(below("check").stderr, "", "no repository");
  mkdirSync(join(project, ".git"));
  const above = "../../.pi/workflows has workflows, which are known in the folder that it lies in.\n";
  assert.deepEqual(below("check"), { status: 0, stdout: "0 workflows, no errors.\n", stderr: above });
  assert.ok(below("list").stderr.endsWith(above));
  const shown = below("show", "flow");
  assert.deepEqual([shown.status, shown.stderr.startsWith(above)], [2, true], shown.stderr);
  assert.equal(run(["check"]).stderr, "");
});
