// The folder for temporary files of a session's confined command lines, and the files beside it. The folder above is
// not visible in any sandbox.
import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { unlessFails } from "./plain.js";
import { self, state } from "./processes.js";
import { realPath } from "./write-target.js";

/** The bit of a folder's mode by which others cannot replace what a user has in it. */
const STICKY = 0o1000;

/**
 * Paths of one session.
 * @typedef {object} SessionFolder
 * @property {string} temporary the folder for temporary files: it outlives this process, as the session does
 * @property {string} running a folder with the process ids of the command lines of this process
 */

/** Returns the paths of a session, and creates the folders. @param {string} session its id @returns {SessionFolder} */
export function sessionFolder(session) {
  const name = createHash("sha256").update(session).digest("hex").slice(0, 16);
  const temporary = join(privateFolder(), name);
  const all = `${temporary}.running`;
  const { pid, start, namespace } = self();
  const running = join(all, [pid, start, namespace].join());
  for (const folder of [temporary, all, running]) makePrivate(folder);
  for (const other of readdirSync(all)) {
    const [pid, start, ...namespace] = other.split(",");
    const note = { pid: Number(pid), start: start || undefined, namespace: namespace.join() };
    if (state(note) === "dead") rmSync(join(all, other), { recursive: true, force: true });
  }
  return { temporary, running };
}

/**
 * Returns the folder of this user for temporary files that no command line sees, and creates it. It is one for all processes
 * of the user, whatever their TMPDIR, unless none can be made in `/tmp`.
 */
export const privateFolder = () =>
  unlessFails(() => (isUsable("/tmp") ? privateIn(realPath("/tmp")) : undefined)) ?? privateIn(temporaryFolder());

/** @param {string} temporary */
function privateIn(temporary) {
  const folder = join(temporary, `pi-confined-${process.getuid?.() ?? 0}`);
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

/**
 * An empty file and an empty folder that nobody may read, nor `root` without capabilities: the stand-ins for what is hidden.
 * @typedef {{ file: string, folder: string }} StandIns
 */

/** Returns the stand-ins of this user, for all processes, and creates them. @returns {StandIns} */
export function standIns() {
  const [file, folder] = ["hidden.file", "hidden.folder"].map((name) => join(privateFolder(), name));
  for (const path of [file, folder]) {
    const isFile = path === file;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const isUnreadable =
      stat &&
      (stat.mode & 0o777) === 0 &&
      (isFile ? stat.isFile() && stat.size === 0 && stat.nlink === 1 : stat.isDirectory());
    if (isUnreadable) continue;
    if (stat?.isDirectory()) chmodSync(path, 0o700);
    rmSync(path, { recursive: true, force: true });
    try {
      if (isFile) closeSync(openSync(path, "wx", 0o000));
      else mkdirSync(path, { mode: 0o000 });
    } catch (/** @type {any} */ error) {
      // Another process was first.
      if (error.code !== "EEXIST") throw error;
    }
  }
  return { file, folder };
}

/** Creates a folder that is this user's alone. @param {string} folder */
export function makePrivate(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || (process.getuid && stat.uid !== process.getuid()))
    throw new Error(`${folder} is not a folder of this user`);
  chmodSync(folder, 0o700);
}
