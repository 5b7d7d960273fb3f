// Ways out of the limits of a phase: each is refused, or has no effect where it must not have one. The same ways lead
// out without limits, so that these tests can fail.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { suite, test } from "node:test";
import { LONG, VERSIONS, some, variants } from "./harness/extent.mjs";
import { piCli, REPO } from "./harness/pi.mjs";
import { INTO_PROCESSES } from "./harness/ways-into-processes.mjs";
import { KEYS, OF_USERS, OUTLIVING, TO_DAEMONS, TO_NETWORK, WRITING } from "./harness/ways-out.mjs";
import { asUser, tryWays } from "./harness/world.mjs";

const ORDINARY = [...OF_USERS, ...INTO_PROCESSES];
const ORDINARY_USER = 12345;
/** The reason why pi cannot run as that user. */
const WITHOUT_ORDINARY_USER =
  process.getuid?.() !== 0
    ? "the tests run as one"
    : canRead(piCli()[1]) && canRead(REPO)
      ? false
      : `the user ${ORDINARY_USER} cannot read ${REPO}`;
const ALL_WAYS = [...INTO_PROCESSES, ...OUTLIVING, ...WRITING, ...TO_DAEMONS, ...TO_NETWORK];

/** Returns true if the ordinary user can read a file. @param {string} file */
function canRead(file) {
  return spawnSync("setpriv", [...asUser(ORDINARY_USER), "test", "-r", file]).status === 0;
}

for (const version of VERSIONS) {
  suite(
    `pi ${version}: ways out`,
    { skip: process.platform === "linux" ? false : "needs Linux", concurrency: 2 },
    () => {
      for (const [limits, ways, options] of /** @type {const} */ ([
        [{ write: [] }, [...INTO_PROCESSES, ...OUTLIVING, ...WRITING, ...TO_DAEMONS], LONG],
        [{ write: ["docs/"] }, some([...INTO_PROCESSES, ...OUTLIVING, ...WRITING, ...TO_DAEMONS]), {}],
        [{ network: false }, [...INTO_PROCESSES, ...OUTLIVING, ...TO_DAEMONS, ...TO_NETWORK], LONG],
      ])) {
        test(`of ${JSON.stringify(limits)}: ${ways.length} lead nowhere`, options, async (t) => {
          const { out, output } = await tryWays(t, version, limits, ways);
          assert.deepEqual(
            out.map((name) => [name, output[name]]),
            [],
          );
        });
      }

      test(
        `of an ordinary user: ${ORDINARY.length} lead nowhere`,
        { skip: WITHOUT_ORDINARY_USER || LONG.skip },
        async (t) => {
          const { out, output } = await tryWays(
            t,
            version,
            { write: ["docs/"], network: false },
            ORDINARY,
            ORDINARY_USER,
          );
          assert.deepEqual(
            out.map((name) => [name, output[name]]),
            [],
          );
          assert.match(output["own root"], /Read-only file system/, "the command ran in the sandbox");
        },
      );

      for (const limits of variants([{ network: false }, { write: ["/"] }, { write: ["~/", "docs/"] }])) {
        test(`to the user's keys, of ${JSON.stringify(limits)}: ${KEYS.length} lead nowhere`, async (t) => {
          const { out, output } = await tryWays(
            t,
            version,
            limits,
            KEYS,
            WITHOUT_ORDINARY_USER ? undefined : ORDINARY_USER,
          );
          assert.deepEqual(
            out.map((name) => [name, output[name]]),
            [],
          );
        });
      }

      test("lead out without limits", LONG, async (t) => {
        const ways = ALL_WAYS.filter(({ control }) => control !== false);
        const { out, output } = await tryWays(t, version, {}, ways);
        const missed = ways.filter(({ name }) => !out.includes(name)).map(({ name }) => [name, output[name]]);
        assert.deepEqual(missed, []);
      });
    },
  );
}
