// Operations on sessions: abort, tree, fork, compaction, reload.

import { abort, clone, command, compact, files, forkBefore, interrupt, moveTo, pause, reload, run, switchBack } from "../actions.mjs";
import { hidden, say, step, stop, workflow, working } from "../workflows.mjs";

const TWO = workflow("hello", ["analyze", "execute"]);
const NESTED = { ...workflow("outer", ["a", "@inner", "z"]), ...hidden("inner", ["b", "c"]) };
const end = say("Done.");
/** Settings with which pi compacts the short sessions of these scenarios. */
const SMALL = { compaction: { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 } };

const STILL_ACTIVE = /The Hello is still active/;

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "an abort in the first phase starts no countdown",
    global: TWO,
    waits: true,
    model: [working],
    actions: [interrupt("/workflow hello Add a route"), pause],
    differs: [7, 14, 18, 22, 25, 39],
  },
  {
    name: "an abort after the last phase",
    global: TWO,
    model: [step("next"), step("next"), working, say("Hello.")],
    actions: [interrupt("/workflow hello Add a route"), run("Hello")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "a prompt during the countdown",
    global: TWO,
    waits: true,
    model: [say("I stop."), step("next"), step("next"), end],
    actions: [run("/workflow hello Add a route"), run("Go on"), pause],
    differs: [
      38,
      { number: 5, at: "requests[4..]", reference: [STILL_ACTIVE] },
      { number: 5, at: "sessions[0][16..]", reference: [STILL_ACTIVE, /script ended/] },
      { number: 5, at: "screen[4]", ours: "widget workflow-countdown: (none)" },
      { number: 5, at: "screen[10..]", reference: [/in 2s/, /in 1s/, "widget workflow-countdown: (none)", "status workflow: (none)"] },
      3, 14, 59, 17, 18, 22, 25, 39,
    ],
  },
  {
    name: "a new session during the countdown",
    global: TWO,
    waits: true,
    model: [say("I stop."), say("Who woke me?")],
    actions: [run("/workflow hello Add a route"), ({ rpc }) => rpc.send({ type: "new_session" }), pause],
    differs: [{ number: 5, at: "screen[4]", ours: "widget workflow-countdown: (none)" }, 14, 18, 22, 25, 39],
  },
  {
    name: "back in the tree, to an earlier phase and to before the start",
    global: TWO,
    model: [say("Hello."), step("next"), stop, step("status"), stop, step("status"), say("There is none.")],
    actions: [
      run("Hello"),
      run("/workflow hello Add a route"),
      moveTo('"action":"next"'),
      run("Where are you?"),
      moveTo('"text":"Hello."'),
      run("And now?"),
    ],
    differs: [38, 55, 5, 14, 18, 22, 25, 39],
  },
  {
    name: "back in the tree, from DONE into a nested phase",
    global: NESTED,
    model: [step("next"), step("next"), step("next"), step("next"), end, step("status"), stop],
    actions: [run("/workflow outer Add a route"), moveTo("Entered subworkflow"), run("Where are you?")],
    differs: [
      38, 55,
      { number: 2, reference: "(1/3 in current scope)", ours: "(1/2 in current scope)" },
      3, 14, 59, 17, 18, 22, 25, 39,
    ],
  },
  {
    name: "a tree move during the countdown",
    global: TWO,
    waits: true,
    model: [say("Hello."), say("I stop."), say("Who woke me?")],
    actions: [run("Hello"), run("/workflow hello Add a route"), moveTo('"text":"Hello."'), pause],
    differs: [
      { number: 5, at: "screen[5]", ours: "widget workflow-countdown: (none)" },
      14, 18, 22, 25, 39,
    ],
  },
  {
    name: "a fork in the middle, and another before the start",
    global: TWO,
    model: [step("next"), stop, stop, step("status"), stop, step("status"), say("There is none.")],
    actions: [
      run("/workflow hello Add a route"),
      run("Go on"),
      forkBefore("Go on"),
      run("Where are you?"),
      forkBefore("Begin with"),
      run("And now?"),
    ],
    differs: [38, 55, 5, 14, 18, 22, 25, 39],
  },
  {
    name: "a clone, and back",
    global: TWO,
    model: [step("next"), stop, step("next"), end, step("status"), stop],
    actions: [run("/workflow hello Add a route"), clone, run("Go on"), switchBack, run("Where are you?")],
    differs: [38, 55, 3, 5, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "compaction in a nested phase",
    global: NESTED,
    settings: SMALL,
    model: [step("next"), stop, say("A summary."), step("status"), step("next"), step("next"), step("next"), end],
    actions: [run("/workflow outer Add a route"), compact, run("Go on")],
    differs: [
      38,
      { number: 2, reference: "(1/3 in current scope)", ours: "(1/2 in current scope)" },
      3, 5, 14, 59, 17, 18, 22, 25, 39,
    ],
  },
  {
    name: "compaction after DONE",
    global: TWO,
    settings: SMALL,
    model: [step("next"), step("next"), end, say("You are welcome."), say("A summary."), say("Hello.")],
    actions: [run("/workflow hello Add a route"), run("Thanks"), compact, run("Hello")],
    differs: [
      38,
      {
        number: 17,
        reference:
          "\n\n[User]: ✅ **Hello Complete**\n\n**Task:** Add a route\n**Task ID:** wf-TASK-1\n**Phases completed:** 2",
        ours: "",
      },
      3, 14, 59, 17, 18, 22, 25, 39,
    ],
  },
  {
    name: "a reload with changed files",
    global: TWO,
    model: [step("next"), stop, step("status"), step("next"), end],
    actions: [
      run("/workflow hello Add a route"),
      // Changed rules would pause the run of ours; see restarts.mjs.
      files({ global: workflow("hello", ["analyze", { id: "execute", name: "Execute Well" }]) }),
      reload,
      run("Go on"),
    ],
    differs: [38, 55, 3, 5, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "a reload during the countdown",
    global: TWO,
    waits: true,
    model: [say("I stop."), say("Who woke me?")],
    actions: [run("/workflow hello Add a route"), reload, pause],
    differs: [
      55,
      { number: 5, at: "screen[4]", ours: "widget workflow-countdown: (none)" },
      { number: 5, at: "screen[5..]", reference: [/in 2s/, /in 1s/, "widget workflow-countdown: (none)"] },
      14, 18, 22, 25, 39,
    ],
  },
  {
    name: "an abort during the countdown",
    global: TWO,
    waits: true,
    model: [say("I stop."), working],
    actions: [run("/workflow hello Add a route"), ({ rpc }) => rpc.send({ type: "abort" }), pause, abort],
    differs: [38, 7, 14, 18, 22, 25, 39],
  },
  {
    name: "commands during the countdown",
    global: TWO,
    waits: true,
    model: [stop, working],
    actions: [run("/workflow hello Add a route"), command("/workflow"), pause, abort],
    differs: [
      { number: 55, at: "screen[6]", ours: /⏸ Hello > 🔹 Analyze \[1\/2\] \(waits for you\)$/ },
      { number: 5, at: "requests[1..]", reference: [STILL_ACTIVE] },
      { number: 5, at: "sessions[0][5..]", reference: [STILL_ACTIVE, /"workflow:context"/, /Working on it/] },
      { number: 5, at: "screen[4]", ours: "widget workflow-countdown: (none)" },
      { number: 5, at: "screen[5..]", reference: [/in 2s/, /in 1s/, "widget workflow-countdown: (none)", "status workflow: Hello > 🔹 Analyze [1/2]"] },
      14, 18, 22, 25, 39,
    ],
  },
];
