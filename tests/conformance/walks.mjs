// Random walks through random workflows: the reference and ours do the same at every step, but for
// the deliberate differences of `differences.mjs`.
//
//   WALKS=20000 SEED=1 node --test tests/conformance/walks.mjs

//
// Not part of `npm test` yet: it still meets differences that are not declared.

import assert from "node:assert/strict";
import { test } from "node:test";

import { DIFFERENCES } from "./differences.mjs";
import { countOfRun, seedOfRun } from "./random/choices.mjs";
import { explained, summary } from "./random/explained.mjs";
import { shrink } from "./random/shrink.mjs";
import { findDisagreement, kindOf, makeWalk, scriptOf, smallerWalks } from "./random/walk.mjs";
import { beginWorld } from "./random/world.mjs";

const WALKS = countOfRun("WALKS", 2000);
const SEED = seedOfRun();
/** How many kinds of disagreements are shown. */
const SHOWN = 4;

beginWorld();

test(`${WALKS} random walks`, async (t) => {
  /** The seeds of walks that fail, by kind. @type {Map<string, number[]>} */
  const found = new Map();
  for (let seed = SEED; seed < SEED + WALKS; seed++) {
    const disagreement = await findDisagreement(makeWalk(seed));
    if (!disagreement) continue;
    const kind = kindOf(disagreement);
    found.set(kind, [...(found.get(kind) ?? []), seed]);
  }
  t.diagnostic(summary());
  const reports = [];
  for (const [kind, seeds] of [...found].sort(([, a], [, b]) => b.length - a.length)) {
    reports.push(`${seeds.length} times (SEED=${seeds[0]} WALKS=1) ${kind}`);
    if (reports.length < 2 * SHOWN) reports.push(await report(kind, seeds[0]));
  }
  if (reports.length > 0) assert.fail(`The two disagree.\n\n${reports.join("\n\n")}`);
});

test("every difference that a walk meets is declared", () => {
  const declared = new Set(DIFFERENCES.map(({ number }) => number));
  assert.deepEqual([...explained.keys()].filter((number) => !declared.has(number)), []);
});

/**
 * The smallest walk that can be made of one with a disagreement.
 * @param {string} kind
 * @param {number} seed
 */
async function report(kind, seed) {
  const small = await shrink(makeWalk(seed), smallerWalks, async (walk) => {
    const disagreement = await findDisagreement(walk);
    return disagreement !== undefined && kindOf(disagreement) === kind;
  });
  const disagreement = await findDisagreement(small);
  return [scriptOf(small), `at ${disagreement?.action}:`, ...(disagreement?.differences ?? [])].join("\n");
}
