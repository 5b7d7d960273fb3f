// The workflows of the package on the command line.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "../pi/harness/extent.mjs";
import { messageText } from "../pi/harness/scripted-model.mjs";
import { withPi } from "./with-pi.mjs";

/** A model that creates the file `ok` and leaves each phase. @param {import("../pi/harness/scripted-model.mjs").ChatRequest} request */
const worker = (request) => {
  const all = request.messages.map(messageText).join("\n");
  if (/→ DONE/.test(messageText(/** @type {any} */ (request.messages.at(-1))))) return { text: "Done." };
  const isReview = /▸ 🔎 Review\]/.test(all);
  if (!isReview && request.messages.at(-1)?.role !== "tool")
    return { calls: [{ name: "bash", arguments: { command: "touch ok" } }] };
  const outcome = isReview ? { outcome: "clean" } : {};
  return { calls: [{ name: "workflow_step", arguments: { action: "next", summary: "Did it.", ...outcome } }] };
};

for (const version of VERSIONS) {
  suite(`pi ${version}: the workflows of the package on the command line`, { concurrency: 2 }, () => {
    test("goal runs to its end with the command of --input, which nobody else has to allow", async (t) => {
      const { run } = await withPi(t, version, worker, { builtin: true });
      const ended = await run("goal", "--input", "check=test -f ok", "Make it so");
      assert.equal(ended.status, 0, ended.stderr);
    });

    test("a task is no value, and a value is a line", LONG, async (t) => {
      const { run, sandbox, model } = await withPi(t, version, worker, { builtin: true });
      const task = await run("goal", "--", 'check="touch ran" Make it so');
      assert.equal(task.status, 3, task.stderr);
      assert.match(task.stderr, /Start again with check="COMMAND"/);
      for (const check of ["", "a\nb", "x".repeat(100_000)]) {
        const wrong = await run("goal", "--input", `check=${check}`, "Make it so");
        assert.deepEqual([wrong.status, model.requests.length], [2, 0], wrong.stderr);
        assert.match(wrong.stderr, /expected a command of one line and at most 1000 characters/);
      }
      const twice = await run("goal", "--input", "check=true", "--input", "check=touch ran", "Make it so");
      assert.equal(twice.status, 2, twice.stderr);
      assert.equal(existsSync(join(sandbox.project, "ran")), false);
    });

    test("a value that a step finds is allowed by --allow-value, also with --continue", LONG, async (t) => {
      const found = {
        "flow/workflow.yaml": `phases:
  - { id: find, outputs: { check: { type: command } }, run: 'echo "{\\"check\\": \\"touch ran\\"}"' }
  - { id: go, run: output.find.check }
`,
      };
      const { run, sandbox } = await withPi(t, version, [], { globalFiles: found });
      for (const args of [
        ["flow", "x"],
        ["--continue", "--allow-value", "touch other"],
        ["--continue", "--allow-value", "touch ran; true"],
      ]) {
        const waits = await run(...args);
        assert.equal(waits.status, 3, waits.stderr);
        assert.equal(existsSync(join(sandbox.project, "ran")), false);
      }
      const ended = await run("--continue", "--allow-value", "true", "--allow-value", "touch ran");
      assert.equal(ended.status, 0, ended.stderr);
      assert.equal(existsSync(join(sandbox.project, "ran")), true);
    });

    test("list, show and run-through find them, unless the settings say no", LONG, async (t) => {
      const { startCommand, sandbox } = await withPi(t, version, [], { builtin: true });
      for (const name of ["goal", "fix", "review", "plan"]) {
        for (const command of [
          ["show", name],
          ["run-through", name],
          ["graph", name],
        ]) {
          const shown = await startCommand(command).ended;
          assert.equal(shown.status, 0, shown.stderr);
        }
      }
      const listed = await startCommand(["list"]).ended;
      assert.deepEqual(listed.stdout.match(/^\w+/gm), ["fix", "goal", "plan", "review"]);
      assert.match((await startCommand(["check", "--strict"]).ended).stdout, /^0 workflows, no errors\./);
      mkdirSync(join(sandbox.agent, "workflows"), { recursive: true });
      writeFileSync(join(sandbox.agent, "workflows/settings.yaml"), "builtin: false\n");
      assert.equal((await startCommand(["list"]).ended).stdout, "");
    });
  });
}
