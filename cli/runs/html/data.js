// The part of a report that its page shows. A field that is absent or of another kind has an empty value.

/** @template T @typedef {(value: any) => T} Kind returns the value of a field */

/** @param {any} value @returns {number | undefined} */
const number = (value) => (Number.isFinite(value) && value >= 0 ? value : undefined);
const amount = (/** @type {any} */ value) => number(value) ?? 0;
/** A time in milliseconds that a calendar has. @type {Kind<number | undefined>} */
const time = (value) => (amount(value) <= 8.64e15 ? number(value) : undefined);
const flag = (/** @type {any} */ value) => value === true;
/** A text, not cut within a pair of surrogates. @param {number} most its characters @returns {Kind<string>} */
export const text = (most) => (value) => {
  const whole = typeof value === "string" ? value.trim() : "";
  const start = whole.slice(0, most).replace(/[\ud800-\udbff]$/, "");
  return whole.length > most ? `${start.trimEnd()}…` : whole;
};
/** A text on one line. @param {number} most @returns {Kind<string>} */
export const line = (most) => (value) =>
  text(most)(typeof value === "string" ? value.slice(0, most * 4).replace(/\s+/g, " ") : "");

/** @param {any} value @returns {[string, any][]} */
const entries = (value) => (typeof value === "object" && value && !Array.isArray(value) ? Object.entries(value) : []);
/** Values by name. @template T @param {Kind<T>} of @returns {Kind<[string, T][]>} */
const named = (of) => (value) => entries(value).map(([name, field]) => [name, of(field)]);
/** @template T @param {Kind<T>} of @returns {Kind<T[]>} */
const list = (of) => (value) => (Array.isArray(value) ? value.map(of) : []);
/**
 * @template {Record<string, Kind<any>>} Kinds
 * @param {Kinds} kinds
 * @returns {Kind<{ [Name in keyof Kinds]: ReturnType<Kinds[Name]> }>}
 */
const record = (kinds) => (value) => {
  const given = Object.fromEntries(entries(value));
  return /** @type {any} */ (Object.fromEntries(Object.entries(kinds).map(([name, of]) => [name, of(given[name])])));
};

const written = (/** @type {any} */ value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
const output = (/** @type {any} */ value) =>
  text(3_000)(
    Array.isArray(value) ? value.map((item, index) => `${index + 1}. ${written(item)}`).join("\n") : written(value),
  );
/**
 * Fields of one kind.
 * @template T
 * @template {string} Name
 * @param {Kind<T>} of
 * @param {Name[]} names
 */
const all = (of, ...names) =>
  /** @type {Record<Name, Kind<T>>} */ (Object.fromEntries(names.map((name) => [name, of])));

const check = record({
  ...all(line(300), "name", "result", "file"),
  passed: flag,
  attempt: amount,
  durationMs: number,
  tail: text(1_500),
});
const usage = record({
  ...all(amount, "turns", "input", "output", "cacheRead", "cacheWrite", "reasoning", "cost", "unpriced", "unreported"),
  ...all(amount, "toolCalls", "workMs", "waitMs", "gateAttempts", "gateFailures", "warmUps", "warmTokens", "warmCost"),
  ...all(named(amount), "refusals", "models"),
});
const phase = record({
  ...all(line(120), "name", "nestedIn", "outcome"),
  ...all(amount, "depth", "passes"),
  ...all(flag, "skipped", "current"),
  key: text(1_000),
  summary: text(3_000),
  outputs: named(output),
  evidence: list(check),
  usage: usageOf,
});
const visit = record({
  ...all(time, "from", "to"),
  key: text(1_000),
  name: line(120),
  pass: amount,
  how: line(20),
  isOfBranch: flag,
});
const span = record({ kind: line(20), from: time, to: time, reason: line(200) });
const branch = record({ ...all(line(300), "name", "end", "how", "session"), clockMs: number });
const fields = record({
  ...all(line(300), "workflow", "outcome", "pause", "taskId", "fingerprint"),
  ...all(time, "startedAt", "endedAt"),
  task: text(6_000),
  inputs: named(line(200)),
  proposed: flag,
  quota: record(all(amount, "waits", "waitedMs")),
  session: record(all(line(400), "cwd", "file")),
  steps: amount,
  repeatedVisits: number,
  usage: usageOf,
  phases: list(phase),
  passedOver: list(record(all(line(300), "name", "because"))),
  branches: list(branch),
  course: record({ visits: list(visit), spans: list(span) }),
});

/**
 * @typedef {ReturnType<typeof reportData>} Report
 * @typedef {Report["phases"][number]} Phase
 * @typedef {ReturnType<typeof usageOf>} Usage
 */

/** `unknown`: no usage is recorded. @param {any} value */
function usageOf(value) {
  const { refusals, models, ...sums } = usage(value);
  const some = (/** @type {[string, number][]} */ counts) => counts.filter(([, times]) => times > 0).slice(0, 100);
  return { ...sums, refusals: some(refusals), models: some(models), unknown: entries(value).length === 0 };
}

/** @param {unknown} report */
export function reportData(report) {
  const { course, ...rest } = fields(report);
  const phases = rest.phases.map((phase) => ({
    ...phase,
    name: phase.name || line(120)(phase.key) || "(no name)",
    depth: Math.min(3, Math.floor(phase.depth)),
  }));
  // A visit takes up time, so that it has a place on the axis.
  const visits = timed(course.visits).map((visit) => ({
    ...visit,
    name: visit.name || line(120)(visit.key),
    to: Math.max(visit.to, visit.from + 1),
  }));
  return { ...rest, phases, visits, spans: timed(course.spans).filter(({ from, to }) => from < to) };
}

/**
 * The items whose times are known, in their order.
 * @template {{ from?: number, to?: number }} T
 * @param {T[]} items
 * @returns {(T & { from: number, to: number })[]}
 */
function timed(items) {
  const known = items.flatMap((item) => {
    const { from = Infinity, to = -1 } = item;
    return from <= to ? [{ ...item, from, to }] : [];
  });
  return known.sort((one, other) => one.from - other.from);
}
