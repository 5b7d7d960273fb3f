// JSON in which a value that repeats is written once: prompts, states and tool definitions come again and again in a
// record.

/** The length from which a value that repeats is shared, as JSON. */
const LONG = 60;

/**
 * A value with references: `{ "same": 3 }` stands for the item 3 of `shared`, counted from 0. Items contain references
 * too.
 * @typedef {{ shared: unknown[], value: unknown }} Shared
 */

/**
 * @param {unknown} value JSON in which no object has `same` as its only field
 * @returns {Shared}
 */
export function share(value) {
  const repeated = repetitions(value);
  /** @type {unknown[]} */
  const shared = [];
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @param {unknown} value @returns {unknown} */
  const written = (value) => {
    if (!isLong(value) || !repeated.has(JSON.stringify(value))) return map(value, written);
    const json = JSON.stringify(value);
    if (!numbers.has(json)) {
      numbers.set(json, shared.push(undefined) - 1);
      shared[/** @type {number} */ (numbers.get(json))] = map(value, written);
    }
    return { same: numbers.get(json) };
  };
  const result = written(value);
  return { shared, value: result };
}

/**
 * Returns the value that was shared.
 * @param {Shared} written
 */
export function unshare({ shared, value }) {
  /** @param {any} value @returns {unknown} */
  const read = (value) => (isReference(value) ? read(shared[value.same]) : map(value, read));
  return read(value);
}

/**
 * Returns the JSON of the long values that are in a value more than once. What is in a repeated value counts once.
 * @param {unknown} value
 */
function repetitions(value) {
  const seen = new Set();
  const repeated = new Set();
  /** @param {unknown} value @returns {unknown} */
  const look = (value) => {
    const json = isLong(value) && JSON.stringify(value);
    if (json && seen.has(json)) return repeated.add(json);
    if (json) seen.add(json);
    return map(value, look);
  };
  look(value);
  return repeated;
}

/** @param {unknown} value */
function isLong(value) {
  return value !== null && ["string", "object"].includes(typeof value) && JSON.stringify(value).length >= LONG;
}

/** @param {any} value */
function isReference(value) {
  return typeof value === "object" && value !== null && Object.keys(value).join() === "same";
}

/**
 * Returns a list or an object with other items; any other value as it is.
 * @param {unknown} value
 * @param {(item: unknown) => unknown} change
 */
function map(value, change) {
  if (Array.isArray(value)) return value.map(change);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)]));
}
