// Random actions of a user, an agent and pi.

import { visible } from "./shrink.mjs";
import { TOOLS, isPhase, loadable } from "./trees.mjs";
import { TIME_STEP } from "./world.mjs";

/**
 * @typedef {{ do: "workflow", line: string, randomDigits: string, yes: boolean, during: Action[], edit?: Edit }} Start
 * @typedef {{ do: "cancel" | "turn" | "key" | "retry" | "compact" }} Plain
 * @typedef {{ do: "prompt", source: string }} Prompt
 * @typedef {{ do: "step", action: unknown, more?: object, no?: true }} StepAction `more`: other arguments; `no`: the
 *   user
 *   answers No to a question
 * @typedef {{ do: "tool", name: string }} ToolAction
 * @typedef {{ do: "stop", reason: string | undefined }} Stop `undefined`: the model gave no answer
 * @typedef {{ do: "wait", ms: number }} Wait
 * @typedef {{ do: "restart", reason: string, edit?: Edit }} RestartAction
 * @typedef {{ do: "back", percent: number, edit?: Edit }} BackAction `percent`: the share of the state entries that are
 *   kept
 * @typedef {{ do: "complete", prefix: string }} CompleteAction
 * @typedef {Start | Plain | Prompt | StepAction | ToolAction | Stop | Wait} UsualAction
 * @typedef {UsualAction | RestartAction | BackAction | CompleteAction} Action
 *
 * A change of the files, made before they are read again.
 * @typedef {{ remove: string } | { shorten: string, to: number }} Edit
 */

const TASKS = [
  ..."Do it|Add {phaseName} & more|zwei\n\nAbsätze|🔍🔎🔍🔎🔍 emoji|$& $1|  spaced   out  ".split("|"),
  "x".repeat(49) + "🚀🚀",
  "a long task ".repeat(8),
  "\u001b[31mred\u0007\r\nalert",
  "\ufeff\u0085odd\u2028ends\u0085",
];
const ODD_ACTIONS = ["NEXT", " next", "", "skip", 1, true, null, ["next"], { action: "next" }, undefined];
const MORE_ARGUMENTS = [
  ...[
    { summary: "Done, all of it." },
    { summary: " Two\n\nlines: {description} " },
    { summary: "" },
    { summary: null },
    { summary: 7 },
    { summary: ["a"] },
  ],
  ...[{ outcome: "ok" }, { outcome: " so-so\n" }, { outcome: "Ok" }, { outcome: "" }],
  ...[{ reason: "why not" }, { action2: "cancel" }, { toolName: "x", __proto__x: [1] }],
];
const SEPARATORS = [" ", "  ", "\n", "\t", "\u00a0", "\u3000", "\ufeff", "\u2028", "\u0085", "\u200b"];

/**
 * @param {import("./choices.mjs").Choices} choices
 * @param {import("./trees.mjs").Tree} tree
 * @param {number} length
 * @returns {Action[]}
 */
export function makeActions(choices, tree, length) {
  const likely = loadable(tree).filter(({ fields }) => fields.show !== "workflows");
  const names = likely.map(({ fields }) => fields.commandName ?? "");
  /** @type {Action[]} */
  const actions = [];
  while (actions.length < length) actions.push(...makeScene(choices, tree, names));
  return actions.slice(0, length);
}

/**
 * Makes one action, or several that belong together.
 * @param {import("./choices.mjs").Choices} choices
 * @param {import("./trees.mjs").Tree} tree
 * @param {string[]} names
 * @returns {Action[]}
 */
function makeScene(choices, tree, names) {
  const hasOutcomes = tree.some(({ phases }) => phases.some((entry) => isPhase(entry) && entry.outcomes));
  /** @type {(action: unknown) => Action} */
  const step = (action) => ({
    do: "step",
    action,
    ...(choices.chance(0.15)
      ? { more: choices.pick(MORE_ARGUMENTS) }
      : hasOutcomes && choices.chance(0.8) && { more: { outcome: "ok" } }),
    ...(choices.chance(0.3) && { no: /** @type {const} */ (true) }),
  });
  const anyStep = () =>
    step(
      choices.weighted([
        [8, "next"],
        [2, "loop"],
        [2, "status"],
        [1, "cancel"],
        [0.3, choices.pick(ODD_ACTIONS)],
      ]),
    );
  /** @type {import("./choices.mjs").Weighted<() => Action>} */
  const works = [
    [3, anyStep],
    [3, () => ({ do: "tool", name: choices.pick(TOOLS) })],
    [2, () => ({ do: "turn" })],
    [0.3, () => ({ do: "retry" })],
    [0.3, () => ({ do: "compact" })],
  ];
  const work = () => choices.weighted(works)();
  /** @type {() => Action} */
  const stop = () => {
    const reason = choices.weighted([
      [5, "stop"],
      [2, "aborted"],
      [1, "error"],
      [1, undefined],
    ]);
    return { do: "stop", reason };
  };
  /** @type {() => Action} */
  const wait = () => ({ do: "wait", ms: TIME_STEP * choices.pick([1, 2, 5, 6, 6, 20]) });
  /** @type {() => Action[]} */
  const idle = () => [
    { do: "stop", reason: "stop" },
    { do: "wait", ms: 3000 },
  ];
  /** @type {() => Action} */
  const prompt = () => ({ do: "prompt", source: choices.pick(["interactive", "rpc", "extension"]) });
  /** @type {Action} */
  const cancel = { do: "cancel" };
  const edit = () => (choices.chance(0.15) ? { edit: makeEdit(choices, tree) } : {});
  /** @type {() => Action} */
  const start = () => {
    const meanwhile = [work(), ...choices.some([stop(), cancel], 0.2)];
    const [during, change] = choices.chance(0.2) ? [meanwhile, {}] : [[], edit()];
    const line = makeLine(choices, names);
    const randomDigits = String(choices.between(100000, 999999));
    return { do: "workflow", line, randomDigits, yes: choices.chance(0.6), during, ...change };
  };
  /** @type {import("./choices.mjs").Weighted<() => Action[]>} */
  const scenes = [
    [3, () => [start(), prompt(), work()]],
    [1, () => [...choices.list(choices.between(1, 4), () => step("next")), step("loop"), step("next"), step("status")]],
    [6, () => [prompt(), ...choices.list(choices.between(1, 6), work), stop(), ...choices.some([wait()], 0.6)]],
    [4, () => [work()]],
    [1, () => [start()]],
    [1, () => [stop(), wait()]],
    [0.5, () => choices.list(choices.between(2, 4), idle).flat()],
    [0.5, () => choices.list(choices.between(2, 5), () => step("loop"))],
    [2, () => [step("cancel"), ...choices.some([anyStep(), work(), stop(), prompt()], 0.2), step("cancel")]],
    [1, () => [cancel]],
    [0.5, () => [prompt(), stop(), { do: "compact" }, prompt()]],
    [1, () => [stop(), wait(), { do: "key" }, wait()]],
    [1, () => [{ do: "restart", reason: choices.pick(["reload", "resume", "startup"]), ...edit() }]],
    [1, () => [{ do: "back", percent: choices.pick([0, 30, 60, 90, 100]), ...edit() }]],
    [0.5, () => [{ do: "complete", prefix: choices.pick(["", "c", "c1", "x", ...names]) }]],
  ];
  return choices.weighted(scenes)();
}

/**
 * The arguments of `/workflow`.
 * @param {import("./choices.mjs").Choices} choices
 * @param {string[]} names
 */
function makeLine(choices, names) {
  const known = choices.pick(names.length > 0 ? names : ["c0"]);
  const name = choices.weighted([
    [12, known],
    [1, "nobody"],
    [1, "c1"],
    [0.5, ""],
  ]);
  const task = choices.weighted([
    [12, choices.pick(TASKS)],
    [1, ""],
    [0.5, " \n"],
  ]);
  return (
    choices.pick(["", "", " "]) +
    name +
    choices.weighted([
      [9, " "],
      [3, choices.pick(SEPARATORS)],
    ]) +
    task
  );
}

/**
 * @param {import("./choices.mjs").Choices} choices
 * @param {import("./trees.mjs").Tree} tree
 * @returns {Edit}
 */
function makeEdit(choices, tree) {
  const { key, phases } = choices.pick(tree);
  return choices.chance(0.4) ? { remove: key } : { shorten: key, to: choices.between(1, phases.length) };
}

/**
 * @param {import("./trees.mjs").Tree} tree
 * @param {Edit | undefined} edit
 * @returns {import("./trees.mjs").Tree}
 */
export function edited(tree, edit) {
  if (!edit) return tree;
  if ("remove" in edit) return tree.filter(({ key }) => key !== edit.remove);
  const shortened = (/** @type {import("./trees.mjs").Workflow} */ workflow) =>
    workflow.key === edit.shorten ? { ...workflow, phases: workflow.phases.slice(0, edit.to) } : workflow;
  return tree.map(shortened);
}

/**
 * Describes an action.
 * @param {Action} action
 */
export function describe(action) {
  const { do: verb, ...rest } = action;
  const details = Object.entries(rest)
    .filter(
      ([name, value]) =>
        !(name === "randomDigits" || (name === "during" && Array.isArray(value) && value.length === 0)),
    )
    .map(([name, value]) => `${name} ${visible(value)}`);
  return [verb, ...details].join(", ");
}

/**
 * @param {Action} action
 * @returns {Generator<Action>}
 */
export function* smallerActions(action) {
  if ("edit" in action && action.edit) {
    const { edit: _edit, ...rest } = action;
    yield rest;
  }
  if (action.do === "workflow" && action.during.length > 0) yield { ...action, during: action.during.slice(1) };
  if (action.do === "step" && (action.more || action.no)) yield { do: "step", action: action.action };
  if (action.do === "workflow") {
    const [name] = action.line.trim().split(/\s/, 1);
    if (action.line !== `${name} x`) yield { ...action, line: `${name} x` };
  }
}
