// The runs that session files know.
import { count, noUsage, timeOf, usageOf } from "../../host-shim/usage.js";
import { follow, upTo } from "./branch.js";
import { isStateEntry, readSessions } from "./sessions.js";
import { continued, fromEntries, isPart, readState, sum } from "./state.js";

/** @typedef {import("./sessions.js").SessionFile} SessionFile */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./branch.js").Node & { run: Run }} Node */

/**
 * A run, as its newest state in a session file tells it.
 * @typedef {object} Run
 * @property {State["status"] | "replaced"} outcome replaced: another run began on its branch before it had ended
 * @property {State} state
 * @property {string} stateId the id of its entry
 * @property {number} storedAt the time of its entry
 * @property {number} lastAt the time of its newest entry
 * @property {import("./state.js").Usage | undefined} usage of the whole run, also after its newest state; `undefined` if unknown
 * @property {{ file: string, id: string, cwd: string }} session
 * @property {boolean} copied the run did not move in this file: pi copied its entries from another session
 */

/**
 * Returns the runs of a session file.
 * @param {SessionFile} file
 * @returns {Run[]}
 */
export function runsOf(file) {
  /** The states of each run. @type {Map<string, import("./sessions.js").Line[]>} */
  const states = new Map();
  file.eachState((taskId, line) => {
    const lines = states.get(taskId);
    if (lines) lines.push(line);
    else states.set(taskId, [line]);
  });
  /** @type {{ run: Run, offset: number }[]} */
  const found = [];
  for (const lines of states.values()) {
    const newest = file.newestState(lines);
    // An entry without a workflow is no state of a run.
    if (!newest || (newest.entry.data?.workflowKey ?? undefined) === undefined) continue;
    const entry = isPart(newest.entry.data) ? whole(file, lines[0].start, newest.entry) : newest.entry;
    const run = entry && runOf(file, entry);
    if (run) found.push({ run, offset: newest.line.start });
    else file.unreadable += 1;
  }
  const open = found.filter(({ run }) => isOpen(run.state));
  if (open.length > 0) addLaterWork(file, new Map(open.map(({ run, offset }) => [run.stateId, { run, offset }])));
  return found.map(({ run }) => run);
}

/**
 * Returns a state entry whose data is a part with the data as if it were complete; `undefined` if an entry is missing that it
 * continues.
 *
 * @param {SessionFile} file
 * @param {number} offset the start of the line of the run's first state
 * @param {import("./sessions.js").Entry} newest
 * @returns {import("./sessions.js").Entry | undefined}
 */
function whole(file, offset, newest) {
  const data = dataOnBranch(file, offset, newest).reduceRight((before, part) => (isPart(part) ? continued(before, part) : part), undefined);
  return data && { ...newest, data };
}

/**
 * Returns the data of the run's state entries on the branch of the newest one, newest first, down to a complete one.
 * @param {SessionFile} file
 * @param {number} offset the start of the line of the run's first state
 * @param {import("./sessions.js").Entry} newest
 * @returns {any[]}
 */
export function dataOnBranch(file, offset, newest) {
  /** @typedef {{ data: any, before: State | undefined }} State */
  /** @typedef {import("./branch.js").Node & { state: State | undefined }} StateNode */
  /** @type {State | undefined} */
  let state;
  follow(file, offset, (node, /** @type {StateNode | undefined} */ parent, entry) => {
    const before = parent?.state;
    const isOfRun = isStateEntry(entry) && entry.data?.taskId === newest.data.taskId;
    const next = { ...node, parent: undefined, state: isOfRun ? { data: entry.data, before } : before };
    if (entry.id === newest.id) ({ state } = next);
    return next;
  });
  const found = [];
  for (; state; state = state.before) {
    found.push(state.data);
    if (!isPart(state.data)) break;
  }
  return found;
}

/** @param {SessionFile} file @param {import("./sessions.js").Entry} entry @returns {Run | undefined} */
function runOf(file, entry) {
  const state = readState(entry);
  if (!state) return undefined;
  const { id, cwd, createdAt } = file.header;
  const storedAt = timeOf(entry);
  const session = { file: file.path, id, cwd };
  return { outcome: state.status, state, stateId: idOf(entry), storedAt, lastAt: storedAt, usage: state.usage, session, copied: storedAt < createdAt };
}

/** @param {import("./sessions.js").Entry} entry */
const idOf = ({ id }) => (typeof id === "string" ? id : "");

/** Returns true if a run has not ended. @param {Pick<State, "status">} state */
export const isOpen = ({ status }) => status === "running" || status === "paused";

/**
 * Adds what the entries after the newest states took, and notes which runs were replaced.
 * @param {SessionFile} file
 * @param {Map<string, { run: Run, offset: number }>} open by the ids of their newest states
 */
function addLaterWork(file, open) {
  /** The newest entry of each run. @type {Map<Run, Node>} */
  const tips = new Map();
  const offset = [...open.values()].reduce((least, { offset }) => Math.min(least, offset), Infinity);
  follow(file, offset, (node, /** @type {Node | undefined} */ parent, entry) => {
    const state = isStateEntry(entry) ? readState(entry) : undefined;
    if (parent && state && state.taskId !== parent.run.state.taskId) parent.run.outcome = "replaced";
    const run = state ? open.get(idOf(entry))?.run : parent?.run;
    if (!run || (state && state.taskId !== run.state.taskId)) return undefined;
    const next = { ...node, parent: state ? undefined : parent, run };
    tips.set(run, next);
    return next;
  });
  for (const [run, tip] of tips) {
    run.lastAt = Math.max(run.storedAt, tip.time) || run.storedAt;
    if (run.usage) run.usage = sum(run.usage, fromEntries(usageAfter(upTo(tip))));
  }
}

/**
 * Returns the usage of entries after a state entry.
 * @param {import("./branch.js").Node[]} nodes the state entry, and the entries of its branch after it
 */
export function usageAfter([state, ...entries]) {
  const sums = noUsage(state.time);
  for (const { entry, time } of entries) count(sums, entry, time);
  return usageOf(sums);
}

/**
 * Returns the runs of session files, newest first, and a line for each file that cannot be read.
 *
 * A session that pi forked contains copies of the entries of another one. A run that did not move in it is left out if another
 * file has it.
 *
 * @param {import("./sessions.js").Selection & { workflows?: string[] }} selection `workflows`: the keys of workflows
 */
export function findRuns(selection) {
  /** @type {Run[]} */
  const found = [];
  const { workflows, since } = selection;
  const problems = readSessions(selection, (file) => {
    for (const run of runsOf(file)) {
      if (workflows && !workflows.includes(run.state.workflow)) continue;
      if (since === undefined || run.state.startedAt >= since) found.push(run);
    }
  });
  return { runs: newestFirst(withoutCopies(found)), problems };
}

/**
 * The runs of one session stay in their order, whatever its clock said: a run counts as no older than those before it.
 * @param {Run[]} runs each file's oldest first
 */
function newestFirst(runs) {
  /** @type {Map<string, number>} */
  const latest = new Map();
  const placed = runs.map((run, index) => {
    const at = Math.max(run.state.startedAt, latest.get(run.session.file) ?? 0);
    latest.set(run.session.file, at);
    return { run, at, index };
  });
  return placed.sort((a, b) => b.at - a.at || b.index - a.index).map(({ run }) => run);
}

/** @param {Run[]} runs */
function withoutCopies(runs) {
  /** @type {Map<string, Run[]>} */
  const byTask = new Map();
  for (const run of runs) {
    const { taskId } = run.state;
    const others = byTask.get(taskId);
    if (others) others.push(run);
    else byTask.set(taskId, [run]);
  }
  return runs.filter((run) => {
    const same = byTask.get(run.state.taskId) ?? [];
    // The run itself is in the list too.
    if (same.length === 1 || run.state.taskId === "") return true;
    const best = same.filter(({ copied }) => !copied);
    const kept = best.length > 0 ? best : same.toSorted((a, b) => b.storedAt - a.storedAt).slice(0, 1);
    return kept.includes(run) && kept.find(({ stateId }) => stateId === run.stateId) === run;
  });
}
