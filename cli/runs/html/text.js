// The texts and figures of the HTML report. Each function accepts values of any type: fields of a report may be absent,
// and texts come from models and users.
import { plainText } from "../../../host-shim/plain-text.js";
import { clock, day } from "../figures.js";

/** A text that is HTML already. */
export class Html {
  /** @param {string} source */
  constructor(source) {
    this.source = source;
  }
}

const ENTITIES = /** @type {Record<string, string>} */ ({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
});

/**
 * A template of HTML. Its values are escaped, except those that are `Html`; lists are joined, and `undefined`, `false`
 * and `""` are empty.
 *
 * @param {TemplateStringsArray} parts
 * @param {...unknown} values
 */
export function html(parts, ...values) {
  return new Html(parts.map((part, index) => part + source(values[index])).join(""));
}

/** @param {unknown} value @returns {string} */
function source(value) {
  if (value instanceof Html) return value.source;
  if (Array.isArray(value)) return value.map(source).join("");
  if (value === undefined || value === false) return "";
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]);
}

/** Characters that change the direction of the text after them: embeddings, overrides, isolates. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text from a file, a model or a user, as it can be shown: without control characters, with the characters that
 * change the direction written out, and at most `length` characters.
 *
 * @param {unknown} value
 * @param {number} length
 */
export function shown(value, length) {
  if (typeof value !== "string") return "";
  // Each character takes at most eight others when it is written out, and shortening first bounds the work.
  const visible = plainText(value.slice(0, length * 2).replace(/\r\n?/g, "\n"))
    .replace(DIRECTION, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`)
    .trim();
  // Not within a pair of surrogates; a lone one becomes the replacement character.
  const short = visible
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, "")
    .toWellFormed();
  return visible.length > length || value.length > length * 2 ? `${short.trimEnd()}…` : short;
}

/** `shown` on one line. @param {unknown} value @param {number} length */
export const line = (value, length) =>
  shown(typeof value === "string" ? value.slice(0, length * 4).replace(/\s+/g, " ") : "", length);

/**
 * One line of text with a direction of its own.
 * @param {unknown} value
 * @param {number} [length]
 */
export const name = (value, length = 120) => html`<bdi>${line(value, length)}</bdi>`;

/** A number that is not negative; `undefined` for everything else. @param {unknown} value */
export const number = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** @param {unknown} value */
export const count = (value) => number(value) ?? 0;

/** A time in milliseconds that a calendar has. @param {unknown} value */
export const time = (value) => {
  const ms = number(value);
  return ms !== undefined && ms <= 8.64e15 ? ms : undefined;
};

/** A record, empty for everything else. @param {unknown} value @returns {Record<string, unknown>} */
export const record = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? /** @type {any} */ (value) : {};

/** The records in a list; empty for everything else. @param {unknown} value */
export const records = (value) => (Array.isArray(value) ? value.map(record) : []);

/** `1 turn`, `2 turns`. @param {number} number @param {string} noun @param {string} [plural] */
export const counted = (number, noun, plural = `${noun}s`) =>
  `${number.toLocaleString("en-US")} ${number === 1 ? noun : plural}`;

/** `UTC+01:00`. @param {number} ms */
export function zone(ms) {
  const minutes = -new Date(ms).getTimezoneOffset();
  const size = Math.abs(minutes);
  const [hours, rest] = [Math.floor(size / 60), Math.floor(size % 60)].map((part) => String(part).padStart(2, "0"));
  return `UTC${minutes < 0 ? "−" : "+"}${hours}:${rest}`;
}

/** A date with its time as an element. @param {number} ms */
export const date = (ms) => html`<time datetime="${new Date(ms).toISOString()}">${day(ms)} ${clock(ms)}</time>`;
