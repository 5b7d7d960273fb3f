// Outputs of phases: what the agent gives with `next`, and where it comes again.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LONG } from "./harness/extent.mjs";
import { lastPath, progress } from "./harness/gates.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { asks, contextPrompt, custom, toolResults, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };
const OUTPUTS = {
  size: { type: "choice", options: ["small", "large"] },
  tasks: { type: "list", min: 1, max: 3, description: "One task a line" },
  rounds: { type: "number", min: 1, max: 5, optional: true },
  risky: { type: "flag", optional: true },
};
/** Values that would be commands, templates or Markdown elsewhere. */
const HOSTILE = [
  "$(touch made) `touch made`; touch made",
  "{description} {output.plan.size}",
  "# Done\u001b[2J <b>bold</b>",
];

const FILES = {
  ...workflow(
    "flow",
    [
      {
        id: "plan",
        outputs: OUTPUTS,
        gate: [
          {
            run: 'printf "%s\\n" "$size" "$tasks" "$risk" > given',
            env: { size: "output.plan.size", tasks: "output.plan.tasks", risk: "output.plan.risky" },
          },
        ],
      },
      { id: "design", when: { "output.plan.size": "large", "output.plan.rounds": [2, 3] }, instructions: "Design." },
      { id: "@part", with: { n: "{output.plan.rounds}", tasks: "{output.plan.tasks}" } },
      { id: "build", instructions: "Size {output.plan.size}, risky {output.plan.risky}:\n{output.plan.tasks}" },
    ],
    QUIET,
  ),
  ...workflow("part", [{ id: "work", results: "none", instructions: "{input.n} rounds:\n{input.tasks}" }], {
    show: "workflows",
    commandName: undefined,
    initialMessage: undefined,
    inputs: { n: { type: "number" }, tasks: { type: "list" } },
  }),
};

/** An answer that calls `next` with these outputs. @param {unknown} [outputs] */
const giving = (outputs) => ({
  calls: [{ name: "workflow_step", arguments: { action: "next", ...(outputs === undefined ? {} : { outputs }) } }],
});
const LARGE = { size: "large", tasks: ["one", "two"], rounds: 2 };

const CLI = fileURLToPath(new URL("../../cli/pi-workflows.js", import.meta.url));
/** @param {{ project: string, env: () => NodeJS.ProcessEnv }} sandbox @param {string} format */
const report = (sandbox, format) =>
  execFileSync(process.execPath, [CLI, "report", "--format", format], {
    cwd: sandbox.project,
    env: sandbox.env(),
    encoding: "utf8",
  });

suite("outputs", { concurrency: 2 }, () => {
  test("they are asked for, refused where they are wrong, and reach conditions, nested workflows, commands, texts and reports", async (t) => {
    const calls = [
      giving(),
      giving({ size: "larg", tasks: [], more: 1 }),
      giving({ ...LARGE, tasks: HOSTILE }),
      giving(),
      giving(),
      giving(),
      REST,
    ];
    const { model, sandbox } = await stage(t, calls, { globalFiles: FILES });
    const rpc = await startRpc({ sandbox });
    await rpc.promptAndSettle("/workflow flow The task");
    const prompt = contextPrompt(model.requests[0]) ?? "";
    assert.ok(
      prompt.includes(
        "\n**Outputs:** with `next`, give workflow_step an object `outputs` with these:\n- `size`: `small` or `large`\n- `tasks`: a list of 1 to 3 texts",
      ),
      prompt,
    );
    // A request has no control characters.
    const [missing, wrong, design, work, build, done] = toolResults(model.lastRequest());
    assert.match(
      missing,
      /^⚠️ The phase 🔹 Plan cannot be left with these outputs:\n- missing: `size`: `small` or `large`\n- missing: `tasks`: /,
    );
    assert.match(
      wrong,
      /\n- wrong: `size`: `small` or `large`\. Found `larg`\n- wrong: `tasks`: .*\n- `more` is no output of this phase\. There are `size`, `tasks`, `rounds`, `risky`\.\n/,
    );
    assert.match(design, /^✓ Advanced: Plan → 🔹 Design\n/);
    const numbered = HOSTILE.map((task, index) => `${index + 1}. ${task.replace("\u001b", "")}`).join("\n");
    assert.ok(work.includes(`2 rounds:\n${numbered}\n`), work);
    assert.ok(!work.includes("size: large"), work);
    assert.ok(build.includes(`Size large, risky (none):\n${numbered}\n`), build);
    assert.ok(build.includes(`- size: large\n- tasks:\n  ${numbered.replaceAll("\n", "\n  ")}\n`), build);
    assert.match(done, /→ DONE/);
    assert.equal(readFileSync(join(sandbox.project, "given"), "utf8"), `large\n${HOSTILE.join("\n")}\n\n`);
    assert.throws(() => readFileSync(join(sandbox.project, "made")));
    assert.deepEqual(progress(await rpc.entries()).outputs["flow:0"].values, { ...LARGE, tasks: HOSTILE });
    assert.deepEqual(rpc.extensionErrors(), []);
    await rpc.prompt("/workflow :report");
    assert.match(
      custom(await rpc.entries(), "workflow:report").at(-1).content,
      /\n## Outputs\n\n\*\*Plan\*\*\n\n- rounds: 2\n- size: large\n- tasks: /,
    );
    const json = JSON.parse(report(sandbox, "json"));
    assert.deepEqual(json.phases[0].outputs, { rounds: 2, size: "large", tasks: HOSTILE });
    const html = report(sandbox, "html");
    assert.ok(html.includes("\\u003cb>bold\\u003c/b>") && !html.includes("<b>bold</b>"));
  });

  for (const mode of /** @type {const} */ (["text", "json"])) {
    test(`in print mode (${mode}) the fifth refusal pauses the run`, async (t) => {
      const { sandbox } = await stage(t, () => giving({ size: "large" }), { globalFiles: FILES });
      const refused = await runPrint({ sandbox, prompt: "/workflow flow The task", mode });
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /Workflow The flow: paused in 🔹 Plan: the agent gave missing or wrong outputs of “Plan” in 5 calls\.\n$/,
      );
    });
  }

  test("a run that was killed goes on with its outputs", LONG, async (t) => {
    const { model, sandbox } = await stage(t, [giving(LARGE), REST, giving(), giving(), REST], {
      globalFiles: FILES,
    });
    const rpc = await startRpc({ sandbox });
    await rpc.promptAndSettle("/workflow flow The task");
    await rpc.kill();
    const later = await startRpc({ sandbox, args: ["--continue"] });
    await later.promptAndSettle("Go on.");
    assert.equal(lastPath(await later.entries()), "flow:3");
    assert.ok((toolResults(model.lastRequest()).at(-1) ?? "").includes("Size large, risky (none):\n1. one\n2. two\n"));
  });
});

test("the terminal shows them with a question and in :status", async (t) => {
  const files = workflow("flow", [{ id: "plan", outputs: OUTPUTS }, asks("Is this the plan?"), "build"], QUIET);
  const { sandbox } = await stage(t, [giving(LARGE), REST], { globalFiles: files });
  const tui = await startTui({ sandbox, columns: 100, rows: 50 });
  await tui.submit("/workflow flow The task");
  await tui.waitFor("Is this the plan?");
  const shown = await tui.screen();
  assert.match(shown, /The outputs of 🔹 Plan:/);
  assert.match(shown, /tasks:\n\s+1\. one\n\s+2\. two/);
  await tui.press("Down", "Enter");
  await tui.waitFor("I rest.");
  await tui.submit("/workflow :status");
  await tui.waitFor(/size: large[^]*▸ 3\. 🔹 Build/);
});
