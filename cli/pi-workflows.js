#!/usr/bin/env node
// `pi-workflows`: checks and shows workflow files outside of pi.
//
// Exit status: 0; 1 if `check` fails or `may` says no; 2 if the command line is wrong or a file cannot be read or
// written, with one line on standard error; the exit statuses of `run` are in headless/run.js. `runs`, `report` and
// `stats` pass over a session file that cannot be read, with a line on standard error.
import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { gitFoldersOf } from "#sandbox";

import { flag, runProgram, shown, text, texts } from "./command-line.js";
import { FORMATS } from "./formats.js";
import { runWorkflow } from "./headless/run.js";
import { modelsOfPi } from "./models.js";
import { exampleFiles, newWorkflow, writeNew } from "./new.js";
import { packageFiles, shortName } from "./new-package.js";
import { agentDir, isInPackage, isProject, placesOf, workflowsAbove } from "./places.js";
import { cleanRuns } from "./runs/clean.js";
import { findRuns } from "./runs/find.js";
import { RUN_FORMATS, STATS_FORMATS } from "./runs/formats.js";
import { REPORT_FORMATS, reportOf, runOf } from "./runs/report.js";
import { statsOf } from "./runs/stats.js";
import { openWorkflows } from "./workflows.js";
import { Failure, formatOf, inWords, inputsIn, pairs, quoted, similar } from "./words.js";

/** pi's own tools. Extensions add others, so only a name that is similar to one of these is a diagnostic. */
const PI_TOOLS = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/** All options, with their help; the usage names the commands that take an option. */
const OPTIONS = {
  dir: text(
    "DIR",
    "a workflows folder, a workflow's own folder, a project, or a pi package; else what pi reads here: ~/.pi/agent/workflows, .pi/workflows and installed packages",
  ),
  strict: flag("warnings fail too"),
  format: text(
    "FORMAT",
    "of check: text, json, or github (annotations of a workflow run); of runs and stats: text or json; of report: text (in a terminal), md (elsewhere), json or html",
  ),
  tools: text(
    "A,B",
    "all tools of the agent; default: pi's own, and names that are not similar to one of them are allowed",
  ),
  profiles: text("A,B", "all subagent profiles; default: those in agents/ of pi's folders, if there are any"),
  task: text("TEXT", 'the task ("a sample task")'),
  input: texts(
    "NAME=VALUE",
    "a value of an input; once for each input, and for each item of a list; or one JSON object with all values",
  ),
  "task-file": text("FILE", "the task is in a file, or comes from standard input (-), and may be long"),
  outcome: texts(
    "ID=NAME[,NAME...]",
    "the outcomes of the phase with this id at its first, second, ... visit, the last one also later; default: the first outcome that does not lead back",
  ),
  answer: texts("ID=NAME[,NAME...]", "the user's answers to the question with this id, likewise"),
  output: texts(
    "ID.NAME=VALUE",
    "an output of the phase with this id; once for each output, and for each item of a list; default: a sample",
  ),
  item: texts(
    "GROUP=TEXT",
    "an item of the list for which the group with this id is repeated; once for each item; default: samples",
  ),
  model: text("MODEL", "the model, as pi's own option"),
  budget: text("BOUNDS", "a bound for this run beside those of the workflow, such as cost=2,time=30m; also turns"),
  wait: text(
    "TIME",
    "how long the run may wait for limits of the model in all, as 6h; else it ends at one, with exit status 7",
  ),
  silence: text(
    "TIME",
    "the time without new output after which the agent is stopped, once with a message, then with exit status 8; off: never; default: 30m",
  ),
  continue: flag("goes on with the newest run of this project that has not ended, or with that of --session"),
  session: text("FILE", "the session; default: a new one where pi has its own"),
  "take-over": flag("takes the session over from a process of another host or container that works no more"),
  approve: flag("pi trusts the project, also its workflows, for this run"),
  "allow-commands": flag("the commands of a project's or a package's workflow run without a question"),
  "allow-value": texts("COMMAND", "this value of a run may become a command, also with --continue"),
  "no-context-files": flag("the agents do not read AGENTS.md and CLAUDE.md"),
  "accept-rules": text("SEAL", "goes on with rules that have changed, if this is their seal, which the pause names"),
  more: text(
    "AMOUNT",
    "what a budget that is used up gets: 1.00, 20m, 10; unknown: costs that are not known are accepted",
  ),
  result: text("FILE", "writes the report with the end of the run, as JSON"),
  summary: text("FILE", "appends the report, as Markdown; say $GITHUB_STEP_SUMMARY"),
  events: text("FILE", "appends the events of the run to a file, as JSON lines; - is standard output"),
  "events-full": flag("the events have the task, summaries, outputs and command lines too"),
  detach: flag("goes on in the background; runs shows it"),
  watch: flag("shows them again every two seconds"),
  quiet: flag("shows nothing but why a run has not ended"),
  pi: text("PATH", "the program or the JavaScript file of pi; default: the command pi"),
  global: flag("writes to ~/.pi/agent/workflows/NAME"),
  package: flag("writes a pi package; NAME may be @SCOPE/NAME"),
  from: text("EXAMPLE", "copies an example of this package, such as bugfix, and what it shares"),
  description: text("TEXT", "what the workflow is for"),
  template: text(
    "KIND",
    "how it works: look (look first, then change; the default), check (until a command passes), or panel (three reviewers)",
  ),
  gate: text("COMMAND", "the command that must pass; KIND is check; default: npm test"),
  workflow: text("NAME", "those of the workflow with this key or command name"),
  since: text("TIME", "runs that started since then: 30m, 12h, 7d, 4w ago, or a date as 2026-01-31"),
  clean: text(
    "TIME",
    "removes the folders of runs in .pi/workflow-runs without a change in this time, as 30d, after a question; alone",
  ),
  all: flag("the sessions of all projects"),
  sessions: text("DIR", "the sessions in DIR and in its folders; a session file is possible too"),
};

/** @typedef {import("./command-line.js").Result} Result */
/** @typedef {import("./command-line.js").OptionsOf<typeof OPTIONS>} Options */
/** @typedef {import("./command-line.js").Command<Options>} Command */

/** @type {Record<string, Command>} */
const COMMANDS = {
  check: {
    form: "[DIR]",
    does: "every diagnostic of every file; fails if there are errors",
    options: "dir strict format tools profiles pi",
    run: check,
  },
  graph: {
    form: "NAME",
    does: "a workflow as a Mermaid flowchart",
    options: "dir",
    run: ([name], { dir }) => using(dir, (workflows) => workflows.graph(name)),
  },
  show: {
    form: "NAME",
    does: "a workflow with its nested workflows, and its templates filled in",
    options: "dir task",
    run: ([name], { dir, task = SAMPLE }) => using(dir, (workflows) => workflows.show(name, task)),
  },
  "run-through": {
    form: "NAME",
    does: "the messages to an agent that goes through all phases; no model is needed",
    options: "dir task input outcome answer output item",
    run: runThrough,
  },
  may: {
    form: "WORKFLOW PHASE TOOL [ARGUMENT]",
    does: "allowed, confined or refused, and the line of the rule that decides; ARGUMENT is the path for edit and write; PHASE is the id of a phase of WORKFLOW itself",
    other: "may - TOOL [ARGUMENT]: the same outside of runs, by your own limits",
    takes: "WORKFLOW PHASE [TOOL] [ARGUMENT]",
    options: "dir",
    run: may,
  },
  list: { does: "the workflows that load", options: "dir", run: list },
  run: {
    form: "NAME [INPUT=VALUE ...] [TASK]",
    does: 'runs a workflow in a pi without its terminal interface, to its end. The last word is the task, whole: "run flow scope=src" has the task "scope=src"; a workflow with a defaultTask needs none. Before a text of others write --, or it may be an option. With --continue it goes on with a run that has not ended, by a message to its agent if there is one',
    takes: "[NAME] [INPUT=VALUE...] [TASK]",
    options:
      "task-file input model budget wait silence continue session take-over accept-rules more approve no-context-files allow-commands allow-value result summary events events-full detach quiet pi",
    run: async (words, options) => ({ output: "", status: await runWorkflow(words, options) }),
  },
  new: {
    form: "NAME",
    does: "writes a new workflow that runs, to .pi/workflows/NAME, and asks about it in a terminal if there are no options; with --package a new pi package with it, to NAME; with --from a copy of an example",
    options: "description template gate dir global package from",
    run: create,
  },
  runs: {
    does: "the runs in the sessions of this project, newest first",
    options: "workflow since clean all sessions format watch",
    run: runs,
  },
  report: {
    form: "[RUN]",
    does: "the report of a run: outcome, phases, time, tokens, cost, gates, summaries; RUN is its task ID or the beginning of it; default: the newest run",
    options: "all sessions format",
    run: report,
  },
  stats: {
    form: "[NAME]",
    does: "the figures of each phase over these runs: medians and maxima of time, cost, visits, gate failures and refusals; NAME is the key or command name of a workflow",
    options: "since all sessions format",
    run: stats,
  },
};

const SAMPLE = "a sample task";
const STATUSES = `Exit status: 0, 1 if check fails or may refuses, 2 if the command could not be carried out. Of run: 0 done,
1 error, 2 wrong command line, 3 paused, 4 stopped, 5 cancelled, 6 at the end of a budget, 7 at a limit of the
model.`;

/** @type {Command["run"]} */
async function check([word], options) {
  const format = formatOf(FORMATS, options);
  if (word !== undefined && options.dir !== undefined) throw new Failure("check takes a DIR or --dir, not both.");
  const { grants, packages, only, problem } = await placesOf(word ?? options.dir ?? (isInPackage() ? "." : undefined));
  const surroundings = {
    tools: names(options, "tools") ?? PI_TOOLS,
    moreTools: options.tools === undefined,
    profiles: names(options, "profiles"),
  };
  const workflows = openWorkflows(grants, packages);
  const first = workflows.check(surroundings, only);
  const known = first.namesModels ? modelsOfPi(options.pi) : undefined;
  const { gitRules, namesModels, ...found } = known?.models
    ? workflows.check({ ...surroundings, models: known.models }, only)
    : first;
  const report = { ...found, gitFolders: gitRules.map((rule) => standsFor(rule, grants.at(-1)?.within ?? ".")) };
  const fails = report.diagnostics.some(({ severity }) => severity === "error" || options.strict);
  const above =
    (word ?? options.dir) === undefined && /^0 workflows/.test(report.summary) ? workflowsAbove() : undefined;
  const hasCommands = options.format === "github";
  return {
    output: format(report),
    hasCommands,
    status: fails ? 1 : 0,
    problems: listOf(problem, known?.problem, above),
  };
}

/**
 * The folders of git that a rule stands for in a project.
 * @param {[field: string, path: string]} rule
 * @param {string} project
 */
function standsFor([field, path], project) {
  try {
    const { folders, reason } = gitFoldersOf(field, path, resolve(project));
    return { field, path, folders, ...(reason === undefined ? {} : { reason }) };
  } catch (error) {
    return { field, path, folders: [], reason: inWords(error) };
  }
}

/** @type {Command["run"]} */
function runThrough([name], { dir, task = SAMPLE, ...given }) {
  const inputs = inputsIn(given.input);
  // The answers to a question are its outcomes.
  const ways = /** @type {const} */ (["outcome", "answer"]).flatMap((option) =>
    pairs(option, "ID=NAME[,NAME...]", given[option]),
  );
  /** @type {[string, string[]][]} */
  const outcomes = ways.map(([id, names]) => [id, names.split(",").map((name) => name.trim())]);
  const outputs = pairs("output", "ID.NAME=VALUE", given.output);
  const items = pairs("item", "GROUP=TEXT", given.item);
  return using(dir, (workflows) => workflows.runThrough(name, task, inputs, outcomes, outputs, items));
}

/** @type {Command["run"]} */
async function may([name, phase, tool, argument], { dir }) {
  if (name === "-" && argument !== undefined)
    throw new Failure(`${quoted(argument)} is one word too many. Put a text in quotes.`);
  if (name !== "-" && tool === undefined) throw new Failure("pi-workflows may needs a TOOL.");
  let status = 0;
  const result = await using(dir, (workflows) => {
    const answer = name === "-" ? workflows.mayWithoutRun(phase, tool) : workflows.may(name, phase, tool, argument);
    status = answer.allowed ? 0 : 1;
    return answer.text;
  });
  return { ...result, status };
}

/** @type {Command["run"]} */
async function list(_, { dir }) {
  const result = await using(dir, (workflows) => {
    const lines = workflows.all().map(({ commandName, key, name, description, folder, package: origin }) => {
      const place = origin === undefined ? folder : `package ${origin}: ${folder}`;
      const words = `${commandName || `(${key})`}  ${name}${description ? `: ${description}` : ""}  ${place}`;
      return words.replace(/\s*\n\s*/g, " ");
    });
    return lines.join("\n");
  });
  const outside =
    "There is no .pi/workflows here: the workflows are those of your own folder and of installed packages.";
  const isOutside = dir === undefined && !isProject() && !isInPackage();
  const problems = isOutside ? listOf(outside, workflowsAbove()) : [];
  return { ...result, problems: [...(result.problems ?? []), ...problems] };
}

/** The options of `new` that exclude each other. */
const APART = ["dir global", "package global", "package from", "description from", "template from", "gate from"];

/** @type {Command["run"]} */
async function create([name], options) {
  for (const pair of APART) {
    const [one, other] = /** @type {(keyof Options)[]} */ (pair.split(" "));
    if (options[one] !== undefined && options[other] !== undefined)
      throw new Failure(`new takes --${one} or --${other}, not both.`);
  }
  const { dir, global, package: isPackage, from, gate, template = gate === undefined ? "" : "check" } = options;
  if (gate !== undefined && template !== "check") throw new Failure("new takes --gate with --template check only.");
  const next = (/** @type {string} */ short, inFolder = "", install = "") =>
    `Change these, look at them with "pi-workflows run-through ${short}${inFolder}", ${install}start them in pi with "/workflow ${short} TASK".`;
  const answers = [options.description ?? "", template, gate ?? ""];
  if (isPackage) {
    const short = shortName(name);
    const folder = join(dir ?? ".", short);
    const install = `install them with "pi install ${isAbsolute(folder) ? folder : `./${folder}`}", `;
    const { files } = await newWorkflow(short, [folder], answers);
    return written(folder, packageFiles(name, files), next(short, ` --dir ${folder}`, install));
  }
  const own = join(agentDir(), "workflows");
  const folder = dir ?? (global ? own : join(".pi", "workflows"));
  const { stdin, stdout, stderr } = process;
  const asks = Object.keys(options).length === 0 && [stdin, stdout, stderr].every(({ isTTY }) => isTTY);
  const places = (asks ? [folder, own] : [folder]).map((folder) => join(folder, name));
  // Nobody is asked in vain.
  const free = asks ? places.filter((place) => !existsSync(place)) : places;
  if (free.length === 0) throw new Failure(`${places[0]} is there already.`);
  const { files: ofAnswers, place } = await newWorkflow(name, free, asks ? undefined : answers);
  const { files, shared } = from === undefined ? { files: ofAnswers, shared: [] } : exampleFiles(from, name);
  const ofShared = join(folder, "_shared");
  const more = shared.length > 0 && !existsSync(ofShared) ? { [ofShared]: shared } : {};
  return written(place, files, next(name), more);
}

/**
 * Writes new folders, and returns their paths with the next steps.
 * @param {string} folder
 * @param {Parameters<typeof writeNew>[1]} files
 * @param {string} next
 * @param {Record<string, Parameters<typeof writeNew>[1]>} [more]
 */
function written(folder, files, next, more = {}) {
  const paths = Object.entries({ [folder]: files, ...more }).flatMap((one) => writeNew(...one));
  return { output: [...paths, "", next].join("\n") };
}

/** The width of the terminal; `undefined` elsewhere, and where a terminal has none. */
const width = () => process.stdout.columns || undefined;

/** @type {Command["run"]} */
async function runs(_, options) {
  if (options.clean !== undefined) {
    const other = Object.keys(options).find((option) => option !== "clean");
    if (other !== undefined) throw new Failure(`--clean and --${other} exclude each other.`);
    return cleanRuns(timeOf(options.clean, "clean"));
  }
  const format = formatOf(RUN_FORMATS, options);
  const found = await finder(options.workflow, options);
  const isOfAll = options.all === true || options.sessions !== undefined;
  const find = () => {
    const { runs, problems } = found();
    return { output: format(runs, isOfAll, width()), problems };
  };
  return options.watch ? watch(find) : find();
}

/** The time between two looks of `--watch`, in milliseconds. */
const WATCH = 2000;

/**
 * Shows a result in a terminal again and again, until the user ends it.
 * @param {() => Result} find
 * @returns {Promise<Result>}
 */
async function watch(find) {
  if (!process.stdout.isTTY) throw new Failure("--watch needs a terminal.");
  for (;;) {
    const { output, problems = [] } = find();
    const lines = [...shown(output).trimEnd().split("\n"), ...problems.map((problem) => shown(problem))].slice(
      0,
      process.stdout.rows - 1,
    );
    process.stdout.write(`\x1b[H\x1b[J${lines.join("\n")}\n`);
    await sleep(WATCH);
  }
}

/** @type {Command["run"]} */
function report([run], options) {
  const format = formatOf(REPORT_FORMATS, options, process.stdout.isTTY ? "text" : "md");
  const { runs, problems } = findRuns(sessionsOf(options));
  try {
    const chosen = runOf(runs, run, options.all !== true && options.sessions === undefined);
    const lost = `The process that worked on this run has ended: pi-workflows run --continue --session ${chosen.session.file}`;
    const output = format(reportOf(chosen), width());
    return { output, problems: chosen.outcome === "lost" ? [...problems, lost] : problems };
  } catch (error) {
    // A file that cannot be read may be the reason.
    return { output: "", status: 2, problems: [...problems, inWords(error)] };
  }
}

/** @type {Command["run"]} */
async function stats([workflow], options) {
  const format = formatOf(STATS_FORMATS, options);
  const { runs, problems } = (await finder(workflow, options))();
  return { output: format(statsOf(runs), width()), problems };
}

/**
 * Returns a function that finds the runs of a workflow, or of all; without a run of it another name may be suggested.
 * @param {string | undefined} name
 * @param {Options} options
 */
async function finder(name, options) {
  const { keys: workflows, meant } = await keysOf(name);
  return () => {
    const { runs, problems } = findRuns({ ...sessionsOf(options), workflows });
    return { runs, problems: runs.length > 0 ? problems : [...problems, ...meant] };
  };
}

/**
 * The keys of the workflows that a name may mean: the key itself, or, without a workflow of this key, also the keys of
 * workflows with this command name. `meant` is the suggestion for a name that no workflow has.
 * @param {string | undefined} name
 * @returns {Promise<{ keys?: string[], meant: string[] }>}
 */
async function keysOf(name) {
  if (name === undefined) return { meant: [] };
  try {
    const { grants, packages } = await placesOf(undefined);
    const all = openWorkflows(grants, packages).all();
    if (all.some(({ key }) => key === name)) return { keys: [name], meant: [] };
    const named = all.filter((one) => [one.commandName, `${one.package}/${one.commandName}`].includes(name));
    const near = similar(
      name,
      all.map(({ commandName, key }) => commandName || key),
    );
    const meant =
      named.length > 0 || near === undefined ? [] : [`There is no workflow ${quoted(name)}: did you mean ${near}?`];
    return { keys: [name, ...named.map(({ key }) => key)], meant };
  } catch {
    // The runs of a workflow can be found without its files.
    return { keys: [name], meant: [] };
  }
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

/**
 * Returns the time that an option names, in milliseconds since 1970.
 * @param {string} since
 * @param {"since" | "clean"} option
 */
function timeOf(since, option = "since") {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(since) ?? [];
  if (unit !== undefined) return Date.now() - Number(count) * LENGTHS[unit];
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(since)?.map(Number) ?? [];
  // The beginning of the day in the local time zone. JavaScript takes 31 February as 3 March.
  const start = new Date(year, month - 1, day);
  if (Number.isNaN(start.getTime()) || start.getMonth() !== month - 1)
    throw new Failure(`--${option} takes 30m, 12h, 7d, 4w or a date as 2026-01-31, but is ${quoted(since)}.`);
  return start.getTime();
}

/**
 * Returns the output of a function of the workflows in a place.
 * @param {string | undefined} dir
 * @param {(workflows: import("./workflows.js").Workflows) => string} work
 * @returns {Promise<Result>}
 */
async function using(dir, work) {
  const { grants, packages, problem } = await placesOf(dir);
  try {
    return { output: work(openWorkflows(grants, packages)), problems: listOf(problem) };
  } catch (error) {
    // A package that was not looked at may be the reason, or the place.
    const problems = listOf(problem, dir === undefined ? workflowsAbove() : undefined);
    if (problems.length === 0) throw error;
    return { output: "", status: 2, problems: [...problems, inWords(error)] };
  }
}

/** @param {(string | undefined)[]} problems */
const listOf = (...problems) => problems.filter((problem) => problem !== undefined);

/**
 * The names in an option's value.
 * @param {Options} options
 * @param {"tools" | "profiles"} option
 */
function names(options, option) {
  const names = options[option]
    ?.split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  if (names?.length === 0) throw new Failure(`--${option} needs names, with commas between them.`);
  return names;
}

await runProgram("pi-workflows", { options: OPTIONS, commands: COMMANDS, statuses: STATUSES });
