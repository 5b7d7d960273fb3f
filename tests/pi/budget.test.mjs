// Budgets: the agent is told near their end, the run pauses at it, and only the user allows more.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VERSIONS, variants } from "./harness/extent.mjs";
import { parseJsonLines, readSession, runPrint, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { pauses, step, workflow } from "./harness/workflows.mjs";

/** In US dollars for a million tokens. */
const PRICES = { cost: { input: 1000, output: 0, cacheRead: 0, cacheWrite: 0 } };
const QUIET = { autoContinue: false };
const FILES = { "a.txt": "some text\n" };

/** An answer that costs so many cents. @param {number} cents @param {object} content */
const at = (cents, content) => ({ ...content, usage: { prompt: cents * 10, completion: 1 } });
const read = { calls: [{ name: "read", arguments: { path: "a.txt" } }] };
const rest = { text: "I rest." };

/** @param {any} reason */
const kind = (reason) => reason && `${reason.kind} ${reason.measure ?? ""}`.trim();
/** The reason for the pause in the newest state. @param {any[]} entries */
const pause = (entries) => kind(pauses(entries).at(-1));

for (const version of VERSIONS) {
  suite(`pi ${version}: budgets`, { concurrency: 2 }, () => {
    for (const mode of variants(/** @type {const} */ (["text", "json"]))) {
      test(`the last line tells it, and a command goes on (${mode})`, async (t) => {
        const answers = [at(1, read), at(1, read), at(1, read), at(1, step("next")), at(1, step("next")), at(1, rest)];
        const { model, sandbox } = await stage(t, answers, {
          globalFiles: workflow("hello", ["look", "do"], { budget: { turns: 3 } }),
          modelConfig: PRICES,
          files: FILES,
        });
        const run = await runPrint({ version, sandbox, mode, prompt: "/workflow hello The task" });
        const line = "Workflow The hello: paused in 🔹 Look: the budget of “The hello” is used up: 3 of 3 turns.\n";
        assert.deepEqual([run.code, run.stderr], [1, line]);
        assert.equal(model.requests.length, 3);
        const without = await runPrint({ version, sandbox, mode, prompt: "/workflow :resume", args: ["--continue"] });
        assert.equal(without.code, 1, without.stderr);
        assert.match(without.stderr, /To allow more, with \/workflow :resume: --workflow-budget-more=10\n/);
        // Who sends a command is not known: only an option of the command line allows more.
        const sent = await runPrint({ version, sandbox, mode, prompt: "/workflow :resume +10", args: ["--continue"] });
        assert.deepEqual([sent.code, model.requests.length], [1, 3], sent.stderr);
        const resumed = await runPrint({
          version,
          sandbox,
          mode,
          prompt: "/workflow :resume",
          args: ["--continue", "--workflow-budget-more=10"],
        });
        assert.deepEqual([resumed.code, resumed.stderr], [0, "Workflow The hello: DONE.\n"]);
        if (mode === "json") assert.ok(parseJsonLines(resumed.stdout).length > 0);
      });
    }

    test("a cost without a price bounds nothing: the user is told, and nothing starts where it is the only bound", async (t) => {
      const why =
        "`cost` alone bounds the run, and pi has no price for scripted/scripted. Bound the turns too: `budget: { cost: 2.50, turns: 40 }`, or for this run --workflow-budget=turns=40 (pi-workflows run: --budget turns=40).\n";
      const uncounted = "`cost` does not count answers of scripted/scripted: pi has no price.\n";
      const run = async (/** @type {object} */ budget, /** @type {string[]} */ ...args) => {
        const { model, sandbox } = await stage(t, [at(1, read), ...Array(2).fill(at(1, step("next"))), at(1, rest)], {
          globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget }),
          files: FILES,
        });
        const { code, stderr } = await runPrint({ version, sandbox, prompt: "/workflow hello The task", args });
        return [code, model.requests.length, stderr];
      };
      const done = [0, 4, `${uncounted}Workflow The hello: DONE.\n`];
      assert.deepEqual(await run({ cost: 1 }), [1, 0, why]);
      assert.deepEqual(await run({ cost: 1 }, "--workflow-budget-more=unknown"), [1, 0, why]);
      assert.deepEqual(await run({ cost: 1 }, "--workflow-budget=turns=9"), done);
      assert.deepEqual(await run({ cost: 1, turns: 2 }), [
        1,
        2,
        `${uncounted}Workflow The hello: paused in 🔹 Look: the budget of “The hello” is used up: 2 of 2 turns.\n`,
      ]);
    });

    test("a provider that tells no usage does not switch a budget off", async (t) => {
      const { model, sandbox } = await stage(
        t,
        (_, index) => ({ ...(index === 7 ? step("next") : read), unmetered: true }),
        {
          globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget: { cost: 0.0001, turns: 12 } }),
          modelConfig: PRICES,
          files: FILES,
        },
      );
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello The task" });
      assert.equal(
        run.stderr,
        "Workflow The hello: paused in 🔹 Look: the budget of “The hello” bounds the cost, and the cost of an answer is not known: its model has no price, or its provider told no usage.\n",
      );
      assert.deepEqual([run.code, model.requests.length], [1, 1]);
      // The user accepts it: the turns count on.
      const rpc = await startRpc({ version, sandbox, args: ["--continue"], onDialog: () => "Yes, go on" });
      await rpc.promptAndSettle("/workflow :resume");
      assert.equal(pause(await rpc.entries()), "budget turns");
      assert.equal(model.requests.length, 12);
      await rpc.close();
    });

    test("an answer that failed or was aborted before it began is not unknown", async (t) => {
      const { model, sandbox } = await stage(
        t,
        [
          { status: 500, text: "no" },
          at(1, read),
          { hang: true },
          at(1, step("next")),
          at(1, step("next")),
          at(1, rest),
        ],
        {
          globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget: { cost: 1 } }),
          modelConfig: PRICES,
          settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } },
          files: FILES,
        },
      );
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow hello The task");
      await model.waitForRequests(3);
      await rpc.send({ type: "abort" });
      await settled;
      assert.equal(pause(await rpc.entries()), "aborted");
      await rpc.promptAndSettle("Go on.");
      assert.equal(
        (await rpc.entries()).findLast(({ customType }) => customType === "workflow:state").data.active,
        false,
      );
      await rpc.close();
    });
  });
}

test("an option allows more once, in the session with which pi starts", async (t) => {
  const { model, sandbox } = await stage(t, () => at(1, read), {
    globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget: { turns: 1 } }),
    modelConfig: PRICES,
    files: FILES,
  });
  const rpc = await startRpc({ sandbox, args: ["--workflow-budget-more=1"] });
  await rpc.promptAndSettle("/workflow hello The task");
  await rpc.promptAndSettle("/workflow :resume");
  const requests = model.requests.length;
  assert.ok(requests > 1);
  const [file] = sessionFiles(sandbox);
  for (let times = 0; times < 2; times += 1) {
    await rpc.prompt("/workflow :resume");
    await rpc.send({ type: "switch_session", sessionPath: file });
  }
  assert.equal(model.requests.length, requests);
  assert.equal(pause(await rpc.entries()), "budget turns");
  await rpc.close();
});

test("the TUI asks how much more", async (t) => {
  const { sandbox } = await stage(t, [at(1, read), at(1, step("next")), at(1, rest)], {
    globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget: { turns: 1 } }),
    modelConfig: PRICES,
    files: FILES,
  });
  const tui = await startTui({ sandbox });
  await tui.submit("/workflow hello The task");
  await tui.waitFor(/is paused in 🔹 Look: the budget of “The hello” is used up: 1 of 1 turns/);
  await tui.submit("/workflow :resume");
  await tui.waitFor(/How much more\? \(turns, for example 10\)/);
  await tui.submit("5");
  await tui.waitFor(/🔹 Do \[2\/2\]/);
  const entries = readSession(sandbox);
  assert.equal(pause(entries), undefined);
  await tui.close();
});
