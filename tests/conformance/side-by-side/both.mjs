// Returns the records of both packages for one scenario. `npm test` plays ours and reads the reference's from
// recorded/; `npm run test:all` plays both and checks that the record of the reference is up to date.

import { ALL } from "../../pi/harness/extent.mjs";
import { OURS, REFERENCE } from "./packages.mjs";
import { play } from "./play.mjs";
import { RECORDED_ON, assertRecorded, recorded } from "./recorded.mjs";

/**
 * @param {string} group of the scenario
 * @param {import("./play.mjs").Scenario} scenario
 * @param {string} version of pi
 * @returns {Promise<import("./known.mjs").Both>}
 */
export async function playBoth(group, scenario, version) {
  if (!ALL) {
    const { record } = await play(scenario, version, OURS);
    return { reference: recorded(group, scenario.name), ours: record };
  }
  const both = await playLive(scenario, version);
  if (version === RECORDED_ON) assertRecorded(group, scenario.name, both.reference);
  return both;
}

/**
 * Plays both packages. For scenarios that are not recorded: those of the reference's documentation contain its texts.
 *
 * @param {import("./play.mjs").Scenario} scenario
 * @param {string} version of pi
 * @returns {Promise<import("./known.mjs").Both>}
 */
export async function playLive(scenario, version) {
  const [reference, ours] = await Promise.all([play(scenario, version, REFERENCE), play(scenario, version, OURS)]);
  return { reference: reference.record, ours: ours.record };
}
