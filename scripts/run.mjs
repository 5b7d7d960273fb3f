// Implements `npm run NAME`: checks the arguments, installs what is missing, builds, and runs NAME.mjs beside it.
//
//   node scripts/run.mjs NAME [ARGUMENT …]
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { scriptFor } from "./usage.mjs";

const scripts = dirname(fileURLToPath(import.meta.url));

/**
 * Runs a script, and ends this process if it fails.
 *
 * @param {string} node
 * @param {string[]} parameters
 * @param {Record<string, string>} [env] besides those of this process
 */
function run(node, [name, ...parameters], env) {
  const { status, error } = spawnSync(node, [join(scripts, `${name}.mjs`), ...parameters], {
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (error) console.error(`${name}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

const [name, ...words] = process.argv.slice(2);
const { needs, builds, file = name, env } = scriptFor(name, words);
run(process.execPath, ["setup", needs]);
// The machine's node may be too old.
const node = join(scripts, "../node_modules/.bin/node");
if (!builds) run(node, ["build"]);
run(node, [file, ...words], env);
