// Context prompts, reminders, and the summaries that one phase hands over to the next.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, variants, VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText, messageTexts } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { step, toolResults, workflow } from "./harness/workflows.mjs";

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

/** Returns the messages of a request after the last answer of the model. @param {ChatRequest | undefined} request */
function told(request) {
  const messages = request?.messages ?? [];
  return messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1).flatMap(messageTexts);
}

/** @param {string} summary */
const hand = (summary) => ({
  calls: [{ name: "workflow_step", arguments: { action: "next", summary } }],
});

for (const version of VERSIONS) {
  suite(`pi ${version}: the phase's prompt`, { concurrency: 2 }, () => {
    test("is given once, then a reminder of at most 300 bytes", async (t) => {
      const { model, sandbox } = await stage(t, [REST, REST, REST, step("next"), REST, REST], { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      for (const words of ["One", "Two", "Now", "On"]) await rpc.promptAndSettle(words);
      const [first, second, third, moving, moved, last] = model.requests;
      assert.equal(copies(first, "plan"), 1);
      for (const request of [second, third, moving]) {
        assert.equal(copies(request, "plan"), 1);
        const reminder = told(request).at(-1) ?? "";
        assert.match(reminder, /^\[Workflow path: The hello ▸ 🔹 Plan\]\nStep 1\/3\. .* stand above/);
        assert.ok(Buffer.byteLength(reminder) <= 300);
      }
      assert.deepEqual([copies(moved, "plan"), copies(moved, "build")], [1, 1]);
      assert.match(toolResults(moved)[0], /^✓ Advanced: Plan → 🔹 Build\n/);
      assert.match(told(last).at(-1) ?? "", /^\[Workflow path: The hello ▸ 🔹 Build\]\nStep 2\/3\. .* stand above/);
      assert.equal(copies(last, "build"), 1);
      await rpc.close();
    });

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

    test("is given again after a compaction", async (t) => {
      const settings = { compaction: { enabled: true, keepRecentTokens: 10, reserveTokens: 100 } };
      const script = (/** @type {ChatRequest} */ request) => (request.tools?.length ? REST : { text: "What was." });
      const { model, sandbox } = await stage(t, script, { globalFiles: HELLO, settings });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.promptAndSettle("More");
      assert.equal((await rpc.send({ type: "compact" })).success, true);
      await rpc.promptAndSettle("Go on");
      assert.equal(copies(model.lastRequest(), "plan"), 1);
      assert.match(told(model.lastRequest()).at(-1) ?? "", /What to do in this phase/);
      await rpc.promptAndSettle("Go on");
      assert.equal(copies(model.lastRequest(), "plan"), 1);
      assert.match(told(model.lastRequest()).at(-1) ?? "", /stand above/);
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

    test("that is large for the window of the model is told once in a run", async (t) => {
      const { sandbox } = await stage(t, () => REST, { globalFiles: HELLO, modelConfig: { contextWindow: 500 } });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.promptAndSettle("More");
      const told = rpc.records.filter(({ method, message }) => method === "notify" && /context window/.test(message));
      assert.deepEqual(
        told.map(({ notifyType }) => notifyType),
        ["warning"],
      );
      assert.match(told[0].message, /^Workflow: the context window of .* has 500 tokens, and .* takes about \d{3}\./);
      await rpc.close();
    });

    test("is given again after navigation in the session tree, a fork and a resume", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: HELLO, files: TRAVEL });
      const extension = withTravel(sandbox);
      const rpc = await startRpc({ version, sandbox, extension });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.promptAndSettle("More");
      const all = async () => {
        await rpc.promptAndSettle("Where am I?");
        assert.match(told(model.lastRequest()).at(-1) ?? "", /What to do in this phase/);
        await rpc.promptAndSettle("And now?");
        assert.match(told(model.lastRequest()).at(-1) ?? "", /stand above/);
      };
      const answer = (await rpc.entries()).find(({ message }) => message?.role === "assistant");
      await rpc.prompt(`/go-tree ${answer.id}`);
      await all();
      const { messages } = (await rpc.send({ type: "get_fork_messages" })).data;
      const { entryId } = messages.find((/** @type {{ text: string }} */ { text }) => text === "And now?");
      assert.equal((await rpc.send({ type: "fork", entryId })).success, true);
      await all();
      await rpc.close();

      const resumed = await startRpc({ version, sandbox, args: ["--continue"] });
      await resumed.promptAndSettle("Go on");
      assert.match(told(model.lastRequest()).at(-1) ?? "", /What to do in this phase/);
      await resumed.close();
    });

    test("is given again after a reload only if its file changed", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: HELLO, files: TRAVEL });
      const extension = withTravel(sandbox);
      const rpc = await startRpc({ version, sandbox, extension });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.prompt("/go-reload");
      await rpc.promptAndSettle("More");
      assert.match(told(model.lastRequest()).at(-1) ?? "", /stand above/);
      const phase = "---\nid: plan\nname: Plan\nemoji: 🔹\n---\nDo plan for all.";
      writeFileSync(join(sandbox.agent, "workflows/hello/plan.md"), phase);
      await rpc.prompt("/go-reload");
      await rpc.promptAndSettle("More");
      assert.match(told(model.lastRequest()).at(-1) ?? "", /What to do in this phase:\*\*\nDo plan for all\./);
      await rpc.close();
    });
  });

  suite(`pi ${version}: summaries`, { concurrency: 2 }, () => {
    const RELEASE = {
      ...workflow(
        "outer",
        [
          { id: "a", instructions: "Do a." },
          "@inner",
          { id: "z", instructions: "Ship {summary.b}, {previousSummary}." },
        ],
        {
          autoContinue: false,
        },
      ),
      ...workflow("inner", ["b", "c"], { show: "workflows" }),
    };

    test("results go with the branch: a restart keeps them, a move back in the tree leaves them", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [REST, hand("First try"), REST, REST, REST], {
        globalFiles: RELEASE,
        files: TRAVEL,
      });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow outer Ship it");
      const before = (await first.entries()).findLast(({ message }) => message?.role === "assistant").id;
      await first.promptAndSettle("On");
      await first.close();

      const rpc = await startRpc({ version, sandbox, args: ["--continue"], extension: withTravel(sandbox) });
      await rpc.promptAndSettle("Go on");
      assert.match(told(model.lastRequest()).at(-1) ?? "", /### 🔹 A\nFirst try\n/);
      await rpc.prompt(`/go-tree ${before}`);
      await rpc.promptAndSettle("Again");
      assert.doesNotMatch(told(model.lastRequest()).at(-1) ?? "", /First try/);
      await rpc.close();
    });
  });
}
