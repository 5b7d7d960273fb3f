// Writes the files of a new workflow.
import { lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { Failure } from "./words.js";

/**
 * Makes a folder with files in it, all or none. An existing folder is not changed.
 *
 * @param {string} folder
 * @param {{ path: string, text: string }[]} files
 * @returns {string[]} the paths of the files
 */
export function writeNew(folder, files) {
  if (lstatSync(folder, { throwIfNoEntry: false })) throw new Failure(`${folder} is there already.`);
  makeFolder(dirname(folder));
  mkdirSync(folder);
  try {
    return files.map(({ path, text }) => {
      makeFolder(dirname(join(folder, path)));
      writeFileSync(join(folder, path), text, { flag: "wx" });
      return join(folder, path);
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Makes a folder and those above it. Not with `recursive`: Node retries forever where a folder is missing and cannot be
 * made, as in `/proc`.
 *
 * @param {string} folder
 */
function makeFolder(folder) {
  if (statSync(folder, { throwIfNoEntry: false })) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  mkdirSync(folder);
}
