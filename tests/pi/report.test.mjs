// `/workflow :report` in a terminal.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { step, workflow } from "./harness/workflows.mjs";

const PRICES = { cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } };
const QUIET = { autoContinue: false };

/** An answer with its usage. @param {object} content @param {number} prompt */
const used = (content, prompt) => ({ ...content, usage: { prompt, completion: 100 } });
const REST = used({ text: "I rest." }, 1000);

suite("/workflow :report", { concurrency: 2 }, () => {
  test("is drawn as a table in a terminal", async (t) => {
    const { sandbox } = await stage(t, [used(step("next"), 2000), REST], {
      globalFiles: workflow("hello", ["plan", "build"], QUIET),
      modelConfig: PRICES,
    });
    const tui = await startTui({ sandbox, columns: 120, rows: 50 });
    await tui.submit("/workflow hello One");
    await tui.waitFor("waits for you");
    await tui.submit("/workflow :report");
    const screen = await tui.waitFor("In all");
    assert.match(screen, /│ ✓ Plan +│ 1 +│/, screen);
    assert.match(screen, /│ \$0\.0075 +│/);
    assert.match(screen, /Outcome: not finished/);
  });
});
