// The folders that no agent of a trial may read: the tasks, their history and copies in git, and the results.
import { readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

import { commonGitFolder, isBelow, workTreeAt } from "../../host-shim/sandbox/index.js";

/**
 * Returns the folders to hide, absolute and without links, none below another.
 * @param {string} tasks the folder of tasks
 * @param {string[]} others more folders
 * @param {string[]} addresses the repositories of tasks, of which some may be folders
 */
export function hiddenFolders(tasks, others, addresses) {
  const repositories = addresses.filter(isAbsolute).flatMap(existing);
  const all = [tasks, ...others.flatMap(existing), ...repositories, ...[tasks, ...repositories].flatMap(historyOf)];
  return [...new Set(all)].filter((path) => !all.some((other) => other !== path && isBelow(path, other)));
}

/**
 * Returns git's folders of the work tree that contains a folder, and this folder in its other work trees.
 * @param {string} folder
 */
function historyOf(folder) {
  const found = workTreeAt(folder);
  if (found === undefined) return [];
  const common = commonGitFolder(found.folder);
  const main = basename(common) === ".git" ? [dirname(common)] : [];
  const others = [...main, ...linkedTrees(common)].filter((tree) => tree !== found.tree);
  return [common, found.folder, ...others.map((tree) => join(tree, relative(found.tree, folder)))].flatMap(existing);
}

/** @param {string} common the folder of git that work trees share */
function linkedTrees(common) {
  const folder = join(common, "worktrees");
  try {
    return readdirSync(folder).map((name) =>
      dirname(resolve(folder, name, readFileSync(join(folder, name, "gitdir"), "utf8").trim())),
    );
  } catch {
    // There are none.
    return [];
  }
}

/** @param {string} path */
const existing = (path) => (statSync(path, { throwIfNoEntry: false })?.isDirectory() ? [realpathSync(path)] : []);
