// A guest that panics in any call and any number of times.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { buildHello } from "../guests/hello.mjs";
import { LONG, VERSIONS } from "../pi/harness/extent.mjs";
import { runPrint } from "../pi/harness/pi.mjs";
import { startRpc } from "../pi/harness/rpc.mjs";
import { messageText } from "../pi/harness/scripted-model.mjs";
import { stage } from "../pi/harness/stage.mjs";
import { builtGuest, loadInto, standIn } from "./pi-stand-in.mjs";

const BROKEN_CALL = "The extension that decides about this call broke while it did. The call is refused; try again.";
const OFF_CALL =
  "The extension that decides about this call broke and is switched off. The call is refused; tell the user.";

/** The package's folder. */
let home = "";
before(async () => {
  home = await buildHello("traps");
});

/**
 * Parses the message to the user after a trap: the call that panicked, and `off: ` if the guest was switched off.
 *
 * @param {string} notice
 */
function trapOf(notice) {
  const [, off, name] =
    /^hello-guest broke and (was started again|is switched off)[^]*: panicked at tests\/guests\/hello\.rs:\d+:\d+:\n(.*), as asked$/.exec(
      notice,
    ) ?? [];
  return name && `${off === "was started again" ? "" : "off: "}${name}`;
}

suite("a panic in plain Node", () => {
  /** Loads the guest into the stand-in. @param {Parameters<typeof loadInto>[2]} [changes] @param {string} [agentDir] */
  function loaded(changes, agentDir) {
    const pi = loadInto(standIn(), builtGuest(home), changes, agentDir);
    const traps = () => pi.did().flatMap(([call, words]) => (call === "notify" ? [trapOf(String(words))] : []));
    return { pi, traps };
  }
  const rendered = (/** @type {any} */ component) => component.render(60).join("").trim();

  /** @type {Record<string, (pi: ReturnType<typeof standIn>) => unknown>} */
  const CALLS = {
    "session-start": (pi) => pi.emit("session_start", { reason: "new" }),
    "session-compact": (pi) => pi.emit("session_compact"),
    input: (pi) => pi.emit("input", { source: "rpc" }),
    "before-agent-start": (pi) => pi.emit("before_agent_start"),
    "tool-call": (pi) => pi.emit("tool_call", { toolCallId: randomUUID(), toolName: "read" }),
    "execute-tool": (pi) => pi.tool("greet", {}).catch((/** @type {Error} */ { message }) => message),
    "resume-tool": (pi) => pi.tool("greet", { ask: true }).catch((/** @type {Error} */ { message }) => message),
    "run-command": (pi) => pi.command("flag"),
    "resume-command": (pi) => pi.command("hello", "Ann"),
    "complete-argument": (pi) => pi.registered.get("command hello").getArgumentCompletions("w"),
    "draw-tool-call": (pi) => rendered(pi.registered.get("tool greet").renderCall({}, pi.theme)),
    "draw-tool-result": (pi) => rendered(pi.registered.get("tool greet").renderResult({ content: "A" }, {}, pi.theme)),
    "draw-message": (pi) =>
      rendered(pi.registered.get("message hello:note")({ content: "A", display: true }, {}, pi.theme)),
    "draw-entry": (pi) => rendered(pi.registered.get("entry hello:greeting")({ data: 1 }, {}, pi.theme)),
  };
  /** The result that pi receives for a call that trapped. @type {Record<string, unknown>} */
  const ANSWERS = {
    "tool-call": { block: true, reason: BROKEN_CALL },
    "execute-tool": BROKEN_CALL,
    "resume-tool": BROKEN_CALL,
    "complete-argument": null,
    "draw-tool-call": "",
    "draw-tool-result": "",
    "draw-message": "",
    "draw-entry": "",
  };

  for (const [name, call] of Object.entries(CALLS)) {
    test(`at ${name} is reported once, has a safe result, and the next call succeeds`, async () => {
      const { pi, traps } = loaded();
      const well = await call(pi);
      await pi.command("trap", name);
      pi.did();
      assert.deepEqual(await call(pi), ANSWERS[name]);
      // Notices at the start of a session follow when pi has drawn its messages.
      if (name === "session-start") await sleep(1);
      assert.deepEqual(traps(), [name]);
      assert.deepEqual(await call(pi), well);
      assert.deepEqual(traps().filter(Boolean), []);
    });
  }

  test("at a timer is reported", async () => {
    const { pi, traps } = loaded();
    await pi.command("remind", "1");
    await pi.command("trap", "timer");
    await new Promise((resolve) => (pi.behaviour.notify = resolve));
    assert.deepEqual(traps(), ["timer"]);
  });

  test("in the init of every later instance switches it off until an instance starts", async (t) => {
    const agent = mkdtempSync(join(tmpdir(), "traps-test-"));
    t.after(() => rmSync(agent, { recursive: true }));
    const { pi, traps } = loaded({ store: { name: "hello" } }, agent);
    await pi.command("keep", "trap init");
    await pi.command("guard", "on");
    pi.did();
    await pi.command("boom");
    assert.deepEqual(traps(), ["off: boom"]);
    assert.deepEqual(pi.emit("tool_call", { toolName: "read" }), { block: true, reason: OFF_CALL });
    await pi.command("flag");
    assert.deepEqual(traps(), ["off: init"]);
    writeFileSync(join(agent, "extension-data/hello.json"), "{}");
    await pi.command("guard", "off");
    assert.equal(pi.emit("tool_call", { toolName: "read" }), undefined);
  });
});

for (const version of VERSIONS) {
  suite(`a panic in pi ${version}`, () => {
    test(
      "a thousand times in one session loses no state and leaks no memory",
      { timeout: 300_000, ...LONG },
      async (t) => {
        const greet = { calls: [{ name: "greet", arguments: { name: "Ann", ask: true } }] };
        const { model, sandbox } = await stage(t, ({ messages }) =>
          messages.at(-1)?.role === "user" ? greet : { text: "Done." },
        );
        const rpc = await startRpc({ version, sandbox, extension: home });
        rpc.onDialog(() => true);
        await rpc.promptAndSettle("Greet her");
        const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${rpc.pid}/status`, "utf8"))?.[1]) / 1024;
        /** @type {number[]} */
        const used = [];
        /** @type {string[]} */
        const asked = [];
        const RUNS = ["input", "before-agent-start", "tool-call", "execute-tool", "resume-tool"];
        for (let turn = 0; asked.length < 1000; turn += 1) {
          const n = asked.length;
          if (turn % 30 === 0) {
            const name = RUNS[(turn / 30) % RUNS.length];
            asked.push(name);
            await rpc.prompt(`/trap ${name}`);
            await rpc.promptAndSettle("Greet her again");
          } else if (turn % 5 === 1) {
            asked.push("timer");
            await rpc.prompt("/trap timer");
            const from = rpc.records.length;
            await rpc.prompt("/remind 0");
            await rpc.waitFor(({ method }) => method === "notify", { from });
          } else if (turn % 5 === 2) {
            asked.push("resume-command");
            await rpc.prompt("/trap resume-command");
            await rpc.prompt("/hello Ann");
            await rpc.prompt("/flag");
          } else {
            asked.push("boom", "boom");
            await rpc.prompt("/boom");
            await rpc.prompt("/boom");
            await rpc.prompt("/flag");
          }
          if (Math.floor(asked.length / 250) > Math.floor(n / 250)) used.push(memory());
        }
        const told = rpc.ui("notify").flatMap(({ message }) => trapOf(message) ?? []);
        assert.deepEqual(told, asked);
        const grown = (used.at(-1) ?? 0) - used[0];
        t.diagnostic(`MiB after each 250: ${used.map(Math.round).join(", ")}`);
        assert.ok(grown < 60, `${used}`);
        await rpc.promptAndSettle("Greet her once more");
        const greetings = (await rpc.entries()).filter(({ customType }) => customType === "hello:greeting");
        // In the other calls the panic interrupts the greeting itself.
        const greeted = asked.filter((name) => name === "input" || name === "before-agent-start");
        assert.ok(greeted.length >= 8, String(greeted.length));
        assert.equal(greetings.length, 1 + greeted.length + 1);
        const status = rpc.ui("setStatus").findLast(({ statusKey }) => statusKey === "hello");
        assert.equal(status.statusText, `${greetings.length} greetings`);
        assert.equal(messageText(model.lastRequest().messages.at(-1) ?? { role: "" }), "Hello, Ann!");
        assert.deepEqual(rpc.extensionErrors(), []);
        assert.equal(rpc.stderr(), "");
        assert.equal(await rpc.close(), 0);
      },
    );

    /** @param {import("../pi/harness/sandbox.mjs").Sandbox} sandbox @param {string} name */
    const breakIn = (sandbox, name) => {
      mkdirSync(join(sandbox.agent, "extension-data"), { recursive: true });
      writeFileSync(join(sandbox.agent, "extension-data/hello-guest.json"), JSON.stringify({ trap: name }));
    };

    test("three times in a row has tool calls refused until a command works again", async (t) => {
      const read = { calls: [{ name: "read", arguments: { path: "no-such-file" } }] };
      const { model, sandbox } = await stage(t, ({ messages }) =>
        messages.at(-1)?.role === "user" ? read : { text: "Done." },
      );
      const rpc = await startRpc({ version, sandbox, extension: home });
      const traps = () => rpc.ui("notify").map(({ message }) => trapOf(message));
      const result = () => messageText(model.lastRequest().messages.at(-1) ?? { role: "" });
      breakIn(sandbox, "restarted");
      await rpc.prompt("/boom");
      assert.deepEqual(traps(), ["off: boom"]);
      for (let n = 0; n < 2; n += 1) {
        await rpc.promptAndSettle("Read it");
        assert.equal(result(), OFF_CALL);
      }
      await rpc.prompt("/flag");
      assert.deepEqual(traps(), ["off: boom", "off: restarted"]);
      await rpc.promptAndSettle("Read it");
      assert.equal(result(), OFF_CALL);
      breakIn(sandbox, "nowhere");
      await rpc.prompt("/flag");
      assert.equal(traps().length, 3, "the command says what it has to say");
      await rpc.promptAndSettle("Read it");
      assert.match(result(), /no-such-file/);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("three times in a row does not affect tool calls if guard-tools is off, and a new session starts it again", async (t) => {
      const read = { calls: [{ name: "read", arguments: { path: "no-such-file" } }] };
      const { model, sandbox } = await stage(t, ({ messages }) =>
        messages.at(-1)?.role === "user" ? read : { text: "Done." },
      );
      const rpc = await startRpc({ version, sandbox, extension: home });
      await rpc.prompt("/guard off");
      breakIn(sandbox, "restarted");
      await rpc.prompt("/boom");
      await rpc.promptAndSettle("Read it");
      assert.match(messageText(model.lastRequest().messages.at(-1) ?? { role: "" }), /no-such-file/);
      await rpc.send({ type: "new_session" });
      await rpc.prompt("/flag");
      assert.deepEqual(
        rpc.ui("notify").map(({ message }) => trapOf(message) ?? message),
        ["off: boom", "Ok(false)"],
      );
    });

    test("in the first init is reported with its message", async (t) => {
      const { sandbox } = await stage(t, []);
      breakIn(sandbox, "init");
      const run = await runPrint({ version, sandbox, extension: home, prompt: "/flag" });
      assert.match(run.stderr, /panicked at tests\/guests\/hello\.rs:\d+:\d+:\ninit, as asked/);
    });
  });
}
