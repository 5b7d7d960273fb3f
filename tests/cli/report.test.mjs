// `pi-workflows report`: the report of a run of a session file.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";

import { encoded } from "../../cli/runs/sessions.js";
import { PYTHON } from "../pi/harness/world.mjs";
import { CANCELLED, DONE, Recording, START, state, used, visit } from "./session-files.mjs";

const CLI = fileURLToPath(new URL("../../cli/pi-workflows.js", import.meta.url));
const at = (/** @type {number} */ minute) => START + minute * 60_000;
/** A time in Newfoundland, whose summer time ends at 04:30 UTC on the day of START. */
const local = (/** @type {number} */ minute) => {
  const [offset, name] = minute < -4.5 * 60 ? [-150, "UTC−02:30"] : [-210, "UTC−03:30"];
  return `${new Date(at(minute + offset)).toISOString().slice(0, 19).replace("T", " ")} ${name}`;
};

/** A project and pi's own folder. @param {import("node:test").TestContext} t */
function place(t) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pi-workflows-report-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const agent = join(folder, "agent");
  const start = (/** @type {string[]} */ parameters, /** @type {NodeJS.ProcessEnv} */ more = {}) => {
    const env = { ...process.env, PI_CODING_AGENT_DIR: agent, HOME: folder, TZ: "America/St_Johns", ...more };
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...parameters], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  const run = (/** @type {string[]} */ ...parameters) => start(["report", ...parameters]);
  const add = (/** @type {string} */ name, /** @type {Recording} */ recording, cwd = folder) =>
    recording.write(join(agent, "sessions", encoded(cwd), name));
  return { folder, start, run, add, recording: (cwd = folder) => new Recording(cwd) };
}

/** A run that is done. @param {Recording} session @param {object} [fields] */
function finished(session, fields) {
  const look = visit("Look", { endedAt: at(3), summary: { id: "look", name: "🔍 Look", text: "Found it.", step: 0 } });
  session.state(0, state(0, { 0: visit("Look", { usage: undefined }) }, fields));
  session.answer(3, 0.5, 1);
  session.state(3, state(1, { 0: look, 1: visit("Do", { startedAt: at(3), usage: undefined }) }, fields));
  session.answer(5, 0.25, 1);
  const done = visit("Do", { startedAt: at(3), endedAt: at(5), usage: used({ cost: 0.25, models: { "p/m": 1 } }) });
  session.state(5, state(1, { 0: look, 1: done }, { ...DONE, ...fields }));
  return session;
}

suite("pi-workflows report", () => {
  test("writes no command of GitHub's runner in a job, nor do runs and stats", (t) => {
    const { add, recording, start } = place(t);
    const words = "\n::stop-commands::x\n\u0001 ::add-mask::a\n##[error]b #\u0001#[group]";
    const name = `Look${words}`;
    const session = recording();
    const summary = { id: "look", name, text: `Found.${words}`, step: 0 };
    const done = visit(name, { endedAt: at(3), summary });
    session.state(0, state(0, { 0: visit(name, { usage: undefined }) }, { taskDescription: words }));
    session.answer(3);
    session.state(3, state(0, { 0: done }, { ...DONE, taskDescription: words }));
    add(`::error::${Date.now()}.jsonl`, session);
    const formats = ["text", "md", "json", "html"].map((format) => `report --format ${format}`);
    for (const command of [...formats, "report ::x", "runs", "runs --format json", "stats", "stats --format json"]) {
      const { stdout, stderr } = start(command.split(" "), { GITHUB_ACTIONS: "true" });
      assert.doesNotMatch(`${stdout}\n${stderr}`, /^\s*::|##\[/m, command);
      if (command.endsWith("json")) assert.match(JSON.stringify(JSON.parse(stdout)), /##\[error\]b/, command);
    }
    assert.match(start(["report", "--format", "md"]).stdout, /##\[error/, "elsewhere the text stays as it is");
  });

  test("writes Markdown, also without the workflow", (t) => {
    const { add, recording, run } = place(t);
    const session = finished(recording());
    session.user(50);
    session.answer(60, 9);
    add("a.jsonl", session);
    const { status, stdout, stderr } = run();
    assert.deepEqual([status, stderr], [0, ""]);
    assert.equal(
      stdout,
      `# Run of flow

- **Outcome:** done
- **Time:** ${local(0)} to ${local(5)} (5m)
- **Transitions:** 1, **repeated visits:** 0
- **Task ID:** wf-1-aaaaaa
- **Model:** p/m
- **Fingerprint:** 3:abcdef

**Task:**

\`\`\`
The task
\`\`\`

| Phase | Visits | At work | Waiting | Turns | Tokens | Cost |
| --- | --- | --- | --- | --- | --- | --- |
| ✓ Look | 1 | 1m | – | 1 | 110 | \\$0.50 |
| ✓ Do | 1 | 1m | – | 1 | 110 | \\$0.25 |
| **In all** |  | 2m | – | 2 | 220 | \\$0.75 |

## Summaries

**Look**

\`\`\`
Found it.
\`\`\`
`,
    );
  });

  test("writes plain text in a terminal: without Markdown's marks and escapes", (t) => {
    const { add, recording, run, folder } = place(t);
    const session = recording();
    const task = "Fix `a_b` & <c>\n```\n# no heading\n| no | row |\n```";
    const name = "Look [at] *all* of the places | where it is used";
    const summary = { id: "look", name, text: "- **Found** it in `a_b`\n| a | b |", step: 0 };
    const usage = used({ cost: 0.5, models: { "p/my_model": 2 }, gateAttempts: 1 });
    session.state(0, state(0, { 0: visit(name) }, { taskDescription: task }));
    session.state(
      5,
      state(0, { 0: visit(name, { endedAt: at(5), summary, usage }) }, { ...DONE, taskDescription: task }),
    );
    add("a.jsonl", session);
    const { stdout } = run("--format", "text");
    assert.equal(
      stdout,
      `Run of flow
───────────

- Outcome: done
- Time: ${local(0)} to ${local(5)} (5m)
- Transitions: 0, repeated visits: 0
- Task ID: wf-1-aaaaaa
- Model: p/my_model
- Fingerprint: 3:abcdef

Task:

  Fix \`a_b\` & <c>
  \`\`\`
  # no heading
  | no | row |
  \`\`\`

Phase                                               Visits  At work  Waiting  Turns  Tokens  Cost
✓ Look [at] *all* of the places | where it is used  1       1m       –        1      110     $0.50
In all                                                      1m       –        1      110     $0.50

Phase                                               Gate attempts
✓ Look [at] *all* of the places | where it is used  1
In all                                              1

Summaries
─────────

Look [at] *all* of the places | where it is used

  - **Found** it in \`a_b\`
  | a | b |
`,
    );
    // A terminal shows the same, and where its width is known, no table is wider.
    const env = { ...process.env, PI_CODING_AGENT_DIR: join(folder, "agent"), HOME: folder, TZ: "America/St_Johns" };
    const inTerminal = (/** @type {string} */ before) =>
      spawnSync(
        PYTHON,
        [
          ...["-c", "import pty, sys; pty.spawn(sys.argv[1:])"],
          ...["sh", "-c", `${before}exec "$@"`, "sh", process.execPath, CLI, "report"],
        ],
        { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
      ).stdout.replaceAll("\r\n", "\n");
    assert.ok(inTerminal("").endsWith(stdout));
    const narrow = inTerminal("stty columns 80; ");
    assert.match(narrow, /\n✓ Look \[at\] \*all\* of the places… {2}1 {7}1m .* \$0\.50\n/);
    for (const line of narrow.split("\n").filter((line) => /^(Phase|✓|In all)/.test(line)))
      assert.ok(line.length <= 80);
  });

  test("writes JSON with the session and the course", (t) => {
    const { add, recording, run, folder } = place(t);
    const file = add("a.jsonl", finished(recording()));
    const { status, stdout } = run("--format", "json");
    assert.equal(status, 0);
    const report = JSON.parse(stdout);
    assert.deepEqual(
      [report.taskId, report.workflow, report.outcome, report.startedAt, report.endedAt],
      ["wf-1-aaaaaa", "flow", "done", START, at(5)],
    );
    assert.deepEqual(
      report.phases.map((/** @type {any} */ { key, name, passes, summary }) => [key, name, passes, summary]),
      [
        ["flow:0", "Look", 1, "Found it."],
        ["flow:1", "Do", 1, undefined],
      ],
    );
    assert.deepEqual([report.session.file, report.session.cwd], [file, folder]);
    assert.deepEqual(
      report.course.visits.map((/** @type {any} */ { name, from, to, how }) => [name, from, to, how]),
      [
        ["Look", at(0), at(3), "done"],
        ["Do", at(3), at(5), "done"],
      ],
    );
  });

  test("writes one HTML file", (t) => {
    const { add, recording, run } = place(t);
    add("a.jsonl", finished(recording(), { taskDescription: "</script><b>x</b>" }));
    const { status, stdout } = run("wf-1-aaaaaa", "--format", "html");
    assert.equal(status, 0);
    assert.match(stdout, /^<!doctype html>\n[^]*Found it\.[^]*<\/html>\n$/);
    assert.doesNotMatch(stdout, /<b>x/);
  });

  test("adds the work after the newest state of a run that has not ended", (t) => {
    const { add, recording, run } = place(t);
    const session = recording();
    session.state(0, state(0, { 0: visit("Look") }));
    session.user(1);
    session.answer(3, 0.25, 2);
    add("a.jsonl", session);
    const { stdout } = run();
    assert.match(stdout, /\n- \*\*Outcome:\*\* not finished\n- \*\*Time:\*\* started /);
    assert.match(stdout, /\n\| ▸ Look \| 1 \| 3m \| 1m \| 2 \| 1\.2k \| \\\$0\.75 \|\n/);
    const { usage } = JSON.parse(run("--format", "json").stdout);
    assert.deepEqual([usage.turns, usage.toolCalls, usage.models], [2, 2, { "p/m": 1 }]);
  });

  test("writes times of the user's time zone, with the offset that each had, and of the calendar only", (t) => {
    const { add, recording, run } = place(t);
    const session = recording();
    session.state(-300, state(0, { 0: visit("Look") }, { startedAt: at(-300) }));
    session.state(2, state(0, { 0: visit("Look") }, { ...CANCELLED, startedAt: at(-300) }));
    add("a.jsonl", session);
    assert.match(
      run().stdout,
      /\*\*Time:\*\* 2026-11-01 01:30:00 UTC−02:30 to 2026-11-01 05:32:00 UTC−03:30 \(5h 2m\)\n/,
    );
    assert.equal(JSON.parse(run("--format", "json").stdout).startedAt, at(-300));
    session.state(3, state(0, { 0: visit("Look") }, { taskId: "wf-2-b", startedAt: 2 ** 60 }));
    add("a.jsonl", session);
    assert.match(run("wf-2-b").stdout, /started 9999-12-31 23:59:59 UTC\+00:00\n/);
  });

  test("tells how a run ended", (t) => {
    const { add, recording, run } = place(t);
    const session = recording();
    session.state(0, state(0, { 0: visit("Look") }, { taskId: "wf-1-a" }));
    session.state(2, state(0, { 0: visit("Look") }, { ...CANCELLED, taskId: "wf-1-a" }));
    session.state(3, state(0, { 0: visit("Look") }, { taskId: "wf-2-b", startedAt: at(3) }));
    session.answer(4);
    session.state(
      5,
      state(
        0,
        { 0: visit("Look") },
        { taskId: "wf-3-c", startedAt: at(5) },
        { paused: { reason: { kind: "aborted" }, at: at(6) } },
      ),
    );
    add("a.jsonl", session);
    const outcome = (/** @type {string} */ id) =>
      /\*\*Outcome:\*\* (.*)\n- \*\*Time:\*\* (.*)\n/.exec(run(id).stdout)?.slice(1);
    assert.deepEqual(outcome("wf-1-a"), ["cancelled", `${local(0)} to ${local(2)} (2m)`]);
    assert.deepEqual(outcome("wf-2"), ["replaced by another run before its end", `${local(3)} to ${local(4)} (1m)`]);
    assert.deepEqual(outcome("wf-3"), ["paused: you stopped the agent", `started ${local(5)}`]);
    assert.match(run().stdout, /wf-3-c/);
  });

  test("tells the reason for a pause in the same words everywhere", (t) => {
    const { add, recording, run } = place(t);
    const session = recording();
    session.state(0, state(0, { 0: visit("Look") }));
    session.state(
      1,
      state(
        0,
        { 0: visit("Look") },
        {},
        { paused: { reason: { kind: "loops", of: "Look", outcome: "again", times: 3 }, at: at(1) } },
      ),
    );
    session.user(5);
    add("a.jsonl", session);
    const words = "“Look” leads back with `again`, after 20 loops";
    const { pause, course } = JSON.parse(run("--format", "json").stdout);
    assert.deepEqual([pause, course.spans.at(-1)], [words, { kind: "pause", from: at(1), to: at(5), reason: words }]);
    assert.match(run("--format", "html").stdout, /leads back with `again`, after 20 loops/);
  });

  test("reports a run of the reference", (t) => {
    const { add, recording, run } = place(t);
    const session = recording();
    for (const fields of [{}, { active: false }]) session.state(1, { ...state(1, {}, fields), progress: undefined });
    add("a.jsonl", session);
    const { stdout } = run();
    assert.match(
      stdout,
      /\*\*Outcome:\*\* done\n- \*\*Time:\*\* .* to .* \(1m\)\n[^]*The phases of this run are not recorded\.\n$/,
    );
    assert.match(run("--format", "html").stdout, /<\/html>/);
  });

  test("finds the run by the beginning of its task ID", (t) => {
    const { add, recording, run, folder } = place(t);
    add("a.jsonl", finished(recording(), { taskId: "wf-10-a", startedAt: START }));
    add("b.jsonl", finished(recording(), { taskId: "wf-11-b", startedAt: START + 1 }));
    add("c.jsonl", finished(recording("/elsewhere"), { taskId: "wf-2-c", startedAt: START + 2 }), "/elsewhere");
    const id = (/** @type {string[]} */ ...parameters) => /Task ID:\*\* (.*)/.exec(run(...parameters).stdout)?.[1];
    assert.deepEqual(
      [id(), id("wf-10"), id("wf-10-a"), id("wf-2", "--all"), id("--all")],
      ["wf-11-b", "wf-10-a", "wf-10-a", "wf-2-c", "wf-2-c"],
    );
    assert.equal(id("--sessions", join(folder, "agent/sessions", encoded("/elsewhere"))), "wf-2-c");
    const fails = (/** @type {string[]} */ ...parameters) => {
      const { status, stdout, stderr } = run(...parameters);
      assert.deepEqual([status, stdout], [2, ""]);
      return stderr;
    };
    assert.equal(fails("wf-1"), '"wf-1" is the beginning of 2 runs: wf-11-b, wf-10-a\n');
    assert.equal(
      fails("wf-2"),
      'There is no run "wf-2" here; "pi-workflows runs" lists them, and --all looks in all projects.\n',
    );
    assert.equal(fails("wf-3", "--all"), 'There is no run "wf-3" here; "pi-workflows runs" lists them.\n');
    assert.equal(fails("--format", "xml"), 'There is no format "xml", only text, md, json, html.\n');
    assert.equal(fails("--task", "x"), "pi-workflows report takes no --task.\n");
    assert.equal(fails("a", "b"), '"b" is one word too many. Put a text in quotes.\n');
  });

  test("says that there are no runs", (t) => {
    const { run } = place(t);
    assert.deepEqual(run(), {
      status: 2,
      stdout: "",
      stderr: "This project has no runs; --all looks in the sessions of all projects.\n",
    });
    assert.deepEqual(run("--all"), { status: 2, stdout: "", stderr: "There are no runs in these sessions.\n" });
  });

  test("names the files that it cannot read, also if there is no run", (t) => {
    const { run } = place(t);
    assert.deepEqual(run("--sessions", "/dev/null"), {
      status: 2,
      stdout: "",
      stderr: "/dev/null: not a file\nThere are no runs in these sessions.\n",
    });
  });

  test("lists five of many runs with the same beginning", (t) => {
    const { add, recording, run } = place(t);
    for (let run = 0; run < 7; run += 1)
      add(`${run}.jsonl`, finished(recording(), { taskId: `wf-${run}`, startedAt: START + run }));
    assert.equal(run("wf").stderr, '"wf" is the beginning of 7 runs: wf-6, wf-5, wf-4, wf-3, wf-2, …\n');
  });

  test("refuses a run of a later version", (t) => {
    const { add, recording, run } = place(t);
    add("a.jsonl", finished(recording(), { progress: { version: 99 } }));
    assert.deepEqual(run(), {
      status: 2,
      stdout: "",
      stderr: "The run cannot be read: a later version of pi-workflows stored it.\n",
    });
  });

  test("of hostile texts controls neither the terminal nor the text around them", (t) => {
    const { add, recording, run } = place(t);
    const hostile = "|\n\u001b[31m```\u202e</script>\u009b\u200f" + "x".repeat(100_000);
    const session = recording();
    const summary = { id: hostile, name: hostile, text: hostile, step: 0 };
    const evidence = [{ name: hostile, passed: false, result: hostile, durationMs: 1, attempt: 1, tail: hostile }];
    session.state(
      0,
      state(
        0,
        { 0: visit(hostile, { summary, evidence }) },
        { taskId: `wf-${hostile.slice(0, 30)}`, taskDescription: hostile },
      ),
    );
    add("a.jsonl", session);
    for (const format of ["md", "json", "html"]) {
      const { status, stdout, stderr } = run("--format", format);
      assert.deepEqual([status, stderr], [0, ""]);
      assert.doesNotMatch(stdout, /[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/, format);
      // In HTML each text has its own direction.
      if (format !== "html") assert.doesNotMatch(stdout, /\u200f/, format);
    }
    assert.equal(JSON.parse(run("--format", "json").stdout).task, hostile);
    assert.equal(
      run()
        .stdout.split("\n")
        .filter((line) => line.startsWith("| ")).length,
      4,
    );
  });

  test("can be read by a program that stops reading", (t) => {
    const { add, recording, folder } = place(t);
    add("a.jsonl", finished(recording()));
    const env = { ...process.env, PI_CODING_AGENT_DIR: join(folder, "agent") };
    const first = execFileSync("sh", ["-c", `"${process.execPath}" "${CLI}" report --format html | head -n 1`], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    assert.equal(first, "<!doctype html>\n");
  });
});
