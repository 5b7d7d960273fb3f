// Implements `npm test` and `npm run test:all`: formatting, lints, types, and the tests of the Rust code and of the package
// in pi. `npm run test:all` sets TESTS=all: it lints the tests too, and tests/pi/harness/extent.mjs tells what else it adds.
//
//   node scripts/test.mjs [STEP …]   only these steps
//
// The steps of cargo and tsc run one after another beside the tests in pi, which wait a lot. They have a lower priority, so
// that they do not slow down tests that measure time.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { scriptFor } from "./usage.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const WASM = ["--target", "wasm32-unknown-unknown"];

/** Whether this is `npm run test:all`. */
const ALL = process.env.TESTS === "all";

/**
 * The targets that clippy checks besides those for WebAssembly. The tests need wasmtime, which takes longer to check than
 * everything else.
 */
const LINTED = ALL ? ["--all-targets"] : ["--lib", "--bins", "--examples"];

/** How many test files run at the same time. */
const FILES = 3;

/**
 * A command that must succeed.
 *
 * @typedef {[name: string, command: string, parameters: string[]]} Step
 */

/** @type {Step[]} */
const CHECKS = [
  ["format", "cargo", ["fmt", "--check"]],
  ["types", join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.json"]],
  ["clippy", "cargo", ["clippy", "--quiet", "--locked", ...LINTED, "--", "-D", "warnings"]],
  ["clippy-wasm", "cargo", ["clippy", "--quiet", "--locked", "--lib", "--examples", ...WASM, "--", "-D", "warnings"]],
  ["rust", "cargo", ["test", "--quiet", "--locked"]],
];

const REPORTERS = ["spec", "./scripts/slowest.mjs"].flatMap((name) => [`--test-reporter=${name}`, "--test-reporter-destination=stdout"]);

/** @type {Step[]} */
const IN_PI = [
  // Not process.execPath: the shell that ran the set-up still remembers the machine's node, which may be too old.
  ["pi", join(root, "node_modules/.bin/node"), ["--test", `--test-concurrency=${FILES}`, ...REPORTERS, "tests/**/*.test.mjs"]],
];

const wanted = process.argv.slice(2);
scriptFor("test", wanted);

/** @param {Step[]} steps */
const chosen = (steps) => steps.filter(([name]) => wanted.length === 0 || wanted.includes(name));
const checks = chosen(CHECKS);
const inPi = chosen(IN_PI);
const sideBySide = checks.length > 0 && inPi.length > 0;
const failed = (await Promise.all([inOrder(checks, sideBySide), inOrder(inPi, false)])).flat();
if (failed.length > 0) {
  console.error(`== failed: ${failed.join(", ")}`);
  process.exit(1);
}

/**
 * Runs steps up to the first that fails.
 *
 * @param {Step[]} steps
 * @param {boolean} behind whether other steps come first: these then have a low priority, and each prints at its end
 * @returns {Promise<string[]>} the name of the step that failed, if any
 */
async function inOrder(steps, behind) {
  for (const step of steps) {
    if (!(await passes(step, behind))) return [step[0]];
  }
  return [];
}

/**
 * @param {Step} step
 * @param {boolean} behind
 * @returns {Promise<boolean>}
 */
function passes([name, command, parameters], behind) {
  const start = performance.now();
  if (!behind) console.log(`== ${name}`);
  const child = spawn(command, parameters, { cwd: root, stdio: behind ? ["ignore", "pipe", "pipe"] : "inherit" });
  if (behind && child.pid) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve) => {
    const end = (/** @type {boolean} */ passed, /** @type {string} */ reason) => {
      const seconds = Math.round((performance.now() - start) / 1000);
      console.log(`${output}== ${name} ${passed ? "passed" : `failed${reason}`} in ${seconds} s`);
      resolve(passed);
    };
    child.once("error", (error) => end(false, `: ${error.message}`));
    child.once("close", (status) => end(status === 0, ""));
  });
}
