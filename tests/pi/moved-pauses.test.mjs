// A paused run that the user moves; a message in a pause that only `/workflow :resume` ends; a project that pi does not
// trust.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { notices, workflow } from "./harness/workflows.mjs";

const TASK = "/workflow hello Add a route";
const BASH = { name: "bash", arguments: { command: "true" } };
const OF_ALL = workflow("hello", ["plan", "build"], { autoContinue: false, budget: { turns: 2 } });
const SPENDING = [{ calls: [BASH] }, { calls: [BASH] }];
const TIDY = workflow("tidy", ["plan"]);
const NOT_READ = ".pi/workflows is not read: pi does not trust this project";

/** @param {any[]} entries */
const state = (entries) => entries.findLast(({ customType }) => customType === "workflow:state").data;

for (const version of VERSIONS) {
  suite(`pi ${version}: a pause and what the user does in it`, { concurrency: 2 }, () => {
    test("in the terminal and in print mode too", LONG, async (t) => {
      const { sandbox } = await stage(t, (_request, index) => SPENDING[index] ?? { text: "It is a budget." }, {
        globalFiles: OF_ALL,
      });
      const first = await runPrint({ version, sandbox, prompt: TASK });
      assert.match(
        first.stderr,
        /^Workflow The hello: paused in 🔹 Plan: the budget of “The hello” is used up: [^\n]*\n$/,
      );
      for (const mode of /** @type {const} */ (["text", "json"])) {
        const again = await runPrint({ version, sandbox, mode, prompt: "Go on.", args: ["--continue"] });
        assert.match(
          again.stderr,
          /⏸ The hello is paused in 🔹 Plan: [^\n]*\nTo allow more: \/workflow :resume \+\d+\nWorkflow The hello: paused in [^\n]*\n$/,
        );
        assert.equal(again.code, 1);
      }
      assert.equal(state(readSession(sandbox)).progress.paused.reason.kind, "budget");
      const tui = await startTui({ version, sandbox, args: ["--continue"] });
      const told = (/** @type {number} */ times) => (/** @type {string} */ screen) =>
        screen.match(/To allow more: \/workflow :resume \+\d+/g)?.length === times;
      await tui.waitFor(told(1));
      await tui.submit("Go on, please.");
      await tui.waitFor(told(2));
      await tui.close();
    });

    test("a project that is not trusted: the reason of an unknown workflow", LONG, async (t) => {
      const { sandbox } = await stage(t, [], { projectFiles: TIDY });
      for (const mode of /** @type {const} */ (["text", "json"])) {
        const run = await runPrint({ version, sandbox, mode, trust: false, prompt: "/workflow tidy the code" });
        assert.deepEqual(
          [run.code, run.stderr],
          [1, `Unknown workflow: "tidy". Available: (none)\n${NOT_READ}. To trust it: start pi with --approve.\n`],
        );
      }
      const rpc = await startRpc({ version, sandbox, trust: false });
      for (const command of ["/workflow tidy the code", "/workflow", "/workflow tidy", "/workflow :graph tidy"]) {
        const before = notices(rpc).length;
        await rpc.prompt(command);
        const told = notices(rpc).slice(before).join("\n");
        assert.ok(told.endsWith(`\n${NOT_READ}. To trust it: start pi with --approve.`), `${command}: ${told}`);
      }
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
      const tui = await startTui({ version, sandbox, trust: false });
      await tui.submit("/workflow tidy the code");
      await tui.waitFor(/To trust it: \/trust, then start pi/);
      await tui.close();
    });

    test("… which no other project is told", LONG, async (t) => {
      const { sandbox } = await stage(t, [], { projectFiles: TIDY });
      const trusted = await runPrint({ version, sandbox, trust: true, prompt: "/workflow other x" });
      assert.doesNotMatch(trusted.stderr, /trust/);
      const bare = await stage(t, [], {});
      mkdirSync(join(bare.sandbox.project, ".pi"), { recursive: true });
      const run = await runPrint({ version, sandbox: bare.sandbox, trust: false, prompt: "/workflow tidy x" });
      assert.equal(run.stderr, 'Unknown workflow: "tidy". Available: (none)\n');
    });
  });
}
