// Texts of runs in columns.
import { plainText } from "#sandbox";

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

/** The minimum width of the last column. */
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
