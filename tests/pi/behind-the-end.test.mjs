// Behind the end of a run or a branch the agent's run that belonged to it has no rights, however it ended.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { branchOf, panel, requestsOf } from "./harness/branches.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { bash, write } from "./harness/limited.mjs";
import { PI_VERSIONS, REPO, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { leave, states, storedResults, workflow } from "./harness/workflows.mjs";

const TASK = "/workflow hello Add a route";
/** @typedef {import("./harness/limited.mjs").Call} Call */

/** @type {{ write: string[], sandbox: "required" }} */
const LOOK_ONLY = { write: [], sandbox: "required" };
const ANOTHER = "And now write.";
const ENDED = /^\[workflow\] The workflow has ended: no more tools/;

/** A tool of another extension that writes a file; `script` makes calls of other tools. */
const OTHER_TOOLS = `
import { writeFileSync } from "node:fs";
const tool = (name, execute) => ({ name, label: name, description: name, parameters: { type: "object", properties: {} }, execute });
export default (pi) => {
  pi.registerTool(tool("touch", async () => {
    writeFileSync("by-touch", "");
    return { content: [{ type: "text", text: "done" }], details: {} };
  }));
  pi.registerTool(tool("script", async (id, { calls }, signal, onUpdate, context) => {
    const texts = [];
    for (const [name, input] of calls)
      texts.push((await context.executeTool(name, input)).result.content.map(({ text }) => text).join(""));
    return { content: [{ type: "text", text: texts.join("\\n") }], details: {} };
  }));
};
`;

/** Calls that each leave a file, and a call of a tool that pi does not know, which it refuses itself. */
const CALLS = [
  write("by-write"),
  bash("touch by-bash"),
  { name: "touch", arguments: {} },
  { name: "no_such_tool", arguments: {} },
];
const next = (more = {}) => ({ name: "workflow_step", arguments: { action: "next", ...more } });

/** @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
const written = (sandbox) =>
  ["by-write", "by-bash", "by-touch"].filter((name) => existsSync(join(sandbox.project, name)));

/**
 * A run of one phase that may write nothing. The model answers with these calls, and from then on with `CALLS`, until
 * it was asked for something else and has done it.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {Call[]} calls
 * @param {object} [fields] of the phase
 * @param {(index: number) => unknown} [before] is awaited before an answer
 * @param {object[]} [entries] behind the phase
 */
async function running(t, version, calls, fields = {}, before = () => {}, entries = []) {
  const { model, sandbox } = await stage(
    t,
    async ({ messages }, index) => {
      await before(index);
      const asked = messages.findIndex((message) => messageText(message) === ANOTHER);
      if (asked >= 0 && messages.slice(asked).some(({ role }) => role === "tool")) return { text: "I rest." };
      return { calls: index === 0 ? [...calls, ...CALLS] : CALLS };
    },
    {
      globalFiles: workflow("hello", [{ id: "look", ...LOOK_ONLY, ...fields }], {
        autoContinue: false,
        phases: ["look.md", ...entries],
      }),
    },
  );
  const other = join(sandbox.root, "other.ts");
  writeFileSync(other, OTHER_TOOLS);
  return { model, sandbox, extension: [REPO, other] };
}

/**
 * Ways in which the agent's own answer ends the run: calls, fields of the phase, and entries behind it.
 * @type {Record<string, [Call[], object?, object[]?]>}
 */
const OWN_ENDS = {
  "the last next": [[next()]],
  "an outcome that stops": [[next({ outcome: "bad" })], { outcomes: { bad: "stop" } }],
  "an outcome that is the end": [[next({ outcome: "good" })], { outcomes: { good: "done" } }],
  "the end of a budget: done": [[], { budget: { turns: 1 }, onBudget: "done" }],
  "the end of a budget: stop": [[], { budget: { turns: 1 }, onBudget: "stop" }],
  "a step that stops": [[next()], {}, [{ id: "check", run: "exit 1", outcomes: { failed: "stop" } }]],
  "a question that stops": [[next()], {}, [{ id: "go", ask: "Go on?", outcomes: { no: "stop", yes: "next" } }]],
  "cancel, which the user confirms": [[1, 2].map(() => ({ name: "workflow_step", arguments: { action: "cancel" } }))],
};

for (const version of VERSIONS) {
  suite(`pi ${version}: behind the end of a run`, { concurrency: 2 }, () => {
    for (const [name, [calls, fields, entries]] of Object.entries(OWN_ENDS)) {
      test(`nothing is written: ${name}`, async (t) => {
        const { model, sandbox, extension } = await running(t, version, calls, fields, undefined, entries);
        const onDialog = (/** @type {any} */ { options }) =>
          options?.find((/** @type {string} */ name) => name === "no") ?? true;
        const rpc = await startRpc({ version, sandbox, extension, onDialog });
        await rpc.promptAndSettle(TASK);
        assert.deepEqual(written(sandbox), []);
        assert.equal(states(await rpc.entries()).at(-1).active, false);
        assert.ok(storedResults(await rpc.entries()).some((text) => ENDED.test(text)));
        // The unknown tool would have kept the agent going.
        assert.equal(model.requests.length, 2, "one answer follows that which ended the run");
        await rpc.promptAndSettle(ANOTHER);
        assert.deepEqual(written(sandbox), ["by-write", "by-bash", "by-touch"], "the next message has all tools");
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      });
    }

    for (const command of ["/workflow :next", "/workflow :skip", "/workflow :cancel", "/cancel-workflow"]) {
      test(`nothing is written by the answer under way: ${command}`, async (t) => {
        /** @type {() => void} */
        let letGo = () => {};
        const ended = new Promise((resolve) => (letGo = () => resolve(undefined)));
        const { model, sandbox, extension } = await running(t, version, [], {}, () => ended);
        const rpc = await startRpc({ version, sandbox, extension });
        const settled = rpc.waitForSettled();
        await rpc.prompt(TASK);
        await model.waitForRequests(1);
        await rpc.prompt(command);
        letGo();
        await settled;
        assert.deepEqual([written(sandbox), model.requests.length], [[], 1]);
        await rpc.close();
      });
    }

    test("a message of the user that waits has its rights", async (t) => {
      /** @type {() => void} */
      let letGo = () => {};
      const queued = new Promise((resolve) => (letGo = () => resolve(undefined)));
      const { model, sandbox, extension } = await running(t, version, [next()], {}, () => queued);
      const rpc = await startRpc({ version, sandbox, extension });
      const settled = rpc.waitForSettled();
      await rpc.prompt(TASK);
      await model.waitForRequests(1);
      await rpc.send({ type: "steer", message: ANOTHER });
      letGo();
      await settled;
      assert.deepEqual(written(sandbox), ["by-write", "by-bash", "by-touch"]);
      assert.equal(storedResults(await rpc.entries()).filter((text) => ENDED.test(text)).length, 3);
      await rpc.close();
    });

    test("a message of an extension has none, whatever else waits", LONG, async (t) => {
      /** @type {() => void} */
      let letGo = () => {};
      const queued = new Promise((resolve) => (letGo = () => resolve(undefined)));
      const { model, sandbox, extension } = await running(t, version, [next()], {}, () => queued);
      // One message is taken by its handler of inputs; the other waits until the agent stops.
      const sender = join(sandbox.root, "sender.ts");
      writeFileSync(
        sender,
        `export default (pi) => {
          pi.on("input", ({ text }) => (text === "TAKEN" ? { action: "handled" } : undefined));
          pi.registerCommand("send", { description: "", handler: async () => {
            for (const text of ["TAKEN", "OF THE EXTENSION"]) pi.sendUserMessage(text, { deliverAs: "followUp" });
          } });
        };`,
      );
      const rpc = await startRpc({ version, sandbox, extension: [...extension, sender] });
      const settled = rpc.waitForSettled();
      await rpc.prompt(TASK);
      await model.waitForRequests(1);
      // pi refuses it, but its handlers of inputs have seen it.
      await rpc.prompt("Refused");
      await rpc.prompt("/send");
      await rpc.send({ type: "steer", message: ANOTHER });
      letGo();
      await settled;
      const results = storedResults(await rpc.entries());
      assert.equal(results.filter((text) => ENDED.test(text)).length, 3, "of the answer under way");
      assert.deepEqual(written(sandbox), ["by-write", "by-bash", "by-touch"], "by the message of the user");
      await rpc.close();
    });

    test("without a user interface", async (t) => {
      const { model, sandbox, extension } = await running(t, version, [next()]);
      const run = await runPrint({ version, sandbox, extension, prompt: TASK });
      assert.deepEqual([written(sandbox), model.requests.length], [[], 2], run.stderr);
    });

    test("of a branch", async (t) => {
      const { model, sandbox } = await stage(
        t,
        (request) => {
          if (branchOf(request) === undefined) {
            const told = messageText(/** @type {any} */ (request.messages.at(-1)));
            return /DONE/.test(told) ? { text: "I rest." } : leave("", { summary: "Did it." });
          }
          const isFirst = !request.messages.some(({ role }) => role === "tool");
          return { calls: [...(isFirst ? [next({ summary: "Looked." })] : []), ...CALLS] };
        },
        { globalFiles: panel(["one", "two"]) },
      );
      const other = join(sandbox.root, "other.ts");
      writeFileSync(other, OTHER_TOOLS);
      const rpc = await startRpc({ version, sandbox, extension: [REPO, other] });
      await rpc.promptAndSettle("/workflow panel The task");
      assert.deepEqual(written(sandbox), []);
      assert.equal(requestsOf(model).length, 2, "no answer follows that which ended a branch");
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });
  });
}

suite(`pi ${PI_VERSIONS[0]}: behind the end of a run`, () => {
  test("a call that ended the run from within another tool is followed by none", async (t) => {
    const calls = [next(), ...CALLS.slice(0, 3)].map(({ name, arguments: input }) => [name, input]);
    const script = { name: "script", arguments: { calls } };
    const tools = { whitelist: ["script"] };
    const { sandbox, extension } = await running(t, PI_VERSIONS[0], [script], { tools });
    const rpc = await startRpc({ version: PI_VERSIONS[0], sandbox, extension });
    await rpc.promptAndSettle(TASK);
    assert.deepEqual(written(sandbox), []);
    assert.equal(states(await rpc.entries()).at(-1).active, false);
    await rpc.close();
  });
});
