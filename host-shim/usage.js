// The usage of the entries of a session: tokens, cost, tool calls and time, as pi reports them.
import { fromLeaf } from "./branch-entries.js";

/** @typedef {import("./interface.js").Usage} Usage */
/** @typedef {import("../target/types/interfaces/pi-extension-session.js").ModelUsage} ModelUsage */

/**
 * Sums over entries.
 * @typedef {object} Sums
 * @property {Map<string | undefined, ModelUsage>} models
 * @property {number} toolCalls
 * @property {number} work milliseconds
 * @property {number} wait milliseconds
 * @property {{ requests: number, tokens: bigint, cost: number }} warm the requests that kept the prompt cache
 * @property {number | undefined} time the time up to which work and waiting are counted: the time of the newest
 *   message, or of the state entry before the first message
 */

/**
 * The sums up to a message, and the message: only newer entries are read.
 * @type {WeakMap<import("./branch-entries.js").Session, { customType: string, id: string, sums: Sums }>}
 */
const known = new WeakMap();

/**
 * Returns the usage of the entries of the branch that are newer than the newest custom entry of a type.
 * @param {import("./branch-entries.js").Session} session
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
 * @param {number} [time] the time of the entry before the first counted entry
 * @returns {Sums}
 */
export function noUsage(time) {
  return { models: new Map(), toolCalls: 0, work: 0, wait: 0, warm: { requests: 0, tokens: 0n, cost: 0 }, time };
}

/**
 * Returns sums as the component gets them.
 * @param {Sums} sums
 * @returns {Usage}
 */
export function usageOf({ models, toolCalls, work, wait, warm, time }) {
  const newestMs = time !== undefined && number(time) > 0 ? milliseconds(time) : undefined;
  const times = { workMs: milliseconds(work), waitMs: milliseconds(wait), newestMs };
  const warmed = { warmUps: warm.requests, warmTokens: warm.tokens, warmCost: warm.cost };
  return { models: [...models.values()], toolCalls, ...times, ...warmed };
}

/** Returns the time of an entry, in milliseconds since 1970; NaN if it has none. @param {any} entry */
export function timeOf({ timestamp }) {
  return typeof timestamp === "string" ? Date.parse(timestamp) : NaN;
}

/** @param {number} time */
const milliseconds = (time) => BigInt(Math.round(number(time)));

/** @param {Sums} sums @returns {Sums} */
function copy({ models, warm, ...others }) {
  return { ...others, warm: { ...warm }, models: new Map([...models].map(([name, sum]) => [name, { ...sum }])) };
}

/** Returns true if a message is one of the agent or of a tool: the time before it is work. @param {any} message */
export const isOfAgent = (message) => message?.role === "assistant" || message?.role === "toolResult";

/**
 * Adds an entry. The time before a message of the agent or a tool is work, the time before any other message is
 * waiting; other entries interrupt neither.
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
  if (entry.type === "usage" && entry.kind === "cache_warm") warm(sums.warm, entry.usage);
  else if (used) add(sums.models, used);
  sums.toolCalls += toolCallsOf(entry);
}

/** @param {any} entry */
function toolCallsOf({ type, message }) {
  if (type !== "message" || message?.role !== "assistant" || !Array.isArray(message.content)) return 0;
  return message.content.filter((/** @type {any} */ part) => part?.type === "toolCall").length;
}

/**
 * The usage that an entry carries, and the model to which pi attributes it. `always`: the entry is of a request to a
 * model, so a usage of 0 means that the provider has told none.
 * @typedef {{ model: string | undefined, usage: any, answers?: number, always?: boolean }} Used
 */

/** @param {any} entry @returns {Used | undefined} */
function usedBy(entry) {
  const { type, message, usage } = entry;
  if (type === "message" && message?.role === "assistant") {
    const model = modelName(message.provider, message.responseModel ?? message.model);
    const isNone = isNothing(message);
    // pi appends an empty answer if the agent was stopped before the request.
    const answers = isNone && message.stopReason === "aborted" ? 0 : 1;
    return { model, usage: message.usage, answers, always: !isNone };
  }
  // A request beside the answers.
  if (type === "usage") return { model: modelName(entry.provider, entry.model), usage, answers: 0, always: true };
  if (type === "message" && message?.role === "toolResult" && message.usage)
    return { model: undefined, usage: message.usage };
  // An extension can make a summary without a model.
  if ((type === "branch_summary" || type === "compaction") && usage)
    return { model: undefined, usage, always: !entry.fromHook };
  return undefined;
}

/**
 * Returns true if an answer failed or was aborted before it began: pi gives it no content, or an empty text.
 * @param {any} message
 */
function isNothing({ stopReason, content }) {
  const isEmpty = (/** @type {any} */ part) => part?.text === "" || part?.thinking === "";
  return (stopReason === "error" || stopReason === "aborted") && Array.isArray(content) && content.every(isEmpty);
}

/** @param {unknown} provider @param {unknown} id */
function modelName(provider, id) {
  return [provider, id].map((part) => (typeof part === "string" ? part : "?")).join("/");
}

/** The counts of tokens in a usage. @param {any} usage @returns {unknown[]} */
function countsOf(usage) {
  const { input, output, cacheRead = 0, cacheWrite = 0 } = usage ?? {};
  return [input, output, cacheRead, cacheWrite];
}

/** @param {Map<string | undefined, ModelUsage>} models @param {Used} used */
function add(models, { model, usage, answers = 1, always = false }) {
  const noTokens = { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n, reasoning: 0n };
  const sum = models.get(model) ?? { model, answers: 0, ...noTokens, cost: 0, unpriced: 0, unreported: 0 };
  models.set(model, sum);
  const cost = number(usage?.cost?.total);
  // From pi 1.5.0 on the total may be the amount that the provider has billed, not an estimate from prices.
  const isBilled = usage?.cost?.totalFromProvider === true && isAmount(usage.cost.total);
  const counts = countsOf(usage);
  const tokens = counts.map((count) => Math.floor(number(count)));
  const isReported = counts.every(isAmount) ? counts.some(number) || !always : !always && !usage;
  sum.answers += answers;
  sum.input += BigInt(tokens[0]);
  sum.output += BigInt(tokens[1]);
  sum.cacheRead += BigInt(tokens[2]);
  sum.cacheWrite += BigInt(tokens[3]);
  sum.reasoning += BigInt(Math.floor(number(usage?.reasoning)));
  sum.cost += cost;
  if (!isReported) sum.unreported += 1;
  if (!isBilled && (!isReported || (cost === 0 && tokens.some((count) => count > 0)))) sum.unpriced += 1;
}

/** @param {Sums["warm"]} sum @param {any} usage */
function warm(sum, usage) {
  sum.requests += 1;
  for (const count of countsOf(usage)) sum.tokens += BigInt(Math.floor(number(count)));
  sum.cost += number(usage?.cost?.total);
}

/**
 * Returns true if a value can be a number of tokens or a cost: sums of them stay within 64 bits.
 * @param {unknown} value
 */
function isAmount(value) {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** An amount, or 0 for a value that is no amount. @param {unknown} value @returns {number} */
function number(value) {
  return isAmount(value) ? /** @type {number} */ (value) : 0;
}
