// The reference and this package play the same scenarios in the real pi. Each scenario looks at some blocks of what
// they show; both show the same, but for the differences that the scenario states.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "../pi/harness/extent.mjs";
import { OURS, REFERENCE } from "./packages.mjs";
import { play } from "./play.mjs";
import { handovers, scenarios } from "./scenarios.mjs";

for (const version of VERSIONS) {
  suite(`pi ${version}`, { concurrency: 3 }, () => {
    for (const scenario of scenarios) {
      test(scenario.name, LONG, async () => {
        const [reference, ours] = await Promise.all([
          play(scenario, version, REFERENCE),
          play(scenario, version, OURS),
        ]);
        assertAlike(reference, ours, scenario);
      });
    }
    for (const { toOurs = [], toReference = [], ...scenario } of handovers) {
      test(`this package goes on with a session of the reference: ${scenario.name}`, LONG, async () => {
        const [own, handedOver] = await Promise.all([
          play(scenario, version, REFERENCE),
          play(scenario, version, REFERENCE, OURS),
        ]);
        assertAlike(own, handedOver, { ...scenario, ours: toOurs });
      });
      test(`the reference goes on with a session of this package: ${scenario.name}`, LONG, async () => {
        const [own, handedOver] = await Promise.all([
          play(scenario, version, REFERENCE),
          play(scenario, version, OURS, REFERENCE),
        ]);
        assertAlike(own, handedOver, { ...scenario, ours: toReference });
      });
    }
  });
}

/**
 * @param {import("./record.mjs").PlayRecord} reference
 * @param {import("./record.mjs").PlayRecord} ours
 * @param {{ looks: import("./scenarios.mjs").Block[], ours?: import("./scenarios.mjs").Replacement[] }} scenario
 */
function assertAlike(reference, ours, { looks, ours: replacements = [] }) {
  const shown = (/** @type {import("./record.mjs").PlayRecord} */ record) =>
    looks.map((block) => `# ${block}\n\n${record[block].join("\n――\n")}\n`).join("\n");
  let expected = shown(reference);
  for (const [theirs, own] of replacements) {
    const before = expected;
    expected = expected.replaceAll(theirs, own);
    assert.notEqual(expected, before, `the reference does not show: ${theirs}\n${expected}`);
  }
  assert.equal(shown(ours), expected);
}
