// The course of a run in time: its visits of phases, and the times of work, of waiting, of gates and of pauses.
import { isOfAgent } from "../../host-shim/usage.js";
import { Failure, quoted } from "../words.js";
import { follow, upTo } from "./branch.js";
import { dataOnBranch, isOpen, usageAfter } from "./find.js";
import { isStateEntry, openSession } from "./sessions.js";
import { compareIndices, indicesOf, isPart, readState } from "./state.js";

/** @typedef {import("./sessions.js").SessionFile} SessionFile */
/** @typedef {import("./state.js").State} State */

/**
 * A visit of a phase. `how` it ended: `again`: the run went back or began a scope again; `ended`: the run was cancelled or
 * replaced; `current`: it has not ended.
 * @typedef {{ key: string, name: string, pass: number, from: number, to: number, how: "done" | "skipped" | "again" | "ended" | "current" }} Visit
 *
 * A span of time and the work or waiting in it, in milliseconds since 1970.
 * @typedef {{ kind: "work" | "wait" | "gate" | "pause", from: number, to: number, reason?: string }} Span
 *
 * @typedef {{ visits: Visit[], spans: Span[] }} Course
 *
 * @typedef {object} RunInFile
 * @property {any[]} states the data of the run's newest state entry, and of those that it continues, newest first
 * @property {import("../../host-shim/interface.js").Usage | undefined} since the usage of the entries after it; `undefined` if the run has ended
 * @property {State["status"] | "replaced"} outcome
 * @property {{ file: string, id: string, cwd: string }} session
 * @property {Course} course
 *
 * The part of a state that the course needs.
 * @typedef {object} Moment
 * @property {State["status"]} status
 * @property {string} key
 * @property {string} name
 * @property {number | undefined} pass
 * @property {number} steps
 * @property {number} from the beginning of the visit
 * @property {number | undefined} to its end
 * @property {boolean} skipped
 * @property {{ kind: string, at: number } | undefined} pause
 * @property {number | undefined} waitMs of the whole run
 * @property {number} phaseWaitMs of all visits of the phase
 * @property {Gate} gate
 * @property {{ to: number | undefined, skipped: boolean, gate: Gate } | undefined} before the visit where the state before was, as it is now
 *
 * The last attempt at the gate of a visit.
 * @typedef {{ attempt: number, checks: number, durationMs: number }} Gate
 *
 * @typedef {import("./branch.js").Node & { moment?: Moment, newest: Moment | undefined, isAfter: boolean }} Node
 */

/** Pauses in words, as the extension tells them. @type {Record<string, string>} */
const PAUSES = {
  person: "you asked for it",
  aborted: "you stopped the agent",
  cancel: "the agent wanted to cancel it",
  running: "a tool call did not end",
  idle: "the agent did nothing",
  limit: "the limit of automatic continuations",
  gate: "the gate was not passed",
  loops: "an outcome leads back more often than maxLoops allows",
  approval: "it waited for your answer",
  budget: "a budget was used up",
  unknownCost: "a cost was not known",
  unknownUsage: "the usage of an answer was not known",
  commands: "the commands of its gate were not allowed",
  rulesChanged: "its rules had changed",
  gatesChanged: "its rules had changed",
  modelError: "the model failed",
};

/**
 * Returns a run of a session file; `undefined` if the file has no such run.
 * @param {string} path
 * @param {string} taskId
 */
export function courseOf(path, taskId) {
  return openSession(path, (file) => runIn(file, taskId));
}

/**
 * @param {SessionFile} file
 * @param {string} taskId
 * @returns {RunInFile | undefined}
 */
function runIn(file, taskId) {
  /** @type {import("./sessions.js").Line[]} */
  const lines = [];
  file.eachState((id, line) => void (id === taskId && lines.push(line)));
  if (lines.length === 0) return undefined;
  const newestEntry = file.newestState(lines)?.entry;
  if (!newestEntry || readState(newestEntry)?.taskId !== taskId) throw new Failure(`the newest state of ${quoted(taskId)} cannot be read`);
  const states = dataOnBranch(file, lines[0].start, newestEntry);
  const newestId = newestEntry.id;
  /** @type {Node | undefined} */
  let tip;
  let isReplaced = false;
  follow(file, lines[0].start, (node, /** @type {Node | undefined} */ parent, entry) => {
    const state = isStateEntry(entry) ? readState(entry) : undefined;
    if (state && state.taskId !== taskId) {
      isReplaced ||= parent?.isAfter === true;
      return undefined;
    }
    const moment = state ? momentOf(state, entry.data, parent?.newest) : undefined;
    const isAfter = parent?.isAfter === true || entry.id === newestId;
    const next = { ...node, moment, newest: moment ?? parent?.newest, isAfter };
    if (isAfter && (entry.id === newestId || isOpen(/** @type {Moment} */ (next.newest)))) tip = next;
    return next;
  });
  // The function above has run.
  const last = /** @type {Node | undefined} */ (tip);
  if (!last?.newest) return undefined;
  const { newest } = last;
  const outcome = isReplaced && isOpen(newest) ? "replaced" : newest.status;
  const branch = upTo(last);
  const { id, cwd } = file.header;
  return {
    states,
    since: isOpen(newest) ? usageAfter(branch.slice(branch.findIndex(({ moment }) => moment === newest))) : undefined,
    outcome,
    session: { file: file.path, id, cwd },
    course: { visits: visitsOf(branch, outcome), spans: spansOf(branch) },
  };
}

/**
 * @param {State} state
 * @param {any} data the state as it was stored
 * @param {Moment | undefined} before
 * @returns {Moment}
 */
function momentOf(state, data, before) {
  const visit = (/** @type {string} */ key) => {
    const phase = state.phases.find((phase) => phase.key === key);
    return phase && { ...phase, gate: gateOf(data.progress.visits[key]?.evidence) };
  };
  const current = visit(state.phaseKey);
  const left = before && visit(before.key);
  // A part has the visits that changed; only the phase where the run was can have waited.
  const known = isPart(data) ? before : undefined;
  if (known && !current && known.key === state.phaseKey) return { ...known, status: state.status, steps: state.steps, pause: state.pause, before: { to: known.to, skipped: known.skipped, gate: known.gate } };
  const waited = left && known ? left.usage.waitMs - known.phaseWaitMs : 0;
  return {
    status: state.status,
    key: state.phaseKey,
    name: current?.name ?? state.phaseKey,
    pass: current?.passes,
    steps: state.steps,
    from: current?.startedAt ?? 0,
    to: current?.endedAt,
    skipped: current?.skipped ?? false,
    pause: state.pause,
    waitMs: known ? (known.waitMs ?? 0) + waited : state.usage?.waitMs,
    phaseWaitMs: current?.usage.waitMs ?? 0,
    gate: current?.gate ?? NO_GATE,
    before: (left && { to: left.endedAt, skipped: left.skipped, gate: left.gate }) ?? (known && { to: known.to, skipped: known.skipped, gate: known.gate }),
  };
}

const NO_GATE = { attempt: 0, checks: 0, durationMs: 0 };

/** @param {unknown} evidence @returns {Gate} */
function gateOf(evidence) {
  if (!Array.isArray(evidence)) return NO_GATE;
  const checks = evidence.filter((check) => Number.isSafeInteger(check?.attempt) && check.durationMs >= 0);
  const attempt = checks.reduce((newest, check) => Math.max(newest, check.attempt), 0);
  const last = checks.filter((check) => check.attempt === attempt);
  return { attempt, checks: last.length, durationMs: last.reduce((sum, { durationMs }) => sum + Number(durationMs), 0) };
}

/** Returns true if two states are of the same visit. The reference stores no visits: each of its steps leads to another one. @param {Moment} a @param {Moment} b */
function isSameVisit(a, b) {
  return a.key === b.key && a.pass === b.pass && (a.pass !== undefined || a.steps === b.steps);
}

/** @param {Node[]} branch @param {RunInFile["outcome"]} outcome @returns {Visit[]} */
function visitsOf(branch, outcome) {
  /** @type {Visit[]} */
  const visits = [];
  /** The number of visits by phase. @type {Map<string, number>} */
  const counts = new Map();
  /** @type {{ moment: Moment, from: number } | undefined} */
  let current;
  const end = (/** @type {Visit["how"]} */ how, /** @type {number} */ to) => {
    if (!current) return;
    const { moment: { key, name, pass }, from } = current;
    const passes = (counts.get(key) ?? 0) + 1;
    counts.set(key, passes);
    visits.push({ key, name, pass: pass ?? passes, from, to: Math.max(from, to || from), how });
  };
  for (const { moment, time } of branch) {
    if (!moment) continue;
    const from = moment.from || time || 0;
    if (current && isSameVisit(moment, current.moment)) {
      current = { moment, from: current.from };
      continue;
    }
    if (current) {
      const goesBack = compareIndices(indicesOf(moment.key), indicesOf(current.moment.key)) <= 0;
      end(moment.before?.skipped ? "skipped" : goesBack ? "again" : "done", goesBack ? from : (moment.before?.to ?? from));
    }
    current = { moment, from };
  }
  const { skipped, to } = current?.moment ?? {};
  const last = /** @type {Node} */ (branch.at(-1)).time;
  if (outcome === "done") end(skipped ? "skipped" : "done", to ?? last);
  else end(outcome === "cancelled" || outcome === "replaced" ? "ended" : "current", last);
  return visits;
}

/** @param {Node[]} branch @returns {Span[]} */
function spansOf(branch) {
  /** @type {Span[]} */
  const spans = [];
  /** @type {Span[]} */
  const gates = [];
  /** @type {Span[]} */
  const pauses = [];
  /** @type {Moment | undefined} */
  let before;
  /** @type {number | undefined} */
  let time;
  // The time of waiting since the state before.
  let waited = 0;
  for (const { entry, moment, time: now } of branch) {
    if ((!moment && entry.type !== "message") || Number.isNaN(now)) continue;
    if (time !== undefined && now > time) {
      const isWait = moment ? (moment.waitMs ?? 0) - (before?.waitMs ?? 0) - waited > (now - time) / 2 : !isOfAgent(entry.message);
      if (isWait) waited += now - time;
      add(spans, { kind: isWait ? "wait" : "work", from: time, to: now });
    }
    if (moment) {
      const gate = before && attemptIn(moment, before);
      if (gate) add(gates, { kind: "gate", from: Math.max(now - gate.durationMs, gates.at(-1)?.to ?? 0), to: now });
      pause(pauses, moment, now, time ?? now);
      [before, waited] = [moment, 0];
    }
    time = now;
  }
  const open = pauses.at(-1);
  if (open?.to === Infinity) open.to = Math.max(open.from, time ?? open.from);
  return over(over(spans, gates), pauses.filter(({ from, to }) => from < to));
}

/** Returns the attempt at a gate between two states, if there was one. @param {Moment} moment @param {Moment} before */
function attemptIn(moment, before) {
  const gate = isSameVisit(moment, before) ? moment.gate : moment.before?.gate;
  const known = before.gate;
  const isNew = gate && gate.attempt > 0 && (gate.attempt !== known.attempt || gate.checks !== known.checks);
  return isNew ? gate : undefined;
}

/**
 * Begins or ends a pause with a state.
 * @param {Span[]} pauses
 * @param {Moment} moment
 * @param {number} now
 * @param {number} earliest
 */
function pause(pauses, { pause }, now, earliest) {
  const last = pauses.at(-1);
  if (last && last.to === Infinity) last.to = Math.max(now, last.from);
  if (!pause) return;
  const from = Math.min(now, Math.max(pause.at, earliest, last?.to ?? 0));
  const reason = Object.hasOwn(PAUSES, pause.kind) ? PAUSES[pause.kind] : undefined;
  if (last && last.to >= from && last.reason === reason) last.to = Infinity;
  else pauses.push({ kind: "pause", from, to: Infinity, ...(reason === undefined ? {} : { reason }) });
}

/** Adds a span, or extends the last one. @param {Span[]} spans @param {Span} span */
function add(spans, span) {
  const last = spans.at(-1);
  if (last && last.kind === span.kind && last.to === span.from) last.to = span.to;
  else if (span.from < span.to) spans.push(span);
}

/**
 * Returns the spans with others in their place where these are.
 * @param {Span[]} spans in order, none over another
 * @param {Span[]} others likewise
 */
function over(spans, others) {
  /** @type {Span[]} */
  const result = [];
  let first = 0;
  for (const span of spans) {
    let { from } = span;
    while (first < others.length && others[first].to <= from) first += 1;
    for (let index = first; index < others.length && others[index].from < span.to; index += 1) {
      if (others[index].from > from) result.push({ ...span, from, to: others[index].from });
      from = Math.max(from, others[index].to);
    }
    if (from < span.to) result.push({ ...span, from });
  }
  return [...result, ...others].sort((a, b) => a.from - b.from);
}
