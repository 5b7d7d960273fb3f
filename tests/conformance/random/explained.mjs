// Counts the deliberate differences that occurred. Their numbers are those of `differences.mjs`.

import { isDeepStrictEqual } from "node:util";

/** How often each difference explained something. @type {Map<number, number>} */
export const explained = new Map();

/** The differences that occurred, as a line of text. */
export function summary() {
  const counts = [...explained].sort(([a], [b]) => a - b).map(([number, times]) => `${number} (${times})`);
  return `differences met: ${counts.join(", ")}`;
}

/**
 * Notes that a difference turned `before` into another value.
 * @template T
 * @param {number} number
 * @param {T} before
 * @param {T} after
 */
export function because(number, before, after) {
  if (!isDeepStrictEqual(before, after)) explained.set(number, (explained.get(number) ?? 0) + 1);
  return after;
}

/**
 * Replaces a text, which must occur.
 * @param {number} number
 * @param {string} text
 * @param {string} from
 * @param {string} to
 */
export function replaced(number, text, from, to) {
  return because(number, text, text.replace(from, () => to));
}
