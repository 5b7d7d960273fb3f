// Runs workflows on tasks many times, and tells which solves more, at which cost.
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import {
  agentDir,
  counted,
  dollars,
  duration,
  Failure,
  formatOf,
  inWords,
  onInterrupt,
  openWorkflows,
  packageFolder,
  piCommand,
  placesOf,
  quoted,
  saysYes,
  shortened,
  shown,
} from "@pi-workflows/pi-workflows/cli";
import { readText } from "@pi-workflows/pi-workflows/loader";
import { canConfine, isBelow, untrusted } from "@pi-workflows/pi-workflows/sandbox";

import { answerOf, unusual } from "./answer.js";
import { canEnclose } from "./enclosure.js";
import { COMPARISON_FORMATS } from "./formats.js";
import { hiddenFolders } from "./hidden.js";
import { Results, digest, nameOf, trialsIn } from "./results.js";
import { projectOf, tasksIn } from "./tasks.js";
import { PACKAGES, carryOut, makeAgentFolder, removeFolder, sessionIn } from "./trial.js";

/** @typedef {import("./pi-workflows-compare.js").Options} Options */
/** @typedef {import("@pi-workflows/pi-workflows/cli").Result} Result */
/** @typedef {import("./results.js").Planned} Planned */
/** @typedef {import("./results.js").Found} Found */
/** @typedef {import("./tasks.js").Task} Task */

/** The agent without a workflow. */
const NONE = "none";
/** The number of errors in a row after which no trial is started: a key or the network may be missing. */
const MAX_ERRORS = 3;
/** The exit status if the user declines the comparison. */
const NOT_STARTED = 2;
/** The number of trials and the cost above which the user is asked. */
const ASK_ABOVE = { trials: 10, cost: 2 };
/** The maximum values of the options. */
const MAX = { repeat: 1000, jobs: 16, shards: 1000 };

/**
 * Carries out the trials of workflows on tasks, and returns the answer.
 * @param {string[]} words names of workflows
 * @param {Options} options
 * @returns {Promise<Result>}
 */
export async function compare(words, options) {
  const format = formatOf(COMPARISON_FORMATS, options);
  const { tasks: folder, results } = options;
  if (words.length === 0 || folder === undefined)
    throw new Failure("run needs the names of workflows and --tasks DIR; read DIR only reads results.");
  const again = words.find((name, index) => words.indexOf(name) !== index);
  if (again !== undefined) throw new Failure(`${quoted(again)} is there twice.`);
  const comparison = await prepared(words, folder, results, options);
  const status = await carryOutAll(comparison, options);
  if (status === NOT_STARTED) return { output: "", status };
  const { trials, problems } = comparison.results.all();
  writeAnswer(comparison.resultsFolder, trials);
  tell(`The results: ${join(comparison.resultsFolder, "comparison.html")}\n`);
  return { output: format(answerOf(trials, process.cwd())), status, problems };
}

/**
 * Returns the answer of folders of results.
 * @param {string[]} folders
 * @param {Options} options
 * @returns {Result}
 */
export function read(folders, options) {
  const format = formatOf(COMPARISON_FORMATS, options);
  if (folders.length === 0) throw new Failure("read needs folders of results.");
  const { trials, problems } = trialsIn(folders);
  return { output: format(answerOf(trials, process.cwd())), problems };
}

/**
 * Reads everything that a comparison needs, before anything is started.
 * @param {string[]} variants
 * @param {string} folder
 * @param {string | undefined} results
 * @param {Options} options
 */
async function prepared(variants, folder, results, options) {
  const repeat = numberOf("repeat", options.repeat, 1, MAX.repeat);
  const jobs = numberOf("jobs", options.jobs, 1, MAX.jobs);
  const [shard, shards] = shardOf(options.shard);
  const maxCost = options["max-cost"] === undefined ? Infinity : Number(options["max-cost"].replace(/^\$/, ""));
  if (!(maxCost > 0))
    throw new Failure(`--max-cost takes US dollars, more than 0, but is ${quoted(options["max-cost"] ?? "")}.`);
  const { grants, packages } = await placesOf(undefined);
  const workflows = openWorkflows(grants, packages);
  const tasks = tasksIn(folder, workflows);
  const definitions = new Map(
    variants.map((name) => [name, name === NONE ? NONE : definitionOf(name, workflows, tasks, options)]),
  );
  const model = options.model ?? ownModel();
  const all = planOf({ variants, definitions, tasks, repeat, model })
    .filter(({ block }) => block % shards === shard)
    .map(({ planned }) => planned);
  const resultsFolder = resolve(results ?? `${resolve(folder)}-results`);
  const odd = variants.includes(NONE) ? tasks.find(({ text }) => /^\s*[/!]/.test(text)) : undefined;
  if (odd)
    throw new Failure(
      `The task ${quoted(odd.name)} begins with ${quoted(odd.text.trim()[0])}, which is a command for an agent without a workflow.`,
    );
  mkdirSync(resultsFolder, { recursive: true });
  const tasksFolder = realpathSync(folder);
  const around = tasks.find((task) => isBelow(realpathSync(resultsFolder), task.folder));
  if (around) throw new Failure(`The results cannot be in the task ${quoted(around.name)}, which they would change.`);
  return {
    all,
    tasks: new Map(tasks.map((task) => [task.name, task])),
    jobs,
    maxCost,
    grants,
    workflows,
    resultsFolder: realpathSync(resultsFolder),
    results: new Results(realpathSync(resultsFolder)),
    tasksFolder,
  };
}

/**
 * The digest of a workflow; throws if it cannot run on a task.
 * @param {string} name
 * @param {import("@pi-workflows/pi-workflows/cli").Workflows} workflows
 * @param {Task[]} tasks
 * @param {Options} options
 */
function definitionOf(name, workflows, tasks, { approve }) {
  const workflow = workflows.all().find(({ key, commandName }) => key === name || commandName === name);
  const text = workflows.definition(name);
  for (const task of tasks) workflows.runThrough(name, task.text, task.inputs, [], [], []);
  const project = resolve(".pi", "workflows");
  if (workflow && workflow.package === undefined && !approve && resolve(workflow.folder).startsWith(`${project}/`)) {
    throw new Failure(
      `${quoted(name)} is a workflow of this project. With --approve its rules hold in the trials, and its commands run.`,
    );
  }
  return digest(text);
}

/** The model that pi's settings name, for the key of trials. */
function ownModel() {
  try {
    const settings = readText(join(agentDir(), "settings.json"));
    const { defaultProvider = "", defaultModel = "" } = JSON.parse(settings);
    return defaultModel === "" ? "" : `${defaultProvider}/${defaultModel}`;
  } catch {
    return "";
  }
}

/**
 * All trials, in blocks of one task and one number. The order of the variants changes from block to block.
 * @param {{ variants: string[], definitions: Map<string, string>, tasks: Task[], repeat: number, model: string }}
 *   comparison
 * @returns {{ block: number, planned: Planned }[]}
 */
function planOf({ variants, definitions, tasks, repeat, model }) {
  const numbers = Array.from({ length: repeat }, (_, index) => index + 1);
  const blocks = numbers.flatMap((number) => tasks.map((task) => ({ task, number })));
  return blocks.flatMap(({ task, number }, block) => {
    const start = block % variants.length;
    return [...variants.slice(start), ...variants.slice(0, start)].map((variant) => {
      const definition = definitions.get(variant) ?? "";
      return { block, planned: { variant, definition, task: task.name, taskDigest: task.digest, model, number } };
    });
  });
}

/** @param {"repeat" | "jobs"} option @param {string | undefined} value @param {number} standard @param {number} most */
function numberOf(option, value, standard, most) {
  if (value === undefined) return standard;
  if (!/^\d{1,4}$/.test(value) || Number(value) < 1 || Number(value) > most)
    throw new Failure(`--${option} takes a number from 1 to ${most}, but is ${quoted(value)}.`);
  return Number(value);
}

/** @param {string | undefined} value @returns {[index: number, count: number]} */
function shardOf(value) {
  if (value === undefined) return [0, 1];
  const [, index, count] = /^(\d{1,4})\/(\d{1,4})$/.exec(value)?.map(Number) ?? [];
  if (!(index >= 1 && index <= count && count <= MAX.shards))
    throw new Failure(`--shard takes 1/8, 2/8 and so on, but is ${quoted(value)}.`);
  return [index - 1, count];
}

/**
 * Carries out the trials that are left, and returns the exit status.
 * @param {Awaited<ReturnType<typeof prepared>>} comparison
 * @param {Options} options
 */
async function carryOutAll(
  { all, tasks, jobs, maxCost, grants, workflows, resultsFolder, results, tasksFolder },
  options,
) {
  const left = all.filter((trial) => !results.has(trial));
  tell(
    `${counted(all.length, "trial")}${left.length < all.length ? `, ${all.length - left.length} of them done before` : ""}`,
  );
  if (left.length === 0) return 0;
  const pi = withPath(piCommand(options.pi));
  const before = results.all().trials;
  const estimate = estimateOf(left, before);
  tell(
    estimate === undefined
      ? "What they will cost is not known yet."
      : `By the trials that have ended, the others will cost about ${dollars(estimate)}.`,
  );
  const { hidden, reason } = hiding();
  if (hidden === "no") tell(`The tasks cannot be hidden from the agents, which may read the checks: ${reason}`);
  if (hidden === "from tools")
    tell(`The commands of gates and steps, which may run code of an agent, can read the tasks: ${reason}`);
  const own = agentDir();
  const repositories = [...tasks.values()].flatMap(({ repo }) => (repo ? [repo[0]] : []));
  const needed = realPaths([packageFolder(), own, process.execPath, ...pi.filter((word) => word.startsWith("/"))]);
  const [open, hide] = parted(hiddenFolders(tasksFolder, [resultsFolder], repositories), (path) =>
    needed.some((other) => isBelow(other, path)),
  );
  for (const path of open) tell(`${path} cannot be hidden from the agents: pi or a part of it is in there.`);
  if (!(await mayStart(left.length, estimate, options))) return NOT_STARTED;
  await results.take(options["take-over"]);
  const work = join(realpathSync(tmpdir()), `pi-workflows-compare-${digest(resultsFolder)}`);
  removeFolder(work);
  mkdirSync(work, { mode: 0o700 });
  const slots = Array.from({ length: jobs }, (_, index) => join(work, String(index + 1)));
  // An empty folder can be hidden before a trial works in it.
  for (const slot of slots) mkdirSync(slot, { mode: 0o700 });
  const agent = join(work, "agent");
  const settingsFile = join(own, "workflows/settings.yaml");
  const common = {
    work,
    agent,
    fixed: realPaths(PACKAGES.map((name) => join(own, name))),
    settings: existsSync(settingsFile) ? readText(settingsFile) : undefined,
    hidden,
    hide,
    slots,
    readYaml: workflows.readYaml,
    model: options.model,
    pi,
    "allow-commands": options["allow-commands"] || options.approve,
  };
  const interrupted = new AbortController();
  const offInterrupt = onInterrupt(() => interrupted.abort());
  try {
    makeAgentFolder(agent, own, grants, [tasksFolder, resultsFolder]);
    for (const task of new Set(left.map(({ task }) => task)))
      await projectOf(/** @type {Task} */ (tasks.get(task)), work, interrupted.signal);
    const names = new Set(all.map(nameOf));
    const paid = before.filter((found) => names.has(nameOf(found)));
    const { signal } = interrupted;
    return await runTrials(left, { count: all.length, paid, tasks, slots, results, maxCost, common, signal });
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    tell("Interrupted. The same command goes on.");
    return 130;
  } finally {
    offInterrupt();
    removeFolder(work);
    results.release();
  }
}

/**
 * Carries out trials, one at a time in each slot, and returns the exit status. Throws if the signal is aborted.
 * @param {Planned[]} left
 * @param {object} comparison
 * @param {number} comparison.count the number of all trials
 * @param {Found[]} comparison.paid the trials that have ended before
 * @param {Map<string, Task>} comparison.tasks
 * @param {string[]} comparison.slots
 * @param {Results} comparison.results
 * @param {number} comparison.maxCost
 * @param {import("./trial.js").Common} comparison.common
 * @param {AbortSignal} comparison.signal
 */
async function runTrials(left, { count, paid, tasks, slots, results, maxCost, common, signal }) {
  let spent = paid.reduce((sum, { cost }) => sum + cost, 0);
  let unknown = paid.filter(({ unknown, unpriced }) => unknown || unpriced > 0).length;
  let done = count - left.length;
  let errors = 0;
  const failure = new AbortController();
  const ended = AbortSignal.any([signal, failure.signal]);
  const queue = left.values();
  const work = async (/** @type {string} */ slot) => {
    for (const planned of queue) {
      if (ended.aborted || errors >= MAX_ERRORS || spent >= maxCost || (unknown > 0 && maxCost < Infinity)) return;
      // Another process may have carried out the trial while the user was asked.
      if (results.has(planned)) {
        done += 1;
        continue;
      }
      const place = results.begin(planned, sessionIn(slot));
      const trial = await carryOut(planned, /** @type {Task} */ (tasks.get(planned.task)), slot, place, common, ended);
      if (!trial) return results.drop(place);
      results.end(place, trial);
      mkdirSync(slot, { recursive: true, mode: 0o700 });
      spent += trial.cost;
      const isUnknown = trial.unknown || trial.unpriced > 0;
      unknown += isUnknown ? 1 : 0;
      done += 1;
      errors = trial.ending === "error" ? errors + 1 : 0;
      const how = trial.solved
        ? "solved"
        : trial.ending === "done"
          ? `false green${unusual(trial.check)}`
          : `${trial.ending}: ${trial.text}`;
      tell(
        `${done} of ${count}  ${planned.task}, ${planned.variant}, ${planned.number}: ${how} · ${trial.unknown ? "turns unknown" : counted(trial.turns, "turn")} · ${isUnknown ? "cost unknown" : dollars(trial.cost)} · ${duration(trial.ms)}`,
      );
    }
  };
  // If one trial cannot be stored, the others end too.
  const stop = (/** @type {unknown} */ reason) => {
    failure.abort();
    throw reason;
  };
  for (const end of await Promise.allSettled(slots.map((slot) => work(slot).catch(stop))))
    if (end.status === "rejected") throw end.reason;
  signal.throwIfAborted();
  if (errors >= MAX_ERRORS) {
    tell(
      `${MAX_ERRORS} trials one after the other ended with an error. Remove their folders from the results to try them again.`,
    );
    return 1;
  }
  if (done === count) return 0;
  const remaining = `${counted(count - done, "trial")} ${count - done === 1 ? "is" : "are"} left`;
  tell(
    unknown > 0
      ? `--max-cost cannot be kept: the cost of ${counted(unknown, "trial")} is not known. ${remaining}.`
      : `--max-cost is reached: ${dollars(spent)}. ${remaining}; with a higher one the same command goes on.`,
  );
  return 6;
}

/** @param {string} text */
const tell = (text) => process.stderr.write(`${shown(text)}\n`);

/**
 * The mean costs of the variants, for the trials that are left; `undefined` if a variant has no known cost yet.
 * @param {Planned[]} left
 * @param {Found[]} before
 */
function estimateOf(left, before) {
  let sum = 0;
  for (const { variant, definition } of left) {
    const known = before.filter(
      (trial) =>
        trial.variant === variant &&
        trial.definition === definition &&
        !trial.unknown &&
        trial.unpriced === 0 &&
        trial.ending !== "error",
    );
    if (known.length === 0) return undefined;
    sum += known.reduce((all, { cost }) => all + cost, 0) / known.length;
  }
  return sum;
}

/**
 * The way in which tasks can be hidden here, and the reason if tasks cannot be hidden from everything.
 * @returns {{ hidden: import("./results.js").Hidden, reason?: string }}
 */
function hiding() {
  try {
    canConfine(false);
  } catch (error) {
    return { hidden: "no", reason: shortened(inWords(error)) };
  }
  try {
    canEnclose();
    return { hidden: "from everything" };
  } catch (error) {
    return { hidden: "from tools", reason: shortened(inWords(error)) };
  }
}

/**
 * The command of pi for other folders: its path is absolute.
 * @param {[string, ...string[]]} command
 * @returns {[string, ...string[]]}
 */
const withPath = ([program, ...words]) => [
  program.includes("/") ? resolve(program) : program,
  ...words.map((word) => resolve(word)),
];

/** @param {string[]} paths paths that do not exist are left out */
const realPaths = (paths) => paths.filter((path) => existsSync(path)).map((path) => realpathSync(path));

/** @template T @param {T[]} items @param {(item: T) => boolean} isFirst @returns {[T[], T[]]} */
const parted = (items, isFirst) => [items.filter(isFirst), items.filter((item) => !isFirst(item))];

/** @param {number} trials @param {number | undefined} estimate @param {Options} options */
async function mayStart(trials, estimate, { yes }) {
  if (yes || (trials <= ASK_ABOVE.trials && (estimate ?? 0) <= ASK_ABOVE.cost)) return true;
  if (!process.stdin.isTTY)
    throw new Failure(`${counted(trials, "trial")} ${trials === 1 ? "is" : "are"} started only with --yes.`);
  return saysYes(`Start ${counted(trials, "trial")}? yes or no? `);
}

/** Writes the answer beside the results. @param {string} folder @param {Found[]} trials */
function writeAnswer(folder, trials) {
  const answer = answerOf(trials, folder);
  for (const name of ["md", "json", "html"]) {
    untrusted.replaceFile(folder, `comparison.${name}`, COMPARISON_FORMATS[name](answer));
  }
}
