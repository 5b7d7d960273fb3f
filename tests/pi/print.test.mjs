// Print and JSON mode.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS, some } from "./harness/extent.mjs";
import { parseJsonLines, readSession, runPrint, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import {
  contextPrompt,
  ends,
  nextUntilDone,
  path,
  state,
  states,
  step,
  withoutIds,
  workflow,
} from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["plan", "build"]);

const TO_DONE = [
  state("hello", "Add a route"),
  state("hello", "Add a route", { currentPath: path(["hello", 1]), globalStepCount: 1 }),
  state("hello", "Add a route", { currentPath: path(["hello", 1]), globalStepCount: 2, active: false }),
  state("hello", "Add a route", {
    currentPath: path(["hello", 1]),
    globalStepCount: 2,
    active: false,
    completionNotified: true,
  }),
];

const REST = { text: "I rest." };
const DONE = "Workflow The hello: DONE.\n";

for (const version of VERSIONS) {
  suite(`pi ${version}: print mode`, { concurrency: 2 }, () => {
    test("runs a workflow to DONE, writes only the last answer, and the state of the run to stderr", async (t) => {
      const { model, sandbox } = await stage(t, nextUntilDone, { globalFiles: HELLO });
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello Add a route" });
      assert.deepEqual(run, { code: 0, stdout: "All done.\n", stderr: DONE });
      const entries = readSession(sandbox);
      assert.deepEqual(states(entries), TO_DONE);
      const [complete] = ends(entries);
      assert.equal(
        withoutIds(complete.content),
        "✅ **The hello Complete**\n\n**Task:** Add a route\n**Task ID:** TASK\n**Phases completed:** 2",
      );
      assert.equal(entries.find(({ type }) => type === "session_info").name, "Workflow: Add a route");
      assert.equal(model.requests.length, 3);
      assert.match(contextPrompt(model.requests[0]) ?? "", /^\[Workflow path: The hello ▸ 🔹 Plan\]/);
    });

    test("starts nothing where pi puts another text before the command, or after it", LONG, async (t) => {
      const diff = "diff --git a/x b/x\n+/workflow hello Evil\n";
      const evil = "/workflow hello Evil things. ";
      /** @type {[string[], string | undefined][]} */
      const cases = [
        [["/workflow hello Review it"], diff],
        [["@spec.md", "/workflow hello Review it"], undefined],
        [["--", "/workflow hello Review it", "@spec.md"], diff],
        [["/workflow"], diff],
        [["/cancel-workflow"], diff],
        [["Summarize the issue."], evil],
        [["@spec.md"], evil],
      ];
      const { model, sandbox } = await stage(t, nextUntilDone, { globalFiles: HELLO, files: { "spec.md": "Spec\n" } });
      for (const [index, [prompt, stdin]] of some(cases).entries()) {
        const mode = index % 2 ? "json" : "text";
        const run = await runPrint({ version, sandbox, prompt, stdin, mode });
        assert.deepEqual([run.code, model.requests.length], [1, 0], JSON.stringify([prompt, run]));
        assert.equal(
          run.stderr,
          `Nothing was started: pi has put standard input or a file before the message, so ${prompt[0] === "/cancel-workflow" ? prompt[0] : "/workflow"} is not the whole prompt. \`pi-workflows run NAME --task-file FILE\` takes a task from a file, with \`-\` from standard input.\n`,
        );
      }
    });

    test("starts what stands alone, and leaves other prompts to pi", async (t) => {
      /** @type {[string[], string | undefined, number][]} */
      const cases = [
        [["-p"], "/workflow hello Add a route\n", 1],
        [["/workflow hello Add a route"], "", 1],
        [["Say hello", "/workflow hello Say hello"], undefined, 1],
        [["Summarize"], "diff\n+/workflow hello Evil\n", 0],
        [["Explain the command /workflow"], "diff\n", 0],
        [["@spec.md", "What is /workflow hello x"], undefined, 0],
      ];
      for (const [prompt, stdin, runs] of some(cases)) {
        const { sandbox } = await stage(t, nextUntilDone, { globalFiles: HELLO, files: { "spec.md": "Spec\n" } });
        const run = await runPrint({ version, sandbox, prompt, stdin });
        assert.equal(run.code, 0, JSON.stringify([prompt, run]));
        assert.equal(ends(readSession(sandbox)).length, runs, JSON.stringify(prompt));
      }
    });

    test("needs no session file", async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, { globalFiles: HELLO });
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello Add a route", args: ["--no-session"] });
      assert.deepEqual(run, { code: 0, stdout: "All done.\n", stderr: DONE });
      assert.deepEqual(sessionFiles(sandbox), []);
    });

    test("sends one prompt after the other, each when the agent is idle", async (t) => {
      const { model, sandbox } = await stage(t, nextUntilDone, { globalFiles: HELLO });
      const prompt = ["/workflow hello One", "/workflow hello Two", "/cancel-workflow"];
      const run = await runPrint({ version, sandbox, prompt });
      assert.deepEqual([run.code, run.stderr], [0, `No active workflow to cancel.\n${DONE}`]);
      assert.equal(model.requests.length, 6);
      const ends = states(readSession(sandbox)).filter(({ completionNotified }) => completionNotified);
      assert.deepEqual(
        ends.map(({ taskDescription, cancelled }) => [taskDescription, cancelled]),
        [
          ["One", false],
          ["Two", false],
        ],
      );
    });

    test("continues a run of another process", LONG, async (t) => {
      const { sandbox } = await stage(t, [step("next"), REST, step("next"), { text: "Done." }], { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.close();
      const status = await runPrint({ version, sandbox, prompt: "/workflow :status", args: ["--continue"] });
      assert.equal(status.code, 1, "the run is not done");
      assert.match(
        status.stderr,
        /^⏸ The hello > 🔹 Build \[2\/2\] \(waits for you: send a message, or \/workflow :resume\)\nTask: Add a route\n[^]*\nWorkflow The hello: not finished, in 🔹 Build\.\n$/,
      );
      const run = await runPrint({ version, sandbox, prompt: "Go on", args: ["--continue"] });
      assert.deepEqual(run, { code: 0, stdout: "Done.\n", stderr: DONE });
      assert.equal(sessionFiles(sandbox).length, 1);
      assert.deepEqual(states(readSession(sandbox)), TO_DONE);
    });

    test("writes notices to stderr, and fails if no workflow could start", LONG, async (t) => {
      const { model, sandbox } = await stage(t, nextUntilDone, {
        globalFiles: HELLO,
        projectFiles: { "bad/workflow.yaml": "name: [\n" },
      });
      const diagnostic = ".pi/workflows/bad/workflow.yaml:1:8: not valid YAML: did not find expected node content";
      const diagnostics = `${diagnostic}: /workflow :check\n`;
      assert.deepEqual(await runPrint({ version, sandbox, prompt: "/workflow nope Do it" }), {
        code: 1,
        stdout: "",
        stderr: `${diagnostics}Unknown workflow: "nope". Available: hello\n`,
      });
      assert.equal(model.requests.length, 0);
      assert.deepEqual(await runPrint({ version, sandbox, prompt: "/workflow hello Do it" }), {
        code: 0,
        stdout: "All done.\n",
        stderr: diagnostics + DONE,
      });
      assert.deepEqual(await runPrint({ version, sandbox, prompt: "/workflow :check" }), {
        code: 1,
        stdout: "",
        stderr: `${diagnostics}.pi/workflows/bad/workflow.yaml:1:8: error: not valid YAML: did not find expected node content
  1 | name: [
    |        ^
  help: close the quote or bracket here, and put a text that contains \`, \`, \`: \` or a bracket in quotes

1 error, 0 warnings. 1 workflow is left out.
`,
      });
      assert.deepEqual(await runPrint({ version, sandbox, trust: false, prompt: "/cancel-workflow" }), {
        code: 0,
        stdout: "",
        stderr: "No active workflow to cancel.\n",
      });
    });
  });

  suite(`pi ${version}: JSON mode`, { concurrency: 2 }, () => {
    test("runs a workflow to DONE and writes only records", async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, { globalFiles: { ...HELLO, "bad/workflow.yaml": "7\n" } });
      const run = await runPrint({ version, sandbox, mode: "json", prompt: "/workflow hello Add a route" });
      assert.equal(run.code, 0);
      const records = parseJsonLines(run.stdout);
      assert.equal(records.at(-1).type, "agent_settled");
      const appended = records.filter(({ type }) => type === "entry_appended").map(({ entry }) => entry);
      assert.deepEqual(states(appended), TO_DONE);
      assert.equal(ends(appended).length, 1);
      assert.deepEqual(states(readSession(sandbox)), TO_DONE);
      const diagnostic = `${sandbox.agent}/workflows/bad/workflow.yaml:1:1: expected a mapping of fields to values, found a number`;
      assert.equal(run.stderr, `${diagnostic}: /workflow :check\n${DONE}`);
    });
  });
}
