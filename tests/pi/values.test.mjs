// Records, in every place that names them: texts, conditions, commands and nested workflows.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { leave, phaseFile, toolResults, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/scripted-model.mjs").ChatRequest} ChatRequest */

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };

/** The fields of a record. */
const FIELDS = {
  title: { type: "text", max: 3000 },
  size: { type: "choice", options: ["small", "large"] },
  files: { type: "list", max: 2, optional: true },
  n: { type: "number", optional: true },
  ok: { type: "flag", optional: true },
};

/** @param {string} text */
const next = (text) => leave("", { summary: text });

/** A plan that gives records, and a group for each of them and of those that the run is started with. */
const RECORDS = {
  ...workflow("rec", [{ id: "plan", outputs: { tasks: { type: "list", max: 5, fields: FIELDS } } }], {
    ...QUIET,
    inputs: { more: { type: "list", max: 5, fields: FIELDS, default: [{ title: "default", size: "large" }] } },
    phases: [
      "plan.md",
      {
        id: "work",
        each: ["output.plan.tasks", "input.more"],
        phases: [
          { phase: "large.md", when: { "item.size": "large" } },
          {
            run: 'printf "%s/%s/%s/%s;" "$title" "$files" "$n" "$ok" >> seen; echo "$item" >> items',
            id: "note",
            env: { title: "item.title", files: "item.files", n: "item.n", ok: "item.ok", item: "item" },
          },
          { subworkflow: "one", with: { title: "{item.title}" } },
        ],
      },
      { run: 'echo "$all" > all', id: "all", env: { all: "output.plan.tasks" } },
      "last.md",
    ],
  }),
  "rec/large.md": phaseFile({ id: "large", instructions: "Large: {item.title}, {item.files}, {item.n}, {item.no}." }),
  "rec/last.md": phaseFile({ id: "last", instructions: "All:\n{output.plan.tasks}" }),
  ...workflow("one", [{ id: "one", instructions: "One: {input.title}" }], {
    show: "workflows",
    commandName: undefined,
    initialMessage: undefined,
    inputs: { title: { type: "text", max: 3000 } },
  }),
};

const CLI = fileURLToPath(new URL("../../cli/pi-workflows.js", import.meta.url));

suite("values", { concurrency: 2 }, () => {
  test("records are checked by item and field, and their fields reach texts, conditions, commands and nested workflows, also over a kill", async (t) => {
    const giving = (/** @type {unknown} */ tasks) => leave("", { outputs: { tasks }, summary: "Planned." });
    const long = `${"long ".repeat(400)}$(touch made) {description}`;
    const tasks = [
      { title: "a\nb", size: "small", files: ["x", "y z"], n: 2.5, ok: false },
      { title: long, size: "large" },
    ];
    const calls = [
      giving([{ title: "a", size: "larg" }]),
      giving([tasks[0], { size: "small" }]),
      giving([{ ...tasks[0], __proto: 1 }]),
      giving(JSON.stringify([{ n: 2.5, ...tasks[0], ok: "false" }, tasks[1]])),
      next("One of the first."), // killed in `large` of the second
      REST,
      next("Large."),
      next("One of the second."),
      next("One of the third."),
      REST,
    ];
    const { model, sandbox } = await stage(t, calls, { globalFiles: RECORDS });
    const first = await startRpc({ sandbox });
    await first.promptAndSettle(`/workflow rec more='[{"title": "given", "size": "small"}]' The task`);
    await first.kill();
    const rpc = await startRpc({ sandbox, args: ["--continue"] });
    await rpc.promptAndSettle("Go on.");
    const results = toolResults(model.lastRequest());
    assert.match(results[0], /\n- wrong: `tasks`: item 1: `size` must be `small` or `large`, found `"larg"`\n/);
    assert.match(results[1], /\n- wrong: `tasks`: item 2 lacks `title`, a text of 1 to 3000 characters\n/);
    assert.match(results[2], /\n- wrong: `tasks`: item 1 has `__proto`, which is no field\n/);
    assert.ok(results[2].includes('"outputs": {"tasks": [{"title": "<title>", "size": "small"}]}'), results[2]);
    const read = (/** @type {string} */ name) => readFileSync(join(sandbox.project, name), "utf8");
    assert.equal(read("seen"), `a\nb/x\ny z/2.5/false;${long}///;given///;`);
    const lines = tasks.map((task) => JSON.stringify(task));
    assert.equal(read("items"), `${[...lines, '{"title":"given","size":"small"}'].join("\n")}\n`);
    assert.equal(read("all"), `${lines.join("\n")}\n`);
    assert.ok(
      results.some((text) => text.includes("One: a\nb\n")),
      results.join("\n---\n"),
    );
    assert.ok(results.at(-1)?.includes(`All:\n1. ${lines[0]}\n2. ${lines[1]}\n`), results.join("\n---\n"));
    const requests = JSON.stringify(model.requests.map(({ messages }) => messages.map(messageText)));
    assert.ok(requests.includes(`Large: ${JSON.stringify(long).slice(1, -1)}, (none), (none), {item.no}.`));
    assert.throws(() => read("made"));
    const told = execFileSync(process.execPath, [CLI, "report", "--format", "json"], {
      cwd: sandbox.project,
      env: sandbox.env(),
      encoding: "utf8",
    });
    assert.deepEqual(JSON.parse(told).phases[0].outputs, { tasks });
    assert.deepEqual(rpc.extensionErrors(), []);
  });
});
