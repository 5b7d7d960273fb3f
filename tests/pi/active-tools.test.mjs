// The tools that the model is shown: a phase activates those that its whitelist names.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { toolResults, workflow } from "./harness/workflows.mjs";

const NEXT = { calls: [{ name: "workflow_step", arguments: { action: "next" } }] };
const LIST = { calls: [{ name: "ls", arguments: { path: "." } }] };
const REST = { text: "I rest." };
const READING = { id: "look", tools: { whitelist: ["read", "grep", "ls"] } };
const QUIET = { autoContinue: false };

for (const version of VERSIONS) {
  suite(`pi ${version}: the active tools`, { concurrency: 2 }, () => {
    test("are those of the whitelist and the user's own, and afterwards the user's own", async (t) => {
      const files = workflow("hello", [READING, "build"], QUIET);
      const { model, sandbox } = await stage(t, [LIST, NEXT, REST, NEXT, REST], {
        globalFiles: files,
        files: { needle: "" },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Look");
      const users = model.toolNames(2).sort();
      assert.deepEqual(model.toolNames(0).sort(), [...users, "grep", "ls"].sort());
      assert.match(toolResults(model.requests[1])[0], /^needle$/m);
      assert.ok(!users.includes("grep"));
      // The end of the run changes nothing more.
      await rpc.promptAndSettle("Go on");
      assert.deepEqual(model.toolNames(-1).sort(), users);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("are given back when the run is cancelled, and after a restart of pi", async (t) => {
      const files = workflow("hello", [READING, "build"], QUIET);
      const { model, sandbox } = await stage(t, [REST, REST, REST], { globalFiles: files });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello Look");
      assert.ok(model.toolNames(0).includes("grep"));
      await first.close();
      const second = await startRpc({ version, sandbox, args: ["--continue"], onDialog: () => true });
      await second.promptAndSettle("Still there?");
      assert.ok(model.toolNames(1).includes("grep"));
      await second.prompt("/cancel-workflow");
      await second.promptAndSettle("Now?");
      assert.ok(!model.toolNames(2).includes("grep"));
      await second.close();
    });
  });
}
