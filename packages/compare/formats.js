// The answer of a comparison as Markdown, JSON and HTML.
import { columns } from "@pi-workflows/pi-workflows/cli";
import { METHOD } from "./answer.js";
import { FIGURES } from "./figures.js";
import { comparisonHtml } from "./html.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./answer.js").Variant} Variant */

/** Formats of `compare`. @type {Record<string, (answer: Answer) => string>} */
export const COMPARISON_FORMATS = {
  text: plain,
  md: markdown,
  json: (answer) => `${JSON.stringify({ ...answer, method: METHOD }, null, 2)}\n`,
  html: comparisonHtml,
};

const HEADINGS = ["", ...FIGURES.map(([heading]) => heading)];

/** The cells below the headings. @param {Variant} variant */
const row = (variant) => [variant.name, ...FIGURES.map(([, text]) => text(variant))];

/** @param {Answer} answer */
function plain({ variants, tasks, pairs, notes }) {
  if (variants.length === 0) return "No trial has ended.\n";
  const trials = (/** @type {import("./answer.js").Cell | undefined} */ cell) =>
    cell ? cell.shown.map(({ mark }) => mark).join("") : "";
  const cells = [
    ["", ...variants.map(({ name }) => name)],
    ...tasks.map(({ name, cells }) => [name, ...cells.map(trials)]),
  ];
  const lines = [
    ...columns([HEADINGS, ...variants.map(row)]),
    "",
    ...(pairs.length > 0 ? [...pairs.map(({ text }) => text), ""] : []),
    ...columns(cells),
    "",
    MARKS,
    ...notes,
    MEANING,
  ];
  return `${lines.join("\n")}\n`;
}

const MARKS = "✓ solved, ✗ false green, – another end.";
const MEANING = `Median (least to greatest). Solved: the run was done and the check passed; false green: it was done and the check failed. ${METHOD}`;

/** @param {Answer} answer */
function markdown({ variants, tasks, pairs, notes }) {
  if (variants.length === 0) return "# Comparison\n\nNo trial has ended.\n";
  const names = variants.map(({ name }) => name);
  const trials = (/** @type {import("./answer.js").Cell} */ { solved, trials, shown }) => {
    const links = shown.map(({ mark, number, report, session }) => linked(`${mark}${number}`, report ?? session));
    return `${solved} of ${trials} ${links.join(" ")}`;
  };
  const cells = tasks.map(({ name, cells }) => [name, ...cells.map((cell) => (cell ? trials(cell) : ""))]);
  return [
    "# Comparison",
    table(HEADINGS, variants.map(row)),
    MEANING,
    ...(pairs.length > 0 ? ["## Differences", pairs.map(({ text }) => `- ${text}`).join("\n")] : []),
    "## Tasks",
    table(["", ...names], cells),
    MARKS,
    ...notes,
  ]
    .join("\n\n")
    .concat("\n");
}

/** @param {string[]} head @param {string[][]} rows */
const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");

/** @param {string} text @param {string} [path] */
const linked = (text, path) => (path === undefined ? text : `[${text}](<${path}>)`);
