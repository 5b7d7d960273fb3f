// Resolves the path of a file that pi's `edit` or `write` would write.
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Maximum number of links to nothing that are followed one after another, as in the Linux kernel. */
const MAX_LINKS = 40;

/** The blanks that pi takes for a space. */
const UNICODE_SPACES = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;

/** True on systems whose file names usually differ in more than case. */
const CASE_MATTERS = process.platform !== "darwin" && process.platform !== "win32";

/**
 * Returns the file that pi's `edit` and `write` would write for their argument `path`, as the interface describes it.
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
 * Returns the absolute path of an argument `path` of pi's tools.
 * @param {string} path
 * @param {string} cwd
 */
export function absolutePath(path, cwd) {
  if (path.includes("\0")) throw new Error("The path contains a NUL character.");
  const argument = normalized(path);
  return isAbsolute(argument) ? resolve(argument) : resolve(cwd, argument);
}

/**
 * Expands a path as pi does.
 * @param {string} path
 */
function normalized(path) {
  let argument = path.replace(UNICODE_SPACES, " ");
  if (argument.startsWith("@")) argument = argument.slice(1);
  if (process.platform === "win32") argument = windowsPath(argument);
  if (argument === "~") return homedir();
  if (argument.startsWith("~/") || (process.platform === "win32" && argument.startsWith("~\\")))
    return join(homedir(), argument.slice(2));
  return argument.startsWith("file://") ? fileURLToPath(argument) : argument;
}

/**
 * Converts a path of Git Bash, MSYS, Cygwin or WSL that names a drive.
 * @param {string} path
 */
function windowsPath(path) {
  const [, drive, rest = ""] =
    (!path.startsWith("//") && !path.includes("\\") && path.match(/^\/(?:mnt\/|cygdrive\/)?([a-z])(?:\/(.*))?$/i)) ||
    [];
  return drive ? `${drive.toUpperCase()}:\\${rest.replaceAll("/", "\\")}` : path;
}

/**
 * Returns the path to which all links lead. Components that do not exist are kept; a link to nothing is followed,
 * because a write through it creates its target.
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
  const target = linkTarget(join(parent, basename(path)));
  if (target === undefined) return join(parent, basename(path));
  if (links >= MAX_LINKS) throw new Error("Too many links.");
  return realPath(resolve(parent, target), links + 1);
}

/**
 * @param {string} path
 * @returns {string | undefined}
 */
function linkTarget(path) {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry?.isSymbolicLink() ? readlinkSync(path) : undefined;
}

/** @param {string} path */
const slashes = (path) => (sep === "/" ? path : path.replaceAll(sep, "/"));

/** @param {string} a @param {string} b */
const isSame = (a, b) => (CASE_MATTERS ? a === b : a.toLowerCase() === b.toLowerCase());

/**
 * Returns true for the directory itself and everything below it.
 * @param {string} path
 * @param {string} directory
 */
export function isBelow(path, directory) {
  const rest = relative(directory, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}
