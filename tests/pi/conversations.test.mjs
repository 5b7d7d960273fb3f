// Phases that are a conversation with the user: the run waits for the user's messages.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { parseJsonLines, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import {
  contextPrompt,
  countdownLines,
  custom,
  ends,
  pauses,
  statusTexts,
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
  });
}
