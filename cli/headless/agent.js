// The agent without a workflow, for comparisons: its usage and its end, from the records that its pi writes. The
// session file is no source for them: the agent can write the file.
import { count, noUsage, usageOf } from "#loader";

import { dollars, duration } from "../runs/figures.js";

/** @typedef {import("../../target/types/interfaces/pi-workflows-tools-workflows.js").Bounds} Bounds */
/** @typedef {import("./pi.js").PiRecord} PiRecord */

/** The usage of an agent, with the names of a report. @typedef {Agent["usage"]} AgentUsage */

/** The fields of the usage of a model. */
const FIELDS = /** @type {const} */ ([
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "reasoning",
  "cost",
  "unpriced",
  "unreported",
]);

export class Agent {
  #sums = noUsage();
  /** @type {any} */
  #last;
  /** The number of ended answers, and so of turns: each turn has one answer. */
  #answers = 0;
  #turns = 0;
  /** True if a turn has begun and has not ended. */
  #isAtWork = false;
  /** True if records are missing. */
  #hasGap = false;

  /** @param {PiRecord | undefined} record `undefined` for a line that is no record */
  onRecord(record) {
    if (!record) {
      this.#hasGap = true;
      return;
    }
    const { type, message, result } = record;
    if (type === "turn_start") {
      this.#hasGap ||= this.#isAtWork;
      this.#isAtWork = true;
    } else if (type === "message_end") {
      count(this.#sums, { type: "message", message }, Date.now());
      if (message?.role !== "assistant") return;
      this.#answers += 1;
      this.#last = message;
    } else if (type === "turn_end") {
      this.#turns += 1;
      this.#isAtWork = false;
      this.#hasGap ||= this.#answers !== this.#turns;
    } else if (type === "compaction_end" && result) {
      count(this.#sums, { type: "compaction", usage: result.usage }, Date.now());
    }
  }

  /** The stream of records has ended by itself: an answer that has not come may have been paid for. */
  onEnd() {
    this.#hasGap ||= this.#isAtWork;
  }

  /** The error with which its last answer failed. */
  get failure() {
    const failed = this.#last?.stopReason === "error" || this.#last?.stopReason === "aborted";
    return failed ? String(this.#last.errorMessage || this.#last.stopReason) : undefined;
  }

  get usage() {
    const { models, toolCalls, workMs, waitMs } = usageOf(this.#sums);
    const sum = (/** @type {typeof FIELDS[number]} */ field) =>
      models.reduce((all, model) => all + Number(model[field]), 0);
    /** @type {[string, number][]} */
    const named = models.flatMap(({ model, answers }) => (model === undefined ? [] : [[model, answers]]));
    return {
      /** True if the usage was more than these sums. */
      unknown: this.#hasGap,
      /** Answers of the model: a summary is none. */
      turns: named.reduce((all, [, answers]) => all + answers, 0),
      .../** @type {Record<typeof FIELDS[number], number>} */ (
        Object.fromEntries(FIELDS.map((field) => [field, sum(field)]))
      ),
      toolCalls,
      workMs: Number(workMs),
      waitMs: Number(waitMs),
      models: Object.fromEntries(named),
    };
  }
}

/**
 * The bound that is used up, in words; `undefined` if no bound is used up. As in a run, an unknown cost counts as used
 * up if nothing else is bounded or if the usage is unknown too.
 * @param {AgentUsage} usage
 * @param {Bounds} bounds
 */
export function usedUp({ unknown, cost, unpriced, unreported, turns, workMs }, bounds) {
  if (unknown) return "what the agent has taken is not known";
  const isAlone = Object.values(bounds).filter((bound) => bound !== undefined).length === 1;
  if (bounds.cost !== undefined && unpriced > 0 && (isAlone || unreported > 0))
    return "the cost of an answer is not known";
  if (bounds.cost !== undefined && cost >= bounds.cost) return `${dollars(cost)} of ${dollars(bounds.cost)}`;
  if (bounds.turns !== undefined && turns >= Number(bounds.turns)) return `${turns} of ${bounds.turns} turns`;
  if (bounds.timeMs !== undefined && workMs >= Number(bounds.timeMs))
    return `${duration(workMs)} of ${duration(Number(bounds.timeMs))}`;
  return undefined;
}
