// Entries without the model, with SIGKILL before, in and after them: none is lost, and none is begun again without the
// user.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { lastPath } from "./harness/gates.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { readSession, runPrint, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { contextPrompt, pauses, states, step, workflow } from "./harness/workflows.mjs";

const next = step("next");
const REST = { text: "I rest." };

/**
 * The files of a workflow with these entries and the phases `plan` and `build`.
 *
 * @param {unknown[]} phases
 * @param {object} [fields]
 */
const files = (phases, fields = {}) => workflow("hello", ["plan", "build"], { autoContinue: false, ...fields, phases });

/**
 * A command that notes that it has begun, waits for a file, at most 10 s, and notes that it has ended.
 *
 * @param {string} name in shell words
 */
const held = (name) =>
  `echo ${name} >> begun; i=0; while [ ! -e go-${name} ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done; echo ${name} >> ended`;
const hold = (/** @type {string} */ id) => ({ run: held(id), id });
const quick = (/** @type {string} */ id) => ({ run: `echo ${id} >> begun`, id });

/** @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
function project(sandbox) {
  const path = (/** @type {string} */ name) => join(sandbox.project, name);
  const lines = (/** @type {string} */ name) =>
    existsSync(path(name)) ? readFileSync(path(name), "utf8").trim().split("\n") : [];
  return {
    begun: () => lines("begun"),
    go: (/** @type {string[]} */ ...names) => names.forEach((name) => writeFileSync(path(`go-${name}`), "")),
    /** @param {string} name @param {number} count @param {"begun" | "ended"} [what] */
    async when(name, count, what = "begun") {
      for (let tries = 0; lines(what).filter((line) => line === name).length < count; tries += 1) {
        assert.ok(tries < 300, `${name} has not ${what}: ${lines(what)}`);
        await sleep(50);
      }
    },
  };
}

/**
 * Starts the workflow in a pi that is killed at its first dialog, and returns the request for the dialog.
 *
 * @param {typeof VERSIONS[number]} version
 * @param {import("./harness/sandbox.mjs").Sandbox} sandbox
 */
async function killedAtDialog(version, sandbox) {
  const asked = Promise.withResolvers();
  const onDialog = (/** @type {unknown} */ request) => (asked.resolve(request), new Promise(() => {}));
  const rpc = await startRpc({ version, sandbox, onDialog });
  void rpc.prompt("/workflow hello Add a route").catch(() => {});
  const request = await asked.promise;
  await rpc.kill();
  return request;
}

for (const version of VERSIONS) {
  suite(`pi ${version}: a killed pi`, { concurrency: 2 }, () => {
    test("in the first step, before any message: the run is there, and the step runs again with :resume alone", async (t) => {
      const { model, sandbox } = await stage(t, [REST, next, REST], {
        globalFiles: files([quick("one"), hold("two"), "build.md"]),
      });
      const { begun, go, when } = project(sandbox);
      const first = await startRpc({ version, sandbox });
      void first.prompt("/workflow hello Add a route").catch(() => {});
      await when("two", 1);
      await first.kill();
      assert.equal(sessionFiles(sandbox).length, 1);
      assert.equal(lastPath(readSession(sandbox)), "hello:1");
      go("two");
      await when("two", 1, "ended");

      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("What now?");
      assert.deepEqual(begun(), ["one", "two"]);
      assert.match(contextPrompt(model.lastRequest()) ?? "", /which it does without you/);
      assert.match(JSON.stringify(pauses(await rpc.entries()).at(-1)), /may have been interrupted/);
      await rpc.promptAndSettle("/workflow :resume");
      assert.deepEqual(begun(), ["one", "two", "two"]);
      const entries = await rpc.entries();
      assert.equal(states(entries).at(-1).active, false);
      assert.match(contextPrompt(model.requests[1]) ?? "", /▸ 🔹 Build\]\n[^]*Add a route/);
      assert.equal(sessionFiles(sandbox).length, 1);
      assert.deepEqual(readSession(sandbox), entries, "the file has all entries, each once");
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("at the question about the commands of a run: it has not begun, and nothing has run", LONG, async (t) => {
      const { sandbox } = await stage(t, [next, REST], { projectFiles: files([quick("one"), "build.md"]) });
      const { begun } = project(sandbox);
      await killedAtDialog(version, sandbox);
      assert.deepEqual([begun(), sessionFiles(sandbox)], [[], []]);

      const rpc = await startRpc({ version, sandbox, onDialog: ({ options }) => options[1] });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.deepEqual(begun(), ["one"]);
      assert.equal(states(await rpc.entries()).at(-1).active, false);
      await rpc.close();
    });

    test("after the steps, before the model has answered: they do not run again", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [{ hang: true }, next, REST], {
        globalFiles: files([quick("one"), quick("two"), "build.md"]),
      });
      const { begun } = project(sandbox);
      const first = await startRpc({ version, sandbox });
      const hung = model.waitForRequests(1);
      void first.prompt("/workflow hello Add a route").catch(() => {});
      await hung;
      await first.kill();

      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.equal(lastPath(await rpc.entries()), "hello:2");
      await rpc.promptAndSettle("Go on.");
      assert.deepEqual(begun(), ["one", "two"]);
      assert.equal(states(await rpc.entries()).at(-1).active, false);
      await rpc.close();
    });

    test("at a question before any message, and before a step: :answer of another process answers it", async (t) => {
      const ask = { ask: "Which way?", id: "way", outcomes: { left: "next", right: "next" } };
      const { sandbox } = await stage(t, [next, REST], {
        globalFiles: files([quick("one"), ask, quick("two"), "build.md"]),
      });
      const { begun } = project(sandbox);
      await killedAtDialog(version, sandbox);

      const run = await runPrint({ version, sandbox, prompt: "/workflow :answer left", args: ["--continue"] });
      assert.deepEqual(run, { code: 0, stdout: "I rest.\n", stderr: "Workflow The hello: DONE.\n" });
      assert.deepEqual(begun(), ["one", "two"]);
    });

    test("in a step between phases: it runs again with :resume alone, those before it do not", LONG, async (t) => {
      const { sandbox } = await stage(t, [next, REST, next, REST], {
        globalFiles: files(["plan.md", quick("one"), hold("two"), quick("three"), "build.md"]),
      });
      const { begun, go, when } = project(sandbox);
      const first = await startRpc({ version, sandbox });
      void first.prompt("/workflow hello Add a route").catch(() => {});
      await when("two", 1);
      await first.kill();
      go("two");

      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("What now?");
      assert.equal(lastPath(await rpc.entries()), "hello:2");
      assert.deepEqual(begun(), ["one", "two"]);
      await rpc.promptAndSettle("/workflow :resume");
      assert.deepEqual(begun(), ["one", "two", "two", "three"]);
      assert.equal(states(await rpc.entries()).at(-1).active, false);
      await rpc.close();
    });

    test(
      "in a step of a group that is repeated: the items before it do not run again, those after it run once",
      LONG,
      async (t) => {
        const group = {
          id: "all",
          each: ["a", "b", "c"],
          phases: [{ run: held('"$item"').replace('go-"$item"', '"go-$item"'), id: "do", env: { item: "item" } }],
        };
        const { sandbox } = await stage(t, [next, REST], { globalFiles: files([group, "build.md"]) });
        const { begun, go, when } = project(sandbox);
        go("a");
        const first = await startRpc({ version, sandbox });
        void first.prompt("/workflow hello Add a route").catch(() => {});
        await when("b", 1);
        await first.kill();
        go("b", "c");
        await when("b", 1, "ended");

        const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
        assert.equal(lastPath(await rpc.entries()), "hello:0 hello//0@1:0");
        assert.deepEqual(begun(), ["a", "b"]);
        await rpc.promptAndSettle("/workflow :resume");
        assert.deepEqual(begun(), ["a", "b", "b", "c"]);
        assert.equal(states(await rpc.entries()).at(-1).active, false);
        await rpc.close();
      },
    );

    test(
      "in a command that is a value: it is asked for again, and without a yes it does not run again",
      LONG,
      async (t) => {
        const find = { id: "find", outputs: { check: { type: "command" } }, run: `echo '{"check": "sh value.sh"}'` };
        const { sandbox } = await stage(t, [REST, next, REST], {
          globalFiles: files([find, { id: "go", run: "output.find.check" }, "build.md"]),
          files: { "value.sh": held("two") },
        });
        const { begun, go, when } = project(sandbox);
        const first = await startRpc({ version, sandbox, onDialog: ({ options }) => options[1] });
        void first.prompt("/workflow hello Add a route").catch(() => {});
        await when("two", 1);
        await first.kill();
        go("two");
        await when("two", 1, "ended");

        const asked = /** @type {string[]} */ ([]);
        const onDialog = (/** @type {any} */ { title, options }) => (asked.push(title) > 1 ? options[1] : undefined);
        const rpc = await startRpc({ version, sandbox, args: ["--continue"], onDialog });
        await rpc.promptAndSettle("What now?");
        assert.deepEqual([begun(), asked], [["two"], []]);
        await rpc.prompt("/workflow :resume");
        assert.deepEqual([begun(), asked.length], [["two"], 1]);
        await rpc.promptAndSettle("/workflow :resume");
        assert.deepEqual(begun(), ["two", "two"]);
        assert.deepEqual(
          [asked.length, asked.every((title) => /sh value\.sh/.test(title))],
          [2, true],
          asked.join("\n"),
        );
        assert.equal(states(await rpc.entries()).at(-1).active, false);
        await rpc.close();
      },
    );

    test("a reload in a step stops it, and it runs again with :resume alone", LONG, async (t) => {
      const { sandbox } = await stage(t, [next, REST], {
        globalFiles: files([quick("one"), hold("two"), "build.md"]),
        files: TRAVEL,
      });
      const { begun, go, when } = project(sandbox);
      const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox) });
      void rpc.prompt("/workflow hello Add a route").catch(() => {});
      await when("two", 1);
      await rpc.prompt("/go-reload");
      assert.equal(lastPath(await rpc.entries()), "hello:1");
      assert.deepEqual(begun(), ["one", "two"]);
      go("two");
      await rpc.promptAndSettle("/workflow :resume");
      assert.deepEqual(begun(), ["one", "two", "two"]);
      assert.equal(states(await rpc.entries()).at(-1).active, false);
      await rpc.close();
    });
  });
}

const KILLS = 25;

test(`killed ${KILLS} times, a run loses no step, and begins none again without :resume`, LONG, async (t) => {
  const steps = ["one", "two", "three", "a", "b", "five"];
  const slow = (/** @type {string} */ id) => ({ run: `echo ${id} >> begun; sleep 0.2`, id });
  const group = {
    id: "all",
    each: ["a", "b"],
    phases: [{ run: 'echo "$item" >> begun; sleep 0.2', id: "do", env: { item: "item" } }],
  };
  const entries = [slow("one"), slow("two"), "plan.md", slow("three"), group, "build.md", slow("five")];
  const seed = Number(process.env.SEED ?? Date.now() % 2_147_483_648);
  t.diagnostic(`SEED=${seed}`);
  let number = seed;
  const chance = () => (number = (number * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  let kills = 0;
  while (kills < KILLS) {
    const { sandbox } = await stage(t, () => ({ ...next, delayMs: 30 }), { globalFiles: files(entries) });
    const { begun } = project(sandbox);
    /** The number of times that each step may have begun. @type {Record<string, number>} */
    const most = Object.fromEntries(steps.map((name) => [name, 1]));
    for (let done = false; !done;) {
      const stored = sessionFiles(sandbox).length > 0 ? readSession(sandbox) : [];
      const state = states(stored).at(-1);
      assert.ok(state || begun().length === 0, `no run, but ${begun()} have begun`);
      const rpc = await startRpc({ sandbox, args: ["--continue"] });
      const before = begun();
      const settled = rpc.waitForSettled().catch(() => undefined);
      if (state) await rpc.prompt("What now?");
      await sleep(100);
      const isPaused = state && begun().length === before.length && pauses(await rpc.entries()).at(-1);
      if (!state) void rpc.prompt("/workflow hello it").catch(() => {});
      if (isPaused) {
        const last = before.at(-1) ?? "";
        most[last] += 1;
        await settled;
        void rpc.prompt("/workflow :resume").catch(() => {});
      }
      await sleep(kills < KILLS ? chance() * 900 : 5000);
      await rpc.kill();
      kills += 1;
      for (const name of steps) {
        const count = begun().filter((other) => other === name).length;
        assert.ok(count <= most[name], `${name} has begun ${count} times, at most ${most[name]}: ${begun()}`);
      }
      // A pi that is killed at once has no session; then nothing may have begun, which the next round asserts.
      done = sessionFiles(sandbox).length > 0 && states(readSession(sandbox)).at(-1)?.active === false;
    }
    assert.deepEqual([...new Set(begun())], steps);
  }
});
