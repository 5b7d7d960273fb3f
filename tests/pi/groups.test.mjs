// A group that is repeated for each item of a list.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { leave, paths, phaseFile, states, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };

/** A plan that gives a list of tasks, and a group that works them off, each in a fresh context. */
const TASKS = {
  ...workflow("tasks", [{ id: "plan", outputs: { tasks: { type: "list" } } }], {
    ...QUIET,
    phases: [
      "plan.md",
      { id: "work", name: "Work", each: "output.plan.tasks", phases: ["do.md", "check.md"] },
      "last.md",
    ],
  }),
  "tasks/do.md": phaseFile({ id: "do", context: "fresh", instructions: "Do {item} ({itemNumber} of {itemCount})." }),
  "tasks/check.md": phaseFile({
    id: "check",
    gate: [{ run: 'test -n "$item" && echo "$item" >> items.txt', env: { item: "item" } }],
  }),
  "tasks/last.md": phaseFile({ id: "last", instructions: "All done." }),
};
const plan = (/** @type {string[]} */ ...tasks) => leave("", { outputs: { tasks }, summary: "Planned." });
const done = (/** @type {string} */ text) => leave("", { summary: text });

/** The path of the run after each state, without repetitions. @param {any[]} entries */
const way = (entries) => paths(states(entries)).filter((path, index, all) => path !== all[index - 1]);

suite("groups", { concurrency: 2 }, () => {
  test("a list of tasks is worked off in order, each in a fresh context, also over a kill", async (t) => {
    const calls = [
      plan("one `$(touch made)`", "two", "three"),
      done("Did one."),
      done("Checked one."),
      done("Did two."),
      REST,
      done("Checked two."),
      done("Did three."),
      done("Checked three."),
      REST,
    ];
    const { model, sandbox } = await stage(t, calls, { globalFiles: TASKS });
    const first = await startRpc({ sandbox });
    await first.promptAndSettle("/workflow tasks The task");
    assert.equal(way(await first.entries()).at(-1), "tasks:1 tasks//1@1:1");
    const shown = JSON.stringify(await first.entries());
    assert.match(shown, /two/);
    await first.kill();

    const rpc = await startRpc({ sandbox, args: ["--continue"] });
    await rpc.promptAndSettle("Go on.");
    const entries = await rpc.entries();
    assert.deepEqual(way(entries), [
      "tasks:0",
      "tasks:1 tasks//1@0:0",
      "tasks:1 tasks//1@0:1",
      "tasks:1 tasks//1@1:0",
      "tasks:1 tasks//1@1:1",
      "tasks:1 tasks//1@2:0",
      "tasks:1 tasks//1@2:1",
      "tasks:2",
    ]);
    assert.equal(readFileSync(join(sandbox.project, "items.txt"), "utf8"), "one `$(touch made)`\ntwo\nthree\n");
    // The fresh context of the third item has the results of the others, and nothing of their work.
    const third = model.requests.find((request) => JSON.stringify(request).includes("Do three (3 of 3)."));
    const text = JSON.stringify(third);
    assert.ok(text.includes("Checked one.") && text.includes("### Work [1]") && !text.includes("Do one"), text);
    assert.deepEqual(rpc.extensionErrors(), []);
  });
});
