// The tools that a phase allows.

import { run } from "../actions.mjs";
import { hidden, say, step, use, workflow } from "../workflows.mjs";

const bash = use("bash", { command: "echo hi" });
const read = use("read", { path: "note.txt" });
const write = use("write", { path: "new.txt", content: "new" });
const files = { "note.txt": "42\n" };

const end = say("Done.");

/** The tools that pi shows by itself, and that of the workflow. */
const ACTIVE = "read bash edit write workflow_step";

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "a blacklist",
    global: workflow("w", [{ id: "look", tools: { blacklist: ["edit", "write"] } }, "act"]),
    files,
    model: [read, write, bash, step("next"), write, step("next"), end],
    actions: [run("/workflow w Look first")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "a whitelist, which need not name workflow_step",
    global: workflow("w", [{ id: "look", tools: { whitelist: ["read"] } }, "act"]),
    files,
    model: [read, write, bash, step("status"), step("next"), write, step("next"), end],
    actions: [run("/workflow w Look first")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "empty lists",
    global: workflow("w", [
      { id: "nothing", tools: { whitelist: [] } },
      { id: "everything", tools: { blacklist: [] }, text: "Blocked: {blockedToolsList}" },
    ]),
    files,
    model: [read, step("next"), read, step("next"), end],
    actions: [run("/workflow w Try")],
    differs: [38, { number: 1, reference: "{blockedToolsList}", ours: "(none)" }, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "workflow_step on a blacklist",
    global: workflow("w", [{ id: "only", tools: { blacklist: ["workflow_step", "bash"] } }]),
    model: [bash, step("status"), step("next"), end],
    actions: [run("/workflow w Try")],
    differs: [3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "the workflow's own reason, with a list of each kind",
    global: workflow(
      "w",
      [
        { id: "look", name: "Look Around", tools: { whitelist: ["read", "ls"] } },
        { id: "act", tools: { blacklist: ["write", "edit"] } },
      ],
      { blockReasonTemplate: "{workflowName}/{phaseName}/{toolName}/{allowedTools}/{taskId}" },
    ),
    model: [bash, step("next"), write, step("next"), end],
    actions: [run("/workflow w Look first")],
    differs: [
      { number: 57, at: "requests[0].tools", reference: ACTIVE, ours: `${ACTIVE} ls` },
      { number: 57, at: "requests[1].tools", reference: ACTIVE, ours: `${ACTIVE} ls` },
      ...[38, 3, 14, 59, 17, 18, 22, 25, 39],
    ],
  },
  {
    name: "lists of a nested workflow, with the reason of the outer one",
    global: {
      ...workflow("outer", ["a", "@inner", "z"], {
        blockReasonTemplate: "{workflowName} refuses {toolName} in {phaseName}",
      }),
      ...hidden("inner", [{ id: "b", tools: { blacklist: ["write"] } }], { blockReasonTemplate: "never" }),
    },
    model: [write, step("next"), write, step("next"), write, step("next"), end],
    actions: [run("/workflow outer Look inside")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "names that are no text",
    global: workflow("w", [{ id: "odd", tools: { whitelist: [1, true, 1.5, "read"] } }], {
      blockReasonTemplate: "{allowedTools}",
    }),
    model: [bash, step("next"), end],
    actions: [run("/workflow w Try")],
    differs: [3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "a call after next in the same answer",
    global: workflow("w", ["act", { id: "look", tools: { blacklist: ["bash"] } }]),
    model: [
      { calls: [...(step("next").calls ?? []), ...(bash.calls ?? [])] },
      { calls: [...(step("next").calls ?? []), ...(bash.calls ?? [])] },
      end,
    ],
    actions: [run("/workflow w Both at once")],
    differs: [
      38,
      {
        number: 30,
        at: "requests[1].messages[2]",
        reference: "tool: hi\n",
        ours: /"bash\\?" is blocked during the Look phase/,
      },
      {
        number: 30,
        at: "requests[2].messages[2]",
        reference: /"bash\\?" is blocked during the Look phase/,
        ours: "tool: hi\n",
      },
      { number: 30, at: "results[1].text", reference: "hi\n", ours: /is blocked during the Look phase/ },
      { number: 30, at: "results[3].text", reference: /is blocked during the Look phase/, ours: "hi\n" },
      { number: 30, at: "results[1].isError", reference: false, ours: true },
      { number: 30, at: "results[1].details", ours: {} },
      { number: 30, at: "results[3].isError", reference: true, ours: false },
      { number: 30, at: "results[3].details", reference: {} },
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
    name: "after the end",
    global: workflow("w", [{ id: "look", tools: { blacklist: ["bash"] } }]),
    model: [bash, step("next"), bash, end, bash, end],
    actions: [run("/workflow w Look"), run("And now")],
    differs: [3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "a phase with a model",
    global: workflow("w", [{ id: "look", model: ["strong", "other/none"], thinking: "high" }, "act"]),
    model: [step("next"), step("next"), end],
    actions: [run("/workflow w Look")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39, { number: 58, at: "screen[1]", ours: /no model for the phase/ }],
  },
];
