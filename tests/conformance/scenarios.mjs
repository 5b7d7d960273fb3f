// What the two packages play. Each scenario names the blocks that it looks at, and in `ours` what this package shows
// in the place of a text of the reference; docs/differences.md has the reasons.

import { fileURLToPath } from "node:url";
import {
  answer,
  change,
  command,
  compact,
  countdown,
  forkBefore,
  interrupt,
  moveTo,
  newSession,
  open,
  pause,
  restart,
  run,
} from "./play.mjs";
import { hidden, phaseFile, say, step, stop, use, workflow, working } from "./workflows.mjs";

/**
 * @typedef {keyof typeof import("./record.mjs").BLOCKS} Block
 * @typedef {[reference: string | RegExp, ours: string]} Replacement
 * @typedef {import("./play.mjs").Play & { name: string, looks: Block[] }} Looks
 * @typedef {Looks & { ours?: Replacement[] }} Scenario
 * @typedef {Looks & { toOurs?: Replacement[], toReference?: Replacement[] }} Handover
 */

const TWO = workflow("hello", ["analyze", "execute"]);
const RELEASE = { ...workflow("release", ["build", "@review", "deploy"]), ...hidden("review", ["static", "peer"]) };
const DEEP = {
  ...workflow("one", ["a", "@two", "z"]),
  ...hidden("two", ["b", "@three", "y"]),
  ...hidden("three", ["c", "d"]),
};
/** Templates that both packages show alike. */
const PLAIN = { roleInstruction: "Role.", advanceReminder: "Advance." };

const bash = use("bash", { command: "echo hi" });
const read = use("read", { path: "note.txt" });
const write = use("write", { path: "new.txt", content: "new" });
const files = { "note.txt": "42\n" };
const end = say("Done.");
const nexts = (/** @type {number} */ count) => Array.from({ length: count }, () => step("next"));

/** A line with each of these variables. */
const all = (/** @type {string} */ names) =>
  names
    .split(" ")
    .map((name) => `${name}={${name}}`)
    .join("\n");

/** Of the two states at the end, the last says that the end was announced. */
const ANNOUNCED = /** @type {Replacement} */ ([
  /(\{"active":false.*\n――\n\{"active":false.*"completionNotified":)false/g,
  "$1true",
]);
/** The message at the end has a line of what the run took. */
const USAGE = /** @type {Replacement} */ ([/(\*\*Phases completed:\*\* \d+)/g, "$1\n\n**Usage:** …"]);
const USAGE_CANCELLED = /** @type {Replacement} */ ([/(Cancelled\*\*\n\n.*\n.*)/g, "$1\n\n**Usage:** …"]);
/** The state of a run that the user cancelled. */
const CANCELLED = /** @type {Replacement} */ ([
  /("active":false,"cancelled":true,"completionNotified":)false/g,
  "$1true",
]);
/** The default role names a tool that is not there. */
const ROLE = /** @type {Replacement} */ ([
  /You are the ORCHESTRATOR .* via the delegate_to_subagents tool\./g,
  "You are working through this workflow, one phase at a time. Do the work of the current phase, and only that.",
]);
const INSTRUCTIONS = /** @type {Replacement} */ ([
  /(instructions:\n|phaseInstructions=).+/g,
  "$1(as given for this phase)",
]);

/**
 * The context prompt lists all steps.
 * @param {string} progress the line before
 * @param {...string} steps
 * @returns {Replacement}
 */
const steps = (progress, ...steps) => [`${progress}\n`, `${progress}\n\n**All steps:**\n${steps.join("\n")}\n`];

/**
 * The context prompt says which tools the phase allows unless it allows all, asks for a summary, and ends with the exact
 * call. It leaves out profiles where there are none.
 * @param {string} [rule]
 * @param {string} [after] the beginning of the text below
 * @returns {Replacement}
 */
const rules = (rule, after = "") => [
  new RegExp(`(?:\\*\\*All profiles:\\*\\* \\(none\\)\\n|(\\*\\*All profiles:\\*\\* .*\\n))\\n(${after}.*)`, "g"),
  "$1" +
    (rule ? `**Tools in this phase:** ${rule}. workflow_step always works.\n` : "") +
    "**Hand-over:** what later phases must know goes into `summary`, at most 4,000 characters.\n\n$2\n\n" +
    'workflow_step {"action": "next", "summary": "<what you found or did>"}',
];
/** The context prompt names no scope where there is one. */
const SCOPE = /** @type {Replacement} */ ([
  /(\[Workflow path: [^>\n]*\][^]*?If you need to restart )the current scope /g,
  "$1",
]);
/** No profiles. */
const NONE = /** @type {Replacement} */ ([
  "**Available subagent profiles for this phase:** (none)\n**All profiles:** \n",
  "**All profiles:** (none)\n",
]);

/** A state of 1.0.0. */
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
const OLD = { ...workflow("w", ["a", "b", "@inner"]), ...hidden("inner", ["x", "y"]) };

/** A session with these states. @param {...unknown} states */
const session = (...states) => [
  { type: "message", message: { role: "user", content: "Hello", timestamp: 1 } },
  ...states.map((data) => ({ type: "custom", customType: "workflow:state", data })),
];

/** @type {Scenario[]} */
export const scenarios = [
  {
    name: "the tool, and what the system prompt says about it",
    global: TWO,
    model: [stop],
    actions: [run("Hello")],
    looks: ["tool"],
    ours: [
      [
        /(accomplished in the current phase"\})/g,
        `$1,"outcome":{"type":"string","description":"With \\"next\\": the outcome of the current phase, where its instructions list outcomes"},"outputs":{"type":"object","additionalProperties":true,"description":"With \\"next\\": the outputs of the current phase by name, where its instructions list outputs"}`,
      ],
      [/(to restart the current scope from the beginning)\./g, "$1, where the phase's instructions offer it."],
    ],
  },
  {
    name: "from the start to DONE",
    global: TWO,
    model: [step("status"), ...nexts(2), end, say("You are welcome.")],
    actions: [run("/workflow hello Add a route"), run("Thanks")],
    looks: ["prompts", "names", "results", "details", "states", "status", "end", "notices"],
    ours: [ANNOUNCED, USAGE],
  },
  {
    name: "status in every phase and after the end",
    global: RELEASE,
    model: [...nexts(4).flatMap((next) => [step("status"), next]), end, step("status"), end],
    actions: [run("/workflow release Ship it"), run("How is it?")],
    looks: ["results"],
  },
  {
    name: "the context prompt with the default texts",
    global: workflow("hello", [{ id: "analyze", availableProfiles: ["x", "y"] }, "execute"]),
    model: [stop],
    actions: [run("/workflow hello Add a route")],
    looks: ["context"],
    ours: [ROLE, steps("Step 0 (1/2 phases)", "▸ 1. 🔹 Analyze (current)", "  2. 🔹 Execute"), rules(), SCOPE],
  },
  {
    name: "the context prompt of a nested phase",
    global: RELEASE,
    model: [step("next"), stop, step("next"), stop, stop],
    actions: [run("/workflow release Ship it"), run("Go on"), run("Go on")],
    looks: ["context"],
    ours: [
      ROLE,
      steps(
        "Step 0 (1/3 phases)",
        "▸ 1. 🔹 Build (current)",
        "  2. Review > 🔹 Static",
        "  3. Review > 🔹 Peer",
        "  4. 🔹 Deploy",
      ),
      // The reference counts the phases of the outer workflow.
      ["(1/3 in current scope)", "(1/2 in current scope)"],
      ["(2/3 in current scope)", "(2/2 in current scope)"],
      steps(
        "(1/2 in current scope)",
        "  1. 🔹 Build",
        "▸ 2. Review > 🔹 Static (current)",
        "  3. Review > 🔹 Peer",
        "  4. 🔹 Deploy",
      ),
      steps(
        "(2/2 in current scope)",
        "  1. 🔹 Build",
        "  2. Review > 🔹 Static",
        "▸ 3. Review > 🔹 Peer (current)",
        "  4. 🔹 Deploy",
      ),
      NONE,
      rules(),
      SCOPE,
    ],
  },
  {
    name: "the default role, where a tool delegates",
    global: TWO,
    extensions: [fileURLToPath(new URL("delegating.mjs", import.meta.url))],
    model: [stop],
    actions: [run("/workflow hello Add a route")],
    looks: ["context"],
    ours: [steps("Step 0 (1/2 phases)", "▸ 1. 🔹 Analyze (current)", "  2. 🔹 Execute"), NONE, rules(), SCOPE],
  },
  {
    name: "every variable of the context prompt",
    global: workflow("w", ["a", { id: "b", tools: { blacklist: ["edit", "write"] } }, "c"], {
      roleInstruction: all(
        "workflowName workflowKey description taskId phaseId phaseName previousPhaseName nextPhaseName " +
          "blockedToolsList toolName breadcrumbPath globalStepCount taskDescription unknown",
      ),
      advanceReminder: "{phaseId} before {nextPhaseName}",
    }),
    model: [step("next"), stop, stop],
    actions: [run("/workflow w Fill in"), run("Go on")],
    looks: ["context"],
    ours: [
      steps("Step 0 (1/3 phases)", "▸ 1. 🔹 A (current)", "  2. 🔹 B", "  3. 🔹 C"),
      steps("Step 1 (2/3 phases)", "  1. 🔹 A", "▸ 2. 🔹 B (current)", "  3. 🔹 C"),
      NONE,
      rules(undefined, "a before"),
      rules("all except edit, write; a call of one of those is refused", "b before"),
    ],
  },
  {
    name: "every variable of the initial message, the reminder and the message at the end",
    global: workflow("w", [{ id: "a", name: "The A", emoji: "🅰️", text: "Do it.", availableProfiles: ["x", "y z"] }], {
      ...PLAIN,
      name: "The W",
      initialMessage: all(
        "workflowName workflowKey description firstPhaseId firstPhaseName firstPhaseEmoji firstPhaseProfiles unknown",
      ),
      notDoneReminder: all(
        "workflowName phaseName phaseEmoji phaseInstructions taskDescription taskId workflowKey description",
      ),
      completionMessage: all("workflowName taskDescription taskId phaseCount workflowKey"),
    }),
    model: [stop, step("next"), end],
    actions: [run("/workflow w Fill in"), countdown],
    looks: ["prompts", "end"],
    ours: [INSTRUCTIONS],
  },
  {
    name: "the agent stops too early, twice",
    global: TWO,
    model: [stop, step("next"), stop, step("next"), end],
    actions: [run("/workflow hello Add a route"), countdown, countdown],
    looks: ["prompts", "countdown", "states"],
    ours: [ANNOUNCED, INSTRUCTIONS],
  },
  {
    name: "an abort starts no countdown",
    global: TWO,
    model: [working],
    actions: [interrupt("/workflow hello Add a route"), pause],
    looks: ["countdown", "prompts"],
  },
  {
    name: "the status line, and the stored path, four deep",
    global: { ...DEEP, ...hidden("three", ["c", "@four"]), ...hidden("four", ["d", "e"]) },
    model: [step("status"), ...nexts(7), end],
    actions: [run("/workflow one Dig")],
    looks: ["status", "results", "details", "states"],
    ours: [ANNOUNCED],
  },
  {
    name: "a workflow of nothing but a nested one",
    global: {
      ...workflow("outer", ["@middle"]),
      ...hidden("middle", ["@inner", "@inner"]),
      ...hidden("inner", ["a", "b"]),
    },
    model: [step("status"), ...nexts(4), end],
    actions: [run("/workflow outer Nothing else")],
    looks: ["status", "results", "states", "end"],
    ours: [ANNOUNCED, USAGE],
  },
  {
    name: "loops of a flat and of a nested scope",
    global: RELEASE,
    model: [step("loop"), ...nexts(2), step("loop"), ...nexts(3), end],
    actions: [run("/workflow release Again")],
    looks: ["status", "results", "details", "states"],
    ours: [ANNOUNCED],
  },
  {
    name: "a loop that the workflow does not allow",
    global: workflow("w", ["a", "b"], { loopable: false }),
    model: [step("next"), step("loop"), stop],
    actions: [run("/workflow w Again")],
    looks: ["results", "details", "states"],
  },
  {
    name: "the default refusal of a tool, by a blacklist and by a whitelist",
    global: workflow("w", [
      { id: "look", tools: { blacklist: ["edit", "write"] } },
      { id: "act", tools: { whitelist: ["read"] } },
    ]),
    files,
    model: [read, write, step("next"), read, write, bash, step("next"), end],
    actions: [run("/workflow w Look first")],
    looks: ["results"],
    ours: [
      [
        /(during the Look phase\.\n.*\n.*)/g,
        "$1\nTools in this phase: all except edit, write; a call of one of those is refused. workflow_step always works.",
      ],
      [
        /(during the Act phase\.\n.*\n.*)/g,
        "$1\nTools in this phase: only read; a call of any other is refused. workflow_step always works.",
      ],
    ],
  },
  {
    name: "the workflow's own refusal, in a nested workflow too",
    global: {
      ...workflow("outer", [{ id: "a", tools: { whitelist: ["read", "edit"] } }, "@inner"], {
        ...PLAIN,
        blockReasonTemplate: all("workflowName phaseName toolName allowedTools taskId"),
      }),
      ...hidden("inner", [{ id: "b", tools: { blacklist: ["bash", "edit"] } }], { blockReasonTemplate: "never" }),
    },
    model: [bash, step("next"), bash, step("next"), end],
    actions: [run("/workflow outer Look first")],
    looks: ["results"],
  },
  {
    name: "the tool without a workflow",
    global: TWO,
    model: [step("next"), step("status"), step("loop"), step("cancel"), end],
    actions: [run("Try it")],
    looks: ["results", "details"],
  },
  {
    name: "arguments that the tool does not take",
    global: TWO,
    model: [use("workflow_step", { action: "jump" }), use("workflow_step", {}), stop],
    actions: [run("/workflow hello Add a route")],
    looks: ["results"],
  },
  {
    name: "the agent cancels, confirmed at once",
    global: TWO,
    model: [step("cancel"), step("cancel"), end],
    actions: [answer(true), run("/workflow hello Add a route")],
    looks: ["results", "details", "states", "status", "end", "notices"],
    ours: [
      ['workflow "Add a route"?', 'workflow "Hello"?'],
      // It is not stored that a first call waits for the second.
      ['"_cancelPending":true,', ""],
      [/("active":false.*\n――\n.*"active":false.*"completionNotified":)false/g, "$1true"],
      USAGE_CANCELLED,
      // With a user interface the user is asked.
      [
        "# notices\n\n",
        "# notices\n\nCancel the workflow?: Add a route\n\nThe agent wants to cancel this workflow. Cancel it?",
      ],
    ],
  },
  {
    name: "the user cancels",
    global: TWO,
    model: [step("status"), step("next"), stop, step("status"), end],
    actions: [
      command("/cancel-workflow"),
      run("/workflow hello Add a route"),
      command("/cancel-workflow"),
      run("Where are you?"),
    ],
    looks: ["results", "states", "status", "end", "notices"],
    ours: [USAGE_CANCELLED, CANCELLED],
  },
  {
    name: "another workflow during a run",
    global: { ...TWO, ...RELEASE },
    model: [stop, stop, ...nexts(4), end],
    actions: [
      run("/workflow hello One"),
      answer(false),
      command("/workflow release Two"),
      answer(true),
      run("/workflow release Three"),
      run("Go on"),
    ],
    looks: ["notices", "states", "prompts", "names"],
    ours: [ANNOUNCED],
  },
  {
    name: "the list of workflows, usage, and an unknown name",
    global: {
      ...workflow("b-user", ["a"], { name: "The B", commandName: "b" }),
      ...workflow("a-user", ["a"], { name: "The A", commandName: "z_9-Z" }),
    },
    actions: ["", " b", " nothing Do it", " B Do it"].map((rest) => command(`/workflow${rest}`)),
    looks: ["notices"],
    ours: [['"B". Available: z_9-Z, b', '"B". Available: z_9-Z, b\nDid you mean "b"?']],
  },
  {
    name: "no workflows at all",
    actions: [command("/workflow"), command("/workflow nothing Do it")],
    looks: ["notices"],
    ours: [["Available workflows:\n", "Available workflows:\n  none yet; /workflow :new NAME writes one"]],
  },
  {
    name: "a project's workflow in the place of a global one",
    global: { ...workflow("w", ["a"], { name: "Global" }), ...workflow("x", ["@w"]) },
    project: { ...workflow("w", ["b"], { name: "Project" }), ...workflow("y", ["@w", "c"]) },
    model: [stop, ...nexts(1), end],
    actions: [answer("Yes"), command("/workflow"), run("/workflow y One"), run("Go on")],
    looks: ["notices", "status", "results"],
    ours: [["  y — Y", `  y — Y\n――\nThis project's "w" replaces yours. It is part of "y". Start it?: No, Yes`]],
  },
  {
    name: "files that change while pi runs",
    global: TWO,
    model: [stop],
    actions: [
      change(workflow("new", ["a"])),
      run("/workflow new Do it"),
      change({ new: undefined }),
      command("/workflow"),
    ],
    looks: ["notices", "prompts"],
    ours: [
      [
        "workflows:\n  hello — Hello",
        "workflows:\n  hello — Hello\n――\n" +
          "warning: ⏸ new is paused: the files of the workflow “new” cannot be read.\n" +
          "All tool calls are refused until the files are there again (see /workflow :check) and you send a message or " +
          "/workflow :resume. /workflow :cancel ends the run.",
      ],
    ],
  },
  {
    name: "workflows that are not loaded",
    global: {
      ...workflow("good", ["a"]),
      ...workflow("no-name", ["a"], { name: "" }),
      ...workflow("no-command", ["a"], { commandName: "" }),
      ...workflow("space", ["a"], { commandName: "two words" }),
      ...workflow("blank-message", ["a"], { initialMessage: "\n " }),
      ...workflow("no-phases", []),
      ...workflow("no-id", [{ id: " ", name: "No id", text: "x" }]),
      ...workflow("no-text", [{ id: "a", text: " \n" }]),
      ...workflow("ids", ["a", "b", "a"]),
      ...workflow("lists", [{ id: "a", tools: { whitelist: ["read"], blacklist: ["bash"] } }]),
      ...workflow("gone", ["@nothing"]),
      ...workflow("self", ["a", "@self"]),
      ...workflow("one", ["@two"]),
      ...workflow("two", ["@one"]),
      ...workflow("outside", ["a"]),
      "outside/workflow.yaml": "name: O\ncommandName: o\ninitialMessage: Go\nphases: [../../outside.md]\n",
      "broken/workflow.yaml": "name: [\n",
      "text/workflow.yaml": "just text\n",
    },
    actions: [command("/workflow ? Do it")],
    looks: ["notices"],
    ours: [["# notices\n\n", "# notices\n\nerror: 16 workflows have errors: /workflow :check\n――\n"]],
  },
  {
    name: "YAML in other styles",
    global: Object.fromEntries(
      Object.entries({
        flow: "phases: [a.md, a2.md]\n",
        anchors: "notDoneReminder: &x Go on\ncompletionMessage: *x\nphases: &p\n  - a.md\n",
        folded: "roleInstruction: >-\n  One\n  two\n\n  three\nphases:\n- a.md\n",
        quoted: "'phases': [\"a.md\"] # a comment\n",
        windows: "phases:\r\n  - a.md\r\n",
        tagged: "phases: !!seq [!!str ../_shared/x.md]\ncompletionMessage: 1:30\n",
      }).flatMap(([key, text]) => [
        [`${key}/workflow.yaml`, `name: ${key}\ncommandName: ${key}\ninitialMessage: Go\n${text}`],
        [`${key}/a.md`, phaseFile("a")],
        [`${key}/a2.md`, `\ufeff${phaseFile("a2").replaceAll("\n", "\r\n")}`],
        ["_shared/x.md", phaseFile("x")],
      ]),
    ),
    actions: [command("/workflow")],
    looks: ["notices"],
  },
  {
    name: "session names",
    global: {
      ...workflow("default", ["a"]),
      ...workflow("short", ["a"], { sessionNamePrefix: "S: ", sessionNameMaxLength: 5 }),
    },
    model: [step("next"), end, step("next"), end, step("next"), end],
    actions: [
      run(`/workflow default ${"x".repeat(50)}`),
      run(`/workflow default ${"x".repeat(51)}`),
      run("/workflow short 1234567"),
    ],
    looks: ["names"],
  },
  {
    name: "a restart in a nested phase, and one after the end",
    global: RELEASE,
    model: [step("status"), step("next"), stop, ...nexts(3), end, step("status"), end],
    actions: [run("/workflow release Ship it"), restart, run("Go on"), newSession, run("Where are you?")],
    looks: ["results", "states", "status"],
    ours: [ANNOUNCED],
  },
  {
    name: "back in the tree, and before the start",
    global: TWO,
    model: [say("Hello."), step("status"), step("next"), stop, step("status"), stop, step("status"), end],
    actions: [
      run("Hello"),
      run("/workflow hello Add a route"),
      moveTo('"action":"next"'),
      run("Where are you?"),
      moveTo('"text":"Hello."'),
      run("And now?"),
    ],
    looks: ["results", "states", "status"],
  },
  {
    name: "a fork, in the middle and before the start",
    global: TWO,
    model: [step("status"), step("next"), stop, stop, step("status"), stop, step("status"), end],
    actions: [
      run("/workflow hello Add a route"),
      run("Go on"),
      forkBefore("Go on"),
      run("Where are you?"),
      forkBefore("Begin with"),
      run("And now?"),
    ],
    looks: ["results", "status"],
  },
  {
    name: "compaction in a nested phase",
    global: RELEASE,
    settings: { compaction: { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 } },
    model: [step("next"), stop, say("A summary."), step("status"), ...nexts(3), end],
    actions: [run("/workflow release Ship it"), compact, run("Go on")],
    looks: ["results", "states"],
    ours: [ANNOUNCED],
  },
  {
    name: "stored states of older versions",
    global: OLD,
    model: [step("status"), step("next"), stop, step("status"), step("next"), stop],
    actions: [
      open(session({ ...STATE, currentPath: undefined, globalStepCount: undefined, currentPhaseIndex: 1 })),
      run("Go on"),
      open(
        session({
          ...STATE,
          globalStepCount: undefined,
          currentPath: [
            { workflowKey: "w", phaseIndex: 2 },
            { workflowKey: "inner", phaseIndex: 0 },
          ],
        }),
      ),
      run("Go on"),
    ],
    looks: ["results", "states", "status"],
  },
  {
    name: "stored states of which the last counts, and that have ended",
    global: OLD,
    model: [step("status"), stop, step("status"), stop, step("status"), stop],
    actions: [
      open(session({ ...STATE, globalStepCount: 7 }, STATE, null, {}, { workflowKey: null }, "text")),
      run("Go on"),
      open(session({ ...STATE, active: false, completionNotified: true })),
      run("Go on"),
      open(session({ ...STATE, active: false, cancelled: true })),
      run("Go on"),
    ],
    looks: ["results", "end", "status"],
  },
];

/** @type {Handover[]} */
export const handovers = [
  {
    name: "three deep, after a loop",
    global: DEEP,
    model: [step("status"), ...nexts(3), step("loop"), stop, step("status"), ...nexts(4), end],
    actions: [run("/workflow one Dig"), restart, run("Go on")],
    looks: ["results", "details", "states", "status"],
    toOurs: [ANNOUNCED],
  },
  {
    name: "with a refused tool",
    project: workflow("w", ["a", { id: "b", tools: { whitelist: ["read"] } }], {
      blockReasonTemplate: "no {toolName}",
    }),
    model: [step("status"), step("next"), stop, bash, step("next"), end],
    actions: [run("/workflow w Add a route"), restart, run("Go on")],
    looks: ["results", "states", "status", "end"],
    toOurs: [ANNOUNCED, USAGE],
  },
  {
    name: "cancelled by the user",
    global: TWO,
    model: [step("status"), step("next"), stop, step("status"), end],
    actions: [run("/workflow hello Add a route"), restart, command("/cancel-workflow"), run("Where are you?")],
    looks: ["results", "states", "status", "end", "notices"],
    toOurs: [USAGE_CANCELLED, CANCELLED],
  },
];
