// Inputs: values that a run is started with, from the command, from dialogs, from the workflow that nests another.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { progress } from "./harness/gates.mjs";
import { readSession, runPrint, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { contextPrompt, custom, nextUntilDone, notices, states, toolResults, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };

const INPUTS = {
  scope: { type: "choice", options: ["api", "web", "web shop"], default: "api", description: "Which half" },
  issue: { type: "number", default: 1 },
  note: { type: "text", default: "none" },
  dry: { type: "flag" },
};
const DEFAULTS = { scope: "api", issue: "1", note: "none", dry: "false" };
const FIX = workflow("fix", ["look", "do"], { ...QUIET, inputs: INPUTS });

/** The inputs of `ask` have no defaults. */
const ASKED = {
  scope: { type: "choice", options: ["api", "web"], description: "Which half" },
  issue: { type: "number", description: "Its number\nin the tracker" },
  note: { type: "text" },
  dry: { type: "flag" },
};
const ASK = workflow("ask", ["look", "do"], { ...QUIET, inputs: ASKED });
const MISSING = `These values are missing before the task:
  scope=… (\`api\` or \`web\`): Which half
  issue=… (a number): Its number in the tracker
  note=… (a text of 1 to 1000 characters)
`;

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

    for (const [name, answers] of variants(
      /** @type {[string, (string | undefined)[]][]} */ ([
        ["Escape in the first dialog", [undefined]],
        ["Escape in a later dialog", ["web", undefined]],
        ["an empty answer", ["web", "  "]],
        ["`Do not start`", ["Do not start"]],
      ]),
    )) {
      test(`${name} starts nothing`, async (t) => {
        const { model, sandbox } = await stage(t, () => REST, { globalFiles: { ...ASK, ...FIX } });
        const rpc = await startRpc({ version, sandbox });
        rpc.onDialog(() => answers.shift());
        await rpc.prompt("/workflow ask The task");
        await rpc.waitFor(({ message }) => message === "The workflow is not started.");
        assert.deepEqual(answers, []);
        assert.deepEqual(custom(await rpc.entries(), "workflow:state"), []);
        assert.equal(model.requests.length, 0);
        await rpc.promptAndSettle("/workflow fix The task");
        assert.equal(begun(await rpc.entries())[1], "The task");
      });
    }

    for (const mode of variants(/** @type {const} */ (["text", "json"]))) {
      test(`without a user interface an error lists all missing values (${mode})`, async (t) => {
        const { model, sandbox } = await stage(t, nextUntilDone, { globalFiles: ASK });
        const run = (/** @type {string} */ prompt) => runPrint({ version, sandbox, mode, prompt });
        const missing = await run("/workflow ask The task");
        assert.deepEqual([missing.code, missing.stderr], [1, MISSING]);
        const wrong = await run("/workflow ask scop=web The task");
        assert.deepEqual([wrong.code, wrong.stderr], [1, "There is no input `scop`. Did you mean `scope`?\n"]);
        assert.equal(model.requests.length, 0);
        const right = await run(`/workflow ask scope=web issue=12 note="a b" The task`);
        assert.deepEqual([right.code, right.stderr], [0, "Workflow The ask: DONE.\n"]);
        assert.deepEqual(begun(readSession(sandbox)), [
          { scope: "web", issue: "12", note: "a b", dry: "false" },
          "The task",
        ]);
      });
    }

    test("they are stored with the run, and a kill loses none", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: FIX });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow fix scope='web shop' issue=7 The task");
      await first.kill();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("Go on.");
      assert.match(
        contextPrompt(model.lastRequest()) ?? "",
        /\n\*\*Inputs:\*\* scope: web shop, issue: 7, note: none, dry: false\n/,
      );
      await rpc.prompt("/workflow :status");
      assert.match(
        custom(await rpc.entries(), "workflow:status").at(-1).content,
        /\nInputs: scope: web shop, issue: 7, note: none, dry: false\n/,
      );
      assert.deepEqual(progress(await rpc.entries()).inputs, { ...DEFAULTS, scope: "web shop", issue: "7" });
      await rpc.promptAndSettle("/workflow :next");
      assert.match(
        contextPrompt(model.lastRequest()) ?? "",
        /\[Workflow path: The fix ▸ 🔹 Do\][^]*\n\*\*Inputs:\*\* scope: web shop, /,
      );
    });

    test("a nested workflow has the values that the outer one gives it", async (t) => {
      const instructions = "<{input.part} {input.depth} {input.dry} {input.scope}>";
      const files = {
        ...workflow(
          "fix",
          [
            { id: "@inner", with: { part: "{input.scope}", depth: 3 } },
            { id: "@inner", with: { part: "api" } },
          ],
          { ...QUIET, inputs: INPUTS },
        ),
        ...workflow(
          "inner",
          [
            { id: "look", instructions },
            { id: "@deepest", with: { part: "{input.part}" } },
          ],
          {
            show: "workflows",
            inputs: { part: { type: "text" }, depth: { type: "number", default: 1 }, dry: { type: "flag" } },
          },
        ),
        ...workflow("deepest", [{ id: "dig", instructions }], {
          show: "workflows",
          inputs: { part: { type: "text" } },
        }),
      };
      const { model, sandbox } = await stage(t, nextUntilDone, { globalFiles: files });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow fix scope=web dry=true note='{input.part}' The task");
      const prompts = [contextPrompt(model.requests[0]) ?? "", ...toolResults(model.lastRequest())];
      const shown = prompts
        .flatMap((text) => [/^\*\*Inputs:\*\* .*$/m.exec(text)?.[0], /^<.*>$/m.exec(text)?.[0]])
        .filter(Boolean);
      assert.deepEqual(shown, [
        "**Inputs:** part: web, depth: 3, dry: false",
        "<web 3 false {input.scope}>",
        "**Inputs:** part: web",
        "<web {input.depth} {input.dry} {input.scope}>",
        "**Inputs:** part: api, depth: 1, dry: false",
        "<api 1 false {input.scope}>",
        "**Inputs:** part: api",
        "<api {input.depth} {input.dry} {input.scope}>",
      ]);
      assert.equal(states(await rpc.entries()).at(-1).active, false);
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
