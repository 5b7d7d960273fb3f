// The record of a play: everything observable that is the same in every play.

import { readSession, sessionFiles } from "../../pi/harness/pi.mjs";
import { messageText } from "../../pi/harness/scripted-model.mjs";

/**
 * @typedef {object} Request one request to the model
 * @property {boolean} continues true if it begins with all messages of the previous request; `messages` are the
 *   additional ones
 * @property {string[]} messages without the system prompt
 * @property {string} tools the names of the tools
 *
 * @typedef {Record<string, any>} Entry
 */

/**
 * @param {import("../../pi/harness/scripted-model.mjs").ChatRequest[]} requests
 * @returns {Request[]}
 */
export function recordRequests(requests) {
  /** @type {string[]} */
  let before = [];
  return requests.map(({ messages, tools = [] }) => {
    const all = messages.slice(1).map(requestMessage);
    const continues = before.length > 0 && before.every((message, index) => all[index] === message);
    const added = continues ? all.slice(before.length) : all;
    before = all;
    return { continues, messages: added, tools: tools.map((tool) => tool.function.name).join(" ") };
  });
}

/** @param {import("../../pi/harness/scripted-model.mjs").ChatMessage} message */
function requestMessage(message) {
  const calls = (message.tool_calls ?? []).map((call) => `${call.function.name} ${call.function.arguments}`);
  return [`${message.role}: ${messageText(message)}`, ...calls].join("\n");
}

/**
 * Returns the definition of `workflow_step` in the first request, and the lines of the system prompt about it.
 *
 * @param {import("../../pi/harness/scripted-model.mjs").ChatRequest[]} requests
 */
export function recordTool([request]) {
  const prompt = request ? messageText(request.messages[0]) : "";
  return {
    definition: request?.tools?.find((tool) => tool.function.name === "workflow_step")?.function,
    guidance: prompt.split("\n").filter((line) => line.includes("workflow_step")),
  };
}

/**
 * @param {import("../../pi/harness/sandbox.mjs").Sandbox} sandbox
 * @returns {Entry[][]}
 */
export function recordSessions(sandbox) {
  return sessionFiles(sandbox).map((file) => recordSession(readSession(sandbox, file)));
}

/** @param {any[]} entries */
function recordSession(entries) {
  const kept = entries.filter((entry) => !SKIPPED.includes(entry.type) && entry.message?.role !== "system");
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  /** @type {Map<string, any>} */
  const previous = new Map(entries.slice(1).map((entry, index) => [entry.id, entries[index]]));
  return kept.map((entry) => {
    const branch = previous.has(entry.id) && previous.get(entry.id).id !== entry.parentId;
    // Ids differ between the two sides, so an entry is identified by its content.
    const after = branch ? { after: recordEntry(byId.get(entry.parentId) ?? {}) } : {};
    return { ...recordEntry(entry), ...after };
  });
}

/** Entries that do not concern workflows. */
const SKIPPED = ["model_change", "thinking_level_change"];

/**
 * @param {any} entry
 * @returns {Entry}
 */
function recordEntry(entry) {
  const { id: _id, parentId: _parent, timestamp: _time, ...rest } = entry;
  switch (entry.type) {
    case "message":
      return { type: entry.message.role, ...recordMessage(entry.message) };
    case "compaction":
      return { type: "compaction", summary: entry.summary };
    case "branch_summary":
      return { type: "branch_summary", summary: entry.summary };
    default:
      return rest;
  }
}

/** @param {any} message */
function recordMessage({ content, toolName, details, isError, stopReason }) {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  const calls = parts.filter((/** @type {any} */ part) => part.type === "toolCall");
  /** @type {Entry} */
  const kept = { text: parts.map((/** @type {any} */ part) => part.text ?? "").join("\n") };
  if (calls.length > 0) kept.calls = calls.map((/** @type {any} */ call) => ({ [call.name]: call.arguments }));
  if (toolName) Object.assign(kept, { tool: toolName, isError });
  if (details !== undefined) kept.details = details;
  if (stopReason && stopReason !== "stop" && stopReason !== "toolUse") kept.stopReason = stopReason;
  return kept;
}

/** A later second of the countdown. */
const TICK = /Auto-continuing in [12]s/;

/**
 * @param {any[]} requests UI requests of extensions
 * @param {boolean} ticks keeps every second of the countdown
 * @returns {string[]}
 */
export function recordScreen(requests, ticks) {
  const screen = requests.map((request) => {
    switch (request.method) {
      case "setStatus":
        return `status ${request.statusKey}: ${request.statusText ?? "(none)"}`;
      case "setWidget":
        return request.widgetLines
          ? `widget ${request.widgetKey} ${request.widgetPlacement}: ${request.widgetLines.join("\n")}`
          : `widget ${request.widgetKey}: (none)`;
      case "notify":
        return `notify ${request.notifyType}: ${request.message}`;
      case "confirm":
        return `confirm ${request.title}: ${request.message}`;
      default:
        return JSON.stringify({ ...request, id: undefined, type: undefined });
    }
  });
  return ticks ? screen : screen.filter((line) => !TICK.test(line));
}

/**
 * @param {any[]} records
 * @returns {string[]}
 */
export function recordErrors(records) {
  return records.flatMap((record) => {
    if (record.type === "extension_error") return [`${record.event}: ${record.error}`];
    if (record.type === "response" && !record.success) return [`${record.command}: ${record.error}`];
    return [];
  });
}
