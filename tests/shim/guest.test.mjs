// Supervision of a component: versions of the interface, traps and restarts.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Guest, moment } from "../../host-shim/guest.js";
import { INTERFACE_VERSION } from "../../host-shim/interface.js";

const KEY = `pi:extension/guest@${INTERFACE_VERSION}`;

/**
 * Creates a component of plain functions. `instances` contains the calls of each of its instances.
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

/**
 * Starts a guest whose exports may have any parameters and results.
 *
 * @typedef {Omit<Guest, "call"> & { call(name: string, ...parameters: unknown[]): unknown }} AnyGuest
 * @param {() => object} instantiate
 * @param {[onTrap: ConstructorParameters<typeof Guest>[1], onEnd?: () => void]} handlers
 * @returns {AnyGuest}
 */
function started(instantiate, ...handlers) {
  const guest = new Guest(instantiate, ...handlers);
  guest.start();
  return /** @type {any} */ (guest);
}

suite("versions", () => {
  test("the component receives the version of pi's side", () => {
    const { instances, instantiate } = component();
    started(instantiate, () => {});
    assert.deepEqual(instances, [[["init", { interfaceVersion: INTERFACE_VERSION }]]]);
  });

  test("a component that refuses it reports its own", () => {
    const { instantiate } = component(() => ({
      init() {
        // As jco throws the error of a `result`.
        const payload = { tag: "version-mismatch", val: "0.9.0" };
        throw Object.assign(new Error("version-mismatch"), { payload });
      },
    }));
    assert.throws(() => started(instantiate, () => {}), {
      message: `The component implements pi:extension 0.9.0, pi's side implements ${INTERFACE_VERSION}.`,
    });
  });

  test("a component that exports another version is refused", () => {
    let asked = false;
    for (const version of ["0.9.0", "0.7.0", "0.8.1", `${INTERFACE_VERSION}-rc.1`, ""]) {
      const instantiate = () => ({ [`pi:extension/guest@${version}`]: { init: () => (asked = true) } });
      assert.throws(() => started(instantiate, () => {}), {
        message: `The component implements pi:extension ${version}, pi's side implements ${INTERFACE_VERSION}.`,
      });
    }
    assert.equal(asked, false);
  });

  test("a component without the guest interface is refused", () => {
    for (const exported of [{}, { guest: { init() {} } }, { "pi:other/guest@0.1.0": { init() {} } }]) {
      assert.throws(
        () =>
          started(
            () => exported,
            () => {},
          ),
        {
          message: "The component is not a pi extension: it does not export pi:extension/guest.",
        },
      );
    }
  });

  test("any other error of init is passed on", () => {
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

  test("has no result, starts a new instance with a restarted event, and reports the panic", () => {
    const { instances, instantiate } = component(trapsOnce);
    /** @type {string[]} */
    const told = [];
    const guest = started(instantiate, (words) => told.push(words));
    guest.logPanic("panicked at the disco");
    assert.equal(guest.call("runCommand", "a"), undefined);
    assert.deepEqual(told, ["panicked at the disco"]);
    assert.equal(instances.length, 2);
    assert.deepEqual(
      instances[1].map(([name]) => name),
      ["init", "handleEvent"],
    );
    assert.deepEqual(instances[1][1][2], { tag: "restarted" });
    assert.equal(guest.call("runCommand", "b"), "done b");
    assert.equal(instances[0].length, 2, "the instance that trapped is not called again");
    assert.deepEqual(told.length, 1);
  });

  test("without a panic message is reported with the engine's error, never with an earlier message", () => {
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

  test("three times in a row switches the component off, and is reported once", () => {
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
    const guest = started(
      instantiate,
      (_words, off) => told.push(off),
      () => (ended += 1),
    );
    assert.equal(guest.call("handleEvent"), undefined);
    assert.equal(guest.off, true);
    assert.deepEqual(told, [true]);
    assert.equal(ended, 3, "every instance that trapped is cleaned up");
    assert.equal(instances.length, 3, "two new ones trapped while they restored their state");
    assert.equal(guest.call("handleEvent"), undefined);
    guest.startAgain(true);
    assert.equal(instances.length, 4, "one more try");
    assert.deepEqual(told, [true, true]);
    sound = true;
    guest.startAgain(true);
    assert.equal(guest.off, false);
    assert.equal(guest.call("handleEvent"), "answer of 4");
    guest.startAgain(true);
    assert.equal(instances.length, 5, "a working instance is kept");
  });

  test("does not count after the next successful call", () => {
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
    // After a restart the first call must succeed.
    guest.startAgain(true);
    assert.equal(guest.off, false);
    guest.call("runCommand");
    assert.equal(guest.off, true);
  });

  test("in the init of the new instance switches the component off", () => {
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
    guest.startAgain(false);
    assert.equal(guest.call("runCommand"), undefined);
    sound = true;
    guest.startAgain(false);
    assert.equal(guest.call("runCommand"), "done");
  });

  test("in the first init throws the message of the panic", () => {
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

test("it is busy only during a call, including the handling of a trap", () => {
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

test("every call has a timestamp and random bits", () => {
  const before = BigInt(Date.now());
  const [a, b] = [moment(), moment()];
  assert.ok(a.unixMs >= before && b.unixMs >= a.unixMs);
  assert.notEqual(a.random, b.random);
  assert.equal(typeof a.random, "bigint");
});
