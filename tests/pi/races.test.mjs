// A reload, a new session, a move in the tree, a fork and a compaction during a countdown, a dialog or a tool call.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { countdownLines, notices, states, statusTexts, step, waiting, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/rpc.mjs").Rpc} Rpc */

const HELLO = workflow("hello", ["plan", "build", "check"]);
const REST = { text: "I rest." };
/** Compacts nearly the whole conversation. */
const COMPACTION = { compaction: { enabled: true, keepRecentTokens: 10, reserveTokens: 100 } };
const PLAN = "The hello > 🔹 Plan [1/3]";
const BUILD = "The hello > 🔹 Build [2/3]";
const COUNTDOWN = "in a countdown";
const DIALOG = "during a dialog, whose answer comes too late";
const DIALOG_OF_TOOL = "during a dialog of a tool call";
const IN_CALL = "in a call of a tool";

/**
 * The status of a run in the phase Build after each of these operations. `npm test` tries each in one situation.
 *
 * @type {Record<string, { go: (rpc: Rpc) => Promise<any>, status?: string, quick: string }>}
 */
const WAYS = {
  "a reload": { go: (rpc) => rpc.prompt("/go-reload"), status: BUILD, quick: IN_CALL },
  "a new session": { go: (rpc) => rpc.send({ type: "new_session" }), quick: DIALOG },
  "a move in the tree": {
    go: async (rpc) => {
      const { id } = (await rpc.entries()).find(({ message }) => message?.role === "assistant");
      return rpc.prompt(`/go-tree ${id}`);
    },
    status: PLAN,
    quick: COUNTDOWN,
  },
  "a fork": {
    go: async (rpc) => {
      const { messages } = (await rpc.send({ type: "get_fork_messages" })).data;
      const { entryId } = messages.find((/** @type {{ text: string }} */ { text }) => text === "Go on");
      return rpc.send({ type: "fork", entryId });
    },
    status: PLAN,
    quick: DIALOG_OF_TOOL,
  },
  "a compaction": { go: (rpc) => rpc.send({ type: "compact" }), status: BUILD, quick: COUNTDOWN },
};

/**
 * A run that stopped in Plan, continued, and moved to Build; then the model answers with these steps.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {import("./harness/scripted-model.mjs").Step[]} script
 */
async function begun(t, version, script) {
  const answers = [REST, step("next"), ...script];
  let next = 0;
  const { model, sandbox } = await stage(
    t,
    // pi's request for a summary offers no tools.
    (request) => (request.tools?.length ? (answers[next++] ?? REST) : { text: "What was." }),
    { globalFiles: HELLO, pace: { delay_seconds: 1 }, files: TRAVEL, settings: COMPACTION },
  );
  const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox) });
  await rpc.promptAndSettle("/workflow hello Add a route");
  return { model, sandbox, rpc };
}

/** Returns the errors of extensions, except pi's refusal of an operation while the agent works. @param {Rpc} rpc */
function errors(rpc) {
  return rpc.extensionErrors().filter(({ error }) => !/^Wait for the current response to finish before /.test(error));
}

/**
 * Checks that the run is active and that the control commands work.
 * @param {Rpc} rpc
 * @param {string | undefined} status
 * @param {boolean} [waits] true if the run waits for the user
 */
async function isSound(rpc, status, waits = false) {
  const last = statusTexts(rpc).at(-1);
  const shown = last?.replace(/^⏸ (.*) \(paused: you stopped the agent\)$/, "$1");
  assert.equal(shown, status && waits ? waiting(status) : status);
  await rpc.prompt("/workflow :pause");
  assert.equal(statusTexts(rpc).at(-1)?.startsWith(`⏸ ${status} (paused: you `), status && true);
  await rpc.prompt("/cancel-workflow");
  assert.equal(notices(rpc).at(-1), status ? "info: Workflow cancelled." : "info: No active workflow to cancel.");
  assert.equal(statusTexts(rpc).at(-1), undefined);
  assert.deepEqual(errors(rpc), []);
}

/** Waits until the agent is idle. @param {Rpc} rpc */
async function isAtRest(rpc) {
  for (let tries = 0; (await rpc.state()).isStreaming; tries += 1) {
    assert.ok(tries < 80, "the agent is still at work");
    await sleep(50);
  }
}

for (const version of VERSIONS) {
  for (const [name, { go, status, quick }] of Object.entries(WAYS)) {
    const extent = (/** @type {string} */ situation) => (situation === quick ? {} : LONG);

    suite(`pi ${version}: ${name}`, { concurrency: 2 }, () => {
      test(COUNTDOWN, extent(COUNTDOWN), async (t) => {
        const { model, rpc } = await begun(t, version, [REST, REST]);
        await rpc.promptAndSettle("Go on");
        assert.equal(statusTexts(rpc).at(-1), BUILD);
        assert.match(countdownLines(rpc).at(-1) ?? "", /^⏳/);
        const told = model.requests.length;
        const response = await go(rpc);
        assert.equal(response.success, true, response.error);
        if (name === "a compaction") {
          // The run goes on in its phase.
          await model.waitForRequests(told + 2);
          await rpc.waitForSettled();
        } else {
          assert.equal(countdownLines(rpc).at(-1), undefined);
          await sleep(1300);
          assert.equal(model.requests.length, told, "no agent run starts");
        }
        await isSound(rpc, status, name !== "a compaction");
      });

      test(DIALOG, extent(DIALOG), async (t) => {
        const { rpc } = await begun(t, version, [REST]);
        await rpc.promptAndSettle("Go on");
        /** @type {(answer: boolean) => void} */
        let answer = () => {};
        rpc.onDialog(() => new Promise((resolve) => (answer = resolve)));
        void rpc.prompt("/workflow hello Something else");
        await rpc.waitFor(({ method }) => method === "confirm");
        const response = await go(rpc);
        assert.equal(response.success, true, response.error);
        if (name !== "a compaction") {
          answer(true);
          await sleep(200);
          const tasks = states(await rpc.entries()).map(({ taskDescription }) => taskDescription);
          assert.equal(tasks.includes("Something else"), false);
          await isSound(rpc, status, true);
          return;
        }
        // In the same session the answer still counts.
        const settled = rpc.waitForSettled();
        answer(true);
        await settled;
        assert.equal(statusTexts(rpc).at(-1), PLAN);
        assert.equal(states(await rpc.entries()).at(-1).taskDescription, "Something else");
        await isSound(rpc, PLAN);
      });

      // pi moves in the tree and reloads only while the agent is idle, so the run has gone on.
      const later = name === "a move in the tree" ? BUILD : status;

      test(DIALOG_OF_TOOL, extent(DIALOG_OF_TOOL), async (t) => {
        const { rpc } = await begun(t, version, [step("cancel"), step("cancel"), REST]);
        /** @type {(answer: boolean) => void} */
        let answer = () => {};
        rpc.onDialog(() => new Promise((resolve) => (answer = resolve)));
        void rpc.prompt("Go on");
        await rpc.waitFor(({ method }) => method === "confirm");
        const gone = go(rpc);
        await Promise.race([gone, sleep(300)]);
        answer(false);
        await gone;
        await isAtRest(rpc);
        await isSound(rpc, later, name === "a fork");
      });

      test(IN_CALL, extent(IN_CALL), async (t) => {
        const slow = { calls: [{ name: "bash", arguments: { command: "touch begun; sleep 1" } }] };
        const { sandbox, rpc } = await begun(t, version, [slow, REST]);
        void rpc.prompt("Go on");
        while (!existsSync(join(sandbox.project, "begun"))) await sleep(20);
        await go(rpc);
        await isAtRest(rpc);
        await isSound(rpc, later, name === "a fork");
      });
    });
  }
}
