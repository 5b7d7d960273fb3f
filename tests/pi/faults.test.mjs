// A full disk and a session file that cannot be written: the user gets a notice, the run goes on.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { accessSync, chmodSync, constants, renameSync, symlinkSync } from "node:fs";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { readSession } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { notices, paths, states, statusTexts, steps, toolResults, workflow } from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["plan", "build", "check"], { autoContinue: false });
const REST = { text: "I rest." };

/** Makes every write fail as on a full disk. @param {string} file @returns {() => void} reverts it */
function fillDisk(file) {
  renameSync(file, `${file}.aside`);
  symlinkSync("/dev/full", file);
  return () => renameSync(`${file}.aside`, file);
}

/** @param {string} file @returns {() => void} */
function makeReadOnly(file) {
  chmodSync(file, 0o444);
  try {
    accessSync(file, constants.W_OK);
  } catch {
    return () => chmodSync(file, 0o644);
  }
  // root may write every file.
  execFileSync("chattr", ["+i", file]);
  return () => {
    execFileSync("chattr", ["-i", file]);
  };
}

for (const version of VERSIONS) {
  suite(`pi ${version}: a session that takes no entry`, { concurrency: 2 }, () => {
    for (const [name, { spoil, words }] of Object.entries({
      "because the disk is full": { spoil: fillDisk, words: /ENOSPC: no space left on device/ },
      "because its file is read-only": {
        spoil: makeReadOnly,
        words: /(EACCES: permission denied|EPERM: operation not permitted)/,
      },
    })) {
      test(`${name}, gives a notice; the run goes on, and is stored as soon as that works again`, async (t) => {
        const { model, sandbox } = await stage(t, [REST, ...steps("next"), REST], { globalFiles: HELLO });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle("/workflow hello Add a route");
        const { sessionFile } = await rpc.state();
        const fix = spoil(sessionFile);
        // A read-only file would keep the sandbox from being removed.
        try {
          await rpc.prompt("/workflow :pause");
          assert.equal(statusTexts(rpc).at(-1), "⏸ The hello > 🔹 Plan [1/3] (paused: you asked for it)");
          const [told, ...more] = notices(rpc).filter((notice) => notice.startsWith("error: "));
          assert.deepEqual(more, [], "once");
          assert.match(
            told,
            /^error: Workflow: the session does not take the state of the run, so a restart would find an older one: /,
          );
          assert.match(told, words);
          await rpc.prompt("/workflow :skip");
          assert.equal(statusTexts(rpc).at(-1), "⏸ The hello > 🔹 Build [2/3] (paused: you asked for it)");
        } finally {
          fix();
        }
        await rpc.promptAndSettle("Go on");
        assert.match(toolResults(model.lastRequest())[0], /^✓ Advanced: Build → 🔹 Check\n/);
        // The states of the pause and of the transition are lost. The first one after that is stored twice.
        assert.deepEqual(paths(states(readSession(sandbox, sessionFile))), [
          "hello:0",
          "hello:1",
          "hello:1",
          "hello:2",
        ]);
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();

        const again = await startRpc({ version, sandbox, args: ["--continue"] });
        assert.equal(statusTexts(again).at(-1), "⏸ The hello > 🔹 Check [3/3] (waits for you)");
      });
    }
  });
}
