// The files that a command writes for the user at the end of a run. The agent may have replaced such a file by
// something else, in this run or in an earlier one.
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync, writeSync } from "node:fs";
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
  const { path, device, place } = placeOf(file);
  if (device) return (text) => intoDevice(path, device, text);
  return (text) => (appends ? untrusted.appendFile("/", place, text) : untrusted.replaceFile("/", place, text));
}

/**
 * Returns the path of an output, its state if it is a pipe or a device that exists now, and otherwise its place below
 * the folder that the links on the way lead to.
 * @param {string} file
 */
function placeOf(file) {
  const path = resolve(file);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new Failure(`${shortened(file)} is a folder.`);
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    throw new Failure(`There is no folder ${shortened(dirname(file))}.`);
  // /dev/stdout may be a file.
  const device = stat && (!stat.isFile() || /^\/(?:dev|proc)\//.test(path)) ? stat : undefined;
  return { path, device, place: join(realpathSync(dirname(path)), basename(path)) };
}

/** @param {string} path @param {import("node:fs").Stats} stat @param {string} text */
function intoDevice(path, stat, text) {
  // The opening does not wait for a reader of a pipe.
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  try {
    const { dev, ino } = fstatSync(descriptor);
    if (dev !== stat.dev || ino !== stat.ino) throw new Error(`${path} was replaced meanwhile`);
    writeAll(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a text to its end. A pipe that is full gets some time.
 * @param {number} descriptor
 * @param {string} text
 */
export function writeAll(descriptor, text) {
  const end = performance.now() + PATIENCE;
  for (let rest = Buffer.from(text); rest.length > 0;)
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (/** @type {any} */ error) {
      if (error.code !== "EAGAIN" || performance.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
}

/** Opens a file to append whole lines to it, or a pipe or device that exists. @param {string} file */
export function openForLines(file) {
  const { path, device, place } = placeOf(file);
  if (device) return openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  const descriptor = untrusted.openToAppend("/", place);
  try {
    // Another process may have been killed while it wrote.
    if (!endsWithLine(place)) writeAll(descriptor, "\n");
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return descriptor;
}

/** Returns true if a file is empty or its last line is whole. @param {string} path */
function endsWithLine(path) {
  const { size } = statSync(path);
  if (size === 0) return true;
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const last = Buffer.alloc(1);
    return readSync(descriptor, last, 0, 1, size - 1) === 0 || last[0] === 10;
  } finally {
    closeSync(descriptor);
  }
}
