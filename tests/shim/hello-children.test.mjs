// Child agents of a component other than this package's, in pi.

import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { buildHello } from "../guests/hello.mjs";
import { VERSIONS } from "../pi/harness/extent.mjs";
import { startRpc } from "../pi/harness/rpc.mjs";
import { messageText } from "../pi/harness/scripted-model.mjs";
import { stage } from "../pi/harness/stage.mjs";

/** The packages' folders, by the number of children that they grant; 0 for no grant. @type {Map<number, string>} */
const homes = new Map();
before(async () => {
  for (const max of [0, 1, 4]) homes.set(max, await buildHello(`children-${max}`, max > 0 ? { max } : undefined));
});

/**
 * The first prompt of the session that made a request.
 *
 * @param {import("../pi/harness/scripted-model.mjs").ChatRequest} request
 */
const promptOf = (request) => messageText(request.messages.filter(({ role }) => role === "user")[0]);

for (const version of VERSIONS) {
  suite(`pi ${version}: children of another component`, { concurrency: 2 }, () => {
    /**
     * @param {import("node:test").TestContext} t
     * @param {number} max
     * @param {import("../pi/harness/scripted-model.mjs").StepFunction} script
     */
    async function inPi(t, max, script) {
      const { model, sandbox } = await stage(t, script);
      const rpc = await startRpc({ version, sandbox, extension: homes.get(max) });
      const told = () => rpc.ui("notify").map(({ message }) => message);
      const tells = (/** @type {RegExp} */ words) =>
        rpc.waitFor(({ method, message }) => method === "notify" && words.test(message), {
          from: 0,
          what: String(words),
          timeoutMs: 60_000,
        });
      return { model, rpc, told, tells };
    }

    test("tell of their progress and their end, with their entries and their usage", async (t) => {
      const { model, rpc, told, tells } = await inPi(t, 4, (request) =>
        request.messages.at(-1)?.role === "tool"
          ? { text: `${promptOf(request)} is done.`, delayMs: 400 }
          : { calls: [{ name: "greet", arguments: { name: promptOf(request) } }] },
      );
      await Promise.all([rpc.prompt("/child a Ann"), rpc.prompt("/child b Bob")]);
      await rpc.prompt("/children");
      await tells(/No child works/);
      for (const [key, name] of [
        ["a", "Ann"],
        ["b", "Bob"],
      ]) {
        // The greeting of the child is newer than the one that it was given, and only what follows counts.
        const words = `${key}, a session, {"name":"${name}"}`;
        assert.ok(
          told().some((line) => line.startsWith(`Progress: ${words}`) && line.endsWith(`, greet ${name}`)),
          told().join("\n"),
        );
        const end = told().filter((line) => line.startsWith(`End: ${key}, `));
        assert.equal(end.length, 1);
        assert.match(end[0], new RegExp(`^End: ${words}, \\d turns, greet ${name}, ChildOutcome::Settled$`));
      }
      assert.equal(told().at(-1), "No child works, aborted: false");
      assert.deepEqual(model.requests.map(promptOf).sort(), ["Ann", "Ann", "Bob", "Bob"]);
      assert.deepEqual(
        (await rpc.entries()).filter(({ customType }) => customType === "hello:greeting"),
        [],
        "the session has none of their entries",
      );
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("end when they are aborted, alone", async (t) => {
      const { model, rpc, told, tells } = await inPi(t, 4, (request) =>
        promptOf(request) === "Ann" ? { text: "I think.", hang: true } : { text: "Bob is done.", delayMs: 300 },
      );
      await Promise.all([rpc.prompt("/child a Ann"), rpc.prompt("/child b Bob")]);
      await model.waitForRequests(2);
      await rpc.prompt("/end-child a");
      await rpc.prompt("/end-child nobody");
      await rpc.prompt("/children");
      await tells(/No child works/);
      const ends = told()
        .filter((line) => line.startsWith("End: "))
        .sort();
      assert.match(ends[0], /^End: a, .*, ChildOutcome::Aborted$/);
      // The greeting that it was given is the newest.
      assert.match(ends[1], /^End: b, a session, {"name":"b"}, 1 turns, no call, ChildOutcome::Settled$/);
      assert.equal(told().at(-1), "No child works, aborted: false");
      assert.equal(model.requests.length, 2, "no request follows");
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("are not started without the grant, above its number, or twice with a key", async (t) => {
      const none = await inPi(t, 0, () => ({ text: "No." }));
      await none.rpc.prompt("/child a Ann");
      await none.rpc.prompt("/children");
      assert.match(none.told()[0], /^It failed: .*does not grant/);
      assert.equal(none.told()[1], "Children are not granted.");
      assert.equal(none.model.requests.length, 0);
      const one = await inPi(t, 1, () => ({ text: "I think.", hang: true }));
      for (const line of ["/child a Ann", "/child b Bob", "/child a Ann"]) await one.rpc.prompt(line);
      assert.deepEqual(one.told(), [
        "It failed: No more than 1 children run at a time.",
        "It failed: A child with this key runs.",
      ]);
      await one.model.waitForRequests(1);
      await one.rpc.prompt("/end-child a");
      await one.tells(/^End: a, .*Aborted/);
      await one.rpc.prompt("/child b Bob");
      await one.model.waitForRequests(2);
      assert.deepEqual(one.model.requests.map(promptOf), ["Ann", "Bob"]);
      assert.deepEqual([...none.rpc.extensionErrors(), ...one.rpc.extensionErrors()], []);
    });
  });
}
