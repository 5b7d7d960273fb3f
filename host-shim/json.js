// Values of pi as the interface's `json`.

/** How deep lists and objects may be nested. */
const MAX_DEPTH = 100;

/**
 * A value as JSON within the bounds of the interface: what is nested deeper becomes `null`, and so does what has no JSON.
 * A surrogate without its other half is no text in UTF-8; it becomes U+FFFD.
 *
 * @param {unknown} value
 * @param {number} [limit] in characters; what is longer is cut off there, and is no JSON then
 * @returns {string}
 */
export function json(value, limit = Infinity) {
  try {
    const text = JSON.stringify(value) ?? "null";
    if (text.length > limit) return text.slice(0, limit);
    return wellFormed(isDeep(text) ? JSON.stringify(pruned(JSON.parse(text), MAX_DEPTH)) : text);
  } catch {
    return "null"; // A cycle, a BigInt, a `toJSON` that throws.
  }
}

/** @param {string} text JSON */
function isDeep(text) {
  // Each level takes two characters.
  if (text.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === "[" || token === "{") depth += 1;
    else if (token === "]" || token === "}") depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/**
 * @param {any} value
 * @param {number} depth
 * @returns {unknown}
 */
function pruned(value, depth) {
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((item) => pruned(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, pruned(item, depth - 1)]));
}

/**
 * `JSON.stringify` escapes such a surrogate, and no other one.
 * @param {string} text
 */
function wellFormed(text) {
  if (!text.includes("\\ud")) return text;
  return text.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|[^])/g, (escape, surrogate) => (surrogate ? "\ufffd" : escape));
}
