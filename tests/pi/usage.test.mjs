// What a run took: tokens, cost and time of each phase, as pi's own statistics have them.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PI_VERSIONS } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { step, workflow } from "./harness/workflows.mjs";

const PRICES = { cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } };
const QUIET = { autoContinue: false };
const answer = (/** @type {any} */ content, prompt = 1000, completion = 100) => ({ ...content, usage: { prompt, completion } });

/** What the newest state of a session says. @param {any[]} entries */
function stored(entries) {
  return entries.findLast(({ customType }) => customType === "workflow:state").data.progress;
}

for (const version of PI_VERSIONS) {
  suite(`pi ${version}: what a run took`, { concurrency: 2 }, () => {
    test("is what pi's own statistics say, by phase", async (t) => {
      const answers = [answer({ text: "Looking." }), answer(step("next"), 2000, 200), answer({ text: "Rest." }, 3000, 300), answer(step("next"), 500, 5), { text: "Done." }];
      const { sandbox } = await stage(t, answers, { globalFiles: workflow("hello", ["look", "do"], QUIET), modelConfig: PRICES });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello The task");
      await rpc.promptAndSettle("Go on.");
      const { look, do: doing } = Object.fromEntries(
        Object.entries(stored(await rpc.entries()).visits).map(([key, visit]) => [key === "hello:0" ? "look" : "do", visit]),
      );
      assert.deepEqual([look.usage.turns, look.usage.input, look.usage.output, look.usage.toolCalls], [2, 3000, 300, 1]);
      assert.equal(doing.usage, undefined);
      await rpc.prompt("/workflow :status");
      console.log((await rpc.entries()).at(-1).data.content);
      await rpc.promptAndSettle("Go on.");
      console.log((await rpc.entries()).at(-1));
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });
  });
}
