// Restarts of pi in every state of a run.

import { answer, command, interrupt, newSession, restart, run, switchBack } from "../actions.mjs";
import { hidden, say, step, stop, workflow, working } from "../workflows.mjs";

const TWO = workflow("hello", ["analyze", "execute"]);
const NESTED = { ...workflow("outer", ["a", "@inner", "z"]), ...hidden("inner", ["b", "c"]) };
const end = say("Done.");

const UNANNOUNCED = /"workflow:state".*"active":false.*"completionNotified":false/;

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "in the first phase",
    global: TWO,
    model: [stop, step("status"), step("next"), step("next"), end],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on")],
    differs: [38, 55, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "in a later phase, twice",
    global: TWO,
    model: [step("next"), stop, stop, step("next"), end],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on"), restart(), run("Go on")],
    differs: [38, 55, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "after an abort",
    global: TWO,
    model: [step("next"), working, step("next"), end],
    actions: [interrupt("/workflow hello Add a route"), restart(), run("Go on")],
    differs: [38, 7, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "in a nested phase",
    global: NESTED,
    model: [step("next"), step("next"), stop, step("status"), step("next"), step("next"), end],
    actions: [run("/workflow outer Add a route"), restart(), run("Go on")],
    differs: [38, 55, { number: 2, reference: "(2/3 in current scope)", ours: "(2/2 in current scope)" }, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "in a project's workflow",
    project: TWO,
    model: [step("next"), stop, step("next"), end],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on")],
    differs: [38, 55, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "during a countdown",
    global: TWO,
    model: [say("I stop."), step("next"), step("next"), end],
    actions: [run("/workflow hello Add a route"), restart(), run("Go on")],
    differs: [38, 55, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "after DONE, and another prompt",
    global: TWO,
    model: [step("next"), step("next"), end, step("status"), say("There is none.")],
    actions: [run("/workflow hello Add a route"), restart(), run("Where are you?")],
    differs: [
      38,
      { number: 3, at: "sessions[0][17..]", reference: [UNANNOUNCED, /"custom_message".*Hello Complete/] },
      { number: 3, at: "screen[12..]", reference: ["status workflow: (none)"] },
      3, 14, 59, 17, 18, 22, 25, 39,
    ],
  },
  {
    name: "after a cancellation by the tool, and another prompt",
    global: TWO,
    model: [step("cancel"), step("cancel"), end, say("You are welcome.")],
    actions: [answer(true), run("/workflow hello Add a route"), restart(), run("Thanks")],
    differs: [
      26,
      { number: 3, at: "sessions[0][14..]", reference: [UNANNOUNCED, /"custom_message".*Hello Cancelled/] },
      { number: 3, at: "screen[10..]", reference: ["status workflow: (none)"] },
      3, 6, 14, 59, 17, 18, 22, 25, 39,
    ],
  },
  {
    name: "after a cancellation by the command, and another prompt",
    global: TWO,
    model: [stop, say("You are welcome.")],
    actions: [run("/workflow hello Add a route"), command("/cancel-workflow"), restart(), run("Thanks")],
    differs: [
      5,
      { number: 3, at: "sessions[0][9..]", reference: [UNANNOUNCED, /"custom_message".*Hello Cancelled/] },
      { number: 3, at: "screen[9..]", reference: ["status workflow: (none)"] },
      3, 14, 59, 17, 18, 22, 25, 39,
    ],
  },
  {
    name: "with another workflow after DONE",
    global: { ...TWO, ...NESTED },
    model: [step("next"), step("next"), end, step("next"), stop],
    actions: [run("/workflow hello Add a route"), restart(), run("/workflow outer Add two")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "the workflow is gone meanwhile",
    global: TWO,
    model: [stop, step("status"), say("It is gone.")],
    actions: [
      run("/workflow hello Add a route"),
      restart({ change: { global: { hello: undefined } } }),
      run("Where are you?"),
      command("/cancel-workflow"),
    ],
    differs: [54, 3, 14, 59, 17, 18, 22, 25, 35, 39],
  },
  {
    name: "the workflow is gone meanwhile, and the tool wants to go on",
    global: TWO,
    model: [stop, step("next"), say("It is gone.")],
    actions: [
      run("/workflow hello Add a route"),
      restart({ change: { global: { hello: undefined } } }),
      run("Go on"),
    ],
    differs: [54, 14, 18, 22, 25, 35, 39],
  },
  {
    name: "the workflow is gone meanwhile, and the tool wants to loop",
    global: TWO,
    model: [stop, step("loop"), say("It is gone.")],
    actions: [
      run("/workflow hello Add a route"),
      restart({ change: { global: { hello: undefined } } }),
      run("Once more"),
    ],
    differs: [
      54,
      { number: 35, at: "requests[2].messages[1]", reference: /Cannot read properties/, ours: /no longer available/ },
      { number: 35, at: "results[0].text", reference: /Cannot read properties/, ours: /no longer available/ },
      { number: 35, at: "results[0].isError", reference: true, ours: false },
      { number: 35, at: "results[0].details", reference: {}, ours: /"error":"The workflow is no longer available\."/ },
      14, 18, 22, 25, 35, 39,
    ],
  },
  {
    name: "the workflow is gone meanwhile, and the tool wants to cancel",
    global: TWO,
    model: [stop, step("cancel"), say("I see.")],
    actions: [
      run("/workflow hello Add a route"),
      restart({ change: { global: { hello: undefined } } }),
      run("Where are you?"),
    ],
    differs: [
      54,
      { number: 54, at: "requests[2].messages[1]", reference: /Confirm cancellation/, ours: /^tool: The workflow is paused: / },
      { number: 54, at: "results[0].text", reference: /Confirm cancellation/, ours: /^The workflow is paused: / },
      { number: 54, at: "results[0].details", reference: { active: true, cancelPending: true }, ours: { active: true, held: true } },
      14, 18, 22, 25, 35, 39,
    ],
  },
  {
    name: "the nested workflow is gone meanwhile",
    global: NESTED,
    model: [step("next"), stop, step("status"), say("It is gone.")],
    actions: [
      run("/workflow outer Add a route"),
      restart({ change: { global: { ...workflow("outer", ["a", "z"]), inner: undefined } } }),
      run("Where are you?"),
    ],
    differs: [54, 38, 14, 18, 22, 25, 35, 39],
  },
  {
    name: "the workflow has fewer phases meanwhile",
    global: workflow("w", ["a", "b", "c"]),
    model: [step("next"), step("next"), stop, step("status"), say("I see.")],
    actions: [
      run("/workflow w Add a route"),
      restart({ change: { global: workflow("w", ["a", "b"]) } }),
      run("Where are you?"),
    ],
    differs: [54, 38, 14, 18, 22, 25, 39],
  },
  {
    name: "the phases are replaced meanwhile",
    global: workflow("w", ["a", "b", "c"]),
    model: [step("next"), stop, step("status"), say("I see.")],
    actions: [
      run("/workflow w Add a route"),
      restart({ change: { global: { ...workflow("w", ["x", "y", "@z"]), ...hidden("z", ["z1"]) } } }),
      run("Where are you?"),
    ],
    differs: [54, 38, 14, 18, 22, 25, 39],
  },
  {
    name: "in a new session",
    global: TWO,
    model: [step("next"), stop, step("status"), say("There is none.")],
    actions: [run("/workflow hello Add a route"), restart({ args: [] }), run("Where are you?")],
    differs: [38, 14, 18, 22, 25, 39],
  },
  {
    name: "a new session in the same pi, and back",
    global: TWO,
    model: [step("next"), stop, step("status"), say("There is none."), step("status"), stop],
    actions: [
      run("/workflow hello Add a route"),
      newSession,
      run("Where are you?"),
      switchBack,
      run("And now?"),
    ],
    differs: [38, 55, 5, 14, 18, 22, 25, 39],
  },
];
