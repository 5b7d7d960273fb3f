// The control commands: `/workflow :status` and the others.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import {
  countdownLines,
  custom,
  ends,
  notices,
  paths,
  pauses,
  states,
  statusTexts,
  step,
  steps,
  toolResults,
  userTexts,
  withoutIds,
  workflow,
} from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["plan", "build", "check"]);
const NESTED = {
  ...workflow("outer", ["a", "@inner", "z"], { name: "Outer" }),
  ...workflow("inner", ["b", "c"], { name: "Inner", show: "workflows" }),
};
const REST = { text: "I rest." };
const COUNTDOWN = "⏳ Auto-continuing in 3s... (type anything to interrupt)";

/** The newest status panel, with 0s for every time but the start and `N tokens`. @param {any[]} entries */
function panel(entries) {
  const { content } = custom(entries, "workflow:status").at(-1);
  return withoutIds(content)
    ?.replace(/\b\d+s\b/g, "0s")
    .replace(/[\d.]+k? tokens/g, "N tokens")
    .replace(/\d{4}-\d\d-\d\d [\d:]{8} UTC[+−]\d\d:\d\d/, "THEN");
}

for (const version of VERSIONS) {
  suite(`pi ${version}: /workflow`, { concurrency: 2 }, () => {
    test(":status shows the run to the user, not to the model", async (t) => {
      const script = steps("next", "loop", "next", "loop");
      const { model, sandbox } = await stage(t, (_, index) => script[index] ?? REST, { globalFiles: NESTED });
      const rpc = await startRpc({ version, sandbox, env: { TZ: "Asia/Kathmandu" } });
      await rpc.promptAndSettle("/workflow outer Add a route");
      await rpc.prompt("/workflow :status");
      const began = custom(await rpc.entries(), "workflow:state")[0].startedAt + (5 * 60 + 45) * 60_000;
      const local = `started ${new Date(began).toISOString().slice(0, 19).replace("T", " ")} UTC+05:45 (`;
      assert.ok(
        custom(await rpc.entries(), "workflow:status")
          .at(-1)
          .content.includes(local),
        local,
      );
      assert.equal(
        panel(await rpc.entries()),
        `Outer > Inner [2/3] > 🔹 B [1/2]
Task: Add a route
TASK, started THEN (0s ago)

✓ 1. 🔹 A  0s
     1 turn, N tokens, cost unknown, 0s at work
▸ 2. Inner > 🔹 B  0s, 3 visits
     3 turns, N tokens, cost unknown, 0s at work
○ 3. Inner > 🔹 C  0s
     1 turn, N tokens, cost unknown, 0s at work
○ 4. 🔹 Z

In all: 5 turns, N tokens, cost unknown, 0s at work.
Automatic continuations in this phase: 0. Loops: 2. Transitions: 4.`,
      );
      assert.deepEqual(notices(rpc), []);
      await rpc.prompt("/workflow :pause");
      await rpc.prompt("/workflow   :status  ");
      assert.match(
        panel(await rpc.entries()) ?? "",
        /^⏸ Outer > Inner \[2\/3\] > 🔹 B \[1\/2\] \(paused: you asked for it\)\n/,
      );
      await rpc.promptAndSettle("Hello");
      assert.doesNotMatch(model.messagesText(), /Automatic continuations/);
    });

    test(":pause stops the countdown until the user sends a message or :resume", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.prompt("/workflow :pause");
      const paused = "⏸ The hello > 🔹 Plan [1/3] (paused: you asked for it)";
      assert.deepEqual(countdownLines(rpc), [COUNTDOWN, undefined]);
      assert.equal(statusTexts(rpc).at(-1), paused);
      assert.deepEqual(notices(rpc), [
        "warning: ⏸ The hello is paused in 🔹 Plan: you asked for it.\nYour next message resumes it, or /workflow :resume.",
      ]);
      await rpc.prompt("/workflow :status");
      assert.equal(statusTexts(rpc).at(-1), paused, "a look does not resume it");

      await rpc.promptAndSettle("Go on");
      assert.equal(statusTexts(rpc).at(-1), "The hello > 🔹 Plan [1/3]");
      assert.equal(countdownLines(rpc).at(-1), COUNTDOWN);

      await rpc.prompt("/workflow :pause");
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow :resume");
      await settled;
      assert.match(
        userTexts(model.lastRequest()).at(-2) ?? "",
        /^⚠️ The The hello is still active\. Current phase: 🔹 Plan\.\n/,
      );
      assert.deepEqual(pauses(await rpc.entries()), [
        undefined,
        { kind: "person" },
        undefined,
        { kind: "person" },
        undefined,
      ]);
    });

    test(":pause lets an agent that works finish its phase only", async (t) => {
      const { model, sandbox } = await stage(t, [{ text: "Thinking.", delayMs: 400 }], { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow hello Add a route");
      await model.waitForRequests(1);
      await rpc.prompt("/workflow :pause");
      await settled;
      assert.deepEqual(countdownLines(rpc), []);
      assert.match(statusTexts(rpc).at(-1) ?? "", /^⏸ /);
    });

    test("moves a run while the agent works; its calls for the previous phase have no effect", async (t) => {
      /** @type {() => void} */
      let letGo = () => {};
      const moved = new Promise((resolve) => (letGo = () => resolve(undefined)));
      const { model, sandbox } = await stage(
        t,
        async (_, index) => {
          if (index === 0) await moved;
          return [step("next"), step("next"), REST][index];
        },
        { globalFiles: HELLO },
      );
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow hello Add a route");
      await model.waitForRequests(1);
      await rpc.prompt("/workflow :next");
      assert.equal(statusTexts(rpc).at(-1), "The hello > 🔹 Build [2/3]");
      letGo();
      await settled;
      const results = toolResults(model.lastRequest());
      assert.equal(
        results[0],
        "The user has moved the workflow meanwhile; this call had no effect. The current phase is 🔹 Build. Its instructions follow.",
      );
      assert.match(results[1], /^✓ Advanced: Build → 🔹 Check\n/);
      const told = userTexts(model.requests[1]).at(-1) ?? "";
      assert.ok(
        told.startsWith(
          "The user moved the workflow on: 🔹 Plan → 🔹 Build.\n\n[Workflow path: The hello ▸ 🔹 Build]\n",
        ),
        told,
      );
      assert.match(told, /\n\n\*\*What to do in this phase:\*\*\nDo build for Add a route\.\n/);
      assert.deepEqual(paths(states(await rpc.entries())), ["hello:0", "hello:1", "hello:2"]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test(":cancel and /cancel-workflow stop a working agent", async (t) => {
      for (const command of ["/workflow :cancel", "/cancel-workflow"]) {
        /** @type {() => void} */
        let letGo = () => {};
        const cancelled = new Promise((resolve) => (letGo = () => resolve(undefined)));
        const { model, sandbox } = await stage(
          t,
          async (_, index) => {
            if (index === 0) await cancelled;
            return [step("next"), { text: "Stopped." }][index];
          },
          { globalFiles: HELLO },
        );
        const rpc = await startRpc({ version, sandbox });
        const settled = rpc.waitForSettled();
        await rpc.prompt("/workflow hello Add a route");
        await model.waitForRequests(1);
        await rpc.prompt(command);
        assert.deepEqual(notices(rpc), ["info: Workflow cancelled."]);
        letGo();
        await settled;
        assert.equal(model.requests.length, 1);
        const entries = await rpc.entries();
        const end = states(entries).at(-1);
        assert.deepEqual([end.active, end.cancelled, end.completionNotified], [false, true, true]);
        assert.deepEqual(
          ends(entries).map(({ content }) => withoutIds(content)),
          ["❌ **Workflow Cancelled**\n\n**Task:** Add a route\n**Task ID:** TASK"],
        );
        await rpc.close();
      }
    });
  });
}
