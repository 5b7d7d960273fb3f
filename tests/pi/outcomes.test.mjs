// Outcomes of phases and conditions of entries, in print mode and in the terminal.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readSession, runPrint } from "./harness/pi.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, leave, step, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };

/** A triage with a short path. */
const TRIAGE = [
  { id: "triage", outcomes: { small: "next", large: "next" } },
  { id: "design", when: { "outcome.triage": "large" } },
  { id: "do", instructions: "It is {outcome.triage}; the design is {outcome.design}, {outcome.nothing}." },
];
const SHORT = workflow("short", TRIAGE, QUIET);

/** A nested review that can stop the run, with a gate that is not passed. */
const STOPS = {
  ...workflow(
    "audit",
    [
      {
        id: "review",
        outcomes: { fine: "next", rejected: "stop" },
        outputs: { score: { type: "number" } },
        gate: [{ file: "never.txt" }],
      },
    ],
    { show: "workflows" },
  ),
  ...workflow("sign", ["read", "@audit", "ship"], { ...QUIET, name: "Sign-off" }),
};

suite("outcomes", { concurrency: 2 }, () => {
  test("a stopped run has the exit status 1 in print mode", async (t) => {
    const { sandbox } = await stage(t, [step("next"), leave("rejected"), REST], {
      globalFiles: {
        ...STOPS,
        "sign/workflow.yaml": `${STOPS["sign/workflow.yaml"]}completionMessage: "{workflowName}: {outcome} by {phaseName}"\n`,
      },
    });
    const { code, stderr } = await runPrint({ sandbox, prompt: "/workflow sign The task" });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /Workflow Sign-off: stopped\./);
    assert.equal(custom(readSession(sandbox), "workflow:complete")[0].content, "Sign-off: rejected by Review");
  });
});

suite("conditions", { concurrency: 2 }, () => {
  test("in the terminal: the panel, `:next OUTCOME`, and `:graph`", async (t) => {
    const { sandbox } = await stage(t, () => REST, { globalFiles: SHORT });
    const tui = await startTui({ sandbox });
    await tui.submit("/workflow :panel");
    await tui.waitFor("The panel shows the phases of the next run.");
    await tui.submit("/workflow short The task");
    await tui.waitFor("I rest.");
    await tui.submit("/workflow :next small");
    await tui.waitFor(/⤼ 2\. 🔹 Design {2}outcome\.triage is small, not large/);
    await tui.submit("/workflow :graph");
    await tui.waitFor((screen) => /1\. 🔹 Triage/.test(screen) && /passed over: outcome\.triage is small/.test(screen));
  });
});
