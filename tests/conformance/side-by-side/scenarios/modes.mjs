// Print and JSON mode: no user interface.

import { print, run } from "../actions.mjs";
import { say, step, stop, workflow } from "../workflows.mjs";

const TWO = workflow("hello", ["analyze", "execute"]);
const goOn = { args: ["--continue"] };
/** The result of the `cancel` that would need the user. */
const PAUSED = /The workflow is paused: the agent wants to cancel it\. Stop here/;
const REMINDER = /The Hello is still active/;

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "print mode goes on with a session, to DONE",
    global: TWO,
    model: [step("next"), stop, step("next"), say("Done.")],
    actions: [run("/workflow hello Add a route"), print("Go on", goOn)],
    differs: [
      38,
      { number: 17, at: "screen[7]", ours: "Done." },
      { number: 8, at: "printed[0..]", ours: ["Workflow Hello: DONE."] },
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
    name: "print mode goes on with a session, and the agent stops too early",
    global: TWO,
    model: [step("next"), stop, stop, step("next"), say("Done.")],
    actions: [run("/workflow hello Add a route"), print("Go on", goOn)],
    differs: [
      38,
      { number: 8, at: "requests[3..]", ours: [REMINDER, /Advanced: Execute → DONE/] },
      {
        number: 8,
        at: "sessions[0][11..]",
        reference: [/"workflow:countdown"/],
        ours: [REMINDER, /"calls"/, /"workflow:state"/, /→ DONE/, /Done\./, /"workflow:complete"/, /"workflow:state"/],
      },
      { number: 8, at: "screen[7..]", ours: ["Done."] },
      { number: 8, at: "printed[0..]", ours: ["Workflow Hello: DONE."] },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "print mode goes on with a session, and the agent cancels the run",
    global: TWO,
    model: [step("next"), stop, step("cancel"), step("cancel"), say("Cancelled.")],
    actions: [run("/workflow hello Add a route"), print("Go on", goOn)],
    differs: [
      38,
      { number: 66, at: "requests[4].messages[1]", reference: /Workflow cancelled/, ours: PAUSED },
      {
        number: 66,
        at: "sessions[0][13..]",
        reference: [/"workflow:state"/, /Workflow cancelled/, /Cancelled\./, /"workflow:state"/, /"workflow:complete"/],
        ours: [/"workflow:state".*"paused"/, PAUSED, /Cancelled\./],
      },
      { number: 8, at: "screen[6..]", reference: ["(pi ends with 0)"], ours: ["(pi ends with 1)", "Cancelled."] },
      { number: 8, at: "printed[0..]", ours: [/^Workflow Hello: paused in 🔹 Execute/] },
      6,
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "JSON mode goes on with a session, and the agent does nothing",
    global: TWO,
    model: [step("next"), stop, stop, stop, stop, stop],
    actions: [run("/workflow hello Add a route"), print("Go on", { ...goOn, mode: "json" })],
    differs: [
      38,
      { number: 8, at: "requests[3..]", ours: Array(3).fill(REMINDER) },
      {
        number: 8,
        at: "sessions[0][11..]",
        reference: [/"workflow:countdown"/],
        ours: [
          ...Array(3)
            .fill([REMINDER, /I stop\./])
            .flat(),
          /"workflow:state".*"paused"/,
        ],
      },
      { number: 8, at: "screen[6..]", reference: ["(pi ends with 0)"], ours: ["(pi ends with 1)"] },
      { number: 8, at: "printed[0..]", ours: [/^Workflow Hello: paused in 🔹 Execute/] },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "print mode starts a workflow",
    global: TWO,
    model: [step("next"), step("next"), say("Done.")],
    actions: [print("/workflow hello Add a route")],
    differs: [
      38,
      { number: 8, at: "requests[0..]", ours: [/Begin with Analyze/, /Advanced: Analyze/, /Advanced: Execute/] },
      { number: 8, at: "tool", reference: /"guidance":\[\]/, ours: /"guidance":\["/ },
      // The entries that the reference stores depend on pi's version.
      { number: 8, at: "sessions[0..]", reference: /^\[\]$|"stopReason":"aborted"/, ours: [/"workflow:complete"/] },
      { number: 8, at: "printed[0..]", reference: /./, ours: ["Workflow Hello: DONE."] },
      { number: 8, at: "screen[2..]", ours: ["Done."] },
    ],
  },
  {
    name: "print mode without a workflow",
    global: TWO,
    model: [step("status"), say("There is none.")],
    actions: [print("Where are you?")],
    differs: [],
  },
  {
    name: "commands in print mode",
    global: TWO,
    actions: [print("/workflow"), print("/cancel-workflow"), print("/workflow unknown Do it")],
    differs: [
      { number: 8, at: "screen[3]", reference: "(pi ends with 0)", ours: "(pi ends with 1)" },
      {
        number: 8,
        at: "printed[0..]",
        ours: [/^Usage: /, "No active workflow to cancel.", /^Unknown workflow: "unknown"/],
      },
    ],
  },
];
