// The workflows in the documentation of the reference, as they are installed with it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REFERENCE } from "./packages.mjs";

/**
 * The files that a page of the documentation shows: each a block of code below a heading or a bold line that begins with
 * its path. Of several for one path the first counts.
 *
 * @param {string} page
 * @returns {Record<string, string>} texts by path
 */
export function documentedFiles(page) {
  const text = readFileSync(join(REFERENCE, "docs", page), "utf8");
  const labelled = /^(?:### |\*\*\w+ )`([^`]+\.(?:yaml|md))`.*\n\n(?:(?!```|#).*\n\n)*```(?:yaml|markdown)\n([^]*?)^```$/gm;
  /** @type {Record<string, string>} */
  const files = {};
  for (const [, path, content] of text.matchAll(labelled)) files[path.replace("~/.pi/agent/workflows/", "")] ??= content;
  return files;
}

/**
 * The files below a folder, by their paths from there.
 * @param {Record<string, string>} files
 * @param {string} folder
 */
export function below(files, folder) {
  const inside = Object.entries(files).filter(([path]) => path.startsWith(folder));
  return Object.fromEntries(inside.map(([path, text]) => [path.slice(folder.length), text]));
}

/**
 * The command names of the workflows among files.
 * @param {Record<string, string>} files
 */
export function commandNames(files) {
  return Object.entries(files).flatMap(([path, text]) => {
    const name = path.endsWith("workflow.yaml") && /^commandName: "?([\w-]+)/m.exec(text);
    return name ? [name[1]] : [];
  });
}
