// Panics of this package's component, built with the feature `fault-switch`, which the published component lacks.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { buildFaulty } from "../guests/faulty.mjs";
import { ALL, LONG, VERSIONS } from "./harness/extent.mjs";
import { REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { paceText } from "./harness/sandbox.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL } from "./harness/travel.mjs";
import {
  contextPrompt,
  notices,
  paths,
  states,
  statusTexts,
  step,
  toolResults,
  waiting,
  workflow,
} from "./harness/workflows.mjs";

/** @typedef {import("./harness/sandbox.mjs").Sandbox} Sandbox */

const HELLO = workflow("hello", [{ id: "plan", tools: { blacklist: ["bash"] } }, "build", "check"], {
  autoContinue: false,
});
const BROKEN_CALL = "The extension that decides about this call broke while it did. The call is refused; try again.";
const OFF_CALL =
  "The extension that decides about this call broke and is switched off. The call is refused; tell the user.";
const REST = { text: "I rest." };
/** Compacts nearly the whole conversation. */
const COMPACTION = { compaction: { enabled: true, keepRecentTokens: 10, reserveTokens: 100 } };
const SWITCH = "the fault switch is on";

const call = (/** @type {string} */ name, /** @type {object} */ parameters) => ({
  calls: [{ name, arguments: parameters }],
});
const read = call("read", { path: "no-such-file" });
const bash = call("bash", { command: "echo ran" });

/** The package's folder. */
let home = "";
before(async () => {
  if (ALL) home = await buildFaulty();
});

/** Makes the calls with these names panic. @param {Sandbox} sandbox @param {string} names */
function breakAt(sandbox, names) {
  sandbox.store({ fault: names, pace: paceText({ delay_seconds: 1 }) });
}

/** Returns the kind and the place of each panic in the notices to the user. @param {string[]} told */
function traps(told) {
  return told.flatMap((notice) => {
    const [, off, where] =
      /broke and (was started again|is switched off)[^]*: panicked at src\/component\/fault\.rs:\d+:\d+:\n(\S+): the fault switch is on$/.exec(
        notice,
      ) ?? [];
    return where ? [off === "is switched off" ? `off: ${where}` : where] : [];
  });
}

test("the published component has no fault switch", LONG, () => {
  const has = (/** @type {string} */ file) => readFileSync(file).includes(SWITCH);
  assert.equal(has(join(home, "host-shim/component/pi_workflows.core.wasm")), true);
  assert.equal(has(join(REPO, "host-shim/component/pi_workflows.core.wasm")), false);
});

for (const version of VERSIONS) {
  suite(`pi ${version}: a panic`, { concurrency: 2, ...LONG }, () => {
    test("during the check of a tool call refuses the call, with one notice, and the run goes on", async (t) => {
      const { model, sandbox } = await stage(t, [read, read, bash, step("next"), REST], { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox, extension: home });
      breakAt(sandbox, "tool-call");
      await rpc.promptAndSettle("/workflow hello Add a route");
      const [broken, again, refused, moved] = toolResults(model.lastRequest());
      assert.equal(broken, BROKEN_CALL);
      assert.match(again, /no-such-file/);
      assert.match(refused, /bash/);
      assert.doesNotMatch(refused, /^ran/);
      assert.match(moved, /^✓ Advanced: Plan → 🔹 Build\n/);
      assert.deepEqual(traps(notices(rpc)), ["tool-call"]);
      assert.deepEqual(paths(states(await rpc.entries())), ["hello:0", "hello:1"]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("in any other event has no effect, and the next event continues the run", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: HELLO, settings: COMPACTION });
      const rpc = await startRpc({ version, sandbox, extension: home });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const EVENTS = ["input", "before-agent-start", "agent-start", "turn-end", "agent-end", "agent-settled"];
      for (const name of EVENTS) {
        breakAt(sandbox, name);
        const from = notices(rpc).length;
        await rpc.promptAndSettle(`Go on after ${name}`);
        assert.deepEqual(traps(notices(rpc).slice(from)), [name]);
        assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Plan [1/3]"), name);
      }
      // A successful call resets the count of panics; after three the component is switched off.
      await rpc.prompt("/workflow :status");
      for (const [name, made] of Object.entries({
        "session-compact": () => rpc.send({ type: "compact" }),
        "run-command": () => rpc.prompt("/workflow :status"),
      })) {
        breakAt(sandbox, name);
        const from = notices(rpc).length;
        await made();
        assert.deepEqual(traps(notices(rpc).slice(from)), [name]);
        await rpc.prompt("/workflow :status");
      }
      await rpc.promptAndSettle("/workflow :next");
      assert.match(contextPrompt(model.lastRequest()) ?? "", /\n\*\*Current Phase:\*\* 🔹 Build\n/);
      assert.deepEqual(paths(states(await rpc.entries())), ["hello:0", "hello:1"]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("in the step tool or in an answer moves nothing; a second call does", async (t) => {
      const files = workflow("hello", [{ id: "plan", gate: [{ run: "true" }] }, "build"], { autoContinue: false });
      const { model, sandbox } = await stage(t, [step("next"), step("next"), step("next"), REST], {
        globalFiles: files,
      });
      const rpc = await startRpc({ version, sandbox, extension: home });
      breakAt(sandbox, "execute-tool resume-tool");
      await rpc.promptAndSettle("/workflow hello Add a route");
      const results = toolResults(model.lastRequest());
      assert.deepEqual(results.slice(0, 2), [BROKEN_CALL, BROKEN_CALL]);
      assert.match(results[2], /^✓ Advanced: Plan → 🔹 Build\n/);
      assert.deepEqual(traps(notices(rpc)), ["execute-tool", "resume-tool"]);
      assert.deepEqual(paths(states(await rpc.entries())), ["hello:0", "hello:1"]);
    });

    test("in a timer removes the countdown and starts no agent run", async (t) => {
      const files = workflow("hello", ["plan", "build"]);
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: files, pace: { delay_seconds: 1 } });
      const rpc = await startRpc({ version, sandbox, extension: home });
      breakAt(sandbox, "timer");
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.waitFor(({ method, message }) => method === "notify" && message.includes(SWITCH));
      const widget = rpc.ui("setWidget").findLast(({ widgetKey }) => widgetKey === "workflow-countdown");
      assert.equal(widget.widgetLines, undefined);
      assert.equal(model.requests.length, 1);
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Plan [1/2]"));
    });

    test("three times in a row makes the shim refuse tool calls until a reload or :cancel", async (t) => {
      const script = [read, REST, read, REST, read, read, REST, read, REST];
      const { model, sandbox } = await stage(t, script, { globalFiles: HELLO, files: TRAVEL });
      const rpc = await startRpc({ version, sandbox, extension: [home, join(sandbox.project, "travel.ts")] });
      breakAt(sandbox, "tool-call restarted!");
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.deepEqual(traps(notices(rpc)), ["off: tool-call"]);
      assert.equal(toolResults(model.lastRequest())[0], BROKEN_CALL);
      await rpc.promptAndSettle("Read it");
      assert.equal(toolResults(model.lastRequest()).at(-1), OFF_CALL);
      breakAt(sandbox, "");
      await rpc.prompt("/go-reload");
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Plan [1/3]"));
      breakAt(sandbox, "tool-call restarted!");
      const told = notices(rpc).length;
      await rpc.promptAndSettle("Read it twice");
      assert.deepEqual(toolResults(model.lastRequest()).slice(-2), [BROKEN_CALL, OFF_CALL]);
      assert.deepEqual(traps(notices(rpc).slice(told)), ["off: tool-call"]);
      breakAt(sandbox, "");
      await rpc.prompt("/workflow :cancel");
      assert.ok(notices(rpc).includes("info: Workflow cancelled."), notices(rpc).join("\n"));
      await rpc.promptAndSettle("Read it");
      assert.match(toolResults(model.lastRequest()).at(-1) ?? "", /no-such-file/);
      assert.equal(statusTexts(rpc).at(-1), undefined);
      assert.deepEqual(rpc.extensionErrors(), []);
    });
  });
}
