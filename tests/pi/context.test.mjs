// The context prompt in the requests of a run, and after compactions by pi.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { variants, VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { step, workflow } from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["plan", "build", "check"], { autoContinue: false });
const REST = { text: "I rest." };

/** @typedef {import("./harness/scripted-model.mjs").ChatRequest} ChatRequest */

/**
 * Returns how often a request contains the instructions of a phase.
 *
 * @param {ChatRequest | undefined} request
 * @param {string} id
 */
function copies(request, id) {
  const text = (request?.messages ?? []).map(messageText).join("\n");
  return text.split(`**What to do in this phase:**\nDo ${id} for`).length - 1;
}

for (const version of VERSIONS) {
  suite(`pi ${version}: the phase's prompt`, { concurrency: 2 }, () => {
    test("leaves the earlier messages of a run byte for byte as they were", async (t) => {
      const read = { calls: [{ name: "read", arguments: { path: "note.txt" } }] };
      const script = [read, step("status"), read, REST, read, step("next"), read, REST];
      const { model, sandbox } = await stage(t, script, { globalFiles: HELLO, projectFiles: {} });
      writeFileSync(join(sandbox.project, "note.txt"), "a note");
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.promptAndSettle("More");
      assert.equal(model.requests.length, 8);
      for (const [index, request] of model.requests.slice(1).entries()) {
        const before = model.requests[index].messages.map((message) => JSON.stringify(message));
        const now = request.messages.slice(0, before.length).map((message) => JSON.stringify(message));
        assert.deepEqual(now, before, `request ${index + 1}`);
      }
      await rpc.close();
    });

    // With this usage pi compacts before the next request.
    const full = (/** @type {import("./harness/scripted-model.mjs").Step} */ answer) => ({
      ...answer,
      usage: { prompt: 7800 },
    });
    /** The answers before a compaction. @type {Record<string, (index: number) => object>} */
    const COMPACTED = {
      "one turn": (index) => (index === 0 ? full(step("status")) : step("status")),
      "each turn": () => full(step("status")),
      "a turn that moves the run": (index) => (index === 0 ? full(step("next")) : step("status")),
      "an answer that does not fit": (index) =>
        index === 1 ? { status: 400, text: "maximum context length is 8000 tokens" } : step("status"),
      "a turn in which the user says something": (index) =>
        index === 0 ? full({ calls: [{ name: "bash", arguments: { command: "sleep 1" } }] }) : step("status"),
    };
    for (const what of variants(Object.keys(COMPACTED)))
      test(`is in the request after a compaction in the middle of a run: ${what}`, async (t) => {
        const settings = { compaction: { enabled: true, keepRecentTokens: 10, reserveTokens: 500 } };
        let working = 0;
        const script = (/** @type {ChatRequest} */ request) => {
          if (!request.tools?.length) return { text: "What was." };
          working += 1;
          return working < 6 ? COMPACTED[what](working - 1) : REST;
        };
        const { model, sandbox } = await stage(t, script, {
          globalFiles: HELLO,
          settings,
          modelConfig: { contextWindow: 8000 },
        });
        const rpc = await startRpc({ version, sandbox });
        await rpc.prompt("/workflow hello Add a route");
        if (what.includes("user says")) {
          await rpc.waitFor(({ type }) => type === "tool_execution_start");
          await rpc.send({ type: "steer", message: "Mind the tests." });
        }
        await rpc.waitFor(({ type }) => type === "agent_settled");
        const types = rpc.records.map(({ type }) => type);
        assert.ok(types.includes("compaction_end"));
        assert.equal(types.filter((type) => type === "agent_settled").length, 1);
        const phase = what.includes("moves") ? "build" : "plan";
        const work = model.requests.filter(({ tools }) => tools?.length);
        const expected = work.map((_, index) => (phase === "plan" || index > 0 ? 1 : 0));
        assert.deepEqual(
          work.map((request) => copies(request, phase)),
          expected,
        );
        assert.equal(work.length, 6, "no request that nobody needs");
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      });
  });
}
