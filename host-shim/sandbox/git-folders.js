// The folders of git that commands must not change while a tracked path is hidden: its absence would be committed.
import { lstatSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

import { isBelow, realPath } from "./write-target.js";

/** The lengths of a hash in the index, in bytes: SHA-1 and SHA-256. */
const HASHES = [20, 32];
/** The length of an entry of the index before its hash. */
const BEFORE_HASH = 40;
/** The flag of an entry with two bytes more. */
const EXTENDED = 0x4000;

/**
 * Returns the folders of git, absolute and without links, of the work trees in which one of these paths is tracked.
 * @param {string[]} paths absolute, without links
 */
export function gitFoldersOf(paths) {
  const folders = paths.flatMap((path) => {
    const found = workTreeAt(dirname(path));
    if (found === undefined || isBelow(found.folder, path)) return [];
    const { tree, folder } = found;
    return isTracked(relative(tree, path).split(sep).join("/"), join(folder, "index"))
      ? [folder, commonGitFolder(folder)]
      : [];
  });
  return [...new Set(folders)];
}

/**
 * Returns the innermost work tree of a folder, and the work tree's folder of git.
 * @param {string} start absolute, without links
 */
export function workTreeAt(start) {
  for (let tree = start; ; tree = dirname(tree)) {
    const git = join(tree, ".git");
    const folder = attempt(() => realPath(lstatSync(git).isFile() ? resolve(tree, textOf(git)) : git));
    if (folder !== undefined) return { tree, folder };
    if (tree === dirname(tree)) return undefined;
  }
}

/** Returns the folder of git that work trees share. @param {string} folder that of one of them */
export function commonGitFolder(folder) {
  return attempt(() => realPath(resolve(folder, textOf(join(folder, "commondir"))))) ?? folder;
}

/** Returns the path in a file of git. @param {string} file */
const textOf = (file) =>
  readFileSync(file, "utf8")
    .replace(/^gitdir: /, "")
    .trim();

/**
 * Returns true if the index has a path, or something below it; also if the index cannot be understood.
 * @param {string} path
 * @param {string} index
 */
function isTracked(path, index) {
  const bytes = attempt(() => readFileSync(index));
  if (bytes === undefined) return false;
  const found = HASHES.map((hash) => isListed(path, bytes, hash));
  return found.includes(true) || !found.includes(false);
}

/**
 * Returns true if the entries of an index have a path; `undefined` if it has another form, or not these hashes.
 * @param {string} path
 * @param {Buffer} bytes
 * @param {number} hash
 */
function isListed(path, bytes, hash) {
  if (bytes.length < 12 || bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)];
  if (version !== 2 && version !== 3) return undefined;
  let at = 12;
  for (let entry = 0; entry < count; entry += 1) {
    const flags = at + BEFORE_HASH + hash;
    if (flags + 2 > bytes.length) return undefined;
    const start = flags + 2 + (bytes.readUInt16BE(flags) & EXTENDED ? 2 : 0);
    const end = bytes.indexOf(0, start);
    if (end <= start) return undefined;
    const name = bytes.toString("utf8", start, end);
    // A directory is an entry where the checkout is sparse.
    if (name === path || name.startsWith(`${path}/`) || (name.endsWith("/") && path.startsWith(name))) return true;
    at += Math.ceil((end - at + 1) / 8) * 8;
  }
  // The extensions, up to the hash at the end. The entries of a split index are in another file.
  while (at + 8 <= bytes.length - hash) {
    if (bytes.toString("latin1", at, at + 4) === "link") return undefined;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return at === bytes.length - hash ? false : undefined;
}

/**
 * @template T
 * @param {() => T} read
 * @returns {T | undefined}
 */
function attempt(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}
