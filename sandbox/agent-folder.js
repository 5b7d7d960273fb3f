// Folders that some limits keep unchanged even in a writable folder: those that the limits name, and the agent's own, which
// has the user's settings and limits, the code that the agent's program loads, and the sessions.
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { findHidden } from "./hidden-paths.js";
import { unlessFails } from "./plain.js";
import { turnsOf } from "./ways.js";
import { isBelow, realPath } from "./write-target.js";

/** The depth to which links are looked for in a folder, and in folders elsewhere to which they lead; the maximum number of links. */
const [DEPTH, MAX_LINKS] = [3, 10_000];

/** @typedef {{ path: string, name: string }} Folder the absolute path of a folder, and the name of the folder for users */

/** Returns the names of kept folders and of all that links in them lead to, and the turns of the ways there. @param {Folder[]} folders */
export function keptTogether(folders) {
  const all = folders.flatMap(({ path }) => [path, ...linksIn(path)]);
  const turns = new Set(all.flatMap(turnsOf));
  return { names: findHidden(all, "/").folders, turns: [...turns] };
}

/**
 * Throws if a file lies in a kept folder, or is what a link there leads to.
 * @param {Folder[]} folders
 * @param {string} place the path of the file, without links
 * @param {import("./hidden-paths.js").Stat} [stat] if the file exists
 */
export function checkKept(folders, place, stat) {
  for (const { path, name } of folders) {
    if (findHidden([path], "/").holds(place, stat)) throw new Error(`${place} is in ${name}, which may not be written`);
    if (findHidden(linksIn(path), "/").holds(place, stat))
      throw new Error(`${place} may not be written: a link in ${name} leads to it`);
  }
}

/** Returns the links in a folder, and those in the folders elsewhere to which these lead. @param {string} top absolute */
function linksIn(top) {
  /** @type {Set<string>} */
  const found = new Set();
  const entered = [unlessFails(() => realPath(top)) ?? top];
  const search = (/** @type {string} */ folder, depth = DEPTH) => {
    for (const entry of unlessFails(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
      if (entry.isDirectory() && depth > 1) search(join(folder, entry.name), depth - 1);
      if (!entry.isSymbolicLink()) continue;
      const path = join(folder, entry.name);
      if (found.add(path).size > MAX_LINKS) throw new Error(`there are more than ${MAX_LINKS} links in ${top}`);
      const target = unlessFails(() => realPath(path)); // A loop leads to nothing.
      if (target === undefined || entered.some((folder) => isBelow(target, folder))) continue;
      entered.push(target);
      search(target);
    }
  };
  search(top);
  return [...found];
}
