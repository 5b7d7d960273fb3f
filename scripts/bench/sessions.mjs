// Measures session_start on a long branch, by the number of entries before and after the newest state of a run, compared with
// the reference.
import { makeWorld, nestedState, sessionOf, side } from "./sides.mjs";
import { inTurns, median, spread, table, time, verdict } from "./measure.mjs";

const ROUNDS = 15;

/** The numbers of entries before and after the newest state. */
const BRANCHES = [
  [0, 1000],
  [99_000, 1000],
  [0, 99_000],
];

/** The maximum additional time with 99,000 more entries before the state: the resolution of the clock. */
const SAME = 1.5;

/** @param {string} [rounds] */
export default async function sessions(rounds) {
  console.log("session_start on long branches; median and middle half, in ms.\n");
  const world = makeWorld(10);
  try {
    const rows = [];
    const medians = [];
    for (const [before, behind] of BRANCHES) {
      const state = { type: "custom", customType: "workflow:state", data: nestedState() };
      const session = sessionOf([...messages(before), state, ...messages(behind)]);
      const [ours, reference] = /** @type {const} */ (["ours", "reference"]).map((name) => side(name, world, session));
      const values = await inTurns(rounds ? Number(rounds) : ROUNDS, {
        ours: () => time(ours.startAgain),
        reference: () => time(reference.startAgain),
      });
      medians.push({ ours: median(values.ours), reference: median(values.reference) });
      rows.push([before, behind].map((count) => count.toLocaleString("en-US")).concat(spread(values.ours), spread(values.reference)));
    }
    console.log(`${table(["entries before the newest state", "after it", "ours", "reference"], rows)}\n`);
    return verdict([
      ["99,000 entries before the newest state, of the reference's time", medians[1].ours / medians[1].reference, 1],
      ["99,000 entries behind it, of the reference's time", medians[2].ours / medians[2].reference, 1],
      ["99,000 entries before the newest state, of the time without them", medians[1].ours / medians[0].ours, SAME],
    ]);
  } finally {
    world.remove();
  }
}

/** @param {number} count */
function messages(count) {
  return Array.from({ length: count }, () => ({ type: "message", message: { role: "user", content: "Go on." } }));
}
