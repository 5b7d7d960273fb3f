#!/usr/bin/env node
// `pi-workflows`: checks and shows workflow files outside of pi.
//
// Exit status: 0; 1 if `check` fails or `may` says no; 2 if the command line is wrong or a file cannot be read or written, with one line
// on standard error. `runs`, `report` and `stats` pass over a session file that cannot be read, with
// a line on standard error.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { plainText } from "../host-shim/drawing.js";
import { FORMATS } from "./formats.js";
import { writeNew } from "./new.js";
import { agentDir, placesOf } from "./places.js";
import { findRuns } from "./runs/find.js";
import { RUN_FORMATS, STATS_FORMATS } from "./runs/formats.js";
import { REPORT_FORMATS, reportOf, runOf } from "./runs/report.js";
import { statsOf } from "./runs/stats.js";
import { openWorkflows } from "./workflows.js";
import { Failure, inWords, quoted } from "./words.js";

/** pi's own tools. Extensions add others, so only a name that is similar to one of these is a diagnostic. */
const PI_TOOLS = ["read", "bash", "edit", "write", "grep", "find", "ls"];

const USAGE = `Usage: pi-workflows COMMAND [options]

  check [DIR]        every diagnostic of every file; fails if there are errors
  graph NAME         a workflow as a Mermaid flowchart
  show NAME          a workflow with its nested workflows, and its templates filled in
  run-through NAME   the messages to an agent that goes through all phases; no model is needed
  may WORKFLOW PHASE TOOL [ARGUMENT]
                     allowed, confined or refused, and the line of the rule that decides; ARGUMENT is
                     the path for edit and write; PHASE is the id of a phase of WORKFLOW itself
  new NAME           writes a new workflow that runs, to .pi/workflows/NAME
  list               the workflows that load
  runs               the runs in the sessions of this project, newest first
  report [RUN]       the report of a run: outcome, phases, time, tokens, cost, gates, summaries; RUN is
                     its task ID or the beginning of it; default: the newest run
  stats [NAME]       medians and maxima of time, cost, passes, gate failures and refusals of each
                     phase over these runs; NAME is the key of a workflow

Options:
  --dir DIR          a workflows folder, a workflow's own folder, or a project; else what pi reads
                     here: ~/.pi/agent/workflows and .pi/workflows
  --strict           of check: warnings fail too
  --format FORMAT    of check: text, json, or github (annotations of a workflow run); of runs and
                     stats: text or json; of report: md, json or html
  --tools A,B        of check: all tools of the agent; default: pi's own, and names that are not
                     similar to one of them are allowed
  --profiles A,B     of check: all subagent profiles; default: those in agents/ of pi's folders, if
                     there are any
  --task TEXT        of show and run-through: the task ("a sample task")
  --global           of new: writes to ~/.pi/agent/workflows/NAME
  --workflow NAME    of runs: those of the workflow with this key
  --since TIME       of runs and stats: runs that started since then: 30m, 12h, 7d, 4w ago, or a date
                     as 2026-01-31
  --all              of runs, report and stats: the sessions of all projects
  --sessions DIR     of runs, report and stats: the sessions in DIR and in its folders; a session file
                     is possible too
  --help, --version

Exit status: 0, 1 if check fails or may refuses, 2 if the command could not be carried out.
`;

const TEXT = /** @type {const} */ ({ type: "string" });
const FLAG = /** @type {const} */ ({ type: "boolean" });
const OPTIONS = {
  dir: TEXT,
  format: TEXT,
  tools: TEXT,
  profiles: TEXT,
  task: TEXT,
  strict: FLAG,
  global: FLAG,
  workflow: TEXT,
  since: TEXT,
  all: FLAG,
  sessions: TEXT,
  help: FLAG,
  version: FLAG,
};

/**
 * @typedef {object} Options
 * @property {string} [dir]
 * @property {string} [format]
 * @property {string} [tools]
 * @property {string} [profiles]
 * @property {string} [task]
 * @property {boolean} [strict]
 * @property {boolean} [global]
 * @property {string} [workflow]
 * @property {string} [since]
 * @property {boolean} [all]
 * @property {string} [sessions]
 *
 * `problems`: lines for standard error that do not change the exit status.
 * @typedef {{ output: string, status?: number, problems?: string[] }} Result
 *
 * @typedef {object} Command
 * @property {string[]} takes the words behind the command; those in brackets may be absent
 * @property {string[]} options its options
 * @property {(words: string[], options: Options) => Result} run
 */

/** @type {Record<string, Command>} */
const COMMANDS = {
  check: { takes: ["[DIR]"], options: ["dir", "strict", "format", "tools", "profiles"], run: check },
  graph: { takes: ["NAME"], options: ["dir"], run: ([name], { dir }) => ({ output: workflows(dir).graph(name) }) },
  show: { takes: ["NAME"], options: ["dir", "task"], run: ([name], { dir, task }) => ({ output: workflows(dir).show(name, sample(task)) }) },
  "run-through": {
    takes: ["NAME"],
    options: ["dir", "task"],
    run: ([name], { dir, task }) => ({ output: workflows(dir).runThrough(name, sample(task)) }),
  },
  may: { takes: ["WORKFLOW", "PHASE", "TOOL", "[ARGUMENT]"], options: ["dir"], run: may },
  list: { takes: [], options: ["dir"], run: list },
  new: { takes: ["NAME"], options: ["dir", "global"], run: create },
  runs: { takes: [], options: ["workflow", "since", "all", "sessions", "format"], run: runs },
  report: { takes: ["[RUN]"], options: ["all", "sessions", "format"], run: report },
  stats: { takes: ["[NAME]"], options: ["since", "all", "sessions", "format"], run: stats },
};

/** @type {Command["run"]} */
function check([word], options) {
  const format = formatOf(FORMATS, options);
  if (word !== undefined && options.dir !== undefined) throw new Failure("check takes a DIR or --dir, not both.");
  const places = placesOf(word ?? options.dir);
  const surroundings = { tools: names(options, "tools") ?? PI_TOOLS, moreTools: options.tools === undefined, profiles: names(options, "profiles") };
  const report = openWorkflows(places.grants).check(surroundings, places.only);
  const fails = report.diagnostics.some(({ severity }) => severity === "error" || options.strict);
  return { output: format(report), status: fails ? 1 : 0 };
}

/** @type {Command["run"]} */
function may([name, phase, tool, argument], { dir }) {
  const { allowed, text } = workflows(dir).may(name, phase, tool, argument);
  return { output: text, status: allowed ? 0 : 1 };
}

/** @type {Command["run"]} */
function list(_, { dir }) {
  const lines = workflows(dir).all().map(({ commandName, key, name, description, folder }) => {
    const words = `${commandName || `(${key})`}  ${name}${description ? `: ${description}` : ""}  ${folder}`;
    return words.replace(/\s*\n\s*/g, " ");
  });
  return { output: lines.join("\n") };
}

/** @type {Command["run"]} */
function create([name], { dir, global }) {
  if (dir !== undefined && global) throw new Failure("new takes --dir or --global, not both.");
  const files = openWorkflows([]).skeleton(name);
  const written = writeNew(join(dir ?? (global ? join(agentDir(), "workflows") : join(".pi", "workflows")), name), files);
  const next = `Change these, look at them with "pi-workflows run-through ${name}", start them in pi with "/workflow ${name} TASK".`;
  return { output: [...written, "", next].join("\n") };
}

/** @type {Command["run"]} */
function runs(_, options) {
  const format = formatOf(RUN_FORMATS, options);
  const { runs, problems } = findRuns({ ...sessionsOf(options), workflow: options.workflow });
  return { output: format(runs, options.all === true || options.sessions !== undefined, process.stdout.columns), problems };
}

/** @type {Command["run"]} */
function report([run], options) {
  const format = formatOf(REPORT_FORMATS, options, "md");
  const { runs, problems } = findRuns(sessionsOf(options));
  try {
    return { output: format(reportOf(runOf(runs, run, options.all !== true && options.sessions === undefined))), problems };
  } catch (error) {
    // A file that cannot be read may be the reason.
    return { output: "", status: 2, problems: [...problems, inWords(error)] };
  }
}

/** @type {Command["run"]} */
function stats([workflow], options) {
  const format = formatOf(STATS_FORMATS, options);
  const { runs, problems } = findRuns({ ...sessionsOf(options), workflow });
  return { output: format(statsOf(runs)), problems };
}

/**
 * The session files that the options name.
 * @param {Options} options
 * @returns {import("./runs/sessions.js").Selection}
 */
function sessionsOf({ all, sessions, since }) {
  if (all && sessions !== undefined) throw new Failure("--all and --sessions exclude each other.");
  return { all, sessions, since: since === undefined ? undefined : timeOf(since) };
}

/** Lengths of time in milliseconds. @type {Record<string, number>} */
const LENGTHS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Returns the time that `--since` names, in milliseconds since 1970. @param {string} since */
function timeOf(since) {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(since) ?? [];
  if (unit !== undefined) return Date.now() - Number(count) * LENGTHS[unit];
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(since)?.map(Number) ?? [];
  // The beginning of the day in the local time zone. JavaScript takes 31 February as 3 March.
  const start = new Date(year, month - 1, day);
  if (Number.isNaN(start.getTime()) || start.getMonth() !== month - 1) throw new Failure(`--since takes 30m, 12h, 7d, 4w or a date as 2026-01-31, but is ${quoted(since)}.`);
  return start.getTime();
}

/**
 * The format of the output.
 * @template T
 * @param {Record<string, T>} formats
 * @param {Options} options
 * @param {string} [standard]
 */
function formatOf(formats, options, standard = "text") {
  const { format = standard } = options;
  const known = own(formats, format);
  if (!known) throw new Failure(`There is no format ${quoted(format)}, only ${Object.keys(formats).join(", ")}.`);
  return known;
}

/**
 * @param {string[]} parameters
 * @returns {Result}
 */
function main(parameters) {
  const { values, positionals } = parse(parameters);
  if (values.version) return { output: packageVersion() };
  if (values.help) return { output: USAGE };
  const [name, ...words] = positionals;
  if (name === undefined) throw new Failure(USAGE.trimEnd());
  const command = own(COMMANDS, name);
  if (!command) throw new Failure(`There is no command ${quoted(name)}, only ${Object.keys(COMMANDS).join(", ")}.`);
  const unfit = Object.keys(values).find((option) => !command.options.includes(option));
  if (unfit !== undefined) throw new Failure(`pi-workflows ${name} takes no --${unfit}.`);
  for (const [option, value] of Object.entries(values)) if (value === "") throw new Failure(`--${option} needs a value.`);
  const surplus = words[command.takes.length];
  if (surplus !== undefined) throw new Failure(`${quoted(surplus)} is one word too many. Put a text in quotes.`);
  const missing = command.takes.find((word, index) => words[index] === "" || (words[index] === undefined && !word.startsWith("[")));
  if (missing) throw new Failure(`pi-workflows ${name} needs ${missing === "[ARGUMENT]" ? "an" : "a"} ${missing.replace(/[[\]]/g, "")}.`);
  if (!hasFolder()) throw new Failure("The current folder is not there any more.");
  return command.run(words, values);
}

/** Tests if the working directory of this process exists. */
function hasFolder() {
  try {
    return process.cwd() !== "";
  } catch {
    return false;
  }
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new Failure(/** @type {Error} */ (error).message.split(/\. |\n/)[0]);
  }
}

/**
 * A record's own property of this name.
 * @template T
 * @param {Record<string, T>} record
 * @param {string} name
 */
const own = (record, name) => (Object.hasOwn(record, name) ? record[name] : undefined);

/** @param {string | undefined} dir */
const workflows = (dir) => openWorkflows(placesOf(dir).grants);

const sample = (task = "a sample task") => task;

/**
 * The names in an option's value.
 * @param {Options} options
 * @param {"tools" | "profiles"} option
 */
function names(options, option) {
  const names = options[option]?.split(",").map((name) => name.trim()).filter(Boolean);
  if (names?.length === 0) throw new Failure(`--${option} needs names, with commas between them.`);
  return names;
}

function packageVersion() {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}

/** @param {string} words */
function fail(words) {
  process.exitCode = 2;
  process.stderr.write(`${plainText(words)}\n`);
}

/** A closed pipe is not an error. @param {any} error */
function outputFails(error) {
  if (error.code !== "EPIPE") fail(`The output cannot be written: ${inWords(error)}`);
}

process.stdout.on("error", outputFails);
// The error cannot be reported.
process.stderr.on("error", () => {});
try {
  const { output, status = 0, problems = [] } = main(process.argv.slice(2));
  process.exitCode = status;
  for (const problem of problems) process.stderr.write(`${plainText(problem.replace(/\s+/g, " "))}\n`);
  if (output !== "") process.stdout.write(plainText(output.endsWith("\n") ? output : `${output}\n`));
} catch (error) {
  fail(inWords(error));
}
