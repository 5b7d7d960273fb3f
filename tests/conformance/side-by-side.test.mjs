// The reference and ours play the same scenarios in the same real pi. Every difference of what they leave behind is
// declared with its number in differences.mjs, and nothing else is different.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PI_VERSIONS } from "../pi/harness/pi.mjs";
import { DIFFERENCES } from "./differences.mjs";
import { assertSame } from "./side-by-side/compare.mjs";
import { OURS, REFERENCE } from "./side-by-side/packages.mjs";
import { play } from "./side-by-side/play.mjs";
import active from "./side-by-side/scenarios/active.mjs";
import cancel from "./side-by-side/scenarios/cancel.mjs";
import linear from "./side-by-side/scenarios/linear.mjs";
import loading from "./side-by-side/scenarios/loading.mjs";
import loops from "./side-by-side/scenarios/loops.mjs";
import modes from "./side-by-side/scenarios/modes.mjs";
import names from "./side-by-side/scenarios/names.mjs";
import nested from "./side-by-side/scenarios/nested.mjs";
import restarts from "./side-by-side/scenarios/restarts.mjs";
import sessions from "./side-by-side/scenarios/sessions.mjs";
import stored from "./side-by-side/scenarios/stored.mjs";
import templates from "./side-by-side/scenarios/templates.mjs";
import tools from "./side-by-side/scenarios/tools.mjs";

const GROUPS = { linear, nested, loops, cancel, restarts, sessions, active, tools, templates, names, loading, stored, modes };
const SCENARIOS = Object.values(GROUPS).flat();

/** Differences that can only be seen in a terminal; tests/pi has tests of each. */
const IN_THE_TERMINAL = [13, 15, 50, 56];

/** Differences of the YAML libraries; files.test.mjs has examples of each. */
const IN_FILES = [44, 45, 46, 47, 48, 49];

for (const version of PI_VERSIONS) {
  suite(`pi ${version}`, { concurrency: 4 }, () => {
    for (const [group, scenarios] of Object.entries(GROUPS)) {
      for (const scenario of scenarios) {
        test(`${group}: ${scenario.name}`, async () => {
          const [reference, ours] = await Promise.all([
            play(scenario, version, REFERENCE),
            play(scenario, version, OURS),
          ]);
          assertSame({ reference: reference.record, ours: ours.record }, scenario.differs);
        });
      }
    }
  });
}

test("the scenarios meet every difference, and no other", () => {
  const met = SCENARIOS.flatMap(({ differs }) => differs.map((place) => (typeof place === "number" ? place : place.number)));
  const numbers = [...new Set([...met, ...IN_THE_TERMINAL, ...IN_FILES])].sort((a, b) => a - b);
  assert.deepEqual(numbers, DIFFERENCES.map(({ number }) => number));
});
