// Cancelling, by the tool and by the command.

import { answer, command, during, pause, restart, run } from "../actions.mjs";
import { hidden, say, step, stop, workflow } from "../workflows.mjs";

const TWO = workflow("hello", ["analyze", "execute"]);
const NESTED = { ...workflow("outer", ["a", "@inner"]), ...hidden("inner", ["b", "c"]) };

const CONFIRM = /Confirm cancellation/;
const TOLD = /The user cancelled the workflow\. Stop working on it\./;
const CANCELLED = /Workflow cancelled: /;
const STATE = /"workflow:state".*"cancelled":true/;
const COUNTDOWN = /^widget workflow-countdown aboveEditor: .* in 3s/;

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "by the tool, confirmed at once",
    global: TWO,
    model: [step("cancel"), step("cancel"), step("status"), say("Cancelled."), say("You are welcome.")],
    actions: [answer(true), run("/workflow hello Add a route"), run("Thanks")],
    differs: [3, 6, 14, 59, 17, 18, 22, 25, 26, 39],
  },
  {
    name: "by the tool, refused by the user",
    global: TWO,
    model: [step("cancel"), step("cancel"), stop],
    actions: [answer(false), run("/workflow hello Add a route")],
    differs: [
      { number: 26, at: "requests[2].messages[1]", reference: CANCELLED, ours: /The user declined/ },
      {
        number: 26,
        at: "sessions[0][7..]",
        reference: [STATE, CANCELLED, /I stop\./, STATE, /"workflow:complete"/],
        ours: [/The user declined/, /I stop\./],
      },
      {
        number: 26,
        at: "screen[3..]",
        reference: Array(4).fill("status workflow: (none)"),
        ours: [/^confirm Cancel/, ...Array(2).fill("status workflow: Hello > 🔹 Analyze [1/2]"), COUNTDOWN],
      },
      6,
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "by the tool, both calls in one answer",
    global: TWO,
    model: [step("cancel", "cancel"), say("Cancelled.")],
    actions: [answer(true), run("/workflow hello Add a route")],
    differs: [
      3,
      6,
      14,
      59,
      17,
      18,
      22,
      25,
      26,
      39,
      {
        number: 30,
        at: "sessions[0][5..]",
        reference: [STATE, CONFIRM, CANCELLED, /./, STATE],
        ours: [CONFIRM, STATE, CANCELLED, /./, STATE],
      },
    ],
  },
  {
    name: "by the tool, in a nested workflow with a completion message",
    global: {
      ...NESTED,
      ...workflow("outer", ["a", "@inner"], { completionMessage: "{workflowName} {taskDescription} {phaseCount}" }),
    },
    model: [step("next"), step("cancel"), step("cancel"), say("Cancelled.")],
    actions: [answer(true), run("/workflow outer Add a route")],
    differs: [38, 3, 6, 14, 17, 18, 22, 25, 26, 39],
  },
  {
    name: "by the tool, with something else in between",
    global: TWO,
    model: [step("cancel"), step("status"), step("cancel"), stop],
    actions: [run("/workflow hello Add a route")],
    differs: [
      { number: 6, at: "requests[3].messages[1]", reference: CANCELLED, ours: CONFIRM },
      {
        number: 6,
        at: "sessions[0][9..]",
        reference: [STATE, CANCELLED, /I stop\./, STATE, /"workflow:complete"/],
        ours: [CONFIRM, /I stop\./],
      },
      {
        number: 6,
        at: "screen[4..]",
        reference: Array(4).fill("status workflow: (none)"),
        ours: [...Array(2).fill("status workflow: Hello > 🔹 Analyze [1/2]"), COUNTDOWN],
      },
      6,
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "by the tool, with a transition in between",
    global: TWO,
    model: [step("cancel"), step("next"), step("cancel"), stop],
    actions: [run("/workflow hello Add a route")],
    differs: [
      38,
      { number: 6, at: "requests[3].messages[1]", reference: CANCELLED, ours: CONFIRM },
      {
        number: 6,
        at: "sessions[0][10..]",
        reference: [STATE, CANCELLED, /I stop\./, STATE, /"workflow:complete"/],
        ours: [CONFIRM, /I stop\./],
      },
      {
        number: 6,
        at: "screen[5..]",
        reference: Array(4).fill("status workflow: (none)"),
        ours: [...Array(2).fill("status workflow: Hello > 🔹 Execute [2/2]"), COUNTDOWN],
      },
      6,
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "by the tool, confirmed in a later run",
    global: TWO,
    model: [step("cancel"), stop, step("cancel"), stop],
    actions: [run("/workflow hello Add a route"), run("Go on")],
    differs: [
      38,
      { number: 6, at: "requests[3].messages[1]", reference: CANCELLED, ours: CONFIRM },
      {
        number: 6,
        at: "sessions[0][10..]",
        reference: [STATE, CANCELLED, /I stop\./, STATE, /"workflow:complete"/],
        ours: [CONFIRM, /I stop\./],
      },
      {
        number: 6,
        at: "screen[5..]",
        reference: Array(4).fill("status workflow: (none)"),
        ours: [
          "widget workflow-countdown: (none)",
          ...Array(2).fill("status workflow: Hello > 🔹 Analyze [1/2]"),
          COUNTDOWN,
        ],
      },
      6,
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "by the tool, confirmed after a restart",
    global: TWO,
    model: [step("cancel"), stop, step("cancel"), stop],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on")],
    differs: [55, 6, 14, 18, 22, 25, 39],
  },
  {
    name: "by the command, between runs",
    global: NESTED,
    model: [step("next"), stop, step("status"), say("There is none.")],
    actions: [run("/workflow outer Add a route"), command("/cancel-workflow"), run("Where are you?")],
    differs: [38, 3, 5, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "by the command, without a workflow and with arguments",
    global: TWO,
    model: [stop],
    actions: [
      command("/cancel-workflow"),
      run("/workflow hello Add a route"),
      command("/cancel-workflow now"),
      command("/cancel-workflow"),
    ],
    differs: [3, 5, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "by the command, while the agent works",
    global: TWO,
    model: [{ ...step("next"), delayMs: 700 }, say("There is none.")],
    actions: [during("/workflow hello Add a route", 1, command("/cancel-workflow"))],
    differs: [
      { number: 29, at: "requests[1].messages[2]", ours: TOLD },
      { number: 29, at: "sessions[0][8]", ours: TOLD },
      3,
      14,
      17,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "by the command, during the countdown",
    global: TWO,
    model: [say("I stop."), say("Who woke me?")],
    actions: [run("/workflow hello Add a route"), command("/cancel-workflow"), pause],
    differs: [
      { number: 4, at: "requests[1..]", reference: [/The Hello is still active/], ours: [] },
      { number: 4, at: "sessions[0][7..]", reference: [/The Hello is still active/, /Who woke me/], ours: [] },
      {
        number: 4,
        at: "screen[4..]",
        reference: [
          "status workflow: (none)",
          "notify info: Workflow cancelled.",
          "widget workflow-countdown: (none)",
          "status workflow: (none)",
        ],
        ours: ["widget workflow-countdown: (none)", "status workflow: (none)", "notify info: Workflow cancelled."],
      },
      3,
      14,
      59,
      17,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "then another one",
    global: TWO,
    model: [step("next"), step("cancel"), step("cancel"), say("Cancelled."), step("next"), step("next"), say("Done.")],
    actions: [answer(true), run("/workflow hello Add a route"), run("/workflow hello Add two")],
    differs: [38, 3, 6, 14, 59, 17, 18, 22, 25, 26, 39],
  },
];
