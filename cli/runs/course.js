// The report of a run of a session file, with its course in time.
import { isOfAgent } from "#loader";

import { Failure, quoted } from "../words.js";
import { follow, upTo } from "./branch.js";
import { isOpen, reader, stateOf, usageAfter } from "./find.js";
import { openSession, taskOf } from "./sessions.js";

/** @typedef {import("./sessions.js").SessionFile} SessionFile */
/** @typedef {import("../../target/types/interfaces/pi-workflows-tools-workflows.js").BranchEntry} BranchEntry */
/** @typedef {import("./branch.js").Node & { isAfter: boolean, isNewest: boolean }} Node */

/** The number of entries, and of characters of states, that the component gets at once. */
const BATCH = { entries: 10_000, length: 2 ** 20 };

/**
 * Returns the report of a run of a session file, for users and for programs; `undefined` if the file has no such run.
 * @param {string} path
 * @param {string} taskId
 */
export function reportIn(path, taskId) {
  return openSession(path, (file) => runIn(file, taskId));
}

/**
 * @param {SessionFile} file
 * @param {string} taskId
 */
function runIn(file, taskId) {
  /** @type {import("./sessions.js").Line[]} */
  const lines = [];
  file.eachState((id, line) => void (id === taskId && lines.push(line)));
  if (lines.length === 0) return undefined;
  const newest = file.newestState(lines);
  if (!newest) throw new Failure(`the newest state of ${quoted(taskId)} cannot be read`);
  const later = { replaced: false, lastAt: NaN };
  const { states, state } = stateOf(file, { taskId, lines, entry: newest, later });
  const { outcome } = state;
  /** @type {Node | undefined} */
  let tip;
  let isReplaced = false;
  follow(file, lines[0].start, (node, /** @type {Node | undefined} */ parent, entry) => {
    const task = taskOf(entry);
    if (task !== undefined && task !== taskId) {
      isReplaced ||= parent?.isAfter === true;
      return undefined;
    }
    const isNewest = entry.id === newest.id;
    const isAfter = parent?.isAfter === true || isNewest;
    const next = { ...node, isAfter, isNewest };
    if (isAfter && (isNewest || isOpen({ outcome }))) tip = next;
    return next;
  });
  // The function above has run.
  const last = /** @type {Node | undefined} */ (tip);
  if (!last) return undefined;
  const branch = upTo(last);
  const replaced = isReplaced && isOpen({ outcome });
  const { id, cwd } = file.header;
  const since = isOpen({ outcome })
    ? usageAfter(branch.slice(branch.findIndex(({ isNewest }) => isNewest)))
    : undefined;
  const { markdown, json } = courseIn(file, branch).report({ states, since, replaced });
  return { markdown, data: { ...JSON.parse(json), session: { file: file.path, id, cwd } } };
}

/** @param {SessionFile} file @param {Node[]} branch */
function courseIn(file, branch) {
  const course = new (reader().Course)();
  /** @type {BranchEntry[]} */
  let batch = [];
  let length = 0;
  for (const { entry, time, line } of branch) {
    const state = line && file.dataAt(line);
    batch.push({
      at: time >= 0 ? BigInt(time) : undefined,
      kind: state === undefined ? kindOf(entry) : { tag: "state", val: state },
    });
    length += state?.length ?? 0;
    if (batch.length < BATCH.entries && length < BATCH.length) continue;
    course.add(batch);
    [batch, length] = [[], 0];
  }
  course.add(batch);
  return course;
}

/** @param {any} entry @returns {BranchEntry["kind"]} */
function kindOf({ type, message }) {
  if (type !== "message") return { tag: "other" };
  return { tag: isOfAgent(message) ? "work" : "wait" };
}
