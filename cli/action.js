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
/** @typedef {{ title: string, begins: RunEvent, left: string, notes: Map<string, number> }} Row */

const [path, bytes, summary] = process.argv.slice(2);

/** @param {Buffer} text @returns {RunEvent[]} */
const eventsIn = (text) =>
  text
    .toString("utf8")
    .split("\n")
    .flatMap((line) => /** @type {RunEvent | undefined} */ (parsed(line)) ?? []);

/** A text without the characters of Markdown and HTML. @param {unknown} text */
const plain = (text) => cell(String(text), 80).replace(/[^\p{L}\p{N} .,:]/gu, (one) => `&#${one.codePointAt(0)};`);

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
    if (event.type === "paused") note(`paused: ${event.reason}`);
  }
  return rows;
}

/** @param {RunEvent[]} events */
function courseOf(events) {
  const rows = rowsOf(events);
  const last = events.findLast(({ usage }) => usage);
  const lines = rows.map(({ title, begins, left, notes }, index) => {
    const { time, usage } = rows[index + 1]?.begins ?? last ?? begins;
    const of = (/** @type {"turns" | "cost" | "unpriced"} */ name) =>
      (usage?.[name] ?? 0) - (begins.usage?.[name] ?? 0);
    const spent = cost({ cost: Math.max(0, of("cost")), unpriced: of("unpriced") });
    const noted = [...notes].map(([text, count]) => (count === 1 ? text : `${text} ×${count}`));
    const cells = [title, left, duration(time - begins.time), of("turns"), spent, noted.join(", ")];
    return `| ${cells.map(plain).join(" | ")} |`;
  });
  const head = "| entry | left with | time | turns | cost | |\n| --- | --- | --- | --- | --- | --- |";
  return `\n## Course: ${counted(rows.length, "entry", "entries")}\n\n${head}\n${lines.join("\n")}\n`;
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
  cost: (all.findLast(({ usage }) => usage)?.usage?.cost ?? 0).toFixed(4),
  "quota-until": pause?.type === "paused" && pause.until ? new Date(pause.until).toISOString() : "",
};
// A line break in a value would begin another output.
for (const [name, value] of Object.entries(outputs)) process.stdout.write(`${name}=${cell(value, 100)}\n`);
if (summary && all.some(({ type }) => type === "entry")) appendFileSync(summary, courseOf(all));
