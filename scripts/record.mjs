// Records how the reference plays the scenarios of tests/conformance/side-by-side, for the tests that compare with it.
//
//   node scripts/record.mjs [GROUP …]   only these groups
import { HAND_WRITTEN } from "../tests/conformance/side-by-side/scenarios/index.mjs";
import { REFERENCE } from "../tests/conformance/side-by-side/packages.mjs";
import { play } from "../tests/conformance/side-by-side/play.mjs";
import { RECORDED_ON, writeRecords } from "../tests/conformance/side-by-side/recorded.mjs";
import { scriptFor } from "./usage.mjs";

/** The number of scenarios that run at the same time. */
const AT_ONCE = 4;

const wanted = process.argv.slice(2);
scriptFor("record", wanted);
for (const [group, scenarios] of Object.entries(HAND_WRITTEN)) {
  if (wanted.length > 0 && !wanted.includes(group)) continue;
  /** @type {Map<string, import("../tests/conformance/side-by-side/play.mjs").PlayRecord>} */
  const plays = new Map();
  const waiting = [...scenarios];
  const worker = async () => {
    for (let scenario = waiting.shift(); scenario; scenario = waiting.shift()) {
      plays.set(scenario.name, (await play(scenario, RECORDED_ON, REFERENCE)).record);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  writeRecords(group, Object.fromEntries(scenarios.map(({ name }) => [name, /** @type {any} */ (plays.get(name))])));
  console.log(`record: ${group}, ${scenarios.length} scenarios`);
}
