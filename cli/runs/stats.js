// Figures of the phases of workflows over many runs.
import { cell, columns } from "./columns.js";
import { counted, day, dollars, duration } from "./figures.js";

/** @typedef {import("./find.js").Run} Run */
/** @typedef {import("./find.js").Usage} Usage */

/** The least number of runs of which a median is given. */
const MIN_RUNS = 5;

/**
 * A figure over some runs; with less than `MIN_RUNS` the smallest and the largest, without runs nothing.
 * @typedef {{ runs: number, min?: number, median?: number, max?: number }} Figure
 *
 * @typedef {Record<typeof FIGURES[number]["name"], Figure>} Figures
 *
 * The runs of a workflow with the same rules.
 * @typedef {object} Version
 * @property {string} workflow its key
 * @property {string | undefined} fingerprint of its rules; `undefined` if unknown
 * @property {number} runs
 * @property {Record<string, number>} outcomes
 * @property {number} from the start of the first run
 * @property {number} to the start of the last run
 * @property {{ key: string, name: string, title: string, figures: Figures }[]} phases
 * @property {Figures} whole the figures of whole runs that are done
 */

/**
 * A part of a run.
 * @typedef {{ usage: Usage, passes?: number }} Part
 *
 * The figures of a part of a run; `undefined` is unknown.
 * @type {{ name: "work" | "waiting" | "cost" | "passes" | "gateFailures" | "refusals", title: string, of: (part: Part)
 *   => number | undefined, text: (value: number) => string }[]}
 */
const FIGURES = [
  { name: "work", title: "at work", of: ({ usage }) => usage.workMs, text: duration },
  { name: "waiting", title: "waiting", of: ({ usage }) => usage.waitMs, text: duration },
  { name: "cost", title: "cost", of: ({ usage }) => (usage.unpriced > 0 ? undefined : usage.cost), text: dollars },
  { name: "passes", title: "visits", of: ({ passes }) => passes, text: count },
  { name: "gateFailures", title: "gate failures", of: ({ usage }) => usage.gateFailures, text: count },
  {
    name: "refusals",
    title: "refusals",
    of: ({ usage }) => Object.values(usage.refusals).reduce((sum, calls) => sum + calls, 0),
    text: count,
  },
];

/**
 * Returns the figures of each workflow and fingerprint: the workflows by name, of each the newest first.
 * @param {Run[]} runs
 * @returns {Version[]}
 */
export function statsOf(runs) {
  const groups = Map.groupBy(runs, ({ state }) => JSON.stringify([state.workflow, state.fingerprint]));
  const versions = [...groups.values()].map(versionOf);
  return versions.sort((a, b) => compare(a.workflow, b.workflow) || b.to - a.to);
}

/** @param {Run[]} runs @returns {Version} */
function versionOf(runs) {
  const { workflow, fingerprint } = runs[0].state;
  const starts = runs.map(({ state }) => state.startedAt);
  /** @type {Record<string, number>} */
  const outcomes = {};
  for (const { outcome } of runs) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const whole = runs.flatMap(({ outcome, usage }) => (outcome === "done" && usage ? [{ usage }] : []));
  return {
    workflow,
    fingerprint,
    runs: runs.length,
    outcomes,
    from: starts.reduce((a, b) => Math.min(a, b)),
    to: starts.reduce((a, b) => Math.max(a, b)),
    phases: phasesOf(runs),
    whole: figuresOf(whole),
  };
}

/** @param {Run[]} runs */
function phasesOf(runs) {
  // A phase that was not left has no full figures, and a skipped phase has no figures of its own.
  const left = runs.flatMap(({ state }) =>
    state.phases.filter((phase) => phase.endedAt !== undefined && !phase.skipped),
  );
  const phases = Map.groupBy(left, ({ key }) => key);
  const ordered = [...phases.values()].sort(([a], [b]) => comparePlaces(a.place, b.place) || compare(a.key, b.key));
  return ordered.map((records) => {
    const { key, name, title } = records.reduce((a, b) => (b.startedAt > a.startedAt ? b : a));
    return { key, name, title, figures: figuresOf(records) };
  });
}

/** Compares places of a workflow. @param {Uint32Array} a @param {Uint32Array} b */
function comparePlaces(a, b) {
  const depth = a.findIndex((index, depth) => index !== b[depth]);
  return depth === -1 || depth >= b.length ? a.length - b.length : a[depth] - b[depth];
}

/** @param {Part[]} parts @returns {Figures} */
function figuresOf(parts) {
  const figures = FIGURES.map(({ name, of }) => {
    const values = parts.map(of).filter((value) => value !== undefined);
    return [name, figure(values)];
  });
  return Object.fromEntries(figures);
}

/** @param {number[]} values @returns {Figure} */
function figure(values) {
  const runs = values.length;
  const all = spread(values);
  if (!all) return { runs };
  const { least, median, greatest } = all;
  return runs < MIN_RUNS ? { runs, min: least, max: greatest } : { runs, median, max: greatest };
}

/** @param {Version[]} versions @param {number} [width] of a terminal */
export function statsText(versions, width) {
  if (versions.length === 0) return "No runs.\n";
  const blocks = versions.map((version, index) =>
    versionText(version, versions[index - 1]?.workflow === version.workflow, width),
  );
  return `${blocks.join("\n")}\nEach figure: the median, the maximum, and in brackets the number of runs.\nOf fewer than ${MIN_RUNS} runs, which a median needs: the smallest and the largest.\n`;
}

/** @param {Version} version @param {boolean} isOlder @param {number} [width] */
function versionText({ phases, whole, workflow, runs, outcomes, from, to, fingerprint }, isOlder, width) {
  const [first, last] = [day(from), day(to)];
  const older = first === last ? `on ${first}` : `from ${first} to ${last}`;
  const ends = Object.entries(outcomes)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ");
  const rules = fingerprint === undefined ? "fingerprint unknown" : `fingerprint ${cell(fingerprint, 14)}`;
  const title = `${cell(workflow, 60)}: ${counted(runs, "run")} ${isOlder ? older : `since ${first}`} (${ends}), ${rules}${isOlder ? ", older" : ""}`;
  if (phases.length === 0) return `${title}\n  No phase was left in them.\n`;
  const rows = [
    ...phases.map((phase) => ({ name: cell(phase.title, 40), figures: phase.figures })),
    { name: "Whole run", figures: whole },
  ];
  const table = rows.map(({ name, figures }) => [
    `  ${name}`,
    ...FIGURES.map((each) => figureText(figures[each.name], each.text)),
  ]);
  const headings = ["", ...FIGURES.map(({ title }) => title)];
  return `${[title, ...tables([headings, ...table], width)].join("\n")}\n`;
}

/** Columns of the names beside which figures are left for a further table. */
const NAME_WIDTH = 20;

/**
 * Returns the lines of a table; where the screen has no room for all columns, of several tables, each with the names.
 * @param {string[][]} rows
 * @param {number} [width]
 */
function tables(rows, width = Infinity) {
  const names = Math.min(NAME_WIDTH, Math.max(...rows.map(([name]) => [...name].length)));
  /** @type {number[][]} */
  const parts = [];
  let room = 0;
  for (let column = 1; column < rows[0].length; column += 1) {
    const own = 2 + Math.max(...rows.map((row) => row[column].length));
    if (own > room || parts.length === 0) {
      parts.push([]);
      room = width - names;
    }
    parts.at(-1)?.push(column);
    room -= own;
  }
  return parts.flatMap((part) =>
    columns(
      rows.map((row) => [row[0], ...part.map((column) => row[column])]),
      width,
      0,
    ),
  );
}

/** @param {Figure} figure @param {(value: number) => string} text */
function figureText({ runs, min, median, max }, text) {
  if (max === undefined) return "-";
  const least = min === undefined ? undefined : text(min);
  if (least !== undefined) return `${least === text(max) ? least : `${least} to ${text(max)}`} (${runs})`;
  return `${text(/** @type {number} */ (median))}, ${text(max)} (${runs})`;
}

/** @param {number} value */
function count(value) {
  return String(Math.round(value * 10) / 10);
}

/** @param {string} a @param {string} b */
const compare = (a, b) => (a === b ? 0 : a < b ? -1 : 1);

/** The least, the median and the greatest of some numbers; `undefined` without numbers. @param {number[]} values */
export function spread(values) {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const median = (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
  return { least: sorted[0], median, greatest: sorted[sorted.length - 1], count: sorted.length };
}
