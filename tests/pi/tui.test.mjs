// pi's terminal interface.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { readSession } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import {
  SHORT_COUNTDOWN,
  custom,
  nextUntilDone,
  shortCountdownIsOver,
  step,
  steps,
  userTexts,
  workflow,
} from "./harness/workflows.mjs";

/** @typedef {import("./harness/tui.mjs").Tui} Tui */

const RELEASE = {
  ...workflow("release", [{ id: "build", emoji: "📦", tools: { blacklist: ["bash"] } }, "@review", "ship"], {
    name: "Release Pipeline",
  }),
  ...workflow("review", [{ id: "check", emoji: "🔍" }], { name: "Code Review", show: "workflows" }),
};
const HELLO = workflow("hello", ["plan", "build"]);
const REST = { text: "I rest." };
const countdown = (/** @type {number} */ seconds) =>
  `⏳ Auto-continuing in ${seconds}s... (type anything to interrupt)`;

/** Returns the non-empty lines of a screen, without warnings about missing programs. @param {string} screen */
function lines(screen) {
  const all = screen.split("\n").map((line) => line.trim());
  return all.filter((line) => line && !/^Warning: (fd|ripgrep) not found/.test(line));
}

/** Returns the text in the editor: the lines between the two rules above the footer. @param {string} screen */
function editor(screen) {
  const all = screen.trimEnd().split("\n");
  const rules = all.flatMap((line, index) => (/^─{20,}$/.test(line) ? [index] : []));
  return all
    .slice((rules.at(-2) ?? 0) + 1, rules.at(-1))
    .join("\n")
    .trim();
}

for (const version of VERSIONS) {
  suite(`pi ${version}: the terminal`, { concurrency: 2 }, () => {
    test("starts a run with the completion popup", async (t) => {
      const { model, sandbox } = await stage(t, [{ text: "Thinking", hang: true }], { globalFiles: RELEASE });
      const tui = await startTui({ version, sandbox });
      await tui.type("/workf");
      await tui.waitFor(/→ workflow +\[t\] Start a configured workflow\. Usage: \/workflow \{name\} \{description\}/);
      await tui.press("Tab");
      await tui.waitFor((screen) => editor(screen) === "/workflow");
      await tui.type("rel");
      await tui.waitFor(/→ release +Release Pipeline/);
      await tui.press("Tab");
      await tui.waitFor((screen) => editor(screen) === "/workflow release");
      await tui.type(" Ship 2.0");
      await tui.waitFor((screen) => editor(screen) === "/workflow release Ship 2.0" && !screen.includes("→"));
      await tui.press("Enter");
      const screen = await tui.waitFor("Thinking");
      assert.match(screen, /^ *Start Release Pipeline: Ship 2\.0 *$/m);
      assert.match(screen, / • Workflow: Ship 2\.0\n/);
      assert.match(screen, /^Release Pipeline > 📦 Build \[1\/3\]$/m);
      assert.doesNotMatch(
        screen,
        /What to do in this phase|Workflow path|Workflow Context/,
        "the context prompt is hidden",
      );
      assert.equal(userTexts(model.requests[0])[0], "Start Release Pipeline: Ship 2.0");
    });

    test("shows a run: its phase, a refused tool, the countdown, and the end as Markdown", async (t) => {
      const script = [
        { calls: [{ name: "bash", arguments: { command: "echo forbidden" } }] },
        step("next"),
        REST,
        step("loop"),
        ...steps("next", "next"),
        { text: "All is done." },
      ];
      const { model, sandbox } = await stage(t, script, { globalFiles: RELEASE });
      const tui = await startTui({ version, sandbox, rows: 50 });
      await tui.submit("/workflow release Ship 2.0");
      const waiting = await tui.waitFor(countdown(3));
      const said = lines(waiting);
      const at = (/** @type {string} */ line) => {
        const index = said.indexOf(line);
        assert.ok(index >= 0, `${line}\n---\n${waiting}`);
        return index;
      };
      const refused = at('[workflow] The tool "bash" is blocked during the Build phase.');
      assert.deepEqual(said.slice(refused, refused + 3), [
        '[workflow] The tool "bash" is blocked during the Build phase.',
        "Refer to the current phase instructions for allowed tools and approaches.",
        "When finished, call workflow_step to advance to the next phase.",
      ]);
      const next = at("workflow_step next");
      assert.deepEqual(said.slice(next, next + 4), [
        "workflow_step next",
        "✓ Entered subworkflow 'Code Review': Build → 🔍 Check",
        "I rest.",
        countdown(3),
      ]);
      assert.match(waiting, /^Release Pipeline > Code Review \[2\/3\] > 🔍 Check \[1\/1\]$/m);
      await tui.waitFor(countdown(2));
      await tui.waitFor(countdown(1));
      const done = await tui.waitFor("Phases completed:");
      assert.equal(model.requests.length, 7);
      assert.match(userTexts(model.requests[3]).at(-2) ?? "", /^⚠️ The Release Pipeline is still active\./);
      const end = lines(done);
      const from = end.indexOf("workflow_step loop");
      const taskId = custom(readSession(sandbox), "workflow:state")[0].taskId;
      assert.deepEqual(end.slice(from, from + 11), [
        "workflow_step loop",
        "🔄 Looped 'Code Review' back to: 🔍 Check",
        "workflow_step next",
        "✓ Exited subworkflow, returning to Release Pipeline: Check → 🔹 Ship",
        "workflow_step next",
        "✓ Advanced: Ship → DONE",
        "🎉 All phases complete!",
        "All is done.",
        "✅ Release Pipeline Complete",
        "Task: Ship 2.0",
        "Phases completed: 3",
      ]);
      assert.doesNotMatch(done, /\*\*|Auto-continuing|Release Pipeline >|Task ID/);

      // The expanded tool result shows the whole text.
      await tui.press("C-o");
      await tui.waitFor(
        (screen) => /^ *Do ship for Ship 2\.0\.$/m.test(screen) && lines(screen).includes(`Task ID: ${taskId}`),
      );
    });

    test("shows the end of a run again after a restart", LONG, async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.close();
      const tui = await startTui({ version, sandbox, args: ["--continue"] });
      const screen = await tui.waitFor("The hello Complete");
      assert.deepEqual(lines(screen).slice(lines(screen).indexOf("✅ The hello Complete")).slice(0, 3), [
        "✅ The hello Complete",
        "Task: Add a route",
        "Phases completed: 2",
      ]);
      assert.match(screen, /^ workflow_step next\n ✓ Advanced: Plan → 🔹 Build$/m);
      assert.doesNotMatch(screen, /\*\*|Workflow path|What to do/);
    });

    test("tells how a run goes on, below the messages of its session", LONG, async (t) => {
      const { sandbox } = await stage(t, [{ text: "I rest." }], {
        globalFiles: workflow("hello", ["plan"], { autoContinue: false }),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.close();
      const tui = await startTui({ version, sandbox, args: ["--continue"] });
      await tui.waitFor(
        /I rest\.[^]*The run of "The hello" has not ended\.\s+Your next message goes on with it, or \/workflow :resume\./,
      );
      await tui.close();
    });

    test("reports in one line that files have diagnostics, and shows them on demand", async (t) => {
      const { sandbox } = await stage(t, [], {
        globalFiles: HELLO,
        projectFiles: { "bad/workflow.yaml": "name: [\n", "worse/workflow.yaml": "7\n" },
      });
      const tui = await startTui({ version, sandbox });
      const notice = ["Error: 2 workflows have errors: /workflow :check"];
      const above = (/** @type {string} */ screen) => {
        const all = lines(screen);
        return all.slice(
          0,
          all.findIndex((line) => line.startsWith("───")),
        );
      };
      assert.deepEqual(above(await tui.waitFor(notice[0])), notice);
      await tui.submit("/workflow nope Do it");
      assert.deepEqual(above(await tui.waitFor("Unknown workflow")), [
        ...notice,
        'Error: Unknown workflow: "nope". Available: hello',
      ]);
      await tui.submit("/workflow :check");
      const panel = lines(await tui.waitFor("2 workflows are left out."));
      const at = panel.indexOf(
        ".pi/workflows/bad/workflow.yaml:1:8: error: not valid YAML: did not find expected node content",
      );
      assert.deepEqual(panel.slice(at + 1, at + 3), ["1 | name: [", "|        ^"]);
      sandbox.writeFiles({ ".pi/workflows/bad/workflow.yaml": "8\n" });
      await tui.submit("/workflow hello");
      const screen = await tui.waitFor('What is the task for "The hello"?');
      assert.equal(
        above(screen).filter((line) => line === notice[0]).length,
        2,
        "the changed diagnostics are told of anew",
      );
      assert.doesNotMatch(screen, /\[pi-workflows\]|console|at .*\.js:\d+/);
    });

    test("shows the outline of a workflow, and keeps its phases above the editor", LONG, async (t) => {
      const { sandbox } = await stage(t, [step("next"), REST], { globalFiles: { ...RELEASE, ...HELLO } });
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow :graph release");
      const outline = await tui.waitFor("Started by /workflow release TASK.");
      assert.match(outline, /^ *1\. 📦 Build {2}\(without bash\) *\n *2\. Code Review > /m);
      await tui.submit("/workflow :panel");
      await tui.waitFor("The panel shows the phases of the next run.");
      await tui.submit("/workflow hello One");
      await tui.waitFor(countdown(3));
      const screen = await tui.screen();
      assert.match(
        screen,
        /^ *The hello > 🔹 Build \[2\/2\]\n *✓ 1\. 🔹 Plan  [\d.]+k tokens, cost unknown, \d+s\n *▸ 2\. 🔹 Build(  .*)?$/m,
      );
      await tui.submit("/workflow :panel");
      await tui.waitFor((screen) => !screen.includes("The hello [2/2]\n"));
    });
  });

  suite(`pi ${version}: the countdown ends`, { concurrency: 4 }, () => {
    /**
     * A run whose agent has stopped, at the beginning of the countdown.
     *
     * @param {import("node:test").TestContext} t
     * @param {import("./harness/scripted-model.mjs").Step[]} [more] the following answers of the model
     */
    async function resting(t, more = []) {
      const { model, sandbox } = await stage(t, [REST, ...more], {
        globalFiles: workflow("hello", ["plan", "build"]),
        pace: SHORT_COUNTDOWN,
      });
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow hello Add a route");
      await tui.waitFor(countdown(2));
      return { model, sandbox, tui };
    }

    const gone = (/** @type {string} */ screen) => !screen.includes("Auto-continuing");

    test("when the user types, and the text stays in the editor", LONG, async (t) => {
      const { model, tui } = await resting(t, [{ text: "So be it.", hang: true }]);
      await tui.type("W");
      await tui.waitFor(gone);
      await tui.type("ait a bit");
      await shortCountdownIsOver();
      const screen = await tui.screen();
      assert.equal(editor(screen), "Wait a bit");
      assert.ok(gone(screen));
      assert.ok(screen.includes("⏸ The hello > 🔹 Plan [1/2] (waits for you)"), "the run is still there");
      assert.equal(model.requests.length, 1);
      await tui.press("Enter");
      await tui.waitFor("So be it.");
      assert.equal(userTexts(model.lastRequest()).at(-2), "Wait a bit");
      assert.doesNotMatch(model.messagesText(), /still active/);
    });

    test("but not when the terminal itself reports something", LONG, async (t) => {
      const { model, tui } = await resting(t, [{ text: "So be it.", hang: true }]);
      // The terminal reports that its window has the focus.
      await tui.type("\x1b[I");
      await tui.waitFor(countdown(1));
      await tui.waitFor("So be it.");
      assert.match(userTexts(model.lastRequest()).at(-2) ?? "", /^⚠️ The The hello is still active\./);
    });
  });
}
