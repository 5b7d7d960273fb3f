// The events of a run for a client in RPC mode, and on standard error in print and JSON mode.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VERSIONS, variants } from "./harness/extent.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { nextUntilDone, statusTexts, step, workflow } from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["plan", "build"], { autoContinue: false });

/** The events that a client got, without turns. @param {import("./harness/rpc.mjs").Rpc} rpc @returns {any[]} */
function eventsOf(rpc) {
  const lines = rpc.ui("setStatus").filter(({ statusKey }) => statusKey === "workflow:event");
  return lines.map(({ statusText }) => JSON.parse(statusText)).filter(({ type }) => type !== "turn");
}

/** @param {any[]} events */
const types = (events) => events.map(({ type }) => type);

for (const version of VERSIONS) {
  suite(`pi ${version}: events`, { concurrency: 2 }, () => {
    test("a client in RPC mode gets each as a status, and a restart tells where the run is", async (t) => {
      const { sandbox } = await stage(t, [step("next"), { text: "I rest." }, step("next"), { text: "End." }], {
        globalFiles: HELLO,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello SECRET");
      await rpc.prompt("/workflow :pause");
      const events = eventsOf(rpc);
      assert.deepEqual(types(events), ["started", "entry", "entry", "waiting", "paused"]);
      assert.equal(events[4].reason, "person");
      assert.doesNotMatch(JSON.stringify(events), /SECRET/);
      assert.match(statusTexts(rpc).at(-1) ?? "", /The hello > .*Build/);
      await rpc.close();
      const again = await startRpc({ version, sandbox, args: ["--continue", "--workflow-events=full"] });
      await again.promptAndSettle("/workflow :resume");
      const more = eventsOf(again);
      assert.deepEqual(types(more), ["started", "entry", "paused", "resumed", "ended"]);
      assert.deepEqual([more[0].continued, more[0].task, more[0].run], [true, "SECRET", events[0].run]);
      assert.deepEqual(again.extensionErrors(), []);
      await again.close();
    });

    for (const mode of variants(/** @type {const} */ (["text", "json"])))
      test(`${mode} mode writes them to standard error if it is asked to`, async (t) => {
        const { sandbox } = await stage(t, nextUntilDone, { globalFiles: HELLO });
        const prompt = "/workflow hello Do it";
        const silent = await runPrint({ version, sandbox, mode, prompt });
        assert.deepEqual([silent.code, silent.stderr], [0, "Workflow The hello: DONE.\n"]);
        const told = await runPrint({ version, sandbox, mode, prompt, args: ["--workflow-events=on"] });
        const lines = told.stderr.split("\n").filter((line) => line.startsWith("workflow:event "));
        const events = lines.map((line) => JSON.parse(line.slice("workflow:event ".length)));
        assert.deepEqual(types(events), ["started", "entry", "entry", "turn", "ended"]);
        assert.doesNotMatch(told.stdout, /"type":"entry"/);
      });
  });
}
