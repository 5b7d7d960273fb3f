// Lines in `info/exclude` of a folder of git, by which `git add` passes over names: a block at the end of the file. All other
// bytes stay as they are, where they are.
import { closeSync, constants, fstatSync, ftruncateSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

import { writableGitFolders } from "./git-folders.js";
import { unlessFails } from "./plain.js";
import { inFolder, makeFolder, openFile, openToAppend, readFile, readToEnd } from "./untrusted-files.js";
import { isBelow } from "./write-target.js";

/** A folder of git, its work tree, and the line for a file. @typedef {{ folder: string, tree: string, line: string }} Exclude */

/** The first and the last line of the block. */
const [FIRST, LAST] = ["# Hidden from commands that run now:", "# Until here."];
const BLOCK = new RegExp(`\n${FIRST}\n(?:/.*\n)*${LAST}\n`, "g");
/** The file, in a folder of git. */
const LIST = "info/exclude";
const MAX_SIZE = 2 ** 20;

/**
 * Returns the line for a file, and where it belongs; `undefined` outside of work trees, and if the folder of git does not
 * name the work tree in turn.
 * @param {string} path absolute, without links
 * @returns {Exclude | undefined}
 */
export function excludeOf(path) {
  const { tree = "", folders: [folder] = [] } = writableGitFolders(dirname(path)) ?? {};
  if (folder === undefined || isBelow(path, folder) || /[\r\n]/.test(path)) return undefined;
  return { folder, tree, line: `/${relative(tree, path).replace(/[\\*?[\] ]/g, "\\$&")}` };
}

/**
 * Returns the lines of the block, with the path of each one's file.
 * @param {Pick<Exclude, "folder" | "tree">} exclude
 */
export function excluded({ folder, tree }) {
  const text = unlessFails(() => readFile("/", join(folder, LIST), MAX_SIZE).toString()) ?? "";
  const lines = [...text.matchAll(BLOCK)].flatMap(([block]) =>
    block.split("\n").filter((line) => line.startsWith("/")),
  );
  return lines.map((line) => ({ line, path: join(tree, line.replace(/\\(.)/g, "$1")) }));
}

/**
 * Writes the block with these lines, or removes the block. A file that cannot be written, or is a link, stays as it is.
 * No link is followed, since a command line may have put one in the place of the folder.
 * @param {string} folder of git, without links
 * @param {string[]} lines
 */
export const setExcluded = (folder, lines) =>
  unlessFails(() => {
    const path = join(folder, LIST);
    if (lines.length > 0) {
      makeFolder("/", dirname(path));
      closeSync(openToAppend("/", path));
    }
    const descriptor = openFile("/", path, { flags: constants.O_RDWR });
    try {
      const text = readToEnd(descriptor, fstatSync(descriptor).size, MAX_SIZE).toString("latin1");
      const block = Buffer.from(["", FIRST, ...lines, LAST, ""].join("\n")).toString("latin1");
      const next = text.replace(BLOCK, "") + (lines.length > 0 ? block : "");
      if (next === text) return;
      let same = 0;
      while (same < next.length && text[same] === next[same]) same += 1;
      if (same < next.length) writeSync(descriptor, next.slice(same), same, "latin1");
      if (next.length < text.length) ftruncateSync(descriptor, next.length);
      if (next === "") inFolder("/", dirname(path), (info) => rmSync(info.at(basename(path))));
    } finally {
      closeSync(descriptor);
    }
  });
