// The command `/workflow NAME TASK`: links in the folders of workflows, and a start while the agent works.

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { countdownLines, nextUntilDone, notices, paths, states, userTexts, workflow } from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["plan", "build"]);
const REST = { text: "I rest." };

for (const version of VERSIONS) {
  suite(`pi ${version}: /workflow`, { concurrency: 2 }, () => {
    test("links lead anywhere in the user's own folder, and elsewhere what is passed over is told", async (t) => {
      const { sandbox, model } = await stage(t, () => REST, { projectFiles: workflow("local", ["a"]) });
      const dots = join(sandbox.root, "dots");
      const own = join(sandbox.agent, "workflows");
      for (const [path, text] of Object.entries({ ...workflow("folder", ["x"]), ...workflow("files", ["y"]) })) {
        mkdirSync(dirname(join(dots, path)), { recursive: true });
        writeFileSync(join(dots, path), text);
      }
      symlinkSync("..", join(dots, "folder/up"));
      mkdirSync(join(own, "files"), { recursive: true });
      symlinkSync(join(dots, "folder"), join(own, "folder"));
      for (const file of ["workflow.yaml", "y.md"]) symlinkSync(join(dots, "files", file), join(own, "files", file));
      symlinkSync(join(dots, "folder"), join(sandbox.project, ".pi/workflows/theirs"));
      const rpc = await startRpc({ version, sandbox, trust: true });
      await rpc.prompt("/workflow theirs Do it");
      assert.deepEqual(notices(rpc), [
        'error: Unknown workflow: "theirs". Available: files, folder, local\nNot read: .pi/workflows/theirs (a link that leads nowhere, or out of its folder: only workflows in your own folder can lie elsewhere)',
      ]);
      for (const name of ["folder", "files"]) {
        await rpc.promptAndSettle(`/workflow ${name} Do it`);
        await rpc.prompt("/workflow :cancel");
      }
      assert.match(model.messagesText(0), /Do x for Do it/);
      assert.match(model.messagesText(1), /Do y for Do it/);
      await rpc.close();
    });

    test("while the agent works sends the prompt when it has finished, with the context prompt", async (t) => {
      const { model, sandbox } = await stage(
        t,
        (request, index) => (index === 0 ? { text: "Thinking.", delayMs: 700 } : nextUntilDone(request)),
        { globalFiles: HELLO },
      );
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("What is up?");
      await model.waitForRequests(1);
      const response = await rpc.prompt("/workflow hello Add a route");
      assert.equal(response.success, true);
      assert.equal(model.requests.length, 1);
      await settled;
      await rpc.waitFor(() => model.requests.length >= 4, { what: "the run to go on" });
      assert.deepEqual(paths(states(await rpc.entries())), ["hello:0", "hello:1", "hello:1", "hello:1"]);
      assert.equal(userTexts(model.requests[1])[0], "What is up?");
      // The agent run already has a context prompt, so this message carries one.
      assert.match(
        userTexts(model.requests[1])[1],
        /^Start The hello: Add a route\n\n\[Workflow path: [^]*\n\*\*What to do in this phase:\*\*\nDo plan for Add a route\.\n/,
      );
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.deepEqual(countdownLines(rpc), []);
    });
  });
}
