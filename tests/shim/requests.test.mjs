// Requests of a guest in pi: dialogs, command lines, the store, the project's files, flags.

import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { buildHello } from "../guests/hello.mjs";
import { VERSIONS, variants } from "../pi/harness/extent.mjs";
import { runPrint } from "../pi/harness/pi.mjs";
import { startRpc } from "../pi/harness/rpc.mjs";
import { messageText } from "../pi/harness/scripted-model.mjs";
import { stage } from "../pi/harness/stage.mjs";

/** The package's folder. */
let home = "";
before(async () => {
  home = await buildHello("requests");
});

/** @param {string} file */
async function waitForFile(file) {
  for (let n = 0; !existsSync(file) || readFileSync(file, "utf8") === ""; n += 1) {
    assert.ok(n < 500, `${file} is missing`);
    await sleep(20);
  }
}

/** Waits until a process has ended. @param {number} pid */
async function gone(pid) {
  for (let n = 0; existsSync(`/proc/${pid}`); n += 1) {
    assert.ok(n < 250, `process ${pid} is still there`);
    await sleep(20);
  }
}

for (const version of VERSIONS) {
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

    /**
     * Returns the results that the model received for its tool calls.
     *
     * @param {import("../pi/harness/scripted-model.mjs").ScriptedModel} model
     */
    const toolResults = (model) =>
      model.lastRequest().messages.flatMap((message) => (message.role === "tool" ? [messageText(message)] : []));

    const runs = (/** @type {string} */ line, times = 1) => ({ calls: [{ name: "run", arguments: { line, times } }] });

    test("two dialogs are shown one after the other", async (t) => {
      const { rpc, notices } = await inPi(t);
      rpc.onDialog(({ method }) => (method === "select" ? "green" : "It grows."));
      await rpc.prompt("/choose");
      assert.deepEqual(
        rpc.records.flatMap(({ method, title, options, placeholder }) =>
          title ? [[method, title, options ?? placeholder]] : [],
        ),
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

    test("a command line runs in the project and returns its end and its output", async (t) => {
      const { rpc, sandbox, notices } = await inPi(t);
      await rpc.prompt("/run pwd; echo wrong >&2; exit 3");
      assert.deepEqual(notices(), [`exited 3, 0 bytes cut: ${sandbox.project}\nwrong\n`]);
      await rpc.prompt("/run no-such-program");
      assert.match(notices()[1], /^exited 127, .*no-such-program: command not found/);
      await rpc.prompt("/run-briefly echo begun; sleep 60 & wait");
      assert.equal(notices()[2], "timed out, 0 bytes cut: begun\n");
      await rpc.prompt("/run cat; kill -9 $$");
      assert.equal(notices()[3], "exited 137, 0 bytes cut: ");
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("in JSON mode pi waits for a command line", async (t) => {
      const { sandbox } = await stage(t, []);
      const run = await runPrint({
        version,
        sandbox,
        extension: home,
        mode: "json",
        prompt: "/run sleep 0.5; echo done",
      });
      assert.equal(run.stderr, "exited 0, 0 bytes cut: done\n\n");
      for (const line of run.stdout.trim().split("\n")) JSON.parse(line);
    });

    test("a tool runs several command lines one after another and shows the current one", async (t) => {
      const { rpc, model } = await inPi(t, [runs("sleep 1.1; echo done", 2)]);
      await rpc.promptAndSettle("Run it");
      assert.deepEqual(toolResults(model), ["exited 0, 0 bytes cut: done\n\nexited 0, 0 bytes cut: done\n"]);
      const updates = rpc.records.filter(({ type }) => type === "tool_execution_update");
      const texts = updates.map(({ partialResult }) => partialResult.content[0].text);
      const both = ["running: sleep 1.1; echo done · 0 s", "running: sleep 1.1; echo done · 1 s"];
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
      assert.match(result.result.content[0].text, /^cancelled, 0 bytes cut: /);
    });

    test("the end of the session closes dialogs and stops command lines without an answer", async (t) => {
      const { rpc, sandbox, notices } = await inPi(t);
      /** @type {(answer: string) => void} */
      let answer = () => {};
      rpc.onDialog(() => new Promise((resolve) => (answer = resolve)));
      const commands = [rpc.prompt("/choose"), rpc.prompt("/run echo $$ > pid; sleep 60 & wait")];
      await rpc.waitFor(({ method }) => method === "select");
      await waitForFile(join(sandbox.project, "pid"));
      const start = performance.now();
      assert.equal((await rpc.send({ type: "new_session" })).success, true);
      // The commands end with the session: their handlers must not wait for an answer that never comes.
      await Promise.all(commands);
      assert.ok(performance.now() - start < 4000);
      answer("green");
      await rpc.prompt("/flag");
      assert.deepEqual(notices(), ["Ok(false)"]);
      await gone(Number(readFileSync(join(sandbox.project, "pid"), "utf8")));
      assert.deepEqual(rpc.ui("setWidget").at(-1)?.widgetLines, undefined);
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.equal(rpc.stderr(), "");
    });

    test("the guest can cancel its pending requests", async (t) => {
      const { rpc, notices } = await inPi(t);
      rpc.onDialog(() => new Promise(() => {}));
      const commands = [
        rpc.prompt("/hello Ann"),
        rpc.prompt("/choose"),
        rpc.prompt("/run echo begun; sleep 60 & wait"),
      ];
      await rpc.waitFor(({ method }) => method === "select");
      await rpc.waitFor(({ method, widgetLines }) => method === "setWidget" && widgetLines?.[0].endsWith("· 1 s"));
      await rpc.prompt("/cancel");
      await Promise.all(commands);
      assert.deepEqual(notices().sort(), [
        "No hello for Ann: no answer.",
        "No hello for choice: no answer.",
        "cancelled, 0 bytes cut: begun\n",
      ]);
      const widgets = rpc.ui("setWidget").map(({ widgetKey, widgetLines }) => [widgetKey, widgetLines?.join()]);
      assert.deepEqual(widgets[0], ["hello-guest:running", "running: echo begun; sleep 60 & wait · 0 s"]);
      assert.deepEqual(widgets.at(-1), ["hello-guest:running", undefined]);
    });

    test("an abort closes a tool's dialog", async (t) => {
      const ask = { calls: [{ name: "greet", arguments: { name: "Ann", ask: true } }] };
      const { rpc } = await inPi(t, [ask]);
      rpc.onDialog(() => new Promise(() => {}));
      const settled = rpc.waitForSettled();
      await rpc.prompt("Greet");
      await rpc.waitFor(({ method }) => method === "confirm");
      await rpc.send({ type: "abort" });
      await settled;
      const result = rpc.records.find(({ type }) => type === "tool_execution_end");
      assert.equal(result.result.content[0].text, "No greeting: no answer.");
    });

    test("a dialog and a command line of a tool have no answer if the session ends", async (t) => {
      const { rpc, sandbox } = await inPi(t, [runs("echo $$ > pid; sleep 60 & wait")]);
      await rpc.prompt("Run it");
      await waitForFile(join(sandbox.project, "pid"));
      assert.equal((await rpc.send({ type: "new_session" })).success, true);
      await gone(Number(readFileSync(join(sandbox.project, "pid"), "utf8")));
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.equal(await rpc.close(), 0);
    });

    for (const how of variants(["SIGTERM", "the end of its input"])) {
      test(`no command line keeps running when pi ends by ${how}`, async (t) => {
        const { rpc, sandbox } = await inPi(t);
        void rpc.prompt("/run echo $$ > pid; sleep 60 & wait");
        await waitForFile(join(sandbox.project, "pid"));
        if (how === "SIGTERM") process.kill(rpc.pid, how);
        await rpc.close();
        await gone(Number(readFileSync(join(sandbox.project, "pid"), "utf8")));
      });
    }

    test("the shell is the user's, not the project's", async (t) => {
      const { sandbox } = await stage(t, [], { settings: { shellCommandPrefix: "WHOSE=user" } });
      sandbox.writeFiles({ ".pi/settings.json": JSON.stringify({ shellCommandPrefix: "WHOSE=project" }) });
      const run = await runPrint({ version, sandbox, extension: home, trust: true, prompt: "/run echo $WHOSE" });
      assert.equal(run.stderr, "exited 0, 0 bytes cut: user\n\n");
    });

    test("a request that the manifest does not grant is refused", async (t) => {
      const { sandbox } = await stage(t, []);
      const other = join(sandbox.root, "other");
      cpSync(home, other, { recursive: true });
      const manifest = JSON.parse(readFileSync(join(other, "package.json"), "utf8"));
      for (const exec of variants([undefined, false, "true", 1])) {
        manifest.component = { glue: manifest.component.glue, exec };
        writeFileSync(join(other, "package.json"), JSON.stringify(manifest));
        const prompt = ["/run touch ran", "/keep it here", "/recall it", "/look plan.md"];
        const run = await runPrint({ version, sandbox, extension: other, trust: true, prompt });
        assert.deepEqual(run.stderr.split("\n"), [
          "No hello for run: not granted.",
          "Err(StoreError::NotGranted)",
          "Err(StoreError::NotGranted)",
          "Err(FileError::NoSuchRoot)",
          "",
        ]);
      }
      assert.equal(existsSync(join(sandbox.project, "ran")), false);
      manifest.component.store = { name: "../settings" };
      writeFileSync(join(other, "package.json"), JSON.stringify(manifest));
      const run = await runPrint({ version, sandbox, extension: other, prompt: "/recall it" });
      assert.match(run.stderr, /a store's name consists of letters, digits, "_" and "-"/);
    });

    test("a value outlives the session, in a file that only the user can read", async (t) => {
      const { rpc, sandbox, notices } = await inPi(t);
      await rpc.prompt("/recall it");
      await rpc.prompt("/keep it is kept");
      await rpc.prompt("/keep __proto__ too");
      await rpc.send({ type: "new_session" });
      await rpc.prompt("/recall it");
      await rpc.prompt("/forget it");
      await rpc.prompt("/recall it");
      await rpc.prompt("/recall __proto__");
      assert.deepEqual(notices(), [
        "Ok(None)",
        "Ok(())",
        "Ok(())",
        'Ok(Some("is kept"))',
        "Ok(())",
        "Ok(None)",
        'Ok(Some("too"))',
      ]);
      const file = join(sandbox.agent, "extension-data/hello-guest.json");
      assert.equal(readFileSync(file, "utf8"), '{\n  "__proto__": "too"\n}\n');
      assert.equal(statSync(file).mode & 0o777, 0o600);
    });

    test("the project's files can be read if pi trusts the project", async (t) => {
      const { rpc, sandbox, notices } = await inPi(t, [], { trust: true });
      writeFileSync(join(sandbox.project, "plan.md"), "A plan.");
      await rpc.prompt("/look plan.md");
      assert.equal(notices()[0], `Ok([${Buffer.from("A plan.").join(", ")}])`);
      const { sandbox: other } = await stage(t, []);
      writeFileSync(join(other.project, "plan.md"), "A plan.");
      const run = await runPrint({ version, sandbox: other, extension: home, trust: false, prompt: "/look plan.md" });
      assert.equal(run.stderr, "Err(FileError::NoSuchRoot)\n");
    });

    test("a flag of the command line is set in every session", async (t) => {
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
