// Measures session_start on a long branch, by the number of entries before and after the newest state of a run,
// compared with the reference; and the steps of a run with many visits: their time, and the bytes that each adds to the
// session.
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

/** The numbers of visits of a run at the beginning and at the end. */
const VISITS = [10, 5000];
const STEPS = 100;

/** The maximum length of what a step stores, and of its time with the most visits, of that with the fewest. */
const MOST_BYTES = 8192;
const MOST_TIME = 4;

/** @param {string} [rounds] */
export default async function sessions(rounds) {
  const started = await starts(rounds);
  const stepped = await longRuns();
  return started && stepped;
}

/** @param {string} [rounds] */
async function starts(rounds) {
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
      rows.push(
        [before, behind]
          .map((count) => count.toLocaleString("en-US"))
          .concat(spread(values.ours), spread(values.reference)),
      );
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

async function longRuns() {
  console.log(
    `\n${STEPS} steps of a run, by its visits; median and middle half, and session_start after them, in ms.\n`,
  );
  const world = makeWorld(10);
  try {
    const rows = [];
    const found = [];
    for (const visits of VISITS) {
      const session = sessionOf([{ type: "custom", customType: "workflow:state", data: stateWith(visits) }]);
      const { pi, call, start, startAgain } = side("ours", world, session);
      pi.behaviour.appendEntry = (/** @type {string} */ customType, /** @type {unknown} */ data) =>
        session.append({ type: "custom", customType, data });
      start();
      // The first step stores all visits: those of another version are not continued.
      await call("workflow_step", { action: "loop" });
      const [times, lengths] = [[], []].map((list) => /** @type {number[]} */ (list));
      for (let step = 0; step < STEPS; step += 1) {
        const begin = performance.now();
        const before = session.getLeafEntry().id;
        await call("workflow_step", { action: step % 4 === 3 ? "loop" : "next" });
        times.push(performance.now() - begin);
        lengths.push(lengthSince(session, before));
      }
      const restart = time(startAgain);
      found.push({ step: median(times), bytes: Math.max(...lengths), length: median(lengths) });
      rows.push([
        visits.toLocaleString("en-US"),
        spread(times),
        median(lengths).toLocaleString("en-US"),
        Math.max(...lengths).toLocaleString("en-US"),
        restart.toFixed(1),
      ]);
    }
    console.log(`${table(["visits", "a step", "bytes", "at most", "session_start"], rows)}\n`);
    return verdict([
      ["bytes of a step with 5,000 visits, of 8 KB", found[1].bytes / MOST_BYTES, 1],
      ["time of a step with 5,000 visits, of that with 10", found[1].step / found[0].step, MOST_TIME],
    ]);
  } finally {
    world.remove();
  }
}

/** The length of the entries after one, as JSON. @param {ReturnType<typeof sessionOf>} session @param {string} id */
function lengthSince(session, id) {
  let length = 0;
  for (let entry = session.getLeafEntry(); entry && entry.id !== id; entry = session.getEntry(entry.parentId)) {
    if (entry.customType === "workflow:state") length += JSON.stringify(entry.data).length;
  }
  return length;
}

/** A run with this number of visits. @param {number} count */
function stateWith(count) {
  const visit = (/** @type {number} */ n) => ({
    name: `Phase ${n}`,
    startedAt: 1747234567890 + n,
    endedAt: 1747234567891 + n,
    passes: 1,
    usage: { turns: 3, input: 1000 + n, output: 300, cost: 0.01, workMs: 60_000, models: { "provider/model": 3 } },
  });
  // Of phases that the files had earlier, after those that they have.
  const visits = Object.fromEntries(Array.from({ length: count }, (_, n) => [`w9:${n + 4}`, visit(n)]));
  const state = { ...nestedState(), workflowKey: "w9", currentPath: [{ workflowKey: "w9", phaseIndex: 0 }] };
  return { ...state, progress: { visits } };
}
