// Folders that some limits keep unchanged even in a writable folder: those that the limits name, and the agent's own, which
// has the user's settings and limits, the code that the agent's program loads, and the sessions.
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, parse, resolve, sep } from "node:path";

import { findHidden } from "./hidden-paths.js";
import { isBelow, realPath } from "./write-target.js";

/**
 * The names and links of a folder that are kept from writing, and the check for files in it.
 * @typedef {{ names: string[], links: string[], check: (place: string, stat?: import("./hidden-paths.js").Stat) => void }} Kept
 */

/**
 * Returns the names of the folder, the links that lead to it, and a check that throws if a file lies in it.
 * @param {string} path its path, absolute
 * @param {string} [name] its name for users
 * @returns {Kept}
 */
export function agentFolder(path, name = "the agent's folder") {
  const places = findHidden([path], dirname(path));
  const check = (/** @type {string} */ place, /** @type {import("./hidden-paths.js").Stat | undefined} */ stat) => {
    if (places.holds(place, stat)) throw new Error(`${place} is in ${name}, which may not be written`);
  };
  return { names: places.folders, links: linksTo(path), check };
}

/**
 * Returns several kept folders as one; `undefined` without any.
 * @param {Kept[]} all
 * @returns {Kept | undefined}
 */
export function keptTogether(all) {
  if (all.length === 0) return undefined;
  return {
    names: all.flatMap(({ names }) => names),
    links: all.flatMap(({ links }) => links),
    check: (place, stat) => all.forEach(({ check }) => check(place, stat)),
  };
}

/**
 * Returns the links on the way to a path, each with its folder without links.
 * @param {string} path absolute
 * @returns {string[]}
 */
function linksTo(path) {
  const { root } = parse(path);
  let at = root;
  const links = [];
  for (const part of path.slice(root.length).split(sep).filter(Boolean)) {
    const next = join(at, part);
    if (lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink())
      links.push(next, ...linksTo(resolve(at, readlinkSync(next))));
    at = realPath(next);
  }
  return links;
}

/**
 * Returns the writable paths that do not lie in a kept folder.
 * @param {string[]} writable
 * @param {Kept | undefined} kept
 */
export function outside(writable, kept) {
  return writable.filter((path) => !kept?.names.some((name) => isBelow(path, name)));
}
