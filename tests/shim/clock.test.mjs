// Time in which the process did not run, and timers of the agent's silence.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { look, watchClock } from "../../host-shim/clock.js";
import { loadInto, plainGuest, standIn } from "./pi-stand-in.mjs";

const HOUR = 3_600_000;

/** Clocks of the test. @param {import("node:test").TestContext} t */
function clocks(t) {
  const at = { wall: 1e12, steady: 1000 };
  t.mock.method(Date, "now", () => at.wall);
  t.mock.method(performance, "now", () => at.steady);
  return (/** @type {number} */ wall, /** @type {number} */ steady) => {
    at.wall += wall;
    at.steady += steady;
  };
}

/** @param {(imports: Record<string, any>) => Record<string, Function>} guest */
const loaded = (guest) =>
  loadInto(
    standIn(),
    plainGuest((imports) => ({
      init: () => imports["pi:extension/api"].registerCommand({ name: "a", description: "" }),
      ...guest(imports),
    })),
  );

suite("the clock", () => {
  test("tells sleep, stops and changes of more than 30 seconds", (t) => {
    const pass = clocks(t);
    /** @type {number[]} */
    let told = [];
    const end = watchClock((skipped) => told.push(skipped));
    /** @param {number} wall @param {number} steady */
    const skipped = (wall, steady) => {
      told = [];
      pass(wall, steady);
      look();
      look();
      return told;
    };
    assert.deepEqual(skipped(5000, 5000), []);
    assert.deepEqual(skipped(25_000, 25_000), [], "a busy process");
    assert.deepEqual(skipped(31_000, 2000), [], "a small correction of the clock");
    assert.deepEqual(skipped(8 * HOUR, 4000), [8 * HOUR - 4000], "sleep in which the steady clock stands still");
    assert.deepEqual(skipped(8 * HOUR, 8 * HOUR), [8 * HOUR - 5000], "sleep in which it goes on, or a stopped process");
    assert.deepEqual(skipped(2000 - HOUR, 2000), [0], "a clock that goes back");
    assert.deepEqual(skipped(5000, 5000), []);
    end();
    assert.deepEqual(skipped(8 * HOUR, 4000), [], "nobody listens");
  });

  test("keeps no process alive", () => {
    const code = `import { watchClock } from ${JSON.stringify(new URL("../../host-shim/clock.js", import.meta.url).href)}; watchClock(() => {});`;
    const { status, signal } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { timeout: 20_000 });
    assert.deepEqual([status, signal], [0, null]);
  });

  test("is told to the guest before the call in which it is noticed, while the guest watches", async (t) => {
    const pass = clocks(t);
    /** @type {string[]} */
    const told = [];
    const pi = loaded((imports) => ({
      runCommand(/** @type {any} */ at, /** @type {string} */ _name, /** @type {string} */ watch) {
        told.push(`command ${watch} ${at.unixMs}`);
        if (watch !== "") imports["pi:extension/timers"].watchClock(watch === "on");
        return { tag: "done" };
      },
      handleEvent(/** @type {any} */ at, /** @type {any} */ { tag, val }) {
        if (tag === "time-skipped") told.push(`${tag} ${val} ${at.unixMs}`);
        return { tag: "none" };
      },
    }));
    for (const watch of ["", "on", "", "off", ""]) {
      await pi.command("a", watch);
      pass(HOUR, 1000);
    }
    assert.deepEqual(told, [
      "command  1000000000000",
      "command on 1000003600000",
      "time-skipped 3599000 1000007200000",
      "command  1000007200000",
      "time-skipped 3599000 1000010800000",
      "command off 1000010800000",
      "command  1000014400000",
    ]);
    await pi.command("a", "on");
    pi.emit("session_shutdown", { reason: "quit" });
    pass(HOUR, 1000);
    look();
    assert.equal(told.length, 8);
  });
});

test("a timer of silence begins anew with each new output of the agent", async () => {
  let rung = 0;
  const pi = loaded((imports) => ({
    runCommand() {
      imports["pi:extension/timers"].startAtSilence(7n, 200);
      return { tag: "done" };
    },
    timer: () => (rung += 1),
  }));
  const delta = (/** @type {string} */ delta) =>
    pi.emit("message_update", { assistantMessageEvent: { type: "text_delta", delta } });
  const output = (/** @type {string} */ text) =>
    pi.emit("tool_execution_update", { toolCallId: "1", partialResult: { content: [{ type: "text", text }] } });
  await pi.command("a");
  assert.equal(pi.handlers.get("message_update")?.size, 1);
  for (const [n, give] of [() => delta("a"), () => output("x"), () => delta("b"), () => output("xx")].entries()) {
    await sleep(100);
    give();
    assert.equal(rung, 0, `${n}`);
  }
  // A delta or a result without anything new is no output.
  for (let n = 0; n < 6; n += 1) {
    await sleep(50);
    delta("");
    output("xx");
  }
  assert.equal(rung, 1);
  await pi.command("a");
  assert.equal(pi.handlers.get("message_update")?.size, 1, "one handler");
  pi.emit("session_shutdown", { reason: "quit" });
  await sleep(250);
  assert.equal(rung, 1);
});
