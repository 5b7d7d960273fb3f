// Pending requests in pi's terminal interface: the screens and the keys.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { buildHello } from "../guests/hello.mjs";
import { LONG, VERSIONS } from "../pi/harness/extent.mjs";
import { stage } from "../pi/harness/stage.mjs";
import { startTui } from "../pi/harness/tui.mjs";

/** The package's folder. */
let home = "";
before(async () => {
  home = await buildHello("terminal");
});

for (const version of VERSIONS) {
  suite(`pi ${version}: in the terminal`, { concurrency: 2 }, () => {
    /**
     * @param {import("node:test").TestContext} t
     * @param {Parameters<typeof stage>[1]} [script]
     * @param {{ settings?: Record<string, unknown>, keybindings?: object }} [options]
     */
    async function inTerminal(t, script = [], { keybindings } = {}) {
      const { model, sandbox } = await stage(t, script);
      if (keybindings) sandbox.writeFiles({ "../agent/keybindings.json": JSON.stringify(keybindings) });
      const tui = await startTui({ version, sandbox, extension: home });
      return { model, sandbox, tui };
    }

    test("a selection and a text input are shown", async (t) => {
      const { tui } = await inTerminal(t);
      await tui.submit("/choose");
      await tui.waitFor(/Which one\?[^]*→ red[^]*green[^]*blue/);
      await tui.press("Down");
      await tui.waitFor("→ green");
      await tui.press("Enter");
      await tui.waitFor("Why?");
      await tui.type("It grows.");
      await tui.waitFor("It grows.");
      await tui.press("Enter");
      await tui.waitFor("1: It grows.");
      await tui.submit("/choose");
      await tui.waitFor("Which one?");
      await tui.press("Escape");
      await tui.waitFor("No hello for choice: no answer.");
    });

    test("a command line of a command is shown while it runs, and Escape stops it", async (t) => {
      const { tui } = await inTerminal(t);
      await tui.submit("/run echo begun; sleep 60");
      const screen = await tui.waitFor("running: echo begun; sleep 60 · 1 s");
      assert.match(screen, /running: echo begun; sleep 60 · 1 s · escape stops it/);
      await tui.type("a word");
      await sleep(100);
      await tui.press("Escape");
      await tui.waitFor("cancelled, 0 bytes cut: begun");
      const after = await tui.screen();
      assert.doesNotMatch(after, /running:/);
      assert.match(after, /a word/, "what is typed meanwhile stays");
    });

    test("a reload stops a command line, and its result is dropped", async (t) => {
      const { tui, sandbox } = await inTerminal(t);
      await tui.submit("/run echo $$ > pid; sleep 60 & wait");
      await tui.waitFor("· 1 s");
      await tui.submit("/reload");
      await tui.waitFor((screen) => /^ *Reloaded/m.test(screen) && !screen.includes("running: echo"));
      await sleep(300);
      const pid = Number(readFileSync(join(sandbox.project, "pid"), "utf8"));
      for (let n = 0; existsSync(`/proc/${pid}`); n += 1) {
        assert.ok(n < 250, "it runs on");
        await sleep(20);
      }
      await tui.submit("/flag");
      await tui.waitFor("Ok(false)");
      assert.doesNotMatch(await tui.screen(), /cancelled|No hello|running: echo/);
    });

    test("the interrupt key is the one of the user's settings", LONG, async (t) => {
      const { tui } = await inTerminal(t, [], { keybindings: { "app.interrupt": "ctrl+y" } });
      await tui.submit("/run sleep 60");
      await tui.waitFor("· 1 s · ctrl+y stops it");
      await tui.press("Escape");
      await tui.waitFor("· 2 s");
      await tui.press("C-y");
      await tui.waitFor("cancelled, 0 bytes cut");
    });

    test("a command line of a tool is shown while it runs, and Escape stops it with the agent", async (t) => {
      const call = { name: "run", arguments: { line: "sleep 60", times: 1 } };
      const { tui } = await inTerminal(t, [{ calls: [call] }]);
      await tui.submit("Run it");
      const screen = await tui.waitFor("running: sleep 60 · 1 s");
      assert.equal(screen.match(/running: sleep 60/g)?.length, 1);
      await tui.press("Escape");
      await tui.waitFor("cancelled, 0 bytes cut");
      assert.doesNotMatch(await tui.screen(), /running: sleep 60/);
    });

    test("a second dialog waits for the first", async (t) => {
      const ask = { calls: [{ name: "greet", arguments: { name: "Ann", ask: true } }] };
      /** @type {(step: import("../pi/harness/scripted-model.mjs").Step) => void} */
      let go = () => {};
      const later = new Promise((resolve) => (go = resolve));
      const { tui, model } = await inTerminal(t, async (_request, index) =>
        index === 0 ? await later : { text: "Done." },
      );
      await tui.submit("Greet Ann");
      await model.waitForRequests(1);
      await tui.submit("/hello Bob");
      await tui.waitFor("Greet Bob?");
      go(ask);
      await sleep(700);
      assert.doesNotMatch(await tui.screen(), /Greet Ann\?/);
      await tui.press("Enter");
      await tui.waitFor("Greet Ann?");
      assert.match(await tui.screen(), /Hello, Bob!/);
      await tui.press("Enter");
      await tui.waitFor("Done.");
      assert.match(model.messagesText(), /Hello, Ann!/);
    });

    test("a cancelled dialog returns to the editor", async (t) => {
      const { tui } = await inTerminal(t);
      await tui.submit("/remind 2500");
      await tui.submit("/trap timer");
      await tui.submit("/hello Ann");
      await tui.waitFor("Greet Ann?");
      await tui.waitFor("broke and was started again");
      assert.doesNotMatch(await tui.screen(), /Greet Ann\?/);
      await tui.submit("/flag");
      await tui.waitFor("Ok(false)");
    });
  });
}
