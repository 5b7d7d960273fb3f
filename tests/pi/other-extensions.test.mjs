// Extensions beside this one that ask, change and hold up.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { bash, edit, write } from "./harness/limited.mjs";
import { REPO, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { visibleStage } from "./harness/world.mjs";
import { asks, notices, paths, states, step, toolResults, userTexts, workflow } from "./harness/workflows.mjs";

const REST = { text: "I rest." };
const QUIET = { autoContinue: false };
const HELLO = workflow("hello", ["plan", "build"], QUIET);

/** Notes the arguments of calls, and changes those that a variable of the environment names. */
const GUARD = `import { appendFileSync } from "node:fs";
export default (pi) => pi.on("tool_call", async (event) => {
  appendFileSync("seen.jsonl", JSON.stringify(event.input) + "\\n");
  await new Promise((resolve) => setTimeout(resolve, 50));
  const { command, path } = event.input;
  if (command?.includes("forbidden")) return { block: true, reason: "The user said no." };
  if (command?.includes("elsewhere")) event.input.command = "echo changed > outside; echo $?";
  if (path === "src/elsewhere") event.input.path = "outside";
  // pi carries out the arguments that it has made, whatever stands here.
  if (command?.includes("replaced")) event.input = { command: "true" };
});
`;

/** Opens a dialog some time after a call of \`workflow_step\`. */
const ASKING = `export default (pi) => pi.on("tool_call", (event, { ui }) => {
  if (event.toolName === "workflow_step") setTimeout(() => void ui.confirm("Other asks?", "Sure?").then((yes) => ui.notify("Answered: " + yes)), 2500);
});
`;

/** Holds up the first start of the agent for a time, in which the user can do something. */
const SLOW = `import { existsSync, writeFileSync } from "node:fs";
export default (pi) => pi.on("before_agent_start", async () => {
  if (existsSync("begun")) return;
  writeFileSync("begun", "");
  while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
});
`;

for (const version of VERSIONS) {
  suite(`pi ${version}: beside other extensions`, { concurrency: 2 }, () => {
    for (const order of variants(["later", "earlier"]))
      test(`one that is loaded ${order} sees calls as the model has made them, and what it changes is confined`, async (t) => {
        const calls = [
          bash("echo inside > src/a; echo changed > outside; cat src/a"),
          bash("echo forbidden"),
          bash("echo elsewhere"),
          bash("echo replaced > outside; echo $?"),
          write("src/b"),
          edit("src/c"),
          write("src/elsewhere"),
        ];
        const { model, sandbox } = await visibleStage(t, [...calls.map((call) => ({ calls: [call] })), REST], {
          globalFiles: workflow("hello", [{ id: "plan", write: ["src/"] }, "build"], QUIET),
          files: { "src/c": "untouched\n", outside: "untouched\n", "guard.mjs": GUARD },
        });
        const guard = join(sandbox.project, "guard.mjs");
        const extension = order === "later" ? [REPO, guard] : [guard, REPO];
        await runPrint({ version, sandbox, extension, prompt: "/workflow hello it" });
        const results = toolResults(model.lastRequest());
        const text = (/** @type {string} */ name) => readFileSync(join(sandbox.project, name), "utf8");
        const seen = text("seen.jsonl").trimEnd().split("\n");
        assert.deepEqual(
          seen.map((line) => JSON.parse(line)),
          calls.map((call) => call.arguments),
        );
        assert.deepEqual([text("outside"), text("src/a"), text("src/b"), text("src/c")], [
          "untouched\n",
          "inside\n",
          "changed\n",
          "changed\n",
        ]); // prettier-ignore
        assert.match(results[0], /Read-only file system[^]*inside/);
        assert.equal(results[1], "The user said no.");
        assert.match(results[2], /Read-only file system/);
        assert.match(results[3], /Read-only file system/);
        assert.match(results[6], /outside/);
        assert.ok(!existsSync(join(sandbox.project, "src/elsewhere")));
      });

    test("a question and the dialog of another one are both answered", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), REST], {
        globalFiles: workflow("hello", ["plan", asks("Ship it?"), "build"], QUIET),
        files: { "asking.mjs": ASKING },
      });
      const extension = [REPO, join(sandbox.project, "asking.mjs")];
      const tui = await startTui({ version, sandbox, extension });
      await tui.submit("/workflow hello it");
      await tui.waitFor("Ship it?");
      await sleep(4000);
      // The order of the two dialogs depends on the version.
      for (let answered = 0; answered < 2; answered++) {
        const screen = await tui.waitFor(/Other asks\?|Ship it\?[^]*enter select/);
        await tui.press("Enter");
        const shown = screen.includes("Other asks?") ? "Other asks?" : "enter select";
        if (answered === 0) await tui.waitFor((now) => !now.includes(shown) || now !== screen);
      }
      await tui.waitFor("Answered: true");
      await model.waitForRequests(2);
      await tui.close();
    });

    for (const [what, told] of variants(
      Object.entries({
        ":next": /^The user moved the workflow on: 🔹 Plan → 🔹 Build\.\n\n\[Workflow path: The hello ▸ 🔹 Build\]/,
        ":cancel": undefined,
        ":pause": undefined,
      }),
    ))
      test(`${what} while one holds up the start of the agent`, async (t) => {
        const script = [{ calls: [bash("echo done > done")] }, REST, REST];
        const { model, sandbox } = await stage(t, script, { globalFiles: HELLO, files: { "slow.mjs": SLOW } });
        const extension = [REPO, join(sandbox.project, "slow.mjs")];
        const rpc = await startRpc({ version, sandbox, extension });
        const settled = rpc.waitForSettled();
        void rpc.prompt("/workflow hello it");
        while (!existsSync(join(sandbox.project, "begun"))) await sleep(20);
        await rpc.prompt(`/workflow ${what}`);
        sandbox.writeFiles({ go: "" });
        await settled;
        assert.deepEqual(rpc.extensionErrors(), []);
        const at = paths(states(await rpc.entries())).at(-1);
        assert.equal(at, what === ":next" ? "hello:1" : "hello:0");
        if (told)
          assert.ok(
            userTexts(model.requests[0]).some((text) => told.test(text)),
            notices(rpc).join("\n"),
          );
        // The agent of a run that has ended, or is paused, does nothing.
        assert.equal(existsSync(join(sandbox.project, "done")), what === ":next");
        if (what === ":cancel") assert.ok(model.requests.length <= 1);
        await rpc.close();
      });
  });
}
