// The reference and ours play the same scenarios in the real pi. Their records have exactly the differences that each
// scenario declares by their numbers in differences.mjs.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "../pi/harness/extent.mjs";
import { DIFFERENCES } from "./differences.mjs";
import { playBoth } from "./side-by-side/both.mjs";
import { assertSame } from "./side-by-side/compare.mjs";
import { HAND_WRITTEN } from "./side-by-side/scenarios/index.mjs";

/** Differences that are only visible in a terminal; tests/pi tests each of them. */
const IN_THE_TERMINAL = [13, 15, 50, 56];

/** Differences of the YAML libraries, and of fields that only ours knows; files.test.mjs has examples of each. */
const IN_FILES = [44, 45, 46, 47, 48, 49, 60, 61, 62, 67];

/** The number of scenarios of each group that `npm test` plays. */
const FIRST = 3;

for (const version of VERSIONS) {
  suite(`pi ${version}`, { concurrency: 4 }, () => {
    for (const [group, scenarios] of Object.entries(HAND_WRITTEN)) {
      for (const [index, scenario] of scenarios.entries()) {
        test(`${group}: ${scenario.name}`, index < FIRST ? {} : LONG, async () => {
          assertSame(await playBoth(group, scenario, version), scenario.differs);
        });
      }
    }
  });
}

test("the scenarios declare every difference, and no other", () => {
  const scenarios = Object.values(HAND_WRITTEN).flat();
  const met = scenarios.flatMap(({ differs }) =>
    differs.map((place) => (typeof place === "number" ? place : place.number)),
  );
  const numbers = [...new Set([...met, ...IN_THE_TERMINAL, ...IN_FILES])].sort((a, b) => a - b);
  assert.deepEqual(
    numbers,
    DIFFERENCES.map(({ number }) => number),
  );
});
