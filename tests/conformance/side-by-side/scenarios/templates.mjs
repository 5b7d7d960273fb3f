// Every template field, set and unset, with every variable.

import { fileURLToPath } from "node:url";
import { countdown, run } from "../actions.mjs";
import { hidden, say, step, stop, use, workflow } from "../workflows.mjs";

const all = (/** @type {string} */ names) =>
  names
    .split(" ")
    .map((name) => `${name}={${name}}`)
    .join("\n");

const IN_CONTEXT = all(
  "workflowName workflowKey description taskId phaseId phaseName previousPhaseName nextPhaseName blockedToolsList " +
    "toolName breadcrumbPath globalStepCount taskDescription phaseEmoji allowedTools constructor unknown",
);
const PLAIN = { roleInstruction: "Role.", advanceReminder: "Advance." };
const end = say("Done.");

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "the initial message",
    global: workflow("w", [{ id: "a", name: "The A", emoji: "🅰️", availableProfiles: ["x", "y z"] }], {
      ...PLAIN,
      name: "The W",
      initialMessage: all(
        "workflowName workflowKey description firstPhaseId firstPhaseName firstPhaseEmoji firstPhaseProfiles " +
          "taskId phaseName unknown",
      ),
    }),
    model: [stop],
    actions: [run("/workflow w Fill in")],
    differs: [18, 22, 25, 39],
  },
  {
    name: "the initial message of a workflow that begins with another",
    global: {
      ...workflow("outer", ["@inner"], {
        ...PLAIN,
        initialMessage: all("workflowName workflowKey firstPhaseId firstPhaseName firstPhaseEmoji firstPhaseProfiles"),
      }),
      ...hidden("inner", [{ id: "a", emoji: "🅰️" }]),
    },
    model: [stop],
    actions: [run("/workflow outer Fill in")],
    differs: [18, 22, 25, 39],
  },
  {
    name: "the context prompt",
    global: workflow("w", ["a", { id: "b", text: IN_CONTEXT, tools: { blacklist: ["edit", "write"] } }, "c"], {
      roleInstruction: IN_CONTEXT,
      advanceReminder: IN_CONTEXT,
    }),
    model: [stop, step("next"), stop, stop],
    actions: [run("/workflow w Fill in"), run("Go on"), run("And now")],
    differs: [
      38,
      {
        number: 1,
        reference: all(
          "workflowName workflowKey description taskId phaseId phaseName previousPhaseName nextPhaseName " +
            "blockedToolsList toolName breadcrumbPath globalStepCount",
        ),
        ours:
          "workflowName=W\nworkflowKey=w\ndescription=Fill in\ntaskId=wf-TASK-1\nphaseId=b\nphaseName=B\n" +
          "previousPhaseName=A\nnextPhaseName=C\nblockedToolsList=edit, write\ntoolName=workflow_step\n" +
          "breadcrumbPath=W\nglobalStepCount=1",
      },
      5,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "the context prompt in a nested workflow, whose own templates do not count",
    global: {
      ...workflow("outer", ["a", "@inner"], { roleInstruction: IN_CONTEXT, advanceReminder: "{nextPhaseName}" }),
      ...hidden("inner", [{ id: "b", text: "Now {phaseName}." }, "c"], {
        roleInstruction: "never",
        advanceReminder: "never",
        notDoneReminder: "never",
        completionMessage: "never",
      }),
    },
    model: [step("next"), stop, stop, step("next"), step("next"), end],
    actions: [run("/workflow outer Fill in"), run("Go on"), run("To the end")],
    differs: [38, { number: 1, reference: "Now {phaseName}.", ours: "Now B." }, 3, 5, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "instructions in the results of next, loop and status",
    global: workflow("w", [
      { id: "a", text: "A for {description}" },
      { id: "b", text: "B for {description}" },
    ]),
    model: [step("status"), step("next"), step("status"), step("loop"), stop],
    actions: [run("/workflow w Fill in")],
    differs: [38, 1, 14, 18, 22, 25, 39],
  },
  {
    name: "profiles",
    global: {
      ...workflow("outer", [
        { id: "a", availableProfiles: ["x", "y"] },
        "@inner",
        { id: "c", availableProfiles: [] },
        { id: "d", availableProfiles: ["x", 7] },
      ]),
      ...hidden("inner", [{ id: "b", availableProfiles: ["z", "y"] }]),
    },
    model: [step("status"), step("next", "status"), step("next", "status"), stop, step("next", "status"), stop],
    actions: [run("/workflow outer Who is there"), run("Go on")],
    differs: [38, 5, 14, 18, 22, 25, 39],
  },
  {
    name: "the completion message",
    global: workflow("w", ["a", "b"], {
      ...PLAIN,
      name: "The W",
      completionMessage: all("workflowName taskDescription taskId phaseCount workflowKey description"),
    }),
    model: [step("next"), step("next"), end],
    actions: [run("/workflow w Fill in")],
    differs: [38, 3, 17, 18, 22, 25, 39],
  },
  {
    name: "the reminder",
    global: workflow("w", [{ id: "a", emoji: "🅰️", text: "Do {description}." }], {
      ...PLAIN,
      name: "The W",
      notDoneReminder: all(
        "workflowName phaseName phaseEmoji phaseInstructions taskDescription taskId workflowKey description phaseId",
      ),
    }),
    model: [say("I stop."), stop, step("next"), end],
    actions: [run("/workflow w Fill in"), countdown, run("To the end")],
    differs: [38, { number: 1, reference: "Do {description}.", ours: "Do Fill in." }, 3, 5, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "empty templates",
    global: workflow("w", [{ id: "a", tools: { blacklist: ["bash"] } }], {
      roleInstruction: "",
      advanceReminder: "",
      blockReasonTemplate: "",
      completionMessage: "",
      sessionNamePrefix: "",
    }),
    model: [use("bash", { command: "echo" }), step("next"), end],
    actions: [run("/workflow w Leave empty")],
    differs: [3, 17, 18, 22, 25, 39],
  },
  {
    name: "the default role, where a tool delegates",
    global: workflow("w", ["a"]),
    extensions: [fileURLToPath(new URL("../delegating.mjs", import.meta.url))],
    model: [use("delegate_to_subagents", {}), step("next"), end],
    actions: [run("/workflow w Delegate")],
    differs: [3, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "texts of several lines",
    global: workflow("w", [{ id: "a", text: "One.\n\n  Two.  \n---\nThree.\n\n" }], {
      ...PLAIN,
      initialMessage: "First {description}\n\nsecond\n",
    }),
    model: [step("status"), step("next"), end],
    actions: [run("/workflow w Several")],
    differs: [3, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "session names",
    global: {
      ...workflow("default", ["a"]),
      ...workflow("short", ["a"], { sessionNamePrefix: "S: ", sessionNameMaxLength: 5 }),
      ...workflow("none", ["a"], { sessionNameMaxLength: 0 }),
      ...workflow("half", ["a"], { sessionNameMaxLength: 4.9 }),
    },
    model: [
      step("next"),
      end,
      step("next"),
      end,
      step("next"),
      end,
      step("next"),
      end,
      step("next"),
      end,
      step("next"),
      end,
    ],
    actions: [
      run(`/workflow default ${"x".repeat(50)}`),
      run(`/workflow default ${"x".repeat(51)}`),
      run("/workflow short 12345"),
      run("/workflow short 1234567"),
      run("/workflow none 1"),
      run("/workflow half 12345"),
    ],
    differs: [3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "a session name that is cut within a character",
    global: workflow("w", ["a"], { sessionNamePrefix: "", sessionNameMaxLength: 3 }),
    model: [stop],
    actions: [run("/workflow w ab🔍c")],
    differs: [{ number: 41, reference: "ab\ud83d…", ours: "ab…" }, 14, 18, 22, 25, 39],
  },
  {
    name: "a session name that is longer than a line",
    global: workflow("w", ["a"], { sessionNamePrefix: "S: ", sessionNameMaxLength: 1000 }),
    model: [stop],
    actions: [run(`/workflow w ${"x".repeat(250)}`)],
    differs: [{ number: 51, reference: `S: ${"x".repeat(250)}`, ours: `S: ${"x".repeat(196)}…` }, 14, 18, 22, 25, 39],
  },
  {
    name: "control characters in names and tasks",
    global: workflow("w", [{ id: "a", name: "Red \u001b[31malert\u0007" }]),
    model: [stop],
    actions: [run("/workflow w Ring the \u0007 bell")],
    differs: [
      14,
      18,
      25,
      39,
      {
        number: 42,
        reference: "Begin with Red \u001b[31malert\u0007: Ring the \u0007 bell",
        ours: "Begin with Red [31malert: Ring the  bell",
      },
      {
        number: 42,
        at: "sessions[0][1].name",
        reference: "Workflow: Ring the \u0007 bell",
        ours: "Workflow: Ring the  bell",
      },
      {
        number: 22,
        at: "screen[1]",
        reference: "status workflow: (none)",
        ours: "status workflow: W > 🔹 Red [31malert [1/1]",
      },
      {
        number: 42,
        at: "screen[1]",
        reference: "status workflow: W > 🔹 Red \u001b[31malert\u0007 [1/1]",
        ours: "status workflow: W > 🔹 Red [31malert [1/1]",
      },
    ],
  },
];
