// The paths that are hidden from a tool call: files, and folders with everything below, by all their names.
//
// A rule names a path, through links or not, existing or not. The target of the path has other names too: names in
// other mounts of its file system, and hard links. Every call looks for both, since any program outside can make
// them.
import { lstatSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

import { hiddenGitFolders, isObject } from "./git-folders.js";
import { known } from "./known.js";
import { refuseOpenable } from "./ways.js";
import { absolutePath, isBelow, realPath, spellings } from "./write-target.js";

/**
 * A place that is hidden.
 * @typedef {object} Place
 * @property {string} path
 * @property {boolean} directory as the rule says, if it does not exist
 * @property {boolean} [ofGit] true for a folder for which `.git/` stands
 */
/**
 * @typedef {Pick<import("node:fs").BigIntStats | import("node:fs").Stats, "dev" | "ino" | "nlink" | "isDirectory">} Stat
 */

/** Errors of a path that no process of this user reaches. */
const UNREACHABLE = ["EACCES", "EPERM", "ELOOP", "ENAMETOOLONG"];

/** Returns what rules hide now. @param {string[]} rules as paths of an agent, see `absolutePath` @param {string} cwd */
export function findHidden(rules, cwd) {
  /** @type {Map<string, Place>} */
  const places = new Map();
  for (const rule of rules) {
    const directory = /[/\\]$/.test(rule);
    const absolute = absolutePath(rule, cwd);
    for (const path of placesOf(absolute)) places.set(path, { path, directory });
    if (basename(absolute) !== ".git") continue;
    const tree = realPath(dirname(absolute));
    for (const path of hiddenGitFolders(tree, tree === realPath(cwd)))
      places.set(path, { path, directory: true, ofGit: true });
  }
  return new Hidden([...places.values()], cwd);
}

/** @param {string} path absolute */
function placesOf(path) {
  const places = known.places.get(path) ?? new Set();
  known.places.set(path, places);
  for (const spelling of spellings(path)) {
    try {
      places.add(realPath(spelling));
    } catch (error) {
      refuseOpenable(error, spelling);
      if (!UNREACHABLE.includes(codeOf(error)) && !/too many links/i.test(String(error))) throw error;
    }
  }
  return places;
}

export class Hidden {
  /** The names of the places, without names of hard links. @type {string[]} */
  #names;
  /** The identities of the hidden files and folders. @type {Set<string>} */
  #ids = new Set();
  #cwd;

  /** @param {Place[]} places absolute, without links @param {string} cwd */
  constructor(places, cwd) {
    this.places = places;
    this.#cwd = cwd;
    const names = new Set(places.map(({ path }) => path));
    for (const { path } of places) {
      const stat = statOf(path);
      if (stat) this.#ids.add(idOf(stat));
    }
    for (const path of otherMounts([...names])) names.add(path);
    this.#names = [...names];
  }

  /**
   * Returns all names of the hidden files and folders, also names of hard links in the working directory.
   * @throws {Error} if there may be names that are not found
   */
  names() {
    /** @type {Set<string>} */
    const seen = new Set();
    const { missing, example } = this.#linked(seen);
    if (missing.size === 0) return this.#names;
    const names = [...this.#names];
    const visit = (/** @type {Buffer} */ path, /** @type {Stat} */ stat, /** @type {number} */ more) => {
      const count = missing.get(idOf(stat));
      const name = path.toString();
      if (count === undefined || this.#isBelowName(name)) return;
      if (!Buffer.from(name).equals(path))
        throw new Error(`${name}, which is not UTF-8, is another name (hard link) of something hidden`);
      names.push(name);
      missing.set(idOf(stat), count - more);
    };
    /** @type {string[]} */
    const closed = [];
    eachFileWithNames(
      [realPath(this.#cwd)],
      seen,
      visit,
      (name) => this.#isBelowName(name),
      (folder) => closed.push(folder),
    );
    if ([...missing.values()].some((count) => count > 0)) {
      const where = closed.length > 0 ? `in ${closed[0]}, which cannot be searched, or outside` : "outside";
      throw new Error(
        `the hidden file ${example} has another name (hard link) ${where} of the working directory, by which it could be read`,
      );
    }
    return names;
  }

  /** Throws if a file is hidden. @param {string} place its path, without links @param {Stat} [stat] if it exists */
  check(place, stat) {
    if (this.holds(place, stat)) throw new Error(`${place} is hidden`);
  }

  /**
   * Returns true if a file is hidden, or lies in a hidden folder, by any of its names.
   * @param {string} place its path, without links
   * @param {Stat} [stat] if it exists
   */
  holds(place, stat) {
    return (
      this.isHidden(place) ||
      (stat !== undefined && !stat.isDirectory() && stat.nlink > 1 && this.#linked().ids.has(idOf(stat)))
    );
  }

  /** The names of the hidden files and folders, without names of hard links. */
  get folders() {
    return this.#names;
  }

  /** Returns true if a path, or a folder that contains it, is hidden. @param {string} place absolute, without links */
  isHidden(place) {
    if (this.#isBelowName(place)) return true;
    for (let path = place; ; path = dirname(path)) {
      const stat = statOf(path);
      if (stat && this.#ids.has(idOf(stat))) return true;
      if (path === dirname(path)) return false;
    }
  }

  /** @param {string} path */
  #isBelowName(path) {
    return this.#names.some((name) => isBelow(path, name));
  }

  /**
   * Returns the hidden files with several names, and the number of the names that are not hidden.
   * @param {Set<string>} [seen]
   */
  #linked(seen = new Set()) {
    /** @type {Map<string, number>} */
    const missing = new Map();
    let example = "";
    const ofGit = this.places.filter(({ ofGit }) => ofGit);
    const visit = (/** @type {Buffer} */ path, /** @type {Stat} */ stat, /** @type {number} */ more) => {
      const name = path.toString();
      // Another clone has the object too, under the other name.
      if (isObject(name) && ofGit.some(({ path }) => isBelow(name, path))) return;
      missing.set(idOf(stat), (missing.get(idOf(stat)) ?? Number(stat.nlink)) - more);
    };
    const paths = this.places.map(({ path }) => path);
    const outermost = paths.filter((path) => !paths.some((other) => other !== path && isBelow(path, other)));
    eachFileWithNames(outermost, seen, visit);
    const ids = new Set(missing.keys());
    for (const [id, count] of [...missing]) if (count <= 0) missing.delete(id);
    if (missing.size > 0) {
      eachFileWithNames(outermost, new Set(), (path, stat) => {
        if (missing.has(idOf(stat))) example ||= path.toString();
      });
    }
    return { ids, missing, example };
  }
}

/**
 * Calls a function for each file in some folders that has several names, by each of its paths: a folder may be mounted twice.
 * @param {string[]} paths absolute
 * @param {Set<string>} seen the names that were seen, each with the inode of its folder
 * @param {(path: Buffer, stat: Stat, more: number) => void} visit `more` is 0 for a name that was seen, and otherwise 1
 * @param {(path: string) => boolean} [isLeftOut]
 * @param {(folder: string) => unknown} [atClosed] called with a folder that cannot be searched
 */
function eachFileWithNames(paths, seen, visit, isLeftOut = () => false, atClosed = refuseClosed) {
  const ahead = paths.map((path) => ({ path: Buffer.from(path), folder: statOf(dirname(path)) }));
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { path, folder } = next;
    const stat = statOf(path);
    if (!stat) continue;
    if (!stat.isDirectory()) {
      if (stat.nlink < 2) continue;
      const name = `${folder && idOf(folder)}${path.toString("latin1", path.lastIndexOf("/"))}`;
      visit(path, stat, seen.has(name) ? 0 : 1);
      seen.add(name);
      continue;
    }
    for (const name of entriesOf(path, stat, atClosed)) {
      const entry = Buffer.concat([path, Buffer.from("/"), name]);
      if (!isLeftOut(entry.toString())) ahead.push({ path: entry, folder: stat });
    }
  }
}

/**
 * Returns the names in a folder. A folder that another user has closed has none: no file in it can be reached.
 * @param {Buffer} folder
 * @param {import("node:fs").BigIntStats} stat
 * @param {(folder: string) => unknown} atClosed
 */
function entriesOf(folder, stat, atClosed) {
  try {
    return readdirSync(folder, { encoding: "buffer" });
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    if (UNREACHABLE.includes(code) && Number(stat.uid) !== process.getuid?.()) return [];
    atClosed(folder.toString());
    return [];
  }
}

/** @param {string} folder @returns {never} */
function refuseClosed(folder) {
  throw new Error(`the folder ${folder} cannot be searched for other names (hard links) of what is hidden`);
}

/**
 * Returns the names that paths have in other mounts of their file systems.
 * @param {string[]} paths absolute, without links
 */
export function otherMounts(paths) {
  // macOS shows the volume with the user's files at a second place.
  if (process.platform === "darwin") return paths.map((path) => join("/System/Volumes/Data", path));
  if (process.platform !== "linux") return [];
  const mounts = mountsOf("self");
  return paths.flatMap((path) => {
    const { own, inside } = mountOf(path, mounts);
    if (own === undefined) return [];
    const around = mounts.filter((mount) => mount !== own && mount.device === own.device && statOf(mount.point));
    const within = around.filter(({ root }) => root !== inside && isBelow(root, inside)).map(({ point }) => point);
    return [...namesIn(around, own, inside).filter((name) => isSame(name, path)), ...within];
  });
}

/** @typedef {{ device: string, root: string, point: string }} Mount */

/** Returns the mounts that a process sees. @param {string | number} id @returns {Mount[]} */
export const mountsOf = (id) =>
  readFileSync(`/proc/${id}/mountinfo`, "utf8").split("\n").filter(Boolean).map(parsedMount);

/**
 * Returns the mount in which a path is, and the path in its file system.
 * @param {string} path
 * @param {Mount[]} mounts
 */
export function mountOf(path, mounts) {
  const around = mounts.filter(({ point }) => isBelow(path, point));
  // Of several mounts the innermost is in view, and of several mounts at one place the last.
  const own = around.reduce((found, mount) => (mount.point.length >= found.point.length ? mount : found), around[0]);
  return { own, inside: own === undefined ? path : join(own.root, relative(own.point, path)) };
}

/**
 * Returns the names that a path in a file system has in mounts of it.
 * @param {Mount[]} mounts
 * @param {Mount} own a mount of the file system
 * @param {string} inside
 */
export const namesIn = (mounts, own, inside) =>
  mounts
    .filter(({ device, root }) => device === own.device && isBelow(inside, root))
    .map(({ point, root }) => join(point, relative(root, inside)));

/** @param {string} line of a `mountinfo` */
function parsedMount(line) {
  const [, , device, root, point] = line
    .split(" ")
    .map((word) => word.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8))));
  return { device, root, point };
}

/** @param {string} a @param {string} b */
function isSame(a, b) {
  const [one, other] = [statOf(a), statOf(b)];
  return one !== undefined && other !== undefined && a !== b && idOf(one) === idOf(other);
}

/** @param {string | Buffer} path */
function statOf(path) {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch (error) {
    refuseOpenable(error, String(path));
    if (UNREACHABLE.includes(codeOf(error)) || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** @param {Stat} stat */
const idOf = ({ dev, ino }) => `${dev}:${ino}`;

/** @param {unknown} error */
const codeOf = (error) => String(/** @type {NodeJS.ErrnoException} */ (error)?.code);
