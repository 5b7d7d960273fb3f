// The agent without a workflow, for comparisons: what it has taken, by its session file, and how it ended.
import { existsSync, readFileSync } from "node:fs";

import { count, noUsage, timeOf, usageOf } from "../../host-shim/usage.js";
import { dollars, duration } from "../runs/figures.js";
import { parsed } from "../runs/sessions.js";

/** @typedef {import("../../target/types/interfaces/pi-workflows-tools-workflows.js").Bounds} Bounds */

/** The usage of an agent; the names are those of a report. @typedef {ReturnType<typeof agentIn>["usage"]} AgentUsage */

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

/** The sums of a session file; `failure`: the error with which its last answer failed. @param {string} session */
export function agentIn(session) {
  const sums = noUsage();
  let last;
  for (const line of existsSync(session) ? readFileSync(session, "utf8").split("\n") : []) {
    const entry = parsed(line);
    if (entry === undefined) continue;
    count(sums, entry, timeOf(entry));
    if (entry.message?.role === "assistant") last = entry.message;
  }
  const { models, toolCalls, workMs, waitMs } = usageOf(sums);
  const sum = (/** @type {"answers" | typeof FIELDS[number]} */ field) =>
    models.reduce((all, model) => all + Number(model[field]), 0);
  const usage = {
    turns: sum("answers"),
    .../** @type {Record<typeof FIELDS[number], number>} */ (
      Object.fromEntries(FIELDS.map((field) => [field, sum(field)]))
    ),
    toolCalls,
    workMs: Number(workMs),
    waitMs: Number(waitMs),
    models: Object.fromEntries(models.flatMap(({ model, answers }) => (model === undefined ? [] : [[model, answers]]))),
  };
  const failed = last?.stopReason === "error" || last?.stopReason === "aborted";
  return { usage, failure: failed ? String(last.errorMessage || last.stopReason) : undefined };
}

/**
 * The bound that is used up, in words; `undefined` if none is. A cost that is not known counts as one that is used up,
 * as in a run.
 * @param {AgentUsage} usage
 * @param {Bounds} bounds
 */
export function usedUp({ cost, unpriced, unreported, output, turns, workMs }, bounds) {
  if (bounds.cost !== undefined && unpriced > 0) return "the cost of an answer is not known";
  if (bounds.outputTokens !== undefined && unreported > 0) return "the usage of an answer is not known";
  if (bounds.cost !== undefined && cost >= bounds.cost) return `${dollars(cost)} of ${dollars(bounds.cost)}`;
  if (bounds.outputTokens !== undefined && output >= Number(bounds.outputTokens))
    return `${output} of ${bounds.outputTokens} output tokens`;
  if (bounds.turns !== undefined && turns >= Number(bounds.turns)) return `${turns} of ${bounds.turns} turns`;
  if (bounds.timeMs !== undefined && workMs >= Number(bounds.timeMs))
    return `${duration(workMs)} of ${duration(Number(bounds.timeMs))}`;
  return undefined;
}
