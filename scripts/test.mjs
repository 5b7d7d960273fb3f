// Implements `npm test` and `npm run test:all`: formatting, lints, types, and the tests of the Rust code and of the
// package in pi. `npm run test:all` sets TESTS=all: it lints the tests too, and tests/pi/harness/extent.mjs tells what
// else it adds.
//
//   node scripts/test.mjs [STEP …]   only these steps
//
// Two lanes run side by side: the build and the tests in pi, which wait a lot; and the steps of cargo and tsc. The
// second lane has a lower priority, so that it does not slow down tests that measure time, and it waits for the build
// before it tests the component.
import { spawn, spawnSync } from "node:child_process";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { scriptFor } from "./usage.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const WASM = ["--target", "wasm32-unknown-unknown"];

/** True for `npm run test:all`. */
const ALL = process.env.TESTS === "all";

/** The number of cases of a property test that names none. */
const CASES = ALL ? 400 : 64;

/** The number of test files that run at the same time. */
const FILES = 3;

// Not process.execPath, which is the machine's node and may be too old.
const NODE = join(root, "node_modules/.bin/node");

/**
 * A command that must succeed.
 *
 * @typedef {object} Step
 * @property {string} name
 * @property {string} [title] printed in place of the name
 * @property {string} command
 * @property {string[]} parameters
 * @property {boolean} [built] true if it needs the built component
 * @property {boolean} [long] true if only `npm run test:all` runs it
 * @property {() => string | undefined} [unless] returns the reason to pass over the step, if there is one
 */

const RUST = ["test", "--quiet", "--locked"];
const DENY = ["deny", "--all-features"];

/** @type {Step[]} */
const CHECKS = [
  { name: "format", title: "format (Rust)", command: "cargo", parameters: ["fmt", "--check"] },
  {
    name: "format",
    title: "format (fuzz targets)",
    command: "cargo",
    parameters: ["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml"],
  },
  {
    name: "format",
    title: "format (JavaScript)",
    command: join(root, "node_modules/.bin/prettier"),
    parameters: ["--check", "--log-level", "warn", "--cache", "--cache-location", "target/prettier", "."],
  },
  { name: "types", command: join(root, "node_modules/.bin/tsc"), parameters: ["-p", "tsconfig.json"] },
  // The tests need wasmtime, which takes longer to check than everything else.
  {
    name: "clippy",
    command: "cargo",
    parameters: ["clippy", "--quiet", "--locked", "--all-targets", "--", "-D", "warnings"],
    long: true,
  },
  {
    name: "clippy-wasm",
    command: "cargo",
    parameters: [
      "clippy",
      "--quiet",
      "--locked",
      "--lib",
      "--examples",
      ...WASM,
      "--",
      "-D",
      "warnings",
      "-D",
      "clippy::too_many_lines",
    ],
  },
  {
    name: "deny",
    command: "cargo",
    parameters: [...DENY, "check", "bans", "licenses", "sources"],
    long: true,
    unless: noCargoDeny,
  },
  {
    name: "deny",
    title: "deny (advisories)",
    command: "cargo",
    parameters: [...DENY, "check", "advisories"],
    long: true,
    unless: noAdvisories,
  },
  // Compiles while the component is built.
  { name: "rust", title: "rust (compiling)", command: "cargo", parameters: [...RUST, "--no-run"] },
  { name: "rust", command: "cargo", parameters: RUST, built: true },
];

const REPORTERS = ["spec", "./scripts/slowest.mjs"].flatMap((name) => [
  `--test-reporter=${name}`,
  "--test-reporter-destination=stdout",
]);

/** @type {Step} */
const BUILD = { name: "build", command: NODE, parameters: ["scripts/build.mjs"] };

/** @type {Step} */
const IN_PI = {
  name: "pi",
  command: NODE,
  parameters: [
    "--test",
    `--test-concurrency=${FILES}`,
    ...REPORTERS,
    "tests/**/*.test.mjs",
    "packages/*/tests/*.test.mjs",
  ],
  built: true,
};

const wanted = process.argv.slice(2);
scriptFor("test", wanted);

/** @param {Step[]} steps */
const chosen = (steps) =>
  steps.filter(({ name, long }) => (wanted.length === 0 ? ALL || !long : wanted.includes(name)));
const checks = chosen(CHECKS);
const inPi = chosen([IN_PI]);
const behind = checks.length > 0 && inPi.length > 0;
const built = [...checks, ...inPi].some((step) => step.built) ? passes(BUILD, false) : Promise.resolve(true);
const failed = (await Promise.all([inOrder(checks), inOrder(inPi)])).flat();
if (!(await built)) failed.unshift("build");
if (failed.length > 0) {
  console.error(`== failed: ${failed.join(", ")}`);
  process.exit(1);
}

/**
 * Runs the steps of a lane up to the first that fails, or that needs a build that has failed.
 *
 * @param {Step[]} steps
 * @returns {Promise<string[]>} the name of the step that failed, if any
 */
async function inOrder(steps) {
  for (const step of steps) {
    if (step.built && !(await built)) return [];
    const reason = step.unless?.();
    if (reason !== undefined) {
      console.log(`== ${step.title ?? step.name} passed over: ${reason}`);
      continue;
    }
    if (!(await passes(step, behind && steps === checks))) return [step.name];
  }
  return [];
}

/**
 * @param {Step} step
 * @param {boolean} behind true for a low priority, with the output printed at the end
 * @returns {Promise<boolean>}
 */
function passes({ name, title = name, command, parameters }, behind) {
  const start = performance.now();
  if (!behind) console.log(`== ${title}`);
  const child = spawn(command, parameters, {
    cwd: root,
    env: { PROPTEST_CASES: String(CASES), ...process.env },
    stdio: behind ? ["ignore", "pipe", "pipe"] : "inherit",
  });
  if (behind && child.pid) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve) => {
    const end = (/** @type {boolean} */ passed, /** @type {string} */ reason) => {
      const seconds = Math.round((performance.now() - start) / 1000);
      console.log(`${output}== ${title} ${passed ? "passed" : `failed${reason}`} in ${seconds} s`);
      resolve(passed);
    };
    child.once("error", (error) => end(false, `: ${error.message}`));
    child.once("close", (status) => end(status === 0, ""));
  });
}

/** @returns {string | undefined} */
function noCargoDeny() {
  return succeeds("cargo", ["deny", "--version"])
    ? undefined
    : "cargo-deny is not installed (cargo install cargo-deny)";
}

/** @returns {string | undefined} */
function noAdvisories() {
  const fetched = () => succeeds("cargo", [...DENY, "fetch", "db"]);
  return noCargoDeny() ?? (fetched() ? undefined : "the advisory database cannot be fetched");
}

/**
 * @param {string} command
 * @param {string[]} parameters
 */
function succeeds(command, parameters) {
  return spawnSync(command, parameters, { cwd: root, stdio: "ignore" }).status === 0;
}
