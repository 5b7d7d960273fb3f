// Builders of workflow files and of the model's calls, and readers of sessions and requests.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { messageText, messageTexts } from "./scripted-model.mjs";

/**
 * A phase: its id, or its fields. `@key` is a nested workflow; `entry` are the fields of its entry in `phases` beside
 * those named here.
 *
 * @typedef {object} PhaseSpec
 * @property {string} id
 * @property {string} [name] the id with a capital by default
 * @property {string} [emoji]
 * @property {{ blacklist?: string[], whitelist?: string[] }} [tools]
 * @property {string[]} [write]
 * @property {string[]} [hide]
 * @property {boolean} [network]
 * @property {"required" | "preferred" | "off"} [sandbox]
 * @property {string[]} [availableProfiles]
 * @property {"required"} [summary]
 * @property {"fresh" | "shared"} [context]
 * @property {boolean} [interactive]
 * @property {unknown} [results]
 * @property {Record<string, string | object>} [outcomes]
 * @property {Record<string, object>} [outputs]
 * @property {object[]} [gate]
 * @property {number | string} [gateAttempts]
 * @property {string | string[]} [model]
 * @property {object} [budget]
 * @property {string} [onBudget]
 * @property {Record<string, string | object>} [outcomes]
 * @property {Record<string, unknown>} [entry] other fields of its entry in `phases`
 * @property {Record<string, unknown>} [when] of its entry in `phases`
 * @property {Record<string, unknown>} [with] of its entry in `phases`
 * @property {string} [instructions] `Do ID for {description}.` by default
 */

/** A short countdown, but long enough for a test to interrupt it. */
export const SHORT_COUNTDOWN = { delay_seconds: 2 };

/** The pace of an agent that is refused again and again and goes on all the same; it is not continued. */
export const ATTACKED = { delay_seconds: 3600, max_repeats: 0 };

/** Resolves after the time of a short countdown. */
export const shortCountdownIsOver = () => sleep(2300);

/**
 * Returns the files of one workflow, for `globalFiles` or `projectFiles`. `fields` are those of its workflow.yaml; an
 * undefined value omits the field.
 *
 * @param {string} key
 * @param {(string | PhaseSpec | ReturnType<typeof asks>)[]} phases
 * @param {Record<string, unknown>} [fields]
 * @returns {Record<string, string>}
 */
export function workflow(key, phases, fields = {}) {
  /** @type {Record<string, string>} */
  const files = {};
  const entries = phases.map((phase) => {
    if (typeof phase === "object" && "ask" in phase) return phase;
    const { when, with: values, entry, ...spec } = typeof phase === "string" ? { id: phase } : phase;
    if (spec.id.startsWith("@")) return { subworkflow: spec.id.slice(1), when, with: values, ...entry };
    files[`${key}/${spec.id}.md`] = phaseFile(spec);
    return when || entry ? { phase: `${spec.id}.md`, when, ...entry } : `${spec.id}.md`;
  });
  files[`${key}/workflow.yaml`] = yaml({
    name: `The ${key}`,
    commandName: key,
    initialMessage: "Start {workflowName}: {description}",
    phases: entries,
    ...fields,
  });
  return files;
}

/** Returns an entry that asks the user, with one answer: `yes`. @param {string} ask @param {object} [more] */
export const asks = (ask, more = {}) => ({ ask, id: "ship", outcomes: { yes: "next" }, ...more });

/** @param {PhaseSpec} spec */
export function phaseFile({ id, instructions = `Do ${id} for {description}.`, ...rest }) {
  const name = id[0].toUpperCase() + id.slice(1);
  return `---\n${yaml({ id, name, emoji: "🔹", ...rest })}---\n\n${instructions}\n`;
}

/** JSON values are valid YAML. @param {Record<string, unknown>} fields */
function yaml(fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join("");
}

/**
 * Returns one answer of the model that calls `workflow_step` once for each action, in this order.
 *
 * @param {...string} actions
 */
export function step(...actions) {
  return { calls: actions.map((action) => ({ name: "workflow_step", arguments: { action } })) };
}

/**
 * Returns one answer of the model that calls `next` with an outcome.
 *
 * @param {string} outcome
 * @param {object} [more] other arguments
 */
export function leave(outcome, more = {}) {
  return { calls: [{ name: "workflow_step", arguments: { action: "next", outcome, ...more } }] };
}

/**
 * Returns one answer of the model for each action; each calls `workflow_step` once.
 *
 * @param {...string} actions
 */
export function steps(...actions) {
  return actions.map((action) => step(action));
}

/**
 * Plays a model that calls `next` until the run is done and then stops, after each prompt.
 *
 * @param {import("./scripted-model.mjs").ChatRequest} request
 */
export function nextUntilDone(request) {
  const last = request.messages.at(-1);
  const over = last?.role === "tool" && /→ DONE|^No active workflow/.test(messageText(last));
  return over ? { text: "All done." } : step("next");
}

/**
 * Returns the tool results in a request, oldest first.
 *
 * @param {import("./scripted-model.mjs").ChatRequest | undefined} request
 */
export function toolResults(request) {
  return (request?.messages ?? []).filter(({ role }) => role === "tool").map(messageText);
}

/**
 * Returns the tool results in a session, oldest first; the last ones are not in a request where the agent's run ends
 * with them.
 *
 * @param {any[]} entries
 * @returns {string[]}
 */
export function storedResults(entries) {
  const results = entries.filter(({ message }) => message?.role === "toolResult");
  return results.map(({ message }) => message.content.map((/** @type {any} */ { text }) => text).join(""));
}

/**
 * Returns the texts of the user messages of a request, oldest first; they include context prompts.
 *
 * @param {import("./scripted-model.mjs").ChatRequest | undefined} request
 */
export function userTexts(request) {
  return (request?.messages ?? []).filter(({ role }) => role === "user").flatMap(messageTexts);
}

/**
 * Returns the newest context prompt in a request.
 *
 * @param {import("./scripted-model.mjs").ChatRequest | undefined} request
 */
export function contextPrompt(request) {
  return userTexts(request).findLast((text) => text.startsWith("[Workflow path: "));
}

/**
 * Returns the data of all custom entries of one type, oldest first.
 *
 * @param {any[]} entries
 * @param {string} customType
 */
export function custom(entries, customType) {
  return entries.filter((entry) => entry.type === "custom" && entry.customType === customType).map(({ data }) => data);
}

/**
 * Returns the data of the messages at the end of runs, oldest first, without the line of what a run took.
 *
 * @param {any[]} entries
 */
export function ends(entries) {
  const line = /\n\n\*\*Usage:\*\* \d+ turns?, [^\n]*$/;
  return custom(entries, "workflow:complete").map((end) => ({ ...end, content: end.content.replace(line, "") }));
}

/**
 * Returns the states in a session, oldest first. Checks the task id and its time and replaces them with `TASK` and 0;
 * removes `progress`, which only ours has.
 *
 * @param {any[]} entries
 * @returns {any[]}
 */
export function states(entries) {
  return custom(entries, "workflow:state").map(({ progress: _progress, ...state }) => {
    const [, time] = /^wf-(\d+)-[0-9a-z]{6}$/.exec(state.taskId) ?? assert.fail(`a task id: ${state.taskId}`);
    assert.equal(String(state.startedAt), time, "the task id has the time of the start");
    return { ...state, taskId: "TASK", startedAt: 0 };
  });
}

/**
 * Returns a state in the form of `states`: at the beginning of a run of this workflow, with changes.
 *
 * @param {string} workflowKey
 * @param {string} taskDescription
 * @param {object} [changes]
 */
export function state(workflowKey, taskDescription, changes = {}) {
  return {
    active: true,
    workflowKey,
    currentPath: path([workflowKey, 0]),
    globalStepCount: 0,
    taskId: "TASK",
    taskDescription,
    startedAt: 0,
    completionNotified: false,
    cancelled: false,
    ...changes,
  };
}

/**
 * Returns the reasons for the pause in the states of a session, oldest first; `undefined` for a state without a pause.
 *
 * @param {any[]} entries
 * @returns {any[]}
 */
export function pauses(entries) {
  return custom(entries, "workflow:state").map(({ progress }) => progress.paused?.reason);
}

/**
 * Returns a path in the form that a state stores.
 *
 * @param {...[workflowKey: string, phaseIndex: number]} segments
 */
export function path(...segments) {
  return segments.map(([workflowKey, phaseIndex]) => ({ workflowKey, phaseIndex }));
}

/**
 * Returns the paths of states, each as `outer:1 inner:0`.
 *
 * @param {any[]} list
 * @returns {string[]}
 */
export function paths(list) {
  return list.map(({ currentPath }) =>
    currentPath
      .map(
        (/** @type {any} */ { workflowKey, item, phaseIndex }) =>
          `${workflowKey}${item === undefined ? "" : `@${item}`}:${phaseIndex}`,
      )
      .join(" "),
  );
}

/**
 * Replaces every task id in a text with `TASK`.
 *
 * @param {string | undefined} text
 */
export function withoutIds(text) {
  return text?.replace(/wf-\d+-[0-9a-z]{6}/g, "TASK");
}

/**
 * Returns the texts of the status bar, in order, without repetitions; `undefined` for a cleared status.
 *
 * @param {import("./rpc.mjs").Rpc} rpc
 * @returns {(string | undefined)[]}
 */
export function statusTexts(rpc) {
  const texts = rpc
    .ui("setStatus")
    .filter(({ statusKey }) => statusKey === "workflow")
    .map(({ statusText }) => statusText);
  return texts.filter((text, index) => index === 0 || text !== texts[index - 1]);
}

/**
 * Returns the text of the status bar while the run waits for the user.
 *
 * @param {string} text
 */
export function waiting(text) {
  return `⏸ ${text} (waits for you)`;
}

/**
 * Returns the lines of the countdown, in order; `undefined` for its removal.
 *
 * @param {import("./rpc.mjs").Rpc} rpc
 * @returns {(string | undefined)[]}
 */
export function countdownLines(rpc) {
  return rpc
    .ui("setWidget")
    .filter(({ widgetKey }) => widgetKey === "workflow-countdown")
    .map(({ widgetLines }) => widgetLines?.join("\n"));
}

/**
 * Returns the notices of extensions, each as `level: text`, but the line about the rules of a run when it starts.
 *
 * @param {import("./rpc.mjs").Rpc} rpc
 * @returns {string[]}
 */
export function notices(rpc) {
  return allNotices(rpc).filter((notice) => !isOfRules(notice));
}

/**
 * Returns all notices of extensions, each as `level: text`.
 *
 * @param {import("./rpc.mjs").Rpc} rpc
 * @returns {string[]}
 */
export function allNotices(rpc) {
  return rpc.ui("notify").map(({ notifyType, message }) => `${notifyType}: ${message}`);
}

/** Returns true if a notice is the line about the rules of a run. @param {string} notice */
export const isOfRules = (notice) => notice.startsWith("info: Rules of this run: ");
