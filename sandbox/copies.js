// Copies of folders in which an agent can write.
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";

import { worded } from "./untrusted-files.js";

/** @typedef {import("./untrusted-files.js").Place} Place */

/** The maximum number of files and folders that are copied, and their size together, in bytes. */
const MAX = { entries: 10_000, bytes: 256 * 2 ** 20 };

const NO_LINKS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Copies the files and folders in a folder; no links, devices and pipes.
 * @param {Place} from
 * @param {Place} to an empty folder
 */
export function copyFolder(from, to) {
  const left = { ...MAX };
  /** @param {Place} source @param {Place} target */
  const copy = (source, target) => {
    for (const entry of readdirSync(source.at("."), { withFileTypes: true })) {
      const { name } = entry;
      if (!entry.isDirectory() && !entry.isFile()) continue;
      left.entries -= 1;
      if (left.entries < 0) throw new Error(`${source.path}: its folder has more than ${MAX.entries} entries`);
      const path = join(source.path, name);
      if (entry.isFile()) worded(path, () => copyFile(source.at(name), target.at(name), left));
      else {
        worded(path, () => mkdirSync(target.at(name)));
        source.inside(name, (inner) => target.inside(name, (copied) => copy(inner, copied)));
      }
    }
  };
  copy(from, to);
}

/**
 * Copies a regular file with its permission to be executed.
 * @param {string} from
 * @param {string} to
 * @param {{ bytes: number }} left the number of bytes that may be copied
 */
function copyFile(from, to, left) {
  const source = openSync(from, constants.O_RDONLY | NO_LINKS);
  try {
    const stat = fstatSync(source);
    if (!stat.isFile()) return;
    const target = openSync(to, "wx", stat.mode & 0o777);
    try {
      const chunk = Buffer.allocUnsafe(64 * 1024);
      for (let length; (length = readSync(source, chunk, 0, chunk.length, null)) > 0;) {
        left.bytes -= length;
        if (left.bytes < 0) throw new Error(`its folder has more than ${MAX.bytes} bytes`);
        for (let written = 0; written < length;) written += writeSync(target, chunk, written, length - written);
      }
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}
