// A run survives SIGKILL.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG } from "./harness/extent.mjs";
import { readSession, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { paths, states, statusTexts, step, waiting, workflow } from "./harness/workflows.mjs";

const KILLS = 50;
const PHASES = Array.from({ length: 12 }, (_, index) => `p${index + 1}`);

/** A pseudorandom generator of numbers from 0 to 1. @param {number} seed */
function chances(seed) {
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
}

test(`killed ${KILLS} times, a run of 12 phases goes through each of them in order`, LONG, async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 2_147_483_648);
  t.diagnostic(`SEED=${seed}`);
  const chance = chances(seed);
  let kills = 0;
  while (kills < KILLS) {
    // Mostly other tool calls, so that some kills hit each phase.
    const script = () =>
      chance() < 0.3 ? step("next") : { calls: [{ name: "bash", arguments: { command: "true" } }] };
    const { sandbox } = await stage(t, () => ({ ...script(), delayMs: 15 }), {
      globalFiles: workflow("long", PHASES, { name: "Long" }),
    });
    for (let done = false; !done;) {
      const stored = sessionFiles(sandbox).length > 0 ? states(readSession(sandbox)).at(-1) : undefined;
      const rpc = await startRpc({ sandbox, args: ["--continue"] });
      if (stored) {
        const index = stored.currentPath[0].phaseIndex;
        const line = stored.active ? waiting(`Long > 🔹 ${PHASES[index].toUpperCase()} [${index + 1}/12]`) : undefined;
        assert.equal(statusTexts(rpc).at(-1), line);
      }
      const settled = rpc.waitForSettled().catch(() => undefined);
      if (!stored || stored.active) await rpc.prompt(stored ? "Go on." : "/workflow long it");
      const last = kills >= KILLS;
      await (last ? Promise.race([settled, sleep(60_000, undefined, { ref: false })]) : sleep(chance() * 500));
      await rpc.kill();
      if (!last) kills += 1;
      done = sessionFiles(sandbox).length > 0 && states(readSession(sandbox)).at(-1)?.active === false;
    }
    const visited = paths(states(readSession(sandbox)).filter(({ active }) => active));
    assert.deepEqual(
      [...new Set(visited)],
      PHASES.map((_, index) => `long:${index}`),
    );
    assert.deepEqual(
      visited,
      [...visited].sort((a, b) => Number(a.slice(5)) - Number(b.slice(5))),
      "never back",
    );
  }
});
