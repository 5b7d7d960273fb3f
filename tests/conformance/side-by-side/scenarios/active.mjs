// A second `/workflow` during a run, or while the agent works.

import { answer, command, during, rest, restart, run } from "../actions.mjs";
import { hidden, say, step, stop, workflow } from "../workflows.mjs";

const TWO = {
  ...workflow("first", ["a", "b"]),
  ...workflow("second", ["@inner", "y"]),
  ...hidden("inner", ["x"]),
};

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "yes",
    global: TWO,
    model: [step("next"), stop, step("status"), step("next"), step("next"), say("Done.")],
    actions: [run("/workflow first One"), answer(true), run("/workflow second Two")],
    differs: [
      38, 55,
      { number: 2, reference: "(1/2 in current scope)", ours: "(1/1 in current scope)" },
      3, 5, 14, 59, 17, 18, 22, 25, 39,
    ],
  },
  {
    name: "no, and no answer",
    global: TWO,
    model: [step("next"), stop, step("status"), stop],
    actions: [
      run("/workflow first One"),
      answer(false),
      command("/workflow second Two"),
      answer(undefined),
      command("/workflow second Three"),
      run("Where are you?"),
    ],
    differs: [
      38,
      // While the question is open, and until the next message.
      { number: 55, at: "screen[7]", ours: /⏸ First > 🔹 B \[2\/2\] \(waits for you\)$/ },
      { number: 55, at: "screen[9]", ours: "status workflow: First > 🔹 B [2/2]" },
      5, 14, 18, 22, 25, 39,
    ],
  },
  {
    name: "no question where there is nothing to start",
    global: TWO,
    model: [stop],
    actions: [
      run("/workflow first One"),
      command("/workflow"),
      command("/workflow second"),
      command("/workflow inner Two"),
      command("/workflow unknown Two"),
    ],
    differs: [55, { number: 23, reference: "Available: first, , second", ours: "Available: first, second" }, 5, 14, 18, 22, 25, 39],
  },
  {
    name: "replaces one whose files are missing",
    global: TWO,
    model: [stop, step("next"), step("next"), say("Done.")],
    actions: [
      run("/workflow first One"),
      restart({ change: { global: { first: undefined } } }),
      answer(true),
      run("/workflow second Two"),
    ],
    differs: [
      54,
      38,
      { number: 2, reference: "(1/2 in current scope)", ours: "(1/1 in current scope)" },
      3, 14, 59, 17, 18, 22, 25, 35, 39,
    ],
  },
  {
    name: "after the end of the first no question",
    global: TWO,
    model: [step("next"), step("next"), say("Done."), stop],
    actions: [run("/workflow first One"), run("/workflow second Two")],
    differs: [
      38,
      { number: 2, reference: "(1/2 in current scope)", ours: "(1/1 in current scope)" },
      3, 14, 59, 17, 18, 22, 25, 39,
    ],
  },
  {
    name: "while the agent works on something else",
    global: TWO,
    model: [{ text: "Hello.", delayMs: 700 }, stop],
    actions: [during("Hello", 1, command("/workflow first One")), rest],
    differs: [
      { number: 24, at: "errors[0..]", reference: [/Agent is already processing/] },
      { number: 24, at: "requests[1..]", ours: [/Begin with A: One.*\[Workflow path: First ▸ 🔹 A\]/] },
      { number: 24, at: "sessions[0][4..]", ours: [/Begin with A: One.*\[Workflow path: First ▸ 🔹 A\]/, /I stop\./] },
      { number: 24, at: "screen[1..]", reference: /in 3s/, ours: /First > 🔹 A \[1\/2\].*in 3s/ },
      25,
    ],
  },
  {
    name: "a step of the answer that the model gives meanwhile",
    global: TWO,
    model: [{ ...step("next"), delayMs: 700 }, stop, stop],
    actions: [during("Hello", 1, command("/workflow first One")), rest],
    differs: [
      25,
      { number: 24, at: "errors[0..]", reference: [/Agent is already processing/] },
      { number: 24, at: "requests[2..]", ours: [/Begin with A: One.*\[Workflow path: First ▸ 🔹 A\]/] },
      { number: 43, at: "requests[1].messages[1]", reference: /Advanced: A → 🔹 B/, ours: /this call had no effect\. .* is 🔹 A\./ },
      {
        number: 43,
        at: "sessions[0][4..]",
        reference: [/"globalStepCount":1,/, /Advanced: A → 🔹 B/, /I stop\./],
        ours: [/this call had no effect\. .* is 🔹 A\./, /I stop\./, /Begin with A: One/, /I stop\./],
      },
      { number: 43, at: "screen[1..]", reference: /First > 🔹 B \[2\/2\].*in 3s/, ours: /First > 🔹 A \[1\/2\].*in 3s/ },
    ],
  },
];
