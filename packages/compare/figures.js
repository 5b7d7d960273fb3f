// The figures of a variant, as columns.

import { dollars, duration, tokens } from "@pi-workflows/pi-workflows/cli";
/** @typedef {import("./answer.js").Variant} Variant */
/** @typedef {import("./answer.js").Spread} Spread */

/**
 * The columns of figures: heading, and text of a variant.
 * @type {[heading: string, text: (variant: Variant) => string][]}
 */
export const FIGURES = [
  ["solved", ({ solved, trials }) => `${solved} of ${trials}`],
  ["95 %", ({ interval }) => (interval ? `${percent(interval[0])} to ${percent(interval[1])}` : "needs 2 tasks")],
  ["false green", ({ falseGreen }) => String(falseGreen)],
  [
    "other ends",
    ({ others }) =>
      Object.entries(others)
        .map((end) => end.toReversed().join(" "))
        .join(", ") || "none",
  ],
  [
    "cost",
    ({ cost, unknownCost }) =>
      [spreadText(cost, dollars), unknownCost > 0 ? `${unknownCost} unknown` : ""].filter(Boolean).join(", "),
  ],
  ["tokens", (variant) => spreadText(variant.tokens, tokens)],
  ["time", ({ ms }) => spreadText(ms, duration)],
  ["turns", ({ turns }) => spreadText(turns, String)],
];

/** @param {Spread} spread @param {(value: number) => string} text */
function spreadText(spread, text) {
  if (!spread) return "";
  const { least, median, greatest } = spread;
  return text(least) === text(greatest) ? text(median) : `${text(median)} (${text(least)} to ${text(greatest)})`;
}

/** @param {number} share */
const percent = (share) => `${Math.round(share * 100)}\u00a0%`;
