// The tools that the model is shown: a phase activates those that its whitelist names.

import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { REPO, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { ends, toolResults, workflow } from "./harness/workflows.mjs";

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

    test("have workflow_step where a run begins and goes on, whatever another extension sets", async (t) => {
      const { model, sandbox } = await stage(t, [LIST, REST, NEXT, NEXT, REST], {
        globalFiles: workflow("hello", ["plan", "build"], {}),
        files: {
          "other.mjs":
            "export default (pi) => { for (const event of ['session_start', 'agent_end', 'tool_result']) pi.on(event, () => pi.setActiveTools(['read', 'ls'])); };",
        },
      });
      const { code, stderr } = await runPrint({
        version,
        sandbox,
        prompt: "/workflow hello Look",
        extension: [join(sandbox.project, "other.mjs"), REPO],
      });
      assert.equal(code, 0, stderr);
      assert.deepEqual(ends(readSession(sandbox)).length, 1);
      assert.deepEqual(model.toolNames(0).sort(), ["ls", "read", "workflow_step"]);
    });

    test("have workflow_step in a session that is older than the extension", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [REST, NEXT, NEXT, REST], {
        globalFiles: workflow("hello", ["plan", "build"], QUIET),
      });
      const options = { version, sandbox, args: ["--continue"] };
      await runPrint({ ...options, prompt: "Hello", extension: [], args: [] });
      assert.ok(!model.toolNames(0).includes("workflow_step"));
      const { code, stderr } = await runPrint({ ...options, prompt: "/workflow hello Look" });
      assert.deepEqual([code, ends(readSession(sandbox)).length], [0, 1], stderr);
    });
  });
}
