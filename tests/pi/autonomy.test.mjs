// Automatic continuation without a user, and the countdown in the terminal.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { SHORT_COUNTDOWN, custom, shortCountdownIsOver, states, step, workflow } from "./harness/workflows.mjs";

const IDLE = { text: "I do nothing." };
const HELLO = workflow("hello", ["plan", "build"]);
const COUNTING = { globalFiles: HELLO, pace: SHORT_COUNTDOWN };
const IDLE_PAUSE = "the agent did nothing in 3 automatic continuations";
const WAITS = "⏸ The hello > 🔹 Plan [1/2] (waits for you)";

/** @param {any[]} entries */
const pauses = (entries) => custom(entries, "workflow:state").flatMap(({ progress }) => progress.paused?.reason ?? []);

for (const version of VERSIONS) {
  suite(`pi ${version}: without a user`, { concurrency: 2 }, () => {
    for (const mode of variants(/** @type {const} */ (["text", "json"]))) {
      test(`${mode} mode reaches DONE with a model that stops early in every phase`, async (t) => {
        const script = [
          { text: "Tired." },
          step("next"),
          { text: "Tired again." },
          step("next"),
          { text: "All done." },
        ];
        const { model, sandbox } = await stage(t, script, { globalFiles: HELLO });
        const { code, stdout, stderr } = await runPrint({ version, sandbox, mode, prompt: "/workflow hello it" });
        assert.equal(code, 0);
        assert.equal(stderr, "Workflow The hello: DONE.\n");
        if (mode === "text") assert.equal(stdout, "All done.\n");
        assert.equal(model.requests.length, 5);
        assert.match(model.messagesText(1), /⚠️ The The hello is still active\. Current phase: 🔹 Plan\./);
        assert.equal(states(readSession(sandbox)).at(-1).active, false);
      });

      test(`${mode} mode pauses a run whose agent does nothing, and ends with that message`, async (t) => {
        const { model, sandbox } = await stage(t, () => IDLE, { globalFiles: HELLO });
        const { code, stderr } = await runPrint({ version, sandbox, mode, prompt: "/workflow hello it" });
        assert.equal(code, 1);
        assert.equal(stderr, `Workflow The hello: paused in 🔹 Plan: ${IDLE_PAUSE}.\n`);
        assert.equal(model.requests.length, 4);
        assert.deepEqual(pauses(readSession(sandbox)), [{ kind: "idle", times: 3 }]);
      });
    }
  });

  suite(`pi ${version}: in the terminal`, { concurrency: 2 }, () => {
    /**
     * A terminal in which the countdown runs.
     * @param {import("node:test").TestContext} t
     */
    async function counting(t) {
      const { model, sandbox } = await stage(t, () => IDLE, COUNTING);
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow hello it");
      await tui.waitFor(/Auto-continuing in [12]s/);
      /** The countdown is gone and starts no run. */
      const stays = async (requests = 1) => {
        await tui.waitFor((screen) => !screen.includes("Auto-continuing"));
        await shortCountdownIsOver();
        assert.equal(model.requests.length, requests);
      };
      return { model, sandbox, tui, stays };
    }

    test("Escape stops the countdown", LONG, async (t) => {
      const { tui, stays } = await counting(t);
      await tui.press("Escape");
      await stays();
      assert.ok((await tui.screen()).includes(WAITS));
    });
  });
}
