// Processes that are named in a file, and may have ended since: a number alone may have been given to another process.
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

import { unlessFails } from "./plain.js";

/**
 * A process as data.
 * @typedef {object} ProcessNote
 * @property {number} pid
 * @property {string} [start] its start, in the system's words; `undefined` if the system does not tell
 * @property {string} [namespace] the host and the namespaces in which the number and the start mean this process
 */

/** The start of a process that has ended, of which its parent does not know yet. */
const ENDED = "ended";

/** The namespaces of this process: the start of a process is another one in another namespace of times. */
const namespace = [
  hostname(),
  ...["pid", "time"].map((name) => unlessFails(() => readlinkSync(`/proc/self/ns/${name}`))),
]
  .filter(Boolean)
  .join(" ");

/** Returns a note of a process that this process sees. @param {number} pid @returns {ProcessNote} */
export const noteOf = (pid) => ({ pid, start: startOf(pid), namespace });

/** @type {ProcessNote | undefined} */
let own;
/** Returns the note of this process. */
export const self = () => (own ??= noteOf(process.pid));

/**
 * Returns the state of a process; `unknown` for a process of another host or namespace, and for what is no note.
 * @param {any} note from a file
 * @returns {"living" | "dead" | "unknown"}
 */
export function state(note) {
  const { pid, start } = note ?? {};
  if (!Number.isSafeInteger(pid) || pid < 1 || note.namespace !== namespace) return "unknown";
  const now = startOf(pid);
  if (start !== undefined && now !== undefined) return start === now && now !== ENDED ? "living" : "dead";
  try {
    process.kill(pid, 0);
  } catch (/** @type {any} */ error) {
    if (error.code === "ESRCH") return "dead";
    if (error.code !== "EPERM") return "unknown";
  }
  return start === undefined ? "living" : "unknown";
}

/**
 * Returns the start of a process; `undefined` if there is no such process, or the system does not tell.
 * @param {number} pid
 */
function startOf(pid) {
  return unlessFails(() => {
    if (process.platform !== "linux") {
      const shown = execFileSync("/bin/ps", ["-o", "lstart=", "-p", String(pid)], {
        stdio: ["ignore", "pipe", "ignore"],
        // It writes a date in the language and the time zone of its process.
        env: { LC_ALL: "C", TZ: "UTC" },
      });
      return String(shown).trim() || undefined;
    }
    // The folder may show the processes of another namespace.
    if (readlinkSync("/proc/self") !== String(process.pid)) return undefined;
    // The name of the program, in parentheses, may have any character.
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    if (state === "Z" || state === "X") return ENDED;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[18]}`;
  });
}

/** Returns true if a process is the first one of a namespace. @param {number} id */
export const isFirst = (id) => unlessFails(() => /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${id}/status`, "utf8")));
