// The files that a command writes for the user at the end of a run. The agent may have put something else in their place
// meanwhile, or in an earlier run.
import { closeSync, constants, fstatSync, openSync, realpathSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { untrusted } from "../../host-shim/sandbox/index.js";
import { Failure, shortened } from "../words.js";

/** The time in which a pipe takes what it gets, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Returns a function that writes a file, which replaces another one, a link too, or is appended to it; a pipe or device
 * that is there now gets the text as it is.
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
  // A pipe that nobody reads is not waited for.
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
