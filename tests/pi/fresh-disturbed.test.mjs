// A phase with `context: fresh` whose start is disturbed: by further calls, aborts, errors, messages, moves and the end
// of the run.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { QUIET, READ, REST, REVIEW, assertFresh, call, close, next, said, startFresh, text } from "./harness/fresh.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { lastPath } from "./harness/gates.mjs";
import { contextPrompt, workflow } from "./harness/workflows.mjs";

const WORKFLOWS = {
  ...workflow("hello", ["build", REVIEW, "ship"], QUIET),
  ...workflow("first", [{ id: "plan", context: "fresh" }, "build"], QUIET),
  ...workflow("other", [{ id: "find", context: "fresh" }, "build"], QUIET),
};
const bash = (/** @type {string} */ command) => ({ name: "bash", arguments: { command } });
const SLOW = { calls: [bash("sleep 0.4; echo the old work")] };

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A tool that ends with the command `release`, not with an abort. */
const LINGER = {
  "linger.ts": `export default (pi) => {
    let release = () => {};
    pi.registerTool({
      name: "linger", label: "linger", description: "Lingers.", parameters: { type: "object", properties: {} },
      execute: () => new Promise((resolve) => { release = () => resolve({ content: [{ type: "text", text: "the old work" }], details: {} }); }),
    });
    pi.registerCommand("release", { handler: async () => release() });
  };`,
};
const LINGERING = { calls: [{ name: "linger", arguments: {} }] };

/**
 * Resolves when the agent has settled twice from now on: its run, which a move of the user stopped with its calls, and
 * the run in the new phase.
 *
 * @param {import("./harness/rpc.mjs").Rpc} rpc
 */
function waitForSettledTwice(rpc) {
  const from = rpc.records.length;
  let times = 0;
  return rpc.waitFor(({ type }) => type === "agent_settled" && ++times === 2, { from, what: "a second agent_settled" });
}

/** Commands that send messages as another extension. */
const OTHER = {
  "other.ts": `export default (pi) => {
    pi.registerCommand("wake", { handler: async (text) => pi.sendMessage({ customType: "other", content: text, display: true }, { triggerTurn: true }) });
    pi.registerCommand("context", { handler: async () => {
      pi.on("context", ({ messages }) => ({ messages: [{ role: "user", content: "a memory", timestamp: 1 }, ...messages, { role: "user", content: "a reminder of another extension", timestamp: Date.now() }] }));
    } });
    pi.registerCommand("marks", { handler: async () => {
      const note = { role: "user", content: "a reminder of another extension", timestamp: 1 };
      const marked = (content) => (typeof content === "string" ? content + " (marked)" : [...content, { type: "text", text: "(marked)" }]);
      pi.on("context", ({ messages }) => ({ messages: [...messages.map((one) => ("content" in one ? { ...one, content: marked(one.content) } : one)), note, note] }));
    } });
  };`,
};

for (const version of VERSIONS) {
  suite(`pi ${version}: the start of a fresh context`, { concurrency: 2 }, () => {
    test("with more calls in the same answer", async (t) => {
      const { model, requests, play, start } = await startFresh(t, version, { globalFiles: WORKFLOWS });
      const rpc = await start();
      // Neither a second `next` nor a loop moves a run from a phase that the model has not seen.
      const twice = {
        calls: [
          bash("echo the old work"),
          ...next("the build").calls,
          ...next("the review").calls,
          call({ action: "loop" }),
          bash("echo the old work"),
        ],
      };
      play(READ, twice, REST);
      await rpc.promptAndSettle("/workflow hello The task");
      assert.equal(lastPath(await rpc.entries()), "hello:1");
      assertFresh(requests.at(-1), "review");
      assert.equal(said(requests.at(-1)).length, 1);
      const results = (await rpc.entries())
        .filter(({ message }) => message?.role === "toolResult")
        .map(({ message }) => message.content[0].text);
      assert.equal(results.length, 6);
      for (const result of results.slice(3))
        assert.match(result, /a phase that starts with a fresh context, which follows; this call had no effect/);

      // In the first turn of a phase that was entered at rest, calls count.
      await rpc.promptAndSettle("/workflow :back");
      play({ calls: [...next("the review").calls, bash("echo more")] }, REST);
      await rpc.promptAndSettle("/workflow :next");
      assert.equal(lastPath(await rpc.entries()), "hello:2");
      assert.doesNotMatch(text(requests.at(-1)), /the old work|Start The/);
      assert.match(text(requests.at(-1)), /Do ship for The task/);
      await close(rpc, model);
    });

    test("with an abort, an error and its repetition", async (t) => {
      const { model, requests, play, start } = await startFresh(t, version, {
        globalFiles: WORKFLOWS,
        files: LINGER,
        extensions: ["linger.ts"],
        settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 300 } },
      });
      const rpc = await start();
      // An abort in the first turn, of a phase entered at rest.
      play(READ, REST);
      await rpc.promptAndSettle("/workflow hello The task");
      play({ text: "I beg", hang: true });
      let count = model.requests.length;
      const aborted = rpc.waitForSettled();
      void rpc.prompt("/workflow :next");
      await model.waitForRequests(count + 1);
      await sleep(50);
      await rpc.send({ type: "abort" });
      await aborted;
      assertFresh(requests.at(-1), "review");
      await rpc.promptAndSettle("Go on");
      assertFresh(requests.at(-1), "review");

      // An abort in the turn that moves, which the move stops anyway, and in the first request after it.
      await rpc.send({ type: "new_session" });
      play(READ, LINGERING, { text: "I beg", hang: true }, REST);
      count = requests.length;
      const stopped = waitForSettledTwice(rpc);
      const begun = rpc.records.length;
      void rpc.prompt("/workflow hello The task");
      await rpc.waitFor(({ type, toolName }) => type === "tool_execution_start" && toolName === "linger", {
        from: begun,
      });
      const all = model.requests.length;
      await rpc.prompt("/workflow :next");
      const abort = rpc.send({ type: "abort" });
      await rpc.prompt("/release");
      await model.waitForRequests(all + 1);
      await sleep(50);
      await rpc.send({ type: "abort" });
      await stopped;
      await abort;
      await rpc.promptAndSettle("Go on");
      assert.equal(requests.length, count + 4);
      for (const request of requests.slice(-2)) {
        assertFresh(request, "review");
        assert.match(text(request), /The user moved the workflow on/);
        assert.equal(text(request).split("Do review for The task").length, 2);
      }

      // The first request fails and is repeated, at rest and at work.
      await rpc.send({ type: "new_session" });
      play(READ, REST);
      await rpc.promptAndSettle("/workflow hello The task");
      play({ status: 500, text: "overloaded" }, READ, REST);
      await rpc.promptAndSettle("/workflow :next");
      for (const request of requests.slice(-3, -1)) assertFresh(request, "review");
      assert.doesNotMatch(text(requests.at(-1)), /I rest/);
      play(next("the build"), { status: 500, text: "overloaded" }, REST);
      await rpc.promptAndSettle("/workflow :back");
      for (const request of requests.slice(-2)) assertFresh(request, "review");

      // The user moves the run while pi waits before it repeats a request of the phase before.
      await rpc.send({ type: "new_session" });
      play(READ, { status: 500, text: "overloaded" }, READ, REST);
      const settled = rpc.waitForSettled();
      const from = rpc.records.length;
      void rpc.prompt("/workflow hello The task");
      await rpc.waitFor(({ type }) => type === "auto_retry_start", { from });
      await rpc.prompt("/workflow :next");
      await settled;
      const repeated = requests.at(-2);
      assertFresh(repeated, "review");
      assert.doesNotMatch(text(requests.at(-1)), /Start The|I rest/);
      await close(rpc, model);
    });

    test("with messages and moves of the user at work", LONG, async (t) => {
      const { model, requests, play, start } = await startFresh(t, version, { globalFiles: WORKFLOWS });
      const rpc = await start();
      const at = async (/** @type {string} */ tool) =>
        rpc.waitFor(({ type, toolName }) => type === "tool_execution_start" && toolName === tool, { from: mark });
      let mark = rpc.records.length;

      // A steering message and a message for later, in the turn that moves.
      play({ calls: [...SLOW.calls, ...next("the build").calls] }, READ, REST);
      let settled = rpc.waitForSettled();
      void rpc.prompt("/workflow hello The task");
      await at("bash");
      await rpc.send({ type: "steer", message: "Look at the edges." });
      await rpc.send({ type: "follow_up", message: "And then rest." });
      await settled;
      const [first, second, third] = requests.slice(-3);
      assertFresh(first, "review");
      assert.match(text(first), /Do review for The task[^]*Look at the edges\./);
      assert.match(text(second), /Look at the edges\.[^]*the old work/);
      assert.match(text(third), /And then rest\./);

      // The user's own command, and a move, in a turn.
      await rpc.send({ type: "new_session" });
      play(SLOW, READ, REST);
      mark = rpc.records.length;
      const count = requests.length;
      settled = waitForSettledTwice(rpc);
      void rpc.prompt("/workflow hello The task");
      await at("bash");
      await rpc.send({ type: "bash", command: "echo mine" });
      await rpc.prompt("/workflow :next");
      await settled;
      assert.equal(requests.length, count + 3);
      assertFresh(requests.at(-2), "review");
      assert.match(text(requests.at(-2)), /The user moved the workflow on/);
      assert.equal(text(requests.at(-2)).split("Do review for The task").length, 2);

      // A move in the last turn, and one that an abort follows.
      for (const abort of [false, true]) {
        await rpc.send({ type: "new_session" });
        play(READ, { text: "I rest", delayMs: 400 }, REST);
        const count = model.requests.length;
        settled = rpc.waitForSettled();
        void rpc.prompt("/workflow hello The task");
        await model.waitForRequests(count + 2);
        await rpc.prompt("/workflow :next");
        if (abort) await rpc.send({ type: "abort" });
        await settled;
        if (abort) await rpc.promptAndSettle("Go on");
        assert.equal(model.requests.length, count + 3);
        assertFresh(requests.at(-1), "review");
        assert.match(text(requests.at(-1)), /The user moved the workflow on/);
      }

      await close(rpc, model);
    });

    test("with an image of the user, which each request has once", async (t) => {
      const { model, requests, play, start } = await startFresh(t, version, {
        globalFiles: workflow("hello", ["build", REVIEW, { id: "again", context: "fresh" }, "ship"], QUIET),
        modelConfig: { input: ["text", "image"] },
        settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 100 } },
      });
      const rpc = await start();
      play(READ, REST);
      await rpc.promptAndSettle("/workflow hello The task");
      await rpc.promptAndSettle("", { images: [{ type: "image", data: PNG, mimeType: "image/png" }] });
      const count = requests.length;
      // The first request fails and is repeated.
      play({ status: 500, text: "overloaded" }, READ, REST);
      await rpc.promptAndSettle("/workflow :next");
      await rpc.promptAndSettle("More");
      // A second fresh phase at work, then a shared one, and back at rest.
      play({ calls: next("again").calls }, READ, next("ship"), REST);
      await rpc.promptAndSettle("Go on");
      await rpc.promptAndSettle("/workflow :back");
      const seen = requests.slice(count);
      assert.equal(seen.length, 9);
      for (const [index, request] of seen.entries()) {
        assert.equal(JSON.stringify(request).split(PNG).length, 2, `request ${index}`);
        assert.doesNotMatch(text(request), /Start The|Do build/);
      }
      assert.match(text(seen[0]), /since the run began:\*\*\n\n- \(1 image, below\)/);
      await close(rpc, model);
    });

    test("with another extension that marks each message, and adds two", async (t) => {
      const { model, requests, play, start } = await startFresh(t, version, {
        globalFiles: WORKFLOWS,
        files: OTHER,
        extensions: ["other.ts"],
      });
      const rpc = await start();
      await rpc.prompt("/marks");
      play(READ, REST);
      await rpc.promptAndSettle("/workflow hello The task");
      play(READ, REST);
      await rpc.promptAndSettle("/workflow :next");
      const fresh = requests.at(-2);
      assertFresh(fresh, "review");
      assert.match(contextPrompt(fresh) ?? "", /^\[Workflow path: [^]*Do review/);
      assert.match(text(fresh), /The user moved the workflow on[^]*\(marked\)[^]*a reminder of another extension$/);
      await close(rpc, model);
    });

    test("with another extension that wakes the agent, and one that changes its view", LONG, async (t) => {
      const { model, requests, play, start } = await startFresh(t, version, {
        globalFiles: WORKFLOWS,
        files: OTHER,
        extensions: ["other.ts"],
      });
      const rpc = await start();
      play(READ, REST);
      await rpc.promptAndSettle("/workflow hello The task");
      await rpc.prompt("/workflow :pause");
      await rpc.prompt("/workflow :next");
      await rpc.promptAndSettle("/wake Wake up!");
      assertFresh(requests.at(-1), "review");
      assert.match(text(requests.at(-1)), /Wake up!/);

      await rpc.send({ type: "new_session" });
      await rpc.prompt("/context");
      play(READ, REST);
      await rpc.promptAndSettle("/workflow hello The task");
      play(READ, REST);
      await rpc.promptAndSettle("/workflow :next");
      assertFresh(
        {
          ...(requests.at(-2) ?? assert.fail()),
          messages: said(requests.at(-2)).filter((message) => !/a memory/.test(JSON.stringify(message))),
        },
        "review",
      );
      assert.match(text(requests.at(-2)), /The user moved the workflow on[^]*a reminder of another extension$/);
      await close(rpc, model);
    });
  });
}
