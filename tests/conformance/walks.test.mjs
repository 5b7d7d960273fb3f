// Random walks through random workflows: the reference and ours have the same effects at every step, except for the
// deliberate differences of `differences.mjs`.
//
//   WALKS=20000 SEED=random node --test tests/conformance/walks.test.mjs

import assert from "node:assert/strict";
import { test } from "node:test";

import { ALL } from "../pi/harness/extent.mjs";
import { DIFFERENCES } from "./differences.mjs";
import { countOfRun, seedOfRun } from "./random/choices.mjs";
import { explained, summary } from "./random/explained.mjs";
import { shrink } from "./random/shrink.mjs";
import { depthOf, isPhase } from "./random/trees.mjs";
import { findDisagreement, kindOf, makeWalk, scriptOf, smallerWalks } from "./random/walk.mjs";
import { beginWorld } from "./random/world.mjs";

const WALKS = countOfRun("WALKS", ALL ? 2000 : 80);
const SEED = seedOfRun();
/** The number of kinds of disagreements that are reduced to a small example. */
const SHOWN = 3;

/** Differences that occur in every thousand walks, and in every ten thousand walks. */
const COMMON = [
  1, 2, 3, 5, 6, 7, 8, 13, 14, 17, 18, 22, 23, 24, 25, 26, 29, 38, 39, 40, 41, 42, 43, 50, 54, 55, 56, 60, 61,
];
const RARE = [4, 20, 27, 28];

/** Kinds of actions that must occur in some walks. */
const ACTION_KINDS = [
  "workflow",
  "cancel",
  "prompt",
  "step",
  "tool",
  "turn",
  "stop",
  "retry",
  "compact",
  "wait",
  "key",
  "restart",
  "back",
  "complete",
];

beginWorld();

/** The number of walks that contain a kind of action or workflow. @type {Map<string, number>} */
const met = new Map();

test(`both packages agree in ${WALKS} random walks from seed ${SEED}`, async (t) => {
  /** The seeds of walks that fail, by kind. @type {Map<string, number[]>} */
  const found = new Map();
  for (let seed = SEED; seed < SEED + WALKS; seed++) {
    const walk = makeWalk(seed);
    for (const kind of kindsOf(walk)) met.set(kind, (met.get(kind) ?? 0) + 1);
    const disagreement = await findDisagreement(walk);
    if (!disagreement) continue;
    const kind = kindOf(disagreement);
    found.set(kind, [...(found.get(kind) ?? []), seed]);
  }
  t.diagnostic(summary());
  const kinds = [...found].sort(([, a], [, b]) => b.length - a.length);
  const reports = [];
  for (const [kind, seeds] of kinds.slice(0, SHOWN)) reports.push(heading(kind, seeds), await report(kind, seeds[0]));
  reports.push(...kinds.slice(SHOWN).map(([kind, seeds]) => heading(kind, seeds)));
  if (reports.length > 0) assert.fail(`The two disagree.\n\n${reports.join("\n\n")}`);
});

test("the random walks contain every kind of action and workflow", () => {
  if (WALKS < 1000) return;
  const wanted = [
    ...ACTION_KINDS,
    "4 deep",
    "more than 20 phases",
    "a shared workflow",
    "inputs",
    "outcomes",
    "conditions",
  ];
  for (const kind of wanted) assert.ok((met.get(kind) ?? 0) > WALKS / 300, `${kind}: ${met.get(kind)}`);
});

test("every difference that occurs in walks is declared, and each expected one occurs", () => {
  const declared = new Set(DIFFERENCES.map(({ number }) => number));
  assert.deepEqual(
    [...explained.keys()].filter((number) => !declared.has(number)),
    [],
  );
  const wanted = [...(WALKS >= 1000 ? COMMON : []), ...(WALKS >= 10_000 ? RARE : [])];
  assert.deepEqual(
    wanted.filter((number) => !explained.has(number)),
    [],
  );
});

/** @param {import("./random/walk.mjs").Walk} walk */
function kindsOf({ tree, actions }) {
  const nested = tree.flatMap(({ phases }) => phases.flatMap((entry) => (isPhase(entry) ? [] : [entry.subworkflow])));
  /** @type {Set<string>} */
  const kinds = new Set(actions.map((action) => action.do));
  if (Math.max(...tree.map(({ key }) => depthOf(tree, key))) === 4) kinds.add("4 deep");
  if (tree.flatMap(({ phases }) => phases.filter(isPhase)).length > 20) kinds.add("more than 20 phases");
  const entries = tree.flatMap(({ phases }) => phases);
  if (tree.some(({ fields }) => fields.inputs)) kinds.add("inputs");
  if (entries.some((entry) => isPhase(entry) && entry.outcomes)) kinds.add("outcomes");
  if (entries.some((entry) => !isPhase(entry) && entry.when)) kinds.add("conditions");
  if (nested.some((key, index) => nested.indexOf(key) !== index)) kinds.add("a shared workflow");
  return kinds;
}

/**
 * @param {string} kind
 * @param {number[]} seeds
 */
const heading = (kind, seeds) => `${seeds.length} times (SEED=${seeds[0]} WALKS=1) ${kind}`;

/**
 * Formats a shrunk walk with a disagreement.
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
