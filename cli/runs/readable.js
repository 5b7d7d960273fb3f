// The Markdown of a report as plain text, for a terminal.
import { columns } from "./columns.js";

/**
 * Returns the text of Markdown as `reportRun` writes it: headings, lists, tables, code blocks, bold words and escapes.
 * @param {string} markdown
 * @param {number} [width] of the terminal
 */
export function readable(markdown, width) {
  /** @type {string[]} */
  const lines = [];
  /** @type {string[][]} */
  let table = [];
  let fence = "";
  for (const line of [...markdown.split("\n"), ""]) {
    const isRow = fence === "" && line.startsWith("| ");
    if (!isRow && table.length > 0) {
      // The second row separates the headings from the others. The first column gives way.
      lines.push(...columns(table.toSpliced(1, 1), width, 0));
      table = [];
    }
    const [mark = ""] = /^`{3,}/.exec(line) ?? [];
    if (isRow)
      table.push(
        line
          .slice(2)
          .split(/ \|(?: |$)/)
          .slice(0, -1)
          .map(unmarked),
      );
    else if (fence === "" && mark !== "") fence = line;
    else if (fence !== "" && line === fence) fence = "";
    else if (fence !== "") lines.push(`  ${line}`.trimEnd());
    else if (/^#+ /.test(line)) lines.push(...heading(unmarked(line.replace(/^#+ /, ""))));
    else lines.push(unmarked(line));
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

/** @param {string} text */
const heading = (text) => [text, "─".repeat([...text].length)];

/** A line without its marks and escapes. @param {string} line */
const unmarked = (line) => line.replace(/\\(.)|\*\*|`/gu, "$1");
