// The tools that the model is shown: a phase activates those that its whitelist names.

import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { REPO, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { ends, notices, storedResults, toolResults, workflow } from "./harness/workflows.mjs";

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

    test("are those that a pattern of a whitelist means, and one that means none is told", async (t) => {
      const tool = (/** @type {string} */ name) =>
        `pi.registerTool({ name: "${name}", label: "x", description: "x", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: "did ${name}" }], details: {} }) });`;
      const calls = ["mcp__git__log", "mcp__git__show", "mcp__gitea__log"].map((name) => ({ name, arguments: {} }));
      const phases = [
        { id: "look", tools: { whitelist: ["read", "mcp__git__*", "mcp__none__*"] } },
        { id: "build", tools: { blacklist: ["mcp__git__*"] } },
      ];
      const { model, sandbox } = await stage(t, [{ calls }, NEXT, { calls }, REST], {
        globalFiles: workflow("hello", phases, QUIET),
        files: {
          "tools.mjs": `export default (pi) => { ${["mcp__git__log", "mcp__git__show", "mcp__gitea__log"].map(tool).join(" ")} };`,
        },
      });
      const rpc = await startRpc({ version, sandbox, extension: [join(sandbox.project, "tools.mjs"), REPO] });
      await rpc.promptAndSettle("/workflow hello Look");
      const told = notices(rpc).filter((text) => text.includes("No tool has"));
      assert.equal(told.length, 1);
      assert.match(told[0], /`mcp__none__\*`\.$/);
      const shown = model.toolNames(0);
      assert.ok(["mcp__git__log", "mcp__git__show"].every((name) => shown.includes(name)));
      const results = storedResults(await rpc.entries());
      const isRefused = results.filter((text) => !/Advanced/.test(text)).map((text) => !/^did /.test(text));
      assert.deepEqual(isRefused, [false, false, true, true, true, false]);
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

    test("without workflow_step no run starts, and the options are named", LONG, async (t) => {
      for (const args of [["--tools", "read,bash"], ["--no-tools"], ["--exclude-tools", "workflow_step"]]) {
        const { model, sandbox } = await stage(t, [REST], { globalFiles: workflow("hello", ["plan"], {}) });
        const { code, stderr } = await runPrint({ version, sandbox, prompt: "/workflow hello Look", args });
        assert.equal(code, 1, args.join(" "));
        assert.match(stderr, /^pi does not have the tool workflow_step in this session.*`--tools`/m);
        assert.equal(model.requests.length, 0);
      }
      const { model, sandbox } = await stage(t, [NEXT, REST], { globalFiles: workflow("hello", ["plan"], {}) });
      const args = ["--tools", "read,workflow_step"];
      const { code, stderr } = await runPrint({ version, sandbox, prompt: "/workflow hello Look", args });
      assert.equal(code, 0, stderr);
      assert.deepEqual(model.toolNames(0).sort(), ["read", "workflow_step"]);
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
