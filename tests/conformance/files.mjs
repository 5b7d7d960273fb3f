// Random workflow files: the reference and ours load the same ones, and understand them alike, but
// for the deliberate differences of `differences.mjs`.
//
//   FILES=30000 SEED=1 node --test tests/conformance/files.mjs

//
// Not part of `npm test` yet: it still meets differences that are not declared.

import assert from "node:assert/strict";
import { test } from "node:test";

import { DIFFERENCES } from "./differences.mjs";
import { accountFor } from "./random/accounts.mjs";
import { Choices, countOfRun, seedOfRun } from "./random/choices.mjs";
import { because, explained, summary } from "./random/explained.mjs";
import { findDifference, smallerFiles, textOf } from "./random/loading.mjs";
import { loadWorkflows } from "./random/reference.mjs";
import { shrink } from "./random/shrink.mjs";
import { makeFiles } from "./random/workflow-files.mjs";
import { beginWorld, projectDir } from "./random/world.mjs";

const FILES = countOfRun("FILES", 3000);
const SEED = seedOfRun();
/** How many kinds of differences are shown. */
const SHOWN = 12;

beginWorld();

test(`${FILES} sets of random files`, async (t) => {
  /** The seeds of what nothing accounts for, by kind. @type {Map<string, number[]>} */
  const found = new Map();
  for (let seed = SEED; seed < SEED + FILES; seed++) {
    const files = makeFiles(new Choices(seed));
    const difference = await findDifference(files);
    if (!difference) continue;
    const account = accountFor(difference, files);
    if (typeof account === "number") because(account, false, true);
    else found.set(account, [...(found.get(account) ?? []), seed]);
  }
  t.diagnostic(summary());
  const kinds = [...found].sort(([, a], [, b]) => b.length - a.length);
  const reports = [];
  for (const [kind, seeds] of kinds.slice(0, SHOWN)) reports.push(await report(kind, seeds));
  reports.push(...kinds.slice(SHOWN).map(([kind, seeds]) => heading(kind, seeds)));
  if (reports.length > 0) assert.fail(`The two disagree about files.\n\n${reports.join("\n\n")}`);
});

test("the reference keeps a workflow that nests a broken one, ours does not", async () => {
  const yaml = (/** @type {string} */ name, /** @type {string} */ nested) =>
    `name: ${name}\ncommandName: ${name}\ninitialMessage: Go\nphases: [{subworkflow: ${nested}}]\n`;
  const files = { "global/outer/workflow.yaml": yaml("outer", "w"), "global/w/workflow.yaml": yaml("w", "nowhere") };
  assert.equal(await findDifference(files), undefined, "ours refuses both, the reference refuses w");
  assert.deepEqual(Object.keys(loadWorkflows(projectDir)), ["outer"]);
});

test("every difference that a file meets is declared", () => {
  const declared = new Set(DIFFERENCES.map(({ number }) => number));
  assert.deepEqual([...explained.keys()].filter((number) => !declared.has(number)), []);
});

/**
 * @param {string} kind
 * @param {number[]} seeds
 */
const heading = (kind, seeds) => `${seeds.length} times (SEED=${seeds[0]} FILES=1) ${kind}`;

/**
 * A kind of difference, with the smallest example that can be made of it.
 * @param {string} kind
 * @param {number[]} seeds
 */
async function report(kind, seeds) {
  const small = await shrink(makeFiles(new Choices(seeds[0])), smallerFiles, async (files) => {
    const difference = await findDifference(files);
    return difference !== undefined && accountFor(difference, files) === kind;
  });
  const difference = await findDifference(small);
  return [
    heading(kind, seeds),
    textOf(small),
    ...(difference?.printed.slice(0, 1) ?? []),
    ...(difference?.faults.split("\n").slice(0, 1) ?? []),
    ...(difference?.details ?? []),
  ].join("\n");
}
