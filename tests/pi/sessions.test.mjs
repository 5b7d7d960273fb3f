// Runs and sessions: restarts, old and broken entries, other branches, other sessions.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import {
  SHORT_COUNTDOWN,
  contextPrompt,
  countdownLines,
  custom,
  ends,
  notices,
  paths,
  pauses,
  shortCountdownIsOver,
  states,
  statusTexts,
  step,
  steps,
  toolResults,
  userTexts,
  waiting,
  workflow,
} from "./harness/workflows.mjs";

/** @typedef {import("./harness/sandbox.mjs").Sandbox} Sandbox */
/** @typedef {import("./harness/rpc.mjs").Rpc} Rpc */

const HELLO = workflow("hello", ["plan", "build", "check"]);
const NESTED = {
  ...workflow("outer", ["a", "@inner", "z"]),
  ...workflow("inner", ["b", "c"], { show: "workflows" }),
};
const REST = { text: "I rest." };
/** Compacts nearly the whole conversation. */
const COMPACTION = { compaction: { enabled: true, keepRecentTokens: 10, reserveTokens: 100 } };
const COUNTDOWN = "⏳ Auto-continuing in 3s... (type anything to interrupt)";

/**
 * A model that calls `next` once and then stops, and answers requests for a summary with this step.
 *
 * @param {import("./harness/scripted-model.mjs").Step} summary
 * @returns {import("./harness/scripted-model.mjs").StepFunction}
 */
function compacting(summary) {
  return (request, index) => {
    if (!request.tools?.length) return summary;
    return index === 0 ? step("next") : REST;
  };
}

for (const version of VERSIONS) {
  suite(`pi ${version}: a restart`, { concurrency: 2 }, () => {
    test("continues a run in its phase", async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), REST, ...steps("next", "next"), { text: "Done." }], {
        globalFiles: HELLO,
      });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello Add a route");
      await first.close();

      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.deepEqual(statusTexts(rpc), [waiting("The hello > 🔹 Build [2/3]")]);
      assert.equal((await rpc.state()).sessionName, "Workflow: Add a route");
      await rpc.promptAndSettle("Go on");
      assert.match(contextPrompt(model.requests[2]) ?? "", /\n\*\*Progress:\*\* Step 1 \(2\/3 phases\)\n/);
      const entries = await rpc.entries();
      assert.deepEqual(paths(states(entries)), ["hello:0", "hello:1", "hello:2", "hello:2", "hello:2"]);
      assert.equal(new Set(custom(entries, "workflow:state").map(({ taskId }) => taskId)).size, 1);
      assert.equal(ends(entries).length, 1);
      assert.deepEqual(
        countdownLines(first),
        [COUNTDOWN, undefined],
        "and the countdown of the first pi ended with it",
      );
    });

    test("continues a nested run after a loop and a kill", LONG, async (t) => {
      const { model, sandbox } = await stage(
        t,
        [...steps("next", "next", "loop"), { text: "Thinking", hang: true }, step("status"), REST],
        { globalFiles: NESTED },
      );
      const first = await startRpc({ version, sandbox });
      await first.prompt("/workflow outer Add a route");
      await model.waitForRequests(4);
      await first.kill();

      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.deepEqual(statusTexts(rpc), [waiting("The outer > The inner [2/3] > 🔹 B [1/2]")]);
      await rpc.promptAndSettle("Where are you?");
      assert.match(contextPrompt(model.requests[4]) ?? "", /\n\*\*Progress:\*\* Step 3 \(1\/2 in current scope\)\n/);
      assert.match(toolResults(model.lastRequest()).at(-1) ?? "", /\n\*\*Phase:\*\* 🔹 B \[1\/2\] \(step 3\)\n/);
    });

    test("does not continue a run that is done or was cancelled by the agent or the user", LONG, async (t) => {
      const [next, hello] = [step("next"), { text: "Hello." }];
      const script = [next, next, next, hello, hello, step("cancel", "cancel"), hello, hello, REST, hello];
      const { model, sandbox } = await stage(t, script, { globalFiles: HELLO });
      let ended = 0;
      let args = /** @type {string[]} */ ([]);
      for (const task of ["To the end", "Not to the end", "Not for long"]) {
        const first = await startRpc({ version, sandbox, args, onDialog: () => true });
        await first.promptAndSettle(`/workflow hello ${task}`);
        if (++ended === 3) await first.prompt("/cancel-workflow");
        await first.close();

        args = ["--continue"];
        const rpc = await startRpc({ version, sandbox, args });
        const before = await rpc.entries();
        assert.equal(ends(before).length, ended);
        assert.equal(states(before).at(-1).completionNotified, true);
        assert.deepEqual(statusTexts(rpc), [undefined]);
        await rpc.promptAndSettle("Thank you");
        await rpc.prompt("/cancel-workflow");
        assert.deepEqual(notices(rpc), ["info: No active workflow to cancel."]);
        const after = await rpc.entries();
        assert.deepEqual(states(after), states(before));
        assert.equal(ends(after).length, ended, "the end is not announced again");
        assert.equal(userTexts(model.lastRequest()).at(-1), "Thank you");
        assert.deepEqual(countdownLines(rpc), []);
        await rpc.close();
      }
    });
  });

  suite(`pi ${version}: another branch or session`, { concurrency: 2 }, () => {
    test("in the session's tree has the run of that entry, and no countdown", async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), REST, ...steps("next", "next"), { text: "Done." }], {
        globalFiles: HELLO,
        files: TRAVEL,
      });
      const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox) });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.deepEqual(countdownLines(rpc), [COUNTDOWN]);
      const entries = await rpc.entries();
      const leaf = entries.at(-1).id;
      const firstAnswer = entries.find(({ message }) => message?.role === "assistant").id;
      await rpc.prompt(`/go-tree ${firstAnswer}`);
      assert.deepEqual(countdownLines(rpc), [COUNTDOWN, undefined]);
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Plan [1/3]"));
      await rpc.prompt(`/go-tree ${entries[0].id}`);
      assert.equal(statusTexts(rpc).at(-1), undefined);
      await rpc.prompt("/cancel-workflow");
      assert.deepEqual(notices(rpc).at(-1), "info: No active workflow to cancel.");
      await rpc.prompt(`/go-tree ${leaf}`);
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Build [2/3]"));
      await rpc.promptAndSettle("Go on");
      assert.match(contextPrompt(model.requests[2]) ?? "", /\n\*\*Current Phase:\*\* 🔹 Build\n/);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("by fork and clone has the run of that entry", async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), REST, step("next"), REST, REST], { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.promptAndSettle("Go on");
      assert.equal(statusTexts(rpc).at(-1), "The hello > 🔹 Check [3/3]");
      assert.equal((await rpc.send({ type: "clone" })).success, true);
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Check [3/3]"));

      const { messages } = (await rpc.send({ type: "get_fork_messages" })).data;
      const { entryId } = messages.find((/** @type {{ text: string }} */ { text }) => text === "Go on");
      assert.equal((await rpc.send({ type: "fork", entryId })).success, true);
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Build [2/3]"));
      await rpc.promptAndSettle("Go on in another way");
      assert.match(contextPrompt(model.lastRequest()) ?? "", /\n\*\*Progress:\*\* Step 1 \(2\/3 phases\)\n/);
      assert.deepEqual(paths(states(await rpc.entries())), ["hello:0", "hello:1"]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("in a new session has no run; the old one keeps its own", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), REST, REST], {
        globalFiles: workflow("hello", ["plan", "build", "check"]),
        pace: SHORT_COUNTDOWN,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const { sessionFile } = await rpc.state();
      assert.equal((await rpc.send({ type: "new_session" })).success, true);
      assert.equal(statusTexts(rpc).at(-1), undefined);
      await rpc.prompt("/cancel-workflow");
      assert.deepEqual(notices(rpc), ["info: No active workflow to cancel."]);
      await shortCountdownIsOver();
      assert.equal(model.requests.length, 2, "the countdown of the old session does not wake the new one");
      assert.deepEqual(countdownLines(rpc).slice(1).filter(Boolean), []);
      await rpc.promptAndSettle("Hello");
      assert.deepEqual(userTexts(model.lastRequest()), ["Hello"]);
      await rpc.send({ type: "switch_session", sessionPath: sessionFile });
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Build [2/3]"));
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("removes a countdown from the screen", LONG, async (t) => {
      const { sandbox } = await stage(t, () => REST, { globalFiles: HELLO, files: TRAVEL });
      const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox) });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.deepEqual(countdownLines(rpc), [COUNTDOWN]);
      await rpc.send({ type: "clone" });
      assert.deepEqual(countdownLines(rpc), [COUNTDOWN, undefined], "clone");
      await rpc.promptAndSettle("Go on");
      await rpc.prompt("/go-reload");
      assert.deepEqual(countdownLines(rpc).slice(2), [COUNTDOWN, undefined], "reload");
      await rpc.promptAndSettle("Go on");
      await rpc.send({ type: "new_session" });
      assert.deepEqual(countdownLines(rpc).slice(4), [COUNTDOWN, undefined], "new_session");
    });

    test("cancels an open question", async (t) => {
      const { sandbox } = await stage(t, [REST], { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello One");
      /** @type {(answer: boolean) => void} */
      let answer = () => {};
      rpc.onDialog(() => new Promise((resolve) => (answer = resolve)));
      const command = rpc.prompt("/workflow hello Two");
      await rpc.waitFor(({ method }) => method === "confirm");
      assert.equal((await rpc.send({ type: "new_session" })).success, true);
      answer(true);
      await Promise.race([command, sleep(500)]);
      assert.deepEqual(states(await rpc.entries()), []);
      assert.equal(statusTexts(rpc).at(-1), undefined);
      assert.deepEqual(rpc.extensionErrors(), []);
    });
  });

  suite(`pi ${version}: a run outlasts`, { concurrency: 4 }, () => {
    test("a reload, which reads the files again", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), REST, REST], { globalFiles: HELLO, files: TRAVEL });
      const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox) });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const file = join(sandbox.agent, "workflows/hello/workflow.yaml");
      writeFileSync(file, HELLO["hello/workflow.yaml"].replace("The hello", "The new hello"));
      await rpc.prompt("/go-reload");
      await rpc.waitFor(({ statusText }) => statusText === waiting("The new hello > 🔹 Build [2/3]"));
      await rpc.promptAndSettle("Go on");
      assert.match(contextPrompt(model.lastRequest()) ?? "", /^\[Workflow path: The new hello ▸ 🔹 Build\]\n/);
      assert.equal(states(await rpc.entries()).length, 2);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("a compaction, and a restart after it", LONG, async (t) => {
      const { model, sandbox } = await stage(t, compacting({ text: "What was." }), {
        globalFiles: HELLO,
        settings: COMPACTION,
      });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello Add a route");
      assert.equal((await first.send({ type: "compact" })).success, true);
      await first.promptAndSettle("Go on");
      const texts = userTexts(model.lastRequest());
      assert.match(texts[0], /What was\./);
      assert.match(texts.at(-1) ?? "", /^\[Workflow path: The hello ▸ 🔹 Build\]\n/);
      await first.close();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.deepEqual(statusTexts(rpc), [waiting("The hello > 🔹 Build [2/3]")]);
    });

    test("a compaction that takes longer than the countdown, without an error", LONG, async (t) => {
      const script = compacting({ text: "What was.", delayMs: 1800 });
      const { sandbox } = await stage(t, script, { globalFiles: HELLO, settings: COMPACTION });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const start = performance.now();
      assert.equal((await rpc.send({ type: "compact" })).success, true);
      assert.ok(performance.now() - start > 3300, "it took long enough");
      assert.deepEqual(
        rpc.extensionErrors().map(({ error }) => error),
        [],
      );
    });

    test("an abort, after which it waits for the user", LONG, async (t) => {
      const { model, sandbox } = await stage(
        t,
        [
          step("next"),
          { text: "Thinking", hang: true },
          { calls: [{ name: "bash", arguments: { command: "sleep 60" } }] },
          REST,
        ],
        { globalFiles: HELLO },
      );
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow hello Add a route");
      await model.waitForRequests(2);
      await rpc.send({ type: "abort" });
      await settled;
      const paused = "⏸ The hello > 🔹 Build [2/3] (paused: you stopped the agent)";
      assert.equal(statusTexts(rpc).at(-1), paused);
      assert.deepEqual(notices(rpc), [
        "warning: ⏸ The hello is paused in 🔹 Build: you stopped the agent.\nYour next message resumes it, or /workflow :resume.",
      ]);
      assert.deepEqual(pauses(await rpc.entries()), [undefined, undefined, { kind: "aborted" }]);

      // The same during a tool call.
      const again = rpc.waitForSettled();
      await rpc.prompt("Go on");
      assert.equal(statusTexts(rpc).at(-1), "The hello > 🔹 Build [2/3]");
      await rpc.waitFor(({ type, toolName }) => type === "tool_execution_start" && toolName === "bash");
      await rpc.send({ type: "abort" });
      await again;
      assert.equal(statusTexts(rpc).at(-1), paused);
      assert.deepEqual(countdownLines(rpc), []);

      // It still waits after a restart.
      await rpc.close();
      const later = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.deepEqual(statusTexts(later), [paused]);
      await later.promptAndSettle("Go on");
      assert.match(contextPrompt(model.lastRequest()) ?? "", /\n\*\*Progress:\*\* Step 1 \(2\/3 phases\)\n/);
      assert.equal(statusTexts(later).at(-1), "The hello > 🔹 Build [2/3]");
      assert.deepEqual(countdownLines(later), [COUNTDOWN]);
    });
  });
}
