// Gates: their questions to the user, and events while a question is open.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { gated, lastPath, progress } from "./harness/gates.mjs";
import { VERSIONS, variants } from "./harness/extent.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { startTui } from "./harness/tui.mjs";
import { asks, pauses, phaseFile, step, workflow } from "./harness/workflows.mjs";

const REST = { text: "I rest." };
const next = step("next");
const TASK = "/workflow hello Add a route";
const FOR_THIS_RUN = "Yes, for this run";
const NO_ANSWER = () => new Promise(() => {});
const isQuestion = (/** @type {any} */ { method }) => method === "select";
const RUN = [{ run: "echo run >> log" }];
const QUIET = { autoContinue: false };

for (const version of VERSIONS) {
  suite(`pi ${version}: an open question of a gate`, { concurrency: 2 }, () => {
    test("of an entry is asked again after an abort, a kill and a reload", async (t) => {
      const globalFiles = workflow("hello", ["plan", asks("Ship it?"), "build"], QUIET);
      const { sandbox } = await stage(t, [next, REST, REST], { globalFiles, files: TRAVEL });
      const extension = withTravel(sandbox);
      const rpc = await startRpc({ version, sandbox, extension, onDialog: NO_ANSWER });
      const settled = rpc.waitForSettled();
      await rpc.prompt(TASK);
      await rpc.waitFor(isQuestion);
      await rpc.send({ type: "abort" });
      await settled;
      assert.deepEqual(
        [lastPath(await rpc.entries()), pauses(await rpc.entries()).filter(Boolean).length],
        ["hello:1", 1],
      );
      for (const end of [() => rpc.prompt("/go-reload"), () => rpc.kill()]) {
        const from = rpc.records.length;
        void rpc.prompt("/workflow :resume");
        await rpc.waitFor(isQuestion, { from });
        await end();
      }
      assert.equal(progress(readSession(sandbox)).visits["hello:1"].evidence, undefined);

      const again = await startRpc({ version, sandbox, args: ["--continue"], onDialog: () => "yes" });
      await again.promptAndSettle("/workflow :resume");
      assert.equal(lastPath(await again.entries()), "hello:2");
      await again.close();
    });
  });

  suite(`pi ${version}: consent to commands of the project`, { concurrency: 2 }, () => {
    const hidden = { show: "workflows" };
    const shared = { "_shared/look.md": phaseFile({ id: "look", gate: RUN }) };
    /** @type {[string, Record<string, Record<string, string>>, number][]} */
    const CASES = [
      [
        "a project's workflow in a global one",
        {
          globalFiles: workflow("hello", ["@inner"], QUIET),
          projectFiles: workflow("inner", [{ id: "b", gate: RUN }], hidden),
        },
        1,
      ],
      [
        "not for a global workflow in a project's",
        {
          projectFiles: workflow("hello", ["@inner"], QUIET),
          globalFiles: workflow("inner", [{ id: "b", gate: RUN }], hidden),
        },
        0,
      ],
      [
        "a phase that the project shares",
        { projectFiles: { ...workflow("hello", [], { ...QUIET, phases: ["../_shared/look.md"] }), ...shared } },
        1,
      ],
      // The first question is about replacing the user's workflow.
      ["a project's workflow in the place of a global one", { globalFiles: gated(RUN), projectFiles: gated(RUN) }, 2],
    ];
    for (const [what, files, questions] of variants(CASES)) {
      test(what, async (t) => {
        const { sandbox } = await stage(t, [next, REST], files);
        let asked = 0;
        const rpc = await startRpc({
          version,
          sandbox,
          onDialog: ({ options }) => ((asked += 1), options.includes(FOR_THIS_RUN) ? FOR_THIS_RUN : "Yes"),
        });
        await rpc.promptAndSettle(TASK);
        assert.equal(asked, questions);
        assert.equal(readFileSync(join(sandbox.project, "log"), "utf8"), "run\n");
        await rpc.close();
      });
    }
  });

  suite(`pi ${version}: a gate's questions in the terminal`, { concurrency: 2 }, () => {
    for (const [columns, rows] of [[40, 12]]) {
      test(`of ${columns} by ${rows}`, async (t) => {
        const gate = [
          {
            run: "sleep 60 && echo a command line that is longer than a small terminal is wide",
            timeout: 0.3,
            name: "it",
          },
        ];
        const question = asks("Ship this plan, with all its risks, to the users?");
        const phases = [{ id: "plan", gate, gateAttempts: 1 }, "build", question, "check"];
        const { sandbox } = await stage(t, () => REST, { projectFiles: workflow("hello", phases, QUIET) });
        const tui = await startTui({ version, sandbox, columns, rows });
        await tui.submit(TASK);
        // The preselected option is No.
        const screen = await tui.waitFor(/Yes, always/);
        assert.match(screen, /→ No\n {3}Yes, for this run\n[^]* {3}Yes, always/);
        await tui.press("Down", "Enter");
        await tui.waitFor("I rest.");
        await tui.submit("/workflow :next");
        await tui.waitFor(/attempt; last: it\.[^]*gives as many attempts again/);
        await tui.submit("/workflow :skip");
        await tui.waitFor(/Build \[2\/4\]/);
        await tui.submit("/workflow :next");
        await tui.waitFor(/→ Not yet/);
        await tui.press("Enter");
        await tui.waitFor(/:resume asks again/);
        await tui.close();
      });
    }
  });

  suite(`pi ${version}: the text of a question`, { concurrency: 2 }, () => {
    const BLANK = "\u2800".repeat(70);
    const FAKE = `Plan" runs:${BLANK}│ npm test${BLANK}Allow it?${BLANK}→ No${BLANK}`;
    const CONSENTS = ["No", "Yes, once", "Yes, for this session", "Yes, always in this folder"];
    const FOUR = ["npm run lint", "npm test", "npm run build", "npm run a-script-with-a-long-name -- --all --strict"];
    const run = (/** @type {string[]} */ ...commands) => commands.map((command) => ({ run: command }));
    const QUESTION = "Ship this plan, with all its risks, to the users? Nobody has read the second half of it.";
    /** A quoted name, as far as there are columns. */
    const fake = (/** @type {number} */ blanks) => `"Plan' runs:${"\\u{2800}".repeat(blanks)}…"`;
    /**
     * An entry, the lines of the question where its text is shown above it, the lines above it, the options, and for each
     * size of which the question has the whole text, its first line.
     *
     * @type {Record<string, [any, (columns: number) => string[], string[], string[], Record<string, string>]>}
     */
    const CASES = {
      "four commands": [
        { id: "plan", gate: run(...FOUR) },
        () => ['Allow project gate "Plan"?', "4 commands, 4 lines: shown above"],
        ['Project gate "Plan" runs:', ...FOUR.map((command) => `│ ${command}`)],
        CONSENTS,
        { 24: 'Allow project gate "Plan"?', 40: 'Allow project gate "Plan"?' },
      ],
      "a command that hides its end": [
        { id: "plan", gate: run(`make${" ".repeat(300)}│\u3164\u202eevil`) },
        () => ['Allow project gate "Plan"?', "1 command, 1 line: shown above"],
        ['Project gate "Plan" runs:', "│ make ␣×300 \\u{2502}\\u{3164}\\u{202e}evil"],
        CONSENTS,
        { 24: 'Allow project gate "Plan"?' },
      ],
      "a long question of a name that draws": [
        asks(`${QUESTION}\n\n→ Not yet`, { name: FAKE }),
        () => ['Question of "The hello"', "The question, 3 lines: shown above"],
        [
          `${fake(5)} asks:`,
          "│ Ship this plan, with all its risks, to the users? Nobody has read the second",
          "│ ↪ half of it.",
          "│ ",
          "│ → Not yet",
        ],
        ["Not yet", "yes"],
        { 24: 'Question of "The hello"', 40: 'Question of "The hello"' },
      ],
    };
    for (const [what, [entry, short, text, options, whole]] of variants(Object.entries(CASES), 2)) {
      const isLarge = /^four|draws$/.test(what);
      const all = isLarge
        ? [
            [80, 24],
            [40, 12],
            [60, 16],
            [80, 40],
          ]
        : [
            [80, 24],
            [40, 12],
          ];
      test(`${what}, with all its options, in terminals of several sizes`, async (t) => {
        for (const [columns, rows] of variants(all)) {
          const { model, sandbox } = await stage(t, () => REST, {
            projectFiles: workflow("hello", "ask" in entry ? ["plan", entry, "build"] : [entry, "build"], QUIET),
          });
          // Without a user interface the start does not ask for commands.
          await runPrint({ version, sandbox, prompt: TASK });
          const tui = await startTui({ version, sandbox, args: ["--continue"], columns, rows });
          // The panel leaves less room for the question.
          if (!("ask" in entry)) await tui.submit("/workflow :panel");
          await tui.submit("/workflow :next");
          const open = new RegExp(`^ → ${options[0]}\\s*$`, "m");
          const screen = await tui.waitFor(open);
          const lines = screen.split("\n").map((line) => line.trimEnd().slice(1));
          const first = lines.indexOf(`→ ${options[0]}`);
          const begin = whole[rows];
          const question = begin ? [begin, ...text.slice(1).map((line) => line.trimEnd())] : short(columns);
          const above = begin ? [] : text;
          assert.deepEqual(
            lines.slice(first, first + options.length),
            options.map((option, index) => `${index ? "  " : "→ "}${option}`),
            screen,
          );
          // pi 0.87 scrolls the top of a tall dialog out of view.
          if (version !== "0.87.1" || rows > 12) {
            assert.deepEqual(lines.slice(first - 1 - question.length, first - 1), question, screen);
          }
          if (rows >= 24 && above.length > 0) {
            const at = lines.lastIndexOf(above[0]);
            assert.deepEqual(
              lines.slice(at, at + above.length),
              above.map((line) => line.trimEnd()),
              screen,
            );
          }
          assert.doesNotMatch(screen.split("Workflo")[0], /\u2800|\u3164|\u202e/);
          await tui.press("Enter");
          await tui.waitFor((screen) => !open.test(screen));
          assert.ok(!JSON.stringify(model.requests).includes("shown above"));
          await tui.close();
        }
      });
    }
  });
}
