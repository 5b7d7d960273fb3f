// The answer of a comparison as one HTML file.
import { line, page } from "@pi-workflows/pi-workflows/cli";
import { METHOD } from "./answer.js";
import { FIGURES } from "./figures.js";

/** @param {import("./answer.js").Answer} answer */
export function comparisonHtml(answer) {
  return page("Comparison of workflows", shownOf(answer), "comparisonView", [new URL("./view.js", import.meta.url)]);
}

/** Returns the content of the page. @param {import("./answer.js").Answer} answer */
export const shownOf = ({ variants, tasks, pairs, notes }) => ({
  title: variants.length === 0 ? "No trial has ended" : line(160)(variants.map(({ name }) => name).join(", ")),
  headings: FIGURES.map(([heading]) => heading),
  variants: variants.map((variant) => ({
    name: line(60)(variant.name),
    heading: line(40)(variant.name),
    figures: FIGURES.map(([, text]) => text(variant)),
    bar: variant.interval && [...variant.interval, variant.solved / variant.trials],
  })),
  tasks: tasks.map(({ name, cells }) => ({
    name: line(120)(name),
    cells: cells.map(
      (cell) => cell && { ...cell, shown: cell.shown.map((trial) => ({ ...trial, text: line(160)(trial.text) })) },
    ),
  })),
  pairs: pairs.map(({ text }) => line(400)(text)),
  notes,
  trials: variants.reduce((sum, variant) => sum + variant.trials, 0),
  method: METHOD,
});
