// The course of a run in time, read from a session file.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { reportIn } from "../../cli/runs/course.js";
import { reportOf } from "../../cli/runs/report.js";
import { CANCELLED, DONE, Recording, START, state, used, visit } from "./session-files.mjs";

const TASK = "wf-1-aaaaaa";

/** @param {import("node:test").TestContext} t @param {Recording} recording */
function written(t, recording) {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-course-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return recording.write(join(folder, "session.jsonl"));
}

/** @param {import("node:test").TestContext} t @param {Recording} recording */
function read(t, recording) {
  const report = reportIn(written(t, recording), TASK);
  assert.ok(report);
  const { course, ...run } = report.data;
  const minutes = (/** @type {{ from: number, to: number }} */ { from, to }) =>
    [from, to].map((time) => (time - START) / 60_000);
  return {
    ...run,
    visits: course.visits.map((/** @type {any} */ visit) => [visit.name, visit.pass, ...minutes(visit), visit.how]),
    spans: course.spans.map((/** @type {any} */ span) => [
      span.kind,
      ...minutes(span),
      ...(span.reason ? [span.reason] : []),
    ]),
  };
}

const at = (/** @type {number} */ minute) => START + minute * 60_000;

suite("the course of a run", () => {
  test("has each visit in order of time, and how it ended", (t) => {
    const session = new Recording();
    const first = visit("Look");
    session.user(-1);
    session.state(0, state(0, { 0: first }));
    session.answer(2, 0.25, 1);
    session.state(3, state(1, { 0: { ...first, endedAt: at(3) }, 1: visit("Do", { startedAt: at(3) }) }));
    session.answer(5, 0.25, 1);
    const again = visit("Look", { startedAt: at(6), passes: 2 });
    session.state(6, state(0, { 0: again, 1: visit("Do", { startedAt: at(3), endedAt: at(6) }) }));
    session.answer(7);
    session.state(
      8,
      state(1, { 0: { ...again, endedAt: at(8), skipped: true }, 1: visit("Do", { startedAt: at(8), passes: 2 }) }),
    );
    session.answer(9, 0.25, 1);
    session.state(
      10,
      state(
        1,
        { 0: { ...again, endedAt: at(8) }, 1: visit("Do", { startedAt: at(8), passes: 2, endedAt: at(10) }) },
        DONE,
      ),
    );
    session.answer(12);
    const { visits, outcome, endedAt, usage, session: of } = read(t, session);
    assert.deepEqual(visits, [
      ["Look", 1, 0, 3, "done"],
      ["Do", 1, 3, 6, "again"],
      ["Look", 2, 6, 8, "skipped"],
      ["Do", 2, 8, 10, "done"],
    ]);
    assert.deepEqual([outcome, endedAt, usage.turns, of.cwd], ["done", at(10), 2, "/tmp/project"]);
  });

  test("has work and waiting, as the usages of the states tell them apart", (t) => {
    const session = new Recording();
    session.state(0, state(0, { 0: visit("Look", { usage: undefined }) }));
    session.user(1);
    session.answer(2, 0.25, 1);
    session.result(3);
    session.answer(4);
    session.user(10);
    session.answer(11);
    // The user skipped a phase eight minutes after the agent had stopped.
    session.state(
      19,
      state(1, {
        0: visit("Look", { endedAt: at(19), usage: used({ workMs: 4, waitMs: 15 * 60_000 }) }),
        1: visit("Do", { startedAt: at(19), usage: undefined }),
      }),
    );
    session.answer(21);
    // The model called `workflow_step`.
    session.state(
      22,
      state(
        1,
        {
          0: visit("Look", { usage: used({ waitMs: 15 * 60_000 }) }),
          1: visit("Do", { startedAt: at(19), endedAt: at(22) }),
        },
        DONE,
      ),
    );
    assert.deepEqual(read(t, session).spans, [
      ["wait", 0, 1],
      ["work", 1, 4],
      ["wait", 4, 10],
      ["work", 10, 11],
      ["wait", 11, 19],
      ["work", 19, 22],
    ]);
  });

  test("has gates and pauses in place of the work and the waiting", (t) => {
    const session = new Recording();
    const check = (/** @type {number} */ attempt, passed = false) => ({
      name: "tests",
      passed,
      result: "x",
      durationMs: 60_000,
      attempt,
    });
    const pause = (/** @type {any} */ reason, /** @type {number} */ minute) => ({ paused: { reason, at: at(minute) } });
    session.state(0, state(0, { 0: visit("Look") }));
    session.answer(4, 0.25, 1);
    session.state(6, state(0, { 0: visit("Look", { evidence: [check(1)] }) }));
    session.answer(8, 0.25, 1);
    session.state(
      10,
      state(
        0,
        { 0: visit("Look", { evidence: [check(2)] }) },
        {},
        pause({ kind: "gate", name: "tests", times: 2 }, 10),
      ),
    );
    session.answer(11);
    session.state(30, state(0, { 0: visit("Look", { evidence: [check(2)], usage: used({ waitMs: 20 * 60_000 }) }) }));
    session.answer(32, 0.25, 1);
    const last = { evidence: [check(1, true)], endedAt: at(35) };
    session.state(35, state(1, { 0: visit("Look", last), 1: visit("Do", { startedAt: at(35) }) }));
    session.state(
      36,
      state(1, { 0: visit("Look", last), 1: visit("Do", { startedAt: at(35) }) }, {}, pause({ kind: "newer" }, 36)),
    );
    session.user(40);
    const { spans, outcome } = read(t, session);
    assert.deepEqual(spans, [
      ["work", 0, 5],
      ["gate", 5, 6],
      ["work", 6, 9],
      ["gate", 9, 10],
      ["pause", 10, 30, "the gate was not passed in 2 attempts; last: tests"],
      ["work", 30, 34],
      ["gate", 34, 35],
      ["work", 35, 36],
      ["pause", 36, 40, "“newer”, a reason that this version does not know"],
    ]);
    assert.equal(outcome, "paused");
  });

  test("of a run that has not ended goes to the newest entry of its branch", (t) => {
    const session = new Recording();
    const id = session.state(0, state(0, { 0: visit("Look") }));
    session.answer(2, 9);
    session.session.branch(id);
    session.answer(5, 0.125, 1);
    session.result(6);
    const { visits, spans, outcome, usage } = read(t, session);
    assert.deepEqual([visits, spans, outcome], [[["Look", 1, 0, 6, "current"]], [["work", 0, 6]], "running"]);
    assert.deepEqual([usage.cost, usage.toolCalls, usage.workMs], [0.625, 1, 7 * 60_000]);
  });

  test("ends where the run was cancelled, and where another one began", (t) => {
    const cancelled = new Recording();
    cancelled.state(0, state(0, { 0: visit("Look") }));
    cancelled.answer(1);
    cancelled.state(2, state(0, { 0: visit("Look") }, CANCELLED));
    cancelled.answer(3);
    const first = read(t, cancelled);
    assert.deepEqual([first.outcome, first.visits], ["cancelled", [["Look", 1, 0, 2, "ended"]]]);
    const replaced = new Recording();
    replaced.state(0, state(0, { 0: visit("Look") }));
    replaced.answer(1);
    replaced.user(2);
    replaced.state(3, state(0, { 0: visit("Look") }, { taskId: "other" }));
    replaced.answer(4);
    const second = read(t, replaced);
    assert.deepEqual([second.outcome, second.visits], ["replaced", [["Look", 1, 0, 2, "ended"]]]);
    assert.deepEqual([first.endedAt, second.endedAt], [at(2), at(2)]);
  });

  test("of a run of the reference has the visits that its states tell", (t) => {
    const session = new Recording();
    const of = (/** @type {number} */ index, fields = {}) => ({ ...state(index, {}, fields), progress: undefined });
    session.state(0, of(0));
    session.answer(1);
    session.state(2, of(1));
    session.answer(3);
    session.state(4, of(1, DONE));
    const { visits, spans } = read(t, session);
    assert.deepEqual(visits, [
      ["flow:0", 1, 0, 2, "done"],
      ["flow:1", 1, 2, 4, "done"],
    ]);
    assert.deepEqual(spans, [["work", 0, 4]]);
  });

  test("of a run whose process has ended, which only the list of runs knows, has the outcome of that list", (t) => {
    const of = (/** @type {any} */ fields) => {
      const session = new Recording();
      session.state(0, state(0, { 0: visit("Look") }, fields));
      /** @type {any} */
      const run = { outcome: "lost", session: { file: written(t, session) }, state: { taskId: TASK } };
      return /** @type {any} */ (reportOf(run).data).outcome;
    };
    assert.deepEqual([of({}), of(DONE)], ["lost", "done"]);
  });

  test("is not there for a task that the file does not have, and a file that is no session is an error", (t) => {
    const session = new Recording();
    session.state(0, state(0, { 0: visit("Look") }));
    const path = written(t, session);
    assert.equal(reportIn(path, "wf-2"), undefined);
    writeFileSync(path, "nothing\n");
    assert.throws(() => reportIn(path, TASK), { message: "not a session of pi" });
  });
});
