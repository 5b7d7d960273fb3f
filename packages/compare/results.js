// The folder of results: one folder for each trial. A trial counts once its folder has a trial.json.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";

import {
  endProcess,
  Failure,
  forgetProcess,
  processOf,
  shortened,
  takeForProcess,
} from "@pi-workflows/pi-workflows/cli";
import { untrusted } from "@pi-workflows/pi-workflows/sandbox";

/**
 * The way in which a trial ended.
 * @typedef {"done" | "paused" | "stopped" | "cancelled" | "budget" | "timeout" | "error"} Ending
 */

/**
 * The processes of a trial from which the tasks were hidden: all processes; the tools of the agent, but not the
 * commands of gates and steps; none.
 * @typedef {"from everything" | "from tools" | "no"} Hidden
 */

/**
 * A trial that has ended. Times in milliseconds, costs in US dollars.
 * @typedef {object} Trial
 * @property {string} variant the name of a workflow, or `none`
 * @property {string} definition a digest of the workflow with its texts
 * @property {string} task
 * @property {string} taskDigest
 * @property {string} model as requested; empty for the user's own model
 * @property {number} number from 1
 * @property {Ending} ending
 * @property {string} text the end in words
 * @property {boolean} solved true if the run is done and the check passed
 * @property {import("./script.js").ScriptEnd} [check]
 * @property {Hidden} hidden the processes from which the tasks were hidden
 * @property {number} startedAt since 1970
 * @property {number} ms the time of the run, without `setup` and the check
 * @property {boolean} [unknown] true if the usage was more than the figures that follow, or is unknown
 * @property {number} turns
 * @property {number} tokens
 * @property {number} cost of the answers that have a price
 * @property {number} unpriced answers without a price
 */

/**
 * A trial that may still have to be done.
 * @typedef {Pick<Trial, "variant" | "definition" | "task" | "taskDigest" | "model" | "number">} Planned
 */

const FILE = "trial.json";
/** The mark of a trial that has begun: the path of its session. */
const BEGUN = "begun";
/** The maximum size of a file of a trial, in bytes. */
export const MAX_FILE = 64 * 2 ** 20;

/** A trial, and its folder. @typedef {Trial & { folder: string }} Found */

/** @param {string | Buffer} text */
export const digest = (text) => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** The name of a trial's folder, unique to the trial. @param {Planned} trial */
export function nameOf({ variant, definition, task, taskDigest, model, number }) {
  const key = digest(JSON.stringify([variant, definition, task, taskDigest, model, number])).slice(0, 8);
  return `${task}-${variant.replace(/[^\w.-]+/g, "_").slice(0, 60)}-${number}-${key}`;
}

/** A folder of results that this process writes to. */
export class Results {
  #folder;
  #lock;

  /** @param {string} folder */
  constructor(folder) {
    this.#folder = folder;
    this.#lock = join(folder, "comparison");
  }

  /** Takes the folder for this process, and ends the processes that a killed process has left. @param {boolean} [takesOver] */
  async take(takesOver) {
    mkdirSync(this.#folder, { recursive: true });
    takeForProcess(this.#lock, "these results", takesOver);
    for (const name of readdirSync(this.#folder)) {
      const session = textOf(this.#folder, `${name}/${BEGUN}`);
      if (session === undefined || textOf(this.#folder, `${name}/${FILE}`) !== undefined) continue;
      const worker = processOf(session);
      if (worker?.isAlive) await endProcess(worker.pid);
      if (worker?.pi !== undefined) await endProcess(worker.pi);
      rmSync(join(this.#folder, name), { recursive: true, force: true });
    }
  }

  release() {
    forgetProcess(this.#lock);
  }

  /** Returns true if a trial has ended, and can be read. @param {Planned} trial */
  has(trial) {
    return trialOf(this.#folder, `${nameOf(trial)}/${FILE}`) !== undefined;
  }

  /** Makes the empty folder of a trial that begins. @param {Planned} trial @param {string} session its path */
  begin(trial, session) {
    const folder = join(this.#folder, nameOf(trial));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    untrusted.replaceFile(folder, BEGUN, session);
    return folder;
  }

  /** Removes the folder of a lost trial. @param {string} folder */
  drop(folder) {
    rmSync(folder, { recursive: true, force: true });
  }

  /** Stores the record of a trial, which counts from then on. @param {string} folder @param {Trial} trial */
  end(folder, trial) {
    untrusted.replaceFile(this.#folder, `${basename(folder)}/${FILE}`, `${JSON.stringify(trial, null, 2)}\n`);
    rmSync(join(folder, BEGUN), { force: true });
  }

  all() {
    return trialsIn([this.#folder]);
  }
}

/**
 * Returns the trials of folders of results. A trial that is in several folders, because it was copied or repeated,
 * counts once: the first one counts.
 * @param {string[]} folders also folders above them
 * @returns {{ trials: Found[], problems: string[] }}
 */
export function trialsIn(folders) {
  /** @type {Map<string, Found>} */
  const trials = new Map();
  /** @type {string[]} */
  const problems = [];
  const look = (/** @type {string} */ root, /** @type {string} */ path, /** @type {number} */ depth) => {
    const entries = untrusted.inFolder(root, path, (folder) => readdirSync(folder.at("."), { withFileTypes: true }));
    const folder = join(root, path);
    if (entries.some(({ name }) => name === FILE)) {
      const trial = trialOf(root, `${path}/${FILE}`);
      if (!trial) return void problems.push(`${shortened(join(folder, FILE))} cannot be read; it is left out.`);
      const name = nameOf(trial);
      const other = trials.get(name);
      if (!other || trial.startedAt < other.startedAt) trials.set(name, { ...trial, folder });
    } else if (depth > 0) {
      for (const entry of entries) if (entry.isDirectory()) look(root, `${path}/${entry.name}`, depth - 1);
    }
  };
  for (const folder of folders) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new Failure(`There is no folder ${shortened(folder)}.`);
    look(folder, "", 2);
  }
  return {
    trials: [...trials.values()].sort((a, b) => a.startedAt - b.startedAt || a.folder.localeCompare(b.folder)),
    problems,
  };
}

const HIDDEN = ["from everything", "from tools", "no"];
const ENDINGS = ["done", "paused", "stopped", "cancelled", "budget", "timeout", "error"];

/** @param {string} root @param {string} path @returns {Trial | undefined} */
function trialOf(root, path) {
  try {
    const trial = JSON.parse(textOf(root, path) ?? "");
    const texts = [trial.variant, trial.definition, trial.task, trial.taskDigest, trial.model, trial.text];
    const numbers = [trial.number, trial.startedAt, trial.ms, trial.turns, trial.tokens, trial.cost, trial.unpriced];
    const isSound =
      HIDDEN.includes(trial.hidden) &&
      texts.every((text) => typeof text === "string") &&
      numbers.every((number) => Number.isFinite(number) && number >= 0);
    return isSound && ENDINGS.includes(trial.ending) && typeof trial.solved === "boolean" ? trial : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a file of a trial; `undefined` if the file cannot be read. @param {string} root @param {string} path */
export function textOf(root, path) {
  try {
    return String(untrusted.readFile(root, path, MAX_FILE));
  } catch {
    return undefined;
  }
}
