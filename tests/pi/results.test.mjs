// Phases with `results`: nothing of the earlier phases that it leaves out comes to the model.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { call, next } from "./harness/fresh.mjs";
import { runPrint } from "./harness/pi.mjs";
import { stage } from "./harness/stage.mjs";
import { workflow } from "./harness/workflows.mjs";

const GATE = { label: "the proof", run: "test -e proof || { touch proof; false; }" };
const LEFT = call({ action: "next", summary: "Verdict-of-the-first", outcome: "clean" });

/** A second review that starts fresh, with these results. @param {unknown} results */
const reviews = (results) =>
  workflow(
    "hello",
    [
      "scope",
      { id: "first", gate: [GATE], outcomes: { clean: "next", issues: "scope" } },
      { id: "fix", when: { "outcome.first": "issues" } },
      {
        id: "second",
        context: "fresh",
        results,
        instructions: "Judge. {previousSummary} {summary.first} {summary.scope}",
      },
    ],
    {
      autoContinue: { delaySeconds: 0 },
      roleInstruction: "Role: {summary.first}",
      advanceReminder: "End: {previousSummary}",
      notDoneReminder: "Not done: {summary.first} {phaseInstructions}",
    },
  );

const MARKS = ["Verdict-of-the-first", "the proof", "passed over", "Map-of-the-scope"];

/** @type {[unknown, string[]][]} */
const CASES = [
  [undefined, MARKS],
  ["all", MARKS],
  ["none", []],
  [["scope"], ["Map-of-the-scope"]],
  [["first", "scope"], MARKS.filter((mark) => mark !== "passed over")],
];

/** A gate that fails and leads back to a phase that starts fresh, with these results. @param {unknown} results */
const broken = (results) =>
  workflow(
    "hello",
    [
      { id: "plan", context: "fresh", results },
      { id: "build", gate: [{ run: "echo Output-of-the-gate; false", label: "the proof" }], onGateFail: "plan" },
    ],
    { autoContinue: false },
  );

for (const version of VERSIONS) {
  suite(`pi ${version}: the results that a phase gets`, { concurrency: 2 }, () => {
    for (const [results, seen] of CASES) {
      test(`with results: ${JSON.stringify(results)}`, async (t) => {
        const { model, sandbox } = await stage(
          t,
          [
            next("Map-of-the-scope"),
            { calls: [LEFT] },
            { calls: [LEFT] },
            { calls: [call({ action: "status" })] },
            { text: "I rest." },
            next("fine"),
          ],
          { globalFiles: reviews(results) },
        );
        await runPrint({ version, sandbox, prompt: "/workflow hello The task" });
        assert.equal(model.requests.length, 7);
        const ofSecond = model.requests.slice(3, 6).map((request) => JSON.stringify(request));
        assert.match(ofSecond[1], /\*\*What to do:\*\*/, "status");
        assert.match(ofSecond[2], /Not done: /);
        for (const [index, request] of ofSecond.entries()) {
          const found = MARKS.filter((mark) => request.includes(mark));
          assert.deepEqual(found, seen, `request ${index}: ${request}`);
        }
      });
    }

    for (const [results, sees] of /** @type {[unknown, boolean][]} */ ([
      [undefined, true],
      [["build"], true],
      ["none", false],
      [["plan"], false],
    ])) {
      test(`of a gate that leads back, with results: ${JSON.stringify(results)}`, async (t) => {
        const { model, sandbox } = await stage(
          t,
          [next("Map-of-the-plan"), next("Map-of-the-build"), { text: "I rest." }],
          { globalFiles: broken(results) },
        );
        await runPrint({ version, sandbox, prompt: "/workflow hello The task" });
        assert.equal(model.requests.length, 3);
        const request = JSON.stringify(model.requests[2]);
        const found = ["Output-of-the-gate", "the proof", "Map-of-the-build"].filter((mark) => request.includes(mark));
        assert.equal(found.length, sees ? 3 : 0, request);
        assert.equal(request.includes("Map-of-the-plan"), results === undefined || `${results}` === "plan");
      });
    }
  });
}
