// Times, tokens, costs and texts of runs on one line.
import { plainText } from "../../host-shim/plain-text.js";

const UNITS = /** @type {const} */ ([
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
]);

/** Returns a duration in its two largest units, in whole seconds: `0s`, `3m 20s`, `3d 4h`. @param {number} ms */
export function duration(ms) {
  const first = UNITS.findIndex(([, unit]) => ms >= unit);
  if (first < 0) return "0s";
  const [[large, inLarge], small] = [UNITS[first], UNITS[first + 1]];
  const rest = small ? Math.floor((ms % inLarge) / small[1]) : 0;
  return `${Math.floor(ms / inLarge)}${large}${small && rest > 0 ? ` ${rest}${small[0]}` : ""}`;
}

/** Returns a duration, in milliseconds if it is less than a second: `12ms`. @param {number} ms */
export function preciseDuration(ms) {
  return ms > 0 && ms < 1000 ? `${Math.max(1, Math.round(ms))}ms` : duration(ms);
}

/** Returns a number of tokens: `950`, `12.3k`, `4.56M`. @param {number} tokens */
export function tokens(tokens) {
  if (tokens < 1_000) return String(Math.round(tokens));
  return tokens < 999_950 ? `${(tokens / 1_000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(2)}M`;
}

/** Returns a cost in US dollars: `$0.42`, or `$0.0019` if it is less than a cent. @param {number} dollars */
export function dollars(dollars) {
  return `$${dollars > 0 && dollars < 0.01 ? dollars.toFixed(dollars < 0.0001 ? 6 : 4).replace(/0+$/, "") : dollars.toFixed(2)}`;
}

/**
 * Returns the tokens of a usage; `unknown` or `12.3k + unknown` if answers have none.
 *
 * @param {number} known
 * @param {number} unreported
 */
export function tokensOf(known, unreported) {
  if (unreported === 0) return tokens(known);
  return known === 0 ? "unknown" : `${tokens(known)} + unknown`;
}

/**
 * Returns the cost of a usage: `$0.42`, and if models have no prices `unknown` or `$0.42 + unknown`.
 *
 * @param {{ cost: number, unpriced: number }} usage
 */
export function cost({ cost, unpriced }) {
  if (unpriced === 0) return dollars(cost);
  return cost === 0 ? "unknown" : `${dollars(cost)} + unknown`;
}

const two = (/** @type {number} */ part) => String(part).padStart(2, "0");

/**
 * Returns the day of a time in the local time zone, `2026-11-22`; `?` if the calendar does not have it.
 *
 * @param {number} ms
 */
export function day(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime())
    ? "?"
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Returns the time of the day in the local time zone: `10:28:05`. @param {number} ms */
export function clock(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime())
    ? "?"
    : `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/**
 * Returns the beginning of a text from a session, on one line. Removes characters that change the direction of the
 * line.
 * @param {string} text
 * @param {number} most
 */
export function cell(text, most) {
  const line = plainText(text.slice(0, 10 * most).replace(/[\s\u0085]+/g, " "))
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .trim();
  const characters = [...line];
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : line;
}

/** The last column is not made narrower than this. */
const MIN_WIDTH = 20;

/**
 * Returns rows of the same length as lines, with two spaces between the columns.
 * @param {string[][]} rows
 * @param {number} [width] the width of the screen; the last column is shortened to fit
 */
export function columns(rows, width = Infinity) {
  /** @type {number[]} */
  const widths = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, [...cell].length)));
  const others = widths.slice(0, -1);
  const left = others.reduce((sum, width) => sum + width + 2, 0);
  const room = Math.max(MIN_WIDTH, width - left);
  return rows.map((row) => {
    const cells = others.map((width, column) => row[column] + " ".repeat(width - [...row[column]].length));
    const last = [...(row.at(-1) ?? "")];
    return [...cells, last.length > room ? `${last.slice(0, room - 1).join("")}…` : last.join("")].join("  ").trimEnd();
  });
}
