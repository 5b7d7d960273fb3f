// `pi-workflows runs` and `pi-workflows stats`, run as a process on session files.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { SessionManager } from "@earendil-works/pi-coding-agent";

import { reportIn } from "../../cli/runs/course.js";
import { findRuns } from "../../cli/runs/find.js";
import { RUN_FORMATS, STATS_FORMATS } from "../../cli/runs/formats.js";
import { encoded } from "../../cli/runs/sessions.js";
import { statsOf } from "../../cli/runs/stats.js";
import { LONG } from "../pi/harness/extent.mjs";
import { NODE, REPO } from "../pi/harness/pi.mjs";
import { workflow } from "../pi/harness/workflows.mjs";
import { CANCELLED, DONE, Recording, START, state, used, visit } from "./session-files.mjs";

const CLI = join(REPO, "cli/pi-workflows.js");
const HOUR = 3_600_000;

/** Creates a project and the folder of its sessions. @param {import("node:test").TestContext} t */
function place(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-workflows-runs-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const project = join(root, "project");
  const agent = join(root, "agent");
  const sessions = join(agent, "sessions", encoded(project));
  for (const folder of [project, sessions]) mkdirSync(folder, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: root, PI_CODING_AGENT_DIR: agent, TZ: "UTC" };
  const run = (/** @type {string[]} */ parameters, more = {}) => {
    const { status, stdout, stderr } = spawnSync(NODE, [CLI, ...parameters], {
      cwd: project,
      env: { ...env, ...more },
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  /** @returns {any[]} */
  const json = (/** @type {string[]} */ ...parameters) =>
    JSON.parse(run(["runs", "--format", "json", ...parameters]).stdout).runs;
  /** Writes a session file with some states. */
  const write = (/** @type {string} */ name, /** @type {any[]} */ ...states) => {
    const recording = new Recording(project);
    states.forEach((data, minute) => recording.state(minute, data));
    return recording.write(join(sessions, name));
  };
  return { root, project, agent, sessions, run, json, write };
}

const id = (/** @type {number} */ number) => `wf-${number}-aaaaaa`;
const LOOK = { 0: visit("Look", { endedAt: START + 1 }), 1: visit("Do", { startedAt: START + 1 }) };
const ended = (/** @type {number} */ number, fields = {}) =>
  state(1, LOOK, { taskId: id(number), startedAt: START + number * HOUR, ...DONE, ...fields });

test("every command takes the command name and the key of a workflow", { ...LONG, timeout: 120_000 }, (t) => {
  const { root, project, agent, run, write } = place(t);
  const files = (/** @type {string} */ folder, /** @type {Record<string, string>} */ content) => {
    for (const [path, text] of Object.entries(content)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  };
  files(join(project, ".pi/workflows"), workflow("release", ["look", "do"], { commandName: "ship" }));
  files(join(root, "kit/workflows"), workflow("review", ["look", "do"], { commandName: "inspect" }));
  files(root, {
    "kit/package.json": JSON.stringify({ name: "kit", "pi-workflows": { workflows: ["./workflows"] } }),
    "agent/settings.json": JSON.stringify({ packages: [join(root, "kit")] }),
  });
  assert.equal(agent, join(root, "agent"));
  write(
    "a.jsonl",
    ended(1, { workflowKey: "release" }),
    ended(2, { workflowKey: "kit/review" }),
    ended(3, { workflowKey: "other" }),
  );
  for (const names of [
    ["release", "ship"],
    ["kit/review", "inspect", "kit/inspect"],
  ]) {
    for (const command of [
      ["show", "NAME"],
      ["graph", "NAME"],
      ["run-through", "NAME"],
      ["may", "NAME", "look", "read"],
      ["runs", "--workflow", "NAME"],
      ["stats", "NAME"],
    ]) {
      const [first, ...others] = names.map((name) => run(command.map((word) => (word === "NAME" ? name : word))));
      assert.deepEqual([first.status, first.stderr], [0, ""], command.join(" "));
      assert.ok(first.stdout.length > 20, first.stdout);
      for (const other of others) assert.deepEqual(other, first, command.join(" "));
      if (command[0] === "runs") assert.match(first.stdout, /^run [^\n]*\nwf-[12]-aaaaaa [^\n]*\n$/);
      if (command[0] === "stats") assert.match(first.stdout, /\b1 run\b/);
    }
  }
});

suite("pi-workflows runs", () => {
  test("ends a run with its last visit, as its report does, also where its end is stored again", (t) => {
    const { run, json, write } = place(t);
    const endedAt = START + 30_000;
    const end = state(0, { 0: visit("Look", { endedAt }) }, DONE);
    write("a.jsonl", state(0, { 0: visit("Look") }), { ...end, completionNotified: false }, end);
    const report = JSON.parse(run(["report", "--format", "json"]).stdout);
    assert.deepEqual([json()[0].endedAt, report.endedAt, report.course.visits[0].to], [endedAt, endedAt, endedAt]);
  });

  test("lists the runs of the project, newest first", (t) => {
    const { run, write, sessions, project } = place(t);
    write(
      "a.jsonl",
      ended(1),
      state(1, LOOK, { taskId: id(2), startedAt: START + 2 * HOUR, ...CANCELLED, taskDescription: "Fix\nit  now" }),
    );
    write(
      "b.jsonl",
      state(
        1,
        { ...LOOK, 1: visit("Do", { usage: used({ unpriced: 1 }) }) },
        { taskId: id(3), startedAt: START + 3 * HOUR },
        { paused: { reason: { kind: "person" }, at: START } },
      ),
    );
    const open = new Recording(project);
    open.state(0, state(0, { 0: visit("Look") }, { taskId: id(4), startedAt: START + 4 * HOUR, workflowKey: "other" }));
    open.user(2);
    open.answer(5, 0.25);
    open.write(join(sessions, "c.jsonl"));
    assert.deepEqual(run(["runs"]), {
      status: 0,
      stdout: `run          started           outcome    workflow  phase  at work  waiting  cost             task
wf-4-aaaaaa  2026-11-01 13:00  running    other     Look   4m       2m       $0.75            The task
wf-3-aaaaaa  2026-11-01 12:00  paused     flow      Do     2m       0s       $1.00 + unknown  The task
wf-2-aaaaaa  2026-11-01 11:00  cancelled  flow      Do     2m       0s       $1.00            Fix it now
wf-1-aaaaaa  2026-11-01 10:00  done       flow      Do     2m       0s       $1.00            The task
`,
      stderr: "",
    });
    assert.match(run(["runs", "--workflow", "other"]).stdout, /^run [^\n]*\nwf-4-aaaaaa [^\n]*\n$/);
    assert.deepEqual(run(["runs", "--workflow", "nothing"]), { status: 0, stdout: "No runs.\n", stderr: "" });
  });

  test("reads entries whose fields have another order, and blanks between them", (t) => {
    const { sessions, json, write } = place(t);
    /** @type {(value: any) => any} */
    const reversed = (value) => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, field]) => [name, reversed(field)]),
      );
    };
    const open = state(1, LOOK, { taskId: id(2) });
    const path = write("a.jsonl", ended(1), open);
    const asWritten = json();
    assert.equal(asWritten.length, 2);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const other = lines.map((line) => JSON.stringify(reversed(JSON.parse(line)), undefined, 1).replaceAll("\n", " "));
    writeFileSync(join(sessions, "a.jsonl"), `${other.join("\n")}\n`);
    assert.deepEqual(json(), asWritten);
  });

  test("takes nothing for a state that a tool call names so", (t) => {
    const { project, sessions, json } = place(t);
    const recording = new Recording(project);
    recording.state(0, ended(1));
    const call = {
      type: "toolCall",
      id: "c",
      name: "note",
      arguments: { customType: "workflow:state", taskId: id(1) },
    };
    recording.session.appendMessage(/** @type {any} */ ({ role: "assistant", content: [call], timestamp: 0 }));
    recording.write(join(sessions, "a.jsonl"));
    assert.deepEqual(
      json().map(({ taskId }) => taskId),
      [id(1)],
    );
  });

  test("has no phase behind the last entry of a run that ended in a nested workflow", (t) => {
    const { json, write } = place(t);
    const visits = {
      "flow:0": visit("Look", { endedAt: START + 1 }),
      "flow:1/inner:0": visit("Inside", { startedAt: START + 1, endedAt: START + 2, step: 1 }),
    };
    const past = state(3, {}, { ...DONE, globalStepCount: 2 }, { visits });
    write("a.jsonl", past);
    assert.deepEqual(
      json().map(({ phase }) => phase),
      [{ key: "flow:1/inner:0", name: "Inside" }],
    );
  });

  test("keeps the order of a session whose clock was set back", (t) => {
    const { json, write } = place(t);
    write("a.jsonl", ended(5), ended(1), ended(2));
    write("b.jsonl", ended(3));
    write("c.jsonl", ended(6));
    assert.deepEqual(
      json().map(({ taskId }) => taskId),
      [6, 2, 1, 5, 3].map(id),
    );
  });

  test("gives programs what is known of each run", (t) => {
    const { json, write, project } = place(t);
    const file = write("a.jsonl", ended(1));
    const [run] = json();
    const { usage, ...rest } = run;
    assert.deepEqual(rest, {
      taskId: id(1),
      workflow: "flow",
      task: "The task",
      outcome: "done",
      phase: { key: "flow:1", name: "Do" },
      startedAt: START + HOUR,
      endedAt: START + HOUR,
      fingerprint: "3:abcdef",
      steps: 1,
      session: { file, id: run.session.id, cwd: project },
    });
    assert.deepEqual([usage.turns, usage.input, usage.cost, usage.workMs, usage.models], [2, 200, 1, 120_000, {}]);
  });

  test("takes the sessions that the options and pi's settings name", (t) => {
    const { root, project, agent, run, write, json } = place(t);
    write("a.jsonl", ended(1));
    const foreign = new Recording("/other");
    foreign.state(0, ended(2));
    const folder = join(agent, "sessions", encoded("/other"));
    const file = foreign.write(join(folder, "b.jsonl"));
    const ids = (/** @type {string[]} */ ...parameters) => json(...parameters).map(({ taskId }) => taskId);
    assert.deepEqual(ids(), [id(1)]);
    assert.deepEqual(ids("--all"), [id(2), id(1)]);
    assert.deepEqual(ids("--sessions", folder), [id(2)]);
    assert.deepEqual(ids("--sessions", join(agent, "sessions")), [id(2), id(1)]);
    assert.deepEqual(ids("--sessions", file), [id(2)]);
    assert.match(run(["runs", "--all"]).stdout, /  \/other +The task$/m);
    // A folder of the settings has the sessions of all projects.
    const own = join(root, "own");
    foreign.write(join(own, "b.jsonl"));
    const mine = new Recording(project);
    mine.state(0, ended(3));
    mine.write(join(own, "c.jsonl"));
    writeFileSync(join(agent, "settings.json"), JSON.stringify({ sessionDir: "~/own" }));
    assert.deepEqual(ids(), [id(3)]);
    assert.deepEqual(ids("--all"), [id(3), id(2)]);
    writeFileSync(join(agent, "settings.json"), "{}");
    assert.match(run(["runs"], { PI_CODING_AGENT_SESSION_DIR: own }).stdout, /^run [^\n]*\nwf-3-aaaaaa [^\n]*\n$/);
    assert.deepEqual(run(["runs", "--sessions", "nowhere"]), {
      status: 2,
      stdout: "",
      stderr: "There is no nowhere.\n",
    });
    assert.deepEqual(run(["runs", "--sessions", own, "--all"]), {
      status: 2,
      stdout: "",
      stderr: "--all and --sessions exclude each other.\n",
    });
  });

  test("reads the folder that a project's settings name only where the project is trusted", (t) => {
    const { root, project, agent, run, json } = place(t);
    const folder = join(project, "shipped");
    const shipped = new Recording(project);
    shipped.state(0, state(0, { 0: visit("Look") }));
    shipped.write(join(folder, "a.jsonl"));
    mkdirSync(join(project, ".pi"));
    writeFileSync(join(project, ".pi/settings.json"), JSON.stringify({ sessionDir: folder }));
    const trust = (/** @type {object} */ decisions) =>
      writeFileSync(join(agent, "trust.json"), JSON.stringify(decisions));
    const passedOver = `pi has not stored that this project is trusted, so the sessions in ${folder}, which its settings name, are passed over: --sessions '${folder}' reads them.`;
    for (const decisions of [undefined, { [project]: false, [root]: true }, { [root]: null }, { [folder]: true }, []]) {
      if (decisions) trust(decisions);
      for (const command of ["runs", "stats", "report"])
        assert.equal(run([command]).stderr.split("\n")[0], passedOver, `${command} ${JSON.stringify(decisions)}`);
      assert.deepEqual([...json(), ...json("--all")], []);
      assert.match(
        run(["run", "--continue"]).stderr,
        new RegExp(`^No run of this project is unfinished. ${passedOver}`),
      );
    }
    assert.equal(json("--sessions", folder).length, 1);
    // Found, but there is no pi.
    assert.doesNotMatch(run(["run", "--continue", "--approve", "--pi", "/none"]).stderr, /unfinished/);
    for (const decisions of [{ [project]: true }, { [root]: true }]) {
      trust(decisions);
      assert.equal(json().length, 1);
      assert.equal(run(["runs"]).stderr, "");
    }
  });

  test("finds the sessions that pi itself stored", (t) => {
    const { project, agent, json } = place(t);
    const script = `import { SessionManager } from "@earendil-works/pi-coding-agent";
      const session = SessionManager.create(process.argv[1]);
      session.appendCustomEntry("workflow:state", ${JSON.stringify(ended(1))});
      session.appendMessage({ role: "assistant", provider: "p", model: "m", content: [], usage: {}, stopReason: "stop", timestamp: 0 });`;
    execFileSync(NODE, ["--input-type=module", "-e", script, project], {
      cwd: REPO,
      env: { ...process.env, PI_CODING_AGENT_DIR: agent },
    });
    assert.deepEqual(
      json().map(({ taskId, session }) => [taskId, session.cwd]),
      [[id(1), project]],
    );
  });

  test("takes the runs that started since a time", LONG, (t) => {
    const { run, json, write } = place(t);
    const ago = (/** @type {number} */ number, /** @type {number} */ hours) =>
      ended(number, { startedAt: Date.now() - hours * HOUR });
    write("a.jsonl", ago(1, 24 * 8), ago(2, 24 * 6), ago(3, 2));
    const count = (/** @type {string} */ since) => json("--since", since).length;
    assert.deepEqual(["10m", "3h", "7d", "2w", "2020-01-31", "2099-01-01"].map(count), [0, 1, 2, 3, 3, 0]);
    // A file that was not changed since is not read.
    const old = write("b.jsonl", ago(4, 2));
    utimesSync(old, 0, 0);
    assert.equal(count("3h"), 1);
    for (const since of ["7", "7y", "yesterday", "2026-02-30x", "2026-02-30", "2026-00-10", "2026-13-01"]) {
      const stderr = `--since takes 30m, 12h, 7d, 4w or a date as 2026-01-31, but is "${since}".\n`;
      assert.deepEqual(run(["runs", "--since", since]), { status: 2, stdout: "", stderr });
    }
  });

  test("names a run that another one replaced on its branch, and no other", (t) => {
    const { project, sessions, json } = place(t);
    const session = new Recording(project);
    const of = (/** @type {number} */ number) => state(0, { 0: visit("Look") }, { taskId: id(number) });
    const first = session.state(0, of(1));
    session.answer(1, 8);
    session.state(2, of(2));
    session.answer(3, 4);
    session.session.branch(first);
    session.state(4, of(3));
    session.session.resetLeaf();
    session.state(5, of(4));
    session.answer(6, 2);
    session.write(join(sessions, "a.jsonl"));
    const runs = json().map(({ taskId, outcome, usage }) => [taskId, outcome, usage.cost]);
    assert.deepEqual(runs.sort(), [
      [id(1), "replaced", 8.5],
      [id(2), "running", 4.5],
      [id(3), "running", 0.5],
      [id(4), "running", 2.5],
    ]);
  });

  test("counts the work after the newest state as a session in pi does", (t) => {
    const { project, sessions, json } = place(t);
    const recording = new Recording(project);
    recording.state(0, state(0, { 0: visit("Look") }));
    recording.answer(1, 0.25, 1);
    const { session } = recording;
    const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { total: 0 } };
    // It kept the prompt cache, and was billed for it.
    session.appendUsage("cache_warm", "p", "m", /** @type {any} */ ({ ...zero, cacheRead: 7, cost: { total: 0.5 } }));
    // pi did not reach the model.
    session.appendMessage(
      /** @type {any} */ ({
        role: "assistant",
        provider: "p",
        model: "m",
        content: [],
        usage: zero,
        stopReason: "error",
        timestamp: 0,
      }),
    );
    // An extension made it without a model.
    session.appendCompaction("Short.", "", 9, undefined, true, /** @type {any} */ (zero));
    recording.write(join(sessions, "a.jsonl"));
    const [{ usage }] = json();
    const { turns, cost, toolCalls, unreported, unpriced, warmUps, warmTokens, warmCost } = usage;
    assert.deepEqual(
      [turns, cost, toolCalls, unreported, unpriced, warmUps, warmTokens, warmCost],
      [3, 0.75, 1, 0, 0, 1, 7, 0.5],
    );
  });

  test("leaves a run out that was only copied into a forked session", (t) => {
    const { project, sessions, json } = place(t);
    const original = new Recording(project);
    original.state(0, state(0, { 0: visit("Look") }));
    original.answer(1);
    const file = original.write(join(sessions, "a.jsonl"));
    const session = SessionManager.open(file, sessions);
    const leaf = /** @type {string} */ (session.getLeafId());
    const fork = SessionManager.forkFrom(file, project, sessions);
    const branched = /** @type {string} */ (SessionManager.open(file, sessions).createBranchedSession(leaf));
    session.appendCustomEntry("workflow:state", state(0, { 0: visit("Look") }, DONE));
    const files = () => json().map(({ outcome, session }) => [outcome, session.file]);
    assert.deepEqual(files(), [["done", file]]);
    // A copy that moved on is a run of its own.
    fork.appendCustomEntry("workflow:state", state(0, { 0: visit("Look") }, CANCELLED));
    assert.deepEqual(files().sort(), [
      ["cancelled", fork.getSessionFile()],
      ["done", file],
    ]);
    rmSync(file);
    rmSync(/** @type {string} */ (fork.getSessionFile()));
    assert.deepEqual(files(), [["running", branched]], "the original is gone");
  });

  test("says of a run of the reference what its states tell", (t) => {
    const { run, write } = place(t);
    const { progress: _, ...data } = state(1, {}, DONE);
    write("a.jsonl", data);
    assert.match(
      run(["runs"]).stdout,
      /\nwf-1-aaaaaa {2}2026-11-01 09:00 {2}done {5}flow {6}flow:1 {2}unknown {2}unknown {2}unknown {2}The task\n$/,
    );
  });

  test("reads files of any size and with any lines, and names those that cannot be read", { timeout: 120_000 }, (t) => {
    const { root, sessions, run, write, json } = place(t);
    const good = write("good.jsonl", ended(1));
    writeFileSync(join(sessions, "empty.jsonl"), "");
    writeFileSync(
      join(sessions, "binary.jsonl"),
      Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 256)),
    );
    writeFileSync(join(sessions, "not-json.jsonl"), "hello\n".repeat(1000));
    mkdirSync(join(sessions, "folder.jsonl"));
    symlinkSync(good, join(sessions, "link.jsonl"));
    symlinkSync("nowhere", join(sessions, "dangling.jsonl"));
    symlinkSync("loop.jsonl", join(sessions, "loop.jsonl"));
    symlinkSync(root, join(sessions, "up"));
    if (process.platform !== "win32") execFileSync("mkfifo", [join(sessions, "pipe.jsonl")]);
    // A run in a file with half a line at its end, bytes that are no text, and lines that are no JSON.
    const torn = write("torn.jsonl", ended(2));
    appendFileSync(
      torn,
      Buffer.concat([
        Buffer.from("\n\nnull\n7\n[]\n{}\n"),
        Buffer.from([0xff, 0, 0xfe, 10]),
        Buffer.from(JSON.stringify(ended(3)).slice(0, 90)),
      ]),
    );
    appendFileSync(torn, `\n{"type":"custom","customType":"workflow:state","data":{"taskId":"wf-9`);
    // Half a state, and the end of the line with which pi goes on after a kill.
    const killed = write("killed.jsonl", ended(8));
    appendFileSync(killed, `${readFileSync(killed, "utf8").split("\n")[1].slice(0, -100)}\n`);
    // A long line, a longer one with states in it, and a run after them.
    const long = write("long.jsonl", ended(4));
    const fd = openSync(long, "a");
    writeSync(
      fd,
      `{"type":"message","id":"m","parentId":null,"timestamp":"2026-11-01T09:00:00.000Z","message":{"role":"user","content":"`,
    );
    for (let megabyte = 0; megabyte < 50; megabyte += 1) writeSync(fd, Buffer.alloc(2 ** 20, "long "));
    writeSync(fd, `"}}\n{"type":"custom","customType":"workflow:state","data":[`);
    for (let megabyte = 0; megabyte < 10; megabyte += 1)
      writeSync(fd, '{"customType":"workflow:state"},'.repeat(32_768));
    writeSync(
      fd,
      `]}\n${JSON.stringify({ type: "custom", customType: "workflow:state", data: ended(5), id: "x", parentId: null, timestamp: "2026-11-01T10:00:00.000Z" })}\n`,
    );
    closeSync(fd);
    // Zeros, as after a power failure.
    const zeros = openSync(write("zeros.jsonl", ended(6)), "r+");
    ftruncateSync(zeros, 30_000_000);
    closeSync(zeros);
    const broken = write("broken.jsonl", ended(7));
    writeFileSync(broken, readFileSync(broken, "utf8").replace('"phaseIndex":1', '"phaseIndex":"1"'));

    const { status, stderr } = run(["runs"]);
    assert.equal(status, 0);
    assert.deepEqual(
      stderr.trimEnd().split("\n"),
      [
        ["binary", "not a session of pi"],
        ["broken", "1 state cannot be read"],
        ["dangling", "no such file or directory"],
        ["empty", "not a session of pi"],
        ["killed", "1 state cannot be read"],
        ["long", "1 state cannot be read"],
        ["loop", "too many symbolic links encountered"],
        ["not-json", "not a session of pi"],
        ...(process.platform === "win32" ? [] : [["pipe", "not a file"]]),
      ].map(([name, reason]) => `${join(sessions, `${name}.jsonl`)}: ${reason}`),
    );
    assert.deepEqual(
      json().map(({ taskId }) => taskId),
      [8, 6, 5, 4, 2, 1].map(id),
    );
  });

  test("finds a state wherever it lies in a file", (t) => {
    const { sessions } = place(t);
    const file = join(sessions, "a.jsonl");
    const line = (/** @type {any} */ entry) =>
      `${JSON.stringify({ ...entry, id: "x", parentId: null, timestamp: "2026-11-01T10:00:00.000Z" })}\n`;
    const header = line({ type: "session" });
    const states = [1, 2].map((number) => line({ type: "custom", customType: "workflow:state", data: ended(number) }));
    const [first] = states;
    // The first one lies across the end of what is read at once, from its last byte to its first.
    const end = 2 ** 18;
    const ids = (/** @type {string} */ text) => {
      writeFileSync(file, text);
      return findRuns({ sessions: file }).runs.map(({ state }) => state.taskId);
    };
    for (let inside = -1; inside <= first.length + 1; inside += 1) {
      const padding = `${"x".repeat(end - header.length - 1 - inside)}\n`;
      assert.deepEqual(ids(header + padding + states.join("")), [id(2), id(1)], `${inside}`);
    }
    assert.deepEqual(ids(header + first.trimEnd()), [id(1)], "without an end of the line");
    assert.deepEqual(
      ids(
        header +
          line({
            type: "custom",
            customType: "workflow:state",
            data: ended(3, { taskDescription: "x".repeat(3 * end) }),
          }) +
          first,
      ),
      [id(1), id(3)],
    );
    assert.deepEqual(
      ids(header + line({ type: "message", message: { role: "user", content: first } })),
      [],
      "in a text",
    );
  });

  test("needs little memory for large files", { timeout: 120_000 }, (t) => {
    const { sessions, write } = place(t);
    const fd = openSync(write("a.jsonl", state(0, { 0: visit("Look") })), "a");
    const line = `${JSON.stringify({ type: "message", message: { role: "user", content: "x".repeat(1000) } })}\n`;
    for (let megabyte = 0; megabyte < 150; megabyte += 1) writeSync(fd, line.repeat(1000));
    closeSync(fd);
    const script = `import { findRuns } from ${JSON.stringify(join(REPO, "cli/runs/find.js"))};
      const { runs } = findRuns({ sessions: ${JSON.stringify(sessions)} });
      console.log(runs.length, process.resourceUsage().maxRSS);`;
    const [count, kilobytes] = execFileSync(NODE, ["--input-type=module", "-e", script], { encoding: "utf8" })
      .split(" ")
      .map(Number);
    assert.equal(count, 1);
    assert.ok(kilobytes < 150_000, `${kilobytes} KB`);
  });

  test("prints no control characters, whatever a session contains", (t) => {
    const { run, write } = place(t);
    const evil = "\u001b]0;x\u0007\u009b31m\u202e\u2066|\r\n\u2028<b>";
    write(
      "a.jsonl",
      state(0, { 0: visit(evil) }, { workflowKey: `flow${evil}`, taskId: evil, taskDescription: evil.repeat(100) }),
    );
    write(`b${"\u001b[31m"}.jsonl`, ended(1, { currentPath: 7 }));
    for (const parameters of [
      ["runs"],
      ["runs", "--all"],
      ["runs", "--format", "json"],
      ["stats"],
      ["stats", "--format", "json"],
    ]) {
      const { status, stdout, stderr } = run(parameters);
      assert.equal(status, 0);
      assert.doesNotMatch(stdout + stderr, /[\0-\x08\x0b-\x1f\x7f-\x9f]/, parameters.join(" "));
      if (parameters.length === 1) assert.doesNotMatch(stdout, /[\u202a-\u202e\u2066-\u2069]/);
      assert.match(stderr, /^[^\n]*1 state cannot be read\n$/);
    }
    assert.equal(run(["runs"]).stdout.split("\n").length, 3);
  });

  test("names the nested workflow of a phase, and fits a narrow terminal", (t) => {
    const { run, write, sessions } = place(t);
    const nested = {
      currentPath: [
        { workflowKey: "flow", phaseIndex: 1 },
        { workflowKey: "tests", phaseIndex: 0 },
      ],
    };
    const data = state(0, {}, { taskId: id(1), taskDescription: "word ".repeat(20), ...nested });
    data.progress.visits["flow:1/tests:0"] = visit("Unit");
    write("a.jsonl", data);
    assert.match(run(["runs"]).stdout, / {2}flow {6}tests > Unit {2}1m {7}0s {7}\$0\.50 {2}word word/);
    const { runs } = findRuns({ sessions });
    const lines = (/** @type {number | undefined} */ width) =>
      RUN_FORMATS.text(runs, false, width).trimEnd().split("\n");
    const whole = lines(undefined)[1];
    for (const width of [130, 110]) {
      const [, line] = lines(width);
      assert.equal(line.length, width);
      assert.equal(line.slice(0, -1), whole.slice(0, width - 1));
    }
    // Then columns are left out, and the run, its outcome and its task stay.
    const headings = (/** @type {number} */ width) => lines(width)[0].split(/ {2,}/);
    assert.deepEqual(headings(80), ["run", "started", "outcome", "workflow", "at work", "cost", "task"]);
    for (const width of [100, 80, 60, 50]) {
      assert.ok(
        lines(width).every((line) => line.length <= width),
        `${width}: ${lines(width).join("\n")}`,
      );
      assert.match(lines(width)[1], new RegExp(`^${id(1)} .*running.* flow .*word`));
    }
    assert.deepEqual(headings(10), ["run", "outcome", "workflow", "task"]);
    assert.equal(lines(10)[1].length, lines(10)[0].indexOf("task") + 12, "it keeps a minimum");
  });

  test("reads the parts of a run, also around lost lines, and holds a run whose own lines are lost, as pi does", (t) => {
    const { project, sessions, json, run } = place(t);
    const taskId = id(1);
    const entry = (/** @type {number} */ number, /** @type {any} */ visits, /** @type {any} */ progress = {}) =>
      state(
        number - 1,
        visits,
        { taskId },
        {
          entry: { number, ...(number > 1 ? { parts: number - 1, length: 9 } : {}) },
          ...progress,
        },
      );
    const session = new Recording(project);
    session.state(0, entry(1, { 0: visit("Look") }));
    session.answer(1, 8);
    session.state(
      2,
      entry(2, { 0: visit("Look", { endedAt: START + 1 }), 1: visit("Do", { usage: used({ waitMs: 5 }) }) }),
    );
    session.user(3);
    session.state(4, entry(3, { 1: visit("Do", { endedAt: START + 2 }), 2: visit("Show") }));
    session.answer(5, 0.25);
    session.answer(6, 0.25);
    const lines = session.text().trimEnd().split("\n");
    const read = (/** @type {number[]} */ ...lost) => {
      writeFileSync(join(sessions, "a.jsonl"), `${lines.filter((_, index) => !lost.includes(index)).join("\n")}\n`);
      return json().map(({ outcome, pause, phase, usage }) => [outcome, pause, phase.name, usage.turns, usage.cost]);
    };
    assert.deepEqual(read(), [["running", undefined, "Show", 5, 2]]);
    assert.deepEqual(read(2), [["running", undefined, "Show", 5, 2]], "a message between states");
    assert.deepEqual(read(4), [["running", undefined, "Show", 5, 2]], "another one");
    assert.deepEqual(read(3), [["paused", "unreadable", "Show", 4, 1.5]], "a part");
    assert.match(
      run(["report"]).stdout,
      /paused: its stored state cannot be read in full: an earlier entry that it continues is missing\n/,
    );
    assert.deepEqual(read(6), [["paused", "unreadable", "Show", 3, 1.5]], "a message after the newest state");
    const { outcome, usage } = JSON.parse(run(["report", "--format", "json"]).stdout);
    assert.deepEqual([outcome, usage.turns, usage.cost], ["paused", 3, 1.5], "the report says the same");
    assert.deepEqual(read(7), [["running", undefined, "Show", 4, 1.75]], "the newest line");
    assert.deepEqual(read(5), [["paused", "unreadable", "Do", 2, 1]], "the newest state");
  });

  test("does not throw, whatever a state or an entry contains", LONG, (t) => {
    const { sessions } = place(t);
    /** @type {any[]} */
    const values = [
      null,
      true,
      0,
      -1,
      1e300,
      0.5,
      "",
      "x",
      "__proto__",
      [],
      [null],
      {},
      { a: 1 },
      { __proto__: null, toString: 1 },
    ];
    let seed = 1;
    const random = (/** @type {number} */ below) => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    /** Replaces some values in a tree. @param {any} tree @returns {any} */
    const damaged = (tree) => {
      if (random(12) === 0) return values[random(values.length)];
      if (Array.isArray(tree)) return tree.map(damaged);
      if (typeof tree !== "object" || tree === null) return tree;
      return Object.fromEntries(
        Object.entries(tree).map(([key, value]) => [random(60) === 0 ? "__proto__" : key, damaged(value)]),
      );
    };
    for (let round = 0; round < 300; round += 1) {
      const session = new Recording();
      session.state(0, state(0, { 0: visit("Look") }, { taskId: id(round) }));
      session.answer(1, 1, 2);
      session.state(
        2,
        state(
          1,
          { ...LOOK, 1: visit("Do", { evidence: [{ name: "x", passed: true, attempt: 1, durationMs: 5 }] }) },
          { taskId: id(round) },
          { paused: { reason: { kind: "gate" }, at: START } },
        ),
      );
      session.user(3);
      session.answer(4);
      const lines = session
        .text()
        .trimEnd()
        .split("\n")
        .map((line, index) => (index === 0 ? line : JSON.stringify(damaged(JSON.parse(line)))));
      const text = lines.join("\n");
      writeFileSync(join(sessions, `${round}.jsonl`), round % 3 ? text : text.slice(0, random(text.length) + 200));
    }
    const { runs } = findRuns({ sessions });
    assert.ok(runs.length > 100, `${runs.length} runs`);
    for (const format of ["text", "json"]) {
      for (const command of ["runs", "stats"]) {
        const { status, stderr } = spawnSync(NODE, [CLI, command, "--sessions", sessions, "--format", format], {
          encoding: "utf8",
        });
        assert.equal(status, 0, stderr);
      }
    }
    for (const { session, state } of runs) {
      try {
        reportIn(session.file, state.taskId);
      } catch (error) {
        assert.match(String(error), /The run cannot be read: a later version of pi-workflows stored it\./);
      }
    }
  });
});

suite("pi-workflows stats", () => {
  /**
   * A run that took this number of minutes in its first phase.
   *
   * @param {number} number
   * @param {number} minutes
   * @param {any} [more]
   * @param {any} [progress]
   */
  const took = (number, minutes, more, progress) => {
    const usage = used({
      workMs: minutes * 60_000,
      waitMs: 60_000,
      cost: minutes / 10,
      gateFailures: number % 2,
      refusals: { write: 1, tools: number },
      ...more,
    });
    return state(
      1,
      {
        0: visit("Look", { endedAt: START + 1, usage, passes: number, earlier: { turns: 1 } }),
        1: visit("Do", { skipped: true, endedAt: START + 2, usage: {} }),
      },
      { taskId: id(number), startedAt: START + number * 24 * HOUR, ...DONE },
      progress,
    );
  };

  test("has the median and the maximum of each phase, and the number of runs", (t) => {
    const { run, write, sessions } = place(t);
    for (const [number, minutes] of [
      [1, 5],
      [2, 1],
      [3, 30],
      [4, 4],
      [5, 2],
      [6, 3],
    ])
      write(`${number}.jsonl`, took(number, minutes, number < 3 ? { unpriced: 1 } : {}));
    assert.deepEqual(run(["stats"]), {
      status: 0,
      stdout: `flow: 6 runs since 2026-11-02 (6 done), fingerprint 3:abcdef
             at work          waiting     cost                visits      gate failures  refusals
  Look       3m 30s, 30m (6)  1m, 1m (6)  $0.20 to $3.00 (4)  3.5, 6 (6)  0.5, 1 (6)     4.5, 7 (6)
  Whole run  3m 30s, 30m (6)  1m, 1m (6)  $0.20 to $3.00 (4)  -           0.5, 1 (6)     4.5, 7 (6)

Each figure: the median, the maximum, and in brackets the number of runs.
Of fewer than 5 runs, which a median needs: the smallest and the largest.
`,
      stderr: "",
    });
    // A narrow terminal has the figures without room in more tables below, each figure whole.
    const stats = statsOf(findRuns({ sessions }).runs);
    const [, ...wide] = STATS_FORMATS.text(stats, undefined).split("\n");
    for (const width of [100, 80, 60, 40]) {
      const [, ...lines] = STATS_FORMATS.text(stats, width).split("\n").slice(0, -4);
      assert.ok(
        lines.every((line) => line.length <= width && !line.includes("…")),
        lines.join("\n"),
      );
      const figures = lines.filter((line) => line.startsWith("  Look")).map((line) => line.slice(6).trim());
      assert.deepEqual(figures.join("  ").split(/ {2,}/), wide[1].slice(6).trim().split(/ {2,}/));
    }
  });

  test("begins anew with each fingerprint, the newest first", (t) => {
    const { run, write } = place(t);
    const seal = (/** @type {string} */ hash) => ({ seal: { version: 3, hash } });
    for (let number = 1; number <= 9; number += 1)
      write(`${number}.jsonl`, took(number, 1, {}, seal(number < 4 ? "old" : "new")));
    write("other.jsonl", { ...took(20, 1), workflowKey: "other", active: true });
    const { stdout } = run(["stats", "flow"]);
    assert.deepEqual(
      stdout.split("\n").filter((line) => line.startsWith("flow")),
      [
        "flow: 6 runs since 2026-11-05 (6 done), fingerprint 3:new",
        "flow: 3 runs from 2026-11-02 to 2026-11-04 (3 done), fingerprint 3:old, older",
      ],
    );
    assert.match(
      stdout,
      /older\n[^\n]*\n {2}Look {7}1m \(3\) {3}1m \(3\) {3}\$0\.10 \(3\) {2}1 to 3 \(3\) {2}0 to 1 \(3\) {5}2 to 4 \(3\)\n/,
    );
    const { workflows } = JSON.parse(run(["stats", "--format", "json"]).stdout);
    assert.deepEqual(
      workflows.map((/** @type {any} */ { workflow, runs, outcomes }) => [workflow, runs, outcomes]),
      [
        ["flow", 6, { done: 6 }],
        ["flow", 3, { done: 3 }],
        ["other", 1, { running: 1 }],
      ],
    );
    assert.deepEqual(workflows[0].phases[0].figures.passes, { runs: 6, median: 6.5, max: 9 });
    assert.deepEqual(workflows[1].phases[0].figures.passes, { runs: 3, min: 1, max: 3 });
    assert.equal(run(["stats", "nothing"]).stdout, "No runs.\n");
    write("older.jsonl", took(0, 1, {}, seal("oldest")));
    assert.match(
      run(["stats", "flow"]).stdout,
      /\nflow: 1 run on 2026-11-01 \(1 done\), fingerprint 3:oldest, older\n/,
    );
  });

  test("does not count the copy of a run in a forked session twice", (t) => {
    const { project, sessions, run, write } = place(t);
    const file = write("a.jsonl", took(1, 1));
    for (let copy = 0; copy < 5; copy += 1) SessionManager.forkFrom(file, project, sessions);
    assert.match(run(["stats"]).stdout, /^flow: 1 run since/);
  });
});
