// A run from its start to its end: session entries, requests to the model, status bar.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import {
  contextPrompt,
  countdownLines,
  custom,
  ends,
  nextUntilDone,
  notices,
  path,
  state,
  states,
  statusTexts,
  step,
  toolResults,
  userTexts,
  withoutIds,
  workflow,
} from "./harness/workflows.mjs";

const WORKER =
  "You are working through this workflow, one phase at a time. Do the work of the current phase, and only that. Follow the phase instructions precisely.";
const ORCHESTRATOR =
  "You are the ORCHESTRATOR for this workflow. You must NOT use the edit or write tools directly. All implementation work must be delegated to subagents via the delegate_to_subagents tool. Follow the phase instructions precisely.";
/** @param {string} [scope] */
const advance = (scope = "") =>
  `When you finish this phase, call the workflow_step tool with action='next' to advance to the next phase. If you need to restart ${scope}from the beginning, use action='loop'.\n\n` +
  'workflow_step {"action": "next", "summary": "<what you found or did>"}';

const HELLO = workflow("hello", [
  { id: "plan", emoji: "🔍", availableProfiles: ["planner", "scout"] },
  { id: "build", emoji: "🔨", availableProfiles: ["builder", "scout"] },
]);

const LINES = [3, 2, 1].map((seconds) => `⏳ Auto-continuing in ${seconds}s... (type anything to interrupt)`);

/**
 * Returns the context prompt of a phase, with TASK for the task id. `path` has the form of the first line. `steps` are
 * all steps of the run, and the current one has the number `number`.
 *
 * @param {string} path
 * @param {{ task: string, progress: string, pass?: number, steps: string[], number: number, profiles?: string, all?:
 *   string }} more
 */
function prompt(path, { task, progress, pass, steps, number, profiles, all }) {
  const phase = path.split(" ▸ ")[1];
  const name = phase.split(" ")[1];
  const list = steps.map((text, index) =>
    index + 1 === number ? `▸ ${number}. ${text} (current)` : `  ${index + 1}. ${text}`,
  );
  return `[Workflow path: ${path}]

${WORKER}

**Task:** ${task}
**Task ID:** TASK
**Current Phase:** ${phase}
**Progress:** ${progress}${pass ? `\n**Visit:** ${pass}` : ""}

**All steps:**
${list.join("\n")}

**What to do in this phase:**
Do ${name.toLowerCase()} for ${task}.

${profiles ? `**Available subagent profiles for this phase:** ${profiles}\n**All profiles:** ${all}\n` : ""}**Hand-over:** what later phases must know goes into \`summary\`, at most 4,000 characters.

${advance(path.includes(" > ") ? "the current scope " : "")}`;
}

for (const version of VERSIONS) {
  suite(`pi ${version}: a run`, { concurrency: 2 }, () => {
    test("goes through its phases to DONE, and the session has the states", async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), step("next"), { text: "All done." }], {
        globalFiles: HELLO,
      });
      const rpc = await startRpc({ version, sandbox });
      const before = Date.now();
      await rpc.promptAndSettle("/workflow hello Add a route");

      const entries = await rpc.entries();
      assert.deepEqual(states(entries), [
        state("hello", "Add a route"),
        state("hello", "Add a route", { currentPath: path(["hello", 1]), globalStepCount: 1 }),
        state("hello", "Add a route", { currentPath: path(["hello", 1]), globalStepCount: 2, active: false }),
        state("hello", "Add a route", {
          currentPath: path(["hello", 1]),
          globalStepCount: 2,
          active: false,
          completionNotified: true,
        }),
      ]);
      const stored = custom(entries, "workflow:state");
      assert.equal(
        JSON.stringify(stored[0]),
        `{"active":true,"workflowKey":"hello","currentPath":[{"workflowKey":"hello","phaseIndex":0}],"globalStepCount":0,"taskId":"${stored[0].taskId}","taskDescription":"Add a route","startedAt":${stored[0].startedAt},"completionNotified":false,"cancelled":false,"progress":{"version":1,"seal":{"version":3,"hash":"${stored[0].progress.seal.hash}"},"visits":{"hello:0":{"name":"Plan","startedAt":${stored[0].startedAt},"passes":1}},"entry":{"number":1}}}`,
      );
      assert.match(stored[0].progress.seal.hash, /^[0-9a-f]{64}$/);
      assert.equal(new Set(stored.map(({ taskId }) => taskId)).size, 1, "one task id for the whole run");
      assert.ok(stored[0].startedAt >= before && stored[0].startedAt <= Date.now());
      assert.deepEqual(ends(entries), [
        {
          content: `✅ **The hello Complete**\n\n**Task:** Add a route\n**Task ID:** ${stored[0].taskId}\n**Phases completed:** 2`,
          taskId: stored[0].taskId,
          cancelled: false,
          workflow: "The hello",
        },
      ]);
      assert.deepEqual(
        entries.map(({ type, customType, message }) => customType ?? (message ? message.role : type)),
        [
          "model_change",
          "thinking_level_change",
          "workflow:state",
          "session_info",
          "system",
          "user",
          "workflow:context",
          "assistant",
          "workflow:state",
          "toolResult",
          "assistant",
          "workflow:state",
          "toolResult",
          "assistant",
          "workflow:complete",
          "workflow:state",
        ],
      );
      assert.equal((await rpc.state()).sessionName, "Workflow: Add a route");
      assert.deepEqual(statusTexts(rpc), [
        undefined,
        "The hello > 🔍 Plan [1/2]",
        "The hello > 🔨 Build [2/2]",
        undefined,
      ]);

      assert.equal(model.requests.length, 3);
      const hello = { task: "Add a route", steps: ["🔍 Plan", "🔨 Build"], all: "planner, scout, builder" };
      assert.deepEqual(userTexts(model.requests[0]).map(withoutIds), [
        "Start The hello: Add a route",
        prompt("The hello ▸ 🔍 Plan", {
          ...hello,
          progress: "Step 0 (1/2 phases)",
          number: 1,
          profiles: "planner, scout",
        }),
      ]);
      const context = entries.find(({ customType }) => customType === "workflow:context");
      assert.equal(context.type, "custom_message");
      assert.equal(context.display, false);
      const build = { ...hello, progress: "Step 1 (2/2 phases)", number: 2, profiles: "builder, scout" };
      assert.deepEqual(toolResults(model.requests[2]).map(withoutIds), [
        `✓ Advanced: Plan → 🔨 Build\n\n**Previous:** 🔍 Plan\n**Current:** 🔨 Build (2/2)\n**Next:** DONE\n\n${prompt("The hello ▸ 🔨 Build", build)}`,
        "✓ Advanced: Build → DONE\n\n🎉 **All phases complete!**",
      ]);
      const details = entries.filter(({ message }) => message?.role === "toolResult").map((e) => e.message.details);
      assert.deepEqual(details, [
        { advanced: true, from: "Plan", to: "Build" },
        { advanced: true, from: "Build", to: "DONE" },
      ]);
      assert.deepEqual(countdownLines(rpc), [], "there is nothing to continue");
      assert.deepEqual(notices(rpc), []);
      assert.deepEqual(rpc.extensionErrors(), []);

      // The completion message is for the user: no request contains it, nor another context prompt.
      await rpc.promptAndSettle("Thank you");
      assert.deepEqual(userTexts(model.lastRequest()).slice(2), ["Thank you"]);
      assert.doesNotMatch(model.messagesText(), /Phases completed|The hello Complete/);
      assert.equal(ends(await rpc.entries()).length, 1);
      assert.equal(states(await rpc.entries()).length, 4);
    });

    test("is not moved by a call with bad arguments", async (t) => {
      const calls = [{ action: "jump" }, {}, { action: ["next", "loop"] }, { action: null }].map((args) => ({
        name: "workflow_step",
        arguments: args,
      }));
      const { model, sandbox } = await stage(t, [{ calls }, { text: "I rest." }], { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const results = (await rpc.entries()).flatMap(({ message }) => (message?.role === "toolResult" ? [message] : []));
      assert.deepEqual(
        results.map(({ isError }) => isError),
        [true, true, true, true],
      );
      for (const text of toolResults(model.lastRequest())) {
        assert.match(text, /^Validation failed for tool "workflow_step":\n {2}- action/);
      }
      assert.deepEqual(states(await rpc.entries()), [state("hello", "Add a route")]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("offers the agent a tool with this schema", async (t) => {
      const { model, sandbox } = await stage(t, []);
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("Hello");
      const tool = model.requests[0].tools?.find(({ function: { name } }) => name === "workflow_step")?.function;
      assert.equal(
        tool?.description,
        "Show current workflow status, advance to the next phase, loop back to the start of the current scope, or cancel the active workflow. Use this to coordinate any configured workflow.",
      );
      assert.deepEqual(tool?.parameters.required, ["action"]);
      assert.deepEqual(Object.keys(tool?.parameters.properties), ["action", "summary", "outcome", "outputs"]);
      assert.deepEqual(tool?.parameters.properties.action.enum, ["next", "status", "cancel", "loop"]);
      const system = messageText(model.requests[0].messages[0]);
      assert.match(system, /- workflow_step: Advance the active workflow to the next phase/);
      assert.match(system, /- Use workflow_step with action='next' when you finish a phase and want to advance\./);
      assert.deepEqual(userTexts(model.requests[0]), ["Hello"], "no context prompt without a run");
    });
  });

  suite(`pi ${version}: a phase`, { concurrency: 2 }, () => {
    test("refuses the tools it forbids, and tells the model why; workflow_step never", async (t) => {
      const phases = [
        { id: "look", tools: { blacklist: ["bash", "workflow_step"] } },
        { id: "read", tools: { whitelist: ["read"] } },
        { id: "think", tools: { whitelist: [] } },
        { id: "free" },
      ];
      const read = { name: "read", arguments: { path: "note.txt" } };
      const touch = { name: "bash", arguments: { command: "echo >> touched" } };
      const nextCall = step("next").calls[0];
      const { model, sandbox } = await stage(
        t,
        [
          { calls: [touch, read, nextCall] },
          { calls: [touch, read, nextCall] },
          { calls: [read, nextCall] },
          // A call is checked against the phase that the calls before it led to.
          { calls: [touch, nextCall] },
        ],
        { globalFiles: workflow("gate", phases), files: { "note.txt": "the note\n" } },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow gate Look");
      /** @param {string} tool @param {string} phase @param {string} rule */
      const refused = (tool, phase, rule) =>
        `[workflow] The tool "${tool}" is blocked during the ${phase} phase.\nRefer to the current phase instructions for allowed tools and approaches.\nWhen finished, call workflow_step to advance to the next phase.\nTools in this phase: ${rule}. workflow_step always works.`;
      const notBash = "all except bash; a call of one of those is refused";
      const results = (await rpc.entries()).flatMap(({ message }) => (message?.role === "toolResult" ? [message] : []));
      const line = (/** @type {any} */ { isError, content }) =>
        `${isError ? "✗" : "✓"} ${content[0].text.split("\n\n")[0]}`;
      assert.deepEqual(results.map(line), [
        `✗ ${refused("bash", "Look", notBash)}`,
        "✓ the note\n",
        "✓ ✓ Advanced: Look → 🔹 Read",
        `✗ ${refused("bash", "Read", "only read; a call of any other is refused")}`,
        "✓ the note\n",
        "✓ ✓ Advanced: Read → 🔹 Think",
        `✗ ${refused("read", "Think", "none; every call is refused")}`,
        "✓ ✓ Advanced: Think → 🔹 Free",
        "✓ (no output)",
        "✓ ✓ Advanced: Free → DONE",
      ]);
      assert.equal(readFileSync(`${sandbox.project}/touched`, "utf8"), "\n", "only the allowed calls ran");
      assert.equal(toolResults(model.lastRequest())[0], refused("bash", "Look", notBash));
    });

    test("tells the agent to delegate only if there is a tool for that", async (t) => {
      const globalFiles = {
        ...workflow("plain", ["a"]),
        ...workflow("own", ["a"], { roleInstruction: "You are {workflowName}." }),
      };
      const files = {
        "delegate.ts": `export default (pi) => pi.registerTool({
          name: "delegate_to_subagents",
          label: "Delegate",
          description: "Hands work to a subagent.",
          parameters: { type: "object", properties: {} },
          execute: async () => ({ content: [{ type: "text", text: "done" }], details: {} }),
        });`,
      };
      const { model, sandbox } = await stage(t, nextUntilDone, { globalFiles, files });
      const rpc = await startRpc({ version, sandbox, extension: [REPO, `${sandbox.project}/delegate.ts`] });
      await rpc.promptAndSettle("/workflow plain Look");
      assert.ok(model.toolNames(0).includes("delegate_to_subagents"));
      assert.equal(contextPrompt(model.requests[0])?.split("\n\n")[1], ORCHESTRATOR);
      await rpc.promptAndSettle("/workflow own Look");
      assert.equal(contextPrompt(model.lastRequest())?.split("\n\n")[1], "You are The own.");
    });
  });

  suite(`pi ${version}: an agent that stops too early`, { concurrency: 4 }, () => {
    test("is told to go on after three seconds", async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), { text: "I rest." }, step("next"), { text: "Done." }], {
        globalFiles: HELLO,
      });
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow hello Add a route");
      await settled;
      const widget = rpc.ui("setWidget")[0];
      assert.deepEqual(
        [widget.widgetKey, widget.widgetLines, widget.widgetPlacement],
        ["workflow-countdown", [LINES[0]], "aboveEditor"],
      );
      await rpc.waitForSettled();
      assert.deepEqual(countdownLines(rpc), [...LINES, undefined]);
      assert.deepEqual(
        userTexts(model.requests[2]).map(withoutIds).at(-2),
        `⚠️ The The hello is still active. Current phase: 🔨 Build.

You must NOT stop yet. The workflow requires you to complete the current phase and call workflow_step to advance.

Current phase instructions:
(as given for this phase)

Continue working on the current phase and call workflow_step when done.`,
      );
      assert.match(userTexts(model.requests[2]).at(-1) ?? "", /^\[Workflow path: The hello ▸ 🔨 Build\]\nStep 2\/2\. /);
      assert.equal(states(await rpc.entries()).at(-1).completionNotified, true);
      assert.equal(model.requests.length, 4);
    });

    test("is told to go on when pi has compacted the conversation", LONG, async (t) => {
      const compaction = { enabled: true, keepRecentTokens: 10, reserveTokens: 500 };
      const { sandbox } = await stage(
        t,
        (request, index) => {
          // pi's request for a summary offers no tools.
          if (!request.tools?.length) return { text: "What was.", delayMs: 300 };
          return index === 0 ? { text: "I rest.", usage: { prompt: 7800 } } : nextUntilDone(request);
        },
        { globalFiles: HELLO, settings: { compaction }, modelConfig: { contextWindow: 8000 } },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const at = (/** @type {(record: any) => boolean} */ which) => rpc.records.findIndex(which);
      const compacted = at(({ type }) => type === "compaction_end");
      assert.ok(compacted > 0);
      assert.ok(at(({ method }) => method === "setWidget") > compacted, "the countdown waits for it");
      await rpc.waitForSettled();
      assert.equal(states(await rpc.entries()).at(-1).completionNotified, true);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("gets no reminder while pi retries a failed request", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), { status: 500 }, step("next"), { text: "Done." }], {
        globalFiles: HELLO,
        settings: { retry: { enabled: true, baseDelayMs: 3500 } },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.deepEqual(userTexts(model.lastRequest()).map(withoutIds).slice(2), [], "no reminder is sent");
      assert.deepEqual(countdownLines(rpc), []);
    });
  });
}
