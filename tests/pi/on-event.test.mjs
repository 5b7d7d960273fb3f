// A program of the user's settings gets events of runs.

import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { panel, team } from "./harness/branches.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { nextUntilDone, steps, workflow } from "./harness/workflows.mjs";

const REST = { text: "I rest." };
const OFF = { autoContinue: false };
const SETTINGS = "builtin: false\nonEvent: [~/tell]\n";
const ASK = { ask: "Is it right?", outcomes: { good: "next", bad: "stop" } };

/**
 * A sandbox with a program `~/tell` that writes its lines into a file.
 *
 * @param {import("node:test").TestContext} t
 * @param {Parameters<typeof stage>[1]} script
 * @param {Record<string, string>} globalFiles
 * @param {Partial<import("./harness/sandbox.mjs").SandboxOptions>} [more]
 */
async function told(t, script, globalFiles, more = {}) {
  const { sandbox } = await stage(t, script, { globalFiles: { "settings.yaml": SETTINGS, ...globalFiles }, ...more });
  const log = join(sandbox.home, "log");
  const program = join(sandbox.home, "tell");
  writeFileSync(program, `#!/bin/sh\ncat >> '${log}'\n`);
  chmodSync(program, 0o755);
  const lines = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []);
  const types = () => lines().map((line) => JSON.parse(line).type);
  /** Waits until there are so many, and returns their types. */
  const after = async (/** @type {number} */ count, timeoutMs = 10_000) => {
    for (const end = Date.now() + timeoutMs; lines().length < count && Date.now() < end;) await sleep(50);
    return types();
  };
  return { sandbox, program, lines, types, after };
}

for (const version of VERSIONS) {
  suite(`pi ${version}: a program that is told of runs`, { concurrency: 2 }, () => {
    test("gets a wait and the end, and nothing when the session is opened again", async (t) => {
      const script = [REST, REST, ...steps("next", "next"), REST];
      const { sandbox, lines, types, after } = await told(t, script, workflow("hello", ["plan", "build"], OFF));
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Do it");
      assert.deepEqual(await after(1), ["waiting"]);
      await rpc.close();
      const again = await startRpc({ version, sandbox, args: ["--continue"] });
      await again.waitFor(({ statusText }) => /waits for you/.test(statusText ?? ""));
      await sleep(300);
      assert.deepEqual(types(), ["waiting"]);
      await again.promptAndSettle("Go on");
      await again.promptAndSettle("Go on");
      assert.deepEqual(await after(3), ["waiting", "waiting", "ended"]);
      assert.doesNotMatch(lines().join(), /Do it/);
      assert.deepEqual(again.extensionErrors(), []);
      await again.close();
    });

    test("is none of a project", async (t) => {
      const settings = "onEvent: [~/tell]\n";
      const { sandbox, types } = await told(t, [REST], workflow("hello", ["plan"], OFF), {
        globalFiles: { ...workflow("hello", ["plan"], OFF), "settings.yaml": "builtin: false\n" },
        projectFiles: { "settings.yaml": settings, "hello/settings.yaml": settings },
        files: { "settings.yaml": settings, ".pi/settings.yaml": settings },
      });
      const rpc = await startRpc({ version, sandbox, args: ["--approve"] });
      await rpc.promptAndSettle("/workflow hello Do it");
      await sleep(500);
      assert.deepEqual(types(), []);
      await rpc.close();
    });

    test("gets the end in a process without an interface, which does not wait for it", LONG, async (t) => {
      const { sandbox, program, after } = await told(t, nextUntilDone, workflow("hello", ["plan"], OFF));
      writeFileSync(program, readFileSync(program, "utf8").replace("\n", "\nsleep 3\n"));
      const started = Date.now();
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello Do it" });
      assert.deepEqual([run.code, run.stderr], [0, "Workflow The hello: DONE.\n"]);
      const over = Date.now();
      assert.deepEqual(await after(1), ["ended"]);
      assert.ok(Date.now() - over > 200 || over - started > 3000, "pi waited for it");
      const json = await runPrint({ version, sandbox, prompt: "/workflow hello Do it", args: ["--mode", "json"] });
      assert.equal(json.code, 0);
      assert.equal((await after(2)).length, 2);
    });

    test("gets texts if the settings say so, also a question of a branch, once", async (t) => {
      const asks = panel(["one", "two"], { phases: [{ id: "first", phases: ["one.md", ASK] }, "two.md"] });
      const { sandbox, lines, after } = await told(t, team(), {
        ...asks,
        "settings.yaml": "builtin: false\nonEvent: { program: [~/tell], texts: true }\n",
      });
      const onDialog = async () => (await sleep(500), "good");
      const rpc = await startRpc({ version, sandbox, onDialog });
      await rpc.promptAndSettle("/workflow panel Do it");
      assert.deepEqual(await after(2), ["question", "ended"]);
      assert.match(lines()[0], /"title":".*Is it right\?/);
      await rpc.close();
    });

    test("gets in a terminal what comes 30 seconds after a key; and pi looks blocked", LONG, async (t) => {
      const script = [REST, REST, ...steps("next"), REST];
      const slow = async (/** @type {unknown} */ _, /** @type {number} */ index) => {
        if (index === 0) await sleep(31_000);
        return script[index];
      };
      const { sandbox, after } = await told(t, slow, workflow("hello", ["plan"], OFF));
      const raw = join(sandbox.root, "raw");
      const tui = await startTui({ version, sandbox, env: { PI_PROGRAM_STATUS: "1" } });
      await tui.record(raw);
      await tui.submit("/workflow hello Do it");
      await tui.waitFor("(waits for you)", 60_000);
      assert.deepEqual(await after(1), ["waiting"]);
      const statuses = () => [...readFileSync(raw, "utf8").matchAll(/\x1b\]7501;([^\x07\x1b]*)/g)].map(([, of]) => of);
      if (version !== "0.87.1")
        assert.match(
          statuses().at(-1) ?? "",
          new RegExp(`^state=blocked:.*:msg=${Buffer.from("Workflow The hello waits for you").toString("base64")}$`),
        );
      else assert.deepEqual(statuses(), []);
      await tui.submit("Go on");
      await tui.waitFor(/I rest\.[^]*I rest\./);
      await tui.submit("And on");
      await tui.waitFor("The hello Complete");
      if (version !== "0.87.1") assert.doesNotMatch(statuses().at(-1) ?? "", /blocked/);
      assert.deepEqual(await after(2, 1000), ["waiting"], "the user was there");
    });
  });
}
