// The results of a comparison, from its trials.
import { existsSync } from "node:fs";
import { join, relative } from "node:path";

import { counted, spread } from "@pi-workflows/pi-workflows/cli";
import { words } from "./script.js";
import { LEVEL, interval, pairsNeeded, signTest } from "./statistics.js";

/** @typedef {import("./results.js").Found} Found */
/** @typedef {ReturnType<typeof spread>} Spread */

/**
 * @typedef {object} Variant
 * @property {string} name
 * @property {string} definition
 * @property {string} model empty for the user's own model
 * @property {number} trials
 * @property {number} solved
 * @property {number} falseGreen trials that ended as done although the check failed
 * @property {Record<string, number>} others the number of trials by each other ending
 * @property {[low: number, high: number]} [interval] of 95 % for the share of solved trials
 * @property {Spread} cost of the trials whose cost is known
 * @property {number} unknownCost trials whose cost is not known
 * @property {Spread} tokens of the trials whose usage is known
 * @property {Spread} ms
 * @property {Spread} turns of the trials whose usage is known
 *
 * @typedef {{ number: number, mark: string, words: string, text: string, session?: string, report?: string, check?:
 *   string }} Shown paths, for links
 * @typedef {{ trials: number, solved: number, falseGreen: number, shown: Shown[] }} Cell
 * @typedef {{ name: string, cells: (Cell | undefined)[] }} TaskRow the cells in the order of the variants
 * @typedef {{ first: string, second: string, more: number, less: number, alike: number, p: number, text: string }} Pair
 *   the second variant compared with the first
 *
 * @typedef {object} Answer
 * @property {Variant[]} variants
 * @property {TaskRow[]} tasks
 * @property {Pair[]} pairs
 * @property {string[]} notes
 */

export const METHOD =
  "Interval: 95\u00a0%, Wilson's, with the effective number of trials (design effect of Rao and Scott), because the trials of one task are not independent, and with Student's quantile for few tasks. " +
  "p: exact two-sided sign test on the tasks that differ.";

/**
 * Returns the results of trials. If a task was changed, only trials of its newest version count.
 * @param {Found[]} all
 * @param {string} base the folder that paths are relative to
 * @returns {Answer}
 */
export function answerOf(all, base) {
  const newest = new Map(all.map(({ task, taskDigest }) => [task, taskDigest]));
  const trials = all.filter(({ task, taskDigest }) => newest.get(task) === taskDigest);
  const keyOf = (/** @type {Found} */ { variant, definition, model }) => JSON.stringify([variant, definition, model]);
  const groups = [...Map.groupBy(trials, keyOf).values()].sort((a, b) => a[0].startedAt - b[0].startedAt);
  const names = namesOf(groups.map(([first]) => first));
  const variants = groups.map((group, index) => variantOf(names[index], group));
  const cell = (/** @type {Found[]} */ group, /** @type {string} */ name) =>
    cellOf(
      base,
      group.filter(({ task }) => task === name),
    );
  const tasks = [...newest.keys()].sort().map((name) => ({ name, cells: groups.map((group) => cell(group, name)) }));
  const pairs = groups.flatMap((first, index) =>
    groups.slice(index + 1).map((second, later) => pairOf([names[index], first], [names[index + 1 + later], second])),
  );
  const notes = [];
  const old = all.length - trials.length;
  if (old > 0)
    notes.push(`Of earlier versions of tasks ${counted(old, "trial")} ${old === 1 ? "is" : "are"} left out.`);
  if (trials.some(({ hidden }) => hidden === "no"))
    notes.push(
      "In some trials the folder of tasks was not hidden: the system could not confine commands, and an agent could read a check.",
    );
  else if (trials.some(({ hidden }) => hidden === "from tools"))
    notes.push(
      "In some trials the commands of gates and steps, which may run code of an agent, could read the folder of tasks.",
    );
  if (pairs.length > 1)
    notes.push(
      `${pairs.length} pairs are compared: with so many, one with p just below ${LEVEL} may be chance. Multiply each p by ${pairs.length} to be sure.`,
    );
  return { variants, tasks, pairs, notes };
}

/** Distinct names: with the model if models differ, with the digest if names are equal. @param {Found[]} firsts */
function namesOf(firsts) {
  const models = new Set(firsts.map(({ model }) => model)).size > 1;
  const named = firsts.map(({ variant, model }) => (models ? `${variant} (${model || "own model"})` : variant));
  return named.map((name, index) =>
    named.filter((other) => other === name).length > 1 ? `${name} @${firsts[index].definition.slice(0, 6)}` : name,
  );
}

/** @param {string} name @param {Found[]} trials @returns {Variant} */
function variantOf(name, trials) {
  const [{ definition, model }] = trials;
  const tasks = [...Map.groupBy(trials, ({ task }) => task).values()];
  const known = trials.filter(({ unknown }) => !unknown);
  const priced = known.filter(({ unpriced }) => unpriced === 0);
  /** @type {Record<string, number>} */
  const others = {};
  for (const { ending } of trials) if (ending !== "done") others[ending] = (others[ending] ?? 0) + 1;
  return {
    name,
    definition,
    model,
    trials: trials.length,
    solved: solvedOf(trials),
    falseGreen: trials.filter(isFalseGreen).length,
    others,
    interval: interval(tasks.map((task) => ({ solved: solvedOf(task), trials: task.length }))),
    cost: spread(priced.map(({ cost }) => cost)),
    unknownCost: trials.length - priced.length,
    tokens: spread(known.map(({ tokens }) => tokens)),
    ms: spread(trials.map(({ ms }) => ms)),
    turns: spread(known.map(({ turns }) => turns)),
  };
}

/** @param {Found[]} trials */
const solvedOf = (trials) => trials.filter(({ solved }) => solved).length;

/** @param {Found} trial */
const isFalseGreen = ({ ending, solved }) => ending === "done" && !solved;

/** The end of a check that the agent or the check's author may have broken. @param {Found["check"]} check */
export const unusual = (check) =>
  check && (check.signal !== null || (check.status ?? 0) > 125) ? `: the check ended ${words(check)}` : "";

/** @param {string} base @param {Found[]} trials @returns {Cell | undefined} */
function cellOf(base, trials) {
  if (trials.length === 0) return undefined;
  const shown = trials
    .toSorted((a, b) => a.number - b.number)
    .map((trial) => {
      const { number, ending, solved, check, text, folder } = trial;
      const link = (/** @type {string} */ name) =>
        existsSync(join(folder, name)) ? relative(base, join(folder, name)) : undefined;
      const ended = solved ? "solved" : isFalseGreen(trial) ? `false green${unusual(check)}` : ending;
      return {
        number,
        mark: solved ? "✓" : isFalseGreen(trial) ? "✗" : "–",
        words: ended,
        text,
        session: link("session/session.jsonl"),
        report: link("report.html"),
        check: link("check.txt"),
      };
    });
  return { trials: trials.length, solved: solvedOf(trials), falseGreen: trials.filter(isFalseGreen).length, shown };
}

/**
 * Compares two variants by the tasks. Of each task only trials count whose numbers both variants have.
 * @param {[name: string, trials: Found[]]} first
 * @param {[name: string, trials: Found[]]} second
 * @returns {Pair}
 */
function pairOf([first, before], [second, after]) {
  let [more, less, alike] = [0, 0, 0];
  for (const task of new Set(before.map(({ task }) => task))) {
    const of = (/** @type {Found[]} */ trials) =>
      new Map(trials.filter((trial) => trial.task === task).map(({ number, solved }) => [number, solved]));
    const [one, other] = [of(before), of(after)];
    const both = [...one.keys()].filter((number) => other.has(number));
    if (both.length === 0) continue;
    const difference = both.reduce((sum, number) => sum + Number(other.get(number)) - Number(one.get(number)), 0);
    if (difference > 0) more += 1;
    else if (difference < 0) less += 1;
    else alike += 1;
  }
  const p = signTest(more, less);
  return { first, second, more, less, alike, p, text: wordsOf({ first, second, more, less, alike, p }) };
}

/** The result of a pair in words: the better variant first. @param {Omit<Pair, "text">} pair @returns {string} */
function wordsOf({ first, second, more, less, alike, p }) {
  if (less > more) return wordsOf({ first: second, second: first, more: less, less: more, alike, p });
  const all = more + less + alike;
  if (all === 0) return `“${second}” and “${first}” have no trials of the same tasks.`;
  if (more + less === 0)
    return `“${second}” and “${first}” solved ${all === 1 ? "the task" : `each of the ${all} tasks`} equally often: no difference was seen.`;
  const than = `“${second}” solved ${counted(more, "task")} more often than “${first}” and ${less === 0 ? "no task" : counted(less, "task")} less often`;
  if (p < LEVEL) return `${than}: more than chance (p = ${shortP(p)}).`;
  const would = `${pairsNeeded(less)} tasks that differ, ${less === 0 ? "all one way" : `only ${less} of them the other way`}, would`;
  return `${than}: ${counted(more + less, "pair")} cannot tell (p = ${shortP(p)}); ${would}.`;
}

/** @param {number} p */
export const shortP = (p) => (p < 0.001 ? p.toExponential(1) : String(Number(p.toPrecision(2))));
