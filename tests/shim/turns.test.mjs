// Requests without a guest: command lines of a session and its children, one at a time.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createLocalBashOperations } from "@earendil-works/pi-coding-agent";
import { Requests } from "../../host-shim/requests.js";
import { Turns } from "../../host-shim/turns.js";

/** @param {import("node:test").TestContext} t */
function sessions(t) {
  const folder = mkdtempSync(join(tmpdir(), "turns-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const codingAgent = {
    createLocalBashOperations,
    getAgentDir: () => folder,
  };
  const manifest = { exec: true };
  const make = (/** @type {object} */ childOf) =>
    new Requests(
      /** @type {any} */ ({ codingAgent }),
      /** @type {any} */ (manifest),
      /** @type {any} */ (() => undefined),
      /** @type {any} */ (childOf),
    );
  const parent = make(/** @type {any} */ (undefined));
  const child = (/** @type {string} */ label) => make({ label, commands: parent.commandTurns });
  /**
   * Runs a command line; `shown` gets the texts of its progress.
   *
   * @param {Requests} requests
   * @param {string} line
   * @param {AbortSignal} [signal]
   */
  const run = (requests, line, signal, timeoutMs = 20_000) => {
    /** @type {string[]} */
    const shown = [];
    const commandLine = {
      line,
      timeoutMs: BigInt(timeoutMs),
      progress: "test",
      env: [],
      apart: false,
      outputFile: undefined,
    };
    const outcome = /** @type {any} */ ({
      tag: "pending",
      val: { ticket: 1n, request: { tag: "exec", val: { ...commandLine, timeoutMs } } },
    });
    let begun = 0;
    const progress = {
      show: (/** @type {string} */ text) => void shown.push(text),
      begin: () => ((begun += 1), () => void (begun -= 1)),
    };
    const done = requests.complete(
      /** @type {any} */ ({ cwd: folder }),
      outcome,
      (_, answer) => /** @type {any} */ ({ tag: "done", val: answer }),
      progress,
      signal,
    );
    return { shown, open: () => begun, done: done.then((/** @type {any} */ result) => result?.val.val?.end) };
  };
  return { folder, parent, child, run };
}

test("command lines of a session and its children run one after the other, in the order in which they were asked for", async (t) => {
  const { folder, parent, child, run } = sessions(t);
  const line = (/** @type {number} */ n) => `echo begin ${n} >> log; sleep 0.1; echo end ${n} >> log`;
  const runs = [parent, child("A"), child("B"), child("A")].map((requests, index) =>
    run(requests, line(index), undefined, 5000),
  );
  for (const { done } of runs) assert.deepEqual(await done, { tag: "exited", val: 0 });
  const order = [0, 1, 2, 3].flatMap((n) => [`begin ${n}`, `end ${n}`]);
  assert.deepEqual(readFileSync(join(folder, "log"), "utf8").trim().split("\n"), order);
  assert.deepEqual(
    runs.map(({ shown }) => shown[0]),
    [
      "test · 0 s",
      "A: test · waits for another command · 0 s",
      "B: test · waits for another command · 0 s",
      "A: test · waits for another command · 0 s",
    ],
  );
  assert.equal(runs[1].shown.at(-1), "A: test · 0 s");
  assert.deepEqual(
    runs.map(({ open }) => open()),
    [0, 0, 0, 0],
  );
});

test("the time limit of a command line begins when it begins", async (t) => {
  const { parent, child, run } = sessions(t);
  const first = run(parent, "sleep 0.6");
  const second = run(child("A"), "sleep 0.1", undefined, 400);
  await first.done;
  assert.deepEqual(await second.done, { tag: "exited", val: 0 });
});

test("one that is aborted while it waits ends at once, does not run, and lets the next one wait for its turn", async (t) => {
  const { folder, parent, child, run } = sessions(t);
  const abort = new AbortController();
  const first = run(parent, "sleep 0.6; echo first >> log");
  const aborted = run(child("A"), "echo ran > aborted", abort.signal);
  const over = child("B");
  const ended = run(over, "echo ran > ended");
  const last = run(child("C"), "echo last >> log");
  const start = performance.now();
  await sleep(50);
  abort.abort();
  over.drop();
  assert.deepEqual([await aborted.done, await ended.done], [{ tag: "cancelled" }, undefined]);
  assert.ok(performance.now() - start < 500);
  assert.deepEqual([aborted.open(), ended.open()], [0, 0]);
  const shown = [aborted.shown.length, ended.shown.length];
  await Promise.all([first.done, last.done]);
  await sleep(1100);
  assert.deepEqual([aborted.shown.length, ended.shown.length], shown, "its progress has ended");
  assert.equal(readFileSync(join(folder, "log"), "utf8"), "first\nlast\n");
  assert.deepEqual(
    ["aborted", "ended"].filter((name) => existsSync(join(folder, name))),
    [],
  );
});

test("a turn that is ended in vain keeps the order of the others", async () => {
  const turns = new Turns();
  const [one, two, three] = [turns.next(), turns.next(), turns.next()];
  assert.deepEqual(
    [one, two, three].map(({ waits }) => waits),
    [false, true, true],
  );
  let isReady = false;
  void three.ready.then(() => (isReady = true));
  two.end();
  await sleep(5);
  assert.equal(isReady, false);
  one.end();
  await three.ready;
  three.end();
  await sleep(0);
  assert.equal(turns.next().waits, false);
});
