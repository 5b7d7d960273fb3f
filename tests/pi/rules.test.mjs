// The start of a run tells the rules that hold in the run.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { allNotices, isOfRules, nextUntilDone, states, workflow } from "./harness/workflows.mjs";

const RULES =
  "Rules of this run: read-only except docs/ in 2 of 3 phases; no network in review; some tools only in review; 1 gate.";

suite("the rules of a run", { concurrency: 2 }, () => {
  test("are told when it starts, and which tools there are not", async (t) => {
    const { sandbox } = await stage(t, nextUntilDone, {
      globalFiles: {
        ...workflow("plain", ["a"]),
        ...workflow("strict", [
          { id: "plan", write: ["docs/"] },
          { id: "review", write: ["docs/"], network: false, tools: { blacklist: ["edi", "bash"] } },
          { id: "last", sandbox: "preferred", gate: [{ run: "true" }] },
        ]),
      },
    });
    const rpc = await startRpc({ sandbox });
    await rpc.promptAndSettle("/workflow plain Do it");
    assert.deepEqual(allNotices(rpc).filter(isOfRules), []);
    await rpc.promptAndSettle("/workflow strict Do it");
    assert.equal(states(await rpc.entries()).at(-1).workflowKey, "strict");
    const told = allNotices(rpc).filter((notice) => isOfRules(notice) || notice.includes("No tool"));
    assert.deepEqual(told, [
      "warning: No tool has a name that the workflow lists: `edi` (did you mean `edit`?).",
      `info: ${RULES}`,
    ]);
    const { rules } = await runPrint({ sandbox, prompt: "/workflow strict Do it" });
    assert.equal(rules, `${RULES}\n`);
    assert.deepEqual(rpc.extensionErrors(), []);
  });
});
