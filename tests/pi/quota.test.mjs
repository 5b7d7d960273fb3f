// A limit of the model: the run pauses, and goes on by itself where the user wants it to.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { branchOf, team } from "./harness/branches.mjs";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import {
  custom,
  nextUntilDone,
  notices,
  pauses,
  phaseFile,
  states,
  statusTexts,
  workflow,
} from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["plan", "build"], { autoContinue: false });
const WAIT = { "settings.yaml": "wait: 6h\n" };
const TASK = "/workflow hello Add a route";

/** A request that a limit refuses. @param {string} when */
const limit = (when) => ({ status: 429, text: `Rate limit reached for scripted. Please try again in ${when}.` });

/**
 * A model that refuses so many requests first, and then calls `next` until the run is done.
 *
 * @param {number} count
 * @param {string} when
 * @returns {import("./harness/scripted-model.mjs").StepFunction}
 */
const limited = (count, when) => (request, index) => (index < count ? limit(when) : nextUntilDone(request));

/** @param {any[]} entries */
const progress = (entries) => custom(entries, "workflow:state").at(-1).progress;
/** The pause at a limit. @param {any[]} entries */
const pauseOf = (entries) => pauses(entries).findLast((reason) => reason?.kind === "quota");

/** Resolves when the status line has this text. @param {import("./harness/rpc.mjs").Rpc} rpc @param {RegExp} text */
const shows = (rpc, text) =>
  rpc.waitFor(({ method, statusText }) => method === "setStatus" && text.test(statusText ?? ""), { what: `${text}` });

const GOES_ON = /paused: a limit of the model, goes on in \d+s/;

for (const version of VERSIONS) {
  suite(`pi ${version}: a limit of the model`, { concurrency: 2 }, () => {
    test("is waited for after pi's own retries, and the run goes on", async (t) => {
      const { model, sandbox } = await stage(t, limited(2, "2s"), {
        globalFiles: { ...HELLO, ...WAIT },
        settings: { retry: { enabled: true, maxRetries: 1, baseDelayMs: 50 } },
      });
      const rpc = await startRpc({ version, sandbox });
      const counts = shows(rpc, GOES_ON);
      await rpc.promptAndSettle(TASK);
      assert.equal(model.requests.length, 2, "pi's own retry came first");
      await counts;
      await rpc.waitFor(({ method, statusText }) => method === "setStatus" && statusText === undefined, {
        from: rpc.records.length,
        what: "the end of the run",
      });
      const entries = await rpc.entries();
      assert.equal(states(entries).at(-1).active, false);
      const [pause] = pauses(entries).filter(Boolean);
      assert.deepEqual([pause.kind, pause.goesOnAt - pause.until], ["quota", 1000]);
      const { count, ms } = progress(entries).quota;
      assert.equal(count, 1);
      assert.ok(ms >= 2000 && ms < 60_000, `${ms}`);
      const work = custom(entries, "workflow:state").findLast(({ progress }) => progress.visits?.["hello:0"])?.progress
        .visits["hello:0"].usage.workMs;
      assert.ok(work >= 0 && work < ms, `the wait is no work: ${work}`);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("is a pause without the setting, until :wait", LONG, async (t) => {
      const { sandbox } = await stage(t, limited(1, "3s"), { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      const [notice] = notices(rpc).slice(-1);
      assert.match(notice, /a limit of the model is reached, until 20\d\d-/);
      assert.equal(pauseOf(await rpc.entries()).goesOnAt, undefined);
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow :wait");
      await settled;
      assert.equal(states(await rpc.entries()).at(-1).active, false);
      await rpc.close();
    });

    test("that lasts on has three waits", LONG, async (t) => {
      const { model, sandbox } = await stage(t, limited(99, "1ms"), { globalFiles: { ...HELLO, ...WAIT } });
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt(TASK);
      await model.waitForRequests(4);
      await rpc.waitFor(({ method, message }) => method === "notify" && /:wait has it go on/.test(message));
      assert.equal(progress(await rpc.entries()).quota.inRow, 3);
      assert.equal(model.requests.length, 4);
      await rpc.close();
    });

    for (const how of variants(["/workflow :pause", "Go on."])) {
      test(`waits until the user acts: ${how}`, LONG, async (t) => {
        const { model, sandbox } = await stage(t, limited(1, "1h"), { globalFiles: { ...HELLO, ...WAIT } });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle(TASK);
        await shows(rpc, /goes on in 1h/);
        if (how.startsWith("/")) {
          await rpc.prompt(how);
          const pause = pauseOf(await rpc.entries());
          assert.deepEqual([pause.kind, pause.goesOnAt], ["quota", undefined]);
          assert.match(statusTexts(rpc).at(-1) ?? "", /a limit of the model, until/);
          assert.equal(model.requests.length, 1);
          await rpc.promptAndSettle("/workflow :resume");
        } else await rpc.promptAndSettle(how);
        assert.equal(states(await rpc.entries()).at(-1).active, false);
        await rpc.close();
      });
    }

    test("is waited for across a kill", LONG, async (t) => {
      const { model, sandbox } = await stage(t, limited(1, "8s"), { globalFiles: { ...HELLO, ...WAIT } });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle(TASK);
      await shows(first, GOES_ON);
      await first.kill();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await shows(rpc, GOES_ON);
      assert.equal(model.requests.length, 1);
      await rpc.waitForSettled({ from: 0 });
      assert.equal(states(await rpc.entries()).at(-1).active, false);
      await rpc.close();
    });

    for (const mode of variants(/** @type {const} */ (["text", "json"]))) {
      test(`is waited for in ${mode} mode, if an option says so`, LONG, async (t) => {
        const { sandbox } = await stage(t, limited(2, "1s"), { globalFiles: HELLO });
        const args = ["--workflow-wait=1h"];
        const run = await runPrint({ version, sandbox, mode, args, prompt: TASK });
        assert.equal(run.code, 0, run.stderr);
        assert.match(run.stderr, /^(Workflow The hello: paused in .*; it goes on by itself at .*\n){2}Workflow.*DONE/m);
        assert.equal(progress(readSession(sandbox)).quota.count, 2);
        const other = await stage(t, limited(1, "1s"), { globalFiles: HELLO });
        const paused = await runPrint({ version, sandbox: other.sandbox, mode, prompt: TASK });
        assert.equal(paused.code, 1);
        assert.match(paused.stderr, /paused in 🔹 Plan: a limit of the model is reached, until 20.*\n$/);
      });
    }

    for (const mode of variants(["rpc", "text"])) {
      test(`that a branch meets is waited for by all, in ${mode} mode`, LONG, async (t) => {
        const phases = [{ id: "team", phases: ["one.md", "two.md"], parallel: true }, "last.md"];
        const files = Object.fromEntries(
          ["one", "two", "last"].map((id) => [`w/${id}.md`, phaseFile({ id, write: [] })]),
        );
        const work = team();
        let failed = 0;
        /** @type {import("./harness/scripted-model.mjs").StepFunction} */
        const script = (request, index) =>
          branchOf(request) === "One" && failed++ === 0 ? limit("2s") : work(request, index);
        const { model, sandbox } = await stage(t, script, {
          globalFiles: { ...workflow("w", ["one"], { autoContinue: false, phases }), ...files, ...WAIT },
        });
        if (mode === "rpc") {
          const rpc = await startRpc({ version, sandbox });
          await rpc.prompt("/workflow w The task");
          await shows(rpc, GOES_ON);
          await rpc.waitForSettled();
          assert.equal(states(await rpc.entries()).at(-1).active, false);
          assert.deepEqual(rpc.extensionErrors(), []);
          await rpc.close();
        } else {
          const run = await runPrint({ version, sandbox, prompt: "/workflow w The task" });
          assert.equal(run.code, 0, run.stderr);
        }
        assert.equal(model.requests.filter((request) => branchOf(request) === "Two").length, 1, "it is not done again");
        assert.equal(failed, 2);
      });
    }
  });
}

test("Escape ends a wait that the status bar counts down", LONG, async (t) => {
  const { model, sandbox } = await stage(t, limited(1, "2h"), { globalFiles: { ...HELLO, ...WAIT } });
  const tui = await startTui({ sandbox, columns: 80 });
  await tui.submit(TASK);
  await tui.waitFor(/goes on in 2h/);
  await tui.submit("/workflow :status");
  assert.match(await tui.waitFor(/, started 20/), /goes on in 2h/);
  await tui.press("Escape");
  await tui.waitFor(/a limit of the model, until/);
  assert.equal(model.requests.length, 1);
});
