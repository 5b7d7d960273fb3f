// The npm scripts that take arguments, and their arguments. Uses only Node's own modules, because it runs before
// anything is installed.

/** An optional number. */
const NUMBER = /^([1-9]\d{0,6})?$/;

/** The benchmarks of `npm run bench`, each with its argument. */
export const BENCHMARKS = {
  start: NUMBER,
  loading: NUMBER,
  hooks: NUMBER,
  sessions: NUMBER,
  context: NUMBER,
  instructions: /^(update)?$/,
  commands: NUMBER,
  runs: NUMBER,
  branches: NUMBER,
};

/** The steps of `npm test`. */
export const TESTS = ["format", "clippy", "clippy-wasm", "types", "deny", "rust", "pi"];

/**
 * @typedef {object} Script
 * @property {"build" | "demo" | "test" | "test:all"} needs the argument for `setup.mjs`
 * @property {boolean} [builds] true if it builds by itself, so that no build runs before it
 * @property {string} usage the arguments after `npm run NAME`
 * @property {(words: string[]) => boolean} fits
 * @property {string} [file] the script in this folder without `.mjs`; the name by default
 * @property {Record<string, string>} [env] environment variables for it
 */

const TEST = {
  needs: /** @type {const} */ ("test"),
  builds: true,
  usage: `[-- ${TESTS.join("|")} …]`,
  fits: (/** @type {string[]} */ words) => words.every((word) => TESTS.includes(word)),
};

/** @type {Record<string, Script>} */
export const SCRIPTS = {
  build: {
    needs: "build",
    builds: true,
    usage: "[-- --quick]",
    fits: (words) => words.length === 0 || words.join(" ") === "--quick",
  },
  demo: {
    needs: "demo",
    usage: "[-- --model PROVIDER/ID]",
    fits: (words) => words.length === 0 || /^--model[ =][^-\s]\S*$/.test(words.join(" ")),
  },
  bench: {
    needs: "demo",
    usage: `[-- ${Object.keys(BENCHMARKS).join("|")} [NUMBER]]`,
    fits: ([name, argument = "", ...more]) =>
      more.length === 0 &&
      (name === undefined || Object.entries(BENCHMARKS).some(([known, fit]) => known === name && fit.test(argument))),
  },
  test: TEST,
  "test:model": {
    needs: "test",
    usage: "[-- --seed NUMBER | --seeds NUMBER]",
    fits: (words) => words.length === 0 || /^--seeds?[ =][1-9]\d{0,6}$/.test(words.join(" ")),
    file: "model",
  },
  "test:all": { ...TEST, needs: "test:all", file: "test", env: { TESTS: "all" } },
  release: {
    needs: "build",
    usage: "[-- BRANCH]",
    fits: (words) => words.length === 0 || (words.length === 1 && /^[^-]/.test(words[0])),
  },
};

/**
 * Returns the script of a name if it takes these arguments. Otherwise, or if they ask for help, ends this process.
 *
 * @param {string} name
 * @param {string[]} words
 */
export function scriptFor(name, words) {
  const script = SCRIPTS[name];
  const usage = `usage: npm run ${name} ${script.usage}`;
  if (words.some((word) => word === "--help" || word === "-h")) {
    console.log(usage);
    process.exit(0);
  }
  if (!script.fits(words)) {
    console.error(usage);
    process.exit(2);
  }
  return script;
}
