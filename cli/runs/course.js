// The report of a run of a session file, with its course in time.
import { isOfAgent } from "#loader";

import { follow, upTo } from "./branch.js";
import { newestIn, reader, stateOf } from "./find.js";
import { openSession, taskOf } from "./sessions.js";

/** @typedef {import("./sessions.js").SessionFile} SessionFile */
/** @typedef {import("../../target/types/interfaces/pi-workflows-tools-workflows.js").BranchEntry} BranchEntry */
/** @typedef {import("./branch.js").Node} Node */

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

/** @param {SessionFile} file @param {string} taskId */
function runIn(file, taskId) {
  const newest = newestIn(file, taskId);
  if (!newest) return undefined;
  const { since, replaced, last = newest.entry.id } = newest.later;
  /** @type {Node[]} */
  let branch = [];
  follow(file, newest.lines[0].start, (node, /** @type {Node | undefined} */ _parent, entry) => {
    if (![undefined, taskId].includes(taskOf(entry))) return undefined;
    if (entry.id === last) branch = upTo(node);
    return node;
  });
  if (branch.length === 0) return undefined;
  const { states } = stateOf(file, newest);
  const { markdown, json } = courseIn(file, branch).report({ states, since, replaced });
  const { id, cwd } = file.header;
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
