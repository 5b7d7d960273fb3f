// A guest with stored registrations: pi has all of them before the first instance exists.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { eventName } from "../../host-shim/events.js";
import { readManifest } from "../../host-shim/manifest.js";
import { registrations } from "../../scripts/build.mjs";
import { loadInto, plainGuest, standIn } from "./pi-stand-in.mjs";

const API = "pi:extension/api";

/** @type {import("../../host-shim/extension.js").Registration[]} */
const REGISTRATIONS = [
  ["on", "session-start"],
  ["on", "session-shutdown"],
  ["on", "input"],
  ["on", "tool-call"],
  ["registerCommand", { name: "a", description: "runs a" }],
];

/**
 * Starts a session with stored registrations of the guest.
 *
 * @param {object} [options]
 * @param {{ type: string }[]} [options.entries] of the session
 * @param {{ sound: boolean }} [options.state] `sound` is true if the guest can start
 */
function start({ entries = [], state = { sound: true } } = {}) {
  /** The events and calls that the guest received. @type {string[]} */
  const told = [];
  const pi = standIn();
  for (const { type } of entries) pi.addEntry(type);
  const guest = plainGuest((imports) => ({
    init() {
      if (!state.sound) throw new WebAssembly.RuntimeError("unreachable");
      for (const [name, ...parameters] of REGISTRATIONS) imports[API][name](...parameters);
      told.push("init");
    },
    handleEvent(/** @type {unknown} */ _, /** @type {{ tag: string }} */ { tag }) {
      told.push(tag);
      return { tag: "none" };
    },
    completeArgument: () => [],
    runCommand() {
      told.push("command");
      return { tag: "done" };
    },
  }));
  loadInto(pi, guest, {}, undefined, REGISTRATIONS);
  return { pi, told, state };
}

/** Waits longer than the deferral of the first event. */
const started = () => sleep(300);

suite("a new session", () => {
  test("is reported after pi has started", async () => {
    const { pi, told } = start();
    assert.deepEqual([...pi.registered.keys()], ["command a"]);
    assert.deepEqual(
      [...pi.handlers.keys()],
      [
        "context",
        "session_start",
        "session_shutdown",
        "input",
        "turn_start",
        "tool_execution_start",
        "tool_execution_end",
        "agent_end",
        "tool_call",
      ],
    );
    assert.deepEqual(told, []);
    await started();
    assert.deepEqual(told, ["init", "session-start"]);
    assert.equal(pi.handlers.get("input")?.size, 1, "the instance registers nothing twice");
    assert.equal(pi.registered.size, 1);
  });

  test("is reported before anything else", async () => {
    /** @type {[(pi: import("./pi-stand-in.mjs").StandIn) => unknown, string][]} */
    const works = [
      [(pi) => pi.emit("input", { source: "rpc" }), "input"],
      [(pi) => pi.emit("tool_call", { toolName: "t", input: {} }), "tool-call"],
      [(pi) => pi.command("a"), "command"],
      [(pi) => pi.emit("session_start", { reason: "reload" }), "session-start"],
    ];
    for (const [work, tag] of works) {
      const { pi, told } = start();
      await work(pi);
      assert.deepEqual(told, ["init", "session-start", tag]);
      await started();
      assert.equal(told.length, 3, "and only once");
    }
  });

  test("that ends immediately creates no instance", async () => {
    const { pi, told } = start();
    pi.emit("session_shutdown", { reason: "quit" });
    await started();
    assert.deepEqual(told, []);
  });

  test("may have entries of pi, but none of extensions", () => {
    assert.deepEqual(start({ entries: [{ type: "model_change" }, { type: "message" }] }).told, []);
    for (const type of ["custom", "custom_message"]) {
      assert.deepEqual(start({ entries: [{ type }, { type: "message" }] }).told, ["init", "session-start"]);
    }
    assert.equal(start({ entries: Array(50).fill({ type: "message" }) }).told.length, 2, "and not a long one");
  });
});

test("a guest that cannot start is switched off, and a command starts it again", async () => {
  const { pi, told, state } = start({ state: { sound: false } });
  assert.equal(pi.emit("tool_call", { toolName: "t", input: {} }).block, true);
  // The notices of a beginning follow when pi has drawn the session.
  await sleep(5);
  assert.match(String(pi.did().at(-1)), /is switched off until/);
  state.sound = true;
  await pi.command("a");
  assert.equal(told.at(-1), "command");
  assert.equal(pi.emit("tool_call", { toolName: "t", input: {} }), undefined);
});

test("the stored registrations are those of the package's component", () => {
  const url = new URL("../../package.json", import.meta.url);
  const manifest = readManifest(url);
  const calls = registrations(fileURLToPath(new URL(manifest.glue, url)), manifest.name);
  const written = JSON.parse(readFileSync(new URL(String(manifest.registrations), url), "utf8"));
  assert.deepEqual(JSON.parse(JSON.stringify(calls)), written);
  assert.ok(written.length > 10);
});

suite("an event that the shim does not know", () => {
  const words = 'The extension subscribes to the event "turn-begin", which the loader does not know.';

  test("is not in the interface", () => {
    const wit = readFileSync(new URL("../../wit/extension.wit", import.meta.url), "utf8");
    const kinds =
      /enum event-kind \{([^}]*)\}/
        .exec(wit)?.[1]
        .replace(/\/\/.*/g, "")
        .match(/[\w-]+/g) ?? [];
    assert.ok(kinds.length > 10);
    const name = (/** @type {string} */ kind) =>
      ["terminal-input", "child-progress", "child-end", "time-skipped"].includes(kind)
        ? undefined
        : kind.replaceAll("-", "_");
    assert.deepEqual(kinds.map(eventName), kinds.map(name));
    for (const kind of ["turn-begin", "--proto--", "constructor", ""])
      assert.throws(() => eventName(kind), /which the loader does not know/);
  });

  test("fails the load, with and without stored registrations", () => {
    const guest = plainGuest((imports) => ({
      init: () => imports[API].on("turn-begin"),
      handleEvent: () => ({ tag: "none" }),
    }));
    assert.throws(() => loadInto(standIn(), guest), { message: words });
    assert.throws(() => loadInto(standIn(), guest, {}, undefined, [["on", "turn-begin"]]), { message: words });
    const call = 'hello-guest calls "registerTheme", which pi:extension/api does not have.';
    assert.throws(() => loadInto(standIn(), guest, {}, undefined, [["registerTheme", {}]]), { message: call });
  });
});
