// Removes the folders of old runs: `pi-workflows runs --clean 30d`.
import { lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";

import { isName, readManifest } from "#loader";
import { untrusted } from "#sandbox";

import { saysYes } from "../headless/questions.js";
import { Failure, inWords } from "../words.js";
import { counted, day } from "./figures.js";

const PLACE = readManifest(new URL("../../package.json", import.meta.url)).folders?.path ?? "";
const CONFIG = ".pi";

/** @typedef {import("#sandbox").Place} Place */

/**
 * A folder of a run, with the time of its newest change.
 * @typedef {{ name: string, changedMs: number, files: number }} Old
 */

/**
 * Removes the folders of runs in the project in which nothing was changed since a time, if the user says yes. Removes
 * only real folders in this place with the name of a run's folder.
 * @param {number} sinceMs in milliseconds since 1970
 * @returns {Promise<{ output: string, problems: string[], status: number }>}
 */
export async function cleanRuns(sinceMs) {
  const old = inPlace((place) => oldIn(place, sinceMs)) ?? [];
  if (old.length === 0)
    return { output: `No folder of a run in ${CONFIG}/${PLACE} is that old.`, problems: [], status: 0 };
  const lines = old.map(({ name, changedMs, files }) => `  ${name}  ${day(changedMs)}  ${counted(files, "file")}`);
  const them = old.length === 1 ? "this folder" : `these ${old.length} folders`;
  const heading = `In ${CONFIG}/${PLACE}, with the day of the newest change:`;
  const question = [heading, ...lines, `Remove ${them}? [y/N] `].join("\n");
  if (!(await saysYes(question))) return { output: "Nothing is removed.", problems: [], status: 0 };
  /** @type {string[]} */
  const problems = [];
  let removed = 0;
  // Much time may have passed until the answer.
  inPlace((place) => {
    const names = new Set(old.map(({ name }) => name));
    for (const { name } of oldIn(place, sinceMs).filter(({ name }) => names.has(name))) {
      try {
        remove(place, name);
        removed += 1;
      } catch (error) {
        problems.push(`${name} is not removed: ${inWords(error)}`);
      }
    }
  });
  return {
    output: `${removed} ${removed === 1 ? "folder is" : "folders are"} removed.`,
    problems,
    status: problems.length > 0 ? 2 : 0,
  };
}

/**
 * Calls a function with the place; `undefined` if the place does not exist.
 * @template T
 * @param {(place: Place) => T} work
 */
function inPlace(work) {
  const isThere = (/** @type {string} */ path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (!isThere(CONFIG)) return undefined;
  try {
    return untrusted.inFolder(".", CONFIG, (config) =>
      isThere(config.at(PLACE)) ? config.inside(PLACE, work) : undefined,
    );
  } catch (error) {
    throw new Failure(inWords(error));
  }
}

/**
 * @param {Place} place
 * @param {number} sinceMs
 * @returns {Old[]}
 */
function oldIn(place, sinceMs) {
  const entries = readdirSync(place.at("."), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && isName(entry.name));
  return folders.flatMap(({ name }) => {
    try {
      const { changedMs, files } = place.inside(name, lookThrough);
      return changedMs < sinceMs ? [{ name, changedMs, files }] : [];
    } catch {
      // The age of the folder is not known.
      return [];
    }
  });
}

/**
 * Returns the time of the newest change in a folder, and the number of its files.
 * @param {Place} folder
 * @returns {{ changedMs: number, files: number }}
 */
function lookThrough(folder) {
  let [changedMs, files] = [lstatSync(folder.at(".")).mtimeMs, 0];
  for (const entry of readdirSync(folder.at("."), { withFileTypes: true })) {
    const found = entry.isDirectory()
      ? folder.inside(entry.name, lookThrough)
      : { changedMs: lstatSync(folder.at(entry.name)).mtimeMs, files: 1 };
    changedMs = Math.max(changedMs, found.changedMs);
    files += found.files;
  }
  return { changedMs, files };
}

/**
 * Removes a folder with everything in it. A link is removed, not its target.
 * @param {Place} above
 * @param {string} name
 */
function remove(above, name) {
  above.inside(name, (folder) => {
    for (const entry of readdirSync(folder.at("."), { withFileTypes: true })) {
      if (entry.isDirectory()) remove(folder, entry.name);
      else unlinkSync(folder.at(entry.name));
    }
  });
  rmdirSync(above.at(name));
}
