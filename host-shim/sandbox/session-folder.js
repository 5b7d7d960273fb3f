// The folder for temporary files of a session's confined command lines, and what is stored beside it. The folder above is not
// visible in any sandbox.
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { realPath } from "./write-target.js";

/**
 * Paths of one session. All but the first belong to this process.
 * @typedef {object} SessionFolder
 * @property {string} temporary the folder for temporary files: it outlives this process, as the session does
 * @property {string} running a folder with the process ids of the command lines
 */

/**
 * Returns the paths of a session, and creates the folders.
 * @param {string} session its id
 * @returns {SessionFolder}
 */
export function sessionFolder(session) {
  const name = createHash("sha256").update(session).digest("hex").slice(0, 16);
  const parent = join(realPath(tmpdir()), `pi-confined-${process.getuid?.() ?? 0}`);
  const temporary = join(parent, name);
  const running = `${temporary}.${process.pid}.running`;
  for (const folder of [parent, temporary, running]) makePrivate(folder);
  return { temporary, running };
}

/**
 * Removes what belongs to this process.
 * @param {SessionFolder} folder
 */
export function removeOwn({ running }) {
  rmSync(running, { recursive: true, force: true });
}

/** @param {string} folder */
function makePrivate(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || (process.getuid && stat.uid !== process.getuid())) throw new Error(`${folder} is not a folder of this user`);
  chmodSync(folder, 0o700);
}
