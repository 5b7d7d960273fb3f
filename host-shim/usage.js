// What the entries of a session took: tokens, cost, tool calls and time, as pi reports them.
import { fromLeaf } from "./session.js";

/** @typedef {import("./interface.js").Usage} Usage */
/** @typedef {import("./interface.js").ModelUsage} ModelUsage */

/**
 * @typedef {object} Sums
 * @property {Map<string | undefined, ModelUsage>} models
 * @property {number} toolCalls
 * @property {number} work milliseconds
 * @property {number} wait milliseconds
 * @property {number | undefined} time the time of the newest entry that is counted
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
  let sums = /** @type {Sums} */ ({ models: new Map(), toolCalls: 0, work: 0, wait: 0, time: undefined });
  const newer = [];
  for (const entry of fromLeaf(session)) {
    if (entry.type === "custom" && entry.customType === customType) {
      sums.time = Date.parse(entry.timestamp);
      break;
    }
    if (before?.id === entry.id && before.customType === customType) {
      sums = copy(before.sums);
      break;
    }
    newer.push(entry);
  }
  let newest = sums.time;
  for (const entry of newer.reverse()) {
    newest = Date.parse(entry.timestamp);
    count(sums, entry, newest);
    if (entry.type === "message") known.set(session, { customType, id: entry.id, sums: copy(sums) });
  }
  const { models, toolCalls, work, wait } = sums;
  return { models: [...models.values()], toolCalls, workMs: milliseconds(work), waitMs: milliseconds(wait), newestMs: newest === undefined ? undefined : milliseconds(newest) };
}

/** @param {number} time */
const milliseconds = (time) => BigInt(Math.round(number(time)));

/** @param {Sums} sums @returns {Sums} */
function copy({ models, ...others }) {
  return { ...others, models: new Map([...models].map(([name, sum]) => [name, { ...sum }])) };
}

const OF_AGENT = new Set(["assistant", "toolResult"]);

/**
 * Adds an entry. The time before a message of the agent or a tool is work, the time before any other message is waiting; other
 * entries interrupt neither.
 *
 * @param {Sums} sums
 * @param {any} entry
 * @param {number} time
 */
function count(sums, entry, time) {
  if (entry.type === "message") {
    const gap = number(time - (sums.time ?? time));
    if (OF_AGENT.has(entry.message.role)) sums.work += gap;
    else sums.wait += gap;
    sums.time = time;
  }
  const used = usageOf(entry);
  if (used) add(sums.models, used);
  sums.toolCalls += toolCallsOf(entry);
}

/** @param {any} entry */
function toolCallsOf({ type, message }) {
  if (type !== "message" || message.role !== "assistant" || !Array.isArray(message.content)) return 0;
  return message.content.filter((/** @type {any} */ part) => part?.type === "toolCall").length;
}

/**
 * Returns the usage that an entry carries, and the model to which pi attributes it.
 * @param {any} entry
 */
function usageOf(entry) {
  const { type, message, usage } = entry;
  if (type === "message" && message.role === "assistant") {
    return { model: `${message.provider}/${message.responseModel ?? message.model}`, usage: message.usage };
  }
  if (type === "usage") return { model: `${entry.provider}/${entry.model}`, usage };
  if (type === "message" && message.role === "toolResult" && message.usage) return { model: undefined, usage: message.usage };
  if ((type === "branch_summary" || type === "compaction") && usage) return { model: undefined, usage };
  return undefined;
}

/**
 * @param {Map<string | undefined, ModelUsage>} models
 * @param {{ model: string | undefined, usage: any }} used
 */
function add(models, { model, usage }) {
  const sum = models.get(model) ?? {
    model, answers: 0, input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n, reasoning: 0n, cost: 0, unpriced: 0,
  };
  models.set(model, sum);
  const cost = number(usage?.cost?.total);
  const tokens = [usage?.input, usage?.output, usage?.cacheRead, usage?.cacheWrite].map((count) => Math.floor(number(count)));
  sum.answers += 1;
  sum.input += BigInt(tokens[0]);
  sum.output += BigInt(tokens[1]);
  sum.cacheRead += BigInt(tokens[2]);
  sum.cacheWrite += BigInt(tokens[3]);
  sum.reasoning += BigInt(Math.floor(number(usage?.reasoning)));
  sum.cost += cost;
  if (cost === 0 && tokens.some((count) => count > 0)) sum.unpriced += 1;
}

/** A number of pi's, or 0 for anything that is none. @param {unknown} value */
function number(value) {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
