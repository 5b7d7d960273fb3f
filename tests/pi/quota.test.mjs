// A limit of the model: the run pauses, and goes on by itself where the user wants it to.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, nextUntilDone, pauses, states, workflow } from "./harness/workflows.mjs";

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
