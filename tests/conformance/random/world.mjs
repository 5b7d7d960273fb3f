// One world for both packages: the folders, the time and the luck.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mock } from "node:test";

/** The time at the beginning. */
const START = Date.UTC(2025, 4, 14, 14, 56, 7, 890);

// In memory where that is possible: thousands of small files are written.
const root = realpathSync(mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "pi-conformance-")));
const agentDir = join(root, "agent");

/** Where the project is. */
export const projectDir = join(root, "project");

/** The folders of workflows. */
export const FOLDERS = {
  global: join(agentDir, "workflows"),
  project: join(projectDir, ".pi", "workflows"),
};

/** What the reference printed about diagnostics in the files that are there. @type {string[]} */
export const printed = [];

/** Begins the world; it ends with the process. */
export function beginWorld() {
  process.env.PI_CODING_AGENT_DIR = agentDir;
  process.on("exit", () => rmSync(root, { recursive: true, force: true }));
  // In print mode ours writes its notices to standard error (difference 8).
  process.stderr.write = () => true;
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: START });
  console.warn = (...words) => void printed.push(words.join(" "));
  // What the YAML parser of the reference warns of would fill the screen.
  process.emitWarning = () => {};
  Math.random = () => (parseInt(luck, 36) + 0.5) / 36 ** 6;
  crypto.getRandomValues = (/** @type {any} */ numbers) => {
    numbers[0] = [...luck].reduceRight((number, digit) => number * 36n + BigInt(parseInt(digit, 36)), 0n);
    return numbers;
  };
}

/** Six digits of base 36: both packages end their task ids with them. */
let luck = "000000";

/** @param {string} digits */
export function setLuck(digits) {
  luck = digits;
}

/**
 * Time goes by, in steps: a timer that is started on the way counts from then.
 * @param {number} milliseconds a multiple of the step
 */
export function passTime(milliseconds) {
  for (let rest = milliseconds; rest > 0; rest -= TIME_STEP) mock.timers.tick(TIME_STEP);
}

/** The shortest time that matters to a countdown. */
export const TIME_STEP = 500;

/** As many as a handler of either package takes, unless it waits for a timer. */
const MICROTASKS = 30;

/** What takes longer waits for something that does not come. */
const MAX_TURNS = 1000;

/**
 * Waits for something that may need a timer of no delay, without any time going by.
 * @template T
 * @param {Promise<T>} promise
 */
export async function settle(promise) {
  let settled = false;
  const done = () => void (settled = true);
  promise.then(done, done);
  // Most handlers are done soon.
  for (let turns = 0; turns < MICROTASKS && !settled; turns += 1) await undefined;
  for (let turns = 0; !settled; turns += 1) {
    if (turns > MAX_TURNS) throw new Error("it never ends");
    await new Promise((resolve) => setImmediate(resolve));
    if (!settled) mock.timers.tick(0);
  }
  // And it sets the exit status.
  process.exitCode = undefined;
  return promise;
}

/**
 * Puts these files into the folders of workflows, and nothing else.
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
