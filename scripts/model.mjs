// Implements `npm run test:model`: a model that is drawn from a seed plays workflows in pi.
//
//   node scripts/model.mjs [--seed NUMBER | --seeds NUMBER]   one seed, shown in full, or those from 1 to NUMBER
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [option = "--seeds", number = "300"] = process.argv.slice(2).join("=").split("=");
const SEEDS = option === "--seed" ? `${number}-${number}` : `1-${number}`;
const { status } = spawnSync(process.execPath, ["--test", "tests/pi/model.test.mjs"], {
  cwd: join(dirname(fileURLToPath(import.meta.url)), ".."),
  stdio: "inherit",
  env: { ...process.env, SEEDS },
});
process.exit(status ?? 1);
