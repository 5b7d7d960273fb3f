// Sessions that one package begins and the other continues; each restart changes the package.

import { answer, command, interrupt, restart, run } from "../actions.mjs";
import { hidden, say, step, stop, workflow, working } from "../workflows.mjs";

const TWO = workflow("hello", ["analyze", "execute"]);
const DEEP = {
  ...workflow("one", ["a", "@two", "z"]),
  ...hidden("two", ["b", "@three"]),
  ...hidden("three", ["c", "d"]),
};
const FRONT = {
  ...workflow("outer", ["@front", "z"]),
  ...hidden("front", ["@inner", "b"]),
  ...hidden("inner", ["a1", "a2"]),
};
const end = say("Done.");

/**
 * `toOurs` are the differences of what ours does with a session of the reference (on the side of `reference`) and with
 * its own (on the side of `ours`); `toReference` those of what the reference does with a session of ours (`ours`) and
 * with its own (`reference`).
 *
 * @typedef {Omit<import("../play.mjs").Scenario, "differs"> & {
 *   toOurs?: import("../compare.mjs").Difference[],
 *   toReference?: import("../compare.mjs").Difference[],
 * }} Handover
 */

const STATE = /"workflow:state"/;
const COMPLETE = /"workflow:complete".*(Cancelled|Complete)/;

/** The model received the completion message. */
const TOLD = { number: 17, at: "requests[0].messages[1]", reference: /^user: .*(Cancelled|Complete)\*\*/ };

/**
 * A session of the reference stores that the end was not announced.
 * @param {RegExp[]} entries
 */
const announcedAgain = (entries) => [
  { number: 3, at: "sessions[0][4..]", reference: entries },
  { number: 3, at: "screen[3..]", reference: ["status workflow: (none)"] },
];

/**
 * A session of the reference does not store the number of passes through a phase.
 * @param {string} progress
 * @param {number} number
 */
const pass = (progress, number) => ({
  number: 25,
  reference: `**Progress:** ${progress}\n`,
  ours: `**Progress:** ${progress}\n**Pass:** ${number}\n`,
});

/** @type {Handover[]} */
export default [
  {
    name: "in the first phase",
    global: TWO,
    model: [stop, step("status"), step("next"), step("next"), end],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on")],
  },
  {
    name: "in a later phase",
    global: TWO,
    model: [step("next"), stop, step("status"), step("next"), end],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on")],
  },
  {
    name: "in a phase of a project's workflow, with a refused tool",
    project: workflow("w", ["a", { id: "b", tools: { whitelist: ["read"] } }]),
    model: [step("next"), stop, { calls: [{ name: "bash", arguments: { command: "echo" } }] }, step("next"), end],
    actions: [run("/workflow w Add a route"), restart(), run("Go on")],
  },
  {
    name: "after a phase with outputs, in phases that get no results and have hidden files",
    global: workflow(
      "hello",
      [
        { id: "analyze", outputs: { size: { type: "choice", options: ["small", "large"] } } },
        { id: "execute", results: "none", hide: [".env"] },
        { id: "check", results: "none" },
      ],
      { completionMessage: "Finished." },
    ),
    model: [
      { calls: [{ name: "workflow_step", arguments: { action: "next", outputs: { size: "large" } } }] },
      stop,
      step("status"),
      step("next"),
      step("next"),
      end,
    ],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on")],
  },
  {
    name: "three deep",
    global: DEEP,
    model: [step("next"), step("next"), step("next"), stop, step("status"), step("next"), step("next"), end],
    actions: [run("/workflow one Dig"), restart(), run("Go on")],
  },
  {
    name: "after a loop",
    global: DEEP,
    model: [
      step("next"),
      step("next"),
      step("next"),
      step("loop"),
      stop,
      step("loop"),
      ...[1, 2, 3, 25].map(() => step("next")),
      end,
    ],
    actions: [run("/workflow one Dig"), restart(), run("Go on")],
    toOurs: [
      pass("Step 4 (1/2 in current scope)", 2),
      pass("Step 5 (1/2 in current scope)", 3),
      pass("Step 6 (2/2 in current scope)", 2),
    ],
  },
  {
    name: "after a loop of a scope that begins with a nested workflow",
    global: FRONT,
    model: [step("next"), step("next"), step("loop"), stop, step("status"), step("next"), stop],
    actions: [run("/workflow outer Begin again"), restart(), run("Go on")],
    toOurs: [pass("Step 3 (1/2 in current scope)", 2), pass("Step 4 (2/2 in current scope)", 2)],
    toReference: [
      { number: 20, reference: "path: Outer > Front ▸ 🔹 A1]", ours: "path: Outer > Front > Inner ▸ 🔹 A1]" },
      { number: 20, reference: "**Path:** Outer > Front\n", ours: "**Path:** Outer > Front > Inner\n" },
      {
        number: 20,
        at: "requests[2].messages[1]",
        reference: /Entered subworkflow 'Inner': A1 → 🔹 A1/,
        ours: /Advanced: A1 → 🔹 A2/,
      },
      {
        number: 20,
        at: "sessions[0][3..]",
        reference: [
          /"details".*"currentPath":\[[^\]]*"front","phaseIndex":0\}\]/,
          /"calls"/,
          /"inner","phaseIndex":0\}\]/,
          /A1 → 🔹 A1/,
          /I stop\./,
        ],
        ours: [
          /"details".*"currentPath":\[[^\]]*"inner","phaseIndex":0\}\]/,
          /"calls"/,
          /"inner","phaseIndex":1\}\]/,
          /A1 → 🔹 A2/,
          /I stop\./,
        ],
      },
      {
        number: 20,
        at: "screen[0..]",
        reference: [/Inner \[1\/2\]$/, /Inner \[1\/2\]$/, /\(none\)$/, /A1 \[1\/2\]$/, /A1 \[1\/2\]$/, /in 3s/],
        ours: [/A1 \[1\/2\]$/, /A1 \[1\/2\]$/, /\(none\)$/, /A2 \[2\/2\]$/, /A2 \[2\/2\]$/, /in 3s/],
      },
    ],
  },
  {
    name: "with a cancellation that waits for its confirmation",
    global: TWO,
    model: [step("cancel"), step("next"), stop, step("cancel"), stop],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on")],
    toReference: [
      { number: 6, at: "requests[1].messages[1]", reference: /Workflow cancelled/, ours: /Confirm cancellation/ },
      {
        number: 6,
        at: "sessions[0][3..]",
        reference: [/"workflow:state"/, /Workflow cancelled/, /I stop\./, /"workflow:state"/, /"workflow:complete"/],
        ours: [/Confirm cancellation/, /I stop\./],
      },
      {
        number: 6,
        at: "screen[1..]",
        reference: Array(4).fill("status workflow: (none)"),
        ours: [...Array(2).fill("status workflow: Hello > 🔹 Execute [2/2]"), /in 3s/],
      },
    ],
  },
  {
    name: "cancelled by the tool",
    global: TWO,
    model: [step("cancel"), step("cancel"), end, step("status"), say("There is none.")],
    actions: [answer(true), run("/workflow hello Add a route"), restart(), run("Where are you?")],
    toOurs: [TOLD, ...announcedAgain([COMPLETE, STATE])],
    toReference: [TOLD, ...announcedAgain([STATE, COMPLETE])],
  },
  {
    name: "cancelled by the command",
    global: TWO,
    model: [stop, step("status"), say("There is none.")],
    actions: [run("/workflow hello Add a route"), command("/cancel-workflow"), restart(), run("Where are you?")],
    toOurs: [TOLD, ...announcedAgain([COMPLETE, STATE])],
    toReference: [TOLD, ...announcedAgain([STATE, COMPLETE])],
  },
  {
    name: "completed",
    global: TWO,
    model: [step("next"), step("next"), end, step("status"), say("There is none.")],
    actions: [run("/workflow hello Add a route"), restart(), run("Where are you?")],
    toOurs: [TOLD, ...announcedAgain([COMPLETE, STATE])],
    toReference: [TOLD, ...announcedAgain([STATE, COMPLETE])],
  },
  {
    name: "completed, and then another workflow",
    global: { ...TWO, ...DEEP },
    model: [step("next"), step("next"), end, step("next"), stop],
    actions: [run("/workflow hello Add a route"), restart(), run("/workflow one Dig")],
    toOurs: [TOLD],
    toReference: [TOLD],
  },
  {
    name: "during a countdown",
    global: TWO,
    model: [say("I stop."), step("next"), step("next"), end],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on")],
  },
  {
    name: "after an abort",
    global: TWO,
    model: [step("next"), working, step("next"), end],
    actions: [interrupt("/workflow hello Add a route"), restart(), run("Go on")],
    toOurs: [
      { number: 7, at: "sessions[0][0]", ours: STATE },
      {
        number: 7,
        at: "screen[0]",
        reference: /⏸ Hello > 🔹 Execute \[2\/2\] \(waits for you\)$/,
        ours: /⏸ Hello > 🔹 Execute \[2\/2\] \(paused: /,
      },
    ],
  },
  {
    name: "the user cancels",
    global: DEEP,
    model: [step("next"), stop, step("status"), say("There is none.")],
    actions: [run("/workflow one Dig"), restart(), command("/cancel-workflow"), run("Where are you?")],
  },
];

/** A run in which each phase is played by another pi. @type {Handover} */
export const turns = {
  name: "turns",
  global: DEEP,
  model: Array.from({ length: 5 }, () => [step("next"), stop]).flat(),
  actions: [run("/workflow one Dig"), ...[1, 2, 3, 4].flatMap(() => [restart(), run("Go on")])],
};
