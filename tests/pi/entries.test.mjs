// Entries without the model: commands that the run runs itself, and questions to the user.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { lastPath } from "./harness/gates.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { custom, notices, step, toolResults, workflow } from "./harness/workflows.mjs";

const next = step("next");
const REST = { text: "I rest." };

/**
 * The files of a workflow with these entries and the phases `plan` and `build`.
 *
 * @param {unknown[]} phases
 * @param {object} [fields]
 */
const files = (phases, fields = {}) => workflow("hello", ["plan", "build"], { autoContinue: false, ...fields, phases });

for (const version of VERSIONS) {
  suite(`pi ${version}: a step without the model`, { concurrency: 2 }, () => {
    test("runs between two phases, in the call that comes to it", async (t) => {
      const { model, sandbox } = await stage(t, [next, next, { text: "Over." }], {
        globalFiles: files(["plan.md", { run: "pwd > where && echo found it", id: "look" }, "build.md"]),
      });
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello Add a route" });
      assert.deepEqual(run, { code: 0, stdout: "Over.\n", stderr: "Workflow The hello: DONE.\n" });
      assert.equal(readFileSync(join(sandbox.project, "where"), "utf8").trim(), sandbox.project);
      const [result] = toolResults(model.requests[1]);
      assert.match(result, /^✓ Advanced: Plan → ⚙️ look\n[^]*✓ Advanced with `ok`: look → 🔹 Build\n/);
      assert.match(result, /### ⚙️ look\nfound it\n/);
      assert.equal(model.requests.length, 3);
    });

    test("is run by bash, without a model where the workflow has steps only", async (t) => {
      const { model, sandbox } = await stage(t, [], {
        globalFiles: workflow("hello", [], { phases: [{ run: "[[ a == a ]] && echo $0 > shell" }, { run: "true" }] }),
      });
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello Go" });
      assert.deepEqual([run.code, run.stderr], [0, "Workflow The hello: DONE.\n"]);
      assert.match(readFileSync(join(sandbox.project, "shell"), "utf8"), /bash$/m);
      assert.equal(model.requests.length, 0);
    });

    test("has its whole output in a new file of the run's folder each time", async (t) => {
      const script = [next, next, REST];
      const entry = {
        run: "seq 20000; echo end; echo x >> ran; test $(wc -l < ran) -ge 2",
        id: "look",
        outcomes: { failed: "look" },
      };
      const { model, sandbox } = await stage(t, script, { globalFiles: files(["plan.md", entry, "build.md"]) });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const runs = join(sandbox.project, ".pi/workflow-runs");
      const [folder, ...others] = readdirSync(runs).filter((name) => name !== ".gitignore");
      assert.deepEqual([others, readdirSync(join(runs, folder)).sort()], [[], ["look-1.log", "look-2.log"]]);
      for (const number of [1, 2]) {
        const text = readFileSync(join(runs, folder, `look-${number}.log`), "utf8");
        assert.ok(text.startsWith("1\n2\n3\n") && text.endsWith("\n20000\nend\n") && text.split("\n").length === 20002);
      }
      const path = `.pi/workflow-runs/${folder}/look-2.log`;
      const told = new RegExp(`… \\((\\d+) bytes before; all of it: ${path}\\)\n(\\d[^]*\nend)`);
      const [, missing, kept] = told.exec(toolResults(model.requests[1])[0]) ?? [];
      const whole = readFileSync(join(sandbox.project, path), "utf8").trimEnd();
      assert.ok(
        whole.endsWith(kept) && Number(missing) === whole.length - kept.length,
        `${missing} of ${whole.length}`,
      );
      assert.match(
        JSON.stringify(
          custom(await rpc.entries(), "workflow:complete").concat(custom(await rpc.entries(), "workflow:state")),
        ),
        new RegExp(`"file":"${path}"`),
      );
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("is stopped by Escape with its children, and the run pauses", LONG, async (t) => {
      const { sandbox } = await stage(t, [next, REST], {
        globalFiles: files([
          "plan.md",
          { run: "touch begun; (sleep 1.5; touch late) & sleep 60", id: "look" },
          "build.md",
        ]),
      });
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      void rpc.prompt("/workflow hello Add a route");
      while (!existsSync(join(sandbox.project, "begun"))) await sleep(50);
      await rpc.send({ type: "abort" });
      await settled;
      await sleep(2000);
      assert.equal(existsSync(join(sandbox.project, "late")), false);
      assert.equal(lastPath(await rpc.entries()), "hello:1");
      assert.ok(notices(rpc).some((text) => /“look” has not ended/.test(text)));
      await rpc.close();
    });
  });
}
