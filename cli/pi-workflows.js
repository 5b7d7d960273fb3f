#!/usr/bin/env node
// `pi-workflows`: what the component knows of workflow files, outside of pi.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

import { plainText } from "../host-shim/drawing.js";
import { agentDir, placesOf } from "./places.js";
import { FORMATS } from "./formats.js";
import { openWorkflows } from "./workflows.js";

/** The tools that pi brings along. Extensions bring others, so only a slip in a name is a fault. */
const PI_TOOLS = ["read", "bash", "edit", "write", "grep", "find", "ls"];

const USAGE = `Usage: pi-workflows COMMAND [options]

  check [DIR]        every fault of every file; fails if there are errors
  graph NAME         a workflow as a Mermaid flowchart
  show NAME          a workflow with all that is nested in it, and what its templates become
  run-through NAME   what an agent is told that goes through all phases; no model is needed
  new NAME           writes a new workflow that runs, to .pi/workflows/NAME
  list               the workflows that load

Options:
  --dir DIR          a workflows folder, a workflow's own folder, or a project; else what pi reads
                     here: ~/.pi/agent/workflows and .pi/workflows
  --format FORMAT    of check: text, json, or github (annotations of a workflow run)
  --tools A,B        of check: all tools the agent has; else pi's own, and a tool that is like none of
                     them is taken for an extension's
  --profiles A,B     of check: the subagent profiles that there are; else those in agents/ of pi's
                     folders, if there are any
  --task TEXT        of show and run-through: the task ("a sample task")
  --global           of new: writes to ~/.pi/agent/workflows/NAME
  --help, --version
`;

/** A mistake of the person at the keyboard; its message says what is wrong. */
class UsageError extends Error {}

/** @type {Record<string, (name: string, options: Options) => number>} */
const COMMANDS = {
  check: (dir, options) => {
    const format = FORMATS[options.format ?? "text"];
    if (!format) throw new UsageError(`There is no format "${options.format}", only ${Object.keys(FORMATS).join(", ")}.`);
    const places = placesOf(dir || options.dir);
    const report = openWorkflows(places.grants).check({
      tools: list(options.tools) ?? PI_TOOLS,
      moreTools: options.tools === undefined,
      profiles: list(options.profiles),
    });
    const faults = report.faults.filter(({ file }) => isBelow(file, places.only));
    process.stdout.write(plainText(format({ ...report, faults })));
    return faults.some(({ severity }) => severity === "error") ? 1 : 0;
  },
  graph: (name, options) => print(workflows(options).graph(needed(name, "graph"))),
  show: (name, options) => print(workflows(options).show(needed(name, "show"), task(options))),
  "run-through": (name, options) => print(workflows(options).runThrough(needed(name, "run-through"), task(options))),
  list: (_, options) => {
    for (const { commandName, key, name, description, folder } of workflows(options).all()) {
      print(`${commandName || `(${key})`}  ${name}${description ? `: ${description}` : ""}  ${folder}`);
    }
    return 0;
  },
  new: (name, options) => {
    const files = openWorkflows([]).skeleton(needed(name, "new"));
    const base = options.dir ?? (options.global ? join(agentDir(), "workflows") : join(".pi", "workflows"));
    const folder = join(base, name);
    if (existsSync(folder)) throw new UsageError(`${folder} is there already.`);
    mkdirSync(folder, { recursive: true });
    for (const { path, text } of files) writeFileSync(join(folder, path), text);
    for (const { path } of files) print(join(folder, path));
    return print(`\nChange these, look at them with "pi-workflows run-through ${name}", start them in pi with "/workflow ${name} TASK".`);
  },
};

/**
 * @typedef {object} Options
 * @property {string} [dir]
 * @property {string} [format]
 * @property {string} [tools]
 * @property {string} [profiles]
 * @property {string} [task]
 * @property {boolean} [global]
 */

/** @param {string[]} parameters */
function main(parameters) {
  const { values, positionals } = parse(parameters);
  if (values.version) return print(packageVersion());
  const [command, name = "", ...more] = positionals;
  if (values.help || command === undefined) {
    process[values.help ? "stdout" : "stderr"].write(USAGE);
    return values.help ? 0 : 2;
  }
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (!run) throw new UsageError(`There is no command "${command}", only ${Object.keys(COMMANDS).join(", ")}.`);
  if (more.length > 0) throw new UsageError(`"${more[0]}" is one word too many. Put a text in quotes.`);
  return run(name, values);
}

/** @param {string[]} args */
function parse(args) {
  const text = /** @type {const} */ ({ type: "string" });
  const flag = /** @type {const} */ ({ type: "boolean" });
  const options = { dir: text, format: text, tools: text, profiles: text, task: text, global: flag, help: flag, version: flag };
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message.split(". ")[0]);
  }
}

/** @param {Options} options */
const workflows = ({ dir }) => openWorkflows(placesOf(dir).grants);

/** @param {Options} options */
const task = (options) => options.task ?? "a sample task";

/**
 * @param {string} name
 * @param {string} command
 */
function needed(name, command) {
  if (!name) throw new UsageError(`pi-workflows ${command} needs a NAME.`);
  return name;
}

/** @param {string | undefined} names */
const list = (names) => names?.split(",").map((name) => name.trim()).filter(Boolean);

/** @param {string} text */
function print(text) {
  process.stdout.write(`${plainText(text)}\n`);
  return 0;
}

/**
 * Whether a file that the component names lies below a folder.
 * @param {string} file
 * @param {string | undefined} folder
 */
function isBelow(file, folder) {
  if (folder === undefined) return true;
  const path = file.startsWith("~/") ? join(homedir(), file.slice(2)) : resolve(file);
  const way = relative(folder, path);
  return way === "" || !way.startsWith("..");
}

function packageVersion() {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (/** @type {any} */ error) {
  const known = error instanceof UsageError || typeof error.payload === "string";
  process.stderr.write(known ? `${error.payload ?? error.message}\n` : `${error.stack}\n`);
  process.exitCode = 2;
}
