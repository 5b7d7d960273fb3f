// The npm scripts that take arguments, and which ones they take. Node's own modules only: it is asked before anything is
// installed.

/** An argument that may be left out: how often, or how large. */
const NUMBER = /^([1-9]\d{0,6})?$/;

/** The benchmarks of `npm run bench`, each with its argument. */
export const BENCHMARKS = { start: NUMBER, loading: NUMBER, hooks: NUMBER, sessions: NUMBER, context: NUMBER, instructions: /^(update)?$/ };

/** The steps of `npm test`. */
export const TESTS = ["format", "clippy", "clippy-wasm", "types", "rust", "pi"];

/**
 * @typedef {object} Script
 * @property {"build" | "demo" | "test"} needs what `setup.mjs` installs for it
 * @property {boolean} [builds] whether it builds itself where it needs to, so that no build comes before it
 * @property {string} usage what may stand behind `npm run NAME`
 * @property {(words: string[]) => boolean} fits
 * @property {string} [file] the script in this folder without `.mjs`, where it is not the name
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
  build: { needs: "build", builds: true, usage: "[-- --quick]", fits: (words) => words.length === 0 || words.join(" ") === "--quick" },
  demo: {
    needs: "demo",
    usage: "[-- --model PROVIDER/ID]",
    fits: (words) => words.length === 0 || /^--model[ =][^-\s]\S*$/.test(words.join(" ")),
  },
  bench: {
    needs: "demo",
    usage: `[-- ${Object.keys(BENCHMARKS).join("|")} [NUMBER]]`,
    fits: ([name, argument = "", ...more]) =>
      more.length === 0 && (name === undefined || Object.entries(BENCHMARKS).some(([known, fit]) => known === name && fit.test(argument))),
  },
  test: TEST,
  "test:all": { ...TEST, file: "test", env: { TESTS: "all" } },
  record: { needs: "test", usage: "[-- GROUP …]", fits: (words) => words.every((word) => /^[a-z]+$/.test(word)) },
  release: { needs: "build", usage: "[-- BRANCH]", fits: (words) => words.length === 0 || (words.length === 1 && /^[^-]/.test(words[0])) },
};

/**
 * The script of a name, if it takes these arguments. If it does not, or if they ask for help, this process ends here.
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
