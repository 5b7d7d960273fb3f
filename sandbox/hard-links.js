// Finds what must stay read-only in some folders: files that have other names outside of them, which a write would
// change too, and folders that cannot be searched for such files.
import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";

import { isObject } from "./git-folders.js";
import { upwards } from "./write-target.js";

/** The maximum length of the path of a folder that is returned, in bytes: each path is part of a command line. */
const MAX_PATH = 1024;
/** The maximum number of paths that are made read-only, and their maximum length together, in bytes. */
const MAX_READ_ONLY = { paths: 200, bytes: 24 * 1024 };
/** The character in the place of bytes that are not UTF-8. */
const REPLACED = "\uFFFD";

/** @typedef {{ linked: string[], closed: string[], sockets: string[] }} Found `sockets` are all seen sockets */

/**
 * Returns the files in the given files and folders that have a hard link outside of them (`linked`), and the outermost
 * folders that contain something unreadable or too deep (`closed`). Links of one file that all lie inside are not
 * returned.
 * @param {string[]} paths absolute, none below another
 * @param {string[]} [except] files and folders that count as outside
 * @returns {Found}
 */
export function linkedOutside(paths, except = []) {
  return new Search(paths, except).found();
}

/**
 * Returns the paths in writable paths that must stay read-only: the files that have a hard link outside of them, and the folders
 * that cannot be searched for such files; if there are too many, the innermost folders that contain all of them and are few
 * enough. `linked` are those that contain such a file.
 * @param {string[]} paths absolute, none below another
 * @param {string[]} except read-only files and folders in the writable paths
 * @returns {Found & { readOnly: string[] }}
 */
export function readOnlyIn(paths, except) {
  const found = linkedTwice(paths, except);
  const readOnly = [...found.linked, ...found.closed];
  if (fits(readOnly)) return { ...found, readOnly };
  const around = new Set(paths);
  const tops = readOnly.map((path) => [...upwards(path)].find((folder) => around.has(folder)) ?? path);
  let folders = [...new Set(tops)];
  for (let depth = 1; ; depth += 1) {
    // The file or folder, at most `depth` levels below a writable path, that is or contains the file.
    const inside = readOnly.map((path, at) => join(tops[at], ...relative(tops[at], path).split(sep).slice(0, depth)));
    const unique = [...new Set(inside)];
    if (!fits(unique)) break;
    folders = unique;
  }
  return { ...found, linked: found.linked.length > 0 ? folders : [], readOnly: folders };
}

/** @param {string[]} paths */
const fits = (paths) =>
  paths.length <= MAX_READ_ONLY.paths &&
  paths.reduce((bytes, path) => bytes + Buffer.byteLength(path), 0) <= MAX_READ_ONLY.bytes;

/**
 * Returns what two looks have found: a running command line may link and unlink files in its own folders.
 * @param {Parameters<typeof linkedOutside>} at
 * @returns {Found}
 */
function linkedTwice(...at) {
  const first = linkedOutside(...at);
  if (first.linked.length + first.closed.length === 0) return first;
  const again = linkedOutside(...at);
  // The other command line may also close a folder in one of the looks.
  const paths = new Set([...first.linked, ...first.closed]);
  const around = new Set([...paths].flatMap((path) => [...upwards(path)]));
  const meet = (/** @type {string} */ path) => around.has(path) || [...upwards(path)].some((at) => paths.has(at));
  return { ...again, linked: again.linked.filter(meet), closed: again.closed.filter(meet) };
}

class Search {
  /** The files with several names. @type {Map<string, { missing: number, paths: string[], names: Set<string> }>} */
  #files = new Map();
  /** @type {Set<string>} */
  #closed = new Set();
  /** @type {string[]} */
  #sockets = [];
  #paths;
  #except;

  /** @param {string[]} paths @param {string[]} except */
  constructor(paths, except) {
    this.#paths = new Set(paths);
    this.#except = new Set(except);
    for (const path of paths) this.#addFile(path, path);
    const folders = [...paths];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
      folders.push(...this.#addFolder(folder));
  }

  /** @returns {Found} */
  found() {
    const isInClosed = (/** @type {string} */ path) => {
      for (let at = path; !this.#paths.has(at) && at !== dirname(at);) {
        at = dirname(at);
        if (this.#closed.has(at)) return true;
      }
      return false;
    };
    const linked = [...this.#files.values()].filter(({ missing }) => missing > 0).flatMap(({ paths }) => paths);
    return {
      linked: linked.filter((path) => !isInClosed(path)),
      closed: [...this.#closed].filter((path) => !isInClosed(path)),
      sockets: this.#sockets,
    };
  }

  /** Adds the files of a folder, and returns its folders. @param {string} folder */
  #addFolder(folder) {
    const folders = [];
    const entries = this.#entriesOf(folder);
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`;
      if (entry.name.includes(REPLACED) || this.#except.has(path)) continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isSocket()) this.#sockets.push(path);
      else if (!entry.isSymbolicLink()) this.#addFile(path, folder);
    }
    if (entries.some(({ name }) => name.includes(REPLACED)) && hasUnnamed(folder)) this.#close(folder);
    return folders;
  }

  /** @param {string} path @param {string} folder */
  #addFile(path, folder) {
    try {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (!stat || stat.isDirectory() || stat.nlink < 2) return;
      // A local clone shares the object. git writes neither name again, and the object's folder must stay writable.
      if ((stat.mode & 0o222) === 0 && isObject(path)) return;
      const id = `${stat.dev}:${stat.ino}`;
      const file = this.#files.get(id) ?? { missing: stat.nlink, paths: [], names: new Set() };
      file.names.add(nameIn(path));
      file.missing = stat.nlink - file.names.size;
      file.paths.push(path);
      this.#files.set(id, file);
    } catch {
      this.#close(folder);
    }
  }

  /** @param {string} folder */
  #entriesOf(folder) {
    try {
      return readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      if (!isAbsent(error)) this.#close(folder);
      return [];
    }
  }

  /** Adds the innermost folder around a path that can be named. @param {string} path */
  #close(path) {
    let folder = path;
    while (!this.#paths.has(folder) && (Buffer.byteLength(folder) > MAX_PATH || !isReachable(folder)))
      folder = dirname(folder);
    this.#closed.add(folder);
  }
}

/** Returns the name of a file, and the folder, which may have several paths: it may be mounted twice. @param {string} path */
function nameIn(path) {
  const { dev, ino } = lstatSync(dirname(path));
  return `${dev}:${ino}/${basename(path)}`;
}

/**
 * Returns true if, below names that are not UTF-8, a folder contains a file with several names, or something that
 * cannot be read.
 * @param {string} folder
 */
function hasUnnamed(folder) {
  const folders = [Buffer.from(folder)];
  try {
    for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
      const isTop = at.equals(Buffer.from(folder));
      for (const entry of readdirSync(at, { withFileTypes: true, encoding: "buffer" })) {
        if (isTop && !entry.name.toString().includes(REPLACED)) continue;
        const path = Buffer.concat([at, Buffer.from("/"), entry.name]);
        if (entry.isDirectory()) folders.push(path);
        else if (!entry.isSymbolicLink() && (lstatSync(path, { throwIfNoEntry: false })?.nlink ?? 1) > 1) return true;
      }
    }
    return false;
  } catch (error) {
    return !isAbsent(error);
  }
}

/** @param {string} path */
function isReachable(path) {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** @param {unknown} error */
function isAbsent(error) {
  const { code } = /** @type {NodeJS.ErrnoException} */ (error);
  return code === "ENOTDIR" || code === "ENOENT";
}
