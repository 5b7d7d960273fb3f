// Budgets: the agent is told near their end, the run pauses at it, and only the user allows more.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { ALL, LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { lastPath, progress } from "./harness/gates.mjs";
import { parseJsonLines, readSession, runPrint, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, notices, pauses, states, step, storedResults, userTexts, workflow } from "./harness/workflows.mjs";

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
    test("the agent is told at 80 %, and stopped at the end; a dialog asks the user for more", async (t) => {
      const answers = [at(50, read), at(35, read), at(20, read), at(10, step("next")), at(5, rest)];
      const { model, sandbox } = await stage(t, answers, {
        globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget: { cost: 1 } }),
        modelConfig: PRICES,
        files: FILES,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello The task");
      assert.equal(model.requests.length, 3, "nothing is asked of the model at the end of the budget");
      assert.ok(userTexts(model.requests[2]).some((text) => text.includes("“The hello”: $0.85 of $1.00, $0.15 left")));
      assert.equal(
        userTexts(model.requests[1]).some((text) => text.includes("$0.")),
        false,
      );
      assert.equal(pause(await rpc.entries()), "budget cost");
      assert.match(
        notices(rpc).at(-1) ?? "",
        /warning: ⏸ The hello is paused in 🔹 Look: the budget of “The hello” is used up: \$1\.05 of \$1\.00\.\nTo allow more: /,
      );
      // A message of the user does not end the pause.
      await rpc.promptAndSettle("Just go on.");
      assert.equal(pause(await rpc.entries()), "budget cost");
      const refused = await rpc.entries();
      assert.match(
        JSON.stringify(refused.findLast(({ message }) => message?.role === "toolResult")),
        /All tool calls are refused until the user allows more/,
      );
      /** @type {string[]} */
      const asked = [];
      rpc.onDialog(({ method, title }) => (asked.push(`${method}: ${title}`), "0.50"));
      await rpc.promptAndSettle("/workflow :resume");
      assert.deepEqual(asked, [
        "input: Paused: the budget of “The hello” is used up: $1.15 of $1.00.\nHow much more? (US dollars, for example 1.00)",
      ]);
      assert.equal(pause(await rpc.entries()), undefined);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

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

    test("a phase with `onBudget` goes on where it says, also fresh, and the rest of the answer is refused", async (t) => {
      const both = { calls: [...read.calls, { name: "read", arguments: { path: "b.txt" } }] };
      const { model, sandbox } = await stage(t, [read, both, read, step("next"), rest], {
        globalFiles: workflow(
          "hello",
          [
            { id: "look", budget: { turns: 2 }, onBudget: "fix", gate: [{ file: "never" }] },
            "do",
            { id: "fix", context: "fresh" },
          ],
          QUIET,
        ),
        files: { ...FILES, "b.txt": "more\n" },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello The task");
      const entries = await rpc.entries();
      const results = entries
        .filter(({ message }) => message?.role === "toolResult")
        .map(({ message }) => message.content[0].text);
      assert.match(
        results[1],
        /The phase has used up its budget, and the workflow goes on: 🔹 Look → 🔹 Fix\. This call is refused\.$/,
      );
      assert.match(results[2], /The phase of this call has used up its budget, and the workflow has gone on/);
      assert.equal(states(entries).at(-1).active, false, "it went on to the end");
      const look = progress(entries).visits["hello:0"];
      assert.deepEqual(
        [look.unfinished, look.evidence[0].result],
        [true, "used up (2 of 2 turns), and the phase was left"],
      );
      assert.match(custom(entries, "workflow:complete")[0].content, /🔹 Look: ✗ budget: used up \(2 of 2 turns\)/);
      assert.ok(!JSON.stringify(model.requests[2].messages).includes("some text"), "the next phase starts fresh");
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("the agent cannot widen it: not by the file, not by words, not by a loop", async (t) => {
      const raise = {
        calls: [{ name: "bash", arguments: { command: "sed -i 's/1}/100}/' ../agent/workflows/hello/workflow.yaml" } }],
      };
      const { model, sandbox } = await stage(
        t,
        [
          at(50, raise),
          at(30, step("loop")),
          at(30, { text: "Approved: the budget is 100 dollars." }),
          at(1, read),
          at(1, rest),
        ],
        {
          globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget: { cost: 1 } }),
          modelConfig: PRICES,
        },
      );
      const file = join(sandbox.agent, "workflows/hello/workflow.yaml");
      writeFileSync(file, readFileSync(file, "utf8").replace('{"cost":1}', "{cost: 1}"));
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello The task");
      assert.match(readFileSync(file, "utf8"), /cost: 100/);
      assert.equal(pause(await rpc.entries()), "budget cost");
      assert.equal(model.requests.length, 3);
      assert.equal(lastPath(await rpc.entries()), "hello:0");
      // The changed file is a changed rule.
      await rpc.prompt("/workflow :check");
      await rpc.promptAndSettle("And now?");
      assert.match(
        storedResults(await rpc.entries()).at(-1) ?? "",
        /The workflow is paused: its rules are no longer those/,
      );
      await rpc.close();
    });

    test("what was spent before a kill counts", LONG, async (t) => {
      const answers = [at(60, rest), at(50, read), at(1, rest)];
      const { sandbox } = await stage(t, answers, {
        globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget: { cost: 1 } }),
        modelConfig: PRICES,
        files: FILES,
      });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello The task");
      await first.kill();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("Go on.");
      assert.equal(pause(await rpc.entries()), "budget cost");
      assert.match(notices(rpc).at(-1) ?? "", /\$1\.10 of \$1\.00/);
      await rpc.close();
    });

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

    test("a price that goes while the run is in progress is a pause", LONG, async (t) => {
      const files = workflow("hello", ["look", "do"], { ...QUIET, budget: { cost: 1 } });
      const answers = [at(1, rest), at(1, read), at(1, step("next")), at(1, rest)];
      const { sandbox } = await stage(t, answers, { globalFiles: files, modelConfig: PRICES, files: FILES });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello The task");
      assert.equal(pause(await rpc.entries()), undefined);
      await rpc.close();
      const models = join(sandbox.agent, "models.json");
      writeFileSync(models, readFileSync(models, "utf8").replace("1000", "0"));
      const again = await startRpc({ version, sandbox, args: ["--continue"] });
      await again.promptAndSettle("Go on.");
      assert.equal(pause(await again.entries()), "unknownCost");
      // Without a yes nothing is accepted.
      await again.prompt("/workflow :resume");
      assert.equal(pause(await again.entries()), "unknownCost");
      again.onDialog(() => "Yes, go on");
      await again.promptAndSettle("/workflow :resume");
      assert.equal(lastPath(await again.entries()), "hello:1");
      await again.close();
    });

    // Values that are no numbers of tokens.
    const strange = [
      { prompt_tokens: -10, completion_tokens: -5 },
      { completion_tokens: "5" },
      { prompt_tokens: 1e300, completion_tokens: 1e300 },
      { completion_tokens: [5] },
    ];
    for (const rawUsage of ["none", null, {}, { prompt_tokens: 0, completion_tokens: 0 }, ...strange]) {
      const name = typeof rawUsage === "object" ? JSON.stringify(rawUsage) : String(rawUsage);
      test(
        `a provider whose usage is ${name} does not switch a budget off`,
        rawUsage === "none" ? {} : LONG,
        async (t) => {
          const budget = { cost: 0.0001, turns: 12 };
          {
            const { model, sandbox } = await stage(
              t,
              (_, index) => ({ ...(index === 7 ? step("next") : read), rawUsage }),
              {
                globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget }),
                modelConfig: PRICES,
                files: FILES,
              },
            );
            const run = await runPrint({ version, sandbox, prompt: "/workflow hello The task" });
            assert.equal(
              run.stderr,
              "Workflow The hello: paused in 🔹 Look: “The hello” has a budget, and the model's provider has not told the usage of an answer.\n",
            );
            assert.deepEqual([run.code, model.requests.length], [1, 1]);
            // The user accepts it: the turns count on, and the reports say what is not known.
            const rpc = await startRpc({ version, sandbox, args: ["--continue"], onDialog: () => "Yes, go on" });
            await rpc.promptAndSettle("/workflow :resume");
            assert.equal(pause(await rpc.entries()), "budget turns");
            assert.equal(model.requests.length, 12);
            await rpc.prompt("/workflow :status");
            const status = (await rpc.entries()).findLast(({ customType }) => customType === "workflow:status").data
              .content;
            assert.match(status, /In all: 12 turns, tokens unknown, cost unknown, /);
            assert.match(status, /Budget of “The hello”: .*at least \$0\.00 of.*12 of 12 turns\./);
            await rpc.close();
          }
        },
      );
    }

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
