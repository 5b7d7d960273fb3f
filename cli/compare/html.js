// The answer of a comparison as one HTML file: no scripts, nothing from a network.
import { page } from "../runs/html/page.js";
import { table } from "../runs/html/table.js";
import { html, line, name } from "../runs/html/text.js";
import { METHOD } from "./answer.js";
import { FIGURES } from "./formats.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./answer.js").Cell} Cell */
/** @typedef {import("./answer.js").Variant} Variant */

const OWN_STYLE = `
.interval{display:block;width:100%;max-width:14rem;margin-top:.25rem}
.interval rect.ground{fill:var(--cut)}.interval rect.range{fill:var(--work)}.interval rect.share{fill:var(--text)}
ul.trials{list-style:none;margin:0;padding:0;font-size:.8125rem}
ul.trials .mark{display:inline-block;min-width:1.2em}
ul.pairs{padding-inline-start:1.2rem}
a{color:var(--work)}
th{overflow-wrap:normal}
@media (min-width:44.01rem){section[aria-labelledby=tasks] table{table-layout:fixed}}
`;

/** @param {Answer} answer */
export function comparisonHtml({ variants, tasks, pairs, notes }) {
  const headings = /** @type {import("../runs/html/table.js").Heading[]} */ ([
    ["Variant"],
    ...FIGURES.map(([heading]) => [heading, "wide"]),
  ]);
  const rows = variants.map((variant) => ({
    cells: [
      name(variant.name, 60),
      ...FIGURES.map(([heading, text]) =>
        heading === "95 %" ? html`${text(variant)}${intervalBar(variant)}` : text(variant),
      ),
    ],
  }));
  const byTask = tasks.map((task) => ({ cells: [name(task.name), ...task.cells.map(cellHtml)] }));
  const trials = variants.reduce((sum, variant) => sum + variant.trials, 0);
  const body = html`<header>
      <p class="kicker">Comparison of workflows</p>
      <h1>${variants.length === 0 ? "No trial has ended" : line(variants.map(({ name }) => name).join(", "), 160)}</h1>
      <p class="muted">${trials} trials, ${tasks.length} tasks</p>
    </header>
    <main>
      <section aria-labelledby="variants">
        <h2 id="variants">Variants</h2>
        ${table(headings, rows)}
        <p class="note">
          Median (least to greatest). Solved: the run was done and the check passed; false green: it was done and the
          check failed. ${METHOD}
        </p>
      </section>
      ${
        pairs.length > 0 &&
        html`<section aria-labelledby="pairs">
          <h2 id="pairs">Differences</h2>
          <ul class="pairs">
            ${pairs.map(({ text }) => html`<li>${line(text, 400)}</li>`)}
          </ul>
        </section>`
      }
      <section aria-labelledby="tasks">
        <h2 id="tasks">Tasks</h2>
        ${table([["Task"], ...variants.map((variant) => /** @type {[string, string]} */ ([line(variant.name, 40), "wide"]))], byTask)}
        ${notes.map((note) => html`<p class="note">${note}</p>`)}
      </section>
    </main>`;
  return page("Comparison of workflows", body, OWN_STYLE);
}

/** The interval on a line from 0 to 100 %; the figures stand beside it. @param {Variant} variant */
function intervalBar({ interval, solved, trials }) {
  if (!interval) return undefined;
  const [low, high] = interval;
  const share = solved / trials;
  return html`<svg class="interval" viewBox="0 0 100 8" preserveAspectRatio="none" height="10" aria-hidden="true">
    <rect class="ground" x="0" y="3.5" width="100" height="1" />
    <rect class="range" x="${(100 * low).toFixed(1)}" y="2" width="${(100 * (high - low)).toFixed(1)}" height="4" />
    <rect class="share" x="${Math.min(99, 100 * share).toFixed(1)}" y="0" width="1" height="8" />
  </svg>`;
}

/** @param {Cell | undefined} cell */
function cellHtml(cell) {
  if (!cell) return "";
  const trials = cell.shown.map(({ number, mark, words, text, session, report, check }) => {
    const links = [
      ["report", report],
      ["session", session],
      ["check", check],
    ].flatMap(([words, path]) =>
      path === undefined
        ? []
        : [
            html` <a
              href="${encodeURI(/** @type {string} */ (path))
                .replaceAll("#", "%23")
                .replaceAll("?", "%3F")}"
              >${words}</a
            >`,
          ],
    );
    return html`<li>
      <span class="mark ${mark === "✓" ? "good" : mark === "✗" ? "bad" : "muted"}">${mark}</span> ${number}:
      ${words}${words === "solved" || mark === "✗" ? "" : html` <span class="muted">${line(text, 160)}</span>`}${links}
    </li>`;
  });
  return html`${cell.solved} of ${cell.trials}
    <ul class="trials">
      ${trials}
    </ul>`;
}
