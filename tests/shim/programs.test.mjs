// Programs of the user's that get lines, and pi's own display that it waits.

import assert from "node:assert/strict";
import childProcess from "node:child_process";
import { EventEmitter } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as immediate, setTimeout as delay } from "node:timers/promises";
import { BlockedStatus } from "../../host-shim/blocked-status.js";
import { loadInto, plainGuest, standIn } from "./pi-stand-in.mjs";

/** A guest that gives lines to programs, with the errors that the user was shown. */
function guest(/** @type {import("node:test").TestContext} */ t, { mode = "rpc", granted = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "programs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  /** @type {any} */
  let imports;
  const instantiate = plainGuest((given) => {
    imports = given;
    return { init: () => given["pi:extension/api"].on("session-start") };
  });
  const pi = standIn();
  const context = pi.context({ mode });
  loadInto({ ...pi, emit: (name, event) => pi.emit(name, event, context) }, instantiate, { programs: granted });
  const { run } = imports["pi:extension/programs"];
  const log = join(folder, "log");
  const linesNow = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []);
  const errors = () => pi.calls.filter(([name]) => name === "notify").map(([, message]) => message);
  return {
    pi,
    folder,
    setBlocked: imports["pi:extension/ui"].setBlocked,
    end: () => pi.emit("session_shutdown", { reason: "quit" }, context),
    /** Gives a line to a program that writes it into the log. */
    give: (/** @type {string} */ line, kind = "waiting") => run(kind, ["/bin/sh", "-c", `cat >> ${log}`], line),
    runs: (/** @type {string[]} */ ...program) => run(`${Math.random()}`, program, "x"),
    /** The lines up to now, when there are so many at least; also under a clock of the test. */
    async lines(/** @type {number} */ count) {
      const started = Date.now();
      while (linesNow().length < count && Date.now() - started < 5000) await immediate();
      for (const written = Date.now(); Date.now() - written < 50;) await immediate();
      return linesNow();
    },
    linesNow,
    errors,
    /** The errors, when there is one. */
    async error() {
      for (let tries = 0; tries < 200 && errors().length === 0; tries++) await delay(20);
      return errors();
    },
  };
}

/** A clock of the test. */
function clock(/** @type {import("node:test").TestContext} */ t) {
  let now = 1_000_000;
  t.mock.method(performance, "now", () => now);
  return (/** @type {number} */ seconds) => void (now += seconds * 1000);
}

test("where no keys are known a program gets its line at once", async (t) => {
  const { give, lines } = guest(t);
  give('{"why":"`$(touch x)`; \'x\' $HOME"}');
  assert.deepEqual(await lines(1), ['{"why":"`$(touch x)`; \'x\' $HOME"}']);
});

test("without the grant nothing is run", async (t) => {
  const { give, linesNow, errors, runs } = guest(t, { granted: false });
  give("x");
  runs("/no/such/program");
  await delay(200);
  assert.deepEqual([linesNow(), errors()], [[], []]);
});

test("in a terminal nothing is run within 30 seconds of a key, or of the start of the session", async (t) => {
  const pass = clock(t);
  const { give, lines, pi } = guest(t, { mode: "tui" });
  give("one");
  pass(31);
  pi.typed("x");
  pass(29);
  give("two");
  // An answer of the terminal to a query is no key.
  pi.typed("\x1b[?1;2c");
  pass(2);
  give("three");
  assert.deepEqual(await lines(1), ["three"]);
});

test("a line of a kind in a minute, and none that comes between", async (t) => {
  const pass = clock(t);
  const { give, lines } = guest(t);
  for (const line of ["one", "two", "three"]) give(line);
  give("done", "ended");
  assert.deepEqual((await lines(2)).sort(), ["done", "one"]);
  pass(59);
  give("four");
  pass(2);
  give("five");
  assert.deepEqual((await lines(3)).slice(2), ["five"]);
});

test("a program that fails is told once", async (t) => {
  for (const [program, message] of [
    [["/no/such/program", "x"], /^The program \/no\/such\/program of your settings did not start: .*ENOENT/],
    [["/bin/sh", "-c", "exit 3"], /^The program \/bin\/sh of your settings failed with exit status 3\.$/],
    [["/bin/sh", "a\0b"], /^The program \/bin\/sh of your settings did not start: /],
  ]) {
    const { runs, error, errors } = guest(t);
    runs(.../** @type {string[]} */ (program));
    const [first] = await error();
    assert.match(String(first), /** @type {RegExp} */ (message));
    runs("/no/such/other");
    await delay(200);
    assert.equal(errors().length, 1);
  }
});

test("a program that gets no descriptors is told, and the input of bun has no `unref`", async (t) => {
  for (const [stdin, message] of [
    [undefined, "The program a of your settings did not start: spawn EMFILE"],
    [{ on() {}, end() {} }, undefined],
  ]) {
    const { runs, errors } = guest(t);
    const child = Object.assign(new EventEmitter(), { stdin, unref() {} });
    const spawned = t.mock.method(childProcess, "spawn", () => {
      if (message !== undefined) process.nextTick(() => child.emit("error", new Error("spawn EMFILE")));
      else process.nextTick(() => child.emit("exit", 0));
      return child;
    });
    syncBuiltinESMExports();
    runs("a");
    spawned.mock.restore();
    syncBuiltinESMExports();
    await immediate();
    assert.deepEqual(errors(), message === undefined ? [] : [message]);
  }
});

test("a program may end without reading its line", async (t) => {
  const { runs, errors } = guest(t);
  runs("/bin/sh", "-c", "exec <&-");
  await delay(200);
  assert.deepEqual(errors(), []);
});

test("a program that hangs is stopped with its children, and told", async (t) => {
  const { runs, error, folder } = guest(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  runs("/bin/sh", "-c", `echo $$ > ${folder}/pid; sleep 60 & echo $! > ${folder}/child; wait`);
  t.mock.timers.tick(9000);
  const alive = (/** @type {string} */ name) =>
    existsSync(`/proc/${readFileSync(join(folder, name), "utf8").trim()}/fd/0`);
  const started = Date.now();
  // The shell makes the file before it writes the number.
  const isStarted = () => existsSync(join(folder, "child")) && readFileSync(join(folder, "child"), "utf8") !== "";
  while (!isStarted() && Date.now() - started < 5000) await immediate();
  assert.ok(alive("pid") && alive("child"));
  t.mock.timers.tick(1500);
  t.mock.timers.reset();
  assert.match(String((await error())[0]), /did not end within 10 seconds and was stopped\.$/);
  while ((alive("pid") || alive("child")) && Date.now() - started < 10_000) await delay(20);
  assert.ok(!alive("pid") && !alive("child"));
});

test("a program begins at home, and `~/` stands for it", async (t) => {
  const { runs, folder, error } = guest(t);
  runs("/bin/sh", "-c", `pwd > ${folder}/cwd`);
  for (let tries = 0; tries < 200 && !existsSync(join(folder, "cwd")); tries++) await delay(20);
  await delay(50);
  assert.equal(readFileSync(join(folder, "cwd"), "utf8").trim(), homedir());
  runs("~/no/such/program");
  assert.match(String((await error())[0]), new RegExp(`spawn ${homedir()}/no/such/program ENOENT`));
});

test("pi shows that it waits, where it can", (t) => {
  const { setBlocked, pi, end } = guest(t, { mode: "tui" });
  const customs = () => pi.did().filter(([name]) => String(name).startsWith("custom"));
  const blocked = (/** @type {string} */ message) => ["custom", { kind: "question", message }];
  setBlocked("one\x1b[0m");
  setBlocked("two");
  assert.deepEqual(customs(), [blocked("one[0m"), ["customDone"], blocked("two")]);
  setBlocked(undefined);
  setBlocked(undefined);
  assert.deepEqual(customs(), [["customDone"]]);
  setBlocked("three");
  end();
  assert.deepEqual(customs(), [blocked("three"), ["customDone"]]);

  for (const [version, mode, shows] of [
    ["1.5.1", "tui", 1],
    ["1.10.0", "tui", 1],
    ["2.0.0-beta", "tui", 1],
    ["1.5.0", "tui", 0],
    ["0.87.1", "tui", 0],
    ["", "tui", 0],
    ["1.6.0", "rpc", 0],
  ]) {
    new BlockedStatus(String(version)).set(/** @type {any} */ (pi.context({ mode })), "x");
    assert.equal(customs().length, shows, `${version} ${mode}`);
  }
});
