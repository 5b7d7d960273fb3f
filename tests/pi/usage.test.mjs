// The usage of a run: tokens, cost and time of each phase. The sums are those of pi's own statistics.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { NODE, REPO, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { step, workflow } from "./harness/workflows.mjs";

const PRICES = { cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } };
const QUIET = { autoContinue: false };
const FIELDS = /** @type {const} */ (["input", "output", "cacheRead", "cacheWrite"]);

/** An answer with its usage. @param {object} content @param {number} prompt @param {number} completion */
const used = (content, prompt, completion) => ({ ...content, usage: { prompt, completion } });
const say = (/** @type {number} */ prompt, /** @type {number} */ completion) =>
  used({ text: "I rest." }, prompt, completion);
const next = (/** @type {number} */ prompt, /** @type {number} */ completion) => used(step("next"), prompt, completion);
const loop = (/** @type {number} */ prompt, /** @type {number} */ completion) => used(step("loop"), prompt, completion);

/** The sum of some visits of a stored run: this visit of each phase, and the earlier ones. @param {any[]} visits */
function sum(visits) {
  const all = visits.flatMap(({ usage, earlier }) => [usage ?? {}, earlier ?? {}]);
  const of = (/** @type {string} */ field) => all.reduce((total, usage) => total + (usage[field] ?? 0), 0);
  return {
    ...Object.fromEntries(FIELDS.map((field) => [field, of(field)])),
    cost: of("cost"),
    toolCalls: of("toolCalls"),
    turns: of("turns"),
  };
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
  return content
    .split("\n")
    .filter((/** @type {string} */ line) => /turns?, /.test(line))
    .map((/** @type {string} */ line) => line.trim().replace(/, [^,]* at work/, ""));
}

/** A tool that reports usage, and a command that leaves a branch with a summary. */
const PAID = `export default (pi) => {
  const usage = { input: 11, output: 7, cacheRead: 0, cacheWrite: 0, totalTokens: 18, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 } };
  const execute = async () => ({ content: [{ type: "text", text: "done" }], details: {}, usage });
  pi.registerTool({ name: "paid", label: "Paid", description: "Costs.", parameters: { type: "object", properties: {} }, execute });
  pi.registerCommand("go-back", { handler: async (id, ctx) => void (await ctx.navigateTree(id, { summarize: true })) });
};`;
const paid = { name: "paid", arguments: {} };

/** The runs that `pi-workflows runs` lists. @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
function listedRuns(sandbox) {
  const options = /** @type {const} */ ({ cwd: sandbox.project, env: sandbox.env(), encoding: "utf8" });
  return JSON.parse(execFileSync(NODE, [join(REPO, "cli/pi-workflows.js"), "runs", "--format", "json"], options)).runs;
}

for (const version of VERSIONS) {
  suite(`pi ${version}: what a run took`, { concurrency: 2 }, () => {
    test("counts retries, aborted answers, loops, nested workflows and compactions", async (t) => {
      const files = {
        ...workflow("outer", ["plan", "@inner", "last"], QUIET),
        ...workflow("inner", ["build", "review"], { ...QUIET, show: "workflows" }),
      };
      /** @type {import("./harness/scripted-model.mjs").Step[]} */
      const answers = [
        { status: 500, text: "no" },
        next(100, 1),
        next(200, 2),
        loop(300, 3),
        next(400, 4),
        { text: "Half of it", hang: true },
      ];
      let rest = false;
      const { model, sandbox } = await stage(
        t,
        (request, index) =>
          request.tools?.length
            ? rest
              ? [say(9000, 9), next(500, 5), next(600, 6), say(1, 1)].at(index - 8)
              : answers[index]
            : used({ text: "A summary." }, 4000, 40),
        {
          globalFiles: files,
          modelConfig: PRICES,
          settings: {
            retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 },
            compaction: { enabled: false, keepRecentTokens: 1 },
          },
        },
      );
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

    test("counts what tools report and the summary of a branch that was left, also in a clone", async (t) => {
      const answers = [
        used({ calls: [paid, paid] }, 100, 1),
        say(200, 2),
        say(300, 3),
        next(400, 4),
        next(500, 5),
        say(1, 1),
      ];
      let asked = 0;
      const { sandbox } = await stage(
        t,
        (request) => (request.tools?.length ? answers[asked++] : used({ text: "A summary." }, 4000, 40)),
        {
          globalFiles: workflow("hello", ["look", "do"], QUIET),
          modelConfig: PRICES,
          files: { "paid.ts": PAID },
        },
      );
      const rpc = await startRpc({ version, sandbox, extension: [REPO, join(sandbox.project, "paid.ts")] });
      await rpc.promptAndSettle("/workflow hello The task");
      const result = (await rpc.entries()).find(({ message }) => message?.role === "toolResult");
      await rpc.promptAndSettle("And this?");
      await rpc.prompt(`/go-back ${result.id}`);
      while (!(await rpc.entries()).some(({ type }) => type === "branch_summary")) await sleep(50);
      await rpc.send({ type: "clone" });
      const [, all] = await status(rpc);
      assert.match(all, /^In all: 1 turn, 4\.2k tokens/);
      await rpc.promptAndSettle("Go on.");
      assertSame(sum(Object.values(await visits(rpc))), await statistics(rpc));
      await rpc.close();
    });

    test("is complete after a kill, and each branch has its own", LONG, async (t) => {
      const answers = [next(100, 1), say(200, 2), say(300, 3), say(400, 4), next(500, 5), next(600, 6), say(1, 1)];
      const { sandbox } = await stage(t, answers, {
        globalFiles: workflow("hello", ["look", "do", "last"], QUIET),
        modelConfig: PRICES,
      });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello The task");
      await first.promptAndSettle("And this?");
      await first.kill();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.deepEqual((await status(rpc)).slice(1), [
        "2 turns, 505 tokens, $0.0016",
        "In all: 3 turns, 606 tokens, $0.0019.",
      ]);
      const [, second] = (await rpc.send({ type: "get_fork_messages" })).data.messages;
      await rpc.send({ type: "fork", entryId: second.entryId });
      assert.deepEqual((await status(rpc)).slice(1), [
        "1 turn, 202 tokens, $0.0006",
        "In all: 2 turns, 303 tokens, $0.0009.",
      ]);
      await rpc.promptAndSettle("Otherwise.");
      await rpc.promptAndSettle("Go on.");
      assertSame(sum(Object.values(await visits(rpc))), await statistics(rpc));
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("is known to `pi-workflows runs`, after a kill, in a fork and at the end", LONG, async (t) => {
      const answers = [next(100, 1), say(200, 2), say(300, 3), next(400, 4), say(500, 5), say(1, 1)];
      const { sandbox } = await stage(t, answers, {
        globalFiles: workflow("hello", ["look", "do"], QUIET),
        modelConfig: PRICES,
      });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello The task");
      await first.promptAndSettle("And this?");
      const statisticsBefore = await statistics(first);
      await first.kill();
      const [killed, ...others] = listedRuns(sandbox);
      assert.deepEqual(
        [killed.workflow, killed.task, killed.outcome, killed.phase.name, others],
        ["hello", "The task", "lost", "Do", []],
      );
      assertSame(killed.usage, statisticsBefore);
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("Go on.");
      const [done, ...rest] = listedRuns(sandbox);
      assert.deepEqual([done.taskId, done.outcome, rest], [killed.taskId, "done", []]);
      assertSame(done.usage, await statistics(rpc));
      const [, second] = (await rpc.send({ type: "get_fork_messages" })).data.messages;
      await rpc.send({ type: "fork", entryId: second.entryId });
      await rpc.promptAndSettle("Otherwise.");
      assert.deepEqual(listedRuns(sandbox), [done], "the run did not move in the fork");
      await rpc.close();
    });

    for (const mode of variants(/** @type {const} */ (["text", "json"]))) {
      test(`has every kind of token (${mode})`, async (t) => {
        const usage = { prompt: 1000, cacheRead: 600, cacheWrite: 100, completion: 50, reasoning: 20 };
        const answers = [
          { ...step("next"), usage },
          { ...step("next"), usage },
          { text: "Over.", usage },
        ];
        const { sandbox } = await stage(t, answers, {
          globalFiles: workflow("hello", ["look", "do"]),
          modelConfig: PRICES,
        });
        await runPrint({ version, sandbox, mode, prompt: "/workflow hello The task" });
        const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
        const all = await visits(rpc);
        const { turns, input, output, cacheRead, cacheWrite, reasoning } = all["hello:1"].usage;
        assert.deepEqual([turns, input, output, cacheRead, cacheWrite, reasoning], [2, 600, 100, 1200, 200, 40]);
        assertSame(sum(Object.values(all)), await statistics(rpc));
        await rpc.close();
      });
    }
  });
}
