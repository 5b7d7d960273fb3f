// The report of a run in a session file.
import { Failure, quoted, shortened } from "../words.js";
import { reportIn } from "./course.js";
import { reportHtml } from "./html/page.js";
import { readable } from "./readable.js";

/** @typedef {import("./find.js").Run} Run */
/** @typedef {{ markdown: string, data: object }} Report */

/**
 * Formats of `report`; `width` is that of a terminal.
 * @type {Record<string, (report: Report, width?: number) => string>}
 */
export const REPORT_FORMATS = {
  text: ({ markdown }, width) => readable(markdown, width),
  md: ({ markdown }) => `${markdown}\n`,
  json: ({ data }) => `${JSON.stringify(data, null, 2).replace(UNSEEN, escaped)}\n`,
  html: ({ data }) => reportHtml(data),
};

/** Characters that JSON allows, but that could control a terminal or change the order of others. */
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** @param {string} character */
const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The number of task IDs in an error message. */
const MAX_LISTED = 5;

/**
 * Returns the run with a task ID or the beginning of a task ID; without either, the newest run. Of several sessions
 * with the run, the session that went on last counts.
 * @param {Run[]} runs newest first
 * @param {string | undefined} beginning
 * @param {boolean} isOfProject true if all runs are of one project
 */
export function runOf(runs, beginning, isOfProject) {
  const [newest] = runs;
  if (!newest)
    throw new Failure(
      isOfProject
        ? "This project has no runs; --all looks in the sessions of all projects."
        : "There are no runs in these sessions.",
    );
  const of = (/** @type {(taskId: string) => boolean} */ isMeant) => runs.filter(({ state }) => isMeant(state.taskId));
  const exact = of((taskId) => taskId === (beginning ?? newest.state.taskId));
  const meant = exact.length > 0 ? exact : of((taskId) => taskId.startsWith(beginning ?? ""));
  const ids = [...new Set(meant.map(({ state }) => state.taskId))];
  if (ids.length === 0)
    throw new Failure(
      `There is no run ${quoted(beginning ?? "")} here; "pi-workflows runs" lists them${isOfProject ? ", and --all looks in all projects" : ""}.`,
    );
  if (ids.length > 1) {
    const listed = ids.slice(0, MAX_LISTED).map(shortened).join(", ");
    throw new Failure(
      `${quoted(beginning ?? "")} is the beginning of ${ids.length} runs: ${listed}${ids.length > MAX_LISTED ? ", …" : ""}`,
    );
  }
  return meant.reduce((last, run) => (run.lastAt > last.lastAt ? run : last));
}

/** @param {Run} run @returns {Report} */
export function reportOf(run) {
  const found = reportIn(run.session.file, run.state.taskId);
  if (!found) throw new Failure(`${shortened(run.session.file)} no longer has the run.`);
  if (run.outcome === "lost" && found.data.outcome === "running") found.data.outcome = run.outcome;
  return found;
}
