// One component, whatever becomes of its instances; and the two versions that have to be the same.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Guest, INTERFACE_VERSION, moment } from "../../host-shim/guest.js";

const KEY = `pi:extension/guest@${INTERFACE_VERSION}`;

/**
 * A component of plain functions. `instances` has the calls of each of its instances.
 *
 * @param {(instance: number) => Record<string, Function>} [functions]
 */
function component(functions = () => ({})) {
  /** @type {unknown[][][]} */
  const instances = [];
  return {
    instances,
    instantiate() {
      /** @type {unknown[][]} */
      const calls = [];
      const index = instances.push(calls) - 1;
      /** @type {Record<string, Function>} */
      const all = { init: () => {}, handleEvent: () => ({ tag: "none" }), ...functions(index) };
      const recorded = Object.entries(all).map(([name, work]) => [
        name,
        (/** @type {unknown[]} */ ...parameters) => {
          calls.push([name, ...parameters]);
          return work(...parameters);
        },
      ]);
      return { [KEY]: Object.fromEntries(recorded) };
    },
  };
}

/** @param {ConstructorParameters<typeof Guest>} parameters */
function started(...parameters) {
  const guest = new Guest(...parameters);
  guest.start();
  return guest;
}

suite("versions", () => {
  test("the component is told the version of pi's side", () => {
    const { instances, instantiate } = component();
    started(instantiate, () => {});
    assert.deepEqual(instances, [[["init", { interfaceVersion: INTERFACE_VERSION }]]]);
  });

  test("a component that refuses it names its own", () => {
    const { instantiate } = component(() => ({
      init() {
        // As jco throws the error of a `result`.
        const payload = { tag: "version-mismatch", val: "0.7.1" };
        throw Object.assign(new Error("version-mismatch"), { payload });
      },
    }));
    assert.throws(() => started(instantiate, () => {}), {
      message: `The component speaks pi:extension 0.7.1, pi's side speaks ${INTERFACE_VERSION}.`,
    });
  });

  test("a component that exports another version is refused by it", () => {
    let asked = false;
    const instantiate = () => ({ "pi:extension/guest@0.7.1": { init: () => (asked = true) } });
    assert.throws(() => started(instantiate, () => {}), {
      message: `The component speaks pi:extension 0.7.1, pi's side speaks ${INTERFACE_VERSION}.`,
    });
    assert.equal(asked, false);
  });

  test("a component that exports something else is none", () => {
    for (const exported of [{}, { guest: { init() {} } }, { "pi:other/guest@0.1.0": { init() {} } }]) {
      assert.throws(() => started(() => exported, () => {}), {
        message: "The component is no pi extension: it does not export pi:extension/guest.",
      });
    }
  });

  test("any other error of init is not taken for one of versions", () => {
    const broken = new Error("unreachable");
    const { instantiate } = component(() => ({
      init() {
        throw broken;
      },
    }));
    assert.throws(() => started(instantiate, () => {}), broken);
  });
});

suite("a trap", () => {
  /** @param {number} instance */
  const trapsOnce = (instance) => ({
    runCommand(/** @type {string} */ name) {
      if (instance === 0) throw new WebAssembly.RuntimeError("unreachable");
      return `done ${name}`;
    },
  });

  test("gives no answer, a new instance that hears of it, and its last words to the user", () => {
    const { instances, instantiate } = component(trapsOnce);
    /** @type {string[]} */
    const told = [];
    const guest = started(instantiate, (words) => told.push(words));
    guest.logPanic("panicked at the disco");
    assert.equal(guest.call("runCommand", "a"), undefined);
    assert.deepEqual(told, ["panicked at the disco"]);
    assert.equal(instances.length, 2);
    assert.deepEqual(instances[1].map(([name]) => name), ["init", "handleEvent"]);
    assert.deepEqual(instances[1][1][2], { tag: "restarted" });
    assert.equal(guest.call("runCommand", "b"), "done b");
    assert.equal(instances[0].length, 2, "the broken instance is not called again");
    assert.deepEqual(told.length, 1);
  });

  test("without last words is told in those of the engine, and never in those of the trap before", () => {
    const { instantiate } = component(() => ({
      runCommand() {
        throw new WebAssembly.RuntimeError("unreachable");
      },
    }));
    /** @type {string[]} */
    const told = [];
    const guest = started(instantiate, (words) => told.push(words));
    guest.logPanic("first");
    guest.call("runCommand");
    guest.call("runCommand");
    assert.deepEqual(told, ["first", "RuntimeError: unreachable"]);
  });

  test("three times in a row leaves no instance, and is told once", () => {
    let sound = false;
    const { instances, instantiate } = component((instance) => ({
      handleEvent() {
        if (!sound) throw new WebAssembly.RuntimeError("unreachable");
        return `answer of ${instance}`;
      },
    }));
    /** @type {boolean[]} */
    const told = [];
    let ended = 0;
    const guest = started(instantiate, (_words, off) => told.push(off), () => (ended += 1));
    assert.equal(guest.call("handleEvent"), undefined);
    assert.equal(guest.off, true);
    assert.deepEqual(told, [true]);
    assert.equal(ended, 3, "every instance that broke is cleared away");
    assert.equal(instances.length, 3, "two new ones broke while they restored themselves");
    assert.equal(guest.call("handleEvent"), undefined);
    guest.revive(true);
    assert.equal(instances.length, 4, "one more try");
    assert.deepEqual(told, [true, true]);
    sound = true;
    guest.revive(true);
    assert.equal(guest.off, false);
    assert.equal(guest.call("handleEvent"), "answer of 4");
    guest.revive(true);
    assert.equal(instances.length, 5, "a sound instance is kept");
  });

  test("is forgotten with the next call that goes well", () => {
    const { instantiate } = component(() => ({
      runCommand() {
        throw new WebAssembly.RuntimeError("unreachable");
      },
      drawEntry: () => "drawn",
    }));
    /** @type {boolean[]} */
    const told = [];
    const guest = started(instantiate, (_words, off) => told.push(off));
    for (let n = 0; n < 100; n += 1) {
      guest.call("runCommand");
      guest.call("runCommand");
      assert.equal(guest.call("drawEntry"), "drawn");
    }
    assert.equal(told.length, 200);
    assert.ok(!told.includes(true));
    for (let n = 0; n < 5; n += 1) guest.call("runCommand");
    assert.deepEqual(told.slice(200), [false, false, true]);
    // Brought back, it has to do well at once.
    guest.revive(true);
    assert.equal(guest.off, false);
    guest.call("runCommand");
    assert.equal(guest.off, true);
  });

  test("in the init of the new instance takes nobody down", () => {
    let sound = true;
    const { instantiate } = component(() => ({
      init() {
        if (!sound) throw new WebAssembly.RuntimeError("unreachable");
      },
      runCommand() {
        if (!sound) throw new WebAssembly.RuntimeError("unreachable");
        return "done";
      },
    }));
    let told = 0;
    const guest = started(instantiate, () => (told += 1));
    assert.equal(guest.call("runCommand"), "done");
    sound = false;
    assert.equal(guest.call("runCommand"), undefined);
    assert.equal(guest.off, true);
    assert.equal(told, 1);
    guest.revive(false);
    assert.equal(guest.call("runCommand"), undefined);
    sound = true;
    guest.revive(false);
    assert.equal(guest.call("runCommand"), "done");
  });

  test("in the very first init is thrown with its last words", () => {
    const { instantiate } = component(() => ({
      init() {
        guest.logPanic("panicked at the start");
        throw new WebAssembly.RuntimeError("unreachable");
      },
    }));
    const guest = new Guest(instantiate, () => {});
    assert.throws(() => guest.start(), { message: "panicked at the start" });
  });
});

test("it is busy during a call, a trap included, and only then", () => {
  /** @type {boolean[]} */
  const busy = [];
  const { instantiate } = component(() => ({
    handleEvent: () => busy.push(guest.busy),
    runCommand() {
      busy.push(guest.busy);
      throw new WebAssembly.RuntimeError("unreachable");
    },
  }));
  const guest = started(instantiate, () => {});
  assert.equal(guest.busy, false);
  guest.call("handleEvent");
  assert.equal(guest.busy, false);
  guest.call("runCommand");
  assert.equal(guest.busy, false);
  assert.deepEqual(busy, [true, true, true]);
});

test("every call has its time and its luck", () => {
  const before = BigInt(Date.now());
  const [a, b] = [moment(), moment()];
  assert.ok(a.unixMs >= before && b.unixMs >= a.unixMs);
  assert.notEqual(a.random, b.random);
  assert.equal(typeof a.random, "bigint");
});
