// Parallel groups: child agents work on the branches at the same time, under the rules of their phases.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { VERSIONS } from "./harness/extent.mjs";
import { progress } from "./harness/gates.mjs";
import { NODE, REPO, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { branchOf } from "./harness/branches.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import {
  contextPrompt,
  leave,
  notices,
  paths,
  phaseFile,
  states,
  toolResults,
  workflow,
} from "./harness/workflows.mjs";

/** @typedef {import("./harness/scripted-model.mjs").ChatRequest} ChatRequest */

/** A group of three reviewers, two at a time; issues lead back once. */
const REVIEWS = {
  id: "reviews",
  phases: ["bugs.md", "tests.md", "docs.md"],
  parallel: 2,
  outcomes: { issues: { to: "do", max: 1, then: "stop" }, clean: "next" },
};
const REVIEWER = { write: [], outcomes: { issues: "next", clean: "next" } };

/** @param {object} [group] @param {object} [reviewer] */
const review = (group = {}, reviewer = {}) => ({
  ...workflow("review", ["do"], { phases: ["do.md", { ...REVIEWS, ...group }, "last.md"] }),
  ...Object.fromEntries(
    ["bugs", "tests", "docs"].map((id) => [`review/${id}.md`, phaseFile({ id, ...REVIEWER, ...reviewer })]),
  ),
  "review/last.md": phaseFile({ id: "last" }),
});

/**
 * Plays the session and its children: each calls `next` with an outcome once.
 * @param {Record<string, string>} outcomes of the branches, by name
 */
const play = (outcomes) => (/** @type {ChatRequest} */ request) => {
  const branch = branchOf(request);
  const last = request.messages.at(-1);
  if (branch === undefined)
    return /→ DONE|stopped|^No active workflow/i.test(last ? messageText(last) : "")
      ? { text: "All done." }
      : leave("", { summary: "Did it." });
  return last?.role === "tool"
    ? { text: "My review is done." }
    : leave(outcomes[branch], { summary: `${branch}: ${outcomes[branch]}` });
};

/** The phases of the session, without repetitions. @param {any[]} entries */
const way = (entries) => paths(states(entries)).filter((path, index, all) => path !== all[index - 1]);

const CLI = join(REPO, "cli/pi-workflows.js");

/**
 * The runs that `pi-workflows runs` lists.
 *
 * @param {import("./harness/sandbox.mjs").Sandbox} sandbox
 * @param {string[]} more
 */
function runsOf(sandbox, ...more) {
  const told = execFileSync(NODE, [CLI, "runs", "--format", "json", ...more], {
    cwd: sandbox.project,
    env: sandbox.env(),
    encoding: "utf8",
  });
  return JSON.parse(told).runs;
}

/** The number of requests of each branch. @param {import("./harness/scripted-model.mjs").ScriptedModel} model */
function requestsOf(model) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const request of model.requests) {
    const branch = branchOf(request);
    if (branch !== undefined) counts[branch] = (counts[branch] ?? 0) + 1;
  }
  return counts;
}

const CLEAN = { Bugs: "clean", Tests: "clean", Docs: "clean" };

for (const version of VERSIONS) {
  suite(`pi ${version}: branches`, { concurrency: 2 }, () => {
    test("three reviewers work in sessions of their own, and their outcomes decide", async (t) => {
      const { model, sandbox } = await stage(t, play(CLEAN), { globalFiles: review() });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow review The task");
      const entries = await rpc.entries();
      assert.deepEqual(way(entries), ["review:0", "review:1", "review:2"], notices(rpc).join("\n"));
      const { branches } = progress(entries);
      const ended = ["Bugs", "Tests", "Docs"].map((name) => [name, { kind: "done", outcome: "clean" }]);
      assert.deepEqual(
        Object.values(branches).map(({ name, end }) => [name, end]),
        ended,
      );
      const results = toolResults(model.lastRequest());
      assert.match(results[0], /## Bugs: ended with clean[^]*Bugs: clean[^]*## Docs: ended with clean/);
      assert.deepEqual(requestsOf(model), { Bugs: 1, Tests: 1, Docs: 1 });
      const prompt = contextPrompt(model.requests.find((request) => branchOf(request) === "Bugs")) ?? "";
      assert.match(prompt, /\*\*Progress:\*\* Step 1 \(the only step of this branch\)\n/);
      assert.match(prompt, /- `issues`: the end of this branch:\n.*\n- `clean`: the end of this branch:\n/);
      assert.match(prompt, /call the workflow_step tool with action='next' to end the branch\.\n\n/);
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.deepEqual(
        notices(rpc).filter((line) => line.startsWith("error")),
        [],
      );
      for (const { session } of Object.values(branches)) {
        const header = JSON.parse(readFileSync(session, "utf8").split("\n")[0]);
        assert.equal(`${header.parentSession.replace(/\.jsonl$/, "")}.children`, dirname(session));
      }
      await rpc.close();
      const runs = runsOf(sandbox);
      assert.equal(runs.length, 1, "the sessions of children are parts of it");
      assert.equal(runs[0].usage.turns, 6, "three of the session, one of each child");
      assert.deepEqual(model.faults, []);
    });

    for (const mode of /** @type {const} */ (["text", "json"])) {
      test(`a run with branches goes to its end in ${mode} mode`, async (t) => {
        const { model, sandbox } = await stage(t, play(CLEAN), { globalFiles: review() });
        const run = await runPrint({ version, sandbox, mode, prompt: "/workflow review The task" });
        assert.equal(run.code, 0, run.stderr);
        assert.equal(run.stderr, "Workflow The review: DONE.\n");
        assert.deepEqual(requestsOf(model), { Bugs: 1, Tests: 1, Docs: 1 });
      });
    }

    test("in the terminal, :next into a group leaves the editor and Escape to the user while the branches work", async (t) => {
      /** @type {() => void} */
      let release = () => {};
      const held = new Promise((resolve) => (release = () => resolve(undefined)));
      const never = new Promise(() => {});
      const script = async (/** @type {ChatRequest} */ request) => {
        const branch = branchOf(request);
        if (JSON.stringify(request.messages.slice(-2)).includes("Hold on")) await never;
        if (branch === undefined) return { text: `I rest ${request.messages.length}.` };
        await (branch === "Docs" ? never : held);
        return play(CLEAN)(request);
      };
      const { model, sandbox } = await stage(t, script, { globalFiles: review() });
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow review The task");
      await tui.waitFor(/I rest \d/);
      await tui.submit("/workflow :next");
      await tui.waitFor(/Bugs: starts/);
      await tui.submit("Hello there");
      await tui.waitFor(/Hello there[^]*I rest \d/);
      const before = model.requests.length;
      await tui.submit("Hold on");
      await model.waitForRequests(before + 1);
      await tui.press("Escape");
      await tui.waitFor(/aborted/i);
      await tui.type("a word");
      await tui.waitFor("a word");
      await tui.press("Escape");
      await sleep(100);
      release();
      await tui.waitFor(/✓ Bugs: clean/);
      await tui.press("C-u");
      await tui.waitFor((screen) => !screen.includes("a word") && /● Docs/.test(screen));
      await tui.press("Escape");
      await tui.waitFor("The branches of");
      await tui.waitFor(/○ Docs: interrupted/);
      await tui.close();
    });
  });
}
