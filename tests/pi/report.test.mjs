// `/workflow :report`: the report of a run, for the user only.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, notices, step, withoutIds, workflow } from "./harness/workflows.mjs";

const PRICES = { cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } };
const QUIET = { autoContinue: false };

/** An answer with its usage. @param {object} content @param {number} prompt */
const used = (content, prompt) => ({ ...content, usage: { prompt, completion: 100 } });
const REST = used({ text: "I rest." }, 1000);

/** A report without its times. @param {string | undefined} content */
const timeless = (content) =>
  withoutIds(content)
    ?.replace(/\b\d+m?s\b/g, "0s")
    .replace(/\d{4}-\d\d-\d\d [\d:]{8} UTC[+−]\d\d:\d\d/g, "THEN")
    .replace(/\d+:[0-9a-f]{64}/, "SEAL")
    .replace(/^(\| [^|]+ \| \d* \|) [^|]+ \| [^|]+ \|/gm, "$1 TIME | TIME |");

/** The newest report of a session. @param {import("./harness/rpc.mjs").Rpc} rpc */
async function report(rpc) {
  await rpc.prompt("/workflow :report");
  return timeless(custom(await rpc.entries(), "workflow:report").at(-1)?.content) ?? "";
}

const CLI = fileURLToPath(new URL("../../cli/pi-workflows.js", import.meta.url));

/**
 * The report that the command writes outside of pi.
 *
 * @param {{ project: string, env: () => NodeJS.ProcessEnv }} sandbox
 */
const outside = (sandbox) =>
  timeless(
    execFileSync(process.execPath, [CLI, "report"], { cwd: sandbox.project, env: sandbox.env(), encoding: "utf8" }),
  );

const HEAD = `# Run of hello

- **Outcome:** OUTCOME
- **Transitions:** 1, **repeated visits:** 0
- **Task ID:** TASK
- **Model:** scripted/scripted
- **Fingerprint:** SEAL

**Task:**

\`\`\`
Add a | route
\`\`\`

| Phase | Visits | At work | Waiting | Turns | Tokens | Cost |
| --- | --- | --- | --- | --- | --- | --- |
`;

for (const version of VERSIONS) {
  suite(`pi ${version}: /workflow :report`, { concurrency: 2 }, () => {
    test("reports the run in progress and the last one, and the model does not see it", LONG, async (t) => {
      const answers = [
        used(step("next"), 2000),
        REST,
        used({ text: "And now?" }, 500),
        used(step("next"), 1),
        REST,
        used({ text: "Hello." }, 7000),
      ];
      const { model, sandbox } = await stage(t, answers, {
        globalFiles: workflow("hello", ["plan", "build"], QUIET),
        modelConfig: PRICES,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow :report");
      assert.deepEqual(notices(rpc), ["info: No workflow has run in this session."]);
      await rpc.promptAndSettle("/workflow hello Add a | route");
      const running = await report(rpc);
      const [head, table] = [
        HEAD.replace("OUTCOME", "not finished\n- **Time:** started THEN"),
        running.slice(running.indexOf("| ✓")),
      ];
      assert.equal(running.slice(0, -table.length), head);
      assert.equal(
        table,
        `| ✓ Plan | 1 | TIME | TIME | 1 | 2.1k | \\$0.0075 |
| ▸ Build | 1 | TIME | TIME | 1 | 1.1k | \\$0.0045 |
| **In all** |  | TIME | TIME | 2 | 3.2k | \\$0.01 |`,
      );
      assert.equal(outside(sandbox), `${running}\n`);
      await rpc.promptAndSettle("Go on.");
      await rpc.promptAndSettle("Go on.");
      const done = await report(rpc);
      assert.match(done, /\n- \*\*Outcome:\*\* done\n- \*\*Time:\*\* THEN to THEN \(0s\)\n/);
      assert.match(done, /\n\| ✓ Build \| 1 \| TIME \| TIME \| 4 \| 2\.9k \|/);
      await rpc.prompt("/workflow :status");
      assert.equal(
        timeless(notices(rpc).at(-1) ?? ""),
        "info: No active workflow. The last one:\nhello: done, THEN to THEN (0s)\nTask: Add a | route\n/workflow :report shows it.",
      );
      await rpc.promptAndSettle("Hello");
      assert.equal(await report(rpc), done, "later work is no part of the run");
      assert.doesNotMatch(model.messagesText(), /Run of hello/);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();

      const again = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.equal(await report(again), done);
      await again.close();
      assert.equal(outside(sandbox), `${done}\n`);
      const printed = await runPrint({ version, sandbox, prompt: "/workflow :report", args: ["--continue"] });
      assert.deepEqual([printed.code, timeless(printed.stderr)], [0, `${done}\n`]);
    });

    test("is drawn as a table in a terminal", async (t) => {
      const { sandbox } = await stage(t, [used(step("next"), 2000), REST], {
        globalFiles: workflow("hello", ["plan", "build"], QUIET),
        modelConfig: PRICES,
      });
      const tui = await startTui({ version, sandbox, columns: 120, rows: 50 });
      await tui.submit("/workflow hello One");
      await tui.waitFor("waits for you");
      await tui.submit("/workflow :report");
      const screen = await tui.waitFor("In all");
      assert.match(screen, /│ ✓ Plan +│ 1 +│/, screen);
      assert.match(screen, /│ \$0\.0075 +│/);
      assert.match(screen, /Outcome: not finished/);
    });
  });
}
