// A component other than this package's, loaded through the same shim, in plain Node and in pi.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { buildHello } from "../guests/hello.mjs";
import { VERSIONS } from "../pi/harness/extent.mjs";
import { runPrint } from "../pi/harness/pi.mjs";
import { startRpc } from "../pi/harness/rpc.mjs";
import { messageText } from "../pi/harness/scripted-model.mjs";
import { stage } from "../pi/harness/stage.mjs";
import { builtGuest, loadInto, standIn } from "./pi-stand-in.mjs";

/** @typedef {import("../pi/harness/scripted-model.mjs").ScriptedModel} ScriptedModel */

/** The message to the user after a panic. */
const PANIC = (/** @type {string} */ words) =>
  new RegExp(`^hello-guest broke and was started again: panicked at tests/guests/hello\\.rs:\\d+:\\d+:\\n${words}$`);
const BROKEN_CALL = "The extension that decides about this call broke while it did. The call is refused; try again.";

const COMMANDS =
  "hello say remind note newest choose run run-briefly cancel keep recall forget look again child children end-child flag boom trap guard".split(
    " ",
  );

/** The package's folder. */
let home = "";
before(async () => {
  home = await buildHello("hello");
});

/** Loads the guest into the stand-in and starts a session. */
function loaded() {
  const pi = loadInto(standIn(), builtGuest(home));
  const calls = pi.did();
  return { pi, calls };
}

suite("in plain Node", () => {
  test("registrations reach pi, and the guest restores the session", () => {
    const { pi, calls } = loaded();
    assert.deepEqual(calls, [
      ...COMMANDS.map((name) => ["register command", name]),
      ["register tool", "greet"],
      ["register tool", "run"],
      ["register flag", "greet"],
      ["register entry", "hello:greeting"],
      ["register message", "hello:note"],
      ["setStatus", "hello", "0 greetings"],
    ]);
    assert.deepEqual([...pi.handlers.keys()].sort(), [
      "agent_end",
      "before_agent_start",
      "context",
      "input",
      "message_update",
      "session_compact",
      "session_shutdown",
      "session_start",
      "tool_call",
      "tool_execution_end",
      "tool_execution_start",
      "turn_start",
    ]);
  });

  test("another version of the interface is refused with the error that jco throws", () => {
    const imports = new Proxy({}, { get: () => new Proxy({}, { get: () => () => {} }) });
    const guest = builtGuest(home)(imports)["pi:extension/guest@0.8.0"];
    assert.throws(
      () => guest.init({ interfaceVersion: "0.1.0" }),
      (/** @type {any} */ error) => {
        assert.deepEqual(error.payload, { tag: "version-mismatch", val: "0.8.0" });
        return true;
      },
    );
  });

  test("an input event during the call that sends the message is delivered after the call", async () => {
    const { pi } = loaded();
    pi.behaviour.sendUserMessage = () => {
      pi.emit("input", { text: "Hi", source: "extension" });
      pi.emit("input", { text: "Hi", source: "extension" });
    };
    await pi.command("say", "Hi");
    await Promise.resolve();
    assert.deepEqual(pi.did(), [
      ["sendUserMessage", "Hi", { deliverAs: "followUp" }],
      ["notify", "Said it.", "info"],
      ["setStatus", "hello-inputs", "1 inputs"],
      ["setStatus", "hello-inputs", "2 inputs"],
    ]);
  });

  test("a tool call during another call is decided after that call", async () => {
    const { pi } = loaded();
    /** @type {unknown} */
    let decision;
    pi.behaviour.notify = () => {
      decision = pi.emit("tool_call", { toolCallId: "c", toolName: "bash", input: { command: "ls" } });
      pi.behaviour.notify = () => {};
    };
    await pi.command("say", "Hi");
    assert.ok(decision instanceof Promise);
    assert.deepEqual(await decision, { block: true, reason: 'No shell while we greet: {"command":"ls"}' });
  });

  test("a panic loses the memory and keeps the session's state", async () => {
    const { pi } = loaded();
    pi.emit("input", { source: "rpc" });
    await pi.tool("greet", { name: "Ann" });
    pi.did();
    await pi.command("boom");
    const [cleared, inputs, status, notice, ...rest] = pi.did();
    assert.deepEqual(
      [cleared, inputs, status],
      [
        ["setStatus", "hello", undefined],
        ["setStatus", "hello-inputs", undefined],
        ["setStatus", "hello", "1 greetings"],
      ],
    );
    assert.match(String(notice[1]), PANIC("boom, as asked"));
    assert.deepEqual(rest, []);
    pi.emit("input", { source: "rpc" });
    assert.deepEqual(pi.did(), [["setStatus", "hello-inputs", "1 inputs"]]);
  });

  test("a panic closes an open dialog without an answer", async () => {
    const { pi } = loaded();
    /** @type {AbortSignal | undefined} */
    let signal;
    pi.behaviour.confirm = async (/** @type {any[]} */ ...parameters) => {
      ({ signal } = parameters[2]);
      await pi.command("boom");
      return true;
    };
    await pi.command("hello", "Ann");
    assert.equal(signal?.aborted, true);
    const notices = pi.did().filter(([name]) => name === "notify");
    assert.equal(notices.length, 1);
    assert.match(String(notices[0][1]), PANIC("boom, as asked"));
    await assert.rejects(pi.tool("greet", { ask: true }), { message: BROKEN_CALL });
  });

  test("drawings use pi's components and the theme's colours", async () => {
    const { pi } = loaded();
    const rendered = (/** @type {any} */ component) =>
      component
        .render(60)
        .map((/** @type {string} */ line) => line.trim())
        .filter(Boolean);
    const tool = pi.registered.get("tool greet");
    assert.deepEqual(rendered(tool.renderCall({ name: "Ann" }, pi.theme)), [
      '<toolTitle>*greet*<muted> {"name":"Ann"}',
    ]);
    const content = [{ type: "text", text: "# Hello" }];
    assert.match(rendered(tool.renderResult({ content }, { expanded: false }, pi.theme)).join(""), /Hello/);
    const entry = pi.registered.get("entry hello:greeting");
    assert.deepEqual(rendered(entry({ data: { a: 1 } }, { expanded: true }, pi.theme)), [
      '<accent>*A greeting: {"a":1}*',
    ]);
    assert.deepEqual(rendered(entry({}, { expanded: false }, pi.theme)), ["<accent>A greeting: null"]);
  });

  test("only its own command is completed", () => {
    const { pi } = loaded();
    const complete = (/** @type {string} */ name, /** @type {string} */ prefix) =>
      pi.registered.get(`command ${name}`).getArgumentCompletions(prefix);
    assert.deepEqual(complete("hello", "w"), [{ value: "world", label: "world", description: undefined }]);
    assert.equal(complete("hello", "").length, 2);
    assert.equal(complete("hello", "x"), null);
    assert.equal(complete("say", ""), null);
  });

  test("any text is passed and returned unchanged", async () => {
    const { pi } = loaded();
    for (const name of ["", "ä\u2028€", "👩‍👩‍👧", "x".repeat(1_000_000), '"\\']) {
      const result = await pi.tool("greet", { name });
      assert.equal(result.content[0].text, `Hello, ${name}!`);
      assert.deepEqual(result.details, { name });
    }
    // Control characters are removed.
    const { content, details } = await pi.tool("greet", { name: "a\0\x1bb" });
    assert.deepEqual([content[0].text, details.name], ["Hello, ab!", "a\0\x1bb"]);
    // An unpaired surrogate is replaced by U+FFFD.
    const result = await pi.tool("greet", { name: "\ud800" });
    assert.match(result.content[0].text, /^Hello, .*!$/);
  });
});

for (const version of VERSIONS) {
  suite(`in pi ${version}`, () => {
    /**
     * Starts the guest in pi, controlled over RPC.
     *
     * @param {import("node:test").TestContext} t
     * @param {Parameters<typeof stage>[1]} [script]
     * @param {Parameters<typeof stage>[2]} [options]
     */
    async function inPi(t, script = [], options) {
      const { model, sandbox } = await stage(t, script, options);
      const rpc = await startRpc({ version, sandbox, extension: home });
      const notices = () => rpc.ui("notify").map(({ message, notifyType }) => [notifyType, message]);
      const statuses = (/** @type {string} */ key) =>
        rpc.ui("setStatus").flatMap(({ statusKey, statusText }) => (statusKey === key ? [statusText] : []));
      return { model, sandbox, rpc, notices, statuses };
    }

    /** Returns the results that the model received for its tool calls. @param {ScriptedModel} model */
    const toolResults = (model) =>
      model.lastRequest().messages.flatMap((message) => (message.role === "tool" ? [messageText(message)] : []));

    test("a command shows a dialog and reports the answer", async (t) => {
      const { rpc, notices } = await inPi(t);
      /** @type {(boolean | undefined)[]} */
      const answers = [true, false, undefined];
      rpc.onDialog(() => answers.shift());
      for (const name of ["Ann", "Bob", "Cyd"]) assert.equal((await rpc.prompt(`/hello ${name}`)).success, true);
      assert.deepEqual(
        rpc.ui("confirm").map(({ title, message }) => `${title}: ${message}`),
        ["Hello: Greet Ann?", "Hello: Greet Bob?", "Hello: Greet Cyd?"],
      );
      assert.deepEqual(notices(), [
        ["info", "Hello, Ann!"],
        ["warning", "No hello for Bob: no."],
        // pi does not distinguish a closed dialog from the answer no.
        ["warning", "No hello for Cyd: no."],
      ]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("two dialogs can be open at the same time", async (t) => {
      const { rpc, notices } = await inPi(t);
      /** @type {((yes: boolean) => void)[]} */
      const open = [];
      rpc.onDialog(() => new Promise((resolve) => open.push(resolve)));
      const commands = [rpc.prompt("/hello Ann"), rpc.prompt("/hello Bob")];
      await rpc.waitFor((record) => record.method === "confirm" && record.message === "Greet Bob?");
      await sleep(0);
      open[1](true);
      await rpc.waitFor((record) => record.method === "notify");
      open[0](false);
      await Promise.all(commands);
      assert.deepEqual(notices(), [
        ["info", "Hello, Bob!"],
        ["warning", "No hello for Ann: no."],
      ]);
    });

    test("a tool call is refused with its reason", async (t) => {
      const { rpc, model } = await inPi(t, [{ calls: [{ name: "bash", arguments: { command: "ls" } }] }]);
      await rpc.promptAndSettle("List the files");
      assert.deepEqual(toolResults(model), ['No shell while we greet: {"command":"ls"}']);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("a tool of the guest returns its result, adds an entry and sets the status", async (t) => {
      const { rpc, model, statuses } = await inPi(t, [{ calls: [{ name: "greet", arguments: { name: "Ann" } }] }]);
      await rpc.promptAndSettle("Greet Ann");
      assert.ok(model.toolNames(0).includes("greet"));
      assert.deepEqual(toolResults(model), ["Hello, Ann!"]);
      const entries = await rpc.entries();
      const greetings = entries.filter((entry) => entry.customType === "hello:greeting");
      assert.deepEqual(
        greetings.map(({ data }) => data),
        [{ name: "Ann" }],
      );
      const result = entries.find((entry) => entry.message?.role === "toolResult");
      assert.deepEqual(result.message.details, { name: "Ann" });
      assert.deepEqual(statuses("hello"), ["0 greetings", "1 greetings"]);
    });

    test("a message sent as the user starts the agent, and its input event is delivered", async (t) => {
      const { rpc, model, statuses } = await inPi(t);
      await rpc.promptAndSettle("/say Good morning");
      assert.match(model.messagesText(0), /Good morning/);
      assert.deepEqual(statuses("hello-inputs"), ["1 inputs"]);
    });

    test("a dialog that is open when the session is replaced has no answer", async (t) => {
      const { rpc, notices } = await inPi(t);
      /** @type {(yes: boolean) => void} */
      let decide = () => {};
      rpc.onDialog(() => new Promise((resolve) => (decide = resolve)));
      const command = rpc.prompt("/hello Ann");
      await rpc.waitFor((record) => record.method === "confirm");
      assert.equal((await rpc.send({ type: "new_session" })).success, true);
      decide(true);
      await command;
      rpc.onDialog(() => true);
      await rpc.prompt("/hello Bob");
      assert.deepEqual(notices(), [["info", "Hello, Bob!"]]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("a compaction removes a note from the view", async (t) => {
      const compaction = { enabled: true, keepRecentTokens: 1, reserveTokens: 100 };
      const { model, rpc, notices, statuses } = await inPi(t, [], { settings: { compaction } });
      await rpc.prompt("/note note 2");
      await rpc.promptAndSettle("Read note 2");
      assert.match(model.messagesText(0), /^note 2$/m);
      await rpc.prompt("/newest");
      assert.equal((await rpc.send({ type: "compact" })).success, true);
      assert.deepEqual(statuses("hello-compacted"), ["compacted"]);
      await rpc.promptAndSettle("Go on");
      assert.doesNotMatch(model.messagesText(), /^note 2$/m);
      await rpc.prompt("/newest");
      assert.deepEqual(notices(), [
        ["info", "note 2"],
        ["info", "No note."],
      ]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("in print mode a settling command waits for the agent", async (t) => {
      const { sandbox } = await stage(t, [{ text: "Good morning to you." }]);
      const run = await runPrint({ version, sandbox, extension: home, prompt: "/say Good morning" });
      assert.deepEqual(run, { code: 0, stdout: "Good morning to you.\n", stderr: "Said it.\n" });
    });

    test("in print mode dialogs have no answer", async (t) => {
      const { sandbox } = await stage(t, []);
      const run = await runPrint({ version, sandbox, extension: home, prompt: "/hello Ann" });
      assert.deepEqual(run, { code: 0, stdout: "", stderr: "No hello for Ann: nobody to ask.\n" });
    });

    test("a component of another version is refused with both numbers", async (t) => {
      const { sandbox } = await stage(t, []);
      const other = join(sandbox.root, "other");
      cpSync(home, other, { recursive: true });
      const glue = join(other, "component/hello_guest.js");
      const text = readFileSync(glue, "utf8");
      assert.ok(text.includes("pi:extension/guest@0.8.0"));
      writeFileSync(glue, text.replaceAll("pi:extension/guest@0.8.0", "pi:extension/guest@0.9.0"));
      const run = await runPrint({ version, sandbox, extension: other, prompt: "/hello Ann" });
      assert.match(run.stderr, /The component implements pi:extension 0\.9\.0, pi's side implements 0\.8\.0\./);
      assert.notEqual(run.code, 0);
    });

    test("a package whose component is not built reports that", async (t) => {
      const { sandbox } = await stage(t, []);
      const other = join(sandbox.root, "other");
      cpSync(home, other, { recursive: true });
      rmSync(join(other, "component"), { recursive: true });
      mkdirSync(join(other, "component"));
      const run = await runPrint({ version, sandbox, extension: other, prompt: "/hello Ann" });
      assert.match(run.stderr, /The component of hello-guest is not built\. Run "npm run build" in /);
    });
  });
}
