// The confined command lines and searches that run, of all sessions in this process. There is one object,
// `runningCommands`.
//
// Mounts go by names, and the kernel takes a mount away if another process removes or replaces the path on which it
// lies. So a command line does not begin while another command line runs, of any session, if one of the two could move
// a path on which the other rests. A search goes by names too, which a command line may change.
//
// A call's events do not tell how long its command line runs: a tool may call another tool and end before it, and an
// aborted call ends without an event. So each shell stores its process id in a file outside of every sandbox. On Linux
// bubblewrap, in the place of the shell, adds that of the first process of its sandbox: it is gone, or a zombie, only
// when all other processes of the sandbox are gone, while bubblewrap may be killed seconds before.
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { unlessFails } from "./plain.js";
import { isFirst, noteOf, state } from "./processes.js";
import { quoted } from "./shell-quote.js";
import { readFile } from "./untrusted-files.js";
import { isBelow } from "./write-target.js";

/** The maximum size of a file with process ids, in bytes. */
const MAX_IDS = 1000;

/** The time between two looks for processes that outlive their calls, in milliseconds. */
const LOOK = 50;

/**
 * The paths that a command line may change, and the paths on which it rests. All paths are absolute, without links and
 * without a slash at the end.
 * @typedef {object} Reach
 * @property {string[]} writable
 * @property {string} temporary the folder for temporary files
 * @property {string[]} places paths that must stay in place while the command line runs, and that it cannot move itself
 * @property {string[]} sealed paths in which the command line changes nothing
 */

/**
 * A command line that runs, or is about to.
 * @typedef {object} Command
 * @property {object} owner the object of the session to which it belongs
 * @property {Reach} reach
 * @property {() => void} release called when the command line has ended
 * @property {string} file with its process ids
 * @property {boolean} ended true if its call has ended
 */

/** A search by names, in the folder or file `place`. @typedef {{ owner: object, place: string }} Search */

/** The error of a call that cannot begin while a command line or search of another session runs, but can afterwards. */
export class Busy extends Error {}

export class RunningCommands {
  /** @type {Set<Command>} */
  #commands = new Set();
  /** @type {Set<Search>} */
  #searches = new Set();
  /** The folders with process ids. @type {Set<string>} */
  #folders = new Set();
  /** The first processes of sandboxes as they were first seen, by file. @type {Map<string, import("./processes.js").ProcessNote>} */
  #first = new Map();
  /** Called when a command line or search has ended. @type {Set<() => void>} */
  #waiting = new Set();
  /** True if the end of this process is awaited. */
  #awaitsExit = false;
  /** The next look for processes that outlive their calls. @type {NodeJS.Timeout | undefined} */
  #look;

  /**
   * Throws if a command line cannot begin now.
   * @param {object} owner
   * @param {Reach} reach
   * @throws {Busy} if it can begin later
   */
  check(owner, reach) {
    for (const search of this.#searches) {
      if (search.owner === owner) throw new Error("a search by `grep` is running. Run one after the other");
      const changed = [...reach.writable, reach.temporary].find((path) => meets(path, search.place));
      if (changed !== undefined) throw new Busy(`a search by \`grep\` of another agent is running in ${search.place}`);
    }
    this.#forgetEnded();
    if (this.isLeft(owner)) throw new Busy("processes of a command that was ended have not ended yet");
    for (const { owner: whose, reach: other } of this.#commands) {
      const path = moved(reach, other) ?? moved(other, reach);
      if (path === undefined) continue;
      const could = `is running, and one of the two could replace ${path}, to which the other is held`;
      // An agent may ask for all calls of an answer before the first one begins: a wait within a session would not end.
      if (whose === owner) throw new Error(`another command ${could}. Run one command after the other`);
      throw new Busy(`a command of another agent ${could}`);
    }
  }

  /**
   * Begins a command line.
   * @param {string} line
   * @param {object} owner
   * @param {Reach} reach
   * @param {() => void} release called when the command line has ended
   * @param {string} file for its process ids
   * @returns {{ command: Command, line: string }} `line` is counted while it runs
   */
  begin(line, owner, reach, release, file) {
    if (!this.#awaitsExit) process.once("exit", () => this.#exit());
    this.#awaitsExit = true;
    const command = { owner, reach, release, file, ended: false };
    this.#commands.add(command);
    this.#folders.add(dirname(file));
    return { command, line: `echo $$ > ${quoted(file)}; ${line}` };
  }

  /** The call of a command line has ended. @param {Command} command */
  end(command) {
    command.ended = true;
    this.#forgetEnded();
  }

  /**
   * Begins a search.
   * @param {object} owner
   * @param {string} place absolute, without links
   * @returns {Search}
   * @throws {Busy} if it can begin later
   */
  search(owner, place) {
    const changing = this.#others(owner).some(({ reach }) =>
      [...reach.writable, reach.temporary].some((path) => meets(path, place)),
    );
    if (changing)
      throw new Busy(
        'a command of another agent is running, which could change what "grep" searches. Run it again, or search with "bash"',
      );
    const search = { owner, place };
    this.#searches.add(search);
    return search;
  }

  /** @param {Search} search */
  endSearch(search) {
    this.#searches.delete(search);
    this.#wake();
  }

  /**
   * Returns true if a command line of an owner runs, or a command line of which only the process is known.
   * @param {object} owner
   */
  any(owner) {
    this.#forgetEnded();
    return [...this.#commands].some((command) => command.owner === owner) || this.#late();
  }

  /** Returns true if a command line runs that uses a folder for temporary files. @param {string} temporary */
  uses(temporary) {
    this.#forgetEnded();
    return [...this.#commands].some(({ reach }) => reach.temporary === temporary) || this.#late();
  }

  /** Returns true if processes of an owner's command line are left whose bubblewrap was killed. @param {object} owner */
  isLeft(owner) {
    return [...this.#commands].some((command) => command.owner === owner && this.#running(command.file)?.left);
  }

  /**
   * Waits until a command line or search has ended, or may have ended.
   * @param {number} milliseconds the maximum
   * @param {AbortSignal} [signal]
   */
  async changed(milliseconds, signal) {
    if (signal?.aborted) return;
    await new Promise((/** @type {(value: void) => void} */ resolve) => {
      const timer = setTimeout(() => resume(), milliseconds);
      const resume = () => {
        clearTimeout(timer);
        this.#waiting.delete(resume);
        signal?.removeEventListener("abort", resume);
        resolve();
      };
      this.#waiting.add(resume);
      signal?.addEventListener("abort", resume, { once: true });
    });
  }

  /** @param {object} owner */
  #others(owner) {
    this.#forgetEnded();
    return [...this.#commands].filter((command) => command.owner !== owner);
  }

  /** Forgets the command lines whose calls and processes have ended. */
  #forgetEnded() {
    clearTimeout(this.#look);
    const ended = [...this.#commands].filter((command) => command.ended);
    const over = ended.filter(({ file }) => !this.#running(file));
    for (const command of over) {
      this.#commands.delete(command);
      this.#remove(command.file);
      command.release();
    }
    if (ended.length > over.length) this.#look = setTimeout(() => this.#forgetEnded(), LOOK).unref();
    if (over.length > 0) this.#wake();
  }

  /** The process ends, and with it whatever runs. */
  #exit() {
    for (const { release } of this.#commands) release();
  }

  /** Returns true if a shell runs that began after its call had ended. */
  #late() {
    const known = new Set([...this.#commands].map(({ file }) => file));
    const all = [...this.#folders].flatMap((folder) =>
      (unlessFails(() => readdirSync(folder)) ?? []).map((name) => join(folder, name)),
    );
    const late = all.filter((file) => !known.has(file));
    const over = late.filter((file) => !this.#running(file));
    for (const file of over) this.#remove(file);
    return late.length > over.length;
  }

  /** @param {string} file */
  #remove(file) {
    rmSync(file, { force: true });
    this.#first.delete(file);
  }

  /**
   * Returns if a command line runs, or is about to, by the file with its process ids; `undefined` if not. `left` is true
   * for processes whose bubblewrap was killed, which are killed too: the first one waits for ever if bubblewrap had just begun.
   * @param {string} file
   */
  #running(file) {
    const ids = () => unlessFails(() => String(readFile(dirname(file), basename(file), MAX_IDS)));
    const firstIn = (/** @type {string | undefined} */ text) => text?.match(/(?<="child-pid": )\d+/)?.[0];
    const text = ids();
    if (text === undefined) return undefined;
    const hasShell = !/^\d/.test(text) || unlessFails(() => process.kill(parseInt(text), 0)) === true;
    // bubblewrap may have stored the id just before it ended.
    const first = firstIn(text) ?? (hasShell ? undefined : firstIn(ids()));
    if (first === undefined) return hasShell ? { left: false } : undefined;
    const note = this.#first.get(file) ?? noteOf(Number(first));
    this.#first.set(file, note);
    if (state(note) === "dead") return undefined;
    if (!hasShell && isFirst(note.pid)) unlessFails(() => process.kill(note.pid, "SIGKILL"));
    return { left: !hasShell };
  }

  #wake() {
    for (const resume of [...this.#waiting]) resume();
  }
}

/** The command lines and searches of this process. */
export const runningCommands = new RunningCommands();

/**
 * Returns a place of one command line, or a folder around a place, that the other command line could move. A place of
 * both, or a place where the other changes nothing, is a mount for the other too and stays.
 * @param {Reach} one
 * @param {Reach} other
 */
function moved(one, other) {
  const places = new Set(one.places);
  const isInside = (/** @type {string} */ path, /** @type {string} */ folder) =>
    folder !== path && isBelow(path, folder);
  const moves = (/** @type {string} */ path) =>
    !places.has(path) &&
    (isInside(path, one.temporary) ||
      (one.writable.some((folder) => isInside(path, folder)) && !one.sealed.some((sealed) => isBelow(path, sealed))));
  return other.places.find((path) => {
    for (let at = path; at !== dirname(at); at = dirname(at)) if (moves(at)) return true;
    return false;
  });
}

/** @param {string} a @param {string} b */
const meets = (a, b) => isBelow(a, b) || isBelow(b, a);
