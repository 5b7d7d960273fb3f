// The usage of the entries of a session: tokens, cost, tool calls and time, as pi reports them.
import { fromLeaf } from "./session.js";

/** @typedef {import("./interface.js").Usage} Usage */
/** @typedef {import("./interface.js").ModelUsage} ModelUsage */

/**
 * Sums over entries.
 * @typedef {object} Sums
 * @property {Map<string | undefined, ModelUsage>} models
 * @property {number} toolCalls
 * @property {number} work milliseconds
 * @property {number} wait milliseconds
 * @property {number | undefined} time the time up to which work and waiting are counted: that of the newest message, or of the state
 *   entry before the first one
 */

/**
 * The sums up to a message, and the message: only what is newer is read again.
 * @type {WeakMap<import("./session.js").Session, { customType: string, id: string, sums: Sums }>}
 */
const known = new WeakMap();

/**
 * Returns the usage of the entries of the branch that are newer than the newest custom entry of a type.
 *
 * @param {import("./session.js").Session} session
 * @param {string} customType
 * @returns {Usage}
 */
export function usageSince(session, customType) {
  const before = known.get(session);
  let sums = noUsage();
  const newer = [];
  for (const entry of fromLeaf(session)) {
    if (entry.type === "custom" && entry.customType === customType) {
      sums.time = timeOf(entry);
      break;
    }
    if (before?.id === entry.id && before.customType === customType) {
      sums = copy(before.sums);
      break;
    }
    newer.push(entry);
  }
  for (const entry of newer.reverse()) {
    count(sums, entry, timeOf(entry));
    if (entry.type === "message") known.set(session, { customType, id: entry.id, sums: copy(sums) });
  }
  return usageOf(sums);
}

/**
 * Returns empty sums.
 * @param {number} [time] the time of the entry before the first one that is counted
 * @returns {Sums}
 */
export function noUsage(time) {
  return { models: new Map(), toolCalls: 0, work: 0, wait: 0, time };
}

/**
 * Returns sums as the component gets them.
 * @param {Sums} sums
 * @returns {Usage}
 */
export function usageOf({ models, toolCalls, work, wait, time }) {
  const newestMs = time !== undefined && number(time) > 0 ? milliseconds(time) : undefined;
  return { models: [...models.values()], toolCalls, workMs: milliseconds(work), waitMs: milliseconds(wait), newestMs };
}

/** Returns the time of an entry, in milliseconds since 1970; NaN if it has none. @param {any} entry */
export function timeOf({ timestamp }) {
  return typeof timestamp === "string" ? Date.parse(timestamp) : NaN;
}

/** @param {number} time */
const milliseconds = (time) => BigInt(Math.round(number(time)));

/** @param {Sums} sums @returns {Sums} */
function copy({ models, ...others }) {
  return { ...others, models: new Map([...models].map(([name, sum]) => [name, { ...sum }])) };
}

/** Tests if a message is one of the agent or of a tool: the time before it is work. @param {any} message */
export const isOfAgent = (message) => message?.role === "assistant" || message?.role === "toolResult";

/**
 * Adds an entry. The time before a message of the agent or a tool is work, the time before any other message is waiting; other
 * entries interrupt neither.
 *
 * @param {Sums} sums
 * @param {any} entry
 * @param {number} time
 */
export function count(sums, entry, time) {
  if (entry.type === "message") {
    const gap = number(time - (sums.time ?? time));
    if (isOfAgent(entry.message)) sums.work += gap;
    else sums.wait += gap;
    sums.time = time;
  }
  const used = usedBy(entry);
  if (used) add(sums.models, used);
  sums.toolCalls += toolCallsOf(entry);
}

/** @param {any} entry */
function toolCallsOf({ type, message }) {
  if (type !== "message" || message?.role !== "assistant" || !Array.isArray(message.content)) return 0;
  return message.content.filter((/** @type {any} */ part) => part?.type === "toolCall").length;
}

/**
 * Returns the usage that an entry carries, and the model to which pi attributes it.
 * @param {any} entry
 */
function usedBy(entry) {
  const { type, message, usage } = entry;
  if (type === "message" && message?.role === "assistant") {
    return { model: modelName(message.provider, message.responseModel ?? message.model), usage: message.usage };
  }
  // A request beside the answers, for example one that keeps the cache.
  if (type === "usage") return { model: modelName(entry.provider, entry.model), usage, answers: 0 };
  if (type === "message" && message?.role === "toolResult" && message.usage) return { model: undefined, usage: message.usage };
  if ((type === "branch_summary" || type === "compaction") && usage) return { model: undefined, usage };
  return undefined;
}

/** @param {unknown} provider @param {unknown} id */
function modelName(provider, id) {
  return [provider, id].map((part) => (typeof part === "string" ? part : "?")).join("/");
}

/**
 * @param {Map<string | undefined, ModelUsage>} models
 * @param {{ model: string | undefined, usage: any, answers?: number }} used
 */
function add(models, { model, usage, answers = 1 }) {
  const sum = models.get(model) ?? {
    model, answers: 0, input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n, reasoning: 0n, cost: 0, unpriced: 0,
  };
  models.set(model, sum);
  const cost = number(usage?.cost?.total);
  const tokens = [usage?.input, usage?.output, usage?.cacheRead, usage?.cacheWrite].map((count) => Math.floor(number(count)));
  sum.answers += answers;
  sum.input += BigInt(tokens[0]);
  sum.output += BigInt(tokens[1]);
  sum.cacheRead += BigInt(tokens[2]);
  sum.cacheWrite += BigInt(tokens[3]);
  sum.reasoning += BigInt(Math.floor(number(usage?.reasoning)));
  sum.cost += cost;
  if (cost === 0 && tokens.some((count) => count > 0)) sum.unpriced += 1;
}

/** A number of pi's, or 0 for anything that is none; at most 2^53 - 1, so that sums stay within 64 bits. @param {unknown} value */
function number(value) {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : 0;
}
