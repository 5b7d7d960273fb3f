// Parallel groups: child agents work on the branches at the same time, under the rules of their phases.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { progress } from "./harness/gates.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { branchOf } from "./harness/branches.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { leave, notices, paths, phaseFile, states, toolResults, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/scripted-model.mjs").ChatRequest} ChatRequest */

/** A group of three reviewers, two at a time; issues lead back once. */
const REVIEWS = { id: "reviews", phases: ["bugs.md", "tests.md", "docs.md"], parallel: 2, decide: ["issues", "clean"], outcomes: { issues: { to: "do", max: 1, then: "stop" }, clean: "next" } };
const REVIEWER = { write: [], outcomes: { issues: "next", clean: "next" } };

/** @param {object} [group] @param {object} [reviewer] */
const review = (group = {}, reviewer = {}) => ({
  ...workflow("review", ["do"], { phases: ["do.md", { ...REVIEWS, ...group }, "end.md"] }),
  ...Object.fromEntries(["bugs", "tests", "docs"].map((id) => [`review/${id}.md`, phaseFile({ id, ...REVIEWER, ...reviewer })])),
  "review/end.md": phaseFile({ id: "end" }),
});

/**
 * Plays the session and its children: each calls `next` with an outcome once.
 * @param {Record<string, string>} outcomes of the branches, by name
 */
const play = (outcomes) => (/** @type {ChatRequest} */ request) => {
  const branch = branchOf(request);
  const last = request.messages.at(-1);
  if (branch === undefined) return /→ DONE|→ stopped/.test(last ? messageText(last) : "") ? { text: "All done." } : leave("", { summary: "Did it." });
  return last?.role === "tool" ? { text: "My review is done." } : leave(outcomes[branch], { summary: `${branch}: ${outcomes[branch]}` });
};

/** The phases of the session, without repetitions. @param {any[]} entries */
const way = (entries) => paths(states(entries)).filter((path, index, all) => path !== all[index - 1]);

for (const version of VERSIONS) {
  suite(`pi ${version}: branches`, { concurrency: 2 }, () => {
    test("three reviewers work in sessions of their own, and their outcomes decide", async (t) => {
      const { model, sandbox } = await stage(t, play({ Bugs: "clean", Tests: "clean", Docs: "clean" }), { globalFiles: review() });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow review The task");
      const entries = await rpc.entries();
      assert.deepEqual(way(entries), ["review:0", "review:1", "review:2"], notices(rpc).join("\n"));
      const { branches } = progress(entries);
      assert.deepEqual(Object.values(branches).map(({ name, end }) => [name, end]), ["Bugs", "Tests", "Docs"].map((name) => [name, { kind: "done", outcome: "clean" }]));
      const results = toolResults(model.lastRequest());
      assert.match(results[0], /## Bugs: ended with clean[^]*Bugs: clean[^]*## Docs: ended with clean/);
      assert.equal(model.requests.filter((request) => branchOf(request) !== undefined).length, 6);
      assert.deepEqual(rpc.extensionErrors(), []);
      for (const { session } of Object.values(branches)) {
        const header = JSON.parse(readFileSync(session, "utf8").split("\n")[0]);
        assert.ok(header.parentSession.endsWith(".jsonl"));
      }
      assert.deepEqual(model.faults, []);
    });
  });
}
