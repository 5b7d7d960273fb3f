// Resolves the paths that an agent gives its tools.
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { unlessFails } from "./plain.js";

/** Maximum number of links to nothing that are followed one after another, as in the Linux kernel. */
export const MAX_LINKS = 40;

/** The blanks that count as a space. */
const UNICODE_SPACES = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;

/** A text without characters that have more than one form in Unicode. */
const ASCII = /^[\0-\x7f]*$/;

/** True on systems whose file names usually differ in more than case. */
const CASE_MATTERS = process.platform !== "darwin" && process.platform !== "win32";

/**
 * Returns the file that a tool would write for a path of the agent.
 * @param {string} path
 * @param {string} cwd
 * @returns {import("./index.js").WriteTarget}
 */
export function resolveWrite(path, cwd) {
  const absolute = absolutePath(path, cwd);
  const base = isAbsolute(normalized(path)) ? parse(absolute).root : cwd;
  // `~` was expanded by now: the home directory may be reached through a link.
  const start = isBelow(absolute, homedir()) && /^@?~/.test(path) ? homedir() : base;
  const real = realPath(absolute);
  const unlinked = join(realPath(start), relative(start, absolute));
  return { path: slashes(real), linked: !isSame(real, unlinked) };
}

/**
 * Returns the absolute path of a path of the agent.
 * @param {string} path
 * @param {string} cwd
 */
export function absolutePath(path, cwd) {
  if (path.includes("\0")) throw new Error("The path contains a NUL character.");
  const argument = normalized(path);
  return isAbsolute(argument) ? resolve(argument) : resolve(cwd, argument);
}

/** Expands a path: `~` is the home, a leading `@` is left out, and `file://` is an address. @param {string} path */
function normalized(path) {
  let argument = path.replace(UNICODE_SPACES, " ");
  if (argument.startsWith("@")) argument = argument.slice(1);
  if (process.platform === "win32") argument = windowsPath(argument);
  if (argument === "~") return homedir();
  if (argument.startsWith("~/") || (process.platform === "win32" && argument.startsWith("~\\")))
    return join(homedir(), argument.slice(2));
  return argument.startsWith("file://") ? fileURLToPath(argument) : argument;
}

/** Converts a path of Git Bash, MSYS, Cygwin or WSL that names a drive. @param {string} path */
function windowsPath(path) {
  const [, drive, rest = ""] =
    (!path.startsWith("//") && !path.includes("\\") && path.match(/^\/(?:mnt\/|cygdrive\/)?([a-z])(?:\/(.*))?$/i)) ||
    [];
  return drive ? `${drive.toUpperCase()}:\\${rest.replaceAll("/", "\\")}` : path;
}

/**
 * Returns the path to which all links lead. Parts that do not exist are kept, unless there is one with the same
 * characters in another form of Unicode; a link to nothing is followed, because a write through it creates its target.
 * @param {string} path an absolute path
 * @param {number} [links] the number of links to nothing that were followed
 * @returns {string}
 */
export function realPath(path, links = 0) {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(path) === path) throw error;
  }
  const parent = realPath(dirname(path), links);
  const [name] = namesLike(parent, basename(path));
  const target = linkTarget(join(parent, name));
  if (target === undefined) return name === basename(path) ? join(parent, name) : realPath(join(parent, name), links);
  if (links >= MAX_LINKS) throw new Error("Too many links.");
  return realPath(resolve(parent, target), links + 1);
}

/**
 * Returns the paths in the file system whose names differ from those of a path in their form of Unicode at most; the
 * path itself if there is no such path.
 * @param {string} path absolute
 */
export function spellings(path) {
  if (ASCII.test(path)) return [path];
  const { root } = parse(path);
  return path
    .slice(root.length)
    .split(sep)
    .filter(Boolean)
    .reduce(
      (folders, part) => folders.flatMap((folder) => namesLike(folder, part).map((name) => join(folder, name))),
      [root],
    );
}

/**
 * Returns the names in a folder that differ from a name in their form of Unicode at most, the name itself first; only
 * the name itself if there is no other.
 * @param {string} folder
 * @param {string} name
 */
export function namesLike(folder, name) {
  if (ASCII.test(name)) return [name];
  const form = name.normalize();
  /** @type {string[]} */
  let names = [];
  try {
    names = readdirSync(folder).filter((other) => other.normalize() === form);
  } catch (error) {
    // The folder does not exist, or cannot be read. A command beside could make a folder of this user readable again.
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === "EACCES" && unlessFails(() => statSync(folder))?.uid === process.getuid?.()) throw error;
  }
  if (names.length === 0 || names.includes(name)) return [name, ...names.filter((other) => other !== name)];
  return names;
}

/** @param {string} path @returns {string | undefined} */
function linkTarget(path) {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry?.isSymbolicLink() ? readlinkSync(path) : undefined;
}

/** @param {string} path */
const slashes = (path) => (sep === "/" ? path : path.replaceAll(sep, "/"));

/** @param {string} a @param {string} b */
const isSame = (a, b) => {
  const [one, other] = [a.normalize(), b.normalize()];
  return CASE_MATTERS ? one === other : one.toLowerCase() === other.toLowerCase();
};

/**
 * Returns true for the directory itself and everything below it.
 * @param {string} path
 * @param {string} directory
 */
export function isBelow(path, directory) {
  const rest = relative(directory, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

/**
 * Returns true if a path also leads to the same file by a name in another case: its file system does not tell them apart.
 * @param {string} path absolute, without links
 * @param {Map<string, boolean>} [seen] the paths that were looked at before
 */
export function hasOtherCase(path, seen = new Map()) {
  for (const at of upwards(path)) {
    const known = seen.get(at) ?? unlessFails(() => isInOtherCase(at)) === true;
    seen.set(at, known);
    if (known) return true;
  }
  return false;
}

/** @param {string} path */
function isInOtherCase(path) {
  const [folder, name] = [dirname(path), basename(path)];
  const other = name.toUpperCase() === name ? name.toLowerCase() : name.toUpperCase();
  const found = other === name ? undefined : lstatSync(join(folder, other), { throwIfNoEntry: false, bigint: true });
  if (found === undefined) return false;
  const { dev, ino } = lstatSync(path, { bigint: true });
  // Otherwise the other name is a hard link, which is found as one.
  return found.dev === dev && found.ino === ino && !readdirSync(folder).includes(other);
}

/** Returns a path and the folders that contain it, the innermost first. @param {string} path absolute */
export function* upwards(path) {
  for (let at = path; ; at = dirname(at)) {
    yield at;
    if (at === dirname(at)) return;
  }
}
