// What a guest has read, and whether it would read the same now.
import { statSync } from "node:fs";

/** How coarse the time stamps of a file system may be, in milliseconds. */
const STAMP_MARGIN = 2000;

/**
 * What changes with every change of a file, and with another file in its place. The time of the last change of
 * the inode (ctime) cannot be set, so a file of the same size with an older time on it is another one all the same.
 * @typedef {Pick<import("node:fs").Stats, "dev" | "ino" | "size" | "mtimeMs" | "ctimeMs">} Stamp
 */

/** @typedef {import("./files.js").Place} Place */

export class Record {
  /** Whether it is still being written. */
  open = true;
  /** Whether it can hold: nothing in it changed a moment ago. */
  #settled = true;
  /** Where folders are, by their root and their path below it. @type {Map<string, Map<string, Place>>} */
  #places = new Map();
  /** The files that were read, with the paths that lead to them. @type {(Stamp & { path: string })[]} */
  #files = [];
  /** Everything else that was asked, and what the answer was. @type {{ ask: () => unknown, answer: string }[]} */
  #answers = [];

  /**
   * Where a folder is that was looked up since this record was begun: while it is written, a folder stays.
   * @param {string} root
   * @param {string} path
   */
  place(root, path) {
    return this.#places.get(root)?.get(path);
  }

  /**
   * @param {string} root
   * @param {string} path
   * @param {Place} place
   */
  keepPlace(root, path, place) {
    if (!this.open) return;
    const places = this.#places.get(root) ?? new Map();
    this.#places.set(root, places.set(path, place));
  }

  /**
   * Takes down that a file was read.
   *
   * Time stamps are coarse: of two changes in a moment both may have the same. What changed just before it was
   * read cannot be told from what it becomes, so the record will not hold.
   *
   * @param {string} path with links in it
   * @param {Stamp} stamp of before it was read
   */
  file(path, { dev, ino, size, mtimeMs, ctimeMs }) {
    if (!this.open) return;
    this.#files.push({ path, dev, ino, size, mtimeMs, ctimeMs });
    this.#settled &&= Math.max(mtimeMs, ctimeMs) < Date.now() - STAMP_MARGIN;
  }

  /**
   * Asks, and takes down the answer.
   * @template T
   * @param {() => T} ask
   * @returns {T}
   */
  answer(ask) {
    try {
      const answer = ask();
      this.#add(ask, answer);
      return answer;
    } catch (error) {
      this.refusal(error, ask);
      throw error;
    }
  }

  /**
   * Takes down that an answer was refused.
   * @param {unknown} error
   * @param {() => unknown} ask
   */
  refusal(error, ask) {
    this.#add(ask, { error });
  }

  /**
   * @param {() => unknown} ask
   * @param {unknown} answer
   */
  #add(ask, answer) {
    if (this.open) this.#answers.push({ ask, answer: text(answer) });
  }

  close() {
    this.open = false;
    this.#places.clear();
  }

  /** Whether all would be answered alike now. */
  holds() {
    if (this.open || !this.#settled) return false;
    for (const { ask, answer } of this.#answers) if (again(ask) !== answer) return false;
    return this.#files.every(isSame);
  }
}

/** @param {() => unknown} ask */
function again(ask) {
  try {
    return text(ask());
  } catch (error) {
    return text({ error });
  }
}

/** @param {unknown} answer */
function text(answer) {
  return JSON.stringify(answer, (_key, value) => (typeof value === "bigint" ? `${value}n` : value)) ?? "";
}

/** @param {Stamp & { path: string }} file */
function isSame({ path, dev, ino, size, mtimeMs, ctimeMs }) {
  try {
    const now = statSync(path, { throwIfNoEntry: false });
    return now?.ctimeMs === ctimeMs && now.mtimeMs === mtimeMs && now.ino === ino && now.dev === dev && now.size === size;
  } catch {
    return false;
  }
}
