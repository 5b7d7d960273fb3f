// `loop`, and its refusal.

import { restart, run } from "../actions.mjs";
import { hidden, say, step, stop, workflow } from "../workflows.mjs";

const DEV = { ...workflow("dev", ["plan", "@cycle", "ship"]), ...hidden("cycle", ["implement", "review"]) };
/** A scope that begins with a nested workflow. */
const FRONT = {
  ...workflow("outer", ["@front", "z"]),
  ...hidden("front", ["@inner", "b"]),
  ...hidden("inner", ["a1", "a2"]),
};

/** @param {...[string, number]} segments */
const path = (...segments) => segments.map(([workflowKey, phaseIndex]) => ({ workflowKey, phaseIndex }));

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "in a flat workflow, twice",
    global: workflow("flat", ["implement", "review"]),
    model: [
      step("next"),
      step("loop"),
      step("next"),
      step("loop"),
      step("status"),
      step("next"),
      step("next"),
      say("Done."),
    ],
    actions: [run("/workflow flat Iterate")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "many times",
    global: workflow("flat", ["implement", "review"]),
    model: [...Array.from({ length: 21 }, () => step("loop")), stop],
    actions: [run("/workflow flat Iterate")],
    differs: [
      38,
      { number: 27, at: "requests[21].messages[1]", reference: /Looped 'Flat'/, ours: /⚠️ .*20/ },
      {
        number: 27,
        at: "sessions[0][65..]",
        reference: [/"globalStepCount":21/, /Looped 'Flat'/, /I stop\./],
        ours: [/⚠️ .*20/, /I stop\./],
      },
      {
        number: 27,
        at: "screen[42]",
        reference: "status workflow: (none)",
        ours: /^notify warning: The agent wants to loop again/,
      },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "at the first phase",
    global: workflow("flat", ["implement", "review"]),
    model: [step("loop"), step("loop"), step("next"), step("next"), say("Done.")],
    actions: [run("/workflow flat Iterate")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "in a nested workflow",
    global: DEV,
    model: [
      ...[step("next"), step("next"), step("loop"), step("status"), stop],
      ...[step("next"), step("next"), step("next"), say("Done.")],
    ],
    actions: [run("/workflow dev Iterate"), run("Go on")],
    differs: [
      38,
      { number: 2, reference: "Step 3 (1/3 in current scope)", ours: "Step 3 (1/2 in current scope)" },
      3,
      5,
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
    name: "refused",
    global: workflow("once", ["a", "b"], { loopable: false }),
    model: [step("loop"), step("next"), step("loop"), step("status"), step("next"), say("Done.")],
    actions: [run("/workflow once No way back")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "refused in a nested workflow whose parent allows it",
    global: { ...workflow("outer", ["a", "@inner"]), ...hidden("inner", ["b", "c"], { loopable: false }) },
    model: [step("next"), step("next"), step("loop"), step("next"), say("Done.")],
    actions: [run("/workflow outer No way back")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "allowed in a nested workflow whose parent refuses it",
    global: {
      ...workflow("outer", ["a", "@inner"], { loopable: false }),
      ...hidden("inner", ["b", "c"], { loopable: true }),
    },
    model: [step("loop"), step("next"), step("next"), step("loop"), step("next"), step("next"), say("Done.")],
    actions: [run("/workflow outer Half way back")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "of a scope that begins with a nested workflow",
    global: FRONT,
    model: [step("next"), step("next"), step("loop"), step("next"), stop],
    actions: [run("/workflow outer Begin again")],
    differs: [
      38,
      {
        number: 20,
        at: "requests[4].messages[1]",
        reference: /Entered subworkflow 'Inner': A1 → 🔹 A1/,
        ours: /Advanced: A1 → 🔹 A2/,
      },
      {
        number: 20,
        at: "states[3].currentPath",
        reference: path(["outer", 0], ["front", 0]),
        ours: path(["outer", 0], ["front", 0], ["inner", 0]),
      },
      {
        number: 20,
        at: "states[4].currentPath",
        reference: path(["outer", 0], ["front", 0], ["inner", 0]),
        ours: path(["outer", 0], ["front", 0], ["inner", 1]),
      },
      {
        number: 20,
        at: "results[3].text",
        reference: /Entered subworkflow 'Inner': A1 → 🔹 A1/,
        ours: /Advanced: A1 → 🔹 A2/,
      },
      { number: 20, at: "results[3].details.to", reference: "A1", ours: "A2" },
      {
        number: 20,
        at: "screen[7..]",
        reference: [/Inner \[1\/2\]$/, /\(none\)$/, /A1 \[1\/2\]$/, /A1 \[1\/2\]$/, /in 3s/],
        ours: [/A1 \[1\/2\]$/, /A2 \[2\/2\]$/, /A2 \[2\/2\]$/, /A2 \[2\/2\]$/, /in 3s/],
      },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "of the innermost of two that both stand first",
    global: FRONT,
    model: [step("next"), step("loop"), step("next"), step("next"), step("next"), step("next"), say("Done.")],
    actions: [run("/workflow outer Begin again")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "then a restart",
    global: DEV,
    model: [
      step("next"),
      step("next"),
      step("loop"),
      stop,
      step("status"),
      step("next"),
      step("next"),
      step("next"),
      say("Done."),
    ],
    actions: [run("/workflow dev Iterate"), restart(), run("Go on")],
    differs: [
      38,
      55,
      { number: 2, reference: "Step 3 (1/3 in current scope)", ours: "Step 3 (1/2 in current scope)" },
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
];
