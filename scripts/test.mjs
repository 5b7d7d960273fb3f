// Runs everything that says whether the project is sound. `npm test` has installed and built before.
//
//   node scripts/test.mjs [NAME …]   only the steps of these names
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { scriptFor } from "./usage.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const WASM = ["--target", "wasm32-unknown-unknown"];

/** @type {[name: string, command: string, parameters: string[]][]} */
const STEPS = [
  ["format", "cargo", ["fmt", "--check"]],
  ["clippy", "cargo", ["clippy", "--quiet", "--locked", "--all-targets", "--", "-D", "warnings"]],
  ["clippy-wasm", "cargo", ["clippy", "--quiet", "--locked", "--lib", "--examples", ...WASM, "--", "-D", "warnings"]],
  ["types", join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.json"]],
  ["rust", "cargo", ["test", "--quiet", "--locked"]],
  // Not process.execPath: the shell that ran the set-up still remembers the machine's node, which may be too old.
  ["pi", join(root, "node_modules/.bin/node"), ["--test", "--test-concurrency=2", "tests/**/*.test.mjs"]],
];

const wanted = process.argv.slice(2);
scriptFor("test", wanted);
for (const [name, command, parameters] of STEPS) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const start = performance.now();
  console.log(`== ${name}`);
  const { status, error } = spawnSync(command, parameters, { cwd: root, stdio: "inherit" });
  if (status !== 0) {
    console.error(`== ${name} failed${error ? `: ${error.message}` : ""}`);
    process.exit(1);
  }
  console.log(`== ${name} passed in ${Math.round((performance.now() - start) / 1000)} s`);
}
