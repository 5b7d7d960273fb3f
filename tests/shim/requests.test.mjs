// What a guest may ask for beyond the session, in pi: dialogs, command lines, a store, the project's files, flags.

import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { buildHello } from "../guests/hello.mjs";
import { PI_VERSIONS, runPrint } from "../pi/harness/pi.mjs";
import { startRpc } from "../pi/harness/rpc.mjs";
import { messageText } from "../pi/harness/scripted-model.mjs";
import { stage } from "../pi/harness/stage.mjs";

/** The package's folder. */
let home = "";
before(async () => {
  home = await buildHello("requests");
});

for (const version of PI_VERSIONS) {
  suite(`in pi ${version}`, { concurrency: 2 }, () => {
    /**
     * @param {import("node:test").TestContext} t
     * @param {Parameters<typeof stage>[1]} [script]
     * @param {{ args?: string[], trust?: boolean }} [options]
     */
    async function inPi(t, script = [], options = {}) {
      const { model, sandbox } = await stage(t, script);
      const rpc = await startRpc({ version, sandbox, extension: home, ...options });
      const notices = () => rpc.ui("notify").map(({ message }) => message);
      return { model, sandbox, rpc, notices };
    }

    /** What the model got for its calls of tools. @param {import("../pi/harness/scripted-model.mjs").ScriptedModel} model */
    const toolResults = (model) =>
      model.lastRequest().messages.flatMap((message) => (message.role === "tool" ? [messageText(message)] : []));

    const runs = (/** @type {string} */ line, times = 1) => ({ calls: [{ name: "run", arguments: { line, times } }] });

    test("a choice and a text are asked for one after the other", async (t) => {
      const { rpc, notices } = await inPi(t);
      rpc.onDialog(({ method }) => (method === "select" ? "green" : "It grows."));
      await rpc.prompt("/choose");
      assert.deepEqual(
        rpc.records.flatMap(({ method, title, options, placeholder }) => (title ? [[method, title, options ?? placeholder]] : [])),
        [
          ["select", "Which one?", ["red", "green", "blue"]],
          ["input", "Why?", "because"],
        ],
      );
      assert.deepEqual(notices(), ["1: It grows."]);
      rpc.onDialog(() => undefined);
      await rpc.prompt("/choose");
      rpc.onDialog(({ method }) => (method === "select" ? "no such colour" : ""));
      await rpc.prompt("/choose");
      assert.deepEqual(notices().slice(1), ["No hello for choice: no answer.", "No hello for choice: no answer."]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("a command line runs in the project, and says how it ended and what it wrote", async (t) => {
      const { rpc, sandbox, notices } = await inPi(t);
      await rpc.prompt("/run pwd; echo wrong >&2; exit 3");
      assert.deepEqual(notices(), [`exited 3, ${sandbox.project.length + 7} bytes: ${sandbox.project}\nwrong\n`]);
      await rpc.prompt("/run no-such-program");
      assert.match(notices()[1], /^exited 127, .*no-such-program: command not found/);
      await rpc.prompt("/run-briefly echo begun; sleep 60 & wait");
      assert.equal(notices()[2], "timed out, 6 bytes: begun\n");
      await rpc.prompt("/run cat; kill -9 $$");
      assert.equal(notices()[3], "exited 137, 0 bytes: ");
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("a tool runs one line after another, and shows which", async (t) => {
      const { rpc, model } = await inPi(t, [runs("sleep 1.1; echo done", 2)]);
      await rpc.promptAndSettle("Run it");
      assert.deepEqual(toolResults(model), ["exited 0, 5 bytes: done\n\nexited 0, 5 bytes: done\n"]);
      const updates = rpc.records.filter(({ type }) => type === "tool_execution_update");
      const texts = updates.map(({ partialResult }) => partialResult.content[0].text);
      const both = ["running: sleep 1.1; echo done (0 s)", "running: sleep 1.1; echo done (1 s)"];
      assert.deepEqual(texts, [...both, ...both]);
    });

    test("an abort stops a tool's command line", async (t) => {
      const { rpc } = await inPi(t, [runs("echo begun; sleep 60 & wait")]);
      const settled = rpc.waitForSettled();
      await rpc.prompt("Run it");
      await rpc.waitFor(({ type }) => type === "tool_execution_update");
      const start = performance.now();
      await rpc.send({ type: "abort" });
      await settled;
      assert.ok(performance.now() - start < 2000);
      const result = rpc.records.find(({ type }) => type === "tool_execution_end");
      assert.match(result.result.content[0].text, /^cancelled, \d bytes: /);
    });

    test("a value outlives the session, in a file that only the person reads", async (t) => {
      const { rpc, sandbox, notices } = await inPi(t);
      await rpc.prompt("/recall it");
      await rpc.prompt("/keep it is kept");
      await rpc.prompt("/keep __proto__ too");
      await rpc.send({ type: "new_session" });
      await rpc.prompt("/recall it");
      await rpc.prompt("/forget it");
      await rpc.prompt("/recall it");
      await rpc.prompt("/recall __proto__");
      assert.deepEqual(notices(), ["Ok(None)", "Ok(())", "Ok(())", 'Ok(Some("is kept"))', "Ok(())", "Ok(None)", 'Ok(Some("too"))']);
      const file = join(sandbox.agent, "extension-data/hello-guest.json");
      assert.equal(readFileSync(file, "utf8"), '{\n  "__proto__": "too"\n}\n');
      assert.equal(statSync(file).mode & 0o777, 0o600);
    });

    test("the project's files are there where pi trusts the project", async (t) => {
      const { rpc, sandbox, notices } = await inPi(t, [], { trust: true });
      writeFileSync(join(sandbox.project, "plan.md"), "A plan.");
      await rpc.prompt("/look plan.md");
      assert.match(notices()[0], /^Ok\(FileStat \{ kind: Kind::File, size: 7, stamp: "/);
      const { sandbox: other } = await stage(t, []);
      writeFileSync(join(other.project, "plan.md"), "A plan.");
      const run = await runPrint({ version, sandbox: other, extension: home, trust: false, prompt: "/look plan.md" });
      assert.equal(run.stderr, "Err(FileError::NoSuchRoot)\n");
    });

    test("a flag is there where it was given, in the next session too", async (t) => {
      const { rpc, notices } = await inPi(t, [], { args: ["--greet"] });
      await rpc.prompt("/flag");
      await rpc.send({ type: "new_session" });
      await rpc.prompt("/flag");
      const without = await inPi(t);
      await without.rpc.prompt("/flag");
      assert.deepEqual([...notices(), ...without.notices()], ["Ok(true)", "Ok(true)", "Ok(false)"]);
      const { sandbox } = await stage(t, []);
      const run = await runPrint({ version, sandbox, extension: home, args: ["--greet"], prompt: "/flag" });
      assert.equal(run.stderr, "Ok(true)\n");
    });
  });
}
