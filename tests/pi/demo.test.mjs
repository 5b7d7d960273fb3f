// The demo: its scripted model plays the example workflows in its project.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { demoAgent } from "../../scripts/demo/agent.mjs";
import { demoSandbox } from "../../scripts/demo/project.mjs";
import { VERSIONS } from "./harness/extent.mjs";
import { REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { startModel } from "./harness/scripted-model.mjs";
import { states } from "./harness/workflows.mjs";

const EXAMPLES = readdirSync(join(REPO, "workflows-examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith("_"))
  .map(({ name }) => name);

/** The number of answers that no example needs. */
const MOST = 40;

for (const version of VERSIONS) {
  test(`pi ${version}: the demo plays each example to DONE, one after another in one session`, async (t) => {
    const agent = demoAgent({ paceMs: 0 });
    let answers = 0;
    const model = await startModel((request, index) =>
      ++answers > MOST ? { text: "Too many answers.", status: 400 } : agent(request, index),
    );
    const sandbox = demoSandbox(model);
    t.after(async () => {
      await sandbox.dispose();
      await model.close();
    });
    // The first answer that lets the run go on.
    const onDialog = (/** @type {any} */ { options }) =>
      options?.find((/** @type {string} */ of) => of.startsWith("Yes"));
    const rpc = await startRpc({ version, sandbox, trust: true, onDialog });
    for (const name of EXAMPLES) {
      answers = 0;
      await rpc.promptAndSettle(`/workflow ${name} Add a greeting`);
      const { workflowKey, active, cancelled, completionNotified } = states(await rpc.entries()).at(-1);
      assert.deepEqual([workflowKey, active, cancelled, completionNotified], [name, false, false, true]);
    }
    assert.deepEqual(rpc.extensionErrors(), []);
    // After the end it is told how to start a workflow.
    await rpc.promptAndSettle("What now?");
    assert.match(JSON.stringify((await rpc.entries()).at(-1)), /Start a workflow: /);
  });
}
