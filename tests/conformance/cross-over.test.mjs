// Sessions that one package begins and the other continues like its own.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "../pi/harness/extent.mjs";
import { assertSame } from "./side-by-side/compare.mjs";
import { USAGE, mapStrings, states } from "./side-by-side/known.mjs";
import { OURS, REFERENCE } from "./side-by-side/packages.mjs";
import { play } from "./side-by-side/play.mjs";
import handovers, { turns } from "./side-by-side/scenarios/handover.mjs";

for (const version of VERSIONS) {
  suite(`pi ${version}`, { concurrency: 3 }, () => {
    for (const { toOurs = [], toReference = [], ...rest } of handovers) {
      const scenario = { ...rest, differs: [] };

      test(`ours continues a session of the reference: ${scenario.name}`, LONG, async () => {
        const [handedOver, own] = await Promise.all([
          play(scenario, version, REFERENCE, OURS),
          play(scenario, version, OURS, OURS),
        ]);
        assertSame({ reference: afterRestart(handedOver), ours: afterRestart(own) }, toOurs);
      });

      test(`the reference continues a session of ours: ${scenario.name}`, LONG, async () => {
        const [own, handedOver] = await Promise.all([
          play(scenario, version, REFERENCE, REFERENCE),
          play(scenario, version, OURS, REFERENCE),
        ]);
        assertSame({ reference: afterRestart(own), ours: afterRestart(handedOver) }, toReference);
      });
    }

    test("the packages take turns, phase by phase", async () => {
      const scenario = { ...turns, differs: [] };
      const [alone, inTurns] = await Promise.all([
        play(scenario, version, REFERENCE),
        play(scenario, version, REFERENCE, OURS, REFERENCE, OURS, REFERENCE),
      ]);
      const [expected, actual] = [alone, inTurns].map(({ record }) => states(record).map(withoutProgress));
      assert.equal(expected.length, 7);
      assert.deepEqual(actual, expected);
    });
  });
}

/**
 * The record after the restart, without `progress` (difference 25) and without the line of what the run took (59): ours
 * has neither for the time before it, and the reference copies the field from entry to entry.
 *
 * @param {Awaited<ReturnType<typeof play>>} play
 * @returns {import("./side-by-side/play.mjs").PlayRecord}
 */
function afterRestart({ record, restarts: [mark] }) {
  const after = {
    ...record,
    requests: record.requests.slice(mark.requests),
    sessions: record.sessions.map((entries, index) => entries.slice(mark.entries[index] ?? 0).map(withoutProgress)),
    screen: record.screen.slice(mark.screen),
  };
  mapStrings(after, (text) => text.replace(USAGE, ""));
  return after;
}

/** @param {import("./side-by-side/record.mjs").Entry} entry */
function withoutProgress(entry) {
  if (entry.customType !== "workflow:state") return entry;
  const { progress: _progress, ...data } = entry.data;
  return { ...entry, data };
}
