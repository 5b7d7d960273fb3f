// A pause ends the agent's run: the model gives at most one more answer, whatever it does.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { notices, pauses, step, toolResults, workflow } from "./harness/workflows.mjs";

const TASK = "/workflow hello Add a route";
/** More requests than any of these runs makes; then the model stops by itself. */
const ENOUGH = 15;

/** @param {string} name @param {object} [args] */
const call = (name, args = {}) => ({ name, arguments: args });
const NEXT = call("workflow_step", { action: "next" });
const STATUS = call("workflow_step", { action: "status" });
const BASH = call("bash", { command: "echo more >> ran" });
const READ = call("read", { path: "a.txt" });
const UNKNOWN = call("frobnicate");
/** pi refuses it before any extension sees it. */
const INVALID = call("bash", { wrong: true });

/**
 * The answers that a model repeats for ever.
 * @type {Record<string, { name: string, arguments: object }[][]>}
 */
const HABITS = {
  next: [[NEXT]],
  "all in turn": [[NEXT], [BASH], [STATUS], [READ], [UNKNOWN], [INVALID, STATUS]],
  "a read beside next": [[READ, NEXT]],
  "an unknown tool": [[UNKNOWN]],
  cancel: [[call("workflow_step", { action: "cancel" })]],
};

/**
 * A model that gives these answers first, and then has this habit.
 *
 * @param {import("./harness/scripted-model.mjs").Step[]} first
 * @param {string} habit
 * @returns {import("./harness/scripted-model.mjs").StepFunction}
 */
const model = (first, habit) => (_request, index) => {
  if (index >= ENOUGH) return { text: "Enough." };
  const answers = HABITS[habit];
  return first[index] ?? { calls: answers[(index - first.length) % answers.length] };
};

const FILES = { "a.txt": "some text\n" };
const FAILING = { id: "plan", gate: [{ file: "missing.txt" }], gateAttempts: 1 };
const GATED = workflow("hello", [FAILING, "build"]);

for (const version of VERSIONS) {
  suite(`pi ${version}: a pause ends the agent's run`, { concurrency: 2 }, () => {
    for (const habit of Object.keys(HABITS)) {
      const options = habit === "a read beside next" ? {} : LONG;
      test(`of a model that repeats: ${habit}`, options, async (t) => {
        const { model: scripted, sandbox } = await stage(t, model([step("next")], habit), {
          globalFiles: GATED,
          files: FILES,
        });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle(TASK);
        assert.equal(scripted.requests.length, 2);
        const entries = await rpc.entries();
        assert.equal(pauses(entries).at(-1)?.kind, "gate");
        assert.equal(notices(rpc).filter((notice) => notice.includes("is paused")).length, 1);
        assert.deepEqual(rpc.extensionErrors(), []);
        // A message resumes the run, and the agent has its tools again.
        const before = scripted.requests.length;
        await rpc.promptAndSettle("Go on.");
        assert.ok(scripted.requests.length > before);
        await rpc.close();
      });

      for (const mode of /** @type {const} */ (["text", "json"])) {
        test(`in print mode (${mode}): ${habit}`, mode === "json" ? LONG : options, async (t) => {
          const { model: scripted, sandbox } = await stage(t, model([step("next")], habit), {
            globalFiles: GATED,
            files: FILES,
          });
          const run = await runPrint({ version, sandbox, mode, prompt: TASK });
          assert.equal(scripted.requests.length, 2);
          assert.equal(run.code, 1);
          assert.match(run.stderr, /Workflow The hello: paused in 🔹 Plan: [^\n]*\n$/);
          assert.equal(pauses(readSession(sandbox)).at(-1)?.kind, "gate");
        });
      }
    }

    for (const mode of variants(/** @type {const} */ (["text", "json"]))) {
      test(`without a user interface the agent cannot cancel the run (${mode})`, async (t) => {
        const files = workflow("hello", [{ id: "plan", write: [] }, "build"]);
        const { model: scripted, sandbox } = await stage(t, model([], "cancel"), { globalFiles: files });
        const run = await runPrint({ version, sandbox, mode, prompt: TASK });
        assert.equal(scripted.requests.length, 3);
        assert.deepEqual(
          [run.code, run.stderr],
          [1, "Workflow The hello: paused in 🔹 Plan: the agent wants to cancel it.\n"],
        );
        const state = readSession(sandbox).findLast(({ customType }) => customType === "workflow:state").data;
        assert.deepEqual([state.active, state.cancelled, state.progress.paused.reason.kind], [true, false, "cancel"]);
        // The user decides.
        const cancelled = await runPrint({ version, sandbox, mode, prompt: "/workflow :cancel", args: ["--continue"] });
        assert.match(cancelled.stderr, /Workflow The hello: cancelled\.\n$/);
      });
    }

    for (const habit of ["next", "all in turn"]) {
      const long = habit === "next" ? {} : LONG;

      test(`the user's :pause, while the agent works: ${habit}`, long, async (t) => {
        const slow = { calls: [call("bash", { command: "sleep 2" })] };
        const { model: scripted, sandbox } = await stage(t, model([slow], habit), {
          globalFiles: workflow("hello", ["plan", "build"]),
          files: FILES,
        });
        const rpc = await startRpc({ version, sandbox });
        const settled = rpc.waitForSettled();
        await rpc.prompt(TASK);
        await rpc.waitFor((record) => record.type === "tool_execution_start");
        await rpc.prompt("/workflow :pause");
        await settled;
        assert.equal(scripted.requests.length, 2);
        assert.equal(pauses(await rpc.entries()).at(-1)?.kind, "person");
        await rpc.close();
      });
    }

    test("the last answer is the user's to read, and a queued message is answered", async (t) => {
      const script = [
        step("next"),
        { text: "The file is missing.", delayMs: 1500 },
        { calls: [BASH] },
        { text: "I wait." },
      ];
      const { model: scripted, sandbox } = await stage(t, script, { globalFiles: GATED, files: FILES });
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt(TASK);
      await scripted.waitForRequests(2);
      // The user's message ends the pause: the agent goes on.
      await rpc.prompt("I have added it.", { streamingBehavior: "followUp" });
      await settled;
      assert.equal(scripted.requests.length, 4);
      assert.doesNotMatch(toolResults(scripted.requests[3]).at(-1) ?? "", /paused/);
      await rpc.close();
    });
  });
}
