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

/** The minimum width of the column that gives way. */
const MIN_WIDTH = 12;

/**
 * Returns rows of the same length as lines, with two spaces between the columns.
 * @param {string[][]} rows
 * @param {number} [width] the width of the screen
 * @param {number} [yielding] the index of the column that is shortened to fit; by default that of the last
 * @param {number[]} [spare] the indices of columns that are left out first, as many as it takes
 */
export function columns(rows, width = Infinity, yielding = -1, spare = []) {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((most, row) => Math.max(most, [...row[column]].length), 0),
  );
  const last = widths.length - 1;
  const short = yielding < 0 ? last : yielding;
  const left = new Set(widths.keys());
  const others = () => [...left].reduce((sum, column) => (column === short ? sum : sum + widths[column] + 2), 0);
  for (const column of spare) if (others() + MIN_WIDTH > width) left.delete(column);
  widths[short] = Math.min(widths[short], Math.max(MIN_WIDTH, width - others()));
  return rows.map((row) => {
    const cells = [...left].map((column) => {
      const text = [...row[column]];
      const kept = text.length > widths[column] ? [...text.slice(0, widths[column] - 1), "…"] : text;
      return kept.join("") + " ".repeat(widths[column] - kept.length);
    });
    return cells.join("  ").trimEnd();
  });
}
