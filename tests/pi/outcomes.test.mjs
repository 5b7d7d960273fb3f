// Outcomes of phases and conditions of entries: where a run goes, and what its users and agents are told of it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { lastPath, progress } from "./harness/gates.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, leave, nextUntilDone, paths, states, step, toolResults, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };

/** Each outcome of `look` has another target. */
const TARGETS = { on: "next", round: "loop", end: "done", far: "ship", self: "look" };
const WAYS = workflow("ways", ["plan", { id: "look", outcomes: TARGETS }, "do", "ship"], QUIET);

/** A triage with a short path. */
const TRIAGE = [
  { id: "triage", outcomes: { small: "next", large: "next" } },
  { id: "design", when: { "outcome.triage": "large" } },
  { id: "do", instructions: "It is {outcome.triage}; the design is {outcome.design}, {outcome.nothing}." },
];
const SHORT = workflow("short", TRIAGE, QUIET);

/** A check that leads back twice, and then stops the run. */
const BOUNDED = workflow(
  "fix",
  ["do", { id: "check", outcomes: { ok: "next", issues: { to: "do", max: 2, then: "stop" } } }, "ship"],
  { ...QUIET, name: "Fix" },
);

/** A nested review that can stop the run, with a gate that is not passed. */
const STOPS = {
  ...workflow(
    "audit",
    [
      {
        id: "review",
        outcomes: { fine: "next", rejected: "stop" },
        outputs: { score: { type: "number" } },
        gate: [{ file: "never.txt" }],
      },
    ],
    { show: "workflows" },
  ),
  ...workflow("sign", ["read", "@audit", "ship"], { ...QUIET, name: "Sign-off" }),
};

/** The result of the newest call of a tool. @param {any} model */
const told = (model) => toolResults(model.lastRequest()).at(-1) ?? "";
/** The path of the run after each state, without repetitions. @param {any[]} entries */
const way = (entries) => paths(states(entries)).filter((path, index, all) => path !== all[index - 1]);
/** The outcomes, and the reasons of the entries that were passed over. @param {any[]} entries */
const marks = (entries) => {
  const { outcomes = {}, passedOver = {} } = progress(entries);
  return { outcomes, passedOver };
};

for (const version of VERSIONS) {
  suite(`pi ${version}: outcomes`, { concurrency: 2 }, () => {
    test("the prompt lists them, and `next` needs one of them", async (t) => {
      const calls = [step("next"), step("next"), leave("ond"), leave(" ON ", { summary: "Seen." }), REST];
      const { model, sandbox } = await stage(t, calls, { globalFiles: WAYS });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow ways The task");
      const list =
        "**Outcomes:** leave the phase with one of these:\n- `on`: the next phase\n- `round`: back to the first phase\n- `end`: the end of this workflow\n- `far`: the phase `ship`\n- `self`: the phase `look`\n" +
        'workflow_step {"action": "next", "summary": "<what you found or did>", "outcome": "<one of these outcomes>"}';
      const [advanced, missing, unknown, left] = toolResults(model.lastRequest());
      assert.ok(advanced.endsWith(`\n\n${list}`), advanced);
      assert.equal(missing, `⚠️ The phase 🔹 Look is left with an outcome.\n\n${list}`);
      assert.match(unknown, /^⚠️ `ond` is no outcome of the phase 🔹 Look\.\n/);
      assert.match(left, /^✓ Advanced with `on`: Look → 🔹 Do\n\n\*\*Previous:\*\* 🔹 Look\n/);
      assert.doesNotMatch(left, /Outcomes/);
      assert.deepEqual(marks(await rpc.entries()), { outcomes: { "ways:1": "on" }, passedOver: {} });
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("a bounded way leads elsewhere after its last time, also over a kill", async (t) => {
      const calls = [
        step("next"),
        leave("issues"),
        step("next"),
        REST,
        leave("issues"),
        step("next"),
        leave("issues"),
        REST,
      ];
      const { model, sandbox } = await stage(t, calls, { globalFiles: BOUNDED });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow fix The task");
      assert.deepEqual(progress(await first.entries()).ways, { "fix:1 issues": 1 });
      assert.match(
        toolResults(model.requests[1])[0],
        /\n- `issues`: the phase `do`, at most 2 times, then stops the whole workflow here:\n/,
      );
      await first.kill();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("Go on.");
      const entries = await rpc.entries();
      assert.deepEqual(way(entries), ["fix:0", "fix:1", "fix:0", "fix:1", "fix:0", "fix:1"]);
      assert.deepEqual(states(entries).at(-1).stopped, true);
      assert.match(told(model), /^⛔ The workflow is stopped: 🔹 Check was left with `issues`\./);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("a bounded way without another target pauses, and counts anew after the pause", LONG, async (t) => {
      const files = workflow(
        "fix",
        ["do", { id: "check", outcomes: { ok: "next", issues: { to: "do", max: 1 } } }, "ship"],
        { ...QUIET, name: "Fix" },
      );
      const calls = [step("next"), leave("issues"), step("next"), leave("issues"), REST, leave("issues"), REST];
      const { model, sandbox } = await stage(t, calls, { globalFiles: files });
      const { code, stderr } = await runPrint({ version, sandbox, prompt: "/workflow fix The task" });
      assert.deepEqual(
        [code, stderr],
        [1, "Workflow Fix: paused in 🔹 Check: “Check” was left with `issues` 1 time (max).\n"],
      );
      assert.match(told(model), /^The workflow is paused: “Check” was left with `issues` 1 time \(max\)\. Stop here/);
      const next = await runPrint({ version, sandbox, prompt: "/workflow :next issues", args: ["--continue"] });
      assert.match(
        next.stderr,
        /🔹 Check was left with `issues` 1 time \(max\)\. \/workflow :skip ID goes to any phase/,
      );
      await runPrint({ version, sandbox, prompt: "/workflow :resume", args: ["--continue"] });
      assert.deepEqual(way(readSession(sandbox)), ["fix:0", "fix:1", "fix:0", "fix:1", "fix:0"]);
    });

    test("a stopped run has the exit status 1 in print mode", async (t) => {
      const { sandbox } = await stage(t, [step("next"), leave("rejected"), REST], {
        globalFiles: {
          ...STOPS,
          "sign/workflow.yaml": `${STOPS["sign/workflow.yaml"]}completionMessage: "{workflowName}: {outcome} by {phaseName}"\n`,
        },
      });
      const { code, stderr } = await runPrint({ version, sandbox, prompt: "/workflow sign The task" });
      assert.equal(code, 1, stderr);
      assert.match(stderr, /Workflow Sign-off: stopped\./);
      assert.equal(custom(readSession(sandbox), "workflow:complete")[0].content, "Sign-off: rejected by Review");
    });

    const AGAIN = (/** @type {object} */ fields) =>
      workflow("again", ["do", { id: "review", outcomes: { clean: "next", issues: { to: "do", max: 1 } } }, "ship"], {
        ...QUIET,
        ...fields,
      });

    for (const mode of /** @type {const} */ (["text", "json"])) {
      test(`without a user interface the last line tells the pause (${mode})`, LONG, async (t) => {
        const round = [step("next"), leave("issues")];
        const { sandbox } = await stage(t, [...round, ...round, REST, leave("clean"), step("next"), REST], {
          globalFiles: AGAIN({ autoContinue: true }),
        });
        const run = await runPrint({ version, sandbox, mode, prompt: "/workflow again The task" });
        assert.deepEqual(
          [run.code, run.stderr],
          [1, "Workflow The again: paused in 🔹 Review: “Review” was left with `issues` 1 time (max).\n"],
        );
        const resumed = await runPrint({ version, sandbox, mode, prompt: "/workflow :resume", args: ["--continue"] });
        assert.deepEqual([resumed.code, resumed.stderr], [0, "Workflow The again: DONE.\n"]);
      });
    }
  });

  suite(`pi ${version}: conditions`, { concurrency: 2 }, () => {
    for (const mode of /** @type {const} */ (["text", "json"])) {
      test(`a run in which nothing is to do is not started (${mode})`, LONG, async (t) => {
        const files = workflow(
          "scoped",
          [
            { id: "web", when: { "input.scope": "web" } },
            { id: "@inner", when: { "input.scope": ["web", "all"] } },
          ],
          {
            inputs: { scope: { type: "choice", options: ["api", "web", "all"] } },
          },
        );
        const { model, sandbox } = await stage(t, nextUntilDone, {
          globalFiles: { ...files, ...workflow("inner", ["look"], { show: "workflows" }) },
        });
        const run = await runPrint({ version, sandbox, mode, prompt: "/workflow scoped scope=api The task" });
        const error =
          "The scoped has nothing to do: the conditions of no phase hold.\n  input.scope is api, not web\n  input.scope is api, not web or all\n";
        assert.deepEqual([run.code, run.stderr, model.requests.length], [1, error, 0]);
        const other = await runPrint({ version, sandbox, mode, prompt: "/workflow scoped scope=all The task" });
        assert.deepEqual([other.code, other.stderr], [0, "Workflow The scoped: DONE.\n"]);
        assert.deepEqual(way(readSession(sandbox))[0], "scoped:1 inner:0");
      });
    }

    test("a kill between the outcome and the condition loses nothing", LONG, async (t) => {
      const files = workflow("short", [TRIAGE[0], "between", TRIAGE[1], TRIAGE[2]], QUIET);
      let killed = false;
      const script = (/** @type {any} */ request, /** @type {number} */ index) => {
        if (index === 0) return leave("small");
        if (!killed) return { text: "", hang: true };
        return toolResults(request).some((text) => text.startsWith("✓ Advanced: Between")) ? REST : step("next");
      };
      const { sandbox } = await stage(t, script, { globalFiles: files });
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow short The task");
      await rpc.waitFor(({ type, toolName }) => type === "tool_execution_end" && toolName === "workflow_step");
      await rpc.kill();
      killed = true;
      const later = await startRpc({ version, sandbox, args: ["--continue"] });
      await later.promptAndSettle("Go on.");
      assert.equal(lastPath(await later.entries()), "short:3");
      assert.deepEqual(Object.keys(marks(await later.entries()).passedOver), ["short:2"]);
    });

    test("in the terminal: the panel, `:next OUTCOME`, and `:graph`", async (t) => {
      const { sandbox } = await stage(t, () => REST, { globalFiles: SHORT });
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow :panel");
      await tui.waitFor("The panel shows the phases of the next run.");
      await tui.submit("/workflow short The task");
      await tui.waitFor("I rest.");
      await tui.submit("/workflow :next small");
      await tui.waitFor(/⤼ 2\. 🔹 Design {2}outcome\.triage is small, not large/);
      await tui.submit("/workflow :graph");
      await tui.waitFor(
        (screen) => /1\. 🔹 Triage/.test(screen) && /passed over: outcome\.triage is small/.test(screen),
      );
    });
  });
}
