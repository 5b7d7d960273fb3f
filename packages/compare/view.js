// The page of a comparison, drawn from the answer.

import { bdi, h, section, table } from "@pi-workflows/pi-workflows/cli";
/** @typedef {ReturnType<typeof import("./html.js").shownOf>} Answer */
/** @template T @typedef {import("@pi-workflows/pi-workflows/cli").Column<T>} Column */

const MEANING =
  "Median (least to greatest). Solved: the run was done and the check passed; false green: it was done and the check failed. ";

/** @param {Answer} answer */
export function comparisonView({ title, headings, variants, tasks, pairs, notes, trials, method }) {
  /** @type {Column<Answer["variants"][number]>[]} */
  const figures = headings.map((heading, index) => [
    heading,
    (variant) => [variant.figures[index], heading === "95 %" && variant.bar && interval(variant.bar)],
    "wide",
  ]);
  /** @type {Column<Answer["tasks"][number]>[]} */
  const cells = variants.map(({ heading }, index) => [heading, ({ cells }) => cell(cells[index]), "wide"]);
  const counts = h("p.muted", `${trials} trials, ${tasks.length} tasks`);
  const items = pairs.map((text) => h("li", text));
  return [
    h("header", h("p.kicker", "Comparison of workflows"), h("h1", title), counts),
    h(
      "main",
      section(
        "variants",
        "Variants",
        table([["Variant", ({ name }) => bdi(name)], ...figures], variants),
        h("p.note", MEANING, method),
      ),
      pairs.length > 0 && section("pairs", "Differences", h("ul.pairs", items)),
      section(
        "tasks",
        "Tasks",
        table([["Task", ({ name }) => bdi(name)], ...cells], tasks),
        notes.map((note) => h("p.note", note)),
      ),
    ),
  ];
}

/** The interval on a line from 0 to 100 %; the figures stand beside it. @param {number[]} bar */
function interval([low, high, share]) {
  const size = { viewBox: "0 0 100 8", preserveAspectRatio: "none", height: 10, "aria-hidden": "true" };
  return h(
    "svg.interval",
    size,
    h("rect.ground", { x: 0, y: 3.5, width: 100, height: 1 }),
    h("rect.range", { x: (100 * low).toFixed(1), y: 2, width: (100 * (high - low)).toFixed(1), height: 4 }),
    h("rect.share", { x: Math.min(99, 100 * share).toFixed(1), y: 0, width: 1, height: 8 }),
  );
}

/** @param {import("./answer.js").Cell | undefined | null} cell */
function cell(cell) {
  if (!cell) return "";
  const trials = cell.shown.map(({ number, mark, words, text, ...paths }) => {
    const links = /** @type {const} */ (["report", "session", "check"]).map(
      (of) => paths[of] && [" ", link(paths[of], of)],
    );
    const colour = mark === "✓" ? "good" : mark === "✗" ? "bad" : "muted";
    const why = words !== "solved" && mark !== "✗" && h("span.muted", ` ${text}`);
    return h("li", h(`span.mark.${colour}`, mark), ` ${number}: ${words}`, why, links);
  });
  return [`${cell.solved} of ${cell.trials}`, h("ul.trials", trials)];
}

/** @param {string} path relative @param {string} words */
const link = (path, words) => h("a", { href: encodeURI(path).replaceAll("#", "%23").replaceAll("?", "%3F") }, words);
