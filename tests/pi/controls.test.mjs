// The control commands that stop an agent at work.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { ends, notices, states, step, withoutIds, workflow } from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["plan", "build", "check"]);

suite("/workflow", { concurrency: 2 }, () => {
  test(":cancel and /cancel-workflow stop a working agent", async (t) => {
    for (const command of ["/workflow :cancel", "/cancel-workflow"]) {
      /** @type {() => void} */
      let letGo = () => {};
      const cancelled = new Promise((resolve) => (letGo = () => resolve(undefined)));
      const { model, sandbox } = await stage(
        t,
        async (_, index) => {
          if (index === 0) await cancelled;
          return [step("next"), { text: "Stopped." }][index];
        },
        { globalFiles: HELLO },
      );
      const rpc = await startRpc({ sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("/workflow hello Add a route");
      await model.waitForRequests(1);
      await rpc.prompt(command);
      assert.deepEqual(notices(rpc), ["info: Workflow cancelled."]);
      letGo();
      await settled;
      assert.equal(model.requests.length, 1);
      const entries = await rpc.entries();
      const end = states(entries).at(-1);
      assert.deepEqual([end.active, end.cancelled, end.completionNotified], [false, true, true]);
      assert.deepEqual(
        ends(entries).map(({ content }) => withoutIds(content)),
        ["❌ **Workflow Cancelled**\n\n**Task:** Add a route\n**Task ID:** TASK"],
      );
      await rpc.close();
    }
  });
});
