// The folders that no agent of a trial may read: the tasks, their history and copies in git, and the results.
import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

import { commonGitFolder, isBelow, unlessFails, untrusted, workTreeAt } from "@pi-workflows/pi-workflows/sandbox";

/** The maximum size of a file of git with a path, in bytes. */
const MAX_PATH = 10_000;

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
    return readdirSync(folder).flatMap((name) => {
      const tree = unlessFails(() => String(untrusted.readFile(common, `worktrees/${name}/gitdir`, MAX_PATH)));
      return tree === undefined ? [] : [dirname(resolve(folder, name, tree.trim()))];
    });
  } catch {
    // The folder of git has no linked work trees.
    return [];
  }
}

/** @param {string} path */
const existing = (path) => (statSync(path, { throwIfNoEntry: false })?.isDirectory() ? [realpathSync(path)] : []);
