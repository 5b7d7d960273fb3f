// Reads the stored states of runs (`src/run/stored.rs`), and adds up usages (`src/usage.rs`).
//
// A state comes from a file: any field can have any value. Unfit values are left out.

/** @typedef {import("./sessions.js").Entry} Entry */

/**
 * The usage of a part of a run.
 * @typedef {object} Usage
 * @property {number} turns
 * @property {number} input
 * @property {number} output
 * @property {number} cacheRead
 * @property {number} cacheWrite
 * @property {number} reasoning
 * @property {number} cost in US dollars, of the answers that have a price
 * @property {number} unpriced the number of answers without a price or without usage: their cost is unknown
 * @property {number} unreported the number of answers without usage: their tokens are unknown
 * @property {number} toolCalls
 * @property {Record<string, number>} refusals by rule
 * @property {number} gateAttempts
 * @property {number} gateFailures
 * @property {number} workMs
 * @property {number} waitMs
 * @property {number} warmUps requests that kept the prompt cache
 * @property {number} warmTokens
 * @property {number} warmCost
 * @property {Record<string, number>} models the number of answers of each
 *
 * A phase of a run, with all its visits.
 * @typedef {object} PhaseRecord
 * @property {string} key
 * @property {string} name the key if the state has no name
 * @property {number} passes
 * @property {number} startedAt of the last visit
 * @property {number} step of the run at its start
 * @property {number} [endedAt] of the last visit
 * @property {boolean} skipped
 * @property {Usage} usage of all visits
 *
 * @typedef {object} State
 * @property {string} taskId
 * @property {string} workflow its key
 * @property {string} task
 * @property {"done" | "cancelled" | "paused" | "running"} status
 * @property {{ kind: string, at: number } | undefined} pause
 * @property {{ workflowKey: string, phaseIndex: number }[]} path never empty
 * @property {string} phaseKey
 * @property {number} steps
 * @property {number} startedAt in milliseconds since 1970
 * @property {string | undefined} fingerprint
 * @property {PhaseRecord[]} phases in the order of the workflow
 * @property {Usage | undefined} usage of the whole run; `undefined` if the state was stored without usages
 */

/** The length of tasks and keys, and of the other texts that are kept, in characters. */
const MAX_TEXT = 10_000;
const MAX_NAME = 200;
const MAX_NAMES = 20;
/** The bounds of the extension's own reader. */
const MAX_PATH = 101;
const MAX_VISITS = 5000;

const COUNTS = /** @type {const} */ ([
  "turns", "input", "output", "cacheRead", "cacheWrite", "reasoning", "cost", "unpriced", "unreported", "toolCalls", "gateAttempts", "gateFailures",
  "workMs", "waitMs", "warmUps", "warmTokens", "warmCost",
]);

/** The fields of `progress` of which a part has only the records that changed (`src/run/journal.rs`). */
const RECORDS = /** @type {const} */ (["visits", "outcomes", "passedOver", "allowances", "loops", "gateAttempts"]);
/** The version of a part. */
const PART = 2;

/**
 * Returns true if the data of a state entry is a part, which continues an earlier entry of the run.
 * @param {any} data
 */
export function isPart(data) {
  const progress = isRecord(data) && isRecord(data.progress) ? data.progress : {};
  return progress.version === PART && numberOf(data) > 0 && number(progress.entry.parts) > 0;
}

/** The number of an entry among those of its run; 0 if it has none. @param {any} data */
export const numberOf = (data) => (isRecord(data?.progress) && isRecord(data.progress.entry) ? number(data.progress.entry.number) : 0);

/**
 * Returns the data of a part as if it were complete; `undefined` if it does not continue the other state.
 * @param {any} before the data of the state before, complete; its records become those of the result
 * @param {any} part
 */
export function continued(before, part) {
  if (before === undefined || before.taskId !== part.taskId) return undefined;
  // The reference copies what it does not know.
  if (![numberOf(part), numberOf(part) - 1].includes(numberOf(before))) return undefined;
  const progress = { ...before.progress, ...part.progress, version: 1 };
  for (const name of RECORDS) {
    const records = isRecord(before.progress[name]) ? before.progress[name] : {};
    for (const [key, value] of Object.entries(isRecord(part.progress[name]) ? part.progress[name] : {})) {
      if (value === null) delete records[key];
      else Object.defineProperty(records, key, { value, writable: true, enumerable: true, configurable: true });
    }
    progress[name] = records;
  }
  // They stand in every entry that has them.
  for (const name of ["paused", "forgotten"]) if (part.progress[name] === undefined) delete progress[name];
  return { ...part, progress };
}

/**
 * Returns the run's state in an entry; `undefined` if it has none.
 * @param {Entry} entry
 * @returns {State | undefined}
 */
export function readState({ data }) {
  if (!isRecord(data) || typeof data.workflowKey !== "string" || typeof data.active !== "boolean") return undefined;
  const path = readPath(data);
  if (!path || typeof data.startedAt !== "number") return undefined;
  const progress = isRecord(data.progress) ? data.progress : {};
  const pause = isRecord(progress.paused) ? { kind: kindOf(progress.paused.reason), at: number(progress.paused.at) } : undefined;
  const phases = readPhases(progress.visits);
  const hasUsage = phases.length > 0 && isRecord(data.progress);
  const key = path.map(({ workflowKey, phaseIndex }) => `${workflowKey}:${phaseIndex}`).join("/");
  // The path of a run that ended in a nested workflow is behind the last entry.
  const isPast = data.active === false && phases.length > 0 && !phases.some((phase) => phase.key === key);
  const { version, hash } = isRecord(progress.seal) ? progress.seal : {};
  return {
    taskId: text(data.taskId),
    workflow: text(data.workflowKey),
    task: text(data.taskDescription, MAX_TEXT),
    status: statusOf(data, pause),
    pause,
    path,
    phaseKey: isPast ? phases.reduce((last, phase) => (phase.step >= last.step ? phase : last)).key : key,
    steps: number(data.globalStepCount),
    startedAt: number(data.startedAt),
    fingerprint: typeof version === "number" && typeof hash === "string" ? `${version}:${text(hash)}` : undefined,
    phases,
    usage: hasUsage ? sum(progress.forgotten, ...phases.map(({ usage }) => usage)) : undefined,
  };
}

/** @param {{ [key: string]: any }} data @param {object | undefined} pause @returns {State["status"]} */
function statusOf({ active, cancelled }, pause) {
  if (active) return pause ? "paused" : "running";
  return cancelled === true ? "cancelled" : "done";
}

/** @param {{ [key: string]: any }} data */
function readPath({ workflowKey, currentPath, currentPhaseIndex }) {
  // The form without nested workflows.
  const path = currentPath ?? [{ workflowKey, phaseIndex: currentPhaseIndex }];
  if (!Array.isArray(path) || path.length === 0 || path.length > MAX_PATH) return undefined;
  const isSegment = (/** @type {any} */ segment) => isRecord(segment) && typeof segment.workflowKey === "string" && Number.isSafeInteger(segment.phaseIndex);
  return path.every(isSegment) ? path.map(({ workflowKey, phaseIndex }) => ({ workflowKey: text(workflowKey, MAX_TEXT), phaseIndex })) : undefined;
}

/** @param {unknown} visits @returns {PhaseRecord[]} */
function readPhases(visits) {
  if (!isRecord(visits)) return [];
  const entries = Object.entries(visits).slice(0, MAX_VISITS).filter(([, visit]) => isRecord(visit));
  const phases = entries.map(([key, visit]) => ({
    key: text(key, MAX_TEXT),
    name: text(visit.name) || text(key),
    passes: number(visit.passes),
    startedAt: number(visit.startedAt),
    step: number(visit.step),
    endedAt: typeof visit.endedAt === "number" ? number(visit.endedAt) : undefined,
    skipped: visit.skipped === true,
    usage: sum(visit.earlier, visit.usage),
  }));
  const ordered = phases.map((phase) => ({ phase, indices: indicesOf(phase.key) }));
  return ordered.sort((a, b) => compareIndices(a.indices, b.indices)).map(({ phase }) => phase);
}

/** The indices in a phase key: `a:1/b:0` ⇒ `[1, 0]`. @param {string} key */
export function indicesOf(key) {
  return scopesOf(key).map(({ index }) => index);
}

/** Returns the name of a phase with the keys of the nested workflows around it: `tests > Unit`. @param {{ key: string, name: string }} phase */
export function phaseTitle({ key, name }) {
  const nested = name === key ? [] : scopesOf(key).slice(1);
  return [...nested.map(({ workflow }) => workflow), name].join(" > ");
}

/**
 * The scopes in a phase key. Each ends at `:INDEX`; the key of a package's workflow has `/` too.
 * @param {string} key
 */
export function scopesOf(key) {
  const parts = key.split(/(?<=:\d+)\//);
  return parts.map((part) => ({ workflow: part.replace(/:\d+$/, ""), index: Number(part.slice(part.lastIndexOf(":") + 1)) || 0 }));
}

/** Compares places of a workflow. @param {number[]} a @param {number[]} b */
export function compareIndices(a, b) {
  for (let depth = 0; depth < Math.min(a.length, b.length); depth += 1) {
    if (a[depth] !== b[depth]) return a[depth] - b[depth];
  }
  return a.length - b.length;
}

/** Returns the sum of usages, as they are or as states store them. @param {unknown[]} usages @returns {Usage} */
export function sum(...usages) {
  /** @type {Usage} */
  const all = {
    turns: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, cost: 0, unpriced: 0, unreported: 0, toolCalls: 0,
    refusals: {}, gateAttempts: 0, gateFailures: 0, workMs: 0, waitMs: 0, warmUps: 0, warmTokens: 0, warmCost: 0, models: {},
  };
  for (const usage of usages) {
    if (!isRecord(usage)) continue;
    for (const name of COUNTS) all[name] += number(usage[name]);
    addCounts(all.refusals, usage.refusals);
    addCounts(all.models, usage.models);
  }
  return all;
}

/** Adds counts by name. @param {Record<string, number>} all @param {unknown} more */
function addCounts(all, more) {
  if (!isRecord(more)) return;
  for (const [name, count] of Object.entries(more).slice(0, MAX_NAMES)) {
    const key = text(name);
    if (Object.hasOwn(all, key)) all[key] += number(count);
    else if (Object.keys(all).length < MAX_NAMES) all[key] = number(count);
  }
}

/**
 * Returns the usage of entries as states store it.
 * @param {import("../../host-shim/interface.js").Usage} used
 * @returns {Usage}
 */
export function fromEntries({ models, toolCalls, workMs, waitMs, warmUps, warmTokens, warmCost }) {
  const parts = models.map(({ model, answers, input, output, cacheRead, cacheWrite, reasoning, ...costs }) => ({
    ...(model === undefined ? {} : { turns: answers, ...(answers > 0 ? { models: { [model]: answers } } : {}) }),
    ...costs,
    input: Number(input),
    output: Number(output),
    cacheRead: Number(cacheRead),
    cacheWrite: Number(cacheWrite),
    reasoning: Number(reasoning),
  }));
  return sum({ toolCalls, workMs: Number(workMs), waitMs: Number(waitMs), warmUps, warmTokens: Number(warmTokens), warmCost }, ...parts);
}

/** The kind of a reason for a pause. @param {unknown} reason */
const kindOf = (reason) => (isRecord(reason) ? text(reason.kind) : "");

/** @param {unknown} value @returns {value is { [key: string]: any }} */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {unknown} value */
function text(value, length = MAX_NAME) {
  return typeof value === "string" ? value.slice(0, length) : "";
}

/** A number from 0, or 0 for anything that is none. @param {unknown} value */
function number(value) {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
