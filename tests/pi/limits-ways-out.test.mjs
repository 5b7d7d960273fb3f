// The ways out of the limits of a phase, tried under the user's own limits, without a run: each is refused, or has no
// effect.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { INTO_PROCESSES } from "./harness/ways-into-processes.mjs";
import { KEYS, OUTLIVING, TO_DAEMONS, TO_NETWORK, WRITING } from "./harness/ways-out.mjs";
import { tryWays } from "./harness/world.mjs";

/** Without the one that removes the limits from the phase's own file: there they are none of a phase. */
const WRITES = WRITING.filter(({ name }) => name !== "own phase");

for (const version of VERSIONS) {
  suite(
    `pi ${version}: ways out of the user's limits`,
    { skip: process.platform === "linux" ? false : "needs Linux", concurrency: 2 },
    () => {
      for (const [limits, ways] of /** @type {const} */ ([
        ["write: [docs/]\n", [...INTO_PROCESSES, ...OUTLIVING, ...WRITES, ...TO_DAEMONS]],
        ["write: []\n", [...INTO_PROCESSES, ...OUTLIVING, ...WRITES, ...TO_DAEMONS]],
        ["network: false\n", [...INTO_PROCESSES, ...OUTLIVING, ...TO_DAEMONS, ...TO_NETWORK]],
        ["tools: { blacklist: [other] }\n", [...INTO_PROCESSES, ...OUTLIVING, ...TO_DAEMONS, ...KEYS]],
      ])) {
        test(`of ${limits.trim()}: ${ways.length} lead nowhere`, LONG, async (t) => {
          const { out, output } = await tryWays(t, version, limits, ways);
          assert.deepEqual(
            out.map((name) => [name, output[name]]),
            [],
          );
        });
      }
    },
  );
}
