// The ways to paths: the links and folders on the way to one, and the folders that keep from reaching one.
import { accessSync, constants, lstatSync, readlinkSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

import { unlessFails } from "./plain.js";
import { MAX_LINKS } from "./write-target.js";

/** The number of looks at a folder that cannot be reached. */
const LOOKS = 20;
/** The bits of a folder's mode by which its owner searches and writes it. */
const OPEN = 0o300;

/**
 * Returns the places at which this user could lead a path elsewhere: the links on the way to the path, each with its folder
 * without links, and the first part that does not exist. A folder is none of them: a mount on what is in it keeps its name.
 * @param {string} path absolute
 */
export const turnsOf = (path) => follow(path, statOf).turns.filter(isReplaceable);

/**
 * Follows a path as the kernel does. Returns the links and the part that is not there, and the folder without this part.
 * @param {string} path absolute
 * @param {(path: string) => import("node:fs").Stats | undefined} look
 * @returns {{ turns: string[], folder?: string }}
 */
function follow(path, look) {
  /** @type {string[]} */
  const turns = [];
  let folder = "/";
  for (let ahead = path.split("/").filter(Boolean); ahead.length > 0;) {
    const next = join(folder, ahead[0]);
    const stat = look(next);
    ahead = ahead.slice(1);
    if (stat?.isDirectory()) folder = next;
    else if (stat?.isSymbolicLink() && turns.push(next) <= MAX_LINKS) {
      const target = readlinkSync(next);
      if (target.includes("\uFFFD")) throw new Error(`the link ${next} leads to a name that is not UTF-8`);
      if (isAbsolute(target)) folder = "/";
      ahead = [...target.split("/").filter(Boolean), ...ahead];
    } else if (!stat || ahead.length > 0) return { turns: [...turns, next], folder };
  }
  return { turns };
}

/** Returns true if this user can replace what is at a path: its folder is the user's, or can be written. @param {string} path */
export const isReplaceable = (path) =>
  unlessFails(() => {
    const folder = dirname(path);
    if (statSync(folder).uid !== process.getuid?.()) accessSync(folder, constants.W_OK);
    return true;
  }) === true;

/**
 * Throws if a path could not be reached or created because of a folder of this user: a command that runs beside could open
 * the folder, and nothing in it would be covered.
 * @param {unknown} error
 * @param {string} path absolute
 */
export function refuseOpenable(error, path) {
  if (/** @type {NodeJS.ErrnoException} */ (error)?.code === "EACCES" && !isClosedByOthers(path))
    throw new Error(
      `a folder above ${path} cannot be searched or written, so its limits cannot be carried out. Open it: chmod u+wx`,
    );
}

/**
 * Returns true if there is something at a path that can be reached.
 * @param {string} path absolute
 * @throws {Error} if a command that runs beside could make it reachable
 */
export const isThere = (path) => statOf(path) !== undefined;

/** @param {string} path */
function statOf(path) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    refuseOpenable(error, path);
    return undefined;
  }
}

/**
 * Returns true if no command can open the folder that keeps from reaching a path: it belongs to another user, or its
 * file system refuses, not its mode. Several looks, since a command may open and close a folder all the time.
 * @param {string} path absolute
 */
function isClosedByOthers(path) {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const { folder } = follow(path, (at) => unlessFails(() => lstatSync(at)));
    const stat = folder === undefined ? undefined : unlessFails(() => statSync(folder));
    if (stat && stat.uid !== process.getuid?.()) return true;
    if (!stat || (stat.mode & OPEN) !== OPEN) return false;
  }
  return true;
}
