// Follows the branches of a session's tree through its file.
import { timeOf } from "../../host-shim/usage.js";
import { isStateEntry } from "./sessions.js";

/** @typedef {import("./sessions.js").Entry} Entry */
/** @typedef {import("./sessions.js").SessionFile} SessionFile */

/**
 * An entry of a branch, with the fields that the usage needs.
 * @typedef {object} Node
 * @property {Node | undefined} parent
 * @property {number} time in milliseconds since 1970; NaN if unknown
 * @property {any} entry
 */

/** The maximum number of entries that are followed. */
const MAX_NODES = 1_000_000;

/**
 * Follows branches from state entries on.
 *
 * @template {Node} N
 * @param {SessionFile} file
 * @param {number} offset the start of the line with which it begins
 * @param {(node: Node, parent: N | undefined, entry: Entry) => N | undefined} enter is called for state entries and for the
 *   entries below those for which it returned a node
 */
export function follow(file, offset, enter) {
  /** @type {Map<string, N>} */
  const nodes = new Map();
  const matters = (/** @type {string | undefined} */ parentId) => parentId !== undefined && nodes.has(parentId);
  file.eachEntry(offset, matters, (entry) => {
    if (typeof entry.id !== "string" || nodes.size >= MAX_NODES) return;
    const parent = typeof entry.parentId === "string" ? nodes.get(entry.parentId) : undefined;
    if (!parent && !isStateEntry(entry)) return;
    const node = enter({ parent, time: timeOf(entry), entry: slim(entry) }, parent, entry);
    if (node) nodes.set(entry.id, node);
  });
}

/**
 * Returns the entries of a branch from its beginning on.
 * @template {Node} N
 * @param {N} last
 */
export function upTo(last) {
  const nodes = [];
  for (let node = /** @type {N | undefined} */ (last); node; node = /** @type {N | undefined} */ (node.parent)) nodes.push(node);
  return nodes.reverse();
}

const USER = { type: "message", message: { role: "user" } };
const TOOL_RESULT = { type: "message", message: { role: "toolResult" } };
const CALL = { type: "toolCall" };
const EMPTY = { type: "text", text: "" };
const TEXT = { type: "text", text: "…" };
const OTHER = { type: "other" };

/** Returns the part of an entry that its usage needs. @param {Entry} entry */
function slim({ type, kind, fromHook, message, provider, model, usage }) {
  if (type === "usage" || type === "compaction" || type === "branch_summary") return { type, kind, fromHook, provider, model, usage };
  if (type !== "message" || typeof message !== "object" || message === null) return OTHER;
  if (message.role === "user") return USER;
  if (message.role === "toolResult") return message.usage ? { type, message: { role: message.role, usage: message.usage } } : TOOL_RESULT;
  if (message.role !== "assistant") return { type, message: { role: "other" } };
  const { role, responseModel, stopReason } = message;
  const content = Array.isArray(message.content) ? message.content.map(slimPart) : undefined;
  return { type, message: { role, provider: message.provider, model: message.model, responseModel, usage: message.usage, stopReason, content } };
}

/** @param {any} part */
function slimPart(part) {
  if (part?.type === "toolCall") return CALL;
  return part?.text === "" || part?.thinking === "" ? EMPTY : TEXT;
}
