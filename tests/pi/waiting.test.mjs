// A run that waits for the user, and the question before it is replaced.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { steps, workflow } from "./harness/workflows.mjs";

const REST = { text: "I rest." };
const pace = { delay_seconds: 60 };
const HELLO = workflow("hello", ["plan", "build"]);

suite("a run that waits", { concurrency: 2 }, () => {
  test("shows after a key that it waits and how to continue it", async (t) => {
    const { model, sandbox } = await stage(t, [REST, ...steps("next", "next"), REST], { globalFiles: HELLO, pace });
    const tui = await startTui({ sandbox });
    await tui.type("/workflow hello Do it");
    await tui.press("Enter");
    await tui.waitFor(/Auto-continuing in \d+s/);
    await tui.type("/workflow :r");
    const screen = await tui.waitFor(/→ :resume/);
    assert.ok(screen.replaceAll("\n", " ").includes("⏸ The hello > 🔹 Plan [1/2] (waits for you"), screen);
    assert.doesNotMatch(screen, /Auto-continuing/);
    await tui.press("Tab");
    await tui.waitFor((screen) => screen.includes("/workflow :resume") && !screen.includes("→ :resume"));
    await tui.press("Enter");
    await tui.waitFor("The hello Complete");
    assert.equal(model.requests.length, 4);
  });
});

suite("questions to the user", { concurrency: 2 }, () => {
  test("have No first before a run is replaced", async (t) => {
    const { sandbox } = await stage(t, [REST, REST], { globalFiles: HELLO, pace });
    const tui = await startTui({ sandbox, columns: 60, rows: 20 });
    await tui.type("/workflow hello One");
    await tui.press("Enter");
    await tui.waitFor("I rest.");
    await tui.type("/workflow hello Two");
    await tui.press("Enter");
    const screen = await tui.waitFor("Yes, start the other");
    assert.match(screen, /Still active: "The hello"\s+│ Plan\s+│ One\s+It stays unfinished\. Start the other\?/);
    assert.match(screen, /→ No, go on with it\s+Yes, start the other/);
    await tui.press("Enter");
    await tui.waitFor((screen) => !screen.includes("Start the other") && screen.includes("The hello > 🔹 Plan"));
  });
});
