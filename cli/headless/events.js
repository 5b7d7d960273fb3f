// The events of a run: how pi hands them over, and the file or the standard output that gets them.
import { closeSync } from "node:fs";

import { parsed } from "../runs/sessions.js";
import { inWords, visible } from "../words.js";
import { openForLines, writeAll } from "./output.js";

/** @typedef {import("./pi.js").PiRecord} PiRecord */

/** The sums of a run, as `schemas/event.json` has them. @typedef {Record<"turns" | "input" | "output" | "cacheRead" | "cacheWrite" | "cost" | "unpriced" | "unreported" | "workMs", number>} Sums */
/** An event, as `schemas/event.json` has it. @typedef {Record<string, any> & { type: string, usage?: Sums }} RunEvent */

/** The types of events that pi hands over. */
export const TYPES = [
  ...["started", "entry", "branch", "turn", "refused", "gate", "step", "question", "budget", "limit"],
  ...["waiting", "paused", "resumed", "ended"],
];

/** The sums of `usage`. */
export const SUMS = [
  ...["turns", "input", "output", "cacheRead", "cacheWrite", "cost", "unpriced", "unreported", "workMs"],
];

/** The key of an event in RPC mode, and the word before it on standard error in JSON mode. */
const EVENT = "workflow:event";

/** Returns the event in a record of RPC mode, if it is one. @param {PiRecord} record @returns {RunEvent | undefined} */
export function eventOf({ type, method, statusKey, statusText }) {
  const isEvent = type === "extension_ui_request" && method === "setStatus" && statusKey === EVENT;
  return isEvent ? known(String(statusText ?? "")) : undefined;
}

/**
 * Returns the event in a line of standard error, if it is one. Any extension can write such a line.
 * @param {string} line
 * @returns {RunEvent | undefined}
 */
export function eventIn(line) {
  return line.startsWith(`${EVENT} `) ? known(line.slice(EVENT.length + 1)) : undefined;
}

/** The event in a text, if it has the fields of each event and its numbers are times and sums. @param {string} text */
function known(text) {
  const event = /** @type {RunEvent | undefined} */ (parsed(text));
  if (!event || !TYPES.includes(event.type) || !isNumber(event.time)) return undefined;
  const { run, entry, title = "", usage } = event;
  if ([run, entry, title].some((text) => typeof text !== "string")) return undefined;
  if (usage !== undefined && !SUMS.every((name) => isNumber(Object(usage)[name]))) return undefined;
  return Object.values(event).every((value) => typeof value !== "number" || isNumber(value)) ? event : undefined;
}

/** True for a number of the component, which has 64 bits. @param {unknown} value */
const isNumber = (value) => typeof value === "number" && value >= 0 && value <= 2 ** 64;

/** The lines of a run's events. After the first failure nothing is written any more. */
export class EventFile {
  /** @type {number | undefined} */
  #descriptor;
  #tell;

  /**
   * @param {string} file `-` for standard output
   * @param {(problem: string) => void} tell is told of the first failure
   */
  constructor(file, tell) {
    this.#tell = tell;
    // Standard output does not wait for its reader.
    this.#descriptor = file === "-" ? /** @type {{ fd: number }} */ (process.stdout).fd : openForLines(file);
  }

  /** @param {RunEvent} event */
  write(event) {
    if (this.#descriptor === undefined) return;
    try {
      // GitHub's runner takes `##[` anywhere in a line for a command.
      const line = visible(JSON.stringify(event), true).replaceAll("##[", "##\\u005b");
      writeAll(this.#descriptor, `${line}\n`);
    } catch (error) {
      this.close();
      this.#tell(`The events cannot be written: ${inWords(error)}`);
    }
  }

  close() {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined && descriptor > 2) closeSync(descriptor);
  }
}
