// Measures the figures of docs/performance.md. Each benchmark has a name and a file in bench/:
//
//   npm run bench                   all of them
//   npm run bench -- context        one
//   npm run bench -- context 2000   one, with its argument
//
// Exit 1 if a figure exceeds its limit.
import branches from "./bench/branches.mjs";
import commands from "./bench/commands.mjs";
import context from "./bench/context.mjs";
import hooks from "./bench/hooks.mjs";
import instructions from "./bench/instructions.mjs";
import loading from "./bench/loading.mjs";
import runs from "./bench/runs.mjs";
import sessions from "./bench/sessions.mjs";
import start from "./bench/start.mjs";
import { BENCHMARKS, scriptFor } from "./usage.mjs";

/**
 * @type {Record<keyof typeof BENCHMARKS, (argument?: string) => Promise<boolean>>} each resolves with true if no figure exceeds its limit
 */
const RUNS = { start, loading, hooks, sessions, context, instructions, commands, runs, branches };

const words = process.argv.slice(2);
scriptFor("bench", words);
const [name, argument] = words;
for (const [each, run] of Object.entries(RUNS)) {
  if (name !== undefined && name !== each) continue;
  if (!(await run(argument))) process.exitCode = 1;
}
