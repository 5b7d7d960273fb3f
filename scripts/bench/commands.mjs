// Measures what a phase's limits add to a command of the agent: the same command by pi's own shell, as it is and
// confined.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as codingAgent from "@earendil-works/pi-coding-agent";

import { Confinement } from "../../host-shim/confinement.js";
import { inTurns, median, spread, table, verdict } from "./measure.mjs";

/** The number of commands of each kind. */
const COMMANDS = 51;

/** The number of files in the large listed folder. */
const FILES = 10_000;

/** The maximum time that limits may add to a command, in milliseconds. */
const ADDED = 15;

/** @param {string} [commands] */
export default async function commands(commands) {
  const root = mkdtempSync(join(tmpdir(), "bench-commands-"));
  try {
    for (let n = 0; n < FILES; n += 1) {
      const folder = join(root, "build", String(n % 100));
      if (n < 100) mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${n}.o`), "");
    }
    mkdirSync(join(root, "docs"));
    const times = await inTurns(commands ? Number(commands) : COMMANDS, {
      plain: () => run(root, undefined),
      nothing: () => run(root, confinement([])),
      folder: () => run(root, confinement([`${root}/docs/`])),
      large: () => run(root, confinement([`${root}/build/`])),
    });
    return report(times);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/**
 * Returns a function that confines a call as the loader does.
 * @param {string[]} writable
 */
function confinement(writable) {
  const pi = /** @type {any} */ ({ on() {} });
  const confinement = new Confinement(pi, /** @type {any} */ ({ codingAgent }), true);
  confinement.test(true);
  return async (/** @type {any} */ event) => {
    const context = /** @type {any} */ ({
      cwd: event.cwd,
      isProjectTrusted: () => true,
      sessionManager: { getSessionId: () => "bench" },
    });
    const refused = await confinement.confine(event, { writable, hidden: [], network: false, notice: "" }, context);
    if (refused !== undefined) throw new Error(String(refused));
  };
}

/**
 * Runs a command that does nothing, and returns the time it took with its preparation, in milliseconds.
 *
 * @param {string} cwd
 * @param {((event: any) => Promise<void>) | undefined} confine
 */
async function run(cwd, confine) {
  const event = { toolName: "bash", toolCallId: "call", cwd, input: { command: "true" } };
  const start = performance.now();
  await confine?.(event);
  const { exitCode } = await codingAgent.createLocalBashOperations().exec(event.input.command, cwd, { onData() {} });
  if (exitCode !== 0) throw new Error(`exit status ${exitCode}`);
  return performance.now() - start;
}

/** @param {Record<string, number[]>} times */
function report(times) {
  const plain = median(times.plain);
  const names = {
    plain: "without limits",
    nothing: "nothing is writable",
    folder: "an empty folder is",
    large: `a folder of ${FILES} files is`,
  };
  console.log(`The command "true" by pi's shell, in ms; median and middle half of ${times.plain.length}.\n`);
  const rows = Object.entries(names).map(([key, name]) => {
    const added = median(times[key]) - plain;
    return [
      name,
      spread(times[key], 1),
      key === "plain" ? "" : `+${added.toFixed(1)}`,
      (median(times[key]) / plain).toFixed(1),
    ];
  });
  console.log(`${table(["", "time", "added", "ratio"], rows)}\n`);
  return verdict([["what limits add to a command, in ms", median(times.folder) - plain, ADDED]]);
}
