// The process of `pi-workflows run` that works on the run of a session, and its pi, by a file beside the session.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { untrusted } from "#sandbox";

import { Failure } from "../words.js";

/**
 * A process: its number and its start, because another process may get the number later.
 * @typedef {{ pid: number, started: string }} Process
 */

/** @param {string} session */
const fileOf = (session) => `${session}.process`;
/** The maximum size of the file, in bytes. */
const MAX_FILE = 10_000;

/**
 * Notes that this process works on a session.
 * @param {string} session
 * @param {{ pi?: number, ended?: number }} [more] the process of its pi; the time at which the work ended although the
 *   run has not
 */
export function noteProcess(session, { pi, ended } = {}) {
  const own = { ...identity(process.pid), pi: pi === undefined ? undefined : identity(pi), ended };
  const write = () => untrusted.replaceFile(dirname(session), basename(fileOf(session)), `${JSON.stringify(own)}\n`);
  try {
    write();
  } catch (/** @type {any} */ error) {
    // An agent may have put a folder in its place.
    if (error.code !== "EISDIR") throw error;
    forgetProcess(session);
    write();
  }
}

/**
 * Notes that this process works on a session. Throws if another process works on it.
 * @param {string} session
 * @param {string} named the session as the error names it
 */
export async function takeForProcess(session, named) {
  const other = processOf(session);
  if (other?.isAlive) throw new Failure(`Process ${other.pid} works on ${named}.`);
  noteProcess(session);
  // Of several processes that start at the same time, the last one to write its note goes on.
  await sleep(100);
  if (processOf(session)?.pid !== process.pid) throw new Failure(`Another process works on ${named}.`);
}

/** Notes that this process no longer works on a session. @param {string} session */
export function forgetProcess(session) {
  rmSync(fileOf(session), { recursive: true, force: true });
}

/**
 * The process that works, or worked, on a session; `undefined` if there is no note that can be read. `pi`: the pi of
 * the process, if that pi still works.
 * @param {string} session
 * @returns {{ pid: number, isAlive: boolean, pi?: number, ended?: number } | undefined}
 */
export function processOf(session) {
  try {
    const { pi, ended, ...own } = JSON.parse(
      String(untrusted.readFile(dirname(session), basename(fileOf(session)), MAX_FILE)),
    );
    if (!isProcess(own)) return undefined;
    const times = Number.isFinite(ended) ? { ended } : {};
    return {
      pid: own.pid,
      isAlive: isAlive(own) && !("ended" in times),
      pi: isProcess(pi) && isAlive(pi) ? pi.pid : undefined,
      ...times,
    };
  } catch {
    return undefined;
  }
}

/** @param {any} value @returns {value is Process} */
const isProcess = (value) =>
  Number.isSafeInteger(value?.pid) && value.pid > 1 && typeof value.started === "string" && value.started !== "";

/** @param {Process} process */
const isAlive = ({ pid, started }) => startOf(pid) === started;

/** @param {number} pid @returns {Process} */
const identity = (pid) => ({ pid, started: startOf(pid) });

/** The start of a process, in the system's words; empty if there is no such process. @param {number} pid */
function startOf(pid) {
  try {
    if (process.platform !== "linux")
      return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).trim();
    // The name of the program, in parentheses, may have any character.
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return state === "Z" ? "" : `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[18]}`;
  } catch {
    return "";
  }
}
