// Told outside of pi that a run waits or has ended, by the user's `notify.yaml`.

import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
const COMMAND = 'command: [~/notify, "{title}", "{text}"]\n';

/** The answer that approves. @param {any} request */
const yes = ({ method, options }) =>
  method === "confirm" ? true : options.find((/** @type {string} */ option) => /^(Approve|Yes)/.test(option));

/**
 * A sandbox with a program `~/notify` that writes each notification into a file.
 *
 * @param {import("node:test").TestContext} t
 * @param {Parameters<typeof stage>[1]} script
 * @param {string} notify the text of `notify.yaml`
 * @param {Record<string, string>} globalFiles
 * @param {Partial<import("./harness/sandbox.mjs").SandboxOptions>} [more]
 */
async function notified(t, script, notify, globalFiles, more = {}) {
  const { model, sandbox } = await stage(t, script, {
    globalFiles: { "notify.yaml": notify, ...globalFiles },
    ...more,
  });
  const log = join(sandbox.home, "log");
  const program = join(sandbox.home, "notify");
  writeFileSync(program, `#!/bin/sh\nprintf '%s | %s (%s)\\n' "$1" "$2" "$#" >> '${log}'\n`);
  chmodSync(program, 0o755);
  const shown = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []);
  /** Waits until so many were shown, and returns them. */
  const afterShown = async (/** @type {number} */ count, timeoutMs = 10_000) => {
    for (const end = Date.now() + timeoutMs; shown().length < count && Date.now() < end;) await sleep(50);
    return shown();
  };
  return { model, sandbox, program, shown, afterShown };
}

const WAITS = "Workflow The hello waits for you | In 🔹 Plan: it waits for your message (2)";
const DONE = "Workflow The hello is done | Task: Do it (2)";

for (const version of VERSIONS) {
  suite(`pi ${version}: told outside of pi`, { concurrency: 2 }, () => {
    test("a run that waits, and its end", async (t) => {
      const script = [REST, ...steps("next", "next"), REST];
      const { sandbox, afterShown } = await notified(t, script, COMMAND, workflow("hello", ["plan", "build"], OFF));
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Do it");
      assert.deepEqual(await afterShown(1), [WAITS]);
      await rpc.promptAndSettle("Go on");
      assert.deepEqual(await afterShown(2), [WAITS, DONE]);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("nothing without the file, and nothing of a project or a package", async (t) => {
      const { sandbox, shown } = await notified(
        t,
        [REST],
        "on: [done]\nterminal: true\n",
        workflow("hello", ["plan"], OFF),
        {
          projectFiles: { "notify.yaml": COMMAND, "hello/notify.yaml": COMMAND },
          files: { "notify.yaml": COMMAND, ".pi/notify.yaml": COMMAND },
        },
      );
      const rpc = await startRpc({ version, sandbox, args: ["--approve"] });
      await rpc.promptAndSettle("/workflow hello Do it");
      await sleep(500);
      assert.deepEqual(shown(), []);
      await rpc.close();
    });

    test("the end of a process without an interface, which does not wait for the program", LONG, async (t) => {
      const { sandbox, program, afterShown } = await notified(
        t,
        nextUntilDone,
        COMMAND,
        workflow("hello", ["plan"], OFF),
      );
      const script = readFileSync(program, "utf8");
      writeFileSync(program, script.replace("\n", "\nsleep 3\n"));
      const started = Date.now();
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello Do it" });
      assert.deepEqual([run.code, run.stderr], [0, "Workflow The hello: DONE.\n"]);
      const over = Date.now();
      assert.deepEqual(await afterShown(1), [DONE]);
      assert.ok(Date.now() - over > 200 || over - started > 3000, "pi waited for it");
      const json = await runPrint({ version, sandbox, prompt: "/workflow hello Do it", args: ["--mode", "json"] });
      assert.equal(json.code, 0);
      assert.equal((await afterShown(2)).length, 2);
    });

    test("texts of a task and of a model stay arguments", async (t) => {
      const task = "--help $(touch /tmp/x) `id`; @file \u0007\u001b]0;x\u0007 | next";
      const { sandbox, afterShown } = await notified(t, nextUntilDone, COMMAND, workflow("hello", ["plan"], OFF));
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(`/workflow hello ${task}`);
      const [line] = await afterShown(1);
      assert.match(line, /^Workflow The hello is done \| Task: --help \$\(touch \/tmp\/x\) `id`; @file .*\(2\)$/);
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(line, /[\x00-\x1f]/);
      await rpc.close();
    });

    test("a link in place of the file counts as unreadable, and a restart tells nothing", LONG, async (t) => {
      const { sandbox, shown } = await notified(t, [REST], COMMAND, workflow("hello", ["plan"], OFF));
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Do it");
      await rpc.close();
      const before = shown().length;
      const again = await startRpc({ version, sandbox, args: ["--continue"] });
      await again.waitFor(({ statusText }) => /waits for you/.test(statusText ?? ""));
      await again.prompt("/workflow :status");
      await sleep(300);
      assert.equal(shown().length, before);
      await again.close();
      rmSync(join(sandbox.agent, "workflows/notify.yaml"));
      symlinkSync("nowhere", join(sandbox.agent, "workflows/notify.yaml"));
      writeFileSync(join(sandbox.agent, "workflows/notify.yml"), COMMAND);
      const checked = await runPrint({ version, sandbox, prompt: "/workflow :check" });
      assert.match(checked.stderr, /notify\.yaml: error: cannot be read: it is a link that leads nowhere/);
      assert.match(checked.stderr, /the user's notifications must be in a file named `notify\.yaml`/);
    });

    test("a question of a branch is told once, by its own name", async (t) => {
      const asks = panel([{ id: "one", gate: [{ approve: "Is one right?" }] }, "two"]);
      const { sandbox, afterShown } = await notified(t, team(), COMMAND, asks);
      const rpc = await startRpc({ version, sandbox, onDialog: async (request) => (await sleep(1500), yes(request)) });
      await rpc.promptAndSettle("/workflow panel Do it");
      const told = await afterShown(2);
      assert.match(told[0] ?? "", /^Workflow .* waits for you \| In 🔹 One: it waits for your answer \(2\)$/);
      assert.equal(told[1], "Workflow The panel is done | Task: Do it (2)");
      assert.equal(told.length, 2);
      await rpc.close();
    });

    test(
      "in a terminal after 30 seconds without a key, by its own notification too; and it looks blocked",
      LONG,
      async (t) => {
        const script = [REST, REST, ...steps("next"), REST];
        const { sandbox, shown, afterShown } = await notified(
          t,
          script,
          `${COMMAND}terminal: true\n`,
          workflow("hello", ["plan"], OFF),
        );
        const raw = join(sandbox.root, "raw");
        const tui = await startTui({ version, sandbox, env: { PI_PROGRAM_STATUS: "1" } });
        await tui.record(raw);
        const output = () => readFileSync(raw, "utf8");
        await tui.submit("/workflow hello Do it");
        await tui.waitFor("(waits for you)");
        // Keys keep it back, and what is typed arrives.
        for (let second = 0; second < 20; second += 5) {
          await tui.type("ab");
          await sleep(5000);
        }
        await tui.waitFor("abababab");
        await sleep(14_000);
        assert.deepEqual(shown(), [], "a key was pressed less than 30 seconds ago");
        assert.deepEqual(await afterShown(1, 20_000), [WAITS]);
        assert.match(
          output(),
          /\x1bPtmux;\x1b\x1b\]777;notify;Workflow The hello waits for you;In 🔹 Plan: it waits for your message\x07\x1b\\/,
        );
        const statuses = () => [...output().matchAll(/\x1b\]7501;([^\x07\x1b]*)/g)].map(([, status]) => status);
        if (version !== "0.87.1")
          assert.match(
            statuses().at(-1) ?? "",
            new RegExp(`^state=blocked:.*:msg=${Buffer.from("Workflow The hello waits for you").toString("base64")}$`),
          );
        else assert.deepEqual(statuses(), []);
        await tui.press("C-u");
        await tui.submit("Go on");
        await tui.waitFor(/I rest\.[^]*I rest\./);
        await tui.submit("And on");
        await tui.waitFor("The hello Complete");
        if (version !== "0.87.1") assert.doesNotMatch(statuses().at(-1) ?? "", /blocked/);
        assert.equal(shown().length, 1, "the user was there");
      },
    );
  });
}
