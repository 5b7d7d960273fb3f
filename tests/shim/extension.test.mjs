// The shim converts pi's events for the guest and the guest's calls for pi. The guests in this file are plain
// functions; hello.test.mjs has a real one.

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { suite, test } from "node:test";
import { REPO } from "../pi/harness/pi.mjs";
import { CODING_AGENT, STALE, loadInto, plainGuest, standIn } from "./pi-stand-in.mjs";

const API = "pi:extension/api";
const CONTEXT = "pi:extension/context";
const UI = "pi:extension/ui";

/**
 * Loads a guest that subscribes to events and has the commands `a` and `b` into a stand-in.
 *
 * @param {(imports: Record<string, any>, instance: number) => Record<string, Function>} exports
 * @param {string[]} [events] by the interface's names
 */
function loaded(exports, events = ["session-start", "input", "before-agent-start", "tool-call"]) {
  const pi = standIn();
  const guest = plainGuest((imports, instance) => {
    const init = () => {
      for (const event of events) imports[API].on(event);
      for (const name of ["a", "b"]) imports[API].registerCommand({ name, description: `runs ${name}` });
    };
    return { init, runCommand: () => ({ tag: "done" }), ...exports(imports, instance) };
  });
  loadInto(pi, guest);
  pi.did();
  return pi;
}

/** @param {any} imports */
const everyCall = (imports) => ({
  abort: () => imports[API].abort(),
  appendEntry: () => imports[API].appendEntry("t:x", '{"a":1}'),
  sendMessage: () => imports[API].sendMessage({ customType: "t:x", content: "c", display: true }, false, undefined),
  sendUserMessage: () => imports[API].sendUserMessage("text", undefined),
  setSessionName: () => imports[API].setSessionName("name"),
  toolNames: () => imports[API].toolNames(),
  runMode: () => imports[CONTEXT].runMode(),
  hasUi: () => imports[CONTEXT].hasUi(),
  cwd: () => imports[CONTEXT].cwd(),
  isProjectTrusted: () => imports[CONTEXT].isProjectTrusted(),
  projectIdentity: () => imports[CONTEXT].projectIdentity(),
  isIdle: () => imports[CONTEXT].isIdle(),
  hasPendingMessages: () => imports[CONTEXT].hasPendingMessages(),
  setExitCode: () => imports[CONTEXT].setExitCode(1),
  entries: () => imports["pi:extension/session"].entries("t:x", 0, 1),
  notify: () => imports[UI].notify("text", "info"),
  setStatus: () => imports[UI].setStatus("key", "text"),
  setWidget: () => imports[UI].setWidget("key", ["line"], "above-editor"),
  terminalSize: () => imports[UI].terminalSize(),
  watchTerminal: () => imports[UI].watchTerminal(true),
});

/**
 * Returns the value of a function of the interface, or the error that it throws.
 * @param {() => unknown} work
 */
function answer(work) {
  try {
    return work();
  } catch (error) {
    return { error };
  }
}

suite("no policy", () => {
  test("the shim contains no word of a particular extension", () => {
    const folder = join(REPO, "host-shim");
    const files = readdirSync(folder).filter((file) => /\.(?:[cm]?js|ts)$/.test(file));
    assert.ok(files.length >= 7, `${files}`);
    for (const file of files) {
      const lines = readFileSync(join(folder, file), "utf8").split("\n");
      const knowing = lines.filter((line) => /workflow/i.test(line));
      assert.deepEqual(knowing, [], file);
    }
  });
});

suite("events", () => {
  /** @type {[string, object, object][]} */
  const EVENTS = [
    ["session_start", { reason: "resume" }, { tag: "session-start", val: "resume" }],
    ["session_start", { reason: "teleport" }, { tag: "session-start", val: "other" }],
    ["session_compact", { reason: "manual" }, { tag: "session-compact" }],
    ["session_tree", {}, { tag: "session-tree" }],
    ["session_shutdown", { reason: "quit" }, { tag: "session-shutdown", val: "quit" }],
    ["session_shutdown", {}, { tag: "session-shutdown", val: "other" }],
    ["input", { source: "voice" }, { tag: "input", val: "other" }],
    ["input", { text: "secret", source: "rpc" }, { tag: "input", val: "rpc" }],
    ["before_agent_start", { prompt: "secret" }, { tag: "before-agent-start" }],
    ["agent_start", {}, { tag: "agent-start" }],
    ["turn_start", { turnIndex: 3 }, { tag: "turn-start" }],
    ["message_start", { message: { role: "user", content: "secret" } }, { tag: "message-start", val: "other" }],
    ["turn_end", { message: "secret" }, { tag: "turn-end", val: [] }],
    ["agent_end", { messages: [] }, { tag: "agent-end", val: undefined }],
    ["agent_before_settle", { entries: [] }, { tag: "agent-before-settle" }],
    ["agent_settled", {}, { tag: "agent-settled" }],
    [
      "tool_call",
      { toolCallId: "c1", toolName: "read", input: { path: "secret" } },
      { tag: "tool-call", val: { id: "c1", name: "read", parent: undefined, carriesCalls: false } },
    ],
    [
      "tool_call",
      { toolCallId: "c1/2", toolName: "gone", parentToolCallId: "c1" },
      { tag: "tool-call", val: { id: "c1/2", name: "gone", parent: "c1", carriesCalls: false } },
    ],
  ];

  for (const [name, event, expected] of EVENTS) {
    test(`${name} is converted and delivered if the guest subscribed to it`, () => {
      /** @type {unknown[]} */
      const events = [];
      const handleEvent = (/** @type {unknown} */ _at, /** @type {unknown} */ event) => {
        events.push(event);
        return { tag: "none" };
      };
      const asked = loaded(() => ({ handleEvent }), [name.replaceAll("_", "-")]);
      events.length = 0;
      assert.equal(asked.emit(name, event), undefined);
      assert.deepEqual(events, [expected]);
      const unasked = loaded(() => ({ handleEvent }), []);
      events.length = 0;
      unasked.emit(name, event);
      assert.deepEqual(events, []);
    });
  }

  test("of a session that no longer exists are harmless", () => {
    const pi = loaded(
      () => ({}),
      EVENTS.map(([name]) => name.replaceAll("_", "-")),
    );
    for (const [name, event] of EVENTS) assert.equal(pi.emit(name, event, pi.staleContext()), undefined, name);
  });

  test("agent-end has the stop reason of the last answer", () => {
    /** @type {unknown[]} */
    const reasons = [];
    const pi = loaded(
      () => ({
        handleEvent(/** @type {unknown} */ _at, /** @type {any} */ { val }) {
          reasons.push(val);
          return { tag: "none" };
        },
      }),
      ["agent-end"],
    );
    for (const stopReason of ["stop", "length", "toolUse", "error", "aborted", "brandNew"]) {
      const earlier = { role: "assistant", stopReason: "stop" };
      pi.emit("agent_end", { messages: [earlier, { role: "assistant", stopReason }, { role: "toolResult" }] });
    }
    pi.emit("agent_end", { messages: [{ role: "user" }] });
    const signal = AbortSignal.abort();
    pi.emit("agent_end", { messages: [{ role: "assistant", stopReason: "error" }] }, pi.context({ signal }));
    assert.deepEqual(reasons, ["stop", "length", "tool-use", "error", "aborted", "other", undefined, "aborted"]);
  });

  test("an outcome is converted to the result of pi's handler", () => {
    const message = { customType: "t:x", content: "c", display: false };
    /** @type {any} */
    let outcome;
    const events = ["tool-call", "before-agent-start", "agent-before-settle", "input"];
    const pi = loaded(() => ({ handleEvent: () => outcome }), events);
    outcome = { tag: "drop" };
    assert.deepEqual(pi.emit("input", { source: "interactive" }), { action: "handled" });
    outcome = { tag: "block", val: "because" };
    assert.deepEqual(pi.emit("tool_call", { toolName: "x" }), { block: true, reason: "because" });
    outcome = { tag: "inject", val: message };
    assert.deepEqual(pi.emit("before_agent_start"), { message });
    outcome = { tag: "continue", val: message };
    const before = [{ type: "custom_message", customType: "other", content: "o", display: true }];
    assert.deepEqual(pi.emit("agent_before_settle", { entries: before }), {
      entries: [...before, { type: "custom_message", ...message }],
      continue: true,
    });
    outcome = { tag: "none" };
    for (const name of ["tool_call", "before_agent_start", "agent_before_settle"]) {
      assert.equal(pi.emit(name, { entries: [] }), undefined);
    }
  });

  for (const [how, ends] of /** @type {[string, (pi: ReturnType<typeof standIn>, context: any) => void][]} */ ([
    ["the session", (pi, context) => pi.emit("session_shutdown", { reason: "quit" }, context)],
    ["the instance", (pi, context) => pi.emit("input", { source: "interactive", text: "trap" }, context)],
  ]))
    test(`the claim of a session ends with ${how}`, (t) => {
      const folder = mkdtempSync(join(tmpdir(), "claim-"));
      t.after(() => rmSync(folder, { recursive: true }));
      const file = join(folder, "s.jsonl");
      const sessionManager = { getSessionFile: () => file, getLeafEntry: () => undefined };
      /** @type {unknown[]} */
      const got = [];
      const handleEvent =
        (/** @type {any} */ imports) =>
        (/** @type {unknown} */ _at, /** @type {any} */ { tag }) => {
          if (tag !== "input") return { tag: "none" };
          if (got.length > 0) throw new WebAssembly.RuntimeError("unreachable");
          got.push(imports["pi:extension/session"].claim("take"));
          return { tag: "none" };
        };
      const pi = loaded((imports) => ({ handleEvent: handleEvent(imports) }), ["input"]);
      pi.emit("session_start", { reason: "startup" }, pi.context({ sessionManager }));
      const inSession = pi.context({ sessionManager });
      pi.emit("input", { source: "interactive" }, inSession);
      assert.deepEqual([got, existsSync(`${file}.process`)], [[undefined], true]);
      assert.equal(JSON.parse(readFileSync(`${file}.process`, "utf8")).ended, undefined);
      ends(pi, inSession);
      assert.equal(typeof JSON.parse(readFileSync(`${file}.process`, "utf8")).ended, "number");
    });

  test("a second subscription has no effect", () => {
    let heard = 0;
    const pi = loaded(
      () => ({
        handleEvent() {
          heard += 1;
          return { tag: "none" };
        },
      }),
      ["input", "input", "input"],
    );
    pi.emit("input", { source: "interactive" });
    assert.equal(heard, 1);
  });

  test("tool-input returns the arguments of a tool call, only during its event", () => {
    /** @type {string[]} */
    const inputs = [];
    const pi = loaded((imports) => ({
      handleEvent() {
        inputs.push(imports[CONTEXT].toolInput());
        return { tag: "none" };
      },
      runCommand() {
        inputs.push(imports[CONTEXT].toolInput());
        return { tag: "done" };
      },
    }));
    assert.deepEqual(inputs.splice(0), ["null"]);
    pi.emit("tool_call", { toolCallId: "1", toolName: "x", input: { path: "a\u2028b" } });
    assert.deepEqual(inputs.splice(0), ['{"path":"a\u2028b"}']);
    pi.emit("tool_call", { toolCallId: "2", toolName: "x" });
    assert.deepEqual(inputs.splice(0), ["null"]);
    pi.emit("tool_call", { toolCallId: "3", toolName: "x", input: 7 });
    pi.emit("input", { source: "rpc" });
    pi.command("a");
    assert.deepEqual(inputs, ["7", "null", "null"]);
  });
});

suite("during a call of the guest", () => {
  test("an event is delivered after the call returns", async () => {
    /** @type {string[]} */
    const log = [];
    const pi = loaded((imports) => ({
      handleEvent(/** @type {unknown} */ _at, /** @type {any} */ { tag }) {
        log.push(`begin ${tag}`, `end ${tag}`);
        return { tag: "none" };
      },
      runCommand() {
        log.push("begin command");
        imports[API].sendUserMessage("Hello", "follow-up");
        log.push("end command");
        return { tag: "done" };
      },
    }));
    log.length = 0;
    // pi emits the input event during the call that sends the message.
    pi.behaviour.sendUserMessage = () => pi.emit("input", { source: "extension" });
    await pi.command("a");
    await Promise.resolve();
    assert.deepEqual(log, ["begin command", "end command", "begin input", "end input"]);
  });

  test("several events are delivered in order, each with its own context and arguments", async () => {
    /** @type {string[]} */
    const log = [];
    const pi = loaded((imports) => ({
      handleEvent(/** @type {unknown} */ _at, /** @type {any} */ { tag, val }) {
        log.push(`${tag} ${val?.name ?? val} ${imports[CONTEXT].cwd()} ${imports[CONTEXT].toolInput()}`);
        return tag === "tool-call" ? { tag: "block", val: val.id } : { tag: "none" };
      },
      runCommand() {
        imports[API].setSessionName("x");
        return { tag: "done" };
      },
    }));
    log.length = 0;
    /** @type {unknown[]} */
    let answers = [];
    pi.behaviour.setSessionName = () => {
      answers = [
        pi.emit("tool_call", { toolCallId: "1", toolName: "one", input: 1 }, pi.context({ cwd: "/1" })),
        pi.emit("input", { source: "rpc" }, pi.context({ cwd: "/2" })),
        pi.emit("tool_call", { toolCallId: "3", toolName: "three", input: 3 }, pi.context({ cwd: "/3" })),
      ];
    };
    await pi.command("a", "", pi.context({ cwd: "/command" }));
    assert.deepEqual(await Promise.all(answers), [
      { block: true, reason: "1" },
      undefined,
      { block: true, reason: "3" },
    ]);
    assert.deepEqual(log, ["tool-call one /1 1", "input rpc /2 null", "tool-call three /3 3"]);
  });

  test("commands and tool calls wait as well", async () => {
    /** @type {string[]} */
    const log = [];
    const pi = loaded((imports) => ({
      init() {
        imports[API].registerCommand({ name: "a", description: "" });
        imports[API].registerCommand({ name: "b", description: "" });
        imports[API].registerTool({ name: "t", label: "T", description: "", parameters: "{}", promptGuidelines: [] });
      },
      executeTool() {
        log.push("tool");
        return { tag: "done", val: { text: "done", details: "null" } };
      },
      runCommand(/** @type {unknown} */ _at, /** @type {string} */ name) {
        log.push(`begin ${name}`);
        if (name === "a") imports[API].setSessionName("x");
        log.push(`end ${name}`);
        return { tag: "done" };
      },
    }));
    /** @type {Promise<unknown>[]} */
    let others = [];
    pi.behaviour.setSessionName = () => (others = [pi.command("b"), pi.tool("t", {})]);
    await pi.command("a");
    const [, result] = await Promise.all(others);
    assert.deepEqual(result, { content: [{ type: "text", text: "done" }], details: null });
    assert.deepEqual(log, ["begin a", "end a", "begin b", "end b", "tool"]);
  });

  test("there are no completions, and a drawing is empty until it is rendered again", async () => {
    const pi = loaded((imports) => ({
      init() {
        imports[API].registerCommand({ name: "a", description: "" });
        imports[API].registerEntryRenderer("t:x");
      },
      completeArgument: () => [{ value: "v", label: "v" }],
      drawEntry: () => ({ tag: "lines", val: [[{ text: "drawn", color: "tool-title", bold: true }]] }),
      runCommand() {
        imports[API].setSessionName("x");
        return { tag: "done" };
      },
    }));
    const complete = () => pi.registered.get("command a").getArgumentCompletions("");
    const entry = pi.registered.get("entry t:x")({ data: {} }, { expanded: false }, pi.theme);
    /** @type {unknown[]} */
    const during = [];
    pi.behaviour.setSessionName = () => during.push(complete(), entry.render(80));
    await pi.command("a");
    assert.deepEqual(during, [null, []]);
    assert.deepEqual(complete(), [{ value: "v", label: "v", description: undefined }]);
    assert.match(entry.render(80).join("\n"), /<toolTitle>\*drawn\*/);
  });
});

suite("a call of the guest", () => {
  test("reaches pi", async () => {
    const pi = loaded((imports) => ({
      runCommand() {
        imports[API].appendEntry("t:x", '{"a":[1]}');
        imports[API].sendMessage({ customType: "t:x", content: "c", display: true }, true, "next-turn");
        for (const delivery of ["steer", "follow-up", "next-turn", undefined]) {
          imports[API].sendUserMessage("text", delivery);
        }
        imports[API].setSessionName("name");
        imports[UI].notify("text", "warning");
        imports[UI].setStatus("key", "text");
        imports[UI].setStatus("key", undefined);
        imports[UI].setWidget("key", ["one", "two"], "below-editor");
        imports[UI].setWidget("key", undefined, "above-editor");
        assert.deepEqual(imports[API].toolNames(), ["read", "greet"]);
        assert.equal(imports[CONTEXT].runMode(), "tui");
        assert.equal(imports[CONTEXT].hasUi(), true);
        assert.equal(imports[CONTEXT].cwd(), "/no/such/project");
        assert.equal(imports[CONTEXT].isIdle(), true);
        assert.equal(imports[CONTEXT].isProjectTrusted(), false);
        assert.equal(imports[CONTEXT].projectIdentity(), undefined);
        return { tag: "done" };
      },
    }));
    await pi.command("a");
    assert.deepEqual(pi.did(), [
      ["appendEntry", "t:x", { a: [1] }],
      ["sendMessage", { customType: "t:x", content: "c", display: true }, { triggerTurn: true, deliverAs: "nextTurn" }],
      ["sendUserMessage", "text", { deliverAs: "steer" }],
      ["sendUserMessage", "text", { deliverAs: "followUp" }],
      ["sendUserMessage", "text", undefined],
      ["sendUserMessage", "text", { deliverAs: undefined }],
      ["setSessionName", "name"],
      ["notify", "text", "warning"],
      ["setStatus", "key", "text"],
      ["setStatus", "key", undefined],
      ["setWidget", "key", ["one", "two"], { placement: "belowEditor" }],
      ["setWidget", "key", undefined, { placement: "aboveEditor" }],
    ]);
  });

  test("shows all lines of a widget in a terminal, and knows its size", async (t) => {
    const lines = Array.from({ length: 11 }, (_, index) => `line ${index}`);
    /** @type {unknown[]} */
    const sizes = [];
    const pi = loaded((imports) => ({
      runCommand() {
        imports[UI].setWidget("key", lines, "above-editor");
        sizes.push(imports[UI].terminalSize());
        return { tag: "done" };
      },
    }));
    const { columns, rows } = process.stdout;
    t.after(() => Object.assign(process.stdout, { columns, rows }));
    for (const [columns, rows] of [
      [100, 30],
      [0, 0],
      [undefined, undefined],
    ]) {
      Object.assign(process.stdout, { columns, rows });
      await pi.command("a");
    }
    Object.assign(process.stdout, { columns: 100, rows: 30 });
    await pi.command("a", "", pi.context({ mode: "rpc" }));
    assert.deepEqual(sizes, [{ columns: 100, lines: 30 }, undefined, undefined, undefined]);
    const shown = pi.did().map(([, , shown]) => shown);
    assert.deepEqual(shown.pop(), lines, "pi's own list, for another program");
    for (const component of /** @type {any[]} */ (shown))
      assert.deepEqual(
        component()
          .render(20)
          .map((/** @type {string} */ line) => line.trim()),
        lines,
      );
  });

  test("cannot send control sequences to the terminal", async () => {
    const evil = "a\x1b]52;c;eA==\x07b\x9b2Jc\r\x7fd\te\nf";
    const question = { tag: "confirm", val: { title: evil, message: evil } };
    const pi = loaded((imports) => ({
      runCommand() {
        imports[UI].notify(evil, "info");
        imports[UI].setStatus("key", evil);
        imports[UI].setWidget("key", [evil], "above-editor");
        imports[API].setSessionName(evil);
        imports[API].sendUserMessage(evil, undefined);
        imports[API].sendMessage({ customType: "a", content: evil, display: true }, false, undefined);
        return { tag: "pending", val: { ticket: 1n, request: question } };
      },
      resumeCommand: () => ({ tag: "done" }),
    }));
    await pi.command("a");
    const sent = (/** @type {any} */ value) => value?.content ?? value;
    const texts = pi
      .did()
      .flatMap(([, ...rest]) => rest.flat())
      .map(sent)
      .filter((text) => typeof text === "string");
    assert.equal(texts.length, 11);
    for (const text of texts) assert.doesNotMatch(text, /[\0-\x08\x0b-\x1f\x7f-\x9f]/);
    assert.deepEqual(texts[0], "a]52;c;eA==b2Jcd\te\nf");
  });

  test("fails with `stale` or with pi's message", async () => {
    /** @type {Record<string, unknown>} */
    let answers = {};
    const pi = loaded((imports) => ({
      runCommand() {
        const calls = Object.entries(everyCall(imports));
        answers = Object.fromEntries(calls.map(([name, call]) => [name, answer(call)]));
        return { tag: "done" };
      },
    }));
    const throwing = (/** @type {string} */ message) => () => {
      throw new Error(message);
    };
    for (const name of ["appendEntry", "sendMessage", "sendUserMessage", "setSessionName"]) {
      /** @type {any} */ (pi.api)[name] = throwing(STALE);
    }
    pi.api.getAllTools = throwing(STALE);
    await pi.command("a", "", pi.staleContext());
    for (const [name, got] of Object.entries(answers)) assert.deepEqual(got, { error: { tag: "stale" } }, name);

    pi.api.appendEntry = throwing("EACCES: permission denied");
    await pi.command("a");
    assert.deepEqual(answers.appendEntry, { error: { tag: "failed", val: "EACCES: permission denied" } });
    assert.equal(answers.cwd, "/no/such/project");
  });

  for (const words of [
    "ENOSPC: no space left on device, write '/home/me/stale-branch/session.jsonl'",
    "ENOSPC: no space left on device, write '/home/me/what is stale/session.jsonl'",
    "Unexpected token 'T', \"This ctx is stale\" is not valid JSON",
    STALE,
  ]) {
    test(`fails with pi's message if it only resembles that of a stale context: ${words}`, async () => {
      /** @type {Record<string, unknown>} */
      let answers = {};
      const pi = loaded((imports) => ({
        runCommand() {
          const calls = Object.entries(everyCall(imports));
          answers = Object.fromEntries(calls.map(([name, call]) => [name, answer(call)]));
          return { tag: "done" };
        },
      }));
      const failing = () => {
        throw Object.assign(new Error(words), { code: "ENOSPC" });
      };
      const calls = ["appendEntry", "sendMessage", "sendUserMessage", "setSessionName"];
      for (const name of calls) /** @type {any} */ (pi.api)[name] = failing;
      pi.api.getAllTools = failing;
      const context = pi.context({ isProjectTrusted: failing, isIdle: failing });
      await pi.command("a", "", context);
      for (const name of [...calls, "toolNames", "isProjectTrusted", "isIdle"]) {
        assert.deepEqual(answers[name], { error: { tag: "failed", val: words } }, name);
      }
    });
  }

  test("does not take a path for the message of a stale context", async (t) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), "what is stale-")));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    mkdirSync(join(home, "agent/is stale"), { recursive: true });
    mkdirSync(join(home, "project", CODING_AGENT.CONFIG_DIR_NAME, "is stale"), { recursive: true });
    symlinkSync("is stale", join(home, "agent/is stale/is stale"));
    /** @type {Record<string, unknown>} */
    let answers = {};
    const files = /** @type {const} */ ([
      { name: "global", base: "agent", path: "is stale" },
      { name: "project", base: "project", path: "is stale" },
    ]);
    const guest = plainGuest((imports) => ({
      init: () => imports[API].registerCommand({ name: "a", description: "" }),
      runCommand() {
        const { roots, listDirectory, readFile } = imports["pi:extension/files"];
        const name = (/** @type {any[]} */ list) => list.map(({ name }) => name);
        answers = {
          roots: answer(() => name(roots())),
          list: answer(() => name(listDirectory("global", ""))),
          none: answer(() => listDirectory("project", "this is stale")),
          round: /** @type {any} */ (answer(() => readFile("global", "is stale"))).error?.tag,
          read: answer(() => readFile("project", "this is stale")),
        };
        return { tag: "done" };
      },
    }));
    const pi = loadInto(standIn(), guest, { files: [...files] }, join(home, "agent"));
    const context = pi.context({ cwd: join(home, "project"), isProjectTrusted: () => true });
    await pi.command("a", "", context);
    const none = { error: { tag: "not-found" } };
    assert.deepEqual(answers, { roots: ["global", "project"], list: ["is stale"], none, round: "failed", read: none });
    await pi.command("a", "", pi.staleContext());
    const stale = { error: { tag: "stale" } };
    assert.deepEqual(answers, { roots: stale, list: ["is stale"], none: stale, round: "failed", read: stale });
  });

  test("finds the entries of one type, newest first, and reads no more than necessary", () => {
    /** @type {any} */
    let session;
    const pi = loaded((imports) => ((session = imports["pi:extension/session"]), {}));
    for (let n = 0; n < 6; n += 1) {
      pi.addEntry("custom", { customType: "t:x", data: { n } });
      pi.addEntry("custom", { customType: "t:y", data: { other: n } });
      pi.addEntry("message");
      pi.addEntry("custom_message", { customType: "t:x", data: "no entry" });
    }
    pi.addEntry("custom", { customType: "t:x" });
    /** @type {string[]} */
    const looked = [];
    const { sessionManager } = pi.context();
    const watching = {
      ...sessionManager,
      getEntry(/** @type {string} */ id) {
        looked.push(id);
        return sessionManager.getEntry(id);
      },
    };
    pi.emit("session_start", { reason: "resume" }, pi.context({ sessionManager: watching }));
    assert.deepEqual(session.entries("t:x", 0, 2), ["null", '{"n":5}']);
    assert.equal(looked.length, 4);
    assert.deepEqual(session.entries("t:x", 2, 3), ['{"n":4}', '{"n":3}', '{"n":2}']);
    assert.deepEqual(session.entries("t:x", 6, 4), ['{"n":0}']);
    assert.deepEqual(session.entries("t:x", 7, 4), []);
    assert.deepEqual(session.entries("t:z", 0, 4), []);
    looked.length = 0;
    assert.deepEqual(session.entries("t:x", 0, 0), []);
    assert.equal(looked.length, 0);
  });

  test("writes notifications to standard error and sets the exit status in print mode", async (t) => {
    const pi = loaded((imports) => ({
      runCommand() {
        imports[UI].notify("said\x07", "error");
        imports[CONTEXT].setExitCode(3);
        return { tag: "done" };
      },
    }));
    delete process.env.PI_CODING_AGENT;
    t.after(() => delete process.env.PI_CODING_AGENT);
    const { exitCode } = process;
    const write = t.mock.method(process.stderr, "write", () => true);
    try {
      // A program that embeds pi keeps its own exit status.
      await pi.command("a", "", pi.context({ mode: "print", hasUI: true }));
      assert.deepEqual([process.exitCode, pi.did()], [exitCode, [["notify", "said", "error"]]]);
      process.env.PI_CODING_AGENT = "true";
      for (const mode of ["print", "json"]) await pi.command("a", "", pi.context({ mode, hasUI: false }));
      assert.deepEqual(
        write.mock.calls.map((call) => call.arguments[0]),
        ["said\n", "said\n"],
      );
      assert.equal(process.exitCode, 3);
      assert.deepEqual(pi.did(), []);
      process.exitCode = exitCode;
      for (const mode of ["tui", "rpc"]) await pi.command("a", "", pi.context({ mode }));
      assert.equal(process.exitCode, exitCode);
      assert.deepEqual(pi.did(), [
        ["notify", "said", "error"],
        ["notify", "said", "error"],
      ]);
    } finally {
      process.exitCode = exitCode;
      write.mock.restore();
    }
  });

  test("has no effect before the first session", () => {
    const pi = standIn();
    /** @type {unknown[]} */
    const answers = [];
    const guest = plainGuest((imports) => ({
      init() {
        const { hasUi, cwd, notify, entries } = everyCall(imports);
        answers.push(...[hasUi, cwd, notify, entries].map(answer), imports["pi:extension/files"].roots());
      },
    }));
    loadInto(pi, guest);
    const failed = { error: { tag: "failed", val: "There is no session yet." } };
    assert.deepEqual(answers, [failed, failed, failed, failed, []]);
  });
});

suite("dialogs", () => {
  /** @type {unknown[]} */
  let answers = [];
  const question = { tag: "confirm", val: { title: "Title", message: "Message" } };
  const asking = () => {
    answers = [];
    return loaded(() => ({
      runCommand: () => ({ tag: "pending", val: { ticket: 7n, request: question } }),
      resumeCommand(/** @type {unknown} */ _at, /** @type {bigint} */ ticket, /** @type {unknown} */ answer) {
        answers.push([ticket, answer]);
        return answers.length < 2 ? { tag: "pending", val: { ticket: 8n, request: question } } : { tag: "done" };
      },
    }));
  };

  test("are shown one after another", async () => {
    const pi = asking();
    pi.behaviour.confirm = () => pi.calls.length === 1;
    await pi.command("a");
    assert.deepEqual(pi.did(), [
      ["confirm", "Title", "Message"],
      ["confirm", "Title", "Message"],
    ]);
    assert.deepEqual(answers, [
      [7n, { tag: "confirmed", val: true }],
      [8n, { tag: "confirmed", val: false }],
    ]);
  });

  test("have no answer without a user interface, and are cancelled at the end of the session", async () => {
    const pi = asking();
    await pi.command("a", "", pi.context({ hasUI: false }));
    assert.deepEqual(answers, [
      [7n, { tag: "no-ui" }],
      [8n, { tag: "no-ui" }],
    ]);
    assert.deepEqual(pi.did(), []);
    answers = [];
    pi.behaviour.confirm = () => {
      throw new Error(STALE);
    };
    await pi.command("a");
    assert.deepEqual(answers, [
      [7n, { tag: "cancelled" }],
      [8n, { tag: "cancelled" }],
    ]);
  });

  test("do not block other events", async () => {
    const pi = asking();
    /** @type {(yes: boolean) => void} */
    let decide = () => {};
    pi.behaviour.confirm = () => new Promise((resolve) => (decide = resolve));
    const command = pi.command("a");
    await sleep(0);
    assert.equal(pi.emit("tool_call", { toolName: "x" }), undefined);
    assert.deepEqual(answers, []);
    decide(true);
    await sleep(0);
    decide(false);
    await command;
    assert.equal(answers.length, 2);
  });
});

suite("commands", () => {
  test("that settle wait for the agent in modes in which pi would exit", async () => {
    const pi = loaded(() => ({ runCommand: () => ({ tag: "settle" }) }));
    for (const mode of ["tui", "rpc"]) await pi.command("a", "", pi.context({ mode }));
    assert.deepEqual(pi.did(), []);
    for (const mode of ["print", "json"]) await pi.command("a", "", pi.context({ mode }));
    assert.deepEqual(pi.did(), [["waitForIdle"], ["waitForIdle"]]);
  });

  test("that settle wait in a program that embeds pi, where pi's own wait does nothing", async () => {
    const pi = loaded(() => ({ runCommand: () => ({ tag: "settle" }) }));
    let looks = 0;
    await pi.command("a", "", pi.context({ mode: "print", isIdle: () => ++looks > 2, waitForIdle: async () => {} }));
    assert.ok(looks > 2);
  });

  test("that are done do not wait", async () => {
    const pi = loaded(() => ({}));
    await pi.command("a", "", pi.context({ mode: "print" }));
    assert.deepEqual(pi.did(), []);
  });
});

suite("timers", () => {
  /** @type {bigint[]} */
  let rung = [];
  /** @param {(timers: any) => void} work */
  const timing = (work) => {
    rung = [];
    return loaded((imports) => ({
      runCommand() {
        work(imports["pi:extension/timers"]);
        return { tag: "done" };
      },
      timer: (/** @type {unknown} */ _at, /** @type {bigint} */ id) => rung.push(id),
    }));
  };

  test("end once, and can be stopped and replaced", async () => {
    const pi = timing((timers) => {
      timers.start(1n, 1);
      timers.start(2n, 1);
      timers.stop(2n);
      timers.stop(2n);
      timers.stop(99n);
      timers.start(3n, 5);
      timers.start(3n, 1);
      timers.start(2n ** 64n - 1n, 0);
    });
    await pi.command("a");
    await sleep(40);
    assert.deepEqual(new Set(rung), new Set([1n, 3n, 2n ** 64n - 1n]));
    assert.equal(rung.length, 3);
  });

  test("stop with the session, and so does the terminal watch", async () => {
    const pi = loaded((imports) => ({
      runCommand() {
        imports["pi:extension/timers"].start(1n, 5);
        imports[UI].watchTerminal(true);
        return { tag: "done" };
      },
      timer: () => assert.fail("a timer of a session that no longer exists"),
    }));
    await pi.command("a");
    pi.emit("session_shutdown", { reason: "new" });
    await sleep(30);
    assert.deepEqual(pi.did(), [["onTerminalInput"], ["offTerminalInput"]]);
  });

  test("support the longest delay of the interface", async (t) => {
    t.mock.method(process, "emitWarning", () => {});
    const pi = timing((timers) => timers.start(1n, 2 ** 32 - 1));
    await pi.command("a");
    await sleep(30);
    assert.deepEqual(rung, []);
    pi.emit("session_shutdown", { reason: "quit" });
  });
});

suite("a guest that traps", () => {
  /** @param {number} instance */
  const trapping = (instance) => {
    const trap = () => {
      if (instance === 0) throw new WebAssembly.RuntimeError("unreachable");
    };
    return {
      handleEvent(/** @type {unknown} */ _at, /** @type {any} */ { tag }) {
        if (tag !== "session-start") trap();
        return { tag: "none" };
      },
      runCommand() {
        trap();
        return { tag: "done" };
      },
    };
  };
  const TOLD = ["notify", "hello-guest broke and was started again: RuntimeError: unreachable", "error"];

  test("has no other effects, and registers nothing twice", async () => {
    const pi = loaded((imports, instance) => ({
      init() {
        imports[API].on("input");
        imports[API].registerCommand({ name: "a", description: "" });
        imports[API].registerTool({ name: "t", label: "T", description: "", parameters: "{}", promptGuidelines: [] });
        imports[API].registerMessageRenderer("t:x");
        imports[API].registerEntryRenderer("t:x");
      },
      ...trapping(instance),
    }));
    assert.equal(pi.emit("input", { source: "rpc" }), undefined);
    assert.deepEqual(pi.did(), [TOLD]);
    assert.equal(pi.handlers.get("input")?.size, 1);
    await pi.command("a");
    assert.deepEqual(pi.did(), []);
  });

  test("loses its timers", async () => {
    /** @type {string[]} */
    const rung = [];
    const pi = loaded((imports, instance) => ({
      ...trapping(instance),
      runCommand(/** @type {unknown} */ _at, /** @type {string} */ name) {
        if (name === "b") throw new WebAssembly.RuntimeError("unreachable");
        imports["pi:extension/timers"].start(1n, 5);
        return { tag: "done" };
      },
      timer: () => rung.push(`instance ${instance}`),
    }));
    await pi.command("a");
    await pi.command("b");
    await sleep(30);
    assert.deepEqual(rung, [], "a timer of the instance that broke rings in the next one");
  });

  test("does not affect timers and dialogs that the new instance requests immediately", async () => {
    /** @type {string[]} */
    const rung = [];
    const pi = loaded((imports, instance) => ({
      handleEvent(/** @type {unknown} */ _at, /** @type {any} */ { tag }) {
        if (tag === "restarted") {
          imports["pi:extension/timers"].start(1n, 5);
          imports[UI].watchTerminal(true);
        }
        return { tag: "none" };
      },
      runCommand() {
        throw new WebAssembly.RuntimeError("unreachable");
      },
      timer: () => rung.push(`instance ${instance}`),
    }));
    await pi.command("a");
    await sleep(30);
    assert.deepEqual(rung, ["instance 1"]);
    assert.deepEqual(
      pi.did().map(([name]) => name),
      ["onTerminalInput", "notify"],
    );
  });

  test("loses its status texts and widgets before the new instance is called", async () => {
    const pi = loaded((imports, instance) => ({
      handleEvent(/** @type {unknown} */ _at, /** @type {any} */ { tag }) {
        if (tag === "restarted") imports[UI].setStatus("kept", "by the new one");
        return { tag: "none" };
      },
      runCommand() {
        imports[UI].setStatus("kept", `by instance ${instance}`);
        imports[UI].setStatus("gone", "before");
        imports[UI].setStatus("gone", undefined);
        imports[UI].setWidget("countdown", ["3 s"], "above-editor");
        throw new WebAssembly.RuntimeError("unreachable");
      },
    }));
    await pi.command("a");
    assert.deepEqual(pi.did().slice(4), [
      ["setStatus", "kept", undefined],
      ["setWidget", "countdown", undefined],
      ["setStatus", "kept", "by the new one"],
      TOLD,
    ]);
  });

  test("in a session that no longer exists is harmless", async () => {
    const pi = loaded((_imports, instance) => trapping(instance));
    await pi.command("a", "", pi.staleContext());
    assert.equal(pi.emit("tool_call", { toolName: "x" }), undefined);
  });
});

suite("tools", () => {
  /** @param {object} tool @param {object} [functions] */
  const withTool = (tool, functions) =>
    loaded((imports) => ({
      init() {
        imports[API].registerTool({ label: "T", description: "D", parameters: "{}", promptGuidelines: [], ...tool });
      },
      ...functions,
    }));

  test("are registered in pi's form", () => {
    const pi = withTool({
      name: "t",
      parameters: '{"type":"object"}',
      promptSnippet: "one line",
      promptGuidelines: ["a", "b"],
      sequential: true,
    });
    const { execute, prepareArguments, renderCall, renderResult, ...rest } = pi.registered.get("tool t");
    // A guest that cannot be asked changes nothing.
    for (const input of [{ a: 1 }, null, "x"]) assert.equal(prepareArguments(input), input);
    assert.deepEqual(rest, {
      name: "t",
      label: "T",
      description: "D",
      parameters: { type: "object" },
      promptSnippet: "one line",
      promptGuidelines: ["a", "b"],
      executionMode: "sequential",
    });
    assert.equal(withTool({ name: "t" }).registered.get("tool t").executionMode, undefined);
  });

  test("receive their arguments and return their details as JSON", async () => {
    /** @type {unknown[]} */
    const got = [];
    const executeTool = (/** @type {unknown[]} */ _at, /** @type {unknown[]} */ ...rest) => {
      got.push(rest);
      return { tag: "done", val: { text: "text", details: '{"a":[1,null]}' } };
    };
    const pi = withTool({ name: "t" }, { executeTool });
    for (const input of [{ a: 1 }, null, undefined, "x"]) {
      const result = await pi.tool("t", input);
      assert.deepEqual(result, { content: [{ type: "text", text: "text" }], details: { a: [1, null] } });
    }
    const call = { id: "call-1", name: "t", parent: undefined, carriesCalls: false };
    assert.deepEqual(got, [
      [call, '{"a":1}'],
      [call, "null"],
      [call, "null"],
      [call, '"x"'],
    ]);
  });

  test("receive the outer call of a nested call until it ends", async () => {
    /** @type {any[]} */
    const got = [];
    const executeTool = (/** @type {unknown} */ _at, /** @type {any} */ call) => {
      got.push(call.parent);
      return { tag: "done", val: { text: "", details: "null" } };
    };
    const pi = withTool({ name: "t" }, { executeTool });
    const told = (/** @type {object} */ more) => pi.emit("tool_call", { toolCallId: "call-1", toolName: "t", ...more });
    for (const events of [[], [{ parentToolCallId: "outer" }], []]) {
      for (const event of events) told(event);
      await pi.tool("t", {});
      pi.emit("tool_execution_end", { toolCallId: "call-1" });
    }
    assert.deepEqual(got, [undefined, "outer", undefined]);
  });

  test("run from their call, unless it is refused, to their end", () => {
    /** @type {any} */
    let imports;
    const running = () => imports[CONTEXT].runningCalls().map((/** @type {any} */ { id, parent }) => [id, parent]);
    /** @type {unknown[]} */
    const seen = [];
    const pi = loaded((given) => {
      imports = given;
      return {
        handleEvent: (/** @type {unknown} */ _at, /** @type {any} */ { tag, val }) => {
          if (tag !== "tool-call") return { tag: "none" };
          seen.push(running().length);
          return val.name === "write" ? { tag: "block", val: "no" } : { tag: "none" };
        },
      };
    });
    const call = (
      /** @type {string} */ toolCallId,
      /** @type {string} */ toolName,
      /** @type {string} */ parentToolCallId,
    ) => pi.emit("tool_call", { toolCallId, toolName, parentToolCallId });
    call("1", "script", /** @type {any} */ (undefined));
    call("1/1", "bash", "1");
    call("1/2", "write", "1");
    call("1/3", "read", "1");
    assert.deepEqual(seen, [1, 2, 3, 3]);
    assert.deepEqual(running(), [
      ["1", undefined],
      ["1/1", "1"],
      ["1/3", "1"],
    ]);
    // A call ends once, with the event that pi has for every call.
    pi.emit("tool_result", { toolCallId: "1/1" });
    pi.emit("tool_execution_end", { toolCallId: "1/3" });
    pi.emit("tool_execution_end", { toolCallId: "unknown" });
    // The call of the model ends with the run of the agent, another may run on.
    pi.emit("agent_end", { messages: [] });
    assert.deepEqual(running(), [["1/1", "1"]]);
    pi.emit("tool_execution_end", { toolCallId: "1/1" });
    assert.deepEqual(running(), []);
  });

  test("do not end with others of the same id, which are refused while they run", () => {
    /** @type {any} */
    let imports;
    const pi = loaded((given) => {
      imports = given;
      return {};
    });
    const running = () => imports[CONTEXT].runningCalls().map((/** @type {any} */ { id, name }) => `${name} ${id}`);
    const start = (
      /** @type {string} */ toolCallId,
      /** @type {string} */ toolName,
      /** @type {object} */ more = {},
    ) => {
      pi.emit("tool_execution_start", { toolCallId, toolName, ...more });
      return pi.emit("tool_call", { toolCallId, toolName, ...more })?.reason;
    };
    const end = (/** @type {string} */ toolCallId) => pi.emit("tool_execution_end", { toolCallId });
    const nested = { parentToolCallId: "c1" };
    pi.emit("turn_start");
    assert.equal(start("c1", "script"), undefined);
    assert.equal(start("c1/1", "bash", nested), undefined);
    end("c1");
    pi.emit("turn_end", { message: {}, toolResults: [{ toolCallId: "c1" }] });
    pi.emit("turn_start");
    // The ids of a nested call that runs, and of the call that made it.
    for (const id of ["c1/1", "c1"]) {
      assert.match(start(id, "read"), /Another call with the same id is running/);
      end(id);
      // pi refuses a call of an unknown tool itself: it tells a start and an end.
      pi.emit("tool_execution_start", { toolCallId: id, toolName: "unknown" });
      end(id);
    }
    pi.emit("agent_end", { messages: [] });
    assert.deepEqual(running(), ["bash c1/1"]);
    end("c1/1");
    assert.deepEqual(running(), []);
    assert.equal(start("c1", "read"), undefined);
    assert.equal(start("c1/1", "bash"), undefined);
    assert.match(start("c1/1", "read", nested), /Another call with the same id/);
    end("c1/1");
    assert.deepEqual(running(), ["read c1", "bash c1/1"]);
  });

  test("are told at the end of their turn by their place in the answer", () => {
    /** @type {any[]} */
    const told = [];
    const handleEvent = (/** @type {unknown} */ _at, /** @type {any} */ { tag, val }) => {
      if (tag === "turn-end") told.push(...val);
      return tag === "tool-call" && val.name === "write" ? { tag: "block", val: "no" } : { tag: "none" };
    };
    const pi = loaded(() => ({ handleEvent }), ["tool-call", "turn-end"]);
    const calls = [
      ["x", "read"],
      ["x", "read"],
      ["y", "write"],
      ["x/1", "bash"],
      ["x", "unknown"],
    ].map(([id, name], n) => ({ type: "toolCall", id, name, arguments: { n } }));
    pi.emit("turn_start");
    for (const { id, name } of calls) {
      const call = { toolCallId: id, toolName: name };
      pi.emit("tool_execution_start", call);
      if (name === "read") pi.emit("tool_call", { toolCallId: "x/2", toolName: "bash", parentToolCallId: "z" });
      if (name !== "unknown") pi.emit("tool_call", call);
    }
    const toolResults = calls.map(({ id, name }) => ({ toolCallId: id, toolName: name, content: [] }));
    pi.emit("turn_end", { message: { content: [{ type: "text" }, ...calls] }, toolResults });
    assert.deepEqual(
      told.map(({ name, refused }) => [name, refused]),
      [
        ["read", false],
        ["read", true],
        ["write", true],
        ["bash", false],
        ["unknown", true],
      ],
    );
    // The same tool, and other arguments.
    assert.notEqual(told[0].hash, told[1].hash);
  });

  test("carry calls only if they are pi's own and declare it", () => {
    /** @type {unknown[]} */
    const got = [];
    const handleEvent = (/** @type {unknown} */ _at, /** @type {any} */ { tag, val }) => {
      if (tag === "tool-call") got.push([val.name, val.carriesCalls]);
      return { tag: "none" };
    };
    const pi = loaded(() => ({ handleEvent }));
    const [builtin, local] = [{ source: "builtin" }, { source: "local" }];
    const reachesTools = () => "all";
    /** @type {any} */ (pi.api).getAllTools = () => [
      { name: "codemode", reachesTools, sourceInfo: builtin },
      { name: "other", reachesTools, sourceInfo: local },
      { name: "old", reachesTools },
      { name: "read", sourceInfo: builtin },
    ];
    for (const toolName of ["codemode", "other", "old", "read", "unknown", "__proto__"])
      pi.emit("tool_call", { toolCallId: toolName, toolName });
    /** @type {any} */ (pi.api).getAllTools = () => {
      throw new Error("gone");
    };
    pi.emit("tool_call", { toolCallId: "again", toolName: "codemode" });
    assert.deepEqual(got, [
      ["codemode", true],
      ["other", false],
      ["old", false],
      ["read", false],
      ["unknown", false],
      ["__proto__", false],
      ["codemode", false],
    ]);
  });

  test("are drawn from partial data as well", () => {
    /** @type {unknown[]} */
    const got = [];
    const draw = (/** @type {unknown[]} */ ...parameters) => {
      got.push(parameters);
      return { tag: "lines", val: [[{ text: "x\x1b[2J", color: "accent", bold: false }]] };
    };
    const pi = withTool({ name: "t" }, { drawToolCall: draw, drawToolResult: draw });
    const tool = pi.registered.get("tool t");
    const call = tool.renderCall({ a: 1 }, pi.theme, { expanded: true });
    const bare = tool.renderCall({}, pi.theme);
    const content = [{ type: "text", text: "one" }, { type: "image" }, { type: "text", text: "two" }];
    const result = tool.renderResult({ content, details: undefined }, { expanded: true }, pi.theme);
    assert.deepEqual(got, [], "nothing is drawn before it is rendered");
    assert.equal(call.render(20).join("").trim(), "<accent>x[2J");
    assert.equal(call.render(20).join("").trim(), "<accent>x[2J");
    result.render(20);
    // An older pi does not pass it.
    bare.render(20);
    assert.deepEqual(got, [
      ["t", '{"a":1}', true],
      ["t", { text: "one\ntwo", details: "null" }, true],
      ["t", "{}", false],
    ]);
    call.invalidate();
    call.render(20);
    assert.equal(got.length, 4);
  });
});

suite("a tool that is offered", () => {
  const tool = { name: "t", label: "T", description: "one", parameters: '{"type":"object"}', promptGuidelines: [] };

  /** @param {boolean} activeTools */
  function offering(activeTools) {
    /** @type {unknown[]} */
    const answers = [];
    const pi = standIn();
    const guest = plainGuest((imports) => ({
      init: () => imports[API].registerCommand({ name: "a", description: "" }),
      runCommand(/** @type {unknown} */ _at, /** @type {string} */ _name, /** @type {string} */ description) {
        answers.push(answer(() => imports[API].offerTool({ ...tool, description })));
        return { tag: "done" };
      },
      executeTool: () => ({ tag: "last", val: { text: "done", details: "null" } }),
    }));
    loadInto(pi, guest, { activeTools });
    return { pi, answers };
  }

  test("is registered at any time, again with another description, and its result can end the agent's run", async () => {
    const { pi, answers } = offering(true);
    assert.ok(!pi.registered.has("tool t"));
    for (const description of ["one", "two"]) {
      await pi.command("a", description);
      assert.equal(pi.registered.get("tool t").description, description);
    }
    assert.deepEqual(answers, [undefined, undefined]);
    const result = { content: [{ type: "text", text: "done" }], details: null, terminate: true };
    assert.deepEqual(await pi.tool("t", {}), result);
  });

  test("needs the grant of active tools", async () => {
    const { pi, answers } = offering(false);
    await pi.command("a", "one");
    assert.deepEqual(answers, [{ error: { tag: "failed", val: "The manifest does not grant it." } }]);
    assert.ok(!pi.registered.has("tool t"));
  });
});

test("work that an event begins goes on behind it, and is resumed as a command", async () => {
  /** @type {unknown[]} */
  const resumed = [];
  const pi = loaded(
    (imports) => ({
      handleEvent: (/** @type {unknown} */ _at, /** @type {{ tag: string }} */ { tag }) => {
        const request = { tag: "confirm", val: { title: "T", message: "M" } };
        return tag === "agent-settled" ? { tag: "pending", val: { ticket: 7n, request } } : { tag: "none" };
      },
      resumeCommand(/** @type {unknown} */ _at, /** @type {bigint} */ ticket, /** @type {unknown} */ answered) {
        resumed.push([ticket, answered]);
        imports[API].setSessionName("resumed");
        return { tag: "done" };
      },
    }),
    ["agent-settled"],
  );
  /** @type {(yes: boolean) => void} */
  let say = () => {};
  pi.behaviour.confirm = () => new Promise((resolve) => (say = resolve));
  assert.equal(pi.emit("agent_settled"), undefined, "pi does not wait");
  while (!pi.did().some(([name]) => name === "confirm")) await sleep(1);
  assert.deepEqual(resumed, []);
  say(true);
  while (resumed.length === 0) await sleep(1);
  assert.deepEqual(resumed, [[7n, { tag: "confirmed", val: true }]]);
});
