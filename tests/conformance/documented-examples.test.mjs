// Both packages run the workflows in the documentation of the reference alike: the same phases with the same prompts,
// the same refused tools, the same transitions to DONE.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VERSIONS } from "../pi/harness/extent.mjs";
import { playLive } from "./side-by-side/both.mjs";
import { assertSame } from "./side-by-side/compare.mjs";
import { KNOWN } from "./side-by-side/known.mjs";
import scenarios, { COMMANDS } from "./side-by-side/scenarios/documented.mjs";

test("the documentation has its workflows", () => {
  assert.deepEqual(COMMANDS.global.toSorted(), [
    "audit",
    "fix",
    "hello",
    "iterate",
    "rpir",
    "rpir-dev",
    "rpir-improve",
  ]);
  assert.deepEqual(COMMANDS.project.toSorted(), ["hotfix", "rpir"]);
  assert.equal(COMMANDS.bugfix.length, 1);
  assert.deepEqual(COMMANDS.fragments, ["my-workflow", "release", "my-command"]);
});

for (const version of VERSIONS) {
  suite(`pi ${version}`, { concurrency: 3 }, () => {
    for (const scenario of scenarios) {
      test(scenario.name, async () => {
        const both = await playLive(scenario, version);
        assert.ok(KNOWN[38](both) > 0);
        assertSame(
          { reference: withoutRepetition(both.reference), ours: withoutRepetition(both.ours) },
          scenario.differs,
        );
      });
    }
  });
}

/**
 * Removes the instructions from the results of `next`: the next context prompt has the same ones, but with resolved
 * variables.
 *
 * @param {import("./side-by-side/play.mjs").PlayRecord} record
 */
function withoutRepetition(record) {
  const shorten = (/** @type {string} */ text) => text.replace(/(✓ [^]*?\*\*What to do in .*?:\*\*)[^]*/, "$1");
  return {
    ...record,
    requests: record.requests.map((request) => ({ ...request, messages: request.messages.map(shorten) })),
    sessions: record.sessions.map((entries) =>
      entries.map((entry) => (entry.type === "toolResult" ? { ...entry, text: shorten(entry.text) } : entry)),
    ),
  };
}
