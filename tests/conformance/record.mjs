// What a play shows, block by block: what the user sees, what the model gets, and what the session stores.

import { readSession, sessionFiles } from "../pi/harness/pi.mjs";
import { messageText } from "../pi/harness/scripted-model.mjs";
import { isOfRules } from "../pi/harness/workflows.mjs";

/** @typedef {Record<keyof typeof BLOCKS, string[]>} PlayRecord */

/**
 * Each block as a list of texts.
 *
 * @type {Record<string, (stage: Stage, entries: any[]) => (string | undefined)[]>}
 * @typedef {import("./play.mjs").Stage} Stage
 */
export const BLOCKS = {
  /** The definition of `workflow_step`, and what the system prompt says about it. */
  tool: ({ model: { requests } }) => {
    const { tools = [], messages } = requests[0];
    const definition = tools.find((tool) => tool.function.name === "workflow_step")?.function;
    return [
      json(definition),
      ...messageText(messages[0])
        .split("\n")
        .filter((line) => line.includes("workflow_step")),
    ];
  },
  /** The prompts of the user and of the package. */
  prompts: (_stage, entries) => messages(entries, "user").map(text),
  /** The context prompts, each once; the instructions of a phase where a result has them without a prompt. */
  context: (_stage, entries) => {
    const messages = entries
      .filter(({ customType }) => customType === "workflow:context")
      .map(({ content }) => content);
    const results = stepResults(entries).map((entry) => /\[Workflow path: [^]*/.exec(text(entry))?.[0]);
    const all = [...messages, ...results].filter(Boolean);
    return [...new Set(all)];
  },
  /** The results of all tools; of those that lead to a phase, whose instructions are in `context`, the first line. */
  results: (_stage, entries) =>
    messages(entries, "toolResult").map((entry) => text(entry).replace(/^([✓🔄].*)[^]*/u, "$1")),
  /** The details of the results of `workflow_step`. */
  details: (_stage, entries) => stepResults(entries).map((entry) => json(entry.message.details)),
  /** The stored states, without the field `progress` of this package. */
  states: (_stage, entries) =>
    entries.filter(({ customType }) => customType === "workflow:state").map(({ data }) => json(sorted(data))),
  /** The messages at the end of a run. */
  end: (_stage, entries) =>
    entries
      .filter(({ customType }) => customType === "workflow:complete")
      .map(({ content, data }) => content ?? data.content),
  /** The names that the package gave the session. */
  names: (_stage, entries) => entries.filter(({ type }) => type === "session_info").map(({ name }) => name),
  /**
   * The status line. The reference clears it at each transition until the end of the turn; this package shows with `⏸`
   * that a run waits.
   */
  status: ({ ui }) => {
    // The events of the run have a status of their own.
    const isLine = (/** @type {any} */ { method, statusKey }) =>
      method === "setStatus" && statusKey !== "workflow:event";
    const lines = ui.filter(isLine).map(({ statusText }) => statusText);
    const shown = lines.filter((line) => line !== undefined && !/^⏸.*waits for you/.test(line));
    return shown.filter((line, index) => line !== shown[index - 1]);
  },
  /** The countdown. */
  countdown: ({ ui }) =>
    ui.filter(({ method }) => method === "setWidget").map(({ widgetLines }) => widgetLines?.join("\n") ?? "(none)"),
  /** Notices, and questions to the user. */
  notices: ({ ui }) =>
    ui.flatMap(({ method, notifyType, title, message, options }) => {
      const notice = `${notifyType}: ${message}`;
      // The line about the rules of a run stands beside the blocks of the specification.
      if (method === "notify") return isOfRules(notice) ? [] : notice;
      return ["confirm", "select"].includes(method) ? [`${title}: ${message ?? options.join(", ")}`] : [];
    }),
};

/**
 * @param {Stage} stage
 * @returns {PlayRecord}
 */
export function recordPlay(stage) {
  const entries = sessionFiles(stage.sandbox).flatMap((file) => readSession(stage.sandbox, file));
  /** @type {Map<string, string>} */
  const tasks = new Map();
  const plain = (/** @type {string | undefined} */ text = "") =>
    text
      .replaceAll(stage.sandbox.root, "<sandbox>")
      .replace(/\bwf-\d{13}-[0-9a-z]{1,6}\b/g, (id) => {
        tasks.set(id, tasks.get(id) ?? `wf-TASK-${tasks.size + 1}`);
        return String(tasks.get(id));
      })
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g, "<time>")
      .replace(/(?<="startedAt":)\d{13}\b/g, "0")
      .replace(/(?<=\*\*Usage:\*\* ).*/g, "…");
  const shown = Object.entries(BLOCKS).map(([name, block]) => {
    if (name === "tool" && stage.model.requests.length === 0) return [name, []];
    return [name, block(stage, entries).map(plain)];
  });
  return Object.fromEntries(shown);
}

/** @param {any[]} entries @param {string} role */
function messages(entries, role) {
  return entries.filter(({ type, message }) => type === "message" && message.role === role);
}

/** @param {any[]} entries */
function stepResults(entries) {
  return messages(entries, "toolResult").filter(({ message }) => message.toolName === "workflow_step");
}

/** @param {any} entry */
function text({ message: { content } }) {
  return typeof content === "string" ? content : content.map((/** @type {any} */ part) => part.text ?? "").join("\n");
}

/** @param {unknown} value */
function json(value) {
  return JSON.stringify(value) ?? "nothing";
}

/** A state with its fields in one order. @param {any} state */
function sorted(state) {
  if (state === null || typeof state !== "object") return state;
  const { progress: _progress, ...fields } = state;
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}
