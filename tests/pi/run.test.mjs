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
  SHORT_COUNTDOWN,
  contextPrompt,
  countdownLines,
  custom,
  ends,
  nextUntilDone,
  notices,
  path,
  paths,
  shortCountdownIsOver,
  state,
  states,
  statusTexts,
  step,
  steps,
  toolResults,
  userTexts,
  withoutIds,
  workflow,
} from "./harness/workflows.mjs";

const WORKER =
  "You are working through this workflow, one phase at a time. Do the work of the current phase, and only that. Follow the phase instructions precisely.";
const ORCHESTRATOR =
  "You are the ORCHESTRATOR for this workflow. You must NOT use the edit or write tools directly. All implementation work must be delegated to subagents via the delegate_to_subagents tool. Follow the phase instructions precisely.";
const ADVANCE =
  "When you finish this phase, call the workflow_step tool with action='next' to advance to the next phase. If you need to restart the current scope from the beginning, use action='loop'.";

const HELLO = workflow("hello", [
  { id: "plan", emoji: "🔍", availableProfiles: ["planner", "scout"] },
  { id: "build", emoji: "🔨", availableProfiles: ["builder", "scout"] },
]);

/** Nested workflows: release > review > security > probe. */
const RELEASE = {
  ...workflow("release", ["prepare", "@review", { id: "ship", availableProfiles: ["shipper"] }], {
    name: "Release Pipeline",
  }),
  ...workflow("review", ["check", "@security"], { name: "Code Review", show: "workflows" }),
  ...workflow("security", [{ id: "scan", availableProfiles: ["prober"] }, "@probe"], {
    name: "Security",
    show: "workflows",
  }),
  ...workflow("probe", ["poke", "report"], { name: "Probe", show: "workflows" }),
};

const LINES = [3, 2, 1].map((seconds) => `⏳ Auto-continuing in ${seconds}s... (type anything to interrupt)`);

/**
 * Returns the context prompt of a phase, with TASK for the task id. `path` has the form of the first line. `steps` are
 * all steps of the run, and the current one has the number `number`.
 *
 * @param {string} path
 * @param {{ task: string, progress: string, pass?: number, steps: string[], number: number, profiles?: string, all?:
 *   string }} more
 */
function prompt(path, { task, progress, pass, steps, number, profiles = "(none)", all = "(none)" }) {
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
**Progress:** ${progress}${pass ? `\n**Pass:** ${pass}` : ""}

**All steps:**
${list.join("\n")}

**What to do in this phase:**
Do ${name.toLowerCase()} for ${task}.

**Available subagent profiles for this phase:** ${profiles}
**All profiles:** ${all}
**Tools in this phase:** all. workflow_step always works.
**Hand-over:** what later phases must know, give workflow_step a \`summary\` of at most 4,000 characters.

${ADVANCE}`;
}

/** @param {string} text @param {string} [name] */
const bash = (text, name = "bash") => ({ calls: [{ name, arguments: { command: `echo ${text}` } }] });

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
        `{"active":true,"workflowKey":"hello","currentPath":[{"workflowKey":"hello","phaseIndex":0}],"globalStepCount":0,"taskId":"${stored[0].taskId}","taskDescription":"Add a route","startedAt":${stored[0].startedAt},"completionNotified":false,"cancelled":false,"progress":{"version":1,"seal":{"version":1,"hash":"${stored[0].progress.seal.hash}"},"visits":{"hello:0":{"name":"Plan","startedAt":${stored[0].startedAt},"passes":1}},"entry":{"number":1}}}`,
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

    test("enters and leaves nested workflows, several scopes at once", async (t) => {
      const { model, sandbox } = await stage(
        t,
        [...steps("next", "next"), { text: "I rest." }, ...steps("status", "next", "next", "next", "next")],
        { globalFiles: RELEASE },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow release Ship 2.0");
      await rpc.promptAndSettle("Where are you?");
      assert.equal(
        contextPrompt(model.requests[3]),
        "[Workflow path: Release Pipeline > Code Review > Security ▸ 🔹 Scan]\nStep 3/6. The instructions of this phase stand above and still hold. Phase done? Call workflow_step with action='next'.",
      );

      const entries = await rpc.entries();
      const list = states(entries);
      assert.deepEqual(paths(list), [
        "release:0",
        "release:1 review:0",
        "release:1 review:1 security:0",
        "release:1 review:1 security:1 probe:0",
        "release:1 review:1 security:1 probe:1",
        "release:2",
        "release:2",
        "release:2",
      ]);
      assert.deepEqual(
        list.map(({ globalStepCount }) => globalStepCount),
        [0, 1, 2, 3, 4, 5, 6, 6],
      );
      assert.deepEqual(statusTexts(rpc), [
        undefined,
        "Release Pipeline > 🔹 Prepare [1/3]",
        "Release Pipeline > Code Review [2/3] > 🔹 Check [1/2]",
        "Release Pipeline > Code Review [2/3] > Security [2/2] > 🔹 Scan [1/2]",
        "Release Pipeline > Code Review [2/3] > Security [2/2] > Probe [2/2] > 🔹 Poke [1/2]",
        "Release Pipeline > Code Review [2/3] > Security [2/2] > Probe [2/2] > 🔹 Report [2/2]",
        "Release Pipeline > 🔹 Ship [3/3]",
        undefined,
      ]);
      const started = new Date(custom(entries, "workflow:state")[0].startedAt).toISOString();
      const names = [
        "🔹 Prepare",
        "Code Review > 🔹 Check",
        "Code Review > Security > 🔹 Scan",
        "Code Review > Security > Probe > 🔹 Poke",
        "Code Review > Security > Probe > 🔹 Report",
        "🔹 Ship",
      ];
      /** @param {string} path @param {number} number @param {string} position @param {string} [profiles] */
      const given = (path, number, position, profiles) =>
        prompt(path, {
          task: "Ship 2.0",
          progress: `Step ${number - 1} (${position})`,
          steps: names,
          number,
          profiles,
          all: "prober, shipper",
        });
      const security = "Release Pipeline > Code Review > Security";
      assert.deepEqual(toolResults(model.lastRequest()).map(withoutIds), [
        `✓ Entered subworkflow 'Code Review': Prepare → 🔹 Check\n\n**Previous:** 🔹 Prepare\n**Current:** Code Review > 🔹 Check (2/6)\n**Next:** Code Review > Security > 🔹 Scan\n\n${given("Release Pipeline > Code Review ▸ 🔹 Check", 2, "1/2 in current scope")}`,
        `✓ Entered subworkflow 'Security': Check → 🔹 Scan\n\n**Previous:** Code Review > 🔹 Check\n**Current:** Code Review > Security > 🔹 Scan (3/6)\n**Next:** Code Review > Security > Probe > 🔹 Poke\n\n${given(`${security} ▸ 🔹 Scan`, 3, "1/2 in current scope", "prober")}`,
        `**Workflow:** Release Pipeline (release)
**Task ID:** TASK
**Description:** Ship 2.0
**Path:** Release Pipeline > Code Review > Security
**Phase:** 🔹 Scan [1/2] (step 2)
**Started:** ${started}

**What to do:**
Do scan for Ship 2.0.

**Available profiles:** prober`,
        `✓ Entered subworkflow 'Probe': Scan → 🔹 Poke\n\n**Previous:** Code Review > Security > 🔹 Scan\n**Current:** Code Review > Security > Probe > 🔹 Poke (4/6)\n**Next:** Code Review > Security > Probe > 🔹 Report\n\n${given(`${security} > Probe ▸ 🔹 Poke`, 4, "1/2 in current scope")}`,
        `✓ Advanced: Poke → 🔹 Report\n\n**Previous:** Code Review > Security > Probe > 🔹 Poke\n**Current:** Code Review > Security > Probe > 🔹 Report (5/6)\n**Next:** 🔹 Ship\n\n${given(`${security} > Probe ▸ 🔹 Report`, 5, "2/2 in current scope")}`,
        `✓ Exited subworkflow, returning to Release Pipeline: Report → 🔹 Ship\n\n**Previous:** Code Review > Security > Probe > 🔹 Report\n**Current:** 🔹 Ship (6/6)\n**Next:** DONE\n\n${given("Release Pipeline ▸ 🔹 Ship", 6, "3/3 phases", "shipper")}`,
        "✓ Advanced: Ship → DONE\n\n🎉 **All phases complete!**",
      ]);
      const [complete] = ends(entries);
      assert.match(complete.content, /^✅ \*\*Release Pipeline Complete\*\*[^]*\*\*Phases completed:\*\* 3$/);
    });

    test("begins and ends inside nested workflows; a loop there enters its first phase again", async (t) => {
      const initialMessage = "{firstPhaseId} {firstPhaseName} {firstPhaseEmoji} {firstPhaseProfiles}";
      const globalFiles = {
        ...workflow("outer", ["@middle"], { initialMessage }),
        ...workflow("middle", ["@inner", "sign"]),
        ...workflow("inner", [{ id: "dig", emoji: "⛏️", availableProfiles: ["digger"] }]),
      };
      const { model, sandbox } = await stage(t, steps("next", "loop", "next", "next"), {
        globalFiles,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow outer Find gold");
      assert.equal(userTexts(model.requests[0])[0], "dig Dig ⛏️ digger");
      assert.match(
        contextPrompt(model.requests[0]) ?? "",
        /^\[Workflow path: The outer > The middle > The inner ▸ ⛏️ Dig\]\n/,
      );
      const list = states(await rpc.entries());
      assert.deepEqual(paths(list), [
        "outer:0 middle:0 inner:0",
        "outer:0 middle:1",
        "outer:0 middle:0 inner:0",
        "outer:0 middle:1",
        "outer:1",
        "outer:1",
      ]);
      assert.deepEqual(
        list.map(({ globalStepCount }) => globalStepCount),
        [0, 1, 2, 3, 4, 4],
      );
      assert.deepEqual(list.at(-1), {
        ...state("outer", "Find gold", { currentPath: path(["outer", 1]), globalStepCount: 4 }),
        active: false,
        completionNotified: true,
      });
      const results = toolResults(model.lastRequest());
      assert.match(results[0], /^✓ Exited subworkflow, returning to The outer > The middle: Dig → 🔹 Sign\n/);
      const again = {
        task: "Find gold",
        progress: "Step 2 (1/1 in current scope)",
        pass: 2,
        steps: ["The middle > The inner > ⛏️ Dig", "The middle > 🔹 Sign"],
        number: 1,
        profiles: "digger",
        all: "digger",
      };
      assert.equal(
        withoutIds(results[1]),
        `🔄 Looped 'The middle' back to: ⛏️ Dig\n\n${prompt("The outer > The middle > The inner ▸ ⛏️ Dig", again)}`,
      );
      assert.equal(results[3], "✓ Advanced: Sign → DONE\n\n🎉 **All phases complete!**");
    });

    test("tells steps of the same name apart", async (t) => {
      const globalFiles = {
        ...workflow("outer", ["@inner", "@inner", "b"]),
        ...workflow("inner", ["b"], { name: "Inner" }),
      };
      const { model, sandbox } = await stage(t, [...steps("next"), { text: "I rest." }, step("next")], { globalFiles });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow outer Dig");
      await rpc.promptAndSettle("Where are you?");
      assert.match(
        contextPrompt(model.requests[2]) ?? "",
        /^\[Workflow path: The outer > Inner ▸ 🔹 B\]\nStep 2\/3\. /,
      );
      assert.match(
        toolResults(model.requests[2])[0],
        /\n {2}1\. Inner > 🔹 B\n▸ 2\. Inner > 🔹 B \(current\)\n {2}3\. 🔹 B\n\n/,
      );
      const [once, twice] = toolResults(model.lastRequest());
      assert.match(
        once,
        /\*\*Previous:\*\* Inner > 🔹 B\n\*\*Current:\*\* Inner > 🔹 B \(2\/3\)\n\*\*Next:\*\* 🔹 B\n/,
      );
      assert.match(twice, /\*\*Previous:\*\* Inner > 🔹 B\n\*\*Current:\*\* 🔹 B \(3\/3\)\n\*\*Next:\*\* DONE\n/);
      assert.deepEqual(paths(states(await rpc.entries())), ["outer:0 inner:0", "outer:1 inner:0", "outer:2"]);
    });

    test("loops in its innermost scope, unless that says `loopable: false`", async (t) => {
      const globalFiles = {
        ...workflow("outer", ["a", "b", "@inner", "z"]),
        ...workflow("inner", ["c", "d"], { loopable: false, show: "workflows" }),
      };
      const script = steps("next", "loop", "next", "next", "next", "loop", "next", "loop");
      const { model, sandbox } = await stage(t, script, { globalFiles });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow outer Dig");
      const list = states(await rpc.entries());
      assert.deepEqual(paths(list), [
        "outer:0",
        "outer:1",
        "outer:0",
        "outer:1",
        "outer:2 inner:0",
        "outer:2 inner:1",
        // The refused loop stores no state and is not counted.
        "outer:3",
        "outer:0",
      ]);
      assert.deepEqual(
        list.map(({ globalStepCount }) => globalStepCount),
        [0, 1, 2, 3, 4, 5, 6, 7],
      );
      const results = (await rpc.entries()).flatMap(({ message }) => (message?.role === "toolResult" ? message : []));
      const again = {
        task: "Dig",
        progress: "Step 2 (1/4 phases)",
        pass: 2,
        steps: ["🔹 A", "🔹 B", "The inner > 🔹 C", "The inner > 🔹 D", "🔹 Z"],
        number: 1,
      };
      assert.equal(
        withoutIds(results[1].content[0].text),
        `🔄 Looped 'The outer' back to: 🔹 A\n\n${prompt("The outer ▸ 🔹 A", again)}`,
      );
      assert.deepEqual(results[1].details, { looped: true, to: "A" });
      assert.equal(results[5].content[0].text, "⚠️ Looping is disabled for this workflow.");
      assert.deepEqual(results[5].details, { active: true, error: "Looping is disabled for this workflow." });
      assert.deepEqual(results[7].details, { looped: true, to: "A" });
      assert.ok(model.requests.length > 8);
    });

    test("answers `status`, and every action where there is no run", async (t) => {
      const { model, sandbox } = await stage(
        t,
        [...steps("status", "next", "loop", "cancel"), { text: "None." }, step("status"), { text: "Here." }],
        { globalFiles: HELLO },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("Try it");
      const none = "No active workflow. Use /workflow {name} {description} to start one.";
      assert.deepEqual(toolResults(model.lastRequest()), [
        none,
        none,
        "No active workflow to loop.",
        "No active workflow to cancel.",
      ]);
      await rpc.promptAndSettle("/workflow hello Look around");
      const started = new Date(custom(await rpc.entries(), "workflow:state")[0].startedAt).toISOString();
      assert.equal(
        withoutIds(toolResults(model.lastRequest()).at(-1)),
        `**Workflow:** The hello (hello)
**Task ID:** TASK
**Description:** Look around
**Phase:** 🔍 Plan [1/2]
**Started:** ${started}

**What to do:**
Do plan for Look around.

**Available profiles:** planner, scout`,
      );
      const details = (await rpc.entries()).flatMap(({ message }) =>
        message?.role === "toolResult" ? [message.details] : [],
      );
      assert.deepEqual(details, [
        ...Array(4).fill({ active: false }),
        { active: true, workflowKey: "hello", currentPath: path(["hello", 0]) },
      ]);
      assert.equal(states(await rpc.entries()).length, 1, "looking around stores nothing");
    });

    test("ends when the agent calls `cancel` twice and the user agrees", async (t) => {
      const { model, sandbox } = await stage(t, [step("cancel"), step("cancel"), { text: "Stopped." }], {
        globalFiles: HELLO,
      });
      const rpc = await startRpc({ version, sandbox, onDialog: () => true });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.deepEqual(
        rpc.ui("confirm").map(({ title, message }) => [title, message]),
        [["Cancel the workflow?", "Add a route\n\nThe agent wants to cancel this workflow. Cancel it?"]],
      );
      assert.deepEqual(toolResults(model.lastRequest()), [
        "⚠️ **Confirm cancellation** of workflow \"The hello\"?\nCall workflow_step with action='cancel' again to confirm. This cannot be undone.",
        'Workflow cancelled: "Add a route"',
      ]);
      const entries = await rpc.entries();
      assert.deepEqual(
        entries.flatMap(({ message }) => (message?.role === "toolResult" ? [message.details] : [])),
        [
          { active: true, cancelPending: true },
          { active: false, cancelled: true },
        ],
      );
      const cancelled = state("hello", "Add a route", { active: false, cancelled: true });
      assert.deepEqual(states(entries), [
        state("hello", "Add a route"),
        cancelled,
        { ...cancelled, completionNotified: true },
      ]);
      const [{ taskId }] = custom(entries, "workflow:state");
      assert.deepEqual(ends(entries), [
        {
          content: `❌ **The hello Cancelled**\n\n**Task:** Add a route\n**Task ID:** ${taskId}`,
          taskId,
          cancelled: true,
          workflow: "The hello",
        },
      ]);
      assert.deepEqual(statusTexts(rpc), [undefined, "The hello > 🔍 Plan [1/2]", undefined]);
      assert.deepEqual(countdownLines(rpc), []);
      await rpc.promptAndSettle("And now?");
      assert.doesNotMatch(model.messagesText(), /The hello Cancelled/);
    });

    test("goes on when the user declines the cancellation", async (t) => {
      const script = [step("cancel", "cancel"), step("cancel"), step("cancel"), { text: "I rest." }];
      const { model, sandbox } = await stage(t, script, { globalFiles: HELLO });
      /** @type {(boolean | undefined)[]} */
      const answers = [false, undefined];
      const rpc = await startRpc({ version, sandbox, onDialog: () => answers.shift() });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const declined = "The user declined: the workflow is not cancelled. Continue with the current phase.";
      const results = toolResults(model.lastRequest());
      assert.deepEqual([results[1], results[3]], [declined, declined]);
      assert.match(results[2], /^⚠️ \*\*Confirm cancellation\*\*/, "it begins anew");
      const details = (await rpc.entries()).flatMap(({ message }) =>
        message?.role === "toolResult" ? [message.details] : [],
      );
      assert.deepEqual(details[1], { active: true, cancelled: false, declined: true });
      assert.deepEqual(states(await rpc.entries()), [state("hello", "Add a route")]);
      assert.deepEqual(countdownLines(rpc), [LINES[0]]);
    });

    test("keeps a first `cancel` pending during the same agent run, until another action, and does not store it", async (t) => {
      const script = [
        ...steps("cancel", "status", "cancel", "loop", "cancel", "next", "cancel"),
        { text: "I rest." },
        step("cancel"),
        step("cancel"),
        { text: "Stopped." },
      ];
      const { model, sandbox } = await stage(t, script, { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox, onDialog: () => true });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const asked = (/** @type {string[]} */ results) =>
        results.map((text) => (text.startsWith("⚠️ **Confirm cancellation**") ? "asked" : text.split(" ")[0]));
      assert.deepEqual(asked(toolResults(model.lastRequest())), [
        "asked",
        "**Workflow:**",
        "asked",
        "🔄",
        "asked",
        "✓",
        "asked",
      ]);
      await rpc.promptAndSettle("Go on");
      assert.deepEqual(asked(toolResults(model.lastRequest())).slice(7), ["asked", "Workflow"]);
      const stored = custom(await rpc.entries(), "workflow:state");
      assert.deepEqual(
        stored.map(({ active }) => active),
        [true, true, true, false, false],
      );
      assert.doesNotMatch(JSON.stringify(stored), /cancelPending/i);
    });

    test("is not moved by a call with bad arguments", async (t) => {
      const calls = [{ action: "jump" }, {}, { action: ["next"] }, { action: null }].map((args) => ({
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

    test("resolves templates wherever instructions reach the model, each value once", async (t) => {
      const all =
        "{workflowName}|{workflowKey}|{description}|{taskId}|{phaseId}|{phaseName}|{previousPhaseName}|{nextPhaseName}|{blockedToolsList}|{toolName}|{breadcrumbPath}|{globalStepCount}|{firstPhaseName}|{unknown}|{ phaseId }";
      const task = "Fix {phaseName} & $& {description}";
      /** @param {...string} own phase id, phase name, previous, next, blocked, breadcrumb, steps */
      const resolved = (...own) => {
        const [id, name, previous, next, blocked, breadcrumb, steps] = own;
        return `Outer|outer|${task}|TASK|${id}|${name}|${previous}|${next}|${blocked}|workflow_step|${breadcrumb}|${steps}|{firstPhaseName}|{unknown}|{ phaseId }`;
      };
      const globalFiles = {
        ...workflow(
          "outer",
          [
            { id: "a", instructions: all, tools: { blacklist: ["edit", "write"] } },
            "@inner",
            { id: "z", instructions: all },
          ],
          {
            name: "Outer",
            initialMessage:
              "{workflowName}|{workflowKey}|{description}|{firstPhaseId}|{firstPhaseName}|{firstPhaseEmoji}|{firstPhaseProfiles}|{taskId}|{unknown}",
            roleInstruction: `ROLE ${all}`,
            advanceReminder: `ADVANCE ${all}`,
            completionMessage: "{workflowName}|{taskDescription}|{taskId}|{phaseCount}|{description}",
          },
        ),
        ...workflow(
          "inner",
          [
            { id: "b", instructions: all, tools: { whitelist: ["read"] } },
            { id: "c", instructions: all },
          ],
          { name: "Inner", roleInstruction: "not the root's", advanceReminder: "not the root's" },
        ),
      };
      const script = [
        step("status"),
        step("next"),
        step("status"),
        step("loop"),
        { text: "I rest." },
        step("next"),
        step("next"),
        step("next"),
        { text: "Done." },
      ];
      const { model, sandbox } = await stage(t, script, { globalFiles });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(`/workflow outer ${task}`);
      const a = resolved("a", "A", "(start)", "Inner", "edit, write", "Outer", "0");
      const b = (/** @type {string} */ steps) => resolved("b", "B", "(start)", "C", "(none)", "Outer > Inner", steps);
      assert.equal(userTexts(model.requests[0])[0], `Outer|outer|${task}|a|A|🔹|(none)|{taskId}|{unknown}`);
      const prompts = () => model.requests.flatMap((request) => withoutIds(contextPrompt(request)) ?? []);
      const [first] = prompts();
      assert.ok(first.includes(`\n\nROLE ${a}\n\n**Task:** ${task}\n`), first);
      assert.ok(first.includes(`\n\n**What to do in this phase:**\n${a}\n\n`), first);
      assert.ok(first.endsWith(`\n\nADVANCE ${a}`), first);

      await rpc.promptAndSettle("Go on");
      const reminder = `[Workflow path: Outer > Inner ▸ 🔹 B]\nStep 2/4. The instructions of this phase stand above and still hold. ADVANCE ${b("2")}`;
      const real = contextPrompt(model.requests[5]) ?? "";
      assert.equal(withoutIds(real), reminder);
      assert.ok(Buffer.byteLength(real) <= 300);

      const results = toolResults(model.lastRequest()).map((text) => withoutIds(text) ?? "");
      assert.ok(results[0].includes(`\n\n**What to do:**\n${a}\n\n`), results[0]);
      /** @param {string} result @param {string} progress @param {string} own */
      const carriesPrompt = (result, progress, own) => {
        assert.ok(result.includes(`\n\nROLE ${own}\n\n**Task:** ${task}\n`), result);
        assert.ok(result.includes(`\n**Progress:** ${progress}\n`), result);
        assert.ok(result.includes(`\n\n**What to do in this phase:**\n${own}\n\n`), result);
        assert.ok(result.endsWith(`\n\nADVANCE ${own}`), result);
      };
      carriesPrompt(results[1], "Step 1 (1/2 in current scope)", b("1"));
      assert.ok(results[2].includes(`\n\n**What to do:**\n${b("1")}\n\n`), results[2]);
      carriesPrompt(results[3], "Step 2 (1/2 in current scope)", b("2"));
      const c = resolved("c", "C", "B", "DONE", "(none)", "Outer > Inner", "3");
      carriesPrompt(results[4], "Step 3 (2/2 in current scope)", c);
      const z = resolved("z", "Z", "Inner", "DONE", "(none)", "Outer", "4");
      carriesPrompt(results[5], "Step 4 (3/3 phases)", z);
      const [complete] = ends(await rpc.entries());
      assert.equal(withoutIds(complete.content), `Outer|${task}|TASK|3|{description}`);
    });

    test("shows its completion message at the end, cancelled or not", async (t) => {
      const globalFiles = workflow("hello", ["a"], {
        completionMessage: "{workflowName} ended: {taskDescription} ({phaseCount})",
      });
      const script = [step("next"), { text: "Done." }, step("cancel", "cancel"), { text: "Stopped." }];
      const { sandbox } = await stage(t, script, { globalFiles });
      const rpc = await startRpc({ version, sandbox, onDialog: () => true });
      await rpc.promptAndSettle("/workflow hello One");
      await rpc.promptAndSettle("/workflow hello Two");
      assert.deepEqual(
        ends(await rpc.entries()).map(({ content, cancelled }) => [content, cancelled]),
        [
          ["The hello ended: One (1)", false],
          ["The hello ended: Two (1)", true],
        ],
      );
    });

    test("names the session after prefix and task, cut at the workflow's length", async (t) => {
      const globalFiles = {
        ...workflow("plain", ["a"]),
        ...workflow("short", ["a"], { sessionNamePrefix: "RPIR: ", sessionNameMaxLength: 8 }),
        ...workflow("bare", ["a"], { sessionNamePrefix: "", sessionNameMaxLength: 0 }),
      };
      const { sandbox } = await stage(t, nextUntilDone, { globalFiles });
      const rpc = await startRpc({ version, sandbox });
      const name = async (/** @type {string} */ command) => {
        rpc.onDialog(() => true);
        await rpc.promptAndSettle(command);
        return (await rpc.state()).sessionName;
      };
      assert.equal(await name(`/workflow plain ${"x".repeat(50)}`), `Workflow: ${"x".repeat(50)}`);
      assert.equal(await name(`/workflow plain ${"x".repeat(51)}`), `Workflow: ${"x".repeat(50)}…`);
      assert.equal(await name("/workflow short 12345678"), "RPIR: 12345678");
      // A surrogate pair is not split.
      assert.equal(await name("/workflow short 1234567🔍9"), "RPIR: 1234567…");
      assert.equal(await name("/workflow bare Anything"), "…");
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
          { calls: [touch] },
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
        "✓ (no output)",
      ]);
      assert.equal(readFileSync(`${sandbox.project}/touched`, "utf8"), "\n\n", "only the allowed calls ran");
      assert.equal(toolResults(model.lastRequest())[0], refused("bash", "Look", notBash));
    });

    test("of a nested workflow refuses with the reason of the root workflow", async (t) => {
      const globalFiles = {
        ...workflow("outer", [{ id: "a", tools: { blacklist: ["bash", "edit"] } }, "@inner"], {
          blockReasonTemplate: "{workflowName}/{phaseName}: not {toolName}. Allowed: {allowedTools}. {unknown}",
        }),
        ...workflow("inner", [{ id: "b", tools: { whitelist: ["read", "grep"] } }], {
          blockReasonTemplate: "not the root's",
        }),
      };
      const { model, sandbox } = await stage(t, [bash("1"), step("next"), bash("2"), { text: "I rest." }], {
        globalFiles,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow outer Look");
      const results = toolResults(model.lastRequest());
      assert.equal(results[0], "The outer/A: not bash. Allowed: all except: bash, edit. {unknown}");
      assert.equal(results[2], "The outer/B: not bash. Allowed: read, grep. {unknown}");
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

    test("gets the workflow's own reminder each time it stops", LONG, async (t) => {
      const globalFiles = {
        ...workflow("outer", ["a", "@inner"], {
          notDoneReminder:
            "{workflowName}|{phaseName}|{phaseEmoji}|{phaseInstructions}|{taskDescription}|{taskId}|{workflowKey}|{description}",
        }),
        ...workflow("inner", [{ id: "b", emoji: "🐛" }], { notDoneReminder: "not the root's" }),
      };
      const { model, sandbox } = await stage(
        t,
        [step("next"), { text: "I rest." }, { text: "I rest again." }, step("next"), { text: "Done." }],
        { globalFiles },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow outer Look");
      await rpc.waitForSettled();
      await rpc.waitForSettled();
      const reminders = userTexts(model.lastRequest()).filter((text) => text.startsWith("The outer|"));
      assert.deepEqual(
        reminders.map(withoutIds),
        Array(2).fill("The outer|B|🐛|(as given for this phase)|Look|TASK|outer|{description}"),
      );
      assert.equal(countdownLines(rpc).length, 8);
    });

    test("gets no reminder when the user sends a message first", async (t) => {
      const { model, sandbox } = await stage(t, [{ text: "I rest." }, step("next"), step("next"), { text: "Done." }], {
        globalFiles: workflow("hello", ["plan", "build"], SHORT_COUNTDOWN),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.deepEqual(countdownLines(rpc), [LINES[1]]);
      await rpc.promptAndSettle("Go on");
      await shortCountdownIsOver();
      assert.deepEqual(countdownLines(rpc), [LINES[1], undefined]);
      assert.equal(model.requests.length, 4);
    });

    test("is told to go on when pi has compacted the conversation", async (t) => {
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

    test("gets no reminder while pi retries a failed request", async (t) => {
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
