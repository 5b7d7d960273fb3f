// Branches that are aborted and go on at once.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { endsOf, panel, requestsOf, team } from "./harness/branches.mjs";
import { VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";

for (const version of VERSIONS) {
  suite(`pi ${version}: branches again`, () => {
    test("a pause and a resumption without a moment between fail no branch", async (t) => {
      const hangs = (/** @type {unknown} */ _, /** @type {number} */ index) =>
        index === 0 ? { text: "I think.", hang: true } : undefined;
      const { model, sandbox } = await stage(t, team({ One: hangs, Two: hangs }), {
        globalFiles: panel(["one", "two"]),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.send({ type: "prompt", message: "/workflow panel The task" });
      await model.waitForRequests(3);
      const told = ["/workflow :pause", "/workflow :resume"].map((message) => rpc.send({ type: "prompt", message }));
      await Promise.all(told);
      await rpc.waitForSettled({ from: 0 });
      await model.waitForRequests(6);
      for (let round = 0; round < 100 && Object.values(endsOf(await rpc.entries())).length < 2; round += 1)
        await new Promise((resolve) => setTimeout(resolve, 100));
      const entries = await rpc.entries();
      assert.deepEqual(endsOf(entries), { One: "done", Two: "done" }, rpc.stderr());
      assert.ok(requestsOf(model, "One").length >= 2);
      await rpc.close();
    });
  });
}
