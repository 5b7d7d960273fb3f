// Values of pi as the interface's `json`.

/** Maximum nesting of lists and objects. */
const MAX_DEPTH = 100;

/**
 * A value as JSON within the bounds of the interface: what is nested deeper becomes `null`, and so does what has no JSON.
 * A surrogate without its other half is no text in UTF-8; it becomes U+FFFD.
 *
 * @param {unknown} value
 * @param {number} [limit] in characters; for a longer one there are that many blanks, which are no JSON
 * @returns {string}
 */
export function json(value, limit = Infinity) {
  /** The values that the one at hand lies in, outermost first. @type {unknown[]} */
  const around = [];
  /** At least so many characters may follow, or none. */
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
    // Too long, or without JSON: a cycle, a BigInt, a `toJSON` that throws.
    return room < 0 ? " ".repeat(limit) : "null";
  }
}

/**
 * `JSON.stringify` escapes such a surrogate, and no other one.
 * @param {string} text
 */
function wellFormed(text) {
  if (!text.includes("\\ud")) return text;
  return text.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|[^])/g, (escape, surrogate) => (surrogate ? "\ufffd" : escape));
}
