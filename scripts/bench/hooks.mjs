// Measures the time that pi waits for the package's handlers, including the shim and the generated glue: with 1,000
// workflows and a run nested five workflows deep, without and with a gate or a budget in the phase, compared with the
// reference.
import { PACKAGES, makeWorld, nestedState, sessionOf, side } from "./sides.mjs";
import { quantile, table, time, verdict } from "./measure.mjs";

const WORKFLOWS = 1000;
const GATE = "gate:\n  - run: npm test\n";
const BUDGET = "budget: {cost: 1000000, turns: 1000000}\n";

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

/**
 * The maximum additional time in a phase with a gate: a factor, and a slack in milliseconds for the resolution of the
 * clock.
 */
const WITH_GATE = { factor: 1.5, slack: 0.02 };
/** The maximum p99, in milliseconds, of what a budget adds to these events after another answer of the model. */
const WITH_BUDGET = { turn_end: 0.1, tool_call: 0.1 };

/** An answer of the model. */
const ANSWER = {
  role: "assistant",
  provider: "p",
  model: "m",
  content: [{ type: "toolCall", id: "1", name: "bash", arguments: {} }],
  usage: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, cost: { total: 0.000001 } },
};

const p99Of = (/** @type {number[]} */ values) => quantile(values, 0.99);

/** @param {string} [times] */
export default async function hooks(times) {
  const count = times ? Number(times) : TIMES;
  console.log(
    `Events with ${WORKFLOWS.toLocaleString("en-US")} workflows and a nested phase, in µs: median, 99th percentile.\n`,
  );
  const worlds = ["", GATE, BUDGET].map((frontMatter) => makeWorld(WORKFLOWS, frontMatter));
  const [plain, gated, bounded] = worlds;
  try {
    const sides = {
      ours: started("ours", plain),
      "ours with a gate": started("ours", gated),
      "ours with a budget": started("ours", bounded),
      reference: started("reference", plain),
    };
    /** @type {[string, number, number][]} */
    const promises = [];
    const rows = Object.entries(EVENTS).map(([name, event]) => {
      const samples = Object.fromEntries(Object.keys(sides).map((side) => [side, /** @type {number[]} */ ([])]));
      for (let n = 0; n < count; n += 1) {
        for (const [side, { emit, pi, session }] of Object.entries(sides)) {
          session.append({ type: "message", message: ANSWER });
          const took = time(() => emit(name, event));
          // The recorded calls would fill the memory.
          pi.did();
          if (n >= count / 10) samples[side].push(took);
        }
      }
      const p99 = p99Of(samples.ours);
      if (PROMISED[name]) promises.push([`${name}, 99th percentile in ms`, p99, PROMISED[name]]);
      const limit = quantile(samples.ours, 0.5) * WITH_GATE.factor + WITH_GATE.slack;
      promises.push([
        `${name} in a phase with a gate, median in ms`,
        quantile(samples["ours with a gate"], 0.5),
        limit,
      ]);
      const added = p99Of(samples["ours with a budget"]) - p99;
      const most = WITH_BUDGET[/** @type {keyof typeof WITH_BUDGET} */ (name)];
      if (most) promises.push([`${name}, what a budget adds to the 99th percentile in ms`, added, most]);
      return [
        name,
        ...Object.values(samples).map((values) =>
          [0.5, 0.99].map((part) => (quantile(values, part) * 1000).toFixed(0)).join(", "),
        ),
      ];
    });
    console.log(`${table(["event", ...Object.keys(sides)], rows)}\n`);
    return verdict(promises);
  } finally {
    for (const world of worlds) world.remove();
  }
}

/**
 * @param {keyof typeof PACKAGES} name
 * @param {import("./sides.mjs").World} world
 */
function started(name, world) {
  const session = sessionOf([{ type: "custom", customType: "workflow:state", data: nestedState() }]);
  const started = { ...side(name, world, session), session };
  started.start();
  const answer = started.emit("tool_call", { toolCallId: "1", toolName: "edit", input: {} });
  if (!answer?.block) throw new Error(`${name} has no run`);
  return started;
}
