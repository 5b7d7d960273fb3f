// Measures the time and memory that a package adds to pi's start: the real pi without packages, with this one and with
// the reference, alternately, with the examples as global workflows.
import { cpSync } from "node:fs";
import { join } from "node:path";

import { OURS, REFERENCE } from "../../tests/conformance/packages.mjs";
import { PI_VERSIONS, REPO } from "../../tests/pi/harness/pi.mjs";
import { startRpc } from "../../tests/pi/harness/rpc.mjs";
import { makeSandbox } from "../../tests/pi/harness/sandbox.mjs";
import { inTurns, median, residentMegabytes, spread, table, verdict } from "./measure.mjs";

/** The number of starts of each. */
const STARTS = 21;

/** The maximum time that this package may add to a start of 300 ms, in milliseconds. */
const ADDED_TO_300 = 25;

/** The maximum memory in addition to the reference's, in MB. */
const MORE_MEMORY = 15;

/** @type {Record<string, string[]>} */
const PACKAGES = { none: [], ours: [OURS], reference: [REFERENCE] };

/** @param {string} [starts] */
export default async function start(starts) {
  const sandbox = makeSandbox();
  cpSync(join(REPO, "workflows-examples"), join(sandbox.agent, "workflows"), { recursive: true });
  /** @type {Record<string, number[]>} */
  const memory = { none: [], ours: [], reference: [] };
  const sides = Object.entries(PACKAGES).map(([name, extension]) => {
    const once = async () => {
      const { ms, mb } = await startOnce(sandbox, extension);
      memory[name].push(mb);
      return ms;
    };
    return [name, once];
  });
  let times;
  try {
    // The first start reads pi from the disk.
    await startOnce(sandbox, []);
    times = await inTurns(starts ? Number(starts) : STARTS, Object.fromEntries(sides));
  } finally {
    await sandbox.dispose();
  }
  console.log(
    `pi ${PI_VERSIONS[0]} until it answers, in ms, and its resident memory then, in MB; median and middle half of ${times.none.length}.\n`,
  );
  const added = (/** @type {number[]} */ values, /** @type {number[]} */ none) => median(values) - median(none);
  const rows = Object.keys(PACKAGES).map((name) => [
    name === "none" ? "no package" : name === "ours" ? "this package" : "the reference",
    spread(times[name], 0),
    name === "none" ? "" : `+${added(times[name], times.none).toFixed(0)}`,
    spread(memory[name], 0),
    name === "none" ? "" : `+${added(memory[name], memory.none).toFixed(0)}`,
  ]);
  console.log(`${table(["", "start", "added", "memory", "added"], rows)}\n`);
  const [ours, reference] = [times.ours, times.reference].map((values) => added(values, times.none));
  return verdict([
    ["what is added to the start, of what the reference adds", ours / reference, 1 / 3],
    ["what is added to a start of 300 ms, in ms", (ours / median(times.none)) * 300, ADDED_TO_300],
    ["memory beyond the reference's, in MB", median(memory.ours) - median(memory.reference), MORE_MEMORY],
  ]);
}

/**
 * @param {ReturnType<typeof makeSandbox>} sandbox
 * @param {string[]} extension
 */
async function startOnce(sandbox, extension) {
  const from = performance.now();
  const rpc = await startRpc({ sandbox, extension });
  const ms = performance.now() - from;
  const mb = residentMegabytes(rpc.pid);
  await rpc.close();
  return { ms, mb };
}
