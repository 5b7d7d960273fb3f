// Follows the branches of a session's tree through its file.
import { timeOf } from "#loader";

import { isStateEntry } from "./sessions.js";

/** @typedef {import("./sessions.js").Entry} Entry */
/** @typedef {import("./sessions.js").Line} Line */
/** @typedef {import("./sessions.js").SessionFile} SessionFile */

/**
 * An entry of a branch, with the fields that the usage needs.
 * @typedef {object} Node
 * @property {Node | undefined} parent
 * @property {number} time in milliseconds since 1970; NaN if unknown
 * @property {any} entry
 * @property {Line} [line] of a state
 */

/**
 * A function that is called for state entries and for each entry below an entry for which the function returned a node.
 * @template {Node} N
 * @typedef {(node: Node, parent: N | undefined, entry: Entry) => N | undefined} Enter
 */

/** The maximum number of entries that are followed. */
const MAX_NODES = 1_000_000;

/**
 * Follows branches from state entries on.
 * @template {Node} N
 * @param {SessionFile} file
 * @param {number} offset the start of the first line
 * @param {Enter<N>} enter
 * @param {(start: Entry) => void} [see] is called for each entry, before `enter`
 */
export function follow(file, offset, enter, see = () => {}) {
  /** @type {Map<string, N>} */
  const nodes = new Map();
  const nodeOf = (/** @type {unknown} */ id) => (typeof id === "string" ? nodes.get(id) : undefined);
  const matters = (/** @type {Entry} */ start) => {
    see(start);
    return nodeOf(start.parentId) !== undefined;
  };
  file.eachEntry(offset, matters, (entry, line) => {
    // The fields of some entries have another order.
    see(entry);
    if (typeof entry.id !== "string" || nodes.size >= MAX_NODES) return;
    const parent = nodeOf(entry.parentId);
    const isState = isStateEntry(entry);
    if (!parent && !isState) return;
    const node = enter(
      { parent, time: timeOf(entry), entry: slim(entry), line: isState ? line : undefined },
      parent,
      entry,
    );
    if (node) nodes.set(entry.id, node);
  });
}

/**
 * The parents of entries, to find where a branch is cut: if an entry is lost, pi goes on with the entries before it in
 * the file.
 */
export class Parents {
  /** @type {Map<string, string | undefined>} */
  #of = new Map();
  /** The entry that was seen last. @type {string | undefined} */
  newest;

  /** Notes the parent of an entry; bound, so that `follow` can call it. @param {Entry} start */
  see = ({ id, parentId }) => {
    if (typeof id !== "string" || this.#of.size >= MAX_NODES) return;
    this.#of.set(id, typeof parentId === "string" ? parentId : undefined);
    this.newest = id;
  };

  /**
   * Returns true if the branch of an entry is cut, at an entry that was not seen and is not in the file.
   * @param {SessionFile} file
   * @param {string | undefined} id
   * @param {string} [end] the branch is followed to this entry
   */
  isCut(file, id, end) {
    let at = id;
    // Entries of a damaged file may be their own ancestors.
    for (let count = this.#of.size; at !== undefined && at !== end && this.#of.has(at); count -= 1)
      at = count > 0 ? this.#of.get(at) : undefined;
    return at !== undefined && at !== end && !file.hasEntry(at);
  }
}

/**
 * Returns the entries of a branch from its beginning on.
 * @template {Node} N
 * @param {N} last
 */
export function upTo(last) {
  const nodes = [];
  for (let node = /** @type {N | undefined} */ (last); node; node = /** @type {N | undefined} */ (node.parent))
    nodes.push(node);
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
  if (type === "usage" || type === "compaction" || type === "branch_summary")
    return { type, kind, fromHook, provider, model, usage };
  if (type !== "message" || typeof message !== "object" || message === null) return OTHER;
  if (message.role === "user") return USER;
  if (message.role === "toolResult")
    return message.usage ? { type, message: { role: message.role, usage: message.usage } } : TOOL_RESULT;
  if (message.role !== "assistant") return { type, message: { role: "other" } };
  const { role, responseModel, stopReason } = message;
  const content = Array.isArray(message.content) ? message.content.map(slimPart) : undefined;
  return {
    type,
    message: {
      role,
      provider: message.provider,
      model: message.model,
      responseModel,
      usage: message.usage,
      stopReason,
      content,
    },
  };
}

/** @param {any} part */
function slimPart(part) {
  if (part?.type === "toolCall") return CALL;
  return part?.text === "" || part?.thinking === "" ? EMPTY : TEXT;
}
