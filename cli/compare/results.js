// The folder of results: a folder for each trial, which counts once its trial.json is there.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { endProcess } from "../headless/pi.js";
import { forgetProcess, processOf, takeForProcess } from "../runs/process.js";
import { Failure, shortened } from "../words.js";

/**
 * The way in which a trial ended.
 * @typedef {"done" | "paused" | "stopped" | "cancelled" | "budget" | "timeout" | "error"} Ending
 */

/**
 * The way in which the tasks were hidden: from all that ran in a trial; from the tools of its agent, not from the
 * commands of gates and steps; not.
 * @typedef {"from everything" | "from tools" | "no"} Hidden
 */

/**
 * A trial that has ended. Times in milliseconds, costs in US dollars.
 * @typedef {object} Trial
 * @property {string} variant the name of a workflow, or `none`
 * @property {string} definition a digest of the workflow with its texts
 * @property {string} task
 * @property {string} taskDigest
 * @property {string} model as it was asked for; empty: the user's own
 * @property {number} number from 1
 * @property {Ending} ending
 * @property {string} text the end in words
 * @property {boolean} solved it is done, and the check passed
 * @property {import("./script.js").ScriptEnd} [check]
 * @property {Hidden} hidden the tasks
 * @property {number} startedAt since 1970
 * @property {number} ms the time of the run, without `setup` and the check
 * @property {number} turns
 * @property {number} tokens
 * @property {number} cost of the answers that have a price
 * @property {number} unpriced answers without one
 */

/**
 * A trial that may still have to be done.
 * @typedef {Pick<Trial, "variant" | "definition" | "task" | "taskDigest" | "model" | "number">} Planned
 */

const FILE = "trial.json";

/** A trial, and its folder. @typedef {Trial & { folder: string }} Found */

/** @param {string | Buffer} text */
export const digest = (text) => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** The name of a trial's folder; another one for each trial. @param {Planned} trial */
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

  /** Takes the folder for this process, and ends what a killed one has left. */
  async take() {
    mkdirSync(this.#folder, { recursive: true });
    await takeForProcess(this.#lock, "these results");
    for (const name of readdirSync(this.#folder)) {
      const folder = join(this.#folder, name);
      if (!existsSync(join(folder, "begun")) || existsSync(join(folder, FILE))) continue;
      const worker = processOf(join(folder, "session.jsonl"));
      if (worker?.isAlive) await endProcess(worker.pid);
      if (worker?.pi !== undefined) await endProcess(worker.pi);
      rmSync(folder, { recursive: true, force: true });
    }
  }

  release() {
    forgetProcess(this.#lock);
  }

  /** Returns true if a trial has ended, and can be read. @param {Planned} trial */
  has(trial) {
    return trialOf(join(this.#folder, nameOf(trial), FILE)) !== undefined;
  }

  /** The folder of a trial that begins; it is empty. @param {Planned} trial */
  begin(trial) {
    const folder = join(this.#folder, nameOf(trial));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeFileSync(join(folder, "begun"), "");
    return folder;
  }

  /** The trial is lost. @param {string} folder */
  drop(folder) {
    rmSync(folder, { recursive: true, force: true });
  }

  /** From here on the trial counts. @param {string} folder @param {Trial} trial */
  end(folder, trial) {
    writeFileSync(join(folder, `${FILE}.new`), `${JSON.stringify(trial, null, 2)}\n`);
    renameSync(join(folder, `${FILE}.new`), join(folder, FILE));
    rmSync(join(folder, "begun"), { force: true });
  }

  all() {
    return trialsIn([this.#folder]);
  }
}

/**
 * Returns the trials of folders of results. A trial that is in several of them, by a copy or because it was done again,
 * counts once: the first.
 * @param {string[]} folders also folders above them
 * @returns {{ trials: Found[], problems: string[] }}
 */
export function trialsIn(folders) {
  /** @type {Map<string, Found>} */
  const trials = new Map();
  /** @type {string[]} */
  const problems = [];
  const look = (/** @type {string} */ folder, /** @type {number} */ depth) => {
    const file = join(folder, FILE);
    if (existsSync(file)) {
      const trial = trialOf(file);
      if (!trial) return void problems.push(`${shortened(file)} cannot be read; it is left out.`);
      const name = nameOf(trial);
      const other = trials.get(name);
      if (!other || trial.startedAt < other.startedAt) trials.set(name, { ...trial, folder });
    } else if (depth > 0) {
      for (const entry of readdirSync(folder, { withFileTypes: true }))
        if (entry.isDirectory()) look(join(folder, entry.name), depth - 1);
    }
  };
  for (const folder of folders) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new Failure(`There is no folder ${shortened(folder)}.`);
    look(folder, 2);
  }
  return {
    trials: [...trials.values()].sort((a, b) => a.startedAt - b.startedAt || a.folder.localeCompare(b.folder)),
    problems,
  };
}

const HIDDEN = ["from everything", "from tools", "no"];
const ENDINGS = ["done", "paused", "stopped", "cancelled", "budget", "timeout", "error"];

/** @param {string} file @returns {Trial | undefined} */
function trialOf(file) {
  try {
    const trial = JSON.parse(readFileSync(file, "utf8"));
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
