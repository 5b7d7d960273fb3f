// Measures the time that pi waits for the package's handlers, including the shim and the generated glue: with 1,000
// workflows and a run nested five workflows deep, with and without a gate in the phase, compared with the reference.
import { PACKAGES, makeWorld, nestedState, sessionOf, side } from "./sides.mjs";
import { quantile, table, time, verdict } from "./measure.mjs";

const WORKFLOWS = 1000;
const GATE = "gate:\n  - run: npm test\n";

/** The number of events of each kind; the first tenth is not counted. */
const TIMES = 20_000;

/** @type {Record<string, object>} */
const EVENTS = {
  tool_call: { toolCallId: "1", toolName: "bash", input: { command: "ls" } },
  before_agent_start: { prompt: "x", systemPrompt: "" },
  input: { source: "interactive", text: "x" },
  agent_start: {},
  turn_end: {},
};

/** The maximum p99 in milliseconds. @type {Record<string, number>} */
const PROMISED = { tool_call: 0.1, before_agent_start: 0.3 };

/** The maximum additional time in a phase with a gate: a factor, and a slack in milliseconds for the resolution of the clock. */
const WITH_GATE = { factor: 1.5, slack: 0.02 };

/** @param {string} [times] */
export default async function hooks(times) {
  const count = times ? Number(times) : TIMES;
  console.log(`Events with ${WORKFLOWS.toLocaleString("en-US")} workflows and a nested phase, in µs: median, 99th percentile.\n`);
  const [plain, gated] = ["", GATE].map((frontMatter) => makeWorld(WORKFLOWS, frontMatter));
  try {
    const sides = {
      ours: started("ours", plain),
      "ours with a gate": started("ours", gated),
      reference: started("reference", plain),
    };
    /** @type {[string, number, number][]} */
    const promises = [];
    const rows = Object.entries(EVENTS).map(([name, event]) => {
      const samples = Object.fromEntries(Object.keys(sides).map((side) => [side, /** @type {number[]} */ ([])]));
      for (let n = 0; n < count; n += 1) {
        for (const [side, { emit, pi }] of Object.entries(sides)) {
          const took = time(() => emit(name, event));
          // The recorded calls would fill the memory.
          pi.did();
          if (n >= count / 10) samples[side].push(took);
        }
      }
      const p99 = quantile(samples.ours, 0.99);
      if (PROMISED[name]) promises.push([`${name}, 99th percentile in ms`, p99, PROMISED[name]]);
      const limit = quantile(samples.ours, 0.5) * WITH_GATE.factor + WITH_GATE.slack;
      promises.push([`${name} in a phase with a gate, median in ms`, quantile(samples["ours with a gate"], 0.5), limit]);
      return [name, ...Object.values(samples).map((values) => [0.5, 0.99].map((part) => (quantile(values, part) * 1000).toFixed(0)).join(", "))];
    });
    console.log(`${table(["event", ...Object.keys(sides)], rows)}\n`);
    return verdict(promises);
  } finally {
    for (const world of [plain, gated]) world.remove();
  }
}

/**
 * @param {keyof typeof PACKAGES} name
 * @param {import("./sides.mjs").World} world
 */
function started(name, world) {
  const session = sessionOf([{ type: "custom", customType: "workflow:state", data: nestedState() }]);
  const started = side(name, world, session);
  started.start();
  const answer = started.emit("tool_call", { toolCallId: "1", toolName: "edit", input: {} });
  if (!answer?.block) throw new Error(`${name} has no run`);
  return started;
}
