// The harness drives a plain pi of every version, also in `npm test`: the other tests depend on it.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { suite, test } from "node:test";
import { PI_VERSIONS, parseJsonLines, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { makeSandbox } from "./harness/sandbox.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";

const PLAIN = { extension: [], args: ["--no-extensions"] };

for (const version of PI_VERSIONS) {
  suite(`pi ${version}`, () => {
    test("print mode writes the scripted answer and leaves a session", async (t) => {
      const { model, sandbox } = await stage(t, [{ text: "Hello from the script." }]);
      const run = await runPrint({ ...PLAIN, version, sandbox, prompt: "Greet me" });
      assert.deepEqual(run, { code: 0, stdout: "Hello from the script.\n", stderr: "" });
      assert.match(model.messagesText(), /Greet me/);
      assert.deepEqual(model.toolNames(), ["read", "bash", "edit", "write"]);
      const roles = readSession(sandbox)
        .filter((entry) => entry.type === "message")
        .map((entry) => entry.message.role);
      assert.deepEqual(roles, ["system", "user", "assistant"]);
    });

    test("JSON mode writes records", async (t) => {
      const { sandbox } = await stage(t, []);
      const run = await runPrint({ ...PLAIN, version, sandbox, prompt: "Hello", mode: "json" });
      const records = parseJsonLines(run.stdout);
      assert.equal(records[0].type, "session");
      assert.equal(records.at(-1).type, "agent_settled");
      assert.match(run.stdout, /\(script ended\)/);
    });

    test("an HTTP error of the model ends a print run with its message", async (t) => {
      const { model, sandbox } = await stage(t, [{ status: 400, text: "the model is out for lunch" }]);
      const run = await runPrint({ ...PLAIN, version, sandbox, prompt: "Hello" });
      assert.equal(run.code, 1);
      assert.match(run.stderr, /the model is out for lunch/);
      assert.equal(model.requests.length, 1);
    });

    test("RPC: a call of a built-in tool returns its result; text with U+2028 stays in one piece", async (t) => {
      const { model, sandbox } = await stage(
        t,
        [{ calls: [{ name: "read", arguments: { path: "note.txt" } }] }, { text: "I have\u2028read it." }],
        { files: { "note.txt": "the secret is 42\n" } },
      );
      const rpc = await startRpc({ ...PLAIN, version, sandbox });
      await rpc.promptAndSettle("Read the note");
      assert.deepEqual(
        model.requests[1].messages.slice(-2).map((message) => message.role),
        ["assistant", "tool"],
      );
      assert.match(model.messagesText(1), /the secret is 42/);
      assert.deepEqual((await rpc.send({ type: "get_last_assistant_text" })).data, { text: "I have\u2028read it." });
      const roles = (await rpc.entries())
        .filter((entry) => entry.type === "message")
        .map((entry) => entry.message.role);
      assert.deepEqual(roles, ["system", "user", "assistant", "toolResult", "assistant"]);
      assert.equal(await rpc.close(), 0);
    });

    test("RPC: a hanging answer can be aborted, and a failing one retried", async (t) => {
      const { model, sandbox } = await stage(t, [{ text: "Well", hang: true }, { status: 500 }, { text: "At last." }], {
        settings: { retry: { enabled: true, baseDelayMs: 1 } },
      });
      const rpc = await startRpc({ ...PLAIN, version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("Hello");
      await model.waitForRequests(1);
      assert.equal((await rpc.send({ type: "abort" })).success, true);
      await settled;
      await rpc.promptAndSettle("Again");
      assert.deepEqual((await rpc.send({ type: "get_last_assistant_text" })).data, { text: "At last." });
      assert.equal(model.requests.length, 3);
    });

    test("the terminal shows the scripted answer and the completion popup", async (t) => {
      const { sandbox } = await stage(t, [{ text: "Hello, terminal." }]);
      const tui = await startTui({ ...PLAIN, version, sandbox });
      await tui.submit("Greet me");
      const screen = await tui.waitFor("Hello, terminal.");
      assert.match(screen, /Greet me/);
      await tui.type("/qui");
      await tui.waitFor(/→ quit/);
      assert.match(await tui.screenWithColors(), /\x1b\[/);
      await tui.press("Enter");
      assert.equal(await tui.waitForEnd(), 0);
    });
  });
}

test("a pi that does not start reports the reason", async (t) => {
  const { sandbox } = await stage(t, []);
  const missing = { sandbox, extension: "/no/such/extension" };
  await assert.rejects(startRpc(missing), /Extension path does not exist: \/no\/such\/extension/);
  await assert.rejects(startTui(missing), /Extension path does not exist: \/no\/such\/extension/);
});

test("the sandbox writes its files and removes them", async () => {
  const sandbox = makeSandbox({
    globalFiles: { "a/workflow.yaml": "name: A\n" },
    projectFiles: { "b/workflow.yaml": "name: B\n" },
  });
  assert.ok(existsSync(`${sandbox.agent}/workflows/a/workflow.yaml`));
  assert.ok(existsSync(`${sandbox.project}/.pi/workflows/b/workflow.yaml`));
  assert.deepEqual(Object.keys(sandbox.env()).sort(), ["HOME", "LANG", "PATH", "PI_CODING_AGENT_DIR", "TERM"]);
  await sandbox.dispose();
  assert.equal(existsSync(sandbox.root), false);
});
