// Finds files that have other names outside of some folders: a write through one of these names would change the others.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the files in the given files and folders that have a hard link outside of them. Links of one file that all lie
 * inside are not returned.
 *
 * @param {string[]} paths absolute, none below another
 */
export function linkedOutside(paths) {
  /** The files with several names. @type {Map<string, { missing: number, paths: string[] }>} */
  const files = new Map();
  const folders = [...paths];
  for (const path of paths) addFile(files, path);
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (!entry.isSymbolicLink()) addFile(files, path);
    }
  }
  return [...files.values()].filter(({ missing }) => missing > 0).flatMap(({ paths }) => paths);
}

/**
 * @param {Map<string, { missing: number, paths: string[] }>} files
 * @param {string} path
 */
function addFile(files, path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat || stat.isDirectory() || stat.nlink < 2) return;
  const id = `${stat.dev}:${stat.ino}`;
  const file = files.get(id) ?? { missing: stat.nlink, paths: [] };
  file.missing -= 1;
  file.paths.push(path);
  files.set(id, file);
}

/** @param {string} folder */
function entriesOf(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === "ENOTDIR" || code === "ENOENT") return [];
    throw error; // Files in a folder that cannot be read can still be written.
  }
}
