// For `action.yml`: reads the events of a run, appends its course to the summary of the job, and writes outputs.
//
//     node cli/action.js EVENTS BYTES SUMMARY >> "$GITHUB_OUTPUT"
//
// BYTES is the size that EVENTS had before the command: the session of an earlier job brings its events.
import { appendFileSync, readFileSync } from "node:fs";

import { cell } from "./runs/columns.js";
import { cost, counted, duration } from "./runs/figures.js";
import { parsed } from "./runs/sessions.js";

/** @typedef {import("./headless/events.js").RunEvent} RunEvent */
/** The number of rows of the course: a summary of a job has at most 1 MiB. */
const MAX_ROWS = 500;

/** @typedef {{ title: string, begins: RunEvent, left: string, notes: Map<string, number> }} Row */

const [path, bytes, summary] = process.argv.slice(2);

/** @param {Buffer} text @returns {RunEvent[]} */
const eventsIn = (text) =>
  text
    .toString("utf8")
    .split("\n")
    .flatMap((line) => /** @type {RunEvent | undefined} */ (parsed(line)) ?? []);

/** A value that a program may have written; no object. @param {unknown} value */
const textOf = (value) => (typeof value === "object" ? "" : String(value));

/** A number of an event, or 0. @param {unknown} value */
const numberOf = (value) => (typeof value === "object" ? 0 : Number(value) || 0);

/** A time as in ISO 8601, or nothing if no calendar has it. @param {unknown} ms */
function timeOf(ms) {
  const date = new Date(numberOf(ms));
  return numberOf(ms) === 0 || Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

/** A text without the characters of Markdown and HTML. @param {unknown} text */
const plain = (text) => cell(textOf(text), 80).replace(/[^\p{L}\p{N} .,:]/gu, (one) => `&#${one.codePointAt(0)};`);

/** The rows of the course: one for each entry that the run came to. @param {RunEvent[]} events */
function rowsOf(events) {
  /** @type {Row[]} */
  const rows = [];
  for (const event of events) {
    const row = rows.at(-1);
    const note = (/** @type {string} */ text) => row?.notes.set(text, (row.notes.get(text) ?? 0) + 1);
    if (row && (event.type === "entry" || event.type === "ended") && row.left === "")
      row.left = event.outcome ?? (event.type === "ended" ? event.how : event.left) ?? "";
    if (event.type === "entry") rows.push({ title: event.title, begins: event, left: "", notes: new Map() });
    if (event.type === "refused") note("call refused");
    if (event.type === "gate" && !event.passed) note("gate failed");
    if (event.type === "step" && !event.passed) note("command failed");
    if (event.type === "branch" && event.state === "failed") note("branch failed");
    if (event.type === "paused") note(`paused: ${textOf(event.reason)}`);
  }
  return rows;
}

/** @param {RunEvent[]} events */
function courseOf(events) {
  const rows = rowsOf(events);
  const last = events.findLast(({ usage }) => usage);
  const lines = rows.slice(-MAX_ROWS).map(({ title, begins, left, notes }, index, shown) => {
    const { time, usage } = shown[index + 1]?.begins ?? last ?? begins;
    const of = (/** @type {"turns" | "cost" | "unpriced"} */ name) =>
      numberOf(usage?.[name]) - numberOf(begins.usage?.[name]);
    const spent = cost({ cost: Math.max(0, of("cost")), unpriced: of("unpriced") });
    const noted = [...notes].map(([text, count]) => (count === 1 ? text : `${text} ×${count}`));
    const took = duration(numberOf(time) - numberOf(begins.time));
    const cells = [title, left, took, of("turns"), spent, noted.join(", ")];
    return `| ${cells.map(plain).join(" | ")} |`;
  });
  const more = rows.length > MAX_ROWS ? `The last ${MAX_ROWS}:\n\n` : "";
  const head = "| entry | left with | time | turns | cost | |\n| --- | --- | --- | --- | --- | --- |";
  return `\n## Course: ${counted(rows.length, "entry", "entries")}\n\n${more}${head}\n${lines.join("\n")}\n`;
}

let content = Buffer.alloc(0);
try {
  content = readFileSync(path);
} catch {
  // Nothing was started.
}
const all = eventsIn(content);
const now = eventsIn(content.subarray(Number(bytes)));
const pause = now.findLast(({ type }) => ["paused", "resumed", "ended"].includes(type));
const outputs = {
  outcome: now.findLast(({ type }) => type === "exit")?.outcome ?? "error",
  cost: numberOf(all.findLast(({ usage }) => usage)?.usage?.cost).toFixed(4),
  "quota-until": pause?.type === "paused" ? timeOf(pause.until) : "",
};
// A line break in a value would begin another output.
for (const [name, value] of Object.entries(outputs)) process.stdout.write(`${name}=${cell(textOf(value), 100)}\n`);
if (summary && all.some(({ type }) => type === "entry")) appendFileSync(summary, courseOf(all));
