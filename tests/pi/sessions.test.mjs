// Runs and sessions: restarts, old and broken entries, other branches, other sessions.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
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
  nextUntilDone,
  notices,
  path,
  paths,
  pauses,
  shortCountdownIsOver,
  state,
  states,
  statusTexts,
  step,
  steps,
  toolResults,
  userTexts,
  waiting,
  withoutIds,
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
 * Writes a session file with these `workflow:state` entries, each between a prompt and an answer.
 *
 * @param {Sandbox} sandbox
 * @param {string} name
 * @param {unknown[]} list the entries' data; `undefined` for an entry without
 */
function writeSession(sandbox, name, list) {
  const timestamp = "2026-01-02T03:04:05.000Z";
  const time = Date.parse(timestamp);
  const usage = {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  /** @type {object[]} */
  const entries = list.flatMap((data) => [
    { type: "message", message: { role: "user", content: [{ type: "text", text: "Hello" }], timestamp: time } },
    {
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "text", text: "Hi." }],
        api: "openai-completions",
        provider: "scripted",
        model: "scripted",
        usage,
        stopReason: "stop",
        timestamp: time,
      },
    },
    { type: "custom", customType: "workflow:state", data },
  ]);
  const id = (/** @type {number} */ index) => String(index).padStart(8, "0");
  const header = { type: "session", version: 3, id: `0197${name.padEnd(4, "0")}`, timestamp, cwd: sandbox.project };
  const lines = entries.map((entry, index) => ({
    ...entry,
    id: id(index),
    parentId: index ? id(index - 1) : null,
    timestamp,
  }));
  const file = join(sandbox.root, `${name}.jsonl`);
  writeFileSync(file, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

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

/** Returns a stored state in the form of the reference. @param {object} [changes] @returns {Record<string, any>} */
function stored(changes) {
  return { ...state("hello", "Add a route"), taskId: "wf-1747234567890-a3f9k2", startedAt: 1747234567890, ...changes };
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

    test("continues a nested run after a loop and a kill", async (t) => {
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

    test("drops a pending `cancel`", async (t) => {
      const { model, sandbox } = await stage(t, [step("cancel"), REST, step("cancel"), REST], { globalFiles: HELLO });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello Add a route");
      await first.close();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("Go on");
      const results = toolResults(model.lastRequest());
      assert.equal(results.length, 2);
      for (const text of results) assert.match(text, /^⚠️ \*\*Confirm cancellation\*\*/);
      assert.deepEqual(states(await rpc.entries()), [state("hello", "Add a route")]);
    });

    test("announces an end that was stored and not announced", async (t) => {
      const { sandbox } = await stage(t, [], { globalFiles: HELLO });
      const done = { active: false, currentPath: path(["hello", 2]), globalStepCount: 3 };
      for (const [name, changes, content] of /** @type {const} */ ([
        [
          "done",
          done,
          "✅ **The hello Complete**\n\n**Task:** Add a route\n**Task ID:** TASK\n**Phases completed:** 3",
        ],
        [
          "gone",
          { ...done, cancelled: true },
          "❌ **The hello Cancelled**\n\n**Task:** Add a route\n**Task ID:** TASK",
        ],
      ])) {
        const file = writeSession(sandbox, name, [stored(changes)]);
        const rpc = await startRpc({ version, sandbox, args: ["--session", file] });
        assert.deepEqual(statusTexts(rpc), [undefined]);
        await rpc.promptAndSettle("Hello");
        await rpc.promptAndSettle("Again");
        const entries = await rpc.entries();
        assert.deepEqual(
          ends(entries).map((data) => withoutIds(data.content)),
          [content],
        );
        assert.deepEqual(states(entries).at(-1), {
          ...state("hello", "Add a route"),
          ...changes,
          completionNotified: true,
        });
        assert.equal(states(entries).length, 2);
        await rpc.close();
      }
    });

    test("without the workflow's files refuses every action, and the user can cancel", async (t) => {
      const read = { calls: [{ name: "read", arguments: { path: "x" } }] };
      const { model, sandbox } = await stage(
        t,
        [
          step("next"),
          REST,
          { calls: [...step("status", "next", "loop", "cancel", "cancel").calls, ...read.calls] },
          { text: "Stopped." },
        ],
        { globalFiles: { ...HELLO, ...workflow("other", ["x"]) } },
      );
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello Add a route");
      await first.close();
      rmSync(join(sandbox.agent, "workflows/hello"), { recursive: true });

      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.deepEqual(statusTexts(rpc), ["⏸ hello (paused: its files cannot be read)"]);
      assert.match(
        notices(rpc)[0],
        /^warning: ⏸ hello is paused: .*\nAll tool calls are refused until .* \/workflow :cancel ends the run\.$/,
      );
      await rpc.prompt("/workflow other Do it");
      assert.equal(rpc.ui("confirm")[0].message, "Phase: unknown\nTask: Add a route\n\nStart a new one?");
      rpc.onDialog(() => true);
      await rpc.promptAndSettle("Go on");
      const gone =
        "The workflow configuration for this session is no longer available. Use workflow_step with action='cancel' to clear it, or reload the workflow definitions.";
      const held =
        "The workflow is paused: the files of the workflow “hello” cannot be read. All tool calls are refused until the user has decided; only workflow_step with action='status' answers. Stop here and wait for the user.";
      assert.deepEqual(toolResults(model.lastRequest()).slice(1), [
        `${gone}\n\n${held}`,
        `Workflow definition 'hello' not found.\n\n${held}`,
        `⚠️ The workflow is no longer available.\n\n${held}`,
        held,
        held,
        held,
      ]);
      const details = (await rpc.entries()).flatMap(({ message }) =>
        message?.role === "toolResult" ? [message.details] : [],
      );
      assert.deepEqual(details[1], { active: false, stale: true });
      assert.equal(userTexts(model.requests[2]).at(-1), "Go on", "there is no context prompt");
      assert.equal(states(await rpc.entries()).at(-1).cancelled, false);
      assert.deepEqual(countdownLines(rpc), []);
      await rpc.prompt("/cancel-workflow");
      assert.equal(notices(rpc).at(-1), "info: Workflow cancelled.");
      assert.equal(states(await rpc.entries()).at(-1).cancelled, true);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("after the files are restored goes on; /cancel-workflow needs no files", async (t) => {
      const { sandbox } = await stage(t, [REST], { globalFiles: HELLO });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello Add a route");
      await first.close();
      const [yaml, folder] = ["workflow.yaml", ""].map((name) => join(sandbox.agent, "workflows/hello", name));
      // First one phase is removed, then the whole workflow.
      writeFileSync(yaml, HELLO["hello/workflow.yaml"].replace(/"plan.md",/, ""));
      const again = await startRpc({ version, sandbox, args: ["--continue"] });
      const changed = "⏸ The hello > 🔹 Build [1/2] (paused: its rules have changed)";
      assert.deepEqual(statusTexts(again), [changed]);
      writeFileSync(yaml, HELLO["hello/workflow.yaml"]);
      await again.prompt("/workflow :status");
      assert.deepEqual(statusTexts(again), [changed, waiting("The hello > 🔹 Plan [1/3]")]);
      await again.close();
      rmSync(folder, { recursive: true });
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.prompt("/cancel-workflow");
      assert.equal(notices(rpc).at(-1), "info: Workflow cancelled.");
      const [complete] = ends(await rpc.entries());
      assert.equal(
        withoutIds(complete.content),
        "❌ **Workflow Cancelled**\n\n**Task:** Add a route\n**Task ID:** TASK",
      );
    });
  });

  suite(`pi ${version}: entries of a session`, { concurrency: 2 }, () => {
    test("of older formats are read", async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, { globalFiles: { ...HELLO, ...NESTED } });
      const { currentPath: _path, globalStepCount: _steps, ...oldest } = stored({ currentPhaseIndex: 1 });
      const { globalStepCount: _count, ...old } = stored({
        workflowKey: "outer",
        currentPath: path(["outer", 1], ["inner", 1]),
      });
      const optional = stored({ currentPath: path(["hello", 1]) });
      for (const field of ["taskId", "completionNotified", "cancelled"]) delete optional[field];
      const rpc = await startRpc({ version, sandbox });
      for (const [name, data, status, next, count] of /** @type {const} */ ([
        ["one", oldest, "The hello > 🔹 Build [2/3]", "hello:2", 2],
        ["two", old, "The outer > The inner [2/3] > 🔹 C [2/2]", "outer:2", 2],
        ["few", optional, "The hello > 🔹 Build [2/3]", "hello:2", 1],
        [
          "odd",
          stored({ globalStepCount: -4.5, startedAt: -1e99, taskDescription: 7 }),
          "The hello > 🔹 Plan [1/3]",
          "hello:1",
          1,
        ],
        ["new", stored({ _cancelPending: true, future: { x: 1 } }), "The hello > 🔹 Plan [1/3]", "hello:1", 1],
      ])) {
        await rpc.send({ type: "switch_session", sessionPath: writeSession(sandbox, name, [data]) });
        assert.equal(statusTexts(rpc).at(-1), waiting(status), name);
        await rpc.promptAndSettle("Go on");
        const list = custom(await rpc.entries(), "workflow:state").slice(1);
        assert.equal(paths(list)[0], next, name);
        assert.equal(list[0].globalStepCount, count, name);
        assert.equal(list.at(-1).completionNotified, true, name);
        assert.ok(!("currentPhaseIndex" in list[0] || "_cancelPending" in list[0]), name);
      }
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("that are malformed hold, unless they have ended", async (t) => {
      const { model, sandbox } = await stage(t, [], { globalFiles: HELLO });
      const at = (/** @type {unknown} */ phaseIndex) => stored({ currentPath: [{ workflowKey: "hello", phaseIndex }] });
      const { currentPath: _path, ...pathless } = stored();
      const cases = {
        minus: at(-1),
        half: at(0.5),
        huge: at(1e300),
        words: at("1"),
        none: at(null),
        empty: stored({ currentPath: [] }),
        mapping: stored({ currentPath: {} }),
        text: stored({ currentPath: "hello" }),
        holes: stored({ currentPath: [null] }),
        number: stored({ currentPath: [{ workflowKey: 1, phaseIndex: 0 }] }),
        pathless,
        oldminus: { ...pathless, currentPhaseIndex: -1 },
        oldhalf: { ...pathless, currentPhaseIndex: 1.5 },
        active: stored({ active: "yes" }),
        key: stored({ workflowKey: ["hello"] }),
        count: stored({ globalStepCount: "4" }),
        started: stored({ startedAt: null }),
        task: stored({ taskId: 7 }),
        cancelled: stored({ cancelled: 0 }),
        // The newest entry that names a workflow counts.
        newest: [stored(), at(-1)],
      };
      const none = {
        nothing: [undefined, null, 7, "x", [], {}, { workflowKey: null }],
        ended: [stored(), { ...at(-1), active: false }],
      };
      const rpc = await startRpc({ version, sandbox });
      for (const [name, data] of Object.entries(cases)) {
        const list = Array.isArray(data) ? data : [data];
        const response = await rpc.send({ type: "switch_session", sessionPath: writeSession(sandbox, name, list) });
        assert.equal(response.success, true, name);
        assert.equal(statusTexts(rpc).at(-1), "⏸ The stored run (paused: its state cannot be read)", name);
        await rpc.prompt("/workflow :resume");
        assert.equal(custom(await rpc.entries(), "workflow:state").length, list.length, name);
        await rpc.prompt("/cancel-workflow");
        assert.equal(custom(await rpc.entries(), "workflow:state").at(-1).cancelled, true, name);
        assert.equal(statusTexts(rpc).at(-1), undefined, name);
      }
      for (const [name, list] of Object.entries(none)) {
        await rpc.send({ type: "switch_session", sessionPath: writeSession(sandbox, name, list) });
        assert.equal(statusTexts(rpc).at(-1), undefined, name);
        await rpc.prompt("/cancel-workflow");
        assert.equal(notices(rpc).at(-1), "info: No active workflow to cancel.", name);
        assert.equal(custom(await rpc.entries(), "workflow:state").length, list.length, name);
      }
      // Entries that name no workflow are ignored.
      const file = writeSession(sandbox, "over", [stored(), undefined, null, 7, {}, { workflowKey: null }]);
      await rpc.send({ type: "switch_session", sessionPath: file });
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Plan [1/3]"));
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.equal(rpc.stderr(), "");
      assert.equal(model.requests.length, 0);
    });

    test("that point past the end of a workflow are a run that only `:cancel` changes", async (t) => {
      const { model, sandbox } = await stage(t, [step("status", "next", "cancel"), { text: "Hm." }], {
        globalFiles: HELLO,
      });
      const rpc = await startRpc({ version, sandbox, onDialog: () => true });
      const file = writeSession(sandbox, "past", [stored({ currentPath: path(["hello", Number.MAX_SAFE_INTEGER]) })]);
      await rpc.send({ type: "switch_session", sessionPath: file });
      assert.equal(statusTexts(rpc).at(-1), "⏸ The hello (paused: its phase is gone)");
      await rpc.promptAndSettle("Go on");
      assert.match(
        toolResults(model.lastRequest())[0],
        /^The workflow configuration for this session is no longer available\./,
      );
      assert.match(
        toolResults(model.lastRequest())[1],
        /^Workflow definition 'hello' not found\.\n\nThe workflow is paused: /,
      );
      assert.match(toolResults(model.lastRequest())[2], /^The workflow is paused: /);
      assert.deepEqual(countdownLines(rpc), []);
      await rpc.prompt("/workflow :resume");
      await rpc.prompt("/workflow :cancel");
      assert.equal(states(await rpc.entries()).at(-1).cancelled, true);
      assert.deepEqual(rpc.extensionErrors(), []);
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

    test("in a new session has no run; the old one keeps its own", async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), REST, REST], {
        globalFiles: workflow("hello", ["plan", "build", "check"], SHORT_COUNTDOWN),
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

    test("removes a countdown from the screen", async (t) => {
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
    test("a reload, which reads the files again", async (t) => {
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

    test("a compaction, and a restart after it", async (t) => {
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

    test("a compaction that takes longer than the countdown, without an error", async (t) => {
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

    test("an abort, after which it waits for the user", async (t) => {
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
