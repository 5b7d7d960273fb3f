// Keeps count of what the deliberate differences explain. Their numbers are those of `differences.mjs`.

import { isDeepStrictEqual } from "node:util";

/** How often each difference explained something. @type {Map<number, number>} */
export const explained = new Map();

/** What was met, for the user who runs the test. */
export function summary() {
  const counts = [...explained].sort(([a], [b]) => a - b).map(([number, times]) => `${number} (${times})`);
  return `differences met: ${counts.join(", ")}`;
}

/**
 * What stands for `before` because of a difference.
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
 * Puts a text in the place of another one, which must be there.
 * @param {number} number
 * @param {string} text
 * @param {string} from
 * @param {string} to
 */
export function replaced(number, text, from, to) {
  return because(number, text, text.replace(from, () => to));
}
