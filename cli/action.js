// For `action.yml`: reads the result of a run, appends its course to the summary of the job, and writes outputs.
//
//     node cli/action.js RESULT SUMMARY >> "$GITHUB_OUTPUT"
import { closeSync, constants, writeFileSync } from "node:fs";

import { messageOf, unlessFails, untrusted } from "#sandbox";

import { cell } from "./runs/columns.js";
import { counted, duration } from "./runs/figures.js";
import { reportData } from "./runs/html/data.js";
import { ENDINGS } from "./runs/html/timeline.js";

/** The greatest result that is read, in bytes. */
const MAX_RESULT = 256 * 2 ** 20;
/** The number of rows of the course: a summary of a job has at most 1 MiB. */
const MAX_ROWS = 500;

/** A text without the characters of Markdown and HTML. @param {string} [text] */
const plain = (text = "") => cell(text, 80).replace(/[^\p{L}\p{N} .,:]/gu, (one) => `&#${one.codePointAt(0)};`);

/** @param {ReturnType<typeof reportData>} report */
function courseOf({ visits, spans, pause }) {
  const rows = visits.filter(({ isOfBranch }) => !isOfBranch);
  const lines = rows.slice(-MAX_ROWS).map(({ name, how, from, to }) => {
    const past = spans.filter(({ reason, ...span }) => reason !== "" && span.from < to && span.to > from);
    const reasons = new Set([...past.map(({ reason }) => reason), ...(how === "current" && pause ? [pause] : [])]);
    const cells = [name, ENDINGS.get(how), duration(to - from), ...[...reasons].map((reason) => `paused: ${reason}`)];
    return `| ${[...cells.slice(0, 3), cells.slice(3).join(", ")].map(plain).join(" | ")} |`;
  });
  const more = rows.length > MAX_ROWS ? `The last ${MAX_ROWS}:\n\n` : "";
  const head = "| entry | end | time | |\n| --- | --- | --- | --- |";
  return `\n## Course: ${counted(rows.length, "entry", "entries")}\n\n${more}${head}\n${lines.join("\n")}\n`;
}

const [path, summary] = process.argv.slice(2);
// Without a result nothing was started.
const result = unlessFails(() => JSON.parse(String(untrusted.readUserFile(path, MAX_RESULT)))) ?? {};
const report = reportData(result);
const { outcome, quotaUntil } = Object(result.end);
const until = new Date(typeof quotaUntil === "number" ? quotaUntil : NaN);
const outputs = {
  outcome: typeof outcome === "string" ? outcome : "error",
  cost: report.usage.cost.toFixed(4),
  "quota-until": Number.isNaN(until.getTime()) ? "" : until.toISOString(),
};
// A line break in a value would begin another output.
for (const [name, value] of Object.entries(outputs)) process.stdout.write(`${name}=${cell(value, 100)}\n`);
if (summary && report.visits.length > 0) {
  try {
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
    const { descriptor } = untrusted.openUserFile(summary, { flags });
    writeFileSync(descriptor, courseOf(report));
    closeSync(descriptor);
  } catch (error) {
    process.stderr.write(`The summary cannot be written: ${messageOf(error)}\n`);
  }
}
