// Automatic continuation: its limits, and the pause after them.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import {
  SHORT_COUNTDOWN,
  countdownLines,
  custom,
  notices,
  shortCountdownIsOver,
  states,
  statusTexts,
  step,
  workflow,
} from "./harness/workflows.mjs";

const IDLE = { text: "I do nothing." };
const HELLO = workflow("hello", ["plan", "build"]);
const COUNTING = { globalFiles: HELLO, pace: SHORT_COUNTDOWN };
/** No countdown, for tests of something else. */
const QUICK = { globalFiles: HELLO, pace: { delay_seconds: 0 } };
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

    test("print mode: a run that the agent wants to cancel and an unknown workflow end with their own exit status", async (t) => {
      const { sandbox } = await stage(t, [step("cancel"), step("cancel"), { text: "Cancelled." }], {
        globalFiles: HELLO,
      });
      const cancelled = await runPrint({ version, sandbox, prompt: "/workflow hello it" });
      assert.deepEqual(
        [cancelled.code, cancelled.stderr],
        [1, "Workflow The hello: paused in 🔹 Plan: the agent wants to cancel it.\n"],
      );
      const unknown = await runPrint({ version, sandbox, prompt: "/workflow nope it" });
      assert.deepEqual([unknown.code, unknown.stderr], [1, 'Unknown workflow: "nope". Available: hello\n']);
    });

    test("print mode: a model that fails pauses the run", async (t) => {
      const { model, sandbox } = await stage(t, () => ({ status: 500, text: "dead" }), { globalFiles: HELLO });
      const { code, stderr } = await runPrint({ version, sandbox, prompt: "/workflow hello it" });
      assert.equal(code, 1);
      assert.match(stderr, /Workflow The hello: paused in 🔹 Plan: the model failed\.\n$/);
      assert.equal(model.requests.length, 1);
    });

    test("RPC: a run whose agent does nothing pauses with one notice, and the next message resumes it", async (t) => {
      const { model, sandbox } = await stage(t, () => IDLE, QUICK);
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow hello it");
      await rpc.waitFor((record) => record.method === "setStatus" && /\(paused: /.test(record.statusText));
      assert.equal(model.requests.length, 4);
      assert.deepEqual(notices(rpc), [
        `warning: ⏸ The hello is paused in 🔹 Plan: ${IDLE_PAUSE}.\nYour next message resumes it, or /workflow :resume.`,
      ]);
      assert.equal(statusTexts(rpc).at(-1), `⏸ The hello > 🔹 Plan [1/2] (paused: the agent does nothing)`);
      assert.deepEqual(pauses(await rpc.entries()), [{ kind: "idle", times: 3 }]);
      const from = rpc.records.length;
      await rpc.prompt("Please go on.");
      await rpc.waitFor((record) => record.method === "notify" && /is paused/.test(record.message), { from });
      assert.equal(model.requests.length, 8, "as often again");
      assert.ok(statusTexts(rpc).includes("The hello > 🔹 Plan [1/2]"));
    });

    test("RPC: after pi's own retries of a failing provider the run pauses", LONG, async (t) => {
      const settings = { retry: { enabled: true, baseDelayMs: 1, maxRetries: 2 } };
      const { model, sandbox } = await stage(t, () => ({ status: 500, text: "dead" }), {
        ...QUICK,
        settings,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow hello it");
      await rpc.waitFor((record) => record.method === "notify" && /the model failed/.test(record.message));
      await sleep(1500);
      assert.equal(model.requests.length, 3);
      assert.deepEqual(countdownLines(rpc), []);
    });

    test("RPC: a client's prompt interrupts the countdown", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [IDLE, { text: "An answer.", hang: true }], COUNTING);
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow hello it");
      await rpc.waitFor((record) => record.method === "setWidget" && record.widgetLines);
      await rpc.prompt("What is this?");
      await model.waitForRequests(2);
      assert.equal(rpc.ui("setWidget").at(-1)?.widgetLines, undefined);
      await shortCountdownIsOver();
      assert.equal(model.requests.length, 2);
    });
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

    test("a new session stops the countdown", LONG, async (t) => {
      const { tui, stays } = await counting(t);
      await tui.submit("/new");
      await stays();
      assert.doesNotMatch(await tui.screen(), /waits for you/);
    });

    test("a reload stops the countdown", LONG, async (t) => {
      const { tui, stays } = await counting(t);
      await tui.submit("/reload");
      await stays();
      assert.ok((await tui.screen()).includes(WAITS));
    });

    test("Escape while the agent works pauses the run", async (t) => {
      const { sandbox, model } = await stage(t, [{ text: "Working", hang: true }], { globalFiles: HELLO });
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow hello it");
      await tui.waitFor(/Working/);
      await tui.press("Escape");
      await tui.waitFor(/⏸ The hello > 🔹 Plan \[1\/2\] \(paused: you stopped the agent\)/);
      assert.equal(model.requests.length, 1);
    });

    test("without an interruption the run of an idle agent pauses", async (t) => {
      const { sandbox, model } = await stage(t, () => IDLE, QUICK);
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow hello it");
      await tui.waitFor(/⏸ The hello is paused in 🔹 Plan: the agent did nothing in 3 automatic continuations\./);
      assert.equal(model.requests.length, 4);
    });
  });
}
