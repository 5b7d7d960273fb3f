// Counts the instructions of the core's work with callgrind: figures that do not depend on the load of the machine. The
// known figures are in instructions.txt; an increase of more than a twentieth fails.
//
//   npm run bench -- instructions update    stores the figures
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { table } from "./measure.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const KNOWN = fileURLToPath(new URL("instructions.txt", import.meta.url));

/** The cases of instructions.rs. */
const CASES = {
  parse: "read 100 workflows of 4 phases",
  resolve: "look up a state, five workflows deep",
  advance: "go on to the next phase",
  prompt: "write the context prompt",
  restore: "read a stored state",
  tool_call: "decide about a tool call",
  before_agent_start: "brief the agent",
};

/** The tolerated increase, because compilers differ slightly. */
const TOLERANCE = 1.05;

/** @param {string} [argument] */
export default async function instructions(argument) {
  if (spawnSync("valgrind", ["--version"]).status !== 0) {
    console.log("valgrind, which counts the instructions, is not installed.");
    return true;
  }
  run("cargo", ["build", "--quiet", "--locked", "--release", "--bin", "instructions"], {
    // callgrind selects the function by its name.
    CARGO_PROFILE_RELEASE_STRIP: "none",
    CARGO_TARGET_DIR: join(ROOT, "target/instructions"),
  });
  const counts = Object.fromEntries(Object.keys(CASES).map((name) => [name, count(name)]));
  const known = argument === "update" || !existsSync(KNOWN) ? counts : readKnown();
  const rows = Object.entries(CASES).map(([name, what]) => {
    const change = (counts[name] / known[name] - 1) * 100;
    return [`${name}: ${what}`, counts[name].toLocaleString("en-US"), `${change.toFixed(1)} %`];
  });
  console.log(`${table(["instructions", "now", "more than known"], rows)}\n`);
  if (argument === "update")
    writeFileSync(
      KNOWN,
      Object.entries(counts)
        .map(([name, n]) => `${name} ${n}\n`)
        .join(""),
    );
  const risen = Object.keys(CASES).filter((name) => counts[name] > known[name] * TOLERANCE);
  console.log(risen.length ? `TOO HIGH: ${risen.join(", ")}` : "ok: the figures in scripts/bench/instructions.txt");
  return risen.length === 0;
}

/** @param {string} name */
function count(name) {
  const folder = mkdtempSync(join(tmpdir(), "pi-bench-"));
  try {
    const binary = join(ROOT, "target/instructions/release/instructions");
    const tool = ["--tool=callgrind", "--toggle-collect=*measured*", `--callgrind-out-file=${join(folder, "out")}`];
    const collected = /Collected : (\d+)/.exec(run("valgrind", [...tool, binary, name]));
    if (!collected) throw new Error(`callgrind counted nothing for ${name}`);
    return Number(collected[1]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns {Record<string, number>} */
function readKnown() {
  const lines = readFileSync(KNOWN, "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split(" ")).map(([name, count]) => [name, Number(count)]));
}

/**
 * @param {string} command
 * @param {string[]} parameters
 * @param {Record<string, string>} [env]
 */
function run(command, parameters, env) {
  const { status, error, stderr } = spawnSync(command, parameters, {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
  return stderr;
}
