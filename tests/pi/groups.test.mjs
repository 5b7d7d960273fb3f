// Groups: entries of `phases` that are a scope of their own in the file.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { progress } from "./harness/gates.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { leave, paths, phaseFile, states, step, toolResults, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };

/** A plan, a group that builds, and a ship; the group leads back to the plan, through a gate. */
const BUILD = {
  ...workflow("build", ["plan"], {
    ...QUIET,
    phases: [
      "plan.md",
      {
        id: "make",
        name: "Make it",
        outcomes: { redo: "plan" },
        phases: [
          { phase: "code.md" },
          {
            phases: [{ phase: "look.md", outcomes: { bad: "next", redo: "next", ok: "next" } }],
            id: "looks",
            outcomes: { bad: { to: "code", max: 1 } },
          },
        ],
      },
      { phase: "ship.md", when: { "outcome.make": ["ok"] } },
    ],
  }),
  "build/code.md": phaseFile({ id: "code" }),
  "build/look.md": phaseFile({
    id: "look",
    outcomes: { ok: "next", bad: "next", redo: "next" },
    gate: [{ file: "made.txt", outcome: "redo" }],
  }),
  "build/ship.md": phaseFile({
    id: "ship",
    instructions: "Made: {outcome.make}, looks {outcome.look}, {summary.code}.",
  }),
};

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

for (const version of VERSIONS) {
  suite(`pi ${version}: groups`, { concurrency: 2 }, () => {
    test("a group is a scope with its own targets and loops, and values of the file", async (t) => {
      const calls = [
        step("next"), // into the group
        leave("", { summary: "The code." }),
        leave("bad"), // back to code, as often as it may
        step("next"),
        leave("bad"), // too often: pauses
        REST,
        leave("redo"), // the gate fails
        REST,
        leave("redo"), // the gate passes
        REST,
      ];
      const { model, sandbox } = await stage(t, calls, { globalFiles: BUILD });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow build The task");
      const taken = [
        "build:0",
        "build:1 build//1:0",
        "build:1 build//1:1 build//1.1:0",
        "build:1 build//1:0",
        "build:1 build//1:1 build//1.1:0",
      ];
      assert.deepEqual(way(await rpc.entries()), taken);
      assert.equal(progress(await rpc.entries()).paused.reason.kind, "way");
      const results = toolResults(model.lastRequest());
      assert.match(results[0], /^✓ Entered group 'Make it': Plan → 🔹 Code\n/);
      assert.match(results[0], /Build ▸|▸ 🔹 Code/);

      // The outcome with which the group ends leads back to the plan.
      await rpc.promptAndSettle("/workflow :resume");
      assert.match(toolResults(model.lastRequest()).at(-1) ?? "", /made\.txt/);
      writeFileSync(join(sandbox.project, "made.txt"), "made");
      await rpc.promptAndSettle("/workflow :resume");
      assert.equal(way(await rpc.entries()).at(-1), "build:0");
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("an outcome that leads to `end` leaves the group with items to spare, also after a kill", LONG, async (t) => {
      const outcomes = { found: "end", nothing: "next" };
      const globalFiles = {
        ...TASKS,
        "tasks/do.md": phaseFile({ id: "do", outcomes, instructions: "Look at {item}." }),
        "tasks/last.md": phaseFile({ id: "last", instructions: "It is {outcome.work}." }),
      };
      const look = (/** @type {string} */ outcome) => leave(outcome, { summary: outcome });
      const calls = [plan("one", "two", "three", "four"), look("nothing"), done("Checked."), REST, look("found"), REST];
      const { model, sandbox } = await stage(t, calls, { globalFiles });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow tasks The task");
      assert.equal(way(await first.entries()).at(-1), "tasks:1 tasks//1@1:0");
      await first.kill();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("Go on.");
      assert.equal(way(await rpc.entries()).at(-1), "tasks:2");
      assert.match(toolResults(model.lastRequest()).at(-1) ?? "", /It is found\./);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

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
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow tasks The task");
      assert.equal(way(await first.entries()).at(-1), "tasks:1 tasks//1@1:1");
      const shown = JSON.stringify(await first.entries());
      assert.match(shown, /two/);
      await first.kill();

      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
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
}
