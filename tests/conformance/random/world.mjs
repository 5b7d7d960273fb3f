// The environment of both packages: folders, time and random numbers.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mock } from "node:test";

/** The initial time. */
const START = Date.UTC(2025, 4, 14, 14, 56, 7, 890);

// In memory if possible: the tests write thousands of small files.
const root = realpathSync(mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "pi-conformance-")));
const agentDir = join(root, "agent");

/** The folder of the project. */
export const projectDir = join(root, "project");

/** The folders of workflows. */
export const FOLDERS = {
  global: join(agentDir, "workflows"),
  project: join(projectDir, ".pi", "workflows"),
};

/** The diagnostics that the reference printed about the current files. @type {string[]} */
export const printed = [];

/** Sets up the environment until the process ends. */
export function beginWorld() {
  process.env.PI_CODING_AGENT_DIR = agentDir;
  process.on("exit", () => rmSync(root, { recursive: true, force: true }));
  // In print mode ours writes its notices to standard error (difference 8).
  process.stderr.write = () => true;
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: START });
  console.warn = (...words) => void printed.push(words.join(" "));
  // The YAML parser of the reference emits many warnings.
  process.emitWarning = () => {};
  Math.random = () => (parseInt(randomDigits, 36) + 0.5) / 36 ** 6;
  crypto.getRandomValues = (/** @type {any} */ numbers) => {
    numbers[0] = [...randomDigits].reduceRight((number, digit) => number * 36n + BigInt(parseInt(digit, 36)), 0n);
    return numbers;
  };
}

/** Six base-36 digits, with which both packages end a task id. */
let randomDigits = "000000";

/** @param {string} digits */
export function setRandomDigits(digits) {
  randomDigits = digits;
}

/**
 * Advances the time in steps, so that a timer started meanwhile counts from its start.
 * @param {number} milliseconds a multiple of the step
 */
export function passTime(milliseconds) {
  for (let rest = milliseconds; rest > 0; rest -= TIME_STEP) mock.timers.tick(TIME_STEP);
}

/** The step of the mocked time, in milliseconds. */
export const TIME_STEP = 500;

/** The maximum number of microtasks of a handler of either package that waits for no timer. */
const MICROTASKS = 30;

/** The maximum number of event-loop turns before a promise counts as never settled. */
const MAX_TURNS = 1000;

/**
 * Waits for a promise that may depend on timers without delay, and does not advance the time.
 * @template T
 * @param {Promise<T>} promise
 */
export async function settle(promise) {
  let settled = false;
  const done = () => void (settled = true);
  promise.then(done, done);
  // Most handlers settle within a few microtasks.
  for (let turns = 0; turns < MICROTASKS && !settled; turns += 1) await undefined;
  for (let turns = 0; !settled; turns += 1) {
    if (turns > MAX_TURNS) throw new Error("the promise did not settle");
    await new Promise((resolve) => setImmediate(resolve));
    if (!settled) mock.timers.tick(0);
  }
  // Ours sets the exit status in print mode.
  process.exitCode = undefined;
  return promise;
}

/**
 * Replaces the contents of the workflow folders with these files.
 * @param {Record<string, string | Uint8Array>} files from paths like `global/alpha/workflow.yaml`
 */
export function writeWorkflows(files) {
  printed.length = 0;
  for (const folder of Object.values(FOLDERS)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  for (const [path, content] of Object.entries(files)) {
    const [base, ...rest] = path.split("/");
    const file = join(FOLDERS[/** @type {"global" | "project"} */ (base)], ...rest);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}
