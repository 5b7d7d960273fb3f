// Shrinks a failing case and formats values.

/** The maximum number of attempts, which limits the time. */
const MAX_TRIES = 600;

/**
 * Replaces a failing case with smaller ones that still fail, until none of them fails.
 *
 * @template T
 * @param {T} failing
 * @param {(value: T) => Iterable<T>} smaller the largest reductions first
 * @param {(value: T) => Promise<boolean>} fails
 */
export async function shrink(failing, smaller, fails) {
  let tries = 0;
  for (let progress = true; progress;) {
    progress = false;
    for (const candidate of smaller(failing)) {
      if (tries++ >= MAX_TRIES) return failing;
      if (await fails(candidate)) {
        failing = candidate;
        progress = true;
        break;
      }
    }
  }
  return failing;
}

/**
 * Yields the list without each range of items: first long ranges, then single items.
 *
 * @template T
 * @param {readonly T[]} items
 * @returns {Generator<T[]>}
 */
export function* without(items) {
  for (let length = Math.floor(items.length / 2) || 1; length >= 1; length = Math.floor(length / 2)) {
    // From the end, because later items depend on earlier ones.
    for (let end = items.length; end > 0; end -= length) {
      yield [...items.slice(0, Math.max(0, end - length)), ...items.slice(end)];
    }
  }
}

/**
 * Returns a value as JSON, with invisible characters escaped.
 * @param {unknown} value
 */
export function visible(value) {
  const hidden = /[\x7f-\xa0\u2000-\u200b\u2028-\u202f\u3000\ud800-\udfff\ufeff\ufffe\uffff]/g;
  const code = (/** @type {string} */ character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  // A complete surrogate pair is a visible character.
  return String(JSON.stringify(value)).replace(/[\ud800-\udbff][\udc00-\udfff]|[^]/g, (character) =>
    character.length > 1 ? character : character.replace(hidden, code),
  );
}
