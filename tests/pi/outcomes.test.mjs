// Outcomes of phases and conditions of entries: where a run goes, and what its users and agents are told of it.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { lastPath, progress } from "./harness/gates.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import {
  contextPrompt,
  custom,
  leave,
  nextUntilDone,
  notices,
  paths,
  pauses,
  states,
  step,
  storedResults,
  toolResults,
  workflow,
} from "./harness/workflows.mjs";

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

/** `check` ends with `clean` or `issues`; its entry, and a second one of the same file, say where that leads. */
const SHARED = {
  ...workflow("check", [{ id: "look", outcomes: { clean: "next", issues: "next" } }], { show: "workflows" }),
  ...workflow(
    "shared",
    [
      "do",
      { id: "@check", entry: { id: "first", label: "First look", outcomes: { issues: "do", clean: "polish" } } },
      { id: "@check", entry: { id: "second", label: "Second look", outcomes: { issues: "first" } } },
      { id: "polish", instructions: "The looks: {outcome.first}, {outcome.second}." },
      { id: "again", outcomes: { ok: "next", no: "next" }, entry: { label: "The last", outcomes: { no: "second" } } },
    ],
    { ...QUIET, maxLoops: 2 },
  ),
};

/** A check that leads back twice, and then stops the run. */
const BOUNDED = workflow(
  "fix",
  ["do", { id: "check", outcomes: { ok: "next", issues: { to: "do", max: 2, then: "stop" } } }, "ship"],
  { ...QUIET, name: "Fix" },
);

/** A nested review that can stop the run, with gates that are not passed. */
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
    { show: "workflows", gate: [{ file: "never.txt" }] },
  ),
  ...workflow("sign", ["read", "@audit", "ship"], { ...QUIET, name: "Sign-off", gate: [{ file: "never.txt" }] }),
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
const isDone = (/** @type {any[]} */ entries) => !states(entries).at(-1).active;

for (const version of VERSIONS) {
  suite(`pi ${version}: outcomes`, { concurrency: 2 }, () => {
    test("the prompt lists them, and `next` needs one of them", async (t) => {
      const calls = [step("next"), step("next"), leave("ond"), leave("ON"), leave(" on ", { summary: "Seen." }), REST];
      const { model, sandbox } = await stage(t, calls, { globalFiles: WAYS });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow ways The task");
      const list =
        "- `on`: the next phase\n- `round`: back to the first phase\n- `end`: the end of this workflow\n- `far`: the phase `ship`\n- `self`: the phase `look`";
      const [advanced, missing, unknown, spelled, left] = toolResults(model.lastRequest());
      assert.ok(
        advanced.includes(`\n**Outcomes:** with \`next\`, give workflow_step one of these as \`outcome\`:\n${list}\n`),
        advanced,
      );
      assert.equal(
        missing,
        `⚠️ The phase 🔹 Look is left with an outcome. Call workflow_step with action='next' again and give it an \`outcome\`:\n${list}`,
      );
      assert.match(unknown, /^⚠️ `ond` is no outcome of the phase 🔹 Look\. /);
      assert.match(spelled, /^⚠️ `ON` is no outcome of the phase 🔹 Look\. /);
      assert.match(left, /^✓ Advanced with `on`: Look → 🔹 Do\n\n\*\*Previous:\*\* 🔹 Look\n/);
      assert.doesNotMatch(left, /Outcomes/);
      assert.deepEqual(marks(await rpc.entries()), { outcomes: { "ways:1": "on" }, passedOver: {} });
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("an entry has an id and a label of its own, and says where the outcome of a nested workflow leads", async (t) => {
      const calls = [
        step("next"),
        leave("issues"),
        step("next"),
        leave("clean"),
        step("next"),
        leave("no"),
        leave("issues"),
        REST,
        leave("issues"),
        REST,
      ];
      const { model, sandbox } = await stage(t, calls, { globalFiles: SHARED });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow shared The task");
      const entries = await rpc.entries();
      const taken = [
        "shared:0",
        "shared:1 check:0",
        "shared:0",
        "shared:1 check:0",
        "shared:3",
        "shared:4",
        "shared:2 check:0",
      ];
      assert.deepEqual(way(entries), taken, "two ways back; the third pauses");
      const results = toolResults(model.lastRequest());
      assert.match(results[1], /^✓ Exited subworkflow, returning to The shared with `issues`: Look → 🔹 Do\n/);
      assert.match(
        results[3],
        /^✓ .*: Look → 🔹 Polish\nPassed over: Second look \(`clean` of first leads past it\)\n/,
      );
      assert.match(results[5], /^✓ .* with `no`: The last → 🔹 Look\n/);
      assert.match(results[0], /First look/);
      assert.match(results[3], /The looks: clean, \(none\)\./);
      assert.deepEqual(progress(entries).paused.reason.scope, "/shared");
      await rpc.promptAndSettle("/workflow :resume");
      assert.deepEqual(
        way(await rpc.entries()),
        [...taken, "shared:1 check:0"],
        "the count of the outer workflow begins anew",
      );
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("`stop` ends the whole run, gates unchecked, with a message that says where and why", async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), leave("rejected"), REST, REST], { globalFiles: STOPS });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow sign The task");
      const entries = await rpc.entries();
      assert.match(
        told(model),
        /^⛔ The workflow is stopped: 🔹 Review was left with `rejected`\. Stop here, and tell the user why\.$/,
      );
      const [end] = custom(entries, "workflow:complete");
      assert.match(end.content, /^⛔ Sign-off was stopped in 🔹 Review: rejected\n\n\*\*Task:\*\* The task\n/);
      const state = states(entries).at(-1);
      assert.deepEqual(
        [state.active, state.stopped, state.cancelled, state.completionNotified],
        [false, true, true, true],
      );
      assert.equal(model.requests.length, 3, "the agent is not told to go on");
      assert.equal(rpc.ui("setStatus").at(-1)?.statusText, undefined);
      await rpc.prompt("/workflow :resume");
      assert.match(notices(rpc).at(-1) ?? "", /^info: No active workflow\.$/);
      assert.equal(model.requests.length, 3);
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
        /\n- `issues`: the phase `do`, at most 2 times, then stops the whole workflow here\n/,
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

    test("a bounded way without another target pauses, and counts anew after the pause", async (t) => {
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
          "sign/workflow.yaml": `${STOPS["sign/workflow.yaml"]}stopMessage: "{workflowName}: {outcome} by {phaseName}"\n`,
        },
      });
      const { code, stderr } = await runPrint({ version, sandbox, prompt: "/workflow sign The task" });
      assert.equal(code, 1, stderr);
      assert.match(stderr, /Workflow Sign-off: stopped\./);
      assert.equal(custom(readSession(sandbox), "workflow:complete")[0].content, "Sign-off: rejected by Review");
    });

    for (const [outcome, arrives, head, passed] of /** @type {[string, string, string, string[]][]} */ ([
      ["on", "ways:2", "✓ Advanced with `on`: Look → 🔹 Do", []],
      ["round", "ways:0", "✓ Went back with `round`: Look → 🔹 Plan", []],
      ["self", "ways:1", "✓ Went back with `self`: Look → 🔹 Look", []],
      [
        "far",
        "ways:3",
        "✓ Advanced with `far`: Look → 🔹 Ship\nPassed over: Do (`far` of look leads past it)",
        ["ways:2"],
      ],
      ["end", "ways:1", "✓ Advanced with `end`: Look → DONE", ["ways:2", "ways:3"]],
    ])) {
      test(`\`${TARGETS[/** @type {keyof typeof TARGETS} */ (outcome)]}\` as a target`, LONG, async (t) => {
        const { model, sandbox } = await stage(t, [step("next"), leave(outcome), REST], { globalFiles: WAYS });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle("/workflow ways The task");
        const entries = await rpc.entries();
        assert.ok(told(model).startsWith(`${head}\n`), told(model));
        assert.equal(lastPath(entries), arrives);
        assert.equal(isDone(entries), outcome === "end");
        assert.deepEqual(Object.keys(marks(entries).passedOver), passed);
        assert.equal(marks(entries).outcomes["ways:1"], outcome);
        const loops = outcome === "round" || outcome === "self" ? { "/ways": 1 } : undefined;
        assert.deepEqual(progress(entries).loops, loops);
      });
    }

    test("gates come first, and a check of an outcome is made for it only", async (t) => {
      const gate = [
        { run: "echo always >> made", label: "always" },
        { run: "echo far >> made; test -e ready", label: "ready", outcome: "far" },
      ];
      const files = workflow(
        "ways",
        [{ id: "look", outcomes: { on: "next", far: "ship", again: "look" }, gate, gateAttempts: 9 }, "do", "ship"],
        QUIET,
      );
      const ready = { calls: [{ name: "bash", arguments: { command: "touch ready" } }] };
      const calls = [step("next"), leave("far"), leave("again"), ready, leave("far"), REST];
      const { model, sandbox } = await stage(t, calls, { globalFiles: files });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow ways The task");
      const results = toolResults(model.lastRequest());
      const prompt = contextPrompt(model.requests[0]) ?? "";
      assert.ok(
        prompt.includes(
          "\n- always: `echo always >> made` ends with exit status 0\n- with outcome `far`: ready: `echo far >> made; test -e ready` ends with exit status 0\n",
        ),
        prompt,
      );
      assert.match(results[0], /^⚠️ The phase 🔹 Look is left with an outcome\./);
      assert.match(results[1], /ready/);
      assert.match(results[2], /^✓ Went back with `again`: Look → 🔹 Look\n/);
      assert.match(results[4], /^✓ Advanced with `far`: Look → 🔹 Ship\n/);
      assert.equal(readFileSync(join(sandbox.project, "made"), "utf8"), "always\nfar\nalways\nalways\nfar\n");
      assert.deepEqual(marks(await rpc.entries()).outcomes, { "ways:0": "far" });
    });

    test("the gate of a nested workflow has checks for the outcome with which it ends", async (t) => {
      const gate = [
        { run: "echo clean >> made", label: "clean", outcome: "clean" },
        { run: "echo each >> made", label: "each" },
      ];
      const files = {
        ...workflow("outer", ["@inner", "ship"], QUIET),
        ...workflow("inner", [{ id: "review", outcomes: { clean: "done", late: "done", on: "next" } }, "tidy"], {
          show: "workflows",
          gate,
        }),
      };
      for (const [outcome, made, arrives] of [
        ["clean", "clean\neach\n", "outer:1"],
        ["late", "each\n", "outer:1"],
        ["on", "", "outer:0 inner:1"],
      ]) {
        const { sandbox } = await stage(t, [leave(outcome), REST], { globalFiles: files, files: { made: "" } });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle("/workflow outer The task");
        assert.equal(readFileSync(join(sandbox.project, "made"), "utf8"), made);
        assert.equal(lastPath(await rpc.entries()), arrives);
      }
    });

    const AGAIN = (/** @type {object} */ fields) =>
      workflow("again", ["do", { id: "review", outcomes: { clean: "next", issues: "do" } }, "ship"], {
        ...QUIET,
        ...fields,
      });

    for (const [name, resume] of [
      ["`:resume`", "/workflow :resume"],
      ["a message", "Once more."],
    ]) {
      test(`after \`maxLoops\` loops the run pauses, and ${name} allows as many again`, LONG, async (t) => {
        const round = [step("next"), leave("issues")];
        const { sandbox } = await stage(t, [...round, ...round, leave("clean"), leave("issues"), ...round, REST], {
          globalFiles: AGAIN({ maxLoops: 1 }),
        });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle("/workflow again The task");
        const reason = "“Review” leads back with `issues`, after 1 loop (maxLoops)";
        const results = storedResults(await rpc.entries());
        assert.equal(results[3], `The workflow is paused: ${reason}. Stop here and wait for the user.`);
        assert.equal(
          results[4],
          `The workflow is paused: ${reason}. Stop here and wait for the user.`,
          "another outcome is no way out",
        );
        assert.equal(
          notices(rpc).at(-1),
          `warning: ⏸ The again is paused in 🔹 Review: ${reason}.\nYour next message resumes it, or /workflow :resume.`,
        );
        assert.equal(lastPath(await rpc.entries()), "again:1");
        await rpc.kill();
        const later = await startRpc({ version, sandbox, args: ["--continue"] });
        assert.deepEqual(pauses(await later.entries()).at(-1), {
          kind: "loops",
          of: "Review",
          outcome: "issues",
          times: 1,
        });
        await later.promptAndSettle(resume);
        assert.deepEqual(way(await later.entries()).slice(-3), ["again:1", "again:0", "again:1"]);
        assert.deepEqual(pauses(await later.entries()).at(-1), {
          kind: "loops",
          of: "Review",
          outcome: "issues",
          times: 1,
        });
      });
    }

    test("with `onMaxLoops: next` it goes on then", async (t) => {
      const round = [step("next"), leave("issues")];
      const { model, sandbox } = await stage(t, [...round, ...round, ...round, REST], {
        globalFiles: AGAIN({ maxLoops: 2, onMaxLoops: "next" }),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow again The task");
      const entries = await rpc.entries();
      assert.deepEqual(way(entries), ["again:0", "again:1", "again:0", "again:1", "again:0", "again:1", "again:2"]);
      assert.match(told(model), /^✓ Advanced with `issues`: Review → 🔹 Ship\n/);
      assert.deepEqual([progress(entries).loops, progress(entries).paused], [{ "/again": 2 }, undefined]);
    });

    test("after `maxLoops` loops the user is told what is left", async (t) => {
      const { sandbox } = await stage(t, () => REST, { globalFiles: AGAIN({ maxLoops: 1 }) });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow again The task");
      for (const control of [":next", ":next issues", ":next"]) await rpc.promptAndSettle(`/workflow ${control}`);
      await rpc.prompt("/workflow :next issues");
      assert.equal(
        notices(rpc).at(-1),
        "warning: The again allows 1 loop (maxLoops), and there were as many. /workflow :skip ID goes to any of its phases.",
      );
      await rpc.promptAndSettle("/workflow :skip do");
      assert.equal(lastPath(await rpc.entries()), "again:0");
    });

    test("templates have them, also those of a nested workflow", async (t) => {
      const files = {
        ...workflow(
          "outer",
          [
            "plan",
            "@review",
            { id: "fix", when: { "outcome.review": "issues" } },
            { id: "ship", instructions: "Review: {outcome.review}, check: {outcome.check}, plan: {outcome.plan}." },
          ],
          {
            ...QUIET,
            completionMessage: "The review was {outcome.review}.",
          },
        ),
        ...workflow(
          "review",
          [
            "read",
            { id: "check", outcomes: { clean: "next", issues: "done" } },
            { id: "praise", when: { "outcome.check": "clean" } },
          ],
          { show: "workflows" },
        ),
      };
      for (const [outcome, shown] of [
        ["issues", ["outer:0", "outer:1 review:0", "outer:1 review:1", "outer:2", "outer:3"]],
        ["clean", ["outer:0", "outer:1 review:0", "outer:1 review:1", "outer:1 review:2", "outer:3"]],
      ]) {
        const calls = [
          step("next"),
          step("next"),
          leave(/** @type {string} */ (outcome)),
          step("next"),
          step("next"),
          REST,
        ];
        const { model, sandbox } = await stage(t, calls, { globalFiles: files });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle("/workflow outer The task");
        const entries = await rpc.entries();
        assert.deepEqual(way(entries).slice(0, 5), shown);
        // The workflow that ends with another phase than Check has no outcome.
        const of = outcome === "issues" ? "issues" : "(none)";
        const last = toolResults(model.lastRequest()).find((text) => text.includes("\nReview: "));
        assert.match(
          last ?? "",
          new RegExp(`\\nReview: ${of.replace(/[()]/g, "\\$&")}, check: \\{outcome\\.check\\}, plan: \\(none\\)\\.\\n`),
        );
        assert.match(
          custom(entries, "workflow:complete")[0].content,
          new RegExp(`^The review was ${of.replace(/[()]/g, "\\$&")}\\.`),
        );
        assert.equal(marks(entries).outcomes["outer:1"], outcome === "issues" ? "issues" : undefined);
      }
    });

    test("`:next OUTCOME` and `:skip ID` go where the user wants", async (t) => {
      const files = workflow(
        "ways",
        [
          { id: "plan", outcomes: { on: "next", far: "ship" } },
          { id: "design", when: { "outcome.plan": "far" } },
          "do",
          "ship",
        ],
        QUIET,
      );
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: files });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow ways The task");
      await rpc.prompt("/workflow :next fa");
      assert.equal(
        notices(rpc).at(-1),
        "warning: `fa` is no outcome of 🔹 Plan. Did you mean `far`? There are on, far.",
      );
      await rpc.promptAndSettle("/workflow :next far");
      assert.equal(lastPath(await rpc.entries()), "ways:3");
      assert.deepEqual(Object.keys(marks(await rpc.entries()).passedOver), ["ways:1", "ways:2"]);
      await rpc.prompt("/workflow :next far");
      assert.equal(notices(rpc).at(-1), "warning: The phase 🔹 Ship has no outcomes: /workflow :next goes on.");
      await rpc.prompt("/workflow :skip desgin");
      assert.equal(
        notices(rpc).at(-1),
        "warning: The ways has no phase `desgin`. Did you mean `design`? There are plan, design, do, ship.",
      );
      await rpc.promptAndSettle("/workflow :skip plan");
      assert.equal(lastPath(await rpc.entries()), "ways:0");
      // Without an outcome `:next` goes to the next entry whose conditions hold.
      await rpc.promptAndSettle("/workflow :next");
      assert.equal(lastPath(await rpc.entries()), "ways:2");
      await rpc.promptAndSettle("/workflow :skip design");
      assert.equal(lastPath(await rpc.entries()), "ways:1", "whatever its conditions");
      assert.match(contextPrompt(model.lastRequest()) ?? "", /^\[Workflow path: The ways ▸ 🔹 Design\]\n/);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("a fresh phase that an outcome leads to needs a summary", async (t) => {
      const files = workflow(
        "ways",
        [{ id: "look", outcomes: { on: "next", far: "judge" } }, "do", { id: "judge", context: "fresh" }],
        QUIET,
      );
      const calls = [leave("far"), leave("far", { summary: "It is late." }), REST];
      const { model, sandbox } = await stage(t, calls, { globalFiles: files });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow ways The task");
      assert.match(toolResults(model.requests[1])[0], /^⚠️ The phase 🔹 Look cannot be left without a summary\./);
      const fresh = model.lastRequest();
      assert.deepEqual(toolResults(fresh), []);
      assert.match(contextPrompt(fresh) ?? "", /▸ 🔹 Judge\]\n[^]*### 🔹 Look\nIt is late\.\n/);
    });

    for (const mode of /** @type {const} */ (["text", "json"])) {
      test(`without a user interface the last line tells the pause (${mode})`, LONG, async (t) => {
        const round = [step("next"), leave("issues")];
        const { sandbox } = await stage(t, [...round, ...round, REST, leave("clean"), step("next"), REST], {
          globalFiles: AGAIN({ maxLoops: 1, autoContinue: true }),
        });
        const run = await runPrint({ version, sandbox, mode, prompt: "/workflow again The task" });
        assert.deepEqual(
          [run.code, run.stderr],
          [1, "Workflow The again: paused in 🔹 Review: “Review” leads back with `issues`, after 1 loop (maxLoops).\n"],
        );
        const resumed = await runPrint({ version, sandbox, mode, prompt: "/workflow :resume", args: ["--continue"] });
        assert.deepEqual([resumed.code, resumed.stderr], [0, "Workflow The again: DONE.\n"]);
      });
    }
  });

  suite(`pi ${version}: conditions`, { concurrency: 2 }, () => {
    test("an entry whose condition does not hold is passed over, and everybody is told why", async (t) => {
      const { model, sandbox } = await stage(t, [leave("small"), REST, REST], { globalFiles: SHORT });
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow :panel");
      await rpc.promptAndSettle("/workflow short The task");
      const because = "outcome.triage is small, not large";
      assert.ok(
        told(model).startsWith(`✓ Advanced with \`small\`: Triage → 🔹 Do\nPassed over: Design (${because})\n`),
        told(model),
      );
      assert.ok(
        told(model).includes(`\n  1. 🔹 Triage\n  2. 🔹 Design (passed over: ${because})\n▸ 3. 🔹 Do (current)\n`),
        told(model),
      );
      assert.ok(told(model).includes("\nIt is small; the design is (none), {outcome.nothing}.\n"), told(model));
      const passed = {
        name: "Design",
        step: 1,
        kind: "condition",
        of: "outcome.triage",
        value: "small",
        wanted: ["large"],
      };
      assert.deepEqual(marks(await rpc.entries()), {
        outcomes: { "short:0": "small" },
        passedOver: { "short:1": passed },
      });
      await rpc.prompt("/workflow :status");
      const { content } = custom(await rpc.entries(), "workflow:status").at(-1);
      assert.match(content, /\n✓ 1\. 🔹 Triage .*, outcome small\n/);
      assert.ok(content.includes(`\n⤼ 2. 🔹 Design  passed over: ${because}\n`), content);
      const panel =
        rpc.ui("setWidget").findLast(({ widgetKey }) => widgetKey !== "workflow-countdown")?.widgetLines ?? [];
      assert.ok(panel.includes(`⤼ 2. 🔹 Design  ${because}`), panel.join("\n"));
      assert.ok(
        panel.some((/** @type {string} */ line) => /^✓ 1\. 🔹 Triage {2}small {2}/.test(line)),
        panel.join("\n"),
      );
    });

    test("the end tells what was done, skipped and passed over, also behind a nested workflow", async (t) => {
      const files = {
        ...workflow(
          "ends",
          [TRIAGE[0], "plan", "do", "@inner", { id: "ship", when: { "outcome.triage": "large" } }],
          QUIET,
        ),
        ...workflow("inner", ["inside"], { ...QUIET, show: "workflows" }),
      };
      const { model, sandbox } = await stage(
        t,
        [leave("small"), step("next"), REST, REST, REST, REST, step("next"), REST],
        { globalFiles: files },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow ends The task");
      assert.equal(lastPath(await rpc.entries()), "ends:2");
      await rpc.promptAndSettle("/workflow :back");
      await rpc.prompt("/workflow :status");
      const marked = () =>
        custom(entries, "workflow:status")
          .at(-1)
          .content.match(/^[✓▸○⤼] \d+\. 🔹 \w+/gm);
      let entries = await rpc.entries();
      assert.deepEqual(
        marked().slice(0, 3),
        ["✓ 1. 🔹 Triage", "▸ 2. 🔹 Plan", "○ 3. 🔹 Do"],
        "a phase that is not finished has no ✓",
      );
      await rpc.promptAndSettle("/workflow :skip do");
      await rpc.promptAndSettle("/workflow :next");
      await rpc.promptAndSettle("Go on.");
      entries = await rpc.entries();
      assert.equal(isDone(entries), true);
      assert.match(told(model), /→ DONE\nPassed over: Ship \(outcome\.triage is small, not large\)\n/);
      const end = custom(entries, "workflow:complete").at(-1)?.content ?? "";
      assert.match(end, /\n\*\*Phases completed:\*\* 3\n\*\*Skipped:\*\* 🔹 Plan\n\*\*Passed over:\*\* 🔹 Ship\n/);
      await rpc.prompt("/workflow :report");
      assert.doesNotMatch(custom(await rpc.entries(), "workflow:report").at(-1).content, /ends:4/);
    });

    test("`:back` goes into an entry that was passed over", async (t) => {
      const { model, sandbox } = await stage(t, [leave("small"), REST, REST, step("next"), REST], {
        globalFiles: SHORT,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow short The task");
      await rpc.promptAndSettle("/workflow :back");
      assert.equal(lastPath(await rpc.entries()), "short:1");
      assert.deepEqual(marks(await rpc.entries()).passedOver, {});
      assert.match(contextPrompt(model.lastRequest()) ?? "", /▸ 🔹 Design\]\n/);
      await rpc.promptAndSettle("Go on.");
      assert.equal(lastPath(await rpc.entries()), "short:2");
    });

    test("the agent cannot pass over an entry by its own wish", async (t) => {
      const { model, sandbox } = await stage(t, [leave("large"), leave("small"), step("next"), REST], {
        globalFiles: SHORT,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow short The task");
      const results = toolResults(model.lastRequest());
      assert.match(results[0], /^✓ Advanced with `large`: Triage → 🔹 Design\n/);
      // An outcome that the phase does not have is ignored where the phase has none.
      assert.match(results[1], /^✓ Advanced: Design → 🔹 Do\n/);
      assert.deepEqual(marks(await rpc.entries()).passedOver, {});
    });

    const SCOPED = workflow(
      "scoped",
      [
        { id: "web", when: { "input.scope": "web" } },
        { id: "both", outcomes: { good: "next", bad: "next" } },
        { id: "api", when: { "input.scope": ["api", "all"], "outcome.both": ["bad", "good"] } },
        { id: "late", when: { "input.issue": 12 } },
      ],
      {
        ...QUIET,
        inputs: {
          scope: { type: "choice", options: ["api", "web", "all"], default: "api" },
          issue: { type: "number", default: 12.0 },
        },
      },
    );

    for (const [values, visited] of /** @type {[string, string[]][]} */ ([
      ["", ["scoped:1", "scoped:2", "scoped:3"]],
      ["scope=web issue=1", ["scoped:0", "scoped:1"]],
      ["scope=all issue=12.00", ["scoped:1", "scoped:2", "scoped:3"]],
    ])) {
      test(`conditions on inputs: ${values || "the defaults"}`, LONG, async (t) => {
        const script = (/** @type {any} */ request) => {
          const answer = nextUntilDone(request);
          return "calls" in answer ? leave("bad") : answer;
        };
        const { sandbox } = await stage(t, script, { globalFiles: SCOPED });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle(`/workflow scoped ${values} The task`);
        const entries = await rpc.entries();
        assert.deepEqual(way(entries).slice(0, visited.length), visited);
        assert.equal(isDone(entries), true);
      });
    }

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

    test("a kill between the outcome and the condition loses nothing", async (t) => {
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

    for (const [name, file, from, to] of [
      ["a condition", "workflow.yaml", '"large"', '["large","small"]'],
      ["a target", "triage.md", '"large":"next"', '"large":"do"'],
      ["`onMaxLoops`", "workflow.yaml", "name:", "onMaxLoops: next\nname:"],
    ]) {
      test(`while the run is in progress, a change of ${name} holds it`, LONG, async (t) => {
        const { model, sandbox } = await stage(t, [REST, leave("small"), REST, leave("small"), REST], {
          globalFiles: SHORT,
        });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle("/workflow short The task");
        const path = join(sandbox.agent, "workflows/short", file);
        const before = readFileSync(path, "utf8");
        assert.ok(before.includes(from), before);
        writeFileSync(path, before.replace(from, to));
        await rpc.prompt("/workflow :check");
        await rpc.promptAndSettle("Go on.");
        assert.match(told(model), /^The workflow is paused: its rules are no longer those with which it was started\./);
        assert.equal(lastPath(await rpc.entries()), "short:0");
        writeFileSync(path, before);
        await rpc.prompt("/workflow :check");
        await rpc.promptAndSettle("Go on.");
        assert.equal(lastPath(await rpc.entries()), "short:2");
      });
    }

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
      await tui.waitFor((screen) => /Triage/.test(screen) && /Design/.test(screen) && /DONE/.test(screen));
    });
  });
}
