// States in a session that come from an older version, a crash or manual editing.

import { command, open, run } from "../actions.mjs";
import { hidden, say, step, stop, workflow } from "../workflows.mjs";

const FILES = { ...workflow("w", ["a", "b", "@inner"]), ...hidden("inner", ["x", "y"]) };

const STATE = {
  active: true,
  workflowKey: "w",
  currentPath: [{ workflowKey: "w", phaseIndex: 1 }],
  globalStepCount: 1,
  taskId: "wf-1750000000000-abc123",
  taskDescription: "Old work",
  startedAt: 1750000000000,
  completionNotified: false,
  cancelled: false,
};

/**
 * A session with these states, oldest first.
 * @param {...unknown} states
 */
const session = (...states) => [
  { type: "message", message: { role: "user", content: "Hello", timestamp: 1 } },
  ...states.map((data) => ({ type: "custom", customType: "workflow:state", data })),
];

/** The model calls `status` this many times. */
const look = (times = 1) => Array.from({ length: times }, () => [step("status"), say("I see.")]).flat();

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "a state of this version goes on to DONE",
    global: FILES,
    session: session(STATE),
    model: [step("status"), step("next"), step("next"), step("next"), say("Done.")],
    actions: [run("Go on")],
    differs: [38, 55, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "the form with one index",
    global: FILES,
    session: session({ ...STATE, currentPath: undefined, globalStepCount: undefined, currentPhaseIndex: 1 }),
    model: [step("status"), step("next"), stop],
    actions: [run("Go on")],
    differs: [38, 55, 14, 18, 22, 25, 39],
  },
  {
    name: "the form without a count of steps",
    global: FILES,
    session: session({
      ...STATE,
      globalStepCount: undefined,
      currentPath: [
        { workflowKey: "w", phaseIndex: 2 },
        { workflowKey: "inner", phaseIndex: 0 },
      ],
    }),
    model: [step("status"), step("next"), stop],
    actions: [run("Go on")],
    differs: [
      38,
      55,
      { number: 2, reference: "(1/3 in current scope)", ours: "(1/2 in current scope)" },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "the last of several counts, and entries without a workflow do not",
    global: FILES,
    session: session({ ...STATE, globalStepCount: 7 }, STATE, null, {}, { workflowKey: null }, "text"),
    model: [step("status"), stop],
    actions: [run("Go on")],
    differs: [55, 14, 18, 39],
  },
  {
    name: "a broken state at the end, after a valid one",
    global: FILES,
    session: session(STATE, { ...STATE, currentPath: [] }),
    model: look(),
    actions: [run("Go on"), command("/cancel-workflow")],
    differs: [35, 65],
  },
  {
    name: "broken states",
    global: FILES,
    model: look(7),
    actions: [
      ...[
        { currentPath: "w" },
        { currentPath: [{ workflowKey: "w" }] },
        { currentPath: [{ workflowKey: 1, phaseIndex: 0 }] },
        { startedAt: undefined },
        { active: "yes" },
        { taskId: 7 },
        { cancelled: null },
      ].flatMap((change) => [open(session({ ...STATE, ...change })), run("Go on")]),
    ],
    differs: [35, 65],
  },
  {
    name: "indices below 0 and between whole numbers",
    global: FILES,
    model: look(2),
    actions: [-1, 0.5].flatMap((phaseIndex) => [
      open(session({ ...STATE, currentPath: [{ workflowKey: "w", phaseIndex }] })),
      run("Go on"),
    ]),
    differs: [
      65,
      {
        number: 11,
        at: "errors[0..]",
        reference: Array(2)
          .fill([/^before_agent_start: Cannot read/, /^agent_end: Cannot read/])
          .flat(),
      },
      ...[1, 3].map((request) => ({
        number: 11,
        at: `requests[${request}].messages[1]`,
        reference: /Cannot read properties/,
        ours: /No active workflow/,
      })),
      ...[0, 1].flatMap((result) => [
        { number: 11, at: `results[${result}].text`, reference: /Cannot read properties/, ours: /No active workflow/ },
        { number: 11, at: `results[${result}].isError`, reference: true, ours: false },
        { number: 11, at: `results[${result}].details`, reference: {}, ours: { active: false } },
      ]),
    ],
  },
  {
    name: "phases and workflows that no longer exist",
    global: FILES,
    model: look(3),
    actions: [
      ...[
        { workflowKey: "gone", active: false },
        { workflowKey: "gone", currentPath: [{ workflowKey: "gone", phaseIndex: 0 }] },
        { currentPath: [{ workflowKey: "w", phaseIndex: 3 }] },
      ].flatMap((change) => [open(session({ ...STATE, ...change })), run("Go on")]),
    ],
    differs: [
      54,
      35,
      {
        number: 54,
        at: "screen[3..]",
        reference: Array(10).fill("status workflow: (none)"),
        ours: Array(8).fill("status workflow: (none)"),
      },
    ],
  },
  {
    name: "runs that have ended, announced or not",
    global: FILES,
    model: look(3),
    actions: [
      open(session({ ...STATE, active: false, completionNotified: true })),
      command("/cancel-workflow"),
      run("Go on"),
      open(session({ ...STATE, active: false })),
      run("Go on"),
      open(session({ ...STATE, active: false, cancelled: true })),
      run("Go on"),
    ],
    differs: [3, 17, 25],
  },
  {
    name: "without task id, description and flags",
    global: FILES,
    session: session({
      ...STATE,
      taskId: undefined,
      taskDescription: undefined,
      completionNotified: undefined,
      cancelled: undefined,
    }),
    model: [step("status"), step("next"), stop],
    actions: [run("Go on")],
    differs: [
      38,
      55,
      { number: 36, reference: "**Task:** undefined\n**Task ID:** undefined", ours: "**Task:** \n**Task ID:** " },
      {
        number: 36,
        reference: "**Task ID:** undefined\n**Description:** undefined",
        ours: "**Task ID:** \n**Description:** ",
      },
      { number: 36, at: "states[1].taskId", ours: "" },
      { number: 36, at: "states[1].taskDescription", ours: "" },
      { number: 36, at: "states[1].completionNotified", ours: false },
      { number: 36, at: "states[1].cancelled", ours: false },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "fields of a later version",
    global: FILES,
    session: session({ ...STATE, mood: "good", currentPath: [{ ...STATE.currentPath[0], since: 1 }] }),
    model: [step("status"), step("next"), stop],
    actions: [run("Go on")],
    differs: [
      38,
      55,
      { number: 37, at: "states[1].mood", reference: "good" },
      { number: 37, at: "states[1].currentPath[0].since", reference: 1 },
      { number: 37, at: "results[0].details.currentPath[0].since", reference: 1 },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "a cancellation that waits for its confirmation",
    global: FILES,
    session: session({ ...STATE, _cancelPending: true }),
    model: [step("cancel"), stop],
    actions: [run("Go on")],
    differs: [
      55,
      { number: 6, at: "requests[1].messages[1]", reference: /Workflow cancelled/, ours: /Confirm cancellation/ },
      {
        number: 6,
        at: "sessions[0][5..]",
        reference: [/"workflow:state"/, /Workflow cancelled/, /I stop\./, /"workflow:state"/, /"workflow:complete"/],
        ours: [/Confirm cancellation/, /I stop\./],
      },
      {
        number: 6,
        at: "screen[1..]",
        reference: Array(4).fill("status workflow: (none)"),
        ours: [...Array(2).fill("status workflow: W > 🔹 B [2/3]"), /in 3s/],
      },
      14,
      18,
      39,
    ],
  },
  {
    name: "a path that ends in front of a nested workflow, as the reference leaves it after a loop",
    global: FILES,
    session: session({ ...STATE, currentPath: [{ workflowKey: "w", phaseIndex: 2 }] }),
    model: [step("next"), stop],
    actions: [run("Go on")],
    differs: [
      38,
      { number: 55, at: "screen[0]", ours: /⏸ W > Inner \[3\/3\] > 🔹 X \[1\/2\] \(waits for you\)$/ },
      { number: 20, reference: "path: W ▸ 🔹 X]", ours: "path: W > Inner ▸ 🔹 X]" },
      { number: 20, reference: "(3/3 phases)", ours: "(1/2 in current scope)" },
      {
        number: 20,
        at: "requests[1].messages[1]",
        reference: /Entered subworkflow 'Inner': X → 🔹 X/,
        ours: /Advanced: X → 🔹 Y/,
      },
      {
        number: 20,
        at: "results[0].text",
        reference: /Entered subworkflow 'Inner': X → 🔹 X/,
        ours: /Advanced: X → 🔹 Y/,
      },
      { number: 20, at: "results[0].details.to", reference: "X", ours: "Y" },
      { number: 20, at: "states[1].currentPath[1].phaseIndex", reference: 0, ours: 1 },
      {
        number: 20,
        at: "screen[0..]",
        reference: [/W > Inner \[3\/3\]$/, /\(none\)$/, /X \[1\/2\]$/, /X \[1\/2\]$/, /in 3s/],
        ours: [/X \[1\/2\]$/, /Y \[2\/2\]$/, /Y \[2\/2\]$/, /Y \[2\/2\]$/, /in 3s/],
      },
      14,
      18,
      25,
      39,
    ],
  },
  {
    name: "a path whose workflows do not belong together",
    global: { ...FILES, ...workflow("other", ["p"]) },
    session: session({
      ...STATE,
      currentPath: [
        { workflowKey: "w", phaseIndex: 0 },
        { workflowKey: "other", phaseIndex: 0 },
      ],
    }),
    model: look(),
    actions: [run("Go on")],
    differs: [
      54,
      { number: 54, at: "requests[1].messages[1]", reference: /Do p\./, ours: /no longer available/ },
      { number: 54, at: "results[0].text", reference: /Do p\./, ours: /no longer available/ },
      { number: 54, at: "results[0].details", reference: /"active":true/, ours: { active: false, stale: true } },
    ],
  },
];
