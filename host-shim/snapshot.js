// A snapshot of the files that a guest has read: tells if the guest would read the same now.
import { statSync } from "node:fs";

/** The coarsest resolution of time stamps of a file system, in milliseconds. */
const STAMP_MARGIN = 2000;

/**
 * The fields that change if a file changes or is replaced. Programs cannot set the time of the last change of the inode
 * (ctime), so it also changes if a file is rewritten with the same size and its old modification time.
 * @typedef {Pick<import("node:fs").Stats, "dev" | "ino" | "size" | "mtimeMs" | "ctimeMs">} Stamp
 */

/** @typedef {import("./files.js").Place} Place */

export class Snapshot {
  #recording = true;
  /** False if a file changed so recently that its time stamps might not show the next change. */
  #settled = true;
  /** Locations of folders, by their root and their path below it. @type {Map<string, Map<string, Place>>} */
  #places = new Map();
  /** The files that were read, with the paths that led to them. @type {(Stamp & { path: string })[]} */
  #files = [];
  /** All other queries and their results. @type {{ query: () => unknown, result: string }[]} */
  #results = [];

  /**
   * Returns the location of a folder that was already resolved. During the recording, folders are assumed not to move.
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
  storePlace(root, path, place) {
    if (!this.#recording) return;
    const places = this.#places.get(root) ?? new Map();
    this.#places.set(root, places.set(path, place));
  }

  /**
   * Records that a file was read.
   *
   * Time stamps are coarse: two changes in quick succession may have the same time stamp. If a file changed just before
   * it was read, a further change might not be visible, so the snapshot never counts as unchanged.
   * @param {string} path may contain links
   * @param {Stamp} stamp before the file was read
   */
  file(path, { dev, ino, size, mtimeMs, ctimeMs }) {
    if (!this.#recording) return;
    this.#files.push({ path, dev, ino, size, mtimeMs, ctimeMs });
    this.#settled &&= Math.max(mtimeMs, ctimeMs) < Date.now() - STAMP_MARGIN;
  }

  /**
   * Makes a query and records its result.
   * @template T
   * @param {() => T} query
   * @returns {T}
   */
  result(query) {
    try {
      const result = query();
      this.#add(query, result);
      return result;
    } catch (error) {
      this.failure(error, query);
      throw error;
    }
  }

  /**
   * Records that a query failed.
   * @param {unknown} error
   * @param {() => unknown} query
   */
  failure(error, query) {
    this.#add(query, { error });
  }

  /** @param {() => unknown} query @param {unknown} result */
  #add(query, result) {
    if (this.#recording) this.#results.push({ query, result: text(result) });
  }

  finish() {
    this.#recording = false;
    this.#places.clear();
  }

  /** Returns true if every query would have the same result now. */
  isUnchanged() {
    if (this.#recording || !this.#settled) return false;
    for (const { query, result } of this.#results) if (again(query) !== result) return false;
    return this.#files.every(isSame);
  }
}

/** @param {() => unknown} query */
function again(query) {
  try {
    return text(query());
  } catch (error) {
    return text({ error });
  }
}

/** @param {unknown} result */
function text(result) {
  return JSON.stringify(result, (_key, value) => (typeof value === "bigint" ? `${value}n` : value)) ?? "";
}

/** @param {Stamp & { path: string }} file */
function isSame({ path, dev, ino, size, mtimeMs, ctimeMs }) {
  try {
    const now = statSync(path, { throwIfNoEntry: false });
    return (
      now?.ctimeMs === ctimeMs && now.mtimeMs === mtimeMs && now.ino === ino && now.dev === dev && now.size === size
    );
  } catch {
    return false;
  }
}
