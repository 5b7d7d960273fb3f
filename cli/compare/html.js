// The answer of a comparison as one HTML file.
import { page } from "../runs/html/page.js";
import { METHOD } from "./answer.js";
import { FIGURES } from "./formats.js";

/** @param {import("./answer.js").Answer} answer */
export function comparisonHtml(answer) {
  return page("Comparison of workflows", shownOf(answer), "comparisonView", ["../../compare/view.js"]);
}

/** Returns the content of the page. @param {import("./answer.js").Answer} answer */
export const shownOf = ({ variants, tasks, pairs, notes }) => ({
  headings: FIGURES.map(([heading]) => heading),
  variants: variants.map((variant) => ({
    name: variant.name,
    figures: FIGURES.map(([, text]) => text(variant)),
    bar: variant.interval && [...variant.interval, variant.solved / variant.trials],
  })),
  tasks,
  pairs: pairs.map(({ text }) => text),
  notes,
  trials: variants.reduce((sum, variant) => sum + variant.trials, 0),
  method: METHOD,
});
