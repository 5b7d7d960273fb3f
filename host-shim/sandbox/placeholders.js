// Files and folders that are created because a confined command line may write them: only what exists can be mounted.
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, rmdirSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";

export class Placeholders {
  /** The created files and folders, outermost first, each with its time of creation. @type {{ path: string, directory: boolean, created: number }[]} */
  #created = [];

  /**
   * Creates a file or folder, and the folders above it, unless it exists.
   * @param {string} path absolute; a folder ends with `/`
   */
  create(path) {
    const directory = path.endsWith("/");
    const name = directory ? path.slice(0, -1) : path;
    if (name === "" || existsSync(name)) return;
    this.create(`${dirname(name).replace(/\/$/, "")}/`);
    if (directory) mkdirSync(name);
    else closeSync(openSync(name, "wx"));
    this.#created.push({ path: name, directory, created: lstatSync(name).mtimeMs });
  }

  /** Removes the created files and folders that are still empty, but no file that was written or touched. */
  remove() {
    for (const { path, directory, created } of this.#created.splice(0).reverse()) {
      try {
        if (directory) rmdirSync(path);
        else if (isUntouched(path, created)) unlinkSync(path);
      } catch {
        // It was used, or is gone.
      }
    }
  }
}

/** @param {string} path @param {number} created */
function isUntouched(path, created) {
  const { size, mtimeMs } = lstatSync(path);
  return size === 0 && mtimeMs === created;
}
