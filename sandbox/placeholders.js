// Files and folders that are created because a confined command line may write them, or may not read them: only what
// exists can be mounted. There is one object, `placeholders`: several command lines, of several sessions in this
// process, may rest on one placeholder, which is removed after the last of these command lines.
import { closeSync, lstatSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, dirname } from "node:path";

import { createFile, inFolder, makeFolder } from "./untrusted-files.js";

/**
 * A created file or folder, with its time of creation, and the holders that rest on it.
 * @typedef {{ path: string, directory: boolean, created: bigint, holders: Set<object> }} Placeholder
 */

export class Placeholders {
  /** By file or folder, which may have several paths; outermost first. @type {Map<string, Placeholder>} */
  #created = new Map();

  /**
   * Creates a file or folder, and the folders above it, unless it exists. An existing placeholder stays until
   * `release`.
   * @param {string} path absolute; a folder ends with `/`
   * @param {object} holder
   */
  create(path, holder) {
    const directory = path.endsWith("/");
    const name = directory ? path.slice(0, -1) : path;
    if (name === "") return;
    this.create(`${dirname(name).replace(/\/$/, "")}/`, holder);
    const found = lstatSync(name, { throwIfNoEntry: false, bigint: true });
    if (found) {
      this.#created.get(idOf(found))?.holders.add(holder);
      return;
    }
    // No link is followed: another command line may put one on the way.
    if (directory) makeFolder("/", name);
    else closeSync(createFile("/", name));
    const stat = lstatSync(name, { bigint: true });
    this.#created.set(idOf(stat), { path: name, directory, created: stat.mtimeNs, holders: new Set([holder]) });
  }

  /**
   * Removes the created files and folders that only this holder rested on, if they are still empty, but no file that
   * was written or touched.
   * @param {object} holder
   */
  release(holder) {
    for (const [id, { path, directory, created, holders }] of [...this.#created].reverse()) {
      if (!holders.delete(holder) || holders.size > 0) continue;
      this.#created.delete(id);
      try {
        inFolder("/", dirname(path), (folder) => {
          const name = folder.at(basename(path));
          const stat = lstatSync(name, { bigint: true });
          if (idOf(stat) !== id) return;
          if (directory) rmdirSync(name);
          else if (stat.size === 0n && stat.mtimeNs === created) unlinkSync(name);
        });
      } catch {
        // The placeholder was used, or is gone.
      }
    }
  }
}

/** The placeholders of this process. */
export const placeholders = new Placeholders();

/** @param {import("node:fs").BigIntStats} stat */
const idOf = ({ dev, ino }) => `${dev}:${ino}`;
