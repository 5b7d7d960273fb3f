// A workflow without nested workflows, from start to DONE.

import { command, countdown, during, run, send } from "../actions.mjs";
import { say, step, stop, use, workflow } from "../workflows.mjs";

const TWO = workflow("hello", ["analyze", "execute"]);
const THREE = workflow("long", ["plan", "build", "test"]);

const STATE = /"workflow:state"/;
const NEXT = /✓ Advanced: /;
const STATUS = /\*\*Workflow:\*\* Long/;
const CALLS = /"type":"assistant".*"calls"/;
const NONE = /No active workflow/;

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "to DONE, and another prompt",
    global: TWO,
    model: [step("next"), step("next"), say("All done."), say("You are welcome.")],
    actions: [run("/workflow hello Add a route"), run("Thanks")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "status in every phase and after the end",
    global: THREE,
    model: [
      ...[step("status"), step("next"), step("status"), step("next"), step("status"), step("next")],
      ...[step("status"), say("All done."), step("status"), say("There is none.")],
    ],
    actions: [run("/workflow long Add a route"), run("Where are you?")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "a single phase",
    global: workflow("one", ["only"]),
    model: [step("next"), say("Done.")],
    actions: [run("/workflow one Add a route")],
    differs: [3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "work between the transitions, with a summary",
    global: TWO,
    files: { "note.txt": "42\n" },
    model: [
      use("read", { path: "note.txt" }),
      use("workflow_step", { action: "next", summary: "Read the note" }),
      use("bash", { command: "echo 43 > note.txt" }),
      step("next"),
      say("Done."),
    ],
    actions: [run("/workflow hello Add a route")],
    differs: [38, 40, 3, 14, 17, 18, 22, 25, 39],
  },
  {
    name: "a phase that is not left without a summary",
    global: workflow("hello", [{ id: "analyze", summary: "required" }, "execute"]),
    model: [step("next"), stop],
    actions: [run("/workflow hello Add a route")],
    differs: [
      {
        number: 40,
        at: "requests[1].messages[1]",
        reference: NEXT,
        ours: /^tool: ⚠️ .* cannot be left without a summary\./,
      },
      { number: 40, at: "results[0].text", reference: NEXT, ours: /^⚠️ .* cannot be left without a summary\./ },
      {
        number: 40,
        at: "results[0].details",
        reference: { advanced: true, from: "Analyze", to: "Execute" },
        ours: { active: true, error: "summary required" },
      },
      { number: 40, at: "sessions[0][5]", reference: STATE },
      {
        number: 40,
        at: "screen[2..]",
        reference: [/\(none\)$/, /Execute/, /Execute/, /in 3s/],
        ours: [/Analyze/, /Analyze/, /in 3s/],
      },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "the context prompt with every run, where the workflow wants it",
    global: workflow("hello", ["analyze", "execute"], { contextInjection: "everyRun" }),
    model: [stop, stop],
    actions: [run("/workflow hello Add a route"), run("Go on")],
    differs: [
      { number: 38, at: "requests[1]", reference: /"continues":true/, ours: /"continues":false/ },
      5,
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "several transitions in one answer",
    global: THREE,
    model: [step("next", "status", "next"), step("next", "next"), say("Done.")],
    actions: [run("/workflow long Add a route")],
    differs: [
      38,
      {
        number: 30,
        at: "sessions[0][5..]",
        reference: [STATE, STATE, NEXT, STATUS, NEXT, CALLS, STATE, NEXT, NONE, /Done/, STATE, /"workflow:complete"/],
        ours: [STATE, NEXT, STATUS, STATE, NEXT, CALLS, STATE, NEXT, NONE, /Done/, /"workflow:complete"/, STATE],
      },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "the tool without a workflow",
    global: TWO,
    model: [step("next"), step("status"), step("loop"), step("cancel"), say("There is none.")],
    actions: [run("Try it")],
    differs: [],
  },
  {
    name: "arguments that the tool does not take",
    global: TWO,
    model: [
      use("workflow_step", { action: "jump" }),
      use("workflow_step", {}),
      use("workflow_step", { action: 1 }),
      use("workflow_step", { action: "status", more: true }),
      stop,
    ],
    actions: [run("/workflow hello Add a route")],
    differs: [14, 18, 22, 25, 39],
  },
  {
    name: "a task of several lines, with white space and template variables",
    global: workflow("hello", [{ id: "analyze", text: "Do {phaseName}." }], {
      initialMessage: "{description} {phaseName}",
    }),
    model: [step("status"), step("next"), say("Done.")],
    actions: [run("/workflow   hello \t Add {phaseName}\nand {description}.  \n")],
    differs: [{ number: 1, reference: "Do {phaseName}.", ours: "Do Analyze." }, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "the agent stops too early and is told to go on, twice",
    global: TWO,
    waits: true,
    model: [say("I stop."), step("next"), say("I stop again."), step("next"), say("Done.")],
    actions: [run("/workflow hello Add a route"), countdown, countdown],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "the model fails, and the user sends a message",
    global: TWO,
    model: [{ status: 400, text: "out for lunch" }, step("next"), step("next"), say("Done.")],
    actions: [run("/workflow hello Add a route"), run("Go on")],
    differs: [38, 7, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "a message of the user while the agent works",
    global: TWO,
    model: [{ ...step("next"), delayMs: 700 }, step("next"), say("Done."), say("I did.")],
    actions: [
      during(
        "/workflow hello Add a route",
        1,
        send({ type: "steer", message: "Be quick" }),
        send({ type: "follow_up", message: "Did you test?" }),
      ),
    ],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "more phases than the context prompt lists",
    global: workflow(
      "long",
      Array.from({ length: 25 }, (_, index) => `p${index + 1}`),
    ),
    model: [...Array.from({ length: 25 }, () => step("next")), say("Done.")],
    actions: [run("/workflow long Add a route")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "prompts without a workflow",
    global: TWO,
    model: [say("Hello."), use("bash", { command: "echo hi" }), say("Hi.")],
    actions: [run("Hello"), run("Say hi"), command("/cancel-workflow")],
    differs: [],
  },
];
