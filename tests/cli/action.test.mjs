// `action.yml` and `docs/ci.md`: a script does what the action's steps say, as a runner would: no terminal, an empty
// home, CI=true.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { suite, test } from "node:test";
import { parse } from "yaml";
import { LONG, VERSIONS } from "../pi/harness/extent.mjs";
import { NODE, REPO, piCli } from "../pi/harness/pi.mjs";
import { stage } from "../pi/harness/stage.mjs";
import { step, workflow } from "../pi/harness/workflows.mjs";

const ACTION = parse(readFileSync(join(REPO, "action.yml"), "utf8"));

/**
 * A job of a runner.
 *
 * @param {import("../pi/harness/sandbox.mjs").Sandbox} sandbox
 * @param {string} name
 * @param {string} version
 */
function job(sandbox, name, version) {
  const root = join(sandbox.root, name);
  const [home, temp, bin] = ["home", "temp", "bin"].map((folder) => join(root, folder));
  for (const folder of [home, temp, bin]) mkdirSync(folder, { recursive: true });
  // What `npm install --global` installs.
  const [node, cli] = piCli(version);
  const program = (/** @type {string} */ file, /** @type {string} */ text) => (
    writeFileSync(join(bin, file), text),
    chmodSync(join(bin, file), 0o755)
  );
  program(
    "npm",
    `#!/bin/sh\nprintf '#!/bin/sh\\nexec ${node} ${cli} --offline "$@"\\n' > ${bin}/pi\nchmod +x ${bin}/pi\necho "$@" >> ${root}/installed\n`,
  );
  return { root, home, temp, run };

  /** @param {Record<string, string>} inputs @param {string} cwd */
  async function run(inputs, cwd) {
    /** @type {Record<string, Record<string, string>>} */
    const outputs = {};
    const values = {
      ...Object.fromEntries(
        Object.entries(ACTION.inputs).map(([key, input]) => [key, /** @type {any} */ (input).default ?? ""]),
      ),
      ...inputs,
    };
    const filled = (/** @type {string} */ text) =>
      String(text).replace(/\$\{\{ (inputs|steps\.(\w+)\.outputs)\.([\w-]+) \}\}/g, (_, of, id, key) =>
        of === "inputs" ? values[key] : (outputs[id]?.[key] ?? ""),
      );
    /** @type {string[]} */
    const kept = [];
    let status = 0;
    for (const { id, run: line, uses, with: options, env = {} } of ACTION.runs.steps) {
      if (uses) {
        kept.push(filled(options.path));
        continue;
      }
      const output = join(root, "output");
      writeFileSync(output, "");
      assert.doesNotMatch(line, /\$\{\{/, "a value of an input is no part of a script");
      const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", line], {
        cwd,
        env: {
          ...Object.fromEntries(
            Object.entries(env).map(([key, value]) => [key, filled(/** @type {string} */ (value))]),
          ),
          ...{
            PATH: `${bin}:${dirname(NODE)}:/usr/local/bin:/usr/bin:/bin`,
            HOME: home,
            CI: "true",
            RUNNER_TEMP: temp,
            GITHUB_ACTION_PATH: REPO,
            GITHUB_OUTPUT: output,
            ...Object.fromEntries(["ENV", "PATH", "STATE"].map((name) => [`GITHUB_${name}`, join(root, name)])),
            GITHUB_STEP_SUMMARY: join(root, "summary.md"),
          },
        },
        stdio: ["ignore", "ignore", "pipe"],
      });
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
      const ended = await new Promise((resolve) => child.once("close", resolve));
      if (id)
        outputs[id] = Object.fromEntries(
          readFileSync(output, "utf8")
            .trim()
            .split("\n")
            .map((pair) => pair.split(/=(.*)/s).slice(0, 2)),
        );
      if (ended !== 0) status = ended;
      if (line.includes("pi-workflows.js")) assert.equal(ended, 0, stderr);
    }
    return { status, outputs: outputs.run, kept };
  }
}

/**
 * A project with models in the home of the runner: a real one has a key in the environment.
 *
 * @param {string} home
 * @param {import("../pi/harness/sandbox.mjs").Sandbox} sandbox
 */
function configure(home, sandbox) {
  mkdirSync(join(home, ".pi/agent"), { recursive: true });
  for (const file of ["models.json", "settings.json"]) cpSync(join(sandbox.agent, file), join(home, ".pi/agent", file));
}

const ASKS = workflow("asks", ["plan", { id: "build", outcomes: { go: "next" } }], {
  autoContinue: false,
  inputs: { zone: { type: "text" } },
  phases: ["plan.md", { ask: "Build it?", id: "ok", outcomes: { go: "next", drop: "stop" } }, "build.md"],
});

test("nothing that is in the place of the result or of the summary holds the action up", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-action-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const at = (/** @type {string} */ name) => resolve(folder, name);
  execFileSync("mkfifo", [at("pipe")]);
  writeFileSync(at("sparse"), "");
  truncateSync(at("sparse"), 10 * 2 ** 30);
  writeFileSync(at("result"), '{"end":{"outcome":"done"},"course":{"visits":[{"name":"E","from":0,"to":1}]}}');
  const run = (/** @type {string} */ result, /** @type {string} */ summary) =>
    spawnSync(NODE, [join(REPO, "cli/action.js"), at(result), at(summary)], { encoding: "utf8", timeout: 10_000 });
  for (const result of ["pipe", "/dev/zero", "sparse", "."])
    assert.match(run(result, "summary.md").stdout, /^outcome=error\n/, result);
  for (const summary of ["pipe", "/dev/null", "."]) {
    const { stdout, stderr } = run("result", summary);
    assert.match(stdout, /^outcome=done\n/, summary);
    assert.match(stderr, /^The summary cannot be written: /, summary);
  }
  assert.deepEqual([run("result", "summary.md").stderr, existsSync(at("summary.md"))], ["", true]);
});

test("a result with odd values does not end the action, and the course has its last 500 rows", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-action-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [file, summary] = ["result.json", "summary.md"].map((name) => join(folder, name));
  const outputsOf = (/** @type {string} */ result) => {
    writeFileSync(file, result);
    rmSync(summary, { force: true });
    const text = execFileSync(NODE, [join(REPO, "cli/action.js"), file, summary], { encoding: "utf8" });
    return Object.fromEntries(
      text
        .trim()
        .split("\n")
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    );
  };
  const until = 1_800_000_000_000;
  const paused = (/** @type {string} */ until) => outputsOf(`{"end":{"quotaUntil":${until}}}`)["quota-until"];
  assert.equal(paused(String(until)), new Date(until).toISOString());
  for (const odd of ["1e19", "1e999", '"soon"', '{"valueOf":1}', "[]", "true", "null"]) assert.equal(paused(odd), "");
  const nothing = { outcome: "error", cost: "0.0000", "quota-until": "" };
  for (const odd of [
    "",
    "7",
    "null",
    "[[]]",
    '{"end":7}',
    '{"usage":{"cost":"much"},"course":{"visits":[{"name":1}]}}',
  ])
    assert.deepEqual(outputsOf(odd), nothing, odd);
  const visits = Array.from({ length: 501 }, (_, index) => ({ name: `E${index}`, from: index, to: index + 1 }));
  outputsOf(JSON.stringify({ course: { visits } }));
  const course = readFileSync(summary, "utf8");
  assert.match(course, /## Course: 501 entries\n\nThe last 500:\n\n\| entry /);
  assert.deepEqual([course.match(/^\| E/gm)?.length, /^\| E0 /m.test(course)], [500, false]);
});

for (const version of VERSIONS) {
  suite(`pi ${version}: action.yml`, () => {
    test("runs, keeps its files, pauses at a question, and another job goes on with the answer", async (t) => {
      const script = [
        { calls: [{ name: "bash", arguments: { command: "env | sed 's/=.*/;/'" } }] },
        step("next"),
        { text: "I wait." },
        { calls: [{ name: "workflow_step", arguments: { action: "next", outcome: "go" } }] },
        { text: "All done." },
      ];
      const { sandbox, model } = await stage(t, script, { projectFiles: ASKS });
      const git = (/** @type {string[]} */ ...words) =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: sandbox.project });
      git("init", "-q");
      git("add", ".");
      git("commit", "-qm", "one");
      const first = job(sandbox, "first", version);
      configure(first.home, sandbox);
      const inputs = {
        workflow: "asks",
        task: '--approve "it" for $HOME; `date`\nzone=other',
        inputs: `${JSON.stringify({ zone: "UTC +1\ndeep=true" }, null, 2)}\n`,
        budget: "turns=20",
        "may-pause": "true",
      };
      const planned = await first.run(inputs, sandbox.project);
      assert.deepEqual([planned.status, planned.outputs.status], [0, "3"]);
      assert.equal(
        readFileSync(join(first.root, "installed"), "utf8"),
        "install --global --no-fund --no-audit @earendil-works/pi-coding-agent\n",
      );
      assert.deepEqual(planned.kept, [planned.outputs.folder]);
      const result = JSON.parse(readFileSync(join(planned.outputs.folder, "result.json"), "utf8"));
      assert.deepEqual(
        [result.end.status, result.task, result.inputs.zone ?? result.inputs[0]?.value],
        [3, inputs.task, "UTC +1\ndeep=true"],
      );
      const summary = readFileSync(join(first.root, "summary.md"), "utf8");
      assert.match(summary, /^# Run of asks\n/);
      assert.match(
        summary,
        /\n## Course: 2 entries\n[^]*\n\| Plan \| done \| .*\n\| .* \| current \| .*paused: .* \|\n$/,
      );
      assert.deepEqual(
        ["outcome", "cost", "quota-until"].map((name) => planned.outputs[name]),
        ["paused", "0.0000", ""],
      );
      // The artifact on another machine.
      const second = job(sandbox, "second", version);
      configure(second.home, sandbox);
      const session = join(second.temp, "planned");
      cpSync(planned.outputs.folder, session, { recursive: true });
      const built = await second.run({ session, message: "/workflow :answer go" }, sandbox.project);
      assert.deepEqual([built.status, built.outputs.status], [0, "0"], JSON.stringify(built));
      assert.equal(built.outputs.outcome, "done");
      assert.equal(JSON.parse(readFileSync(join(session, "result.json"), "utf8")).end.outcome, "done");
      assert.equal(model.requests.length, 5);
      // The agent's commands learn of no file that the runner obeys.
      const variables = JSON.stringify(model.requests[1].messages.at(-1));
      assert.match(variables, /RUNNER_TEMP;[^]*GITHUB_ACTION_PATH;|GITHUB_ACTION_PATH;[^]*RUNNER_TEMP;/);
      assert.doesNotMatch(variables, /GITHUB_(ENV|PATH|OUTPUT|STATE|STEP_SUMMARY);/);
    });

    test("a value of an input adds no line with another", async (t) => {
      const { sandbox, model } = await stage(t, [], { projectFiles: ASKS });
      const runner = job(sandbox, "runner", version);
      for (const inputs of ["zone=UTC\ndeep=true\n", "zone=UTC\n\n", '{"zone": "UTC"\n} deep=true', '{"zone": {}}']) {
        const { outputs } = await runner.run({ workflow: "asks", task: "Do it", inputs }, sandbox.project);
        assert.deepEqual([outputs.status, outputs.outcome], ["2", "error"], inputs);
      }
      assert.equal(model.requests.length, 0);
    });

    test("fails unless the run is done", LONG, async (t) => {
      const { sandbox } = await stage(t, [{ text: "I rest." }], {
        projectFiles: workflow("hello", ["plan"], { autoContinue: false }),
      });
      const runner = job(sandbox, "runner", version);
      configure(runner.home, sandbox);
      assert.equal((await runner.run({ workflow: "hello", task: "Do it" }, sandbox.project)).status, 3);
      assert.equal((await runner.run({ workflow: "unknown", task: "Do it" }, sandbox.project)).status, 1);
      assert.equal((await runner.run({ workflow: "", task: "" }, sandbox.project)).status, 2);
      // A runner without any configuration of pi.
      const bare = job(sandbox, "bare", version);
      assert.equal((await bare.run({ workflow: "hello", task: "Do it" }, sandbox.project)).status, 1);
      assert.ok(existsSync(join(bare.root, "installed")));
    });
  });
}
