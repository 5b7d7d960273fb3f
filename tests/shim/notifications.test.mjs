// Notifications outside of pi: by programs and by the terminal, and pi's own display that it waits.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as immediate, setTimeout as delay } from "node:timers/promises";
import { BlockedStatus } from "../../host-shim/blocked-status.js";
import { terminalNotification } from "../../host-shim/notifications.js";
import { loadInto, plainGuest, standIn } from "./pi-stand-in.mjs";

/** A guest that sends notifications, with the errors that the user was shown. */
function guest(/** @type {import("node:test").TestContext} */ t, { mode = "rpc", granted = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "notifications-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  /** @type {any} */
  let imports;
  const instantiate = plainGuest((given) => {
    imports = given;
    return { init: () => given["pi:extension/api"].on("session-start") };
  });
  const pi = standIn();
  const context = pi.context({ mode });
  loadInto({ ...pi, emit: (name, event) => pi.emit(name, event, context) }, instantiate, { notifications: granted });
  const { send, withdraw } = imports["pi:extension/notifications"];
  const log = join(folder, "log");
  const shownNow = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []);
  const errors = () => pi.calls.filter(([name]) => name === "notify").map(([, message]) => message);
  return {
    pi,
    folder,
    withdraw,
    setBlocked: imports["pi:extension/ui"].setBlocked,
    end: () => pi.emit("session_shutdown", { reason: "quit" }, context),
    /** Notifies by a program that writes its arguments into the log. */
    send: (/** @type {string} */ text, /** @type {string} */ occasion = "waits") =>
      send({
        occasion,
        title: "T",
        text,
        command: ["/bin/sh", "-c", `printf '%s\\n' "$@" >> ${log}`, "sh", text],
        terminal: false,
      }),
    sendBy: (/** @type {string[]} */ ...command) =>
      send({ occasion: `${Math.random()}`, title: "T", text: "x", command, terminal: false }),
    /** What was notified up to now, when at least so many programs have ended; also under a clock of the test. */
    async shown(/** @type {number} */ count) {
      const started = Date.now();
      while (shownNow().length < count && Date.now() - started < 5000) await immediate();
      for (const written = Date.now(); Date.now() - written < 50;) await immediate();
      return shownNow();
    },
    shownNow,
    errors,
    /** The errors, when there is one. */
    async error() {
      for (let tries = 0; tries < 200 && errors().length === 0; tries++) await delay(20);
      return errors();
    },
  };
}

/** A clock of the test, for the time and the timers. */
function clock(/** @type {import("node:test").TestContext} */ t) {
  let now = 1_000_000;
  t.mock.method(performance, "now", () => now);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  return (/** @type {number} */ seconds) => {
    for (let second = 0; second < seconds; second++) {
      now += 1000;
      t.mock.timers.tick(1000);
    }
  };
}

test("where no keys are known a notification is shown at once", async (t) => {
  const { send, shown } = guest(t);
  send("In a: `$(touch x)`; \"quoted\" 'x' $HOME");
  assert.deepEqual(await shown(1), ["In a: `$(touch x)`; \"quoted\" 'x' $HOME"]);
});

test("without the grant nothing is shown", async (t) => {
  const { send, withdraw, shownNow, errors, sendBy } = guest(t, { granted: false });
  send("x");
  sendBy("/no/such/program");
  withdraw("waits");
  await delay(200);
  assert.deepEqual([shownNow(), errors()], [[], []]);
});

test("in a terminal it waits until no key was pressed for 30 seconds", async (t) => {
  const pass = clock(t);
  const { send, shown, shownNow, pi } = guest(t, { mode: "tui" });
  send("one");
  pass(20);
  pi.typed("x");
  pass(29);
  // An answer of the terminal to a query is no key.
  pi.typed("\x1b[?1;2c");
  assert.deepEqual(shownNow(), []);
  pass(2);
  t.mock.timers.reset();
  assert.deepEqual(await shown(1), ["one"]);
});

test("what is held back is withdrawn by the guest, and dropped with the session", async (t) => {
  const pass = clock(t);
  const { send, withdraw, end, shownNow } = guest(t, { mode: "tui" });
  send("one");
  send("two", "done");
  withdraw("waits");
  withdraw("nothing");
  end();
  pass(200);
  t.mock.timers.reset();
  await delay(200);
  assert.deepEqual(shownNow(), []);
});

test("one a minute for each occasion, the newest", async (t) => {
  const pass = clock(t);
  const { send, shown } = guest(t);
  for (const text of ["one", "two", "three"]) send(text);
  send("done", "done");
  assert.deepEqual((await shown(2)).sort(), ["done", "one"]);
  pass(59);
  send("four");
  assert.equal((await shown(2)).length, 2);
  pass(2);
  assert.equal((await shown(3)).at(-1), "four");
  pass(120);
  assert.equal((await shown(3)).length, 3);
});

test("a program that fails is told once", async (t) => {
  for (const [command, message] of [
    [["/no/such/program", "x"], /^The program \/no\/such\/program, which is to notify you, did not start: .*ENOENT/],
    [["/bin/sh", "-c", "exit 3"], /^The program \/bin\/sh, which is to notify you, failed with exit status 3\.$/],
    [["/bin/sh", "a\0b"], /^The program \/bin\/sh, which is to notify you, did not start: /],
  ]) {
    const { sendBy, error, errors } = guest(t);
    sendBy(.../** @type {string[]} */ (command));
    const [first] = await error();
    assert.match(String(first), /** @type {RegExp} */ (message));
    sendBy("/no/such/other");
    await delay(200);
    assert.equal(errors().length, 1);
  }
});

test("a program that hangs is stopped with its children, and told", async (t) => {
  const { sendBy, error, folder } = guest(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  sendBy("/bin/sh", "-c", `echo $$ > ${folder}/pid; sleep 60 & echo $! > ${folder}/child; wait`);
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
  const { sendBy, folder, error } = guest(t);
  sendBy("/bin/sh", "-c", `pwd > ${folder}/cwd`);
  for (let tries = 0; tries < 200 && !existsSync(join(folder, "cwd")); tries++) await delay(20);
  await delay(50);
  assert.equal(readFileSync(join(folder, "cwd"), "utf8").trim(), homedir());
  sendBy("~/no/such/program");
  assert.match(String((await error())[0]), new RegExp(`spawn ${homedir()}/no/such/program ENOENT`));
});

test("a terminal is told in its own words", () => {
  const of = (/** @type {NodeJS.ProcessEnv} */ env) =>
    terminalNotification("Workflow a;b waits", "In x:\n\x1b]0;evil\x07\x9b text", env);
  assert.equal(of({}), "\x1b]777;notify;Workflow a,b waits;In x: ]0;evil text\x07");
  assert.equal(of({ TERM_PROGRAM: "iTerm.app" }), "\x1b]9;Workflow a;b waits: In x: ]0;evil text\x07");
  assert.equal(
    of({ KITTY_WINDOW_ID: "1" }),
    "\x1b]99;i=1:d=0;Workflow a;b waits\x1b\\\x1b]99;i=1:p=body;In x: ]0;evil text\x1b\\",
  );
  assert.equal(of({ TMUX: "x" }), "\x1bPtmux;\x1b\x1b]777;notify;Workflow a,b waits;In x: ]0;evil text\x07\x1b\\");
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
