// Phases that are a conversation with the user: the run waits for the user's messages.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { parseJsonLines, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import {
  contextPrompt,
  countdownLines,
  custom,
  ends,
  pauses,
  statusTexts,
  step,
  waiting,
  workflow,
} from "./harness/workflows.mjs";

const ASK = { text: "Which colour?" };
const next = (/** @type {string} */ summary) => ({
  calls: [{ name: "workflow_step", arguments: { action: "next", summary } }],
});
const TALK = { id: "talk", interactive: true };
/** A countdown of no time: an agent that is told to go on is told so at once. */
const AT_ONCE = { delay_seconds: 0 };
const files = (/** @type {object} */ talk = {}, /** @type {Record<string, unknown>} */ fields = {}) =>
  workflow("hello", [{ ...TALK, ...talk }, "build"], fields);
const AT_TALK = "The hello > 🔹 Talk [1/2]";
const PAUSED = "Workflow The hello: paused in 🔹 Talk: it waits for your message.\n";
const DONE = "Workflow The hello: DONE.\n";
/** Time in which an agent that is told to go on at once would have made a request. */
const aWhile = () => sleep(700);
const counts = (/** @type {any[]} */ entries) => {
  const { idle, continuations } = custom(entries, "workflow:state").at(-1).progress;
  return [idle ?? 0, continuations ?? 0];
};

for (const version of VERSIONS) {
  suite(`pi ${version}: a conversation`, { concurrency: 2 }, () => {
    test("waits for each message, without a countdown and without a limit", async (t) => {
      const rounds = 12;
      const { model, sandbox } = await stage(
        t,
        [...Array(rounds).fill(ASK), next("Blue."), next("Built."), { text: "Over." }],
        {
          pace: AT_ONCE,
          globalFiles: files(),
        },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Paint it");
      for (let round = 1; round < rounds; round += 1) await rpc.promptAndSettle(`Colour ${round}`);
      await aWhile();
      assert.equal(model.requests.length, rounds);
      assert.deepEqual(counts(await rpc.entries()), [0, 0]);
      assert.deepEqual(countdownLines(rpc).filter(Boolean), []);
      assert.equal(statusTexts(rpc).at(-1), waiting(AT_TALK));
      assert.deepEqual(rpc.ui("notify"), []);
      assert.match(
        contextPrompt(model.requests[0]) ?? "",
        /\n\*\*Conversation:\*\* this phase is a conversation with the user: /,
      );
      await rpc.promptAndSettle("Blue.");
      assert.equal(statusTexts(rpc).at(-1), undefined);
      assert.equal(ends(await rpc.entries()).length, 1);
      assert.doesNotMatch(model.messagesText(-1), /is still active/);
      await rpc.close();
    });

    for (const mode of /** @type {("text" | "json")[]} */ (["text", "json"])) {
      test(
        `pauses with each answer in ${mode === "text" ? "print" : "JSON"} mode, and goes on with --continue`,
        LONG,
        async (t) => {
          const { model, sandbox } = await stage(t, [ASK, ASK, next("Blue."), next("Built."), { text: "Over." }], {
            pace: AT_ONCE,
            globalFiles: files(),
          });
          const run = (/** @type {string} */ prompt, args = ["--continue"]) =>
            runPrint({ version, sandbox, prompt, mode, args });
          const first = await run("/workflow hello Paint it", []);
          assert.deepEqual([first.code, first.stderr], [1, PAUSED]);
          if (mode === "text") assert.equal(first.stdout, "Which colour?\n");
          else assert.ok(parseJsonLines(first.stdout).some(({ type }) => type === "agent_end"));
          assert.equal(model.requests.length, 1);
          const second = await run("What is there?");
          assert.deepEqual([second.code, second.stderr, model.requests.length], [1, PAUSED, 2]);
          assert.deepEqual(pauses(readSession(sandbox)), [
            undefined,
            { kind: "conversation" },
            undefined,
            { kind: "conversation" },
          ]);
          assert.deepEqual(counts(readSession(sandbox)), [0, 0]);
          const third = await run("Blue.");
          assert.deepEqual([third.code, third.stderr, model.requests.length], [0, DONE, 5]);
        },
      );
    }

    test("gets the messages of one command line, one after the other", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [ASK, ASK, next("Blue."), next("Built."), { text: "Over." }], {
        pace: AT_ONCE,
        globalFiles: files(),
      });
      const run = await runPrint({ version, sandbox, prompt: ["/workflow hello Paint it", "What is there?", "Blue."] });
      assert.deepEqual([run.code, run.stderr, model.requests.length], [0, DONE, 5]);
    });

    test("that was paused in print mode goes on in another mode", LONG, async (t) => {
      const { sandbox } = await stage(t, [ASK, ASK], { pace: AT_ONCE, globalFiles: files() });
      await runPrint({ version, sandbox, prompt: "/workflow hello Paint it" });
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.waitFor(({ statusText }) => statusText === `⏸ ${AT_TALK} (paused: it waits for your message)`);
      await rpc.promptAndSettle("What is there?");
      assert.equal(statusTexts(rpc).at(-1), waiting(AT_TALK));
      await rpc.close();
    });

    test("takes messages while the agent is at work", LONG, async (t) => {
      const busy = { calls: [{ name: "bash", arguments: { command: "sleep 1" } }] };
      const { model, sandbox } = await stage(t, [busy, ASK, ASK], { pace: AT_ONCE, globalFiles: files() });
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow hello Paint it");
      await rpc.waitFor(({ type }) => type === "tool_execution_start");
      await rpc.send({ type: "steer", message: "Not red." });
      await rpc.send({ type: "follow_up", message: "Nor green." });
      await settled;
      assert.equal(model.requests.length, 3);
      assert.match(model.messagesText(1), /Not red\./);
      assert.match(model.messagesText(2), /Nor green\./);
      assert.equal(statusTexts(rpc).at(-1), waiting(AT_TALK));
      assert.deepEqual(pauses(await rpc.entries()).filter(Boolean), []);
      await rpc.close();
    });

    test("goes on after a retry of pi's own as if nothing had happened", LONG, async (t) => {
      const settings = { retry: { enabled: true, maxRetries: 2, baseDelayMs: 10 } };
      const { model, sandbox } = await stage(t, [{ status: 500, text: "overloaded" }, ASK], {
        pace: AT_ONCE,
        globalFiles: files(),
        settings,
      });
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello Paint it" });
      assert.deepEqual([run.code, run.stderr, model.requests.length], [1, PAUSED, 2]);
    });

    test("gets its instructions again after a compaction", LONG, async (t) => {
      const settings = { compaction: { enabled: true, keepRecentTokens: 10, reserveTokens: 100 } };
      const { model, sandbox } = await stage(t, (request) => (request.tools?.length ? ASK : { text: "They talked." }), {
        pace: AT_ONCE,
        globalFiles: files(),
        settings,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Paint it");
      await rpc.promptAndSettle("What is there?");
      assert.equal((await rpc.send({ type: "compact" })).success, true);
      const before = model.requests.length;
      await aWhile();
      assert.equal(model.requests.length, before);
      assert.equal(statusTexts(rpc).at(-1), waiting(AT_TALK));
      await rpc.promptAndSettle("And then?");
      assert.match(contextPrompt(model.lastRequest()) ?? "", /Do talk for Paint it/);
      await rpc.close();
    });

    test("killed while it waits, it waits again", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [ASK, ASK, next("Blue."), next("Built."), { text: "Over." }], {
        pace: AT_ONCE,
        globalFiles: files(),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Paint it");
      await rpc.kill();
      const again = await startRpc({ version, sandbox, args: ["--continue"] });
      await again.waitFor(({ statusText }) => statusText === waiting(AT_TALK));
      await aWhile();
      assert.equal(model.requests.length, 1);
      await again.promptAndSettle("What is there?");
      assert.equal(statusTexts(again).at(-1), waiting(AT_TALK));
      await again.promptAndSettle("Blue.");
      assert.equal(ends(await again.entries()).length, 1);
      await again.close();
    });

    test("shows in a terminal that it waits: status line, panel and :status", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [ASK, ASK, step("next"), step("next"), { text: "Over." }], {
        pace: AT_ONCE,
        globalFiles: files(),
      });
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow hello Paint it");
      await tui.waitFor(`⏸ ${AT_TALK} (waits for you)`);
      await tui.submit("/workflow :panel");
      await tui.waitFor(/▸ 1\. 🔹 Talk .*waits for you/);
      await tui.submit("/workflow :status");
      const screen = await tui.waitFor("waits for you: send a message, or /workflow :resume");
      assert.doesNotMatch(screen, /Auto-continuing/);
      await tui.type("What is");
      await tui.waitFor((screen) => screen.includes("What is") && screen.includes("(waits for you)"));
      await tui.type(" there?");
      await tui.press("Enter");
      await tui.waitFor(() => model.requests.length === 2);
      await tui.waitFor(`⏸ ${AT_TALK} (waits for you)`);
      await tui.submit("Blue.");
      await tui.waitFor("The hello Complete");
      assert.equal(model.requests.length, 5);
    });
  });
}
