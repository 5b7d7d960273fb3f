// What the entries of a session took: tokens, cost, tool calls and time, as pi reports them.
import { fromLeaf } from "./session.js";

/** @typedef {import("./interface.js").Usage} Usage */
/** @typedef {import("./interface.js").ModelUsage} ModelUsage */

/**
 * Returns the usage of the entries of the branch that are newer than the newest custom entry of a type.
 *
 * @param {import("./session.js").Session} session
 * @param {string} customType
 * @returns {Usage}
 */
export function usageSince(session, customType) {
  /** @type {Map<string | undefined, ModelUsage>} */
  const models = new Map();
  let toolCalls = 0;
  let work = 0;
  /** The time of the entry after the current one, if the agent was at work up to it. @type {number | undefined} */
  let workedUntil;
  for (const entry of fromLeaf(session)) {
    const time = Date.parse(entry.timestamp);
    if (workedUntil !== undefined && time <= workedUntil) work += workedUntil - time;
    if (entry.type === "custom" && entry.customType === customType) break;
    // Entries of extensions do not interrupt the work.
    workedUntil = isWork(entry) || (workedUntil !== undefined && entry.type !== "message") ? time : undefined;
    const used = usageOf(entry);
    if (used) add(models, used);
    toolCalls += toolCallsOf(entry);
  }
  return { models: [...models.values()], toolCalls, workMs: BigInt(Math.round(work)) };
}

/** @param {any} entry */
function isWork(entry) {
  return entry.type === "message" && (entry.message.role === "assistant" || entry.message.role === "toolResult");
}

/** @param {any} entry */
function toolCallsOf({ type, message }) {
  if (type !== "message" || message.role !== "assistant" || !Array.isArray(message.content)) return 0;
  return message.content.filter((/** @type {{ type: string }} */ { type }) => type === "toolCall").length;
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

/** A count of pi's, or 0 for anything that is none. @param {unknown} value */
function number(value) {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
