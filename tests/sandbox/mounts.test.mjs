// Exchanges by another process while a sandbox is built, at each moment and at each place: the command does not see
// what is hidden and writes nothing elsewhere. It runs only if everything was mounted where it belongs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, variants } from "../pi/harness/extent.mjs";

const HOST = new URL("raced-host.mjs", import.meta.url).pathname;
/** As `root` also an ordinary user: `root` gets through doors that are closed to others. */
const USERS = process.getuid?.() === 0 ? [undefined, 12345] : [undefined];

const ALWAYS = "mkdir -p outside home/.ssh d/a; echo TOP-SECRET >home/.ssh/secret; echo outside >outside/file;";

/**
 * The limits, with the places on which their sandbox rests.
 *
 * @type {Record<string, Omit<import("./raced-host.mjs").Schedule, "project" | "lines"> & { places: string[] }>}
 */
const LIMITS = {
  "a hidden file": {
    prepare: "echo TOP-SECRET >d/a/secret",
    writable: ["d/"],
    hidden: ["d/a/secret"],
    protect: ["d/a/secret", "outside/file"],
    places: ["d/a/secret", "d/a", "d"],
  },
  "a hidden folder": {
    prepare: "mkdir d/a/keys; echo TOP-SECRET >d/a/keys/secret",
    writable: ["./"],
    hidden: ["d/a/keys/"],
    protect: ["d/a/keys/secret"],
    places: ["d/a/keys", "d/a", "d"],
  },
  "a hidden path through a link": {
    prepare: "mkdir d/a/keys; echo TOP-SECRET >d/a/keys/secret; ln -s a/keys d/link",
    writable: ["d/"],
    hidden: ["d/link/secret"],
    protect: ["d/a/keys/secret", "outside/file"],
    places: ["d/link", "d/a/keys/secret", "d/a/keys", "d/a"],
  },
  "a hidden file where everything is writable": {
    prepare: "echo TOP-SECRET >d/secret",
    writable: ["/"],
    hidden: ["d/secret"],
    protect: ["d/secret"],
    places: ["d/secret", "d"],
  },
  "a file with another name": {
    prepare: "ln outside/file d/a/linked",
    writable: ["d/"],
    hidden: [],
    protect: ["outside/file"],
    places: ["d/a/linked", "d/a", "d"],
  },
  "a closed folder": {
    prepare: "mkdir d/a/closed; ln outside/file d/a/closed/linked; chmod 0 d/a/closed",
    writable: ["d/"],
    hidden: [],
    protect: ["outside/file"],
    places: ["d/a/closed", "d/a"],
  },
  "a folder that may be written": {
    prepare: ":",
    writable: ["d/a/"],
    hidden: [],
    protect: ["outside/file", "home/.ssh/secret"],
    places: ["d/a", "d"],
  },
  "the keys of the user": {
    prepare: ":",
    writable: ["home/"],
    hidden: [],
    protect: ["home/.ssh/secret", "outside/file"],
    places: ["home/.ssh", "home"],
  },
  "a link to itself in the place of the keys": {
    prepare: "rm -r home/.ssh; ln -s .ssh home/.ssh; mkdir home/other; echo other >home/other/protected",
    writable: ["home/.ssh/"],
    hidden: [],
    protect: ["home/other/protected", "outside/file"],
    places: ["home/.ssh"],
  },
  "the agent folder": {
    prepare: "mkdir -p d/a/agent; echo settings >d/a/agent/protected",
    writable: ["d/"],
    hidden: [],
    agent: "d/a/agent",
    protect: ["d/a/agent/protected", "outside/file"],
    places: ["d/a/agent", "d/a"],
  },
  "a folder of git": {
    prepare: "git init -q d; echo TOP-SECRET >d/secret; git -C d add secret; echo settings >d/.git/protected",
    writable: ["d/"],
    hidden: ["d/secret"],
    protect: ["d/.git/protected", "d/secret"],
    places: ["d/.git", "d/secret"],
  },
};

/** The lines that put something else in a place, and back. @type {Record<string, (place: string) => string>} */
const EXCHANGES = {
  "by another one of its kind": (place) =>
    `mv ${place} ${place}-2; if [ -d ${place}-2 ]; then mkdir ${place}; (cd ${place}-2 && find . -mindepth 1 -type d -exec mkdir -p $PWD/${place}/{} \\; -o -type f -exec touch $PWD/${place}/{} \\;); else touch ${place}; fi`,
  "by a link to it": (place) => `mv ${place} ${place}-2; ln -s $PWD/${place}-2 ${place}`,
  "by a link elsewhere": (place) => `mv ${place} ${place}-2; ln -s $PWD/outside ${place}`,
  "by a link to the keys": (place) => `mv ${place} ${place}-2; ln -s $PWD/home/.ssh ${place}`,
  "by nothing": (place) => `mv ${place} ${place}-2`,
};
const back = (/** @type {string} */ place) => `rm -rf ${place}; mv ${place}-2 ${place}`;

/** The moments. @type {Record<string, (exchange: string, place: string) => { computed?: string, mounted?: string }>} */
const MOMENTS = {
  "before it is mounted": (exchange) => ({ computed: exchange }),
  "when it is mounted": (exchange) => ({ mounted: exchange }),
  "before it is mounted, and back": (exchange, place) => ({ computed: exchange, mounted: back(place) }),
};

suite(
  "what is exchanged while a sandbox is built",
  { skip: process.platform === "linux" ? false : "needs Linux" },
  () => {
    for (const user of USERS) {
      for (const [name, { places, ...limits }] of Object.entries(LIMITS)) {
        const who = user ? ", of an ordinary user" : "";
        test(`does not lead a command elsewhere: ${name}${who}`, user ? LONG : {}, (t) => {
          const root = realpathSync(mkdtempSync(join(tmpdir(), "mounts-test-")));
          t.after(() => spawnSync("sh", ["-c", 'chmod -R u+rwx "$0"; rm -rf "$0"', root]));
          const all = Object.entries(MOMENTS).flatMap(([moment, lines]) =>
            variants(Object.entries(EXCHANGES)).flatMap(([how, exchange]) =>
              places.map((place) => ({ what: `${place} ${how} ${moment}`, lines: lines(exchange(place), place) })),
            ),
          );
          // A command beside may close a folder while the list is made, and open it again.
          const closed = places.map((place) => ({
            what: `${place} closed while the list is made`,
            lines: { listed: `chmod 0 ${place}`, computed: `chmod 755 ${place}` },
          }));
          const cases = [{ what: "nothing", lines: {} }, ...closed, ...all];
          const schedules = cases.map(({ lines }, index) => {
            return { ...limits, prepare: ALWAYS + limits.prepare, project: `${index}`, lines };
          });
          if (user) spawnSync("chown", [`${user}:${user}`, root]);
          const [program, ...args] = [
            ...(user ? ["setpriv", "--reuid", `${user}`, "--regid", `${user}`, "--clear-groups", "--"] : []),
            process.execPath,
            HOST,
            root,
            JSON.stringify(schedules),
          ];
          const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
          assert.notEqual(stdout, "", stderr);
          /** @type {{ output: string, changed: boolean, outside: string[] }[]} */
          const results = JSON.parse(stdout);
          assert.match(results[0].output, /began/, "it runs if nothing is exchanged");
          const wrong = results.flatMap(({ output, changed, outside }, index) => {
            const faults = [
              output.includes("TOP-SECRET") && "reads what is hidden",
              changed && "changes what is protected",
              outside.length !== 1 && limits.writable[0] !== "/" && limits.writable[0] !== "./" && "writes elsewhere",
            ].filter(Boolean);
            return faults.length > 0 ? [`${cases[index].what}: ${faults.join(", ")}: ${output}`] : [];
          });
          assert.deepEqual(wrong, []);
        });
      }
    }
  },
);
