// The agent's work ends in time: at the end of a budget of time, and where nobody watches and nothing new comes of it. Sleep is
// no work.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { endsOf, panel, requestsOf, team } from "./harness/branches.mjs";
import { VERSIONS, variants } from "./harness/extent.mjs";
import { progress } from "./harness/gates.mjs";
import { REPO, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { pauses, step, userTexts, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const SLOW = { calls: [{ name: "bash", arguments: { command: "echo $$ > pid; exec sleep 45" } }] };
/** @type {import("./harness/scripted-model.mjs").Step} */
const HANGS = { text: "Hm.", hang: "alive" };
const rest = { text: "I rest." };

/** An extension that shifts the clock of pi: by SHIFT, and by each `/shift MS`. */
const SHIFT = `
const Real = Date;
let shift = Number(process.env.SHIFT ?? 0);
globalThis.Date = class extends Real {
  constructor(...of) { if (of.length > 0) super(...of); else super(Real.now() + shift); }
  static now() { return Real.now() + shift; }
};
module.exports = (pi) => pi.registerCommand("shift", { description: "", handler: async (ms) => { shift += Number(ms); } });
`;

/** @param {any[]} entries */
const pause = (entries) => pauses(entries).at(-1)?.kind;

for (const version of VERSIONS) {
  suite(`pi ${version}: the agent's time`, { concurrency: 2 }, () => {
    test("a budget of time ends a command that hangs, and the user gives more", async (t) => {
      const { sandbox } = await stage(t, [SLOW, step("next"), step("next"), rest], {
        globalFiles: workflow("hello", ["look", "do"], { ...QUIET, budget: { time: "2s" } }),
      });
      const rpc = await startRpc({ version, sandbox });
      const began = performance.now();
      await rpc.promptAndSettle("/workflow hello The task");
      assert.ok(performance.now() - began < 30_000);
      assert.equal(pause(await rpc.entries()), "budget");
      const pid = readFileSync(join(sandbox.project, "pid"), "utf8").trim();
      assert.equal(existsSync(`/proc/${pid}`), false, "the command has ended");
      rpc.onDialog(() => "20m");
      await rpc.promptAndSettle("/workflow :resume");
      assert.equal(pause(await rpc.entries()), undefined);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("a budget of time ends an answer that hangs, and leads where the phase says", async (t) => {
      const { model, sandbox } = await stage(t, [HANGS, step("next"), rest], {
        globalFiles: workflow("hello", [{ id: "look", budget: { time: "2s" }, onBudget: "do" }, "do"], QUIET),
      });
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello The task" });
      assert.deepEqual([run.code, run.stderr], [0, "Workflow The hello: DONE.\n"]);
      assert.equal(model.requests.length, 3);
    });

    for (const [what, hangs] of Object.entries({ command: SLOW, answer: HANGS }))
      test(`a silent ${what} is stopped with a message, and pauses the run the second time`, async (t) => {
        const { model, sandbox } = await stage(t, [hangs, step("next"), hangs, hangs], {
          globalFiles: workflow("hello", ["look", "do"], QUIET),
        });
        const args = ["--workflow-silence=3s", "--workflow-events=on"];
        const run = await runPrint({ version, sandbox, args, prompt: "/workflow hello The task" });
        assert.match(
          run.stderr,
          /Workflow The hello: paused in 🔹 Do: nothing new came of the agent for 3s, 2 times in this phase\.\n$/,
        );
        assert.equal(run.code, 1);
        assert.ok(
          userTexts(model.requests[1]).some((text) => text.includes("Nothing new came of")),
          JSON.stringify(model.requests[1].messages.at(-1)),
        );
        const events = run.stderr
          .split("\n")
          .flatMap((line) => (line.startsWith("workflow:event ") ? [JSON.parse(line.slice(15))] : []));
        assert.deepEqual(
          events
            .filter(({ type }) => type === "limit" || type === "paused")
            .map(({ type, bound, times, reason }) => [type, bound ?? reason, times]),
          [
            ["limit", "silent", 1],
            ["limit", "silent", 1],
            ["limit", "silent", 2],
            ["paused", "silent", undefined],
          ],
        );
      });

    for (const how of variants(/** @type {const} */ (["shift", "stop"])))
      test(`sleep is no work, also for a process that takes the run up (${how})`, async (t) => {
        const globalFiles = workflow("hello", ["look", "do"], { ...QUIET, budget: { time: "2m" } });
        const { sandbox } = await stage(t, [SLOW, step("next"), step("next"), rest], { globalFiles });
        const extension = [REPO, join(sandbox.root, "shift.js")];
        writeFileSync(extension[1], SHIFT);
        const rpc = await startRpc({ version, sandbox, extension });
        const pid = join(sandbox.project, "pid");
        const working = rpc.prompt("/workflow hello The task");
        for (let n = 0; !existsSync(pid); n += 1) await sleep(50, assert.ok(n < 600));
        const ms = how === "shift" ? 8 * 3_600_000 : 40_000;
        if (how === "shift") {
          await rpc.prompt(`/shift ${ms}`);
        } else {
          process.kill(rpc.pid, "SIGSTOP");
          await sleep(ms);
          process.kill(rpc.pid, "SIGCONT");
        }
        const used = async () => progress(readSession(sandbox)).visits["hello:0"].usage ?? {};
        for (let n = 0; !((await used()).waitMs > ms - 30_000); n += 1) await sleep(100, assert.ok(n < 200));
        assert.ok((await used()).workMs < 60_000, JSON.stringify(await used()));
        await rpc.kill();
        await working.catch(() => {});
        const again = await startRpc({
          version,
          sandbox,
          extension,
          args: ["--continue"],
          env: { SHIFT: `${how === "shift" ? ms : 0}` },
        });
        assert.equal(pause(await again.entries()), undefined);
        await again.prompt("/shift -3600000");
        await again.promptAndSettle("/workflow :resume");
        const { visits } = progress(await again.entries());
        assert.deepEqual(
          Object.values(visits).map(({ endedAt, startedAt }) => endedAt >= startedAt),
          [true, true],
        );
        assert.ok(visits["hello:0"].usage.workMs < 120_000, JSON.stringify(visits));
        assert.deepEqual(again.extensionErrors(), []);
        await again.close();
      });

    test("a silent branch is stopped with a message, then waits; the others and the session go on", async (t) => {
      const { model, sandbox } = await stage(t, team({ One: [HANGS, HANGS] }), { globalFiles: panel(["one", "two"]) });
      const rpc = await startRpc({ version, sandbox, args: ["--workflow-silence=3s"] });
      await rpc.promptAndSettle("/workflow panel The task");
      assert.deepEqual(endsOf(await rpc.entries()), {
        One: "waits: nothing new came of the agent for 3s, 2 times in this phase",
        Two: "done",
      });
      assert.equal(requestsOf(model, "One").length, 2);
      await rpc.promptAndSettle("/workflow :resume");
      assert.equal(endsOf(await rpc.entries()).One, "done");
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });
  });
}
