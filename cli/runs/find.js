// The runs in session files.
import { count, noUsage, usageOf } from "#loader";

import { Failure, quoted } from "../words.js";
import { openWorkflows, plain } from "../workflows.js";
import { Parents, follow, upTo } from "./branch.js";
import { processOf } from "./process.js";
import { readSessions, taskOf } from "./sessions.js";

/** @typedef {import("./sessions.js").Line} Line */
/** @typedef {import("./sessions.js").SessionFile} SessionFile */
/** @typedef {import("./sessions.js").StateEntry} StateEntry */
/** @typedef {import("./branch.js").Node & { run: Newest, id: string }} Node */

/**
 * The newest state of a run, with numbers and with counts by name.
 * @typedef {Omit<import("../workflows.js").Plain<import("../workflows.js").Run>, "phases" | "usage"> & { phases: PhaseRecord[], usage?: Usage }} State
 * @typedef {Omit<import("../workflows.js").Plain<import("../workflows.js").Run["phases"][number]>, "usage"> & { usage: Usage }} PhaseRecord
 * @typedef {Omit<import("../workflows.js").Plain<import("../workflows.js").Took>, keyof Counts> & Counts} Usage
 * @typedef {{ refusals: Record<string, number>, models: Record<string, number> }} Counts
 *
 * A run, as its newest state in a session file tells it.
 * @typedef {object} Run
 * @property {State["outcome"] | "lost"} outcome replaced: another run began on the branch before this run had ended;
 *   lost: the process that worked on the run has ended, but the run has not
 * @property {number} [pid] the process of `pi-workflows run` that works on the run
 * @property {State} state
 * @property {string} stateId the id of the state's entry
 * @property {number} storedAt the time of the state's entry
 * @property {number} lastAt the time of the run's newest entry
 * @property {State["usage"]} usage of the whole run, also after its newest state; `undefined` if unknown
 * @property {{ file: string, id: string, cwd: string }} session
 * @property {boolean} copied the run did not move in this file: pi copied its entries from another session
 *
 * The newest state of a run, the lines of all its states in the order of the file, and the reading of the entries after
 * the newest state.
 * @typedef {{ taskId: string, lines: Line[], entry: StateEntry, later: Later }} Newest
 *
 * The reading of the entries after a state: the usage that belongs to the run, if another run began, if entries are
 * lost, and the newest entry with its time, NaN if unknown.
 * @typedef {{ since?: import("#loader").Usage, replaced: boolean, isLost?: boolean, last?: string, lastAt: number
 *   }} Later
 */

/** The component; it is started with the first run. @type {import("../workflows.js").Workflows | undefined} */
let component;
export const reader = () => (component ??= openWorkflows([]));

/**
 * Returns the runs of a session file.
 * @param {SessionFile} file
 * @returns {Run[]}
 */
export function runsOf(file) {
  const { states, newestLine } = file.states();
  return readNewest(file, states, newestLine, false);
}

/**
 * Returns the newest state of a run in a session file; `undefined` if the file has no such run.
 * @param {SessionFile} file
 * @param {string} taskId
 * @returns {Newest | undefined}
 */
export function newestIn(file, taskId) {
  const { states, newestLine } = file.states();
  const lines = states.get(taskId);
  if (lines === undefined) return undefined;
  const [newest] = newestStates(file, new Map([[taskId, lines]]), newestLine, true);
  if (!newest) throw new Failure(`the newest state of ${quoted(taskId)} cannot be read`);
  return newest;
}

/**
 * Returns the newest states of runs, with the reading of the entries after them.
 * @param {SessionFile} file
 * @param {Map<string, Line[]>} states
 * @param {number} newestLine the start of the line of the file's newest state
 * @param {boolean} isParsed lines are parsed: the component could not read the data that was cut out of the lines
 * @returns {(Newest & { isCut: boolean })[]}
 */
function newestStates(file, states, newestLine, isParsed) {
  const found = [...states].flatMap(([taskId, lines]) => {
    const cut = isParsed ? undefined : file.cutNewest(lines);
    const entry = cut ?? file.newestState(lines);
    return entry ? [{ taskId, lines, entry, isCut: cut !== undefined, later: { replaced: false, lastAt: NaN } }] : [];
  });
  const open = found.filter(({ entry }) => entry.mayBeActive);
  if (open.length > 0) addLater(file, open, newestLine);
  return found;
}

/**
 * Returns the runs of states that can be read; the arguments are those of `newestStates`.
 * @param {SessionFile} file
 * @param {Map<string, Line[]>} states
 * @param {number} newestLine
 * @param {boolean} isParsed
 * @returns {Run[]}
 */
function readNewest(file, states, newestLine, isParsed) {
  /** @type {Run[]} */
  const runs = [];
  /** @type {typeof states} */
  const others = new Map();
  for (const newest of newestStates(file, states, newestLine, isParsed)) {
    try {
      runs.push(runOf(file, newest));
    } catch {
      if (newest.isCut) others.set(newest.taskId, newest.lines);
      else file.unreadable += 1;
    }
  }
  return others.size > 0 ? [...runs, ...readNewest(file, others, newestLine, true)] : runs;
}

/**
 * @param {SessionFile} file
 * @param {Newest} newest
 * @returns {Run}
 */
function runOf(file, newest) {
  const { state } = stateOf(file, newest);
  const { entry, later } = newest;
  const { id, cwd, createdAt } = file.header;
  const session = { file: file.path, id, cwd };
  const lastAt = Math.max(entry.time, later.lastAt) || entry.time;
  const works = state.outcome === "running" ? processOf(file.path) : undefined;
  const pid = works?.isAlive ? works.pid : undefined;
  // Another pi may have continued the run.
  const hasGoneOn = works?.ended !== undefined && lastAt > works.ended;
  const outcome = works?.isAlive === false && !hasGoneOn ? "lost" : state.outcome;
  const stored = { stateId: entry.id, storedAt: entry.time, copied: entry.time < createdAt };
  return { outcome, pid, state, ...stored, lastAt, usage: state.usage, session };
}

/** The reference may have copied each entry twice. */
const COPIES = 3;

/**
 * Returns the newest state of a run, and the data of the entries that it was read from, newest first.
 * @param {SessionFile} file
 * @param {Newest} newest
 * @returns {{ state: State, states: string[] }}
 */
export function stateOf(file, newest) {
  const { lines, entry, later } = newest;
  const states = later.isLost ? ["", entry.data] : [entry.data];
  const state = read(states, later);
  if (state.older === 0) return { state, states };
  const most = COPIES * state.older;
  const { before, start, isCut } = statesBefore(file, newest);
  states.push(...before.slice(0, most).map((line) => file.dataAt(line)));
  // If pi finds that an entry is lost, pi goes on with the entries before it in the file.
  if (before.length < state.older && isCut()) {
    const earlier = lines.filter((line) => line.start < start).slice(-most);
    states.push("", ...earlier.reverse().map((line) => file.dataAt(line)));
  }
  return { state: read(states, later), states };
}

/** @param {string[]} states @param {Later} later @returns {State} */
function read(states, { since, replaced }) {
  const { usage, phases, ...state } = plain(reader().readRun({ states, since, replaced }));
  return {
    ...state,
    phases: phases.map((phase) => ({ ...plain(phase), usage: counted(phase.usage) })),
    usage: usage && counted(usage),
  };
}

/** @param {import("../workflows.js").Took} usage @returns {Usage} */
function counted(usage) {
  const { refusals, models } = usage;
  return { ...plain(usage), refusals: Object.fromEntries(refusals), models: Object.fromEntries(models) };
}

/**
 * Returns the lines of the run's older states on the branch of the newest one, newest first. `isCut`: an entry before
 * the oldest of these states is lost; `start` is the start of that state's line.
 * @param {SessionFile} file
 * @param {Newest} newest
 */
function statesBefore(file, { taskId, lines, entry: { id } }) {
  /** @typedef {{ id: string, line: Line, before: Place | undefined }} Place */
  /** @typedef {import("./branch.js").Node & { state: Place | undefined }} StateNode */
  /** @type {Place | undefined} */
  let place;
  const parents = new Parents();
  /** @type {import("./branch.js").Enter<StateNode>} */
  const enter = (node, parent, entry) => {
    const before = parent?.state;
    const state = node.line && taskOf(entry) === taskId ? { id: entry.id, line: node.line, before } : before;
    if (entry.id === id) place = state;
    return { ...node, parent: undefined, state };
  };
  follow(file, lines[0].start, enter, parents.see);
  /** @type {Line[]} */
  const before = [];
  for (; place?.before; place = place.before) before.push(place.before.line);
  return { before, start: place?.line.start ?? 0, isCut: () => parents.isCut(file, id) };
}

/** Returns true if a run has not ended. @param {{ outcome: Run["outcome"] }} run */
export const isOpen = ({ outcome }) => outcome === "running" || outcome === "paused" || outcome === "lost";

/**
 * Notes the usage, the end and the time of the entries after the newest states.
 * @param {SessionFile} file
 * @param {Newest[]} open
 * @param {number} newestLine the start of the line of the file's newest state
 */
function addLater(file, open, newestLine) {
  /** The newest entry of each run. @type {Map<Newest, Node>} */
  const tips = new Map();
  const byId = new Map(open.map((run) => [run.entry.id, run]));
  const parents = new Parents();
  /** @type {import("./branch.js").Enter<Node>} */
  const enter = (node, parent, entry) => {
    const taskId = taskOf(entry);
    if (parent && taskId !== undefined && taskId !== parent.run.taskId) parent.run.later.replaced = true;
    const run = taskId === undefined ? parent?.run : byId.get(entry.id);
    if (!run || (taskId !== undefined && taskId !== run.taskId)) return undefined;
    const next = { ...node, parent: taskId === undefined ? parent : undefined, run, id: entry.id };
    tips.set(run, next);
    return next;
  };
  const first = open.reduce((least, { entry }) => Math.min(least, entry.line.start), Infinity);
  follow(file, first, enter, parents.see);
  for (const [{ later }, tip] of tips)
    Object.assign(later, { last: tip.id, lastAt: tip.time, since: usageAfter(upTo(tip)) });
  const newest = open.find(({ entry }) => entry.line.start === newestLine);
  if (newest) newest.later.isLost = parents.isCut(file, parents.newest, newest.entry.id);
}

/**
 * Returns the usage of entries after a state entry.
 * @param {import("./branch.js").Node[]} nodes the state entry, and the entries of its branch after it
 */
function usageAfter([state, ...entries]) {
  const sums = noUsage(state.time);
  for (const { entry, time } of entries) count(sums, entry, time);
  return usageOf(sums);
}

/**
 * Returns the runs of session files, newest first, and a line for each file that cannot be read.
 *
 * A session that pi forked contains copies of the entries of another session. A run that did not move in the forked
 * session is left out if another file has the run.
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
 * The runs of one session stay in their order, whatever the clock of the session said: a run counts as no older than
 * the runs before it.
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
  const byTask = Map.groupBy(runs, ({ state }) => state.taskId);
  return runs.filter((run) => {
    const same = byTask.get(run.state.taskId) ?? [];
    // The run itself is in the list too.
    if (same.length === 1 || run.state.taskId === "") return true;
    const best = same.filter(({ copied }) => !copied);
    const kept = best.length > 0 ? best : same.toSorted((a, b) => b.storedAt - a.storedAt).slice(0, 1);
    return kept.includes(run) && kept.find(({ stateId }) => stateId === run.stateId) === run;
  });
}
