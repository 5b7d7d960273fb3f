// The files that a command writes for the user at the end of a run. The agent may have replaced such a file by
// something else, in this run or in an earlier one.
import { closeSync, constants, fstatSync, openSync, realpathSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { untrusted } from "#sandbox";

import { Failure, shortened } from "../words.js";

/** The time in which a pipe must take a text, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Returns a function that writes a text to a file. The text replaces a file or link of this name, or is appended to the
 * file; a pipe or device that exists now gets the text as it is.
 * @param {string} file
 * @param {boolean} appends
 * @returns {(text: string) => void}
 */
export function outputTo(file, appends) {
  const path = resolve(file);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new Failure(`${shortened(file)} is a folder.`);
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    throw new Failure(`There is no folder ${shortened(dirname(file))}.`);
  // /dev/stdout may be a file.
  if (stat && (!stat.isFile() || /^\/(?:dev|proc)\//.test(path))) return (text) => intoDevice(path, stat, text);
  const place = join(realpathSync(dirname(path)), basename(path));
  return (text) => (appends ? untrusted.appendFile("/", place, text) : untrusted.replaceFile("/", place, text));
}

/** @param {string} path @param {import("node:fs").Stats} stat @param {string} text */
function intoDevice(path, stat, text) {
  // The opening does not wait for a reader of a pipe.
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  try {
    const { dev, ino } = fstatSync(descriptor);
    if (dev !== stat.dev || ino !== stat.ino) throw new Error(`${path} was replaced meanwhile`);
    const end = performance.now() + PATIENCE;
    for (let rest = Buffer.from(text); rest.length > 0;)
      try {
        rest = rest.subarray(writeSync(descriptor, rest));
      } catch (/** @type {any} */ error) {
        if (error.code !== "EAGAIN" || performance.now() > end) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
  } finally {
    closeSync(descriptor);
  }
}
