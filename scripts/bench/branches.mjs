// Measures the start of child agents: the branches of a parallel group in one pi, beside as many processes of pi with
// the same workflow, each until the model has the first request of all. The model is scripted, on loopback, and answers
// none of these requests.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { branchOf, panel } from "../../tests/pi/harness/branches.mjs";
import { PI_VERSIONS } from "../../tests/pi/harness/pi.mjs";
import { startRpc } from "../../tests/pi/harness/rpc.mjs";
import { makeSandbox } from "../../tests/pi/harness/sandbox.mjs";
import { startModel } from "../../tests/pi/harness/scripted-model.mjs";
import { leave, workflow } from "../../tests/pi/harness/workflows.mjs";
import { OURS } from "../../tests/conformance/packages.mjs";
import { inTurns, median, residentMegabytes, spread, table, verdict } from "./measure.mjs";

/** The numbers of agents. */
const COUNTS = [1, 4, 16];

/** The number of measurements of each. */
const ROUNDS = 5;

/** Maximum of the time and of the memory of four children, of those of four processes. */
const MOST = 1 / 3;

/** Maximum of the time for which four children block the main thread at once, in milliseconds. */
const BLOCKED = 150;

/** The interval at which the main thread is looked at, in milliseconds. */
const TICK = 2;

/**
 * An extension whose command `/blocked` tells the longest block of the main thread since the command before, in
 * milliseconds.
 */
const WATCHER = `
export default function (pi) {
  const watch = (globalThis.watchedBlocks ??= { longest: 0, last: performance.now() });
  watch.timer ??= setInterval(() => {
    const now = performance.now();
    watch.longest = Math.max(watch.longest, now - watch.last - ${TICK});
    watch.last = now;
  }, ${TICK});
  watch.timer.unref();
  pi.registerCommand("blocked", {
    handler: async (_, context) => {
      context.ui.notify("blocked: " + Math.max(watch.longest, performance.now() - watch.last));
      watch.longest = 0;
    },
  });
}
`;

/** @typedef {{ ms: number, mb: number, blocked: number }} Started */

/** @param {string} [rounds] */
export default async function branches(rounds) {
  /** @type {Record<string, Started[]>} */
  const found = {};
  /** @param {string} name @param {() => Promise<Started>} measure */
  const side = (name, measure) => [name, async () => ((found[name] ??= []).push(await measure()), 0)];
  const sides = COUNTS.flatMap((count) => [
    side(`children ${count}`, () => children(count)),
    side(`processes ${count}`, () => processes(count)),
  ]);
  await inTurns(rounds ? Number(rounds) : ROUNDS, Object.fromEntries(sides));
  const of = (/** @type {string} */ name, /** @type {keyof Started} */ field) =>
    found[name].map((started) => started[field]);
  console.log(
    `pi ${PI_VERSIONS[0]}: agents until the model has the first request of each, median and middle half of ${found["children 1"].length}.\n`,
  );
  const rows = COUNTS.map((count) => [
    String(count),
    spread(of(`children ${count}`, "ms"), 0),
    spread(of(`children ${count}`, "mb"), 0),
    spread(of(`children ${count}`, "blocked"), 0),
    spread(of(`processes ${count}`, "ms"), 0),
    spread(of(`processes ${count}`, "mb"), 0),
  ]);
  console.log(`${table(["agents", "children, ms", "MB", "longest block, ms", "processes, ms", "MB"], rows)}\n`);
  const ratio = (/** @type {keyof Started} */ field) =>
    median(of("children 4", field)) / median(of("processes 4", field));
  return verdict([
    ["the time of four children, of that of four processes", ratio("ms"), MOST],
    ["the memory of four children, of that of four processes", ratio("mb"), MOST],
    ["the longest block of the main thread by four children, in ms", median(of("children 4", "blocked")), BLOCKED],
  ]);
}

/**
 * Children of one pi: from the answer by which the run comes to their group.
 *
 * @param {number} count
 * @returns {Promise<Started>}
 */
async function children(count) {
  /** @type {PromiseWithResolvers<void>} */
  const gate = Promise.withResolvers();
  const model = await startModel(async (request) => {
    if (branchOf(request) !== undefined) return { hang: true };
    await gate.promise;
    return leave("", { summary: "Did it." });
  });
  // A group of entries has two at least: one alone is that of a list.
  const phases = count === 1 ? ["b0"] : Array.from({ length: count }, (_, index) => `b${index}`);
  const files = panel(phases, { parallel: 16, ...(count === 1 ? { each: ["one"] } : {}) });
  const sandbox = makeSandbox({ model, globalFiles: files });
  const watcher = join(sandbox.root, "watcher.mjs");
  writeFileSync(watcher, WATCHER);
  try {
    const rpc = await startRpc({ sandbox, extension: [OURS, watcher] });
    await rpc.send({ type: "prompt", message: "/workflow panel The task" });
    await model.waitForRequests(1);
    const before = residentMegabytes(rpc.pid);
    await blocked(rpc);
    const start = performance.now();
    gate.resolve();
    await model.waitForRequests(count + 1, { timeoutMs: 60_000 });
    const ms = performance.now() - start;
    const mb = residentMegabytes(rpc.pid) - before;
    return { ms, mb, blocked: await blocked(rpc) };
  } finally {
    await sandbox.dispose();
    await model.close();
  }
}

/** Processes of pi, from their start. @param {number} count @returns {Promise<Started>} */
async function processes(count) {
  const model = await startModel(() => ({ hang: true }));
  const sandbox = makeSandbox({ model, globalFiles: workflow("alone", ["do"]) });
  try {
    const start = performance.now();
    const all = await Promise.all(
      Array.from({ length: count }, async () => {
        const rpc = await startRpc({ sandbox, extension: OURS });
        await rpc.send({ type: "prompt", message: "/workflow alone The task" });
        return rpc;
      }),
    );
    await model.waitForRequests(count, { timeoutMs: 60_000 });
    const ms = performance.now() - start;
    return { ms, mb: all.reduce((sum, { pid }) => sum + residentMegabytes(pid), 0), blocked: 0 };
  } finally {
    await sandbox.dispose();
    await model.close();
  }
}

/**
 * The longest block of the main thread since the call before.
 *
 * @param {import("../../tests/pi/harness/rpc.mjs").Rpc} rpc
 */
async function blocked(rpc) {
  const from = rpc.records.length;
  const told = rpc.waitFor(
    (record) => record.type === "extension_ui_request" && record.message?.startsWith("blocked: "),
    { from },
  );
  await rpc.send({ type: "prompt", message: "/blocked" });
  return Number((await told).message.slice("blocked: ".length));
}
