// Inputs: values that a run is started with, from dialogs and from the command line of a terminal.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { progress } from "./harness/gates.mjs";
import { readSession, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { notices, states, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };

/** The inputs of `ask` have no defaults. */
const ASKED = {
  scope: { type: "choice", options: ["api", "web"], description: "Which half" },
  issue: { type: "number", description: "Its number\nin the tracker" },
  note: { type: "text" },
  dry: { type: "flag" },
};
const ASK = workflow("ask", ["look", "do"], { ...QUIET, inputs: ASKED });

/** The inputs and the task of the newest run. @param {any[]} entries */
const begun = (entries) => [progress(entries).inputs, states(entries).at(-1).taskDescription];

for (const version of VERSIONS) {
  suite(`pi ${version}: inputs`, { concurrency: 2 }, () => {
    test("dialogs ask for missing values, one after another", async (t) => {
      const { sandbox } = await stage(t, () => REST, { globalFiles: ASK });
      const rpc = await startRpc({ version, sandbox });
      /** @type {string[]} */
      const asked = [];
      const answers = ["web", "twelve", "12", "a = b"];
      rpc.onDialog(({ method, title, options }) => {
        asked.push([method, title, ...(options ?? [])].join(" | "));
        assert.equal(
          states(readSession(sandbox, sessionFiles(sandbox).at(-1) ?? "/dev/null")).length,
          0,
          "nothing is started",
        );
        return answers.shift();
      });
      await rpc.promptAndSettle("/workflow ask dry=true The task");
      assert.deepEqual(asked, [
        'select | Input `scope` of "The ask"?\n│ Which half | Do not start | api | web',
        'input | Input `issue` (a number) of "The ask"?\n│ Its number in the tracker',
        'input | Input `issue` (a number) of "The ask"?\n│ Its number in the tracker',
        'input | Input `note` of "The ask"?',
      ]);
      assert.deepEqual(notices(rpc), ["warning: `issue`: expected a number, found `twelve`."]);
      assert.deepEqual(begun(await rpc.entries()), [
        { scope: "web", issue: "12", note: "a = b", dry: "true" },
        "The task",
      ]);
    });

    test("in the terminal: completions of names and options, and the dialogs", LONG, async (t) => {
      const { sandbox } = await stage(t, () => REST, { globalFiles: ASK });
      const tui = await startTui({ version, sandbox });
      await tui.type("/workflow ask ");
      await tui.waitFor((screen) =>
        [
          "scope= +Which half",
          "issue= +Its number",
          "note= +a text of 1 to 1000 characters",
          "dry= +`true` or `false`",
        ].every((line) => new RegExp(line).test(screen)),
      );
      await tui.type("sc");
      await tui.waitFor((screen) => /→ scope= /.test(screen) && !/issue=/.test(screen));
      await tui.press("Tab");
      await tui.type("w");
      await tui.waitFor(/→ scope=web +Which half/);
      await tui.press("Tab");
      await tui.type(" d");
      await tui.waitFor(/→ dry= /);
      await tui.press("Tab");
      await tui.type("t");
      await tui.waitFor(/→ dry=true/);
      await tui.press("Tab");
      await tui.type(" i");
      await tui.waitFor((screen) => /\/workflow ask scope=web dry=true i/.test(screen) && /→ issue= /.test(screen));
      await tui.press("Tab");
      await tui.type("12");
      await tui.waitFor((screen) => /issue=12/.test(screen) && !/→/.test(screen));
      await tui.press("Enter");
      await tui.waitFor('What is the task for "The ask"?');
      await tui.type("The task");
      await tui.press("Enter");
      await tui.waitFor('Input `note` of "The ask"?');
      await tui.type("A note");
      await tui.press("Enter");
      await tui.waitFor("I rest.");
      assert.deepEqual(begun(readSession(sandbox)), [
        { scope: "web", issue: "12", note: "A note", dry: "true" },
        "The task",
      ]);
      await tui.submit("/workflow :cancel");
      await tui.waitFor("The ask Cancelled");
      await tui.submit("/workflow ask Another task");
      await tui.waitFor(/Input `scope` of "The ask"\?[^]*→ Do not start\s+api\s+web/);
      await tui.press("Escape");
      await tui.waitFor("The workflow is not started.");
      assert.equal(states(readSession(sandbox)).at(-1).active, false);
    });
  });
}
