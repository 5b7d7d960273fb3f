// The folders of git of a project, which may lie elsewhere: those of linked work trees, of submodules and of the work
// trees around it.
//
// Their paths stand in files that an agent may have written. So a folder that these files name is only ever hidden or
// made read-only, and never created. It is writable only if it names the work tree in turn, at a place where nobody can
// write who may not write the whole folder.
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

import { known } from "./known.js";
import { readFile } from "./untrusted-files.js";
import { isThere } from "./ways.js";
import { absolutePath, isBelow, realPath, upwards } from "./write-target.js";

/** The maximum size of a file with a path, of a configuration and of an index, in bytes. */
const [MAX_PATH, MAX_CONFIG, MAX_INDEX] = [8 * 1024, 2 ** 20, 128 * 2 ** 20];
/** The maximum number of work trees and of folders of objects that are looked at. */
const MAX_PLACES = 500;
/** The lengths of a hash in the index, in bytes: SHA-1 and SHA-256. */
const HASHES = [20, 32];
/** The offset of the mode in an entry of the index, and the entry's length before its hash. */
const [MODE, BEFORE_HASH] = [24, 40];
/** The flag of an entry with two bytes more. */
const EXTENDED = 0x4000;
/** The mode of an entry that is a submodule. */
const SUBMODULE = 0o160000;

/** A file of git's objects. git writes it once, and removes the rights to write it. */
const OBJECT = /\/objects\/(?:[0-9a-f]{2}\/(?:[0-9a-f]{38}|[0-9a-f]{62})|pack\/pack-[0-9a-f]{40,64}\.[a-z]+)$/;

/** Returns true if a path is that of a file of git's objects. @param {string} path */
export const isObject = (path) => OBJECT.test(path);

/** @typedef {{ tree: string, folder: string }} WorkTree a work tree, and its folder of git; both without links */
/** @typedef {boolean | "closed"} Strict true: a file that cannot be read throws; `closed`: only one without the right to it */

/** Notes the work trees around a folder. @param {string} place absolute, without links @param {Strict} [strict] */
export function noteWorkTrees(place, strict) {
  for (const { tree, folder } of workTreesAround(place, strict))
    known.trees.set(tree, new Set([...(known.trees.get(tree) ?? []), folder, commonGitFolder(folder)]));
}

/**
 * Returns the work trees that were noted around a folder, and are still there.
 * @param {string} place absolute, without links
 * @returns {WorkTree[]}
 */
const notedAround = (place) =>
  [...upwards(place)].flatMap((tree) =>
    [...(known.trees.get(tree) ?? [])].filter(isThere).map((folder) => ({ tree, folder })),
  );

/**
 * Returns the folders of git, absolute and without links, of all work trees in which one of these paths is tracked:
 * commands must not change these folders while such a path is hidden, or its absence would be committed.
 * @param {string[]} paths absolute, without links
 */
export function trackingGitFolders(paths) {
  /** By folder of git, which is read once. @type {Map<string, (path: string) => boolean>} */
  const indexes = new Map();
  const isTracked = (/** @type {string} */ path, /** @type {string} */ folder) => {
    const tracks = indexes.get(folder) ?? trackedIn(folder);
    indexes.set(folder, tracks);
    return tracks(path);
  };
  const folders = paths.flatMap((path) => {
    noteWorkTrees(dirname(path), "closed");
    return notedAround(dirname(path)).flatMap(({ tree, folder }) =>
      !isBelow(path, folder) && isTracked(relative(tree, path).split(sep).join("/"), folder)
        ? [folder, commonGitFolder(folder)].filter((path) => isGitFolder(path, true))
        : [],
    );
  });
  return [...new Set(folders)];
}

/**
 * Returns the folders that `.git/` stands for in `hide`: the folders of the work tree at a folder, or of all around it;
 * the folders that work trees share; the folders of submodules; the folders from which all these take objects.
 * @param {string} place absolute, without links
 * @param {boolean} around
 * @throws {Error} if the folders cannot be determined
 */
export function hiddenGitFolders(place, around) {
  const own = gitFolderAt(place, true);
  const trees = around
    ? [...workTreesAround(place, true), ...notedAround(place)]
    : own === undefined
      ? []
      : [{ tree: place, folder: own }];
  const folders = new Set();
  for (let at = 0; at < trees.length; at += 1) {
    const { tree, folder } = trees[at];
    if (isOfAnother(folder)) {
      folders.add(folder);
      continue;
    }
    const own = [folder, commonGitFolder(folder, true)].filter((path) => isGitFolder(path, true));
    if (own.every((path) => folders.has(path))) continue;
    for (const path of [...own, ...own.flatMap(otherObjects)]) folders.add(path);
    for (const { name } of entriesOf(folder).filter(({ mode }) => mode === SUBMODULE)) {
      const inner = resolve(tree, name);
      const found = isBelow(inner, tree) ? gitFolderAt(inner, true) : undefined;
      if (found !== undefined) trees.push({ tree: inner, folder: found });
    }
    if (trees.length + folders.size > MAX_PLACES) throw new Error(`there are too many folders of git in ${place}`);
  }
  return /** @type {string[]} */ ([...folders]);
}

/**
 * Returns the folders that `.git/` stands for in `write`, of the innermost work tree around a folder, or the reason for
 * which `.git/` stands for no folder; nothing outside of work trees.
 * @param {string} start absolute, without links
 * @returns {{ tree: string, folders: string[], reason?: string } | undefined} `tree` is the work tree
 */
export function writableGitFolders(start) {
  const found = [...workTreesAround(start)].find(({ folder }) => isGitFolder(folder));
  if (found === undefined) return undefined;
  const { tree, folder } = found;
  const git = join(tree, ".git");
  if (folder === git) return { tree, folders: [git] };
  const common = commonGitFolder(folder);
  const names = common === folder ? workTreeOfConfig(folder) : attempt(() => resolve(folder, pathIn(folder, "gitdir")));
  const isIts =
    names !== undefined &&
    attempt(() => realPath(names)) === (common === folder ? tree : git) &&
    (common === folder || dirname(folder) === join(common, "worktrees"));
  return isIts
    ? { tree, folders: [common] }
    : { tree, folders: [], reason: `${folder}, which ${git} names, does not name it` };
}

/**
 * Returns the folders of git that a path of `hide` or `write` stands for now, or the reason why it stands for none.
 * @param {string} field
 * @param {string} path one of a folder `.git`
 * @param {string} cwd
 * @returns {{ folders: string[], reason?: string }}
 * @throws {Error} if the folders cannot be determined
 */
export function gitFoldersOf(field, path, cwd) {
  const git = absolutePath(path, cwd);
  const [tree, project] = [realPath(dirname(git)), realPath(cwd)];
  const own = { folders: isThere(git) ? [realPath(git)] : [] };
  if (field === "hide") return { folders: [...new Set([...own.folders, ...hiddenGitFolders(tree, tree === project)])] };
  return (tree === project && writableGitFolders(project)) || own;
}

/**
 * Returns the innermost work tree of a folder, and the work tree's folder of git.
 * @param {string} start absolute, without links
 * @returns {WorkTree | undefined}
 */
export function workTreeAt(start) {
  for (const found of workTreesAround(start)) return found;
  return undefined;
}

/**
 * Returns the path, with `/`, from a folder to this folder in the nearest folder above that has it: up to the top of the git work
 * tree, and not in the user's home directory or above.
 * @param {string} from
 * @param {string} path
 */
export function folderAbove(from, path) {
  const start = realPath(from);
  const top = workTreeAt(start)?.tree;
  const home = attempt(() => realPath(homedir()));
  for (let folder = start; top !== undefined && folder !== top;) {
    folder = dirname(folder);
    if (folder === home || folder === dirname(folder)) return undefined;
    if (statSync(join(folder, path), { throwIfNoEntry: false })?.isDirectory())
      return relative(start, join(folder, path)).replaceAll(sep, "/");
  }
  return undefined;
}

/**
 * Returns the work trees that contain a folder, the innermost first.
 * @param {string} start absolute, without links
 * @param {Strict} [strict]
 * @returns {Generator<WorkTree>}
 */
function* workTreesAround(start, strict = false) {
  for (let tree = start; ; tree = dirname(tree)) {
    const folder = gitFolderAt(tree, strict);
    if (folder !== undefined) yield { tree, folder };
    if (tree === dirname(tree)) return;
  }
}

/** @param {string} tree @param {Strict} strict */
function gitFolderAt(tree, strict) {
  const git = join(tree, ".git");
  return attempt(() => {
    const real = realPath(git);
    const isFile = statSync(real).isFile();
    const folder = isFile ? realPath(resolve(tree, pathIn(dirname(real), basename(real)))) : real;
    return statSync(folder).isDirectory() ? folder : undefined;
  }, strict);
}

/**
 * Returns the folder of git that work trees share.
 * @param {string} folder the folder of git of one work tree
 * @param {boolean} [strict] throws if a file cannot be read
 */
export function commonGitFolder(folder, strict = false) {
  return attempt(() => realPath(resolve(folder, pathIn(folder, "commondir"))), strict) ?? folder;
}

/**
 * Returns true if git may take a folder for its own, or has its objects in it.
 * @param {string} folder
 * @param {boolean} [strict] throws if the folder cannot be read
 */
const isGitFolder = (folder, strict = false) =>
  ["HEAD", "objects"].some((name) => attempt(() => isThere(join(folder, name)), strict));

/** Returns true if a folder belongs to another user, who has closed it. @param {string} folder */
const isOfAnother = (folder) =>
  statSync(folder).uid !== process.getuid?.() &&
  attempt(() => (accessSync(folder, constants.R_OK | constants.X_OK), true)) === undefined;

/** Returns the path in a file of git. @param {string} folder @param {string} name */
const pathIn = (folder, name) =>
  readFile(folder, name, MAX_PATH)
    .toString()
    .replace(/^gitdir: /, "")
    .replace(/[\r\n]+$/, "");

/** Returns the work tree that the configuration in a folder of git names. @param {string} folder */
function workTreeOfConfig(folder) {
  let [section, found] = ["", /** @type {string | undefined} */ (undefined)];
  for (const file of ["config", "config.worktree"]) {
    const text = attempt(() => readFile(folder, file, MAX_CONFIG).toString()) ?? "";
    for (const line of text.split("\n")) {
      section = line.match(/^\s*\[([^\]]*)\]/)?.[1].toLowerCase() ?? section;
      const value = section === "core" ? line.match(/^\s*worktree\s*=\s*"?(.*?)"?\s*$/i)?.[1] : undefined;
      if (value !== undefined) found = resolve(folder, value.replace(/\\(["\\])/g, "$1"));
    }
  }
  return found;
}

/** Returns the folders of objects from which a folder of git takes objects. @param {string} folder */
function otherObjects(folder) {
  const found = [join(folder, "objects")];
  for (let at = 0; at < found.length; at += 1) {
    const objects = found[at];
    const text = attempt(() => readFile(objects, "info/alternates", MAX_CONFIG).toString(), true) ?? "";
    for (const line of text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))) {
      const path = line.startsWith('"') ? line.slice(1, -1).replace(/\\(["\\])/g, "$1") : line;
      const place = resolve(objects, path);
      const isOther = ["pack", "info"].some((name) => isThere(join(place, name)));
      const real = isOther ? attempt(() => realPath(place)) : undefined;
      if (real !== undefined && !found.includes(real)) found.push(real);
    }
    if (found.length > MAX_PLACES) throw new Error(`${folder} takes objects from too many folders`);
  }
  return found.slice(1);
}

/**
 * Returns a function that tells if the index of a folder of git has a path, or something below it; or cannot be understood.
 * @param {string} folder
 * @returns {(path: string) => boolean}
 */
function trackedIn(folder) {
  try {
    const entries = entriesOf(folder);
    // A directory is an entry where the checkout is sparse.
    return (path) =>
      entries.some(
        ({ name }) => name === path || name.startsWith(`${path}/`) || (name.endsWith("/") && path.startsWith(name)),
      );
  } catch {
    return () => true;
  }
}

/** @typedef {{ name: string, mode: number }} Entry */

/**
 * Returns the entries of the index of a folder of git. A split index also gives entries that were removed since.
 * @param {string} folder
 * @throws {Error} if the index cannot be understood
 */
function entriesOf(folder) {
  const bytes = attempt(() => readFile(folder, "index", MAX_INDEX), true);
  if (bytes === undefined) return [];
  for (const hash of HASHES) {
    const found = parsed(bytes, hash);
    if (found === undefined) continue;
    if (found.shared === undefined) return found.entries;
    const shared = parsed(readFile(folder, `sharedindex.${found.shared}`, MAX_INDEX), hash);
    if (shared && shared.shared === undefined) return [...found.entries, ...shared.entries];
  }
  throw new Error(`the index of git in ${folder} cannot be read`);
}

/**
 * Returns the entries of an index, and of a split index the hash of the index with the other entries; `undefined` if
 * the index has another form or other hashes.
 * @param {Buffer} bytes
 * @param {number} hash
 * @returns {{ entries: Entry[], shared?: string } | undefined}
 */
function parsed(bytes, hash) {
  if (bytes.length < 12 || bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)];
  if (![2, 3, 4].includes(version)) return undefined;
  /** @type {Entry[]} */
  const entries = [];
  let at = 12;
  /** The name of the entry before, of which the fourth version repeats a part. */
  let before = /** @type {Buffer} */ (Buffer.alloc(0));
  for (let entry = 0; entry < count; entry += 1) {
    const flags = at + BEFORE_HASH + hash;
    if (flags + 2 > bytes.length) return undefined;
    let start = flags + 2 + (bytes.readUInt16BE(flags) & EXTENDED ? 2 : 0);
    let removed = 0;
    if (version === 4) {
      removed = bytes[start] & 127;
      for (; bytes[start] & 128; removed = (removed + 1) * 128 + (bytes[start] & 127)) start += 1;
      start += 1;
      if (removed > before.length) return undefined;
    }
    const end = bytes.indexOf(0, start);
    if (end < start) return undefined;
    const name = bytes.subarray(start, end);
    before = version === 4 ? Buffer.concat([before.subarray(0, before.length - removed), name]) : name;
    // An entry of a split index that replaces another one has no name.
    if (before.length > 0) entries.push({ name: before.toString(), mode: bytes.readUInt32BE(at + MODE) });
    at = version === 4 ? end + 1 : at + Math.ceil((end - at + 1) / 8) * 8;
  }
  // The extensions, up to the hash at the end.
  let shared;
  while (at + 8 <= bytes.length - hash) {
    if (bytes.toString("latin1", at, at + 4) === "link") shared = bytes.toString("hex", at + 8, at + 8 + hash);
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  if (at !== bytes.length - hash) return undefined;
  return shared === undefined || /^0*$/.test(shared) ? { entries } : { entries, shared };
}

/**
 * Returns the result of a function that reads a file; `undefined` if the file does not exist or cannot be read.
 * @template T
 * @param {() => T} read
 * @param {Strict} [strict]
 * @returns {T | undefined}
 */
function attempt(read, strict = false) {
  try {
    return read();
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (strict === "closed" ? code === "EACCES" : strict && code !== "ENOENT" && code !== "ENOTDIR") throw error;
    return undefined;
  }
}
