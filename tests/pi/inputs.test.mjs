// Inputs: values that a run is started with, from the command, from dialogs, from the workflow that nests another.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { progress } from "./harness/gates.mjs";
import { readSession, runPrint, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import {
  contextPrompt,
  custom,
  ends,
  nextUntilDone,
  notices,
  states,
  step,
  toolResults,
  userTexts,
  workflow,
} from "./harness/workflows.mjs";

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
    test("values stand before the task", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: FIX });
      const rpc = await startRpc({ version, sandbox });
      for (const [typed, inputs, task] of /** @type {[string, object, string][]} */ ([
        ["The task", {}, "The task"],
        ["scope=web issue=12 The task", { scope: "web", issue: "12" }, "The task"],
        ["issue=-1.5e3   scope=api\tThe task", { issue: "-1.5e3" }, "The task"],
        ['scope="web shop" The task', { scope: "web shop" }, "The task"],
        [`note='it is "so"' dry=true The task`, { note: 'it is "so"', dry: "true" }, "The task"],
        [String.raw`note="a \"b\" \\"'c'\ d The task`, { note: String.raw`a "b" \c d` }, "The task"],
        ["dry=true Set a=b and scope=web", { dry: "true" }, "Set a=b and scope=web"],
        ["Set scope=web", {}, "Set scope=web"],
        ["dry=true -- scope=web is wrong", { dry: "true" }, "scope=web is wrong"],
        ["-- a=b", {}, "a=b"],
        ["--verbose does nothing", {}, "--verbose does nothing"],
        ["a == b", {}, "a == b"],
        ["note={description} The task", { note: "{description}" }, "The task"],
        ["dry=true First line\nsecond=line", { dry: "true" }, "First line\nsecond=line"],
      ])) {
        await rpc.promptAndSettle(`/workflow fix ${typed}`);
        assert.deepEqual(begun(await rpc.entries()), [{ ...DEFAULTS, ...inputs }, task], typed);
        await rpc.prompt("/workflow :cancel");
      }
      assert.match(
        contextPrompt(model.requests[1]) ?? "",
        /\n\*\*Inputs:\*\* scope: web, issue: 12, note: none, dry: false\n/,
      );
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("wrong values are refused, and nothing is started", async (t) => {
      const { model, sandbox } = await stage(t, [], { globalFiles: FIX });
      const rpc = await startRpc({ version, sandbox });
      for (const [typed, refusal] of [
        ["scop=web The task", "There is no input `scop`. Did you mean `scope`?"],
        ["a=b is wrong", "There is no input `a`, only `scope`, `issue`, `note`, `dry`. `--` ends the values: -- a=…"],
        ["scope=wbe The task", "`scope`: expected `api`, `web` or `web shop`, found `wbe`. Did you mean `web`?"],
        ["scope= The task", "`scope`: expected `api`, `web` or `web shop`, found ``."],
        ["issue=twelve The task", "`issue`: expected a number, found `twelve`."],
        ["issue=NaN The task", "`issue`: expected a number, found `NaN`."],
        ["dry=yes The task", "`dry`: expected `true` or `false`, found `yes`."],
        ["note='' The task", "`note`: expected a text of 1 to 1000 characters, found ``."],
        ["note='it is The task", "`note`: a quote is not closed."],
        ["issue=1 issue=2 The task", "`issue` is given twice."],
      ]) {
        await rpc.prompt(`/workflow fix ${typed}`);
        assert.equal(notices(rpc).at(-1), `error: ${refusal}`, typed);
      }
      await rpc.prompt("/workflow fix scope=web");
      assert.equal(
        notices(rpc).at(-1),
        "warning: Usage: /workflow fix [scope=…] [issue=…] [note=…] [dry=…] {description}",
      );
      assert.deepEqual(custom(await rpc.entries(), "workflow:state"), []);
      assert.equal(model.requests.length, 0);
      assert.deepEqual(
        rpc.records.filter(({ method }) => method === "select" || method === "input"),
        [],
      );
    });

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
        "select | The ask: `scope`?\n│ Which half | Do not start | api | web",
        "input | The ask: `issue` (a number)?\n│ Its number in the tracker",
        "input | The ask: `issue` (a number)?\n│ Its number in the tracker",
        "input | The ask: `note`?",
      ]);
      assert.deepEqual(notices(rpc), ["warning: `issue`: expected a number, found `twelve`."]);
      assert.deepEqual(begun(await rpc.entries()), [
        { scope: "web", issue: "12", note: "a = b", dry: "true" },
        "The task",
      ]);
    });

    for (const [name, answers] of /** @type {[string, (string | undefined)[]][]} */ ([
      ["Escape in the first dialog", [undefined]],
      ["Escape in a later dialog", ["web", undefined]],
      ["an empty answer", ["web", "  "]],
      ["`Do not start`", ["Do not start"]],
    ])) {
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

    for (const mode of /** @type {const} */ (["text", "json"])) {
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

    test("each template has them, and no value is resolved again", async (t) => {
      const values = "<{input.scope} {input.note} {input.none}>";
      const files = workflow(
        "fix",
        [{ id: "look", tools: { blacklist: ["bash"] }, instructions: `Instructions ${values}` }],
        {
          autoContinue: { delaySeconds: 0, maxIdle: 1 },
          inputs: INPUTS,
          initialMessage: `Start ${values}`,
          roleInstruction: `Role ${values}`,
          advanceReminder: `Advance ${values}`,
          blockReasonTemplate: `Blocked ${values}`,
          notDoneReminder: `Not done ${values}`,
          completionMessage: `Complete ${values}`,
        },
      );
      const bash = { calls: [{ name: "bash", arguments: { command: "true" } }] };
      const { model, sandbox } = await stage(t, [bash, REST, step("next"), REST], { globalFiles: files });
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitFor(
        ({ type, entry, customType }) =>
          (entry?.customType ?? customType) === "workflow:complete" || type === "agent_settled",
      );
      await rpc.prompt("/workflow fix note='{description} {input.scope} {input.note}' The task");
      await settled;
      await rpc.waitFor(() => model.requests.length >= 4);
      await rpc.waitForSettled({ from: 0 });
      const shown = "<api {description} {input.scope} {input.note} {input.none}>";
      const prompt = contextPrompt(model.requests[0]) ?? "";
      assert.equal(userTexts(model.requests[0])[0], `Start ${shown}`);
      for (const word of ["Role", "Instructions", "Advance"]) assert.ok(prompt.includes(`\n${word} ${shown}`), prompt);
      assert.equal(toolResults(model.requests[1])[0], `Blocked ${shown}`);
      const last = model.lastRequest();
      assert.ok(
        userTexts(last).some((text) => text.startsWith(`Not done ${shown}`)),
        userTexts(last).join("\n---\n"),
      );
      assert.equal(ends(await rpc.entries())[0].content, `Complete ${shown}`);
    });

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

    test("in the terminal: completions of names and options, and the dialogs", async (t) => {
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
      await tui.waitFor("The ask: what is the task?");
      await tui.type("The task");
      await tui.press("Enter");
      await tui.waitFor("The ask: `note`?");
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
      await tui.waitFor(/The ask: `scope`\?[^]*→ Do not start\s+api\s+web/);
      await tui.press("Escape");
      await tui.waitFor("The workflow is not started.");
      assert.equal(states(readSession(sandbox)).at(-1).active, false);
    });
  });
}
