// Calls that another tool makes: a script of pi's codemode, or any tool by `ctx.executeTool()`. Only the newest pi has
// them. pi's tarball lacks the interpreter of its scripts, quickjs-wasi: package.json has it in the version that pi
// demands, for these tests alone.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { lastPath } from "./harness/gates.mjs";
import { LONG } from "./harness/extent.mjs";
import { PI_VERSIONS, REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { contextPrompt, custom, pauses, toolResults, userTexts, workflow } from "./harness/workflows.mjs";

const [NEWEST] = PI_VERSIONS;
const TASK = "/workflow hello Add a route";
const REST = { text: "I rest." };
const NEXT = ["workflow_step", { action: "next" }];

/** A tool that calls other tools one after another and returns their results; `alone` does not wait for the result. */
const SCRIPT_TOOL = `
export default (pi) => pi.registerTool({
  name: "script", label: "Script", description: "Runs tools.",
  parameters: { type: "object", properties: { calls: { type: "array" } } },
  async execute(id, { calls }, signal, onUpdate, context) {
    const texts = [];
    for (const [name, input, alone] of calls) {
      const outcome = context.executeTool(name, input);
      if (alone) await new Promise((resolve) => setTimeout(resolve, 300));
      else texts.push((await outcome).result.content.map(({ text }) => text).join(""));
    }
    return { content: [{ type: "text", text: texts.join("\\n---\\n") }], details: {} };
  },
});
`;

/** @param {...unknown} calls */
const script = (...calls) => ({ calls: [{ name: "script", arguments: { calls } }] });

/**
 * @param {import("node:test").TestContext} t
 * @param {import("./harness/scripted-model.mjs").Step[]} steps
 * @param {Record<string, string>} globalFiles
 * @param {import("./harness/sandbox.mjs").Pace} [pace]
 */
async function withScripts(t, steps, globalFiles, pace) {
  const { model, sandbox } = await stage(t, steps, { globalFiles, pace });
  const rpc = await startRpc({ version: NEWEST, sandbox, extension: [REPO, scriptTool(sandbox)] });
  return { model, sandbox, rpc };
}

/** Returns the path of the extension with the tool. @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
function scriptTool(sandbox) {
  const path = join(sandbox.root, "script.js");
  writeFileSync(path, SCRIPT_TOOL);
  return path;
}

suite(`pi ${NEWEST}: nested calls`, { concurrency: 2 }, () => {
  test("that move the run return the instructions of the phase", async (t) => {
    const files = workflow("hello", ["plan", "build", "check"], { autoContinue: false });
    const { model, rpc } = await withScripts(t, [script(NEXT, NEXT), script(NEXT), REST, REST], files);
    await rpc.promptAndSettle(TASK);
    const [first, second] = model.requests.slice(1, 3);
    assert.match(
      toolResults(first)[0],
      /^✓ Advanced: Plan → 🔹 Build\n[^]*\n---\nThe workflow has moved already, by a call that another tool made/,
    );
    assert.doesNotMatch(toolResults(first)[0], /What to do in this phase/);
    assert.equal(first.messages.at(-1)?.role, "user");
    assert.match(contextPrompt(first) ?? "", /▸ 🔹 Build\]\n[^]*\nDo build for Add a route\./);
    assert.match(userTexts(second).at(-1) ?? "", /▸ 🔹 Check\]\n[^]*\nDo check for Add a route\./);
    assert.equal(lastPath(await rpc.entries()), "hello:2");
    // Only once: a later agent run gets a reminder.
    await rpc.promptAndSettle("Go on");
    assert.equal(userTexts(model.lastRequest()).filter((text) => text.includes("Do check for")).length, 1);
    assert.deepEqual(rpc.extensionErrors(), []);
    await rpc.close();
  });

  test("that move the run to a phase with a fresh context leave everything behind, and further calls have no effect", async (t) => {
    const files = workflow("hello", ["plan", { id: "build", context: "fresh" }, "check"], { autoContinue: false });
    const next = ["workflow_step", { action: "next", summary: "the plan" }];
    const calls = script(NEXT, next, next, ["bash", { command: "touch ran" }]);
    const { model, sandbox, rpc } = await withScripts(t, [calls, REST], files);
    await rpc.promptAndSettle(TASK);
    const { message } = (await rpc.entries()).find(({ message }) => message?.role === "toolResult");
    const [missing, moved, ...refused] = message.content[0].text.split("\n---\n");
    assert.match(missing, /^⚠️ The phase 🔹 Plan cannot be left without a summary/);
    assert.match(moved, /^✓ Advanced: Plan → 🔹 Build\n/);
    assert.equal(refused.length, 2);
    for (const text of refused) assert.match(text, /this call had no effect/);
    assert.equal(existsSync(join(sandbox.project, "ran")), false);
    assert.equal(lastPath(await rpc.entries()), "hello:1");
    const [summary, prompt, ...rest] = userTexts(model.lastRequest());
    assert.match(summary, /The workflow phase 🔹 Build starts with a fresh context/);
    assert.match(prompt, /### 🔹 Plan\nthe plan\n[^]*Do build for Add a route\./);
    assert.deepEqual([rest, toolResults(model.lastRequest())], [[], []]);
    assert.deepEqual(rpc.extensionErrors(), []);
    await rpc.close();
  });

  test("are checked one by one", async (t) => {
    const tools = { whitelist: ["script", "read"] };
    const files = workflow("hello", [{ id: "plan", tools }, "build"], { autoContinue: false });
    const calls = [
      ["bash", { command: "touch ran" }],
      ["read", { path: "nowhere" }],
      ["workflow_step", { action: "status" }],
    ];
    const { model, rpc } = await withScripts(t, [script(...calls), REST], files);
    await rpc.promptAndSettle(TASK);
    const [bash, read, status] = toolResults(model.lastRequest())[0].split("\n---\n");
    assert.match(bash, /The tool "bash" is blocked during the Plan phase/);
    assert.doesNotMatch(read, /blocked/);
    assert.match(status, /\*\*Workflow:\*\* The hello/);
    await rpc.close();
  });

  test("with a gate that the caller does not await leave a run that goes on", async (t) => {
    const files = workflow("hello", [{ id: "plan", gate: [{ run: "sleep 60" }] }, "build"]);
    const pace = { delay_seconds: 1, max_idle: 2 };
    const { model, rpc } = await withScripts(t, [script([...NEXT, true]), REST, REST, REST], files, pace);
    await rpc.promptAndSettle(TASK);
    await model.waitForRequests(4);
    assert.match(userTexts(model.requests[2]).join("\n"), /You must NOT stop yet/);
    await rpc.waitFor(() => rpc.ui("setStatus").some(({ statusText }) => /\(paused: /.test(statusText ?? "")), {
      what: "a pause",
    });
    const entries = await rpc.entries();
    assert.equal(lastPath(entries), "hello:0");
    assert.equal(pauses(entries).at(-1)?.kind, "idle");
    await rpc.close();
  });

  test("keep the agent in the phase while they run, whatever ids it gives its own calls", async (t) => {
    const files = workflow("hello", ["plan", "build"], { autoContinue: false });
    const bash = ["bash", { command: "touch begun; sleep 8; touch late" }, true];
    const steps = [
      script(bash),
      { calls: ["call_0_0/1", "call_0_0"].map((id) => ({ id, name: "read", arguments: { path: "x" } })) },
      { calls: ["call_0_0/1", "call_0_0"].map((id) => ({ id, name: "unknown", arguments: {} })) },
      { calls: [{ name: "workflow_step", arguments: { action: "next" } }] },
      REST,
    ];
    const { model, sandbox, rpc } = await withScripts(t, steps, files);
    await rpc.promptAndSettle(TASK);
    const results = toolResults(model.lastRequest());
    assert.match(results[1], /Another call with the same id is running/);
    assert.match(results.at(-1) ?? "", /The phase is not left while a tool call runs: `bash`/);
    assert.deepEqual([lastPath(await rpc.entries()), existsSync(join(sandbox.project, "late"))], ["hello:0", false]);
    await rpc.close();
  });

  test("that are awaited, and refused ones, leave the phase to the agent", async (t) => {
    const files = workflow("hello", [{ id: "plan", tools: { blacklist: ["write"] } }, "build"], {
      autoContinue: false,
    });
    const calls = [["write", { path: "x", content: "y" }, true], ["bash", { command: "touch ran" }], NEXT];
    const { sandbox, rpc } = await withScripts(t, [script(...calls), REST], files);
    await rpc.promptAndSettle(TASK);
    assert.equal(lastPath(await rpc.entries()), "hello:1");
    assert.equal(existsSync(join(sandbox.project, "ran")), true);
    await rpc.close();
  });

  test("of a script of codemode keep the agent in its phase, and a later script leaves it", LONG, async (t) => {
    const codemode = (/** @type {string} */ code) => ({ calls: [{ name: "codemode", arguments: { code } }] });
    const next = 'return await tools.workflow_step({ action: "next" });';
    const early = codemode(`tools.bash({ command: "sleep 2; touch late" }); ${next}`);
    const awaited = codemode(`await tools.bash({ command: "touch in-time" }); ${next}`);
    // pi may take a moment to end what the first script left behind.
    const script = (
      /** @type {import("./harness/scripted-model.mjs").ChatRequest} */ request,
      /** @type {number} */ index,
    ) => {
      if (index === 0) return early;
      return toolResults(request).at(-1)?.includes("✓ Advanced") ? REST : awaited;
    };
    const { model, sandbox } = await stage(t, script, {
      globalFiles: workflow("hello", ["plan", "build"], { autoContinue: false }),
      settings: { defaultTools: ["+codemode"] },
    });
    const rpc = await startRpc({ version: NEWEST, sandbox });
    await rpc.promptAndSettle(TASK);
    const results = toolResults(model.lastRequest());
    assert.match(results[0], /⚠️ The phase is not left while a tool call runs: `bash`\./);
    assert.match(results.at(-1) ?? "", /✓ Advanced: Plan → 🔹 Build/);
    assert.equal(lastPath(await rpc.entries()), "hello:1");
    await sleep(2500);
    assert.deepEqual(
      ["late", "in-time"].map((file) => existsSync(join(sandbox.project, file))),
      [false, true],
      "pi ends what a script leaves behind",
    );
    await rpc.close();
  });

  test("of codemode reach the tools that a whitelist allows", async (t) => {
    const call = (/** @type {string} */ name) => ({ calls: [{ name, arguments: { code: "return 1", calls: [] } }] });
    const phases = [
      { id: "plan", tools: { whitelist: ["read"] } },
      { id: "build", tools: { blacklist: ["codemode"] } },
    ];
    const steps = [call("codemode"), call("script"), REST, call("codemode"), REST];
    const { model, sandbox } = await stage(t, steps, {
      globalFiles: workflow("hello", phases, { autoContinue: false }),
      settings: { defaultTools: ["+codemode"], codemode: { mode: "only" } },
    });
    const tool = join(sandbox.root, "script.js");
    writeFileSync(tool, SCRIPT_TOOL.replace("name:", 'reachesTools: () => "all", name:'));
    const rpc = await startRpc({ version: NEWEST, sandbox, extension: [REPO, tool] });
    await rpc.promptAndSettle(TASK);
    assert.deepEqual(model.toolNames(0), ["codemode"]);
    const [codemode, other] = toolResults(model.lastRequest());
    assert.match(codemode, /Script completed/);
    assert.match(
      other,
      /The tool "script" is blocked|not found/,
      "a tool of an extension may do anything else besides",
    );
    await rpc.promptAndSettle("/workflow :next");
    assert.match(
      toolResults(model.lastRequest()).at(-1) ?? "",
      /The tool "codemode" is blocked during the Build phase/,
    );
    assert.equal(custom(await rpc.entries(), "workflow:state").at(-1).active, true);
    await rpc.close();
  });
});
