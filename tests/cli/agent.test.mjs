// The agent without a workflow: what it takes, by the records of its pi, and that a gap between them is told.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, usedUp } from "../../cli/headless/agent.js";
import { figures } from "../../cli/headless/progress.js";

const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } };
const message = { role: "assistant", provider: "p", model: "m", content: [], stopReason: "stop", usage };
const start = { type: "turn_start" };
const answer = { type: "message_end", message };
const stop = { type: "turn_end", message, toolResults: [] };
const turn = [start, answer, stop];

test("a gap between the records makes what an agent took unknown", () => {
  /** @type {[string, (import("../../cli/headless/pi.js").PiRecord | undefined)[], boolean][]} */
  const cases = [
    ["whole turns", [...turn, ...turn], false],
    ["none", [], false],
    ["a line that is no record", [start, answer, undefined, stop], true],
    ["an answer without a turn", [...turn, answer, ...turn], true],
    ["a turn without an answer", [start, stop], true],
    ["a turn that does not end", [...turn, start], true],
    ["a turn in a turn", [start, ...turn], true],
    ["a turn that has no begin", [...turn, stop], true],
  ];
  for (const [what, records, unknown] of cases) {
    const agent = new Agent();
    for (const record of records) agent.onRecord(record);
    agent.onEnd();
    assert.equal(agent.usage.unknown, unknown, what);
    assert.equal(usedUp(agent.usage, { turns: 100n }), unknown ? "what the agent has taken is not known" : undefined);
  }
});

test("its usage is that of its answers and summaries, and its turns are its answers", () => {
  const agent = new Agent();
  for (const record of [...turn, { type: "compaction_end", result: { usage } }, ...turn, { type: "compaction_end" }])
    agent.onRecord(record);
  const { turns, input, output, cost, unknown } = agent.usage;
  assert.deepEqual(
    { turns, input, output, cost, unknown },
    { turns: 2, input: 30, output: 15, cost: 1.5, unknown: false },
  );
  assert.equal(usedUp(agent.usage, { turns: 2n }), "2 of 2 turns");
});

test("a cost without a price stops the agent where nothing else is bounded", () => {
  const free = { ...new Agent().usage, turns: 2, unpriced: 2 };
  assert.equal(usedUp(free, { cost: 1 }), "the cost of an answer is not known");
  assert.equal(usedUp(free, { cost: 1, turns: 9n }), undefined);
  assert.equal(usedUp({ ...free, cost: 1 }, { cost: 1, turns: 9n }), "$1.00 of $1.00");
  assert.equal(usedUp({ ...free, unreported: 1 }, { cost: 1, turns: 9n }), "the cost of an answer is not known");
});

test("of a run whose cost is not known, the tokens that are known are told", () => {
  const run = { input: 1200, output: 50, cacheRead: 0, cacheWrite: 0, reasoning: 0, turns: 2, workMs: 3000 };
  const priced = { cost: 0.5, unpriced: 0, unreported: 0 };
  for (const [changes, expected] of /** @type {const} */ ([
    [{}, "2 turns · $0.50 · 3s"],
    [{ cost: 0, unpriced: 2 }, "2 turns · 1.3k tokens · cost unknown · 3s"],
    [{ unpriced: 1 }, "2 turns · 1.3k tokens · $0.50 + unknown · 3s"],
    [{ cost: 0, unpriced: 2, unreported: 1 }, "2 turns · 1.3k + unknown tokens · cost unknown · 3s"],
    [{ cost: 0, unpriced: 2, unreported: 2, input: 0, output: 0 }, "2 turns · cost unknown · 3s"],
  ]))
    assert.equal(figures({ usage: { ...run, ...priced, ...changes } }), expected);
  assert.equal(figures({}), "usage unknown");
});
