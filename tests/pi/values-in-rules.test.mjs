// Values of inputs in paths that commands and file tools may write, and in those of gates.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { progress } from "./harness/gates.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { states, step, toolResults, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };
const INPUTS = { name: { type: "text" }, rounds: { type: "number", min: 1, max: 3, default: 2 } };
const FILES = {
  ...workflow(
    "flow",
    [
      {
        id: "plan",
        write: ["docs/{input.name}/"],
        gate: [{ file: "docs/{input.name}/plan.md", name: "the plan of {input.name}" }],
        gateAttempts: "{input.rounds}",
      },
      { id: "@part", with: { folder: "{input.name}" } },
    ],
    { ...QUIET, inputs: INPUTS },
  ),
  ...workflow("part", [{ id: "work" }], {
    show: "workflows",
    commandName: undefined,
    initialMessage: undefined,
    write: ["out/{input.folder}/*.md"],
    inputs: { folder: { type: "text" } },
  }),
};

/** An answer that runs these commands. @param {...string} commands */
const bash = (...commands) => ({ calls: commands.map((command) => ({ name: "bash", arguments: { command } })) });
/** An answer that writes a file. @param {string} path */
const write = (path) => ({ calls: [{ name: "write", arguments: { path, content: "x\n" } }] });

for (const version of VERSIONS) {
  suite(`pi ${version}: values in rules`, { concurrency: 2 }, () => {
    test("the kernel and the gate hold to the value as literal text", async (t) => {
      const name = "a*[b]{c,d}";
      const calls = [
        bash(
          `mkdir -p 'docs/${name}' && echo plan > 'docs/${name}/plan.md'`,
          "mkdir -p docs/ab && echo x > docs/ab/plan.md",
          "mkdir -p docs/other; echo x > docs/other/plan.md",
        ),
        write("docs/ab/plan.md"),
        write(`docs/${name}/more.md`),
        step("next"),
        write("out/ab/x.md"),
        write(`out/${name}/x.txt`),
        write(`out/${name}/x.md`),
        step("next"),
        REST,
      ];
      const { model, sandbox } = await stage(t, calls, {
        globalFiles: FILES,
        files: { "docs/.keep": "", "out/.keep": "" },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(`/workflow flow name='${name}' -- The task`);
      const results = toolResults(model.lastRequest());
      const file = (/** @type {string} */ path) => existsSync(join(sandbox.project, path));
      assert.equal(readFileSync(join(sandbox.project, "docs", name, "plan.md"), "utf8"), "plan\n");
      assert.deepEqual(
        ["docs/ab/plan.md", "docs/other/plan.md", "out/ab/x.md", `out/${name}/x.txt`].filter(file),
        [],
        results.join("\n"),
      );
      assert.ok(file(`docs/${name}/more.md`) && file(`out/${name}/x.md`), results.join("\n"));
      assert.ok(
        results.some((text) =>
          text.includes(`"docs/ab/plan.md" cannot be written in the Plan phase. Writable: docs/${name}/ (`),
        ),
        results.join("\n"),
      );
      assert.equal(states(await rpc.entries()).at(-1).active, false);
      assert.deepEqual(
        progress(await rpc.entries()).visits["flow:0"].evidence.map((/** @type {any} */ check) => check.name),
        [`the plan of “${name}”`],
      );
      assert.deepEqual(rpc.extensionErrors(), []);
    });
  });
}
