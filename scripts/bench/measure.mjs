// Measures times and memory, summarizes them and prints tables.

import { readFileSync } from "node:fs";

/**
 * The values of one measurement, in milliseconds unless stated otherwise.
 * @typedef {object} Sample
 * @property {string} name
 * @property {number[]} values
 */

/** @param {() => unknown} work */
export function time(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** The resident memory, in MB. @param {number} pid of a process on Linux */
export function residentMegabytes(pid) {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(kilobytes?.[1]) / 1024;
}

/**
 * Runs the sides alternately, so that other load of the machine affects all of them equally.
 *
 * @param {number} rounds
 * @param {Record<string, () => number | Promise<number>>} sides each returns one value
 * @returns {Promise<Record<string, number[]>>}
 */
export async function inTurns(rounds, sides) {
  /** @type {Record<string, number[]>} */
  const values = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, side] of Object.entries(sides)) values[name].push(await side());
  }
  return values;
}

/**
 * @param {number[]} values
 * @param {number} part from 0 to 1
 */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

/** @param {number[]} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * Returns the median and the middle half of the values.
 *
 * @param {number[]} values
 * @param {number} [digits]
 */
export function spread(values, digits = 1) {
  const [low, high] = [0.25, 0.75].map((part) => quantile(values, part).toFixed(digits));
  return `${median(values).toFixed(digits)} (${low}–${high})`;
}

/**
 * Returns a Markdown table.
 *
 * @param {string[]} head
 * @param {string[][]} rows
 */
export function table(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column ? "---:" : "---"))), ...rows.map(line)].join("\n");
}

/**
 * Prints each figure with its limit. Returns true if no figure exceeds its limit.
 *
 * @param {[words: string, figure: number, limit: number][]} promises the figure must not exceed the limit
 */
export function verdict(promises) {
  let kept = true;
  for (const [words, figure, limit] of promises) {
    const holds = figure <= limit;
    kept &&= holds;
    console.log(`${holds ? "ok" : "TOO HIGH"}: ${words} (${figure.toFixed(2)}, at most ${limit.toFixed(2)})`);
  }
  return kept;
}
