// Counts how often each deliberate difference of `differences.mjs` occurred.

import { isDeepStrictEqual } from "node:util";

/** The number of occurrences of each difference, by its number. @type {Map<number, number>} */
export const explained = new Map();

/** Returns the differences that occurred, as a line of text. */
export function summary() {
  const counts = [...explained].sort(([a], [b]) => a - b).map(([number, times]) => `${number} (${times})`);
  return `differences met: ${counts.join(", ")}`;
}

/**
 * Returns `after`; counts an occurrence of the difference if it is not equal to `before`.
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
 * Replaces the first occurrence of a text because of a difference.
 * @param {number} number
 * @param {string} text
 * @param {string} from
 * @param {string} to
 */
export function replaced(number, text, from, to) {
  return because(
    number,
    text,
    text.replace(from, () => to),
  );
}
