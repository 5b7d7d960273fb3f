// What a run took: tokens, cost and time of each phase. The sums are those of pi's own statistics.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { step, workflow } from "./harness/workflows.mjs";

const PRICES = { cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } };
const QUIET = { autoContinue: false };
const FIELDS = /** @type {const} */ (["input", "output", "cacheRead", "cacheWrite"]);

/** An answer with its usage. @param {object} content @param {number} prompt @param {number} completion */
const used = (content, prompt, completion) => ({ ...content, usage: { prompt, completion } });
const say = (/** @type {number} */ prompt, /** @type {number} */ completion) => used({ text: "I rest." }, prompt, completion);
const next = (/** @type {number} */ prompt, /** @type {number} */ completion) => used(step("next"), prompt, completion);
const loop = (/** @type {number} */ prompt, /** @type {number} */ completion) => used(step("loop"), prompt, completion);

/** The sum of some visits of a stored run: this visit of each phase, and the earlier ones. @param {any[]} visits */
function sum(visits) {
  const all = visits.flatMap(({ usage, earlier }) => [usage ?? {}, earlier ?? {}]);
  const of = (/** @type {string} */ field) => all.reduce((total, usage) => total + (usage[field] ?? 0), 0);
  return { ...Object.fromEntries(FIELDS.map((field) => [field, of(field)])), cost: of("cost"), toolCalls: of("toolCalls"), turns: of("turns") };
}

/** The visits of the newest state of a session, by the phase. @param {import("./harness/rpc.mjs").Rpc} rpc */
async function visits(rpc) {
  const entries = await rpc.entries();
  return entries.findLast(({ customType }) => customType === "workflow:state").data.progress.visits;
}

/** pi's own statistics of the session. @param {import("./harness/rpc.mjs").Rpc} rpc */
async function statistics(rpc) {
  const { tokens, cost, toolCalls } = (await rpc.send({ type: "get_session_stats" })).data;
  return { ...Object.fromEntries(FIELDS.map((field) => [field, tokens[field]])), cost, toolCalls };
}

/** @param {any} sums @param {any} expected */
function assertSame(sums, expected) {
  assert.ok(Math.abs(sums.cost - expected.cost) < 1e-9, `${sums.cost} is not ${expected.cost}`);
  for (const field of [...FIELDS, "toolCalls"]) assert.equal(sums[field], expected[field], field);
}

/** The lines of `/workflow :status` that say what was used. @param {import("./harness/rpc.mjs").Rpc} rpc */
async function status(rpc) {
  await rpc.prompt("/workflow :status");
  const { content } = (await rpc.entries()).findLast(({ customType }) => customType === "workflow:status").data;
  return content.split("\n").filter((/** @type {string} */ line) => /turns?, /.test(line)).map((/** @type {string} */ line) => line.trim().replace(/, [^,]* at work/, ""));
}

for (const version of VERSIONS) {
  suite(`pi ${version}: what a run took`, { concurrency: 2 }, () => {
    test("belongs to the phase where the run was, up to the end", async (t) => {
      const answers = [say(1000, 100), next(2000, 200), say(3000, 300), next(500, 5), say(7, 1)];
      const { sandbox } = await stage(t, answers, { globalFiles: workflow("hello", ["look", "do"], QUIET), modelConfig: PRICES });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello The task");
      await rpc.promptAndSettle("Go on.");
      assert.deepEqual(await status(rpc), ["2 turns, 3.3k tokens, $0.01", "1 turn, 3.3k tokens, $0.01", "In all: 3 turns, 6.6k tokens, $0.03."]);
      await rpc.promptAndSettle("Go on.");
      const { "hello:0": look, "hello:1": doing } = await visits(rpc);
      assert.deepEqual([look.usage.turns, look.usage.input, look.usage.output, look.usage.toolCalls], [2, 3000, 300, 1]);
      assert.deepEqual(Object.keys(look.usage.models), ["scripted/scripted"]);
      assert.deepEqual([doing.usage.turns, doing.usage.input], [3, 3507]);
      assertSame(sum([look, doing]), await statistics(rpc));
      await rpc.close();
    });

    test("counts retries, aborted answers, loops, nested workflows and compactions", async (t) => {
      const files = { ...workflow("outer", ["plan", "@inner", "end"], QUIET), ...workflow("inner", ["build", "review"], { ...QUIET, show: "workflows" }) };
      /** @type {import("./harness/scripted-model.mjs").Step[]} */
      const answers = [{ status: 500, text: "no" }, next(100, 1), next(200, 2), loop(300, 3), next(400, 4), { text: "Half of it", hang: true }];
      let rest = false;
      const { model, sandbox } = await stage(t, (request, index) => (request.tools?.length ? (rest ? [say(9000, 9), next(500, 5), next(600, 6), say(1, 1)].at(index - 8) : answers[index]) : used({ text: "A summary." }, 4000, 40)), {
        globalFiles: files,
        modelConfig: PRICES,
        settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 }, compaction: { enabled: false, keepRecentTokens: 1 } },
      });
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow outer The task");
      await model.waitForRequests(6);
      await rpc.send({ type: "abort" });
      await settled;
      rest = true;
      await rpc.send({ type: "compact" });
      await rpc.promptAndSettle("/workflow :resume");
      await rpc.promptAndSettle("Go on.");
      const all = await visits(rpc);
      assert.equal(all["outer:1/inner:0"].passes, 2);
      assert.equal(all["outer:1/inner:0"].earlier.input, 200);
      assertSame(sum(Object.values(all)), await statistics(rpc));
      await rpc.close();
    });

    test("is complete after a kill, and each branch has its own", async (t) => {
      const answers = [next(100, 1), say(200, 2), say(300, 3), say(400, 4), next(500, 5), next(600, 6), say(1, 1)];
      const { sandbox } = await stage(t, answers, { globalFiles: workflow("hello", ["look", "do", "end"], QUIET), modelConfig: PRICES });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello The task");
      await first.promptAndSettle("And this?");
      await first.kill();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.deepEqual((await status(rpc)).slice(1), ["2 turns, 505 tokens, $0.001575", "In all: 3 turns, 606 tokens, $0.00189."]);
      const [, second] = (await rpc.send({ type: "get_fork_messages" })).data.messages;
      await rpc.send({ type: "fork", entryId: second.entryId });
      assert.deepEqual((await status(rpc)).slice(1), ["1 turn, 202 tokens, $0.00063", "In all: 2 turns, 303 tokens, $0.000945."]);
      await rpc.promptAndSettle("Otherwise.");
      await rpc.promptAndSettle("Go on.");
      assertSame(sum(Object.values(await visits(rpc))), await statistics(rpc));
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("has an unknown cost where the model has no price", async (t) => {
      const { sandbox } = await stage(t, [say(100, 1)], { globalFiles: workflow("hello", ["look"], QUIET) });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello The task");
      assert.deepEqual(await status(rpc), ["1 turn, 101 tokens, cost unknown", "In all: 1 turn, 101 tokens, cost unknown."]);
      await rpc.close();
    });
  });
}
