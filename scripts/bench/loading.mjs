// Measures the time to load the workflow files, the first time and again, compared with the reference, and with Node
// reading the same files or their stats.
import { readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { PHASES, makeWorld, side } from "./sides.mjs";
import { inTurns, median, spread, table, time, verdict } from "./measure.mjs";

const SIZES = [10, 100, 1000, 5000];
/** The number of workflows to which the limits apply. */
const PROMISED = 1000;
const ROUNDS = 9;

/** The age from which the time stamps of a file show its next change, in milliseconds. */
const SETTLED = 2100;

/** @param {string} [rounds] */
export default async function loading(rounds) {
  console.log(`Loading workflows of ${PHASES} phases, from session_start on; median and middle half, in ms.`);
  console.log("Again: the user moves in the session's tree, and no file has changed.\n");
  const rows = [];
  /** @type {[string, number, number][]} */
  let promises = [];
  for (const size of SIZES) {
    const values = await measure(size, rounds ? Number(rounds) : ROUNDS);
    const [cold, again, referenceCold, referenceAgain, , stat] = Object.values(values).map(median);
    rows.push([
      size.toLocaleString("en-US"),
      ...Object.values(values).map((each) => spread(each)),
      `${(referenceCold / cold).toFixed(1)} ×`,
      `${(referenceAgain / again).toFixed(1)} ×`,
    ]);
    if (size !== PROMISED) continue;
    promises = [
      ["the first time, of the reference's time", cold / referenceCold, 1 / 3],
      ["again, of the reference's time", again / referenceAgain, 1 / 25],
      ["again, of the time to stat the files", again / stat, 3],
    ];
  }
  const head = [
    "workflows",
    "ours",
    "ours again",
    "reference",
    "reference again",
    "read",
    "stat",
    "ours faster by",
    "again by",
  ];
  console.log(`${table(head, rows)}\n`);
  return verdict(promises);
}

/**
 * @param {number} size
 * @param {number} rounds
 */
async function measure(size, rounds) {
  const world = makeWorld(size);
  await sleep(SETTLED);
  try {
    let [ours, reference] = /** @type {const} */ (["ours", "reference"]).map((name) => side(name, world));
    return await inTurns(size > PROMISED ? Math.min(rounds, 3) : rounds, {
      cold: () => {
        ours = side("ours", world);
        return time(() => ours.start());
      },
      again: () => time(() => ours.emit("session_tree")),
      referenceCold: () => {
        reference = side("reference", world);
        return time(() => reference.start());
      },
      referenceAgain: () => time(() => reference.emit("session_tree")),
      read: () => time(() => world.paths.forEach((path) => readFileSync(path))),
      stat: () => time(() => world.paths.forEach((path) => statSync(path))),
    });
  } finally {
    world.remove();
  }
}
