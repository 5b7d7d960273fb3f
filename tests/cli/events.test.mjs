// `pi-workflows run --events`: the lines, the files that cannot take them, and what reads them.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Ajv } from "ajv";

import { panel, team } from "../pi/harness/branches.mjs";
import { LONG, VERSIONS } from "../pi/harness/extent.mjs";
import { SUMS, TYPES, eventIn, eventOf } from "../../cli/headless/events.js";
import { NODE, REPO } from "../pi/harness/pi.mjs";
import { leave, nextUntilDone, phaseFile, workflow } from "../pi/harness/workflows.mjs";
import { withPi } from "./with-pi.mjs";

const exec = promisify(execFile);
const OFF = { autoContinue: false };
const HELLO = workflow("hello", ["plan", "build"], OFF);
const isEvent = new Ajv({ strict: true }).compile(JSON.parse(readFileSync(join(REPO, "schemas/event.json"), "utf8")));

/** The events of a file or of standard output, each as the schema has it. @param {string} text @returns {any[]} */
function eventsIn(text) {
  assert.ok(text === "" || text.endsWith("\n"), "each line is whole");
  const events = text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  for (const event of events) assert.ok(isEvent(event), JSON.stringify([event, isEvent.errors]));
  return events;
}

/** @param {any[]} events */
const types = (events) => events.map(({ type }) => type);

/** A workflow with everything that has texts, and a model that plays it. */
const LOUD = {
  ...workflow("loud", ["plan"], {
    ...OFF,
    inputs: { zone: { type: "text" } },
    phases: [
      "plan.md",
      { run: "echo SECRET-output; exit 3", id: "lint", outcomes: { ok: "next", failed: "next" } },
      "last.md",
    ],
  }),
  "loud/plan.md": phaseFile({
    id: "plan",
    tools: { blacklist: ["write"] },
    gate: [{ run: "test 'SECRET-gate'" }],
    outputs: { found: { type: "text" } },
  }),
  "loud/last.md": phaseFile({ id: "last" }),
};
const LOUDLY = [
  { calls: [{ name: "write", arguments: { path: "SECRET-path", content: "x" } }] },
  leave("", { summary: "SECRET-summary", outputs: { found: "SECRET-found" } }),
  leave("", { summary: "SECRET-end" }),
  { text: "SECRET-answer" },
];

test("a line of standard error is an event only as the schema has it", () => {
  const schema = JSON.parse(readFileSync(join(REPO, "schemas/event.json"), "utf8"));
  const kinds = schema.oneOf.map((/** @type {any} */ kind) => kind.properties.type.const);
  assert.deepEqual([...TYPES, "exit"].sort(), kinds.sort());
  assert.deepEqual(SUMS, schema.definitions.usage.required);
  const usage = Object.fromEntries(SUMS.map((name) => [name, 1]));
  const paused = { time: 1, run: "wf-1", entry: "w:0", reason: "quota", usage, until: 2, type: "paused" };
  const inLine = (/** @type {unknown} */ event) => eventIn(`workflow:event ${JSON.stringify(event)}`);
  assert.deepEqual(inLine(paused), paused);
  const record = { type: "extension_ui_request", method: "setStatus", statusKey: "workflow:event" };
  assert.deepEqual(eventOf({ ...record, statusText: JSON.stringify(paused) }), paused);
  const wrong = [
    ...[{ type: "exit" }, { type: "other" }, { time: "1" }, { time: undefined }, { run: 1 }, { entry: undefined }],
    ...[{ until: 1e300 }, { until: -1 }, { title: { toString: 1 } }, { usage: null }, { usage: 1 }, { usage: {} }],
    ...[{ usage: { ...usage, cost: "1" } }, { usage: { ...usage, cost: 1e300 } }],
  ];
  for (const part of wrong) {
    const event = { ...paused, ...part };
    assert.equal(inLine(event), undefined, JSON.stringify(part));
    assert.equal(eventOf({ ...record, statusText: JSON.stringify(event) }), undefined, JSON.stringify(part));
  }
  assert.equal(eventIn('workflow:event {"type":"paused","until":1e300}'), undefined);
  assert.equal(eventIn(`workflow:event ${JSON.stringify(paused).replace('"until":2', '"until":1e999')}`), undefined);
});

for (const version of VERSIONS) {
  suite(`pi ${version}: pi-workflows run --events`, { concurrency: 2 }, () => {
    test("tells the course without texts, and with them by --events-full", async (t) => {
      const { run, sandbox } = await withPi(t, version, [...LOUDLY, ...LOUDLY], { globalFiles: LOUD });
      const task = ["loud", "zone=SECRET-zone", "SECRET-task ##[error]"];
      const plain = await run(...task, "--events", "a.jsonl");
      assert.deepEqual([plain.status, plain.stdout], [0, ""], plain.stderr);
      const text = readFileSync(join(sandbox.project, "a.jsonl"), "utf8");
      assert.doesNotMatch(text, /SECRET/);
      const events = eventsIn(text);
      assert.deepEqual(
        types(events).filter((type) => type !== "turn"),
        [...["started", "entry", "refused", "gate", "entry", "step", "entry", "ended", "exit"]],
      );
      assert.deepEqual(
        events.flatMap(({ type, title }) => (type === "entry" ? [title] : [])),
        ["Plan", "lint", "Last"],
      );
      assert.equal(new Set(events.map(({ run }) => run)).size, 1);
      assert.deepEqual(
        [events.at(-2).how, events.at(-2).usage.turns, events.at(-1).status, events.at(-1).outcome],
        ["done", 3, 0, "done"],
      );
      // The progress on standard error is made of them.
      assert.match(plain.stderr, /^Plan · 0 turns · [^]*\nlint · 2 turns · [^]*\nLast · 2 turns · [^]*\ndone · /);
      const full = await run(...task, "--events", "-", "--events-full", "--quiet");
      assert.equal(full.status, 0, full.stderr);
      assert.match(JSON.stringify(eventsIn(full.stdout)), /SECRET-task ##\[error\]/);
      assert.doesNotMatch(full.stdout, /##\[/, "GitHub's runner takes it for a command");
      for (const part of ["task", "zone", "gate", "output", "summary", "found", "end"])
        assert.match(full.stdout, new RegExp(`SECRET-${part}`));
    });

    test("other lines of pi are no events, and no commands of GitHub's runner", async (t) => {
      const { start, sandbox } = await withPi(t, version, nextUntilDone, { globalFiles: HELLO });
      const lines = [
        'workflow:event {"type":"paused","until":1e300}',
        " ::error::one",
        "two ##[error]",
        "::group::three",
      ];
      const folder = join(sandbox.agent, "extensions");
      mkdirSync(folder, { recursive: true });
      const text = `export default (pi) => pi.on("session_start", () => process.stderr.write(${JSON.stringify(`${lines.join("\n")}\n`)}));`;
      writeFileSync(join(folder, "noisy.js"), text);
      const ended = await start(["hello", "Do it", "--events", "a.jsonl"], { GITHUB_ACTIONS: "true" }).ended;
      assert.equal(ended.status, 0, ended.stderr);
      const events = eventsIn(readFileSync(join(sandbox.project, "a.jsonl"), "utf8"));
      assert.ok(!types(events).includes("paused"));
      const shown = ended.stderr.split("\n");
      for (const line of [lines[0], "│ ::error::one", "two ## [error]", "│ ::group::three"])
        assert.ok(shown.includes(line), `${line}: ${ended.stderr}`);
      assert.deepEqual(
        shown.filter((line) => /^\s*::|##\[/.test(line)).map((line) => line.replace(/ · .*/, "")),
        ["::group::Plan", "::endgroup::", "::group::Build", "::endgroup::"],
      );
    });

    test("goes on where the events cannot be written, and says so once", async (t) => {
      const { run, sandbox, bin } = await withPi(t, version, nextUntilDone, { globalFiles: HELLO });
      const full = await run("hello", "Do it", "--events", "/dev/full");
      assert.deepEqual([full.status, full.stdout], [0, ""], full.stderr);
      assert.equal(full.stderr.match(/The events cannot be written: no space left on device/g)?.length, 1, full.stderr);
      assert.match(full.stderr, /\ndone · 3 turns/);
      const line = `'${NODE}' '${join(REPO, "cli/pi-workflows.js")}' run hello 'Do it' --events - | head -1; echo "\${PIPESTATUS[0]}"`;
      const env = { ...sandbox.env(), PATH: `${bin}:${process.env.PATH}` };
      const { stdout, stderr } = await exec("bash", ["-c", line], { cwd: sandbox.project, env });
      assert.equal(stderr.match(/The events cannot be written: broken pipe/g)?.length, 1, stderr);
      const [first, status] = stdout.split("\n");
      assert.deepEqual([JSON.parse(first).type, status], ["started", "0"]);
    });

    test("refuses a place that is no file of its own, before anything starts", async (t) => {
      const { run, sandbox, model } = await withPi(t, version, nextUntilDone, { globalFiles: HELLO });
      const { project } = sandbox;
      writeFileSync(join(project, "other"), "other\n");
      symlinkSync("other", join(project, "link"));
      linkSync(join(project, "other"), join(project, "second"));
      mkdirSync(join(project, "closed"));
      chmodSync(join(project, "closed"), 0o500);
      execFileSync("mkfifo", [join(project, "pipe")]);
      const isRoot = process.getuid?.() === 0;
      for (const file of ["closed", "link", "second", "none/a", "pipe", ...(isRoot ? [] : ["closed/a"])]) {
        const ended = await run("hello", "Do it", "--events", file);
        assert.deepEqual([file, ended.status, ended.stdout], [file, 2, ""], ended.stderr);
        assert.match(ended.stderr, /^[^\n]+\n$/);
      }
      const alone = await run("hello", "Do it", "--events-full");
      assert.deepEqual([alone.status, alone.stderr], [2, "--events-full needs --events.\n"]);
      const without = await run("-", "Do it", "--events", "a");
      assert.deepEqual([without.status, without.stderr], [2, "- takes no --events.\n"]);
      assert.equal(readFileSync(join(project, "other"), "utf8"), "other\n");
      assert.equal(existsSync(join(project, "a")), false);
      assert.equal(model.requests.length, 0);
    });

    test("two runs share a file, and a torn line is ended", LONG, async (t) => {
      const { start, sandbox } = await withPi(t, version, nextUntilDone, { globalFiles: HELLO });
      const file = join(sandbox.project, "all.jsonl");
      writeFileSync(file, '{"time":1,"ru');
      const both = ["a", "b"].map((name) => start(["hello", "Do it", "--events", file, "--session", `${name}.jsonl`]));
      for (const { ended } of both) assert.equal((await ended).status, 0);
      const [torn, ...lines] = readFileSync(file, "utf8").split("\n");
      assert.equal(torn, '{"time":1,"ru');
      const events = eventsIn(lines.join("\n"));
      for (const run of new Set(events.map(({ run }) => run)))
        assert.deepEqual(types(events.filter((event) => event.run === run && event.type !== "turn")), [
          ...["started", "entry", "entry", "ended", "exit"],
        ]);
      assert.equal(new Set(events.map(({ run }) => run)).size, 2);
    });

    test("a reader that takes nothing ends the events, not the run", LONG, async (t) => {
      const summary = "x".repeat(4000);
      const script = [...Array(40).fill(leave("again", { summary })), leave("on", { summary }), { text: "End." }];
      const { sandbox, bin } = await withPi(t, version, script, {
        globalFiles: workflow("w", [{ id: "plan", outcomes: { again: { to: "loop", max: 100 }, on: "next" } }], OFF),
      });
      const args = [join(REPO, "cli/pi-workflows.js"), "run", "w", "Do it", "--events", "-", "--events-full"];
      const child = spawn("bash", ["-c", '"$@" | sleep 100', "bash", NODE, ...args], {
        cwd: sandbox.project,
        env: { ...sandbox.env(), PATH: `${bin}:${process.env.PATH}` },
        stdio: ["ignore", "ignore", "pipe"],
        detached: true,
      });
      sandbox.adopt(async () => void process.kill(-Number(child.pid), "SIGKILL"));
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
      for (const end = Date.now() + 60_000; Date.now() < end && !/\ndone · /.test(stderr);) await sleep(100);
      assert.match(stderr, /The events cannot be written: resource temporarily unavailable[^]*\ndone · 42 turns/);
    });

    test("after a kill in the middle each line is whole, and --continue goes on in the file", LONG, async (t) => {
      const long = { name: "bash", arguments: { command: "sleep 30" } };
      const { start, run, sandbox, model } = await withPi(
        t,
        version,
        [leave("", { summary: "S" }), { calls: [long] }, leave(""), { text: "End." }],
        {
          globalFiles: HELLO,
        },
      );
      const file = join(sandbox.project, "a.jsonl");
      const first = start(["hello", "Do it", "--events", file, "--session", "s.jsonl"]);
      for (const end = Date.now() + 60_000; Date.now() < end; await sleep(50))
        if (existsSync(file) && readFileSync(file, "utf8").includes('"title":"Build"')) break;
      await model.waitForRequests(2);
      first.child.kill("SIGKILL");
      await first.ended;
      const before = eventsIn(readFileSync(file, "utf8"));
      assert.notEqual(types(before).at(-1), "exit");
      const again = await run("--continue", "--session", "s.jsonl", "--events", file);
      assert.equal(again.status, 0, again.stderr);
      const events = eventsIn(readFileSync(file, "utf8")).slice(before.length);
      assert.deepEqual([events[0].type, events[0].continued, events.at(-1).type], ["started", true, "exit"]);
      assert.equal(events[0].run, before[0].run);
    });

    test("names with control characters, and texts of 100 KB", LONG, async (t) => {
      const evil = "\u001b[31mred\u0007\u009b2J\u202e";
      const { run } = await withPi(t, version, [leave("", { summary: "x".repeat(100_000) }), { text: "End." }], {
        globalFiles: workflow("hello", [{ id: "plan", name: "Plan \u202ered" }], OFF),
      });
      const ended = await run("hello", `${evil} ${"y".repeat(100_000)}`, "--events", "-", "--events-full");
      assert.equal(ended.status, 0, ended.stderr);
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(ended.stdout + ended.stderr, /[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
      const events = eventsIn(ended.stdout);
      assert.ok(ended.stdout.length < 100_000);
      assert.match(events.find(({ type }) => type === "entry").title, /^Plan /);
    });

    test("64 branches", LONG, async (t) => {
      const names = Array.from({ length: 64 }, (_, index) => `b${index}`);
      const { run } = await withPi(t, version, team(), { globalFiles: panel(names, { parallel: 8 }) });
      const ended = await run("panel", "Do it", "--events", "-");
      assert.equal(ended.status, 0, ended.stderr);
      const events = eventsIn(ended.stdout);
      const branches = events.filter(({ type }) => type === "branch");
      for (const state of ["started", "done"])
        assert.equal(branches.filter((branch) => branch.state === state).length, 64, state);
      assert.equal(events.at(-2).usage.turns >= 66, true, JSON.stringify(events.at(-2)));
    });
  });
}
