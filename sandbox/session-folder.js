// The folder for temporary files of a session's confined command lines, and the files beside it. The folder above is
// not visible in any sandbox.
import { createHash } from "node:crypto";
import { accessSync, chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { unlessFails } from "./plain.js";
import { realPath } from "./write-target.js";

/** The bit of a folder's mode by which others cannot replace what a user has in it. */
const STICKY = 0o1000;

/**
 * Paths of one session. All but the first belong to this process, whose sessions share them.
 * @typedef {object} SessionFolder
 * @property {string} temporary the folder for temporary files: it outlives this process, as the session does
 * @property {string} running a folder with the process ids of the command lines
 * @property {StandIns} standIns the stand-ins for hidden files and folders
 */

/** The users of the folder that belongs to this process. @type {Set<object>} */
const users = new Set();
/** True if the folders of this process are removed at its end. */
let removesAtExit = false;

/**
 * Returns the paths of a session, and creates the folders.
 * @param {string} session its id
 * @param {object} user uses them until `leaveFolder`
 * @returns {SessionFolder}
 */
export function sessionFolder(session, user) {
  const name = createHash("sha256").update(session).digest("hex").slice(0, 16);
  const parent = privateFolder();
  const temporary = join(parent, name);
  const { running, standIns } = ofProcess(parent);
  users.add(user);
  if (!removesAtExit) process.once("exit", () => removeOwn(running, standIns));
  removesAtExit = true;
  for (const folder of [temporary, running]) makePrivate(folder);
  makeUnreadable(standIns);
  return { temporary, running, standIns };
}

/** Returns the path of the folder of this user for temporary files that no command line writes. */
export const privatePath = () => join(temporaryFolder(), `pi-confined-${process.getuid?.() ?? 0}`);

/** Returns the folder of this user for temporary files that no command line writes, and creates it. */
export function privateFolder() {
  const folder = privatePath();
  makePrivate(folder);
  return folder;
}

/**
 * Returns the folder for temporary files of the environment; the system's, if that one does not exist, or is another
 * user's, who could replace what is in it.
 * @throws {Error} if neither can be used
 */
export function temporaryFolder() {
  const found = [tmpdir(), "/tmp"].find((path) => unlessFails(() => isUsable(path)));
  if (found !== undefined) return realPath(found);
  throw new Error(`${tmpdir()} and /tmp cannot be used for temporary files: set TMPDIR to a folder of this user`);
}

/** @param {string} path */
function isUsable(path) {
  const stat = statSync(path);
  accessSync(path, constants.W_OK | constants.X_OK);
  const isSafe = !process.getuid || [0, process.getuid()].includes(stat.uid) || (stat.mode & STICKY) !== 0;
  return stat.isDirectory() && isSafe;
}

/** @param {string} parent */
function ofProcess(parent) {
  const own = join(parent, String(process.pid));
  return { running: `${own}.running`, standIns: { file: `${own}.file`, folder: `${own}.folder` } };
}

/**
 * An empty file and an empty folder that nobody may read, nor `root` without capabilities.
 * @typedef {{ file: string, folder: string }} StandIns
 */

/** @param {StandIns} standIns */
function makeUnreadable({ file, folder }) {
  for (const path of [file, folder]) {
    const isFile = path === file;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const isUnreadable =
      stat &&
      (stat.mode & 0o777) === 0 &&
      (isFile ? stat.isFile() && stat.size === 0 && stat.nlink === 1 : stat.isDirectory());
    if (isUnreadable) continue;
    if (stat) remove(path);
    if (isFile) closeSync(openSync(path, "wx", 0o000));
    else mkdirSync(path, { mode: 0o000 });
  }
}

/**
 * Removes the folders of this process, if they have no other user.
 * @param {SessionFolder} folder
 * @param {object} user
 */
export function leaveFolder({ running, standIns }, user) {
  if (users.delete(user) && users.size === 0) removeOwn(running, standIns);
}

/** @param {string} running @param {StandIns} standIns */
function removeOwn(running, standIns) {
  for (const path of [running, standIns.file, standIns.folder]) remove(path);
}

/** Removes a file or folder, whatever its rights. @param {string} path */
function remove(path) {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) chmodSync(path, 0o700);
  rmSync(path, { recursive: true, force: true });
}

/** Creates a folder that is this user's alone. @param {string} folder */
export function makePrivate(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || (process.getuid && stat.uid !== process.getuid()))
    throw new Error(`${folder} is not a folder of this user`);
  chmodSync(folder, 0o700);
}
