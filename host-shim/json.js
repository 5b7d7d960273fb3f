// Converts values of pi to the interface's `json`.

/** Maximum nesting of lists and objects. */
const MAX_DEPTH = 100;

/**
 * Returns a value as JSON within the bounds of the interface: values that are nested deeper or have no JSON become
 * `null`. An unpaired surrogate, which UTF-8 cannot represent, becomes U+FFFD.
 * @param {unknown} value
 * @param {number} [limit] maximum length in characters; a longer JSON is replaced by that many spaces, which are not
 *   valid JSON
 * @returns {string}
 */
export function json(value, limit = Infinity) {
  /** The values that contain the current one, outermost first. @type {unknown[]} */
  const around = [];
  /** Upper bound of the number of characters that may follow. */
  let room = limit;
  /** @this {unknown} @param {string} key @param {unknown} item */
  function bounded(key, item) {
    while (around.length > 0 && around.at(-1) !== this) around.pop();
    if (around.length === 0) around.push(this);
    if (item === undefined || typeof item === "function" || typeof item === "symbol") return item;
    room -= (Array.isArray(this) ? 0 : key.length) + (typeof item === "string" ? item.length : 1);
    if (room < 0) throw new RangeError("too long");
    if (typeof item !== "object" || item === null) return item;
    if (around.length > MAX_DEPTH) return null;
    around.push(item);
    return item;
  }
  try {
    const text = JSON.stringify(value, bounded) ?? "null";
    return text.length > limit ? " ".repeat(limit) : wellFormed(text);
  } catch {
    // Too long, or not representable: a cycle, a BigInt, a `toJSON` that throws.
    return room < 0 ? " ".repeat(limit) : "null";
  }
}

/**
 * Replaces unpaired surrogates. `JSON.stringify` escapes unpaired surrogates and no other ones.
 * @param {string} text
 */
function wellFormed(text) {
  if (!text.includes("\\ud")) return text;
  return text.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|[^])/g, (escape, surrogate) => (surrogate ? "\ufffd" : escape));
}
