// The control commands: `/workflow :status` and the others.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
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
▸ 2. Inner > 🔹 B  0s, 3 passes
     3 turns, N tokens, cost unknown, 0s at work
○ 3. Inner > 🔹 C  0s
     1 turn, N tokens, cost unknown, 0s at work
○ 4. 🔹 Z

In all: 5 turns, N tokens, cost unknown, 0s at work.
Automatic continuations in this phase: 0. Loops: 2. Steps: 4.`,
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

    test(":resume continues a run that waits for its countdown or the user, and does nothing while the agent works", async (t) => {
      /** @type {() => void} */
      let letGo = () => {};
      const asked = new Promise((resolve) => (letGo = () => resolve(undefined)));
      const { model, sandbox } = await stage(
        t,
        async (_, index) => {
          if (index === 1) await asked;
          return REST;
        },
        { globalFiles: HELLO },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.deepEqual(countdownLines(rpc), [COUNTDOWN]);
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow :resume");
      assert.deepEqual(countdownLines(rpc), [COUNTDOWN, undefined]);
      await model.waitForRequests(2);
      assert.deepEqual(notices(rpc), []);
      await rpc.prompt("/workflow :resume");
      assert.deepEqual(notices(rpc), ["info: The workflow is not paused."]);
      letGo();
      await settled;
      assert.equal(model.requests.length, 2);

      await rpc.prompt("/workflow nobody knows");
      assert.equal(statusTexts(rpc).at(-1), "⏸ The hello > 🔹 Plan [1/3] (waits for you)");
      const again = rpc.waitForSettled();
      await rpc.prompt("/workflow :resume");
      await again;
      assert.equal(statusTexts(rpc).at(-1), "The hello > 🔹 Plan [1/3]");
      assert.equal(model.requests.length, 3);
      for (const request of model.requests.slice(1))
        assert.match(userTexts(request).at(-2) ?? "", /^⚠️ The The hello is still active\. Current phase: 🔹 Plan\.\n/);
      assert.deepEqual(pauses(await rpc.entries()), [undefined]);
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

    test(":next, :back and :skip move an idle run and prompt the agent", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: NESTED });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow outer Add a route");
      for (const [control, told, phase, status] of [
        [
          ":next",
          "The user moved the workflow on: 🔹 A → 🔹 B.",
          "Outer > Inner ▸ 🔹 B",
          "Outer > Inner [2/3] > 🔹 B [1/2]",
        ],
        [":back", "The user moved the workflow back: 🔹 B → 🔹 A.", "Outer ▸ 🔹 A", "Outer > 🔹 A [1/3]"],
        [
          ":skip",
          "The user moved the workflow on, and skipped a phase: 🔹 A → 🔹 B.",
          "Outer > Inner ▸ 🔹 B",
          "Outer > Inner [2/3] > 🔹 B [1/2]",
        ],
        [
          ":next",
          "The user moved the workflow on: 🔹 B → 🔹 C.",
          "Outer > Inner ▸ 🔹 C",
          "Outer > Inner [2/3] > 🔹 C [2/2]",
        ],
        [":next", "The user moved the workflow on: 🔹 C → 🔹 Z.", "Outer ▸ 🔹 Z", "Outer > 🔹 Z [3/3]"],
        [
          ":back",
          "The user moved the workflow back: 🔹 Z → 🔹 C.",
          "Outer > Inner ▸ 🔹 C",
          "Outer > Inner [2/3] > 🔹 C [2/2]",
        ],
      ]) {
        const settled = rpc.waitForSettled();
        await rpc.prompt(`/workflow ${control}`);
        await settled;
        const [message, context] = userTexts(model.lastRequest()).slice(-2);
        assert.equal(message, told);
        assert.ok(context.startsWith(`[Workflow path: ${phase}]\n`), context);
        assert.equal(statusTexts(rpc).at(-1), status);
        assert.ok(
          !notices(rpc).some((notice) => notice.includes("→")),
          "the prompt tells the move, no notice beside it",
        );
      }
      const list = states(await rpc.entries());
      assert.deepEqual(paths(list), [
        "outer:0",
        "outer:1 inner:0",
        "outer:0",
        "outer:1 inner:0",
        "outer:1 inner:1",
        "outer:2",
        "outer:1 inner:1",
      ]);
      assert.deepEqual(
        list.map(({ globalStepCount }) => globalStepCount),
        [0, 1, 2, 3, 4, 5, 6],
      );
      await rpc.prompt("/workflow :status");
      assert.match(
        panel(await rpc.entries()) ?? "",
        /\n⤼ 1\. 🔹 A {2}0s, 2 passes\n.*\n✓ 2\. Inner > 🔹 B {2}0s, 2 passes\n.*\n▸ 3\. Inner > 🔹 C {2}0s, 2 passes\n/,
      );
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test(":back does nothing in the first phase; :next ends a run in its last phase", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: workflow("hello", ["only"]) });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.prompt("/workflow :back");
      assert.deepEqual(notices(rpc), ["info: This is the first phase."]);
      assert.equal(states(await rpc.entries()).length, 1);
      await rpc.prompt("/workflow :next");
      assert.deepEqual(notices(rpc).slice(1), [], "the transcript shows the end");
      const entries = await rpc.entries();
      const end = states(entries).at(-1);
      assert.deepEqual([end.active, end.cancelled, end.completionNotified], [false, false, true]);
      assert.match(ends(entries)[0].content, /^✅ \*\*The hello Complete\*\*/);
      assert.equal(statusTexts(rpc).at(-1), undefined);
      assert.equal(model.requests.length, 1, "the agent is left alone");
      assert.equal(countdownLines(rpc).at(-1), undefined);
    });

    test("moves a paused run; the next prompt tells the agent", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.prompt("/workflow :pause");
      await rpc.prompt("/workflow :next");
      assert.equal(statusTexts(rpc).at(-1), "⏸ The hello > 🔹 Build [2/3] (paused: you asked for it)");
      assert.equal(model.requests.length, 1);
      await rpc.promptAndSettle("Go on");
      const [prompt, context] = userTexts(model.lastRequest()).slice(-2);
      assert.equal(prompt, "Go on");
      assert.ok(
        context.startsWith(
          "The user moved the workflow on: 🔹 Plan → 🔹 Build.\n\n[Workflow path: The hello ▸ 🔹 Build]\n",
        ),
        context,
      );
      await rpc.promptAndSettle("Go on");
      assert.ok(
        userTexts(model.lastRequest()).at(-1)?.startsWith("[Workflow path: The hello ▸ 🔹 Build]\n"),
        "it is told once",
      );
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

    test("ends a run while the agent works", async (t) => {
      /** @type {() => void} */
      let letGo = () => {};
      const moved = new Promise((resolve) => (letGo = () => resolve(undefined)));
      const { model, sandbox } = await stage(
        t,
        async (_, index) => {
          if (index === 0) await moved;
          return [{ calls: [{ name: "bash", arguments: { command: "echo free" } }] }, { text: "Stopped." }][index];
        },
        { globalFiles: workflow("hello", [{ id: "only", tools: { whitelist: [] } }]) },
      );
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow hello Add a route");
      await model.waitForRequests(1);
      await rpc.prompt("/workflow :next");
      letGo();
      await settled;
      assert.equal(
        userTexts(model.requests[1]).at(-1),
        "The user moved the workflow on: 🔹 Only → DONE. Stop working on it.",
      );
      assert.deepEqual(toolResults(model.lastRequest()), ["free\n"]);
      assert.equal(ends(await rpc.entries()).length, 1);
      assert.equal(states(await rpc.entries()).at(-1).completionNotified, true);
      assert.deepEqual(countdownLines(rpc), []);
    });

    test(":cancel and /cancel-workflow tell a working agent to stop", async (t) => {
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
        assert.equal(userTexts(model.requests[1]).at(-1), "The user cancelled the workflow. Stop working on it.");
        assert.deepEqual(toolResults(model.requests[1]), [
          "No active workflow. Use /workflow {name} {description} to start one.",
        ]);
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

    test("controls that cannot act show the reason", async (t) => {
      const { sandbox } = await stage(t, () => REST, { globalFiles: HELLO });
      const first = await startRpc({ version, sandbox });
      const all = [":status", ":pause", ":resume", ":answer", ":next", ":back", ":skip"];
      all.push(":stop", ":retry", ":cancel");
      for (const control of all) await first.prompt(`/workflow ${control}`);
      assert.deepEqual(notices(first), Array(10).fill("info: No active workflow."));
      for (const [control, meant] of [
        [":fly", ""],
        [":", ""],
        [":pause now", ""],
        ["::next", " Did you mean :next?"],
      ]) {
        await first.prompt(`/workflow ${control}`);
        assert.equal(
          notices(first).at(-1),
          `error: Unknown control: "${control}".${meant} There are ${[...all, ":graph", ":report", ":panel", ":limits", ":check"].join(", ")}`,
        );
      }
      await first.promptAndSettle("/workflow hello Add a route");
      await first.close();

      rmSync(join(sandbox.agent, "workflows/hello"), { recursive: true });
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      for (const control of [":status", ":next", ":back", ":skip"]) {
        await rpc.prompt(`/workflow ${control}`);
        assert.equal(notices(rpc).at(-1), "warning: The workflow's files are no longer available.", control);
      }
      await rpc.prompt("/workflow :cancel");
      assert.equal(notices(rpc).at(-1), "info: Workflow cancelled.");
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("completes the controls that apply", async (t) => {
      const { sandbox } = await stage(t, () => REST, { globalFiles: HELLO });
      const tui = await startTui({ version, sandbox });
      const offered = (/** @type {string} */ screen) =>
        [...screen.matchAll(/^[→ ] (:\w+) +\S/gm)].map(([, name]) => name);
      await tui.type("/workflow h");
      assert.deepEqual(offered(await tui.waitFor(/→ hello/)), []);
      await tui.press("Escape");
      await tui.waitFor((screen) => !screen.includes("→ hello"));
      await tui.press("C-u");
      await tui.waitFor((screen) => !screen.includes("/workflow h"));
      await tui.submit("/workflow hello Add a route");
      await tui.waitFor(COUNTDOWN);
      await tui.type("/workflow :");
      // The key stopped the countdown: the run waits for the user.
      const running = [":status", ":pause", ":resume", ":next", ":back", ":skip", ":cancel"];
      // The popup shows five completions at a time.
      assert.deepEqual(offered(await tui.waitFor(/→ :status/)), running.slice(0, offered(await tui.screen()).length));
      await tui.type("pau");
      assert.deepEqual(offered(await tui.waitFor(/→ :pause/)), [":pause"]);
      await tui.press("Tab", "Enter");
      await tui.waitFor("⏸ The hello > 🔹 Plan [1/3] (paused: you asked for it)");
      await tui.type("/workflow :r");
      assert.deepEqual(offered(await tui.waitFor(/→ :resume/)), [":resume", ":report"]);
    });
  });

  suite(`pi ${version}: limits of a run without a user`, { concurrency: 2 }, () => {
    const work = { calls: [{ name: "bash", arguments: { command: "true" } }] };

    test("pauses at a phase's limit, however much the agent works; a new phase is a new count", async (t) => {
      const script = [work, REST, work, REST, step("next"), REST, work, REST, work, REST, work];
      const { sandbox } = await stage(t, (_, index) => script[index] ?? REST, {
        globalFiles: workflow("hello", ["plan", "build"], {
          autoContinue: { delaySeconds: 0, maxPerPhase: 2, maxIdle: 2 },
        }),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow hello Add a route");
      await rpc.waitFor(({ statusText }) => statusText?.startsWith("⏸"), { what: "a pause" });
      assert.equal(statusTexts(rpc).at(-1), "⏸ The hello > 🔹 Build [2/2] (paused: too many continuations)");
      assert.deepEqual(pauses(await rpc.entries()), [undefined, undefined, { kind: "limit", times: 2 }]);
    });

    test("waits as long as the workflow says", async (t) => {
      const globalFiles = workflow("slow", ["a"], { autoContinue: { delaySeconds: 60 } });
      const { sandbox } = await stage(t, () => REST, { globalFiles });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow slow Add a route");
      assert.deepEqual(countdownLines(rpc), ["⏳ Auto-continuing in 60s... (type anything to interrupt)"]);
    });

    test("loops as often as maxLoops allows; the count of a scope starts again when the scope is left", async (t) => {
      const globalFiles = {
        ...workflow("outer", ["@inner", "z"], { maxLoops: 1 }),
        ...workflow("inner", ["a"], { maxLoops: 2, show: "workflows" }),
      };
      const script = steps("loop", "loop", "loop", "next", "loop", "loop", "loop", "loop", "next", "loop");
      const { model, sandbox } = await stage(t, script, { globalFiles });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow outer Dig");
      const refused = (/** @type {number} */ times) =>
        `This workflow has been looped ${times} times, which is all it allows (maxLoops). Go on with action='next', or leave it to the user.`;
      const results = toolResults(model.lastRequest()).map((text) => text.split(":")[0]);
      assert.deepEqual(results, [
        "🔄 Looped 'The inner' back to",
        "🔄 Looped 'The inner' back to",
        `⚠️ ${refused(2)}`,
        "✓ Exited subworkflow, returning to The outer",
        // Restarting the outer scope restarts the inner one.
        "🔄 Looped 'The outer' back to",
        "🔄 Looped 'The inner' back to",
        "🔄 Looped 'The inner' back to",
        `⚠️ ${refused(2)}`,
        "✓ Exited subworkflow, returning to The outer",
        `⚠️ ${refused(1)}`,
      ]);
      assert.deepEqual(
        notices(rpc),
        [2, 2, 1].map((times) => `warning: The agent wants to loop again. ${refused(times)}`),
      );
    });
  });
}
