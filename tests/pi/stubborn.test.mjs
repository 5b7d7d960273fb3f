// Bounds hold for a model that does not do what it is told, also where pi refuses its calls itself.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { withPi } from "../cli/with-pi.mjs";
import { branchOf, branchesOf, panel, requestsOf } from "./harness/branches.mjs";
import { ALL, VERSIONS, some } from "./harness/extent.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, leave, toolResults, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/limited.mjs").Call} Call */

/** The answers that a model which ignores its bounds gives for ever: the calls of the answer with this number. */
const STUBBORN = /** @type {Record<string, (index: number) => Call[]>} */ ({
  "an unknown tool": () => [{ name: "workflow-step", arguments: { action: "next" } }],
  "arguments that do not fit": () => [{ name: "bash", arguments: { line: "true" } }],
  "arguments that differ and do not fit": (index) => [{ name: "bash", arguments: { line: `true ${index}` } }],
  "an action that is none": (index) => [{ name: "workflow_step", arguments: { action: `forward ${index}` } }],
  "a tool that the phase forbids": (index) => [
    { name: "edit", arguments: { path: `${index}`, edits: [{ oldText: "a", newText: "b" }] } },
  ],
  "the same command": () => [{ name: "bash", arguments: { command: "echo noop" } }],
  "two commands in turn": (index) => [{ name: "bash", arguments: { command: `echo ${index % 2}` } }],
  "an outcome that is none": (index) => leave("perhaps", { summary: `Number ${index}.` }).calls,
  "the status": () => [{ name: "workflow_step", arguments: { action: "status" } }],
  "an unknown tool beside one that is allowed": () => [
    { name: "bash", arguments: { command: "echo noop" } },
    { name: "no_such_tool", arguments: {} },
  ],
});

/** A usage that is small beside each bound here. */
const SMALL = { prompt: 10, completion: 1 };
/** The answers that go on for longer than every bound here. */
const FOR_EVER = 80;
const TASK = "/workflow w Do it";
const phase = { id: "do", tools: { blacklist: ["edit"] }, outcomes: { good: "next", bad: "stop" } };

/** @param {any[]} entries */
const pauseOf = (entries) => custom(entries, "workflow:state").at(-1).progress.paused?.reason;

/** In US dollars for a million tokens: an answer costs a cent. */
const PRICES = { cost: { input: 1000, output: 0, cacheRead: 0, cacheWrite: 0 } };
const usage = { prompt: 10, completion: 1 };

/** @param {string} kind @param {number} index @param {object} [more] */
const stubborn = (kind, index, more) =>
  index < FOR_EVER ? { calls: STUBBORN[kind](index), usage, ...more } : { text: "I rest." };

/**
 * @param {import("node:test").TestContext} t
 * @param {string} kind
 * @param {Record<string, unknown>} fields
 * @param {import("./harness/sandbox.mjs").Pace} pace
 * @param {object} [more]
 */
const staged = (t, kind, fields, pace, more) =>
  stage(t, (_request, index) => stubborn(kind, index, more), {
    globalFiles: workflow("w", [phase, "last"], fields),
    pace,
    modelConfig: PRICES,
  });

/**
 * The bounds, and the most answers that each lets pass with one more for each agent at work.
 * @type {Record<string, { fields?: Record<string, unknown>, args?: string[], measure: string, most: number }>}
 */
const BOUNDS = {
  turns: { fields: { budget: { turns: 6 } }, measure: "turns", most: 6 },
  cost: { fields: { budget: { cost: 0.06 } }, measure: "cost", most: 6 },
  time: { fields: { budget: { time: "2s" } }, measure: "time", most: 6 },
  "the command line": { args: ["--workflow-budget", "turns=6"], measure: "turns", most: 6 },
};
const PLACES = ["in the session", "in a branch"];
const NO_REPEATS = { max_repeats: 0, delay_seconds: 0 };

/** Six answers take more than two seconds. @param {string} what */
const delay = (what) => (what === "time" ? { delayMs: 350 } : {});

/** Each kind of calls, each bound, in the session and in a branch; in `npm test` a few of each. */
const CASES = Object.keys(STUBBORN)
  .flatMap((kind) => Object.keys(BOUNDS).flatMap((what) => PLACES.map((place) => [kind, what, place])))
  .filter((_, index) => ALL || index % 11 === 0);

/** In `npm test` another mode for every third kind. */
const AFTER_DONE = Object.keys(STUBBORN).flatMap((kind, index) => {
  const modes = ["pi -p", "pi-workflows run", "the terminal", "over RPC"];
  if (ALL) return modes.map((mode) => [kind, mode]);
  return index % 3 === 0 ? [[kind, modes[index / 3]]] : [];
});

/** One branch is stubborn, and the other ends. */
const BRANCHES = ["one", "two"].map((id) => ({ ...phase, id }));

/** @param {string} kind @param {string} what @returns {import("./harness/scripted-model.mjs").StepFunction} */
const inBranch = (kind, what) => (request, index) =>
  branchOf(request) === "One"
    ? stubborn(kind, index, delay(what))
    : { ...leave(branchOf(request) ? "good" : "", { summary: "Did it." }), usage, ...delay(what) };

for (const version of VERSIONS) {
  suite(`pi ${version}: a model that does not do what it is told`, { concurrency: 2 }, () => {
    for (const [kind, what, place] of CASES)
      test(`a budget by ${what}, ${place}: ${kind}`, async (t) => {
        const { fields = {}, args, measure, most } = BOUNDS[what];
        const { model, sandbox } =
          place === "in a branch"
            ? await stage(t, inBranch(kind, what), {
                globalFiles: panel(BRANCHES, {}, { ...fields, autoContinue: true }),
                pace: NO_REPEATS,
                modelConfig: PRICES,
              })
            : await staged(t, kind, { ...fields }, NO_REPEATS, delay(what));
        const rpc = await startRpc({ version, sandbox, args });
        await rpc.promptAndSettle(place === "in a branch" ? "/workflow panel The task" : TASK);
        const reason = pauseOf(await rpc.entries());
        assert.deepEqual([reason?.kind, reason?.measure], ["budget", measure]);
        const agents = place === "in a branch" ? 2 : 1;
        assert.ok(model.requests.length <= most + agents, `${model.requests.length} answers`);
        t.diagnostic(`${model.requests.length} answers`);
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      });

    for (const kind of some(Object.keys(STUBBORN)))
      test(`calls without news: ${kind}`, async (t) => {
        const { model, sandbox } = await staged(t, kind, {}, { max_repeats: 8, delay_seconds: 0 });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle(TASK);
        const reason = pauseOf(await rpc.entries());
        assert.equal(reason.kind, "repeats");
        assert.ok(model.requests.length <= 11, `${model.requests.length} answers`);
        const texts = model.requests.at(-1)?.messages.map(messageText) ?? [];
        assert.equal(texts.filter((text) => /brought nothing new/.test(text)).length, 1, "told once");
        await rpc.close();
      });

    for (const [kind, mode] of AFTER_DONE)
      test(`after DONE, ${mode}: ${kind}`, async (t) => {
        const { model, sandbox, run } = await withPi(
          t,
          version,
          (_request, index) => (index === 0 ? leave("good", { summary: "Did it." }) : stubborn(kind, index)),
          { globalFiles: workflow("w", [phase], { autoContinue: false }), modelConfig: PRICES },
        );
        switch (mode) {
          case "pi -p": {
            const { code, stderr } = await runPrint({ version, sandbox, prompt: TASK });
            assert.equal(code, 0, stderr);
            break;
          }
          case "pi-workflows run": {
            const { status, stderr } = await run("w", "Do it");
            assert.equal(status, 0, stderr);
            break;
          }
          case "the terminal": {
            const tui = await startTui({ version, sandbox });
            await tui.submit(TASK);
            await tui.waitFor("The w Complete");
            await tui.waitFor((screen) => !/Working/.test(screen));
            await tui.close();
            break;
          }
          default: {
            const rpc = await startRpc({ version, sandbox });
            await rpc.promptAndSettle(TASK);
            await rpc.close();
          }
        }
        t.diagnostic(`${model.requests.length - 1} answers after DONE`);
        assert.ok(model.requests.length <= 2, `${model.requests.length - 1} answers after DONE`);
      });

    test("an answer of a branch counts while its command runs", async (t) => {
      const { model, sandbox } = await stage(
        t,
        (request, index) => {
          if (branchOf(request) === undefined) return leave("", { summary: "Did it." });
          // Of a branch that has just been reported, the next report can wait.
          if (branchOf(request) !== "Slow" || request.messages.every(({ role }) => role !== "tool"))
            return index < FOR_EVER ? { calls: STUBBORN["an unknown tool"](index), usage: SMALL } : { text: "I rest." };
          return {
            calls: [{ name: "bash", arguments: { command: "sleep 30" } }],
            usage: { prompt: 10, completion: 100 },
          };
        },
        { globalFiles: panel(["slow", "quick"], {}, { budget: { cost: 0.2 } }), modelConfig: PRICES },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow panel The task");
      assert.equal(pauseOf(await rpc.entries()).measure, "cost");
      const slow = model.requests.findLastIndex((request) => branchOf(request) === "Slow");
      const more = model.requests.slice(slow).filter((request) => branchOf(request) === "Quick").length;
      assert.ok(more <= 3, `${more} answers of the other branch`);
      await rpc.close();
    });

    test("calls that Escape has kept from beginning are none", async (t) => {
      const reads = Array.from({ length: 30 }, (_, index) => ({ name: "read", arguments: { path: `f${index}` } }));
      // With a move among them, pi makes them one after another.
      const calls = [
        { name: "bash", arguments: { command: "touch begun; sleep 60" } },
        ...reads,
        ...leave("next").calls,
      ];
      const { sandbox } = await stage(t, (_, index) => (index === 0 ? { calls } : undefined), {
        globalFiles: workflow("w", ["look"]),
        pace: { delay_seconds: 3600 },
      });
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.promptAndSettle(TASK);
      while (!existsSync(join(sandbox.project, "begun"))) await sleep(50);
      await rpc.send({ type: "abort" });
      await settled;
      const entries = await rpc.entries();
      const { paused } = entries.findLast(({ customType }) => customType === "workflow:state").data.progress;
      assert.equal(paused.reason.kind, "aborted");
      assert.doesNotMatch(JSON.stringify(entries), /brought nothing new/);
      await rpc.close();
    });

    test("a call whose arguments end before their end moves nothing", async (t) => {
      const raw = [
        '{"action": "next", "outcome": "good", "summary": "I have found that',
        '{"action": "next", "outcome": "good", "summ',
        '{"action": "next", "outcome": "good"',
        '{"action": "next", "outcome": "good", "summary": "It is "small", and fast"}',
        '{"action": "next", "outcome": "good", "summary": "Two\nlines, and \\d"}',
      ];
      const script = raw.map((text) => ({ calls: [{ name: "workflow_step", raw: text }] }));
      const { model, sandbox } = await stage(t, [...script, { text: "I rest." }], {
        globalFiles: workflow("w", [phase, "last"], { autoContinue: false }),
      });
      await runPrint({ version, sandbox, prompt: TASK });
      const results = toolResults(model.lastRequest());
      assert.equal(results.length, 5);
      for (const refused of results.slice(0, 4)) assert.doesNotMatch(refused, /Advanced/);
      assert.match(results[4], /^✓ Advanced/);
      const [visit] = Object.values(custom(readSession(sandbox), "workflow:state").at(-1).progress.visits);
      assert.match(visit.summary.text, /^Two\nlines, and \\d$/);
    });

    test("arguments in another spelling are taken, and placeholders are not", async (t) => {
      const call = (/** @type {object} */ input) => ({ calls: [{ name: "workflow_step", arguments: input }] });
      const given = {
        action: "Next ",
        outcome: ["Good"],
        outputs: '{"size":" large ","ok":"true","tasks":"[\\"a\\"]"}',
      };
      const answers = [
        call({ ...given, summary: "<what you found or did>" }),
        call({ ...given, summary: ["Found it."] }),
      ];
      const { model, sandbox } = await stage(t, [...answers, { text: "I rest." }], {
        globalFiles: workflow(
          "w",
          [
            {
              ...phase,
              outputs: {
                size: { type: "choice", options: ["small", "large"] },
                ok: { type: "flag" },
                tasks: { type: "list" },
              },
            },
            "last",
          ],
          { autoContinue: false },
        ),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      const [refused, advanced] = toolResults(model.lastRequest());
      assert.match(refused, /^⚠️ The summary is the placeholder/);
      assert.match(advanced, /^✓ Advanced with `good`: Do → 🔹 Last\n/);
      assert.deepEqual(Object.values(custom(await rpc.entries(), "workflow:state").at(-1).progress.outputs)[0].values, {
        size: "large",
        ok: true,
        tasks: ["a"],
      });
      await rpc.close();
    });

    test("in a branch", async (t) => {
      const { model, sandbox } = await stage(
        t,
        (request, index) => {
          if (branchOf(request) === "Two" || branchOf(request) === undefined)
            return request.messages.some((message) => /DONE|end of the branch/.test(messageText(message)))
              ? { text: "I rest." }
              : leave("", { summary: "Did it." });
          return index < FOR_EVER ? { calls: STUBBORN["an unknown tool"](index) } : { text: "I rest." };
        },
        { globalFiles: panel(["one", "two"], {}, { autoContinue: true }), pace: { max_repeats: 8 } },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow panel The task");
      assert.ok(requestsOf(model, "One").length <= 9, `${requestsOf(model, "One").length} answers`);
      const { One: one } = branchesOf(await rpc.entries());
      assert.match(JSON.stringify(one), /brought nothing new/);
      assert.equal(requestsOf(model, "Two").length, 1, "none after its last `next`");
      await rpc.close();
    });
  });
}
