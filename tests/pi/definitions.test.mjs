// The workflows of a project are read only where pi trusts it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { contextPrompt, notices, statusTexts, workflow } from "./harness/workflows.mjs";

for (const version of VERSIONS) {
  suite(`pi ${version}: workflows`, { concurrency: 2 }, () => {
    test("of the project are read only where pi trusts it", async (t) => {
      const { model, sandbox } = await stage(t, [{ text: "I rest." }, { text: "I rest." }], {
        globalFiles: workflow("shared", ["a"], { name: "Global" }),
        projectFiles: {
          ...workflow("shared", ["b"], { name: "Project" }),
          ...workflow("local", ["a"]),
          "bad/workflow.yaml": "7\n",
        },
      });
      for (const [trust, shared] of /** @type {const} */ ([
        [true, "Project"],
        [undefined, "Project"],
        [false, "Global"],
      ])) {
        const rpc = await startRpc({ version, sandbox, trust });
        await rpc.prompt("/workflow");
        const told = notices(rpc);
        assert.deepEqual(
          told.at(-1)?.split("\n").slice(3),
          [
            `  shared — ${shared}`,
            trust === false
              ? ".pi/workflows is not read: pi does not trust this project. To trust it: start pi with --approve."
              : "  local — The local",
          ],
          `trust: ${trust}`,
        );
        assert.equal(told.length, trust === false ? 1 : 2, "nor is anything said of diagnostics in it");
        await rpc.close();
      }
      // A run of a workflow whose project is no longer trusted.
      const first = await startRpc({ version, sandbox, trust: true });
      await first.promptAndSettle("/workflow local Do it");
      await first.close();
      const rpc = await startRpc({ version, sandbox, trust: false, args: ["--continue"] });
      const reason = "the files of the workflow “local” cannot be read";
      assert.deepEqual(statusTexts(rpc), ["⏸ local (paused: its files cannot be read)"]);
      assert.match(
        notices(rpc)[0],
        new RegExp(`^warning: ⏸ local is paused: ${reason}\\.\nAll tool calls are refused until`),
      );
      await rpc.promptAndSettle("Go on");
      assert.equal(contextPrompt(model.requests[1]), contextPrompt(model.requests[0]), "no further context prompt");
    });
  });
}
