// The process of `pi-workflows run` that works on the run of a session, and its pi, by the claim of the session.
import { changeClaim, claim, noteOf } from "#loader";
import { processes } from "#sandbox";

import { Failure } from "../words.js";

/**
 * Takes the claim of a session for this process. Throws if another process has it. Returns the note that it replaces.
 * @param {string} session
 * @param {string} named the session as the error names it
 * @param {boolean} [takesOver] also from a process of which nobody can tell if it lives
 */
export function takeForProcess(session, named, takesOver = false) {
  const earlier = noteOf(session);
  const obstacle = claim(session, { takesOver });
  if (obstacle?.tag === "living") throw new Failure(`Process ${obstacle.val} works on ${named}.`);
  if (obstacle) throw mayWork(named);
  return earlier;
}

/** @param {string} named */
const mayWork = (named) =>
  new Failure(`A process of another host or container may work on ${named}. If it works no more: --take-over.`);

/**
 * Throws if another process works on a session, not if only the pi of a process works that was killed. Returns the
 * process.
 * @param {string} session
 * @param {string} named the session as the error names it
 * @param {boolean} [takesOver] as for `takeForProcess`
 */
export function otherProcess(session, named, takesOver = false) {
  const other = processOf(session);
  if (other?.isAlive) throw new Failure(`Process ${other.pid} works on ${named}.`);
  if (other && other.isAlive === undefined && !takesOver) throw mayWork(named);
  return other;
}

/**
 * Adds to the note of this process: the process of its pi, or the time at which the work ended although the run has not.
 * @param {string} session
 * @param {{ pi?: number, ended?: number }} more
 */
export function noteProcess(session, { pi, ended }) {
  changeClaim(session, { ...(pi === undefined ? {} : { pi: processes.noteOf(pi) }), ended });
}

/**
 * Notes that this process no longer works on a session.
 * @param {string} session
 * @param {ReturnType<typeof noteOf>} [earlier] the note that the session gets back, if this process has not worked on it
 */
export function forgetProcess(session, earlier) {
  changeClaim(session, earlier, true);
}

/**
 * The process that works, or worked, on a session; `undefined` if there is no note. `isAlive` is `undefined` if nobody
 * can tell. `pi`: the pi of the process, if that pi still works.
 * @param {string} session
 * @returns {{ pid: number, isAlive: boolean | undefined, pi?: number, ended?: number } | undefined}
 */
export function processOf(session) {
  const note = noteOf(session);
  if (note === undefined) return undefined;
  const { pid, pi, ended } = note;
  const times = Number.isFinite(ended) ? { ended } : {};
  const state = processes.state(note);
  return {
    pid,
    isAlive: state === "unknown" && !("ended" in times) ? undefined : state === "living" && !("ended" in times),
    pi: pi !== undefined && processes.state(pi) === "living" ? pi.pid : undefined,
    ...times,
  };
}
