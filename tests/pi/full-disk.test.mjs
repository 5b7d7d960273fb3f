// A session that takes no entries: a full disk, a file system that became read-only, a folder that is gone.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { runPrint, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { notices, statusTexts, storedResults, workflow } from "./harness/workflows.mjs";

const PAGE = 4096;
const HELLO = workflow("hello", ["plan", "build"], { autoContinue: false });
const NOT_STORED =
  "error: Workflow: the session does not take the state of the run, so a restart would find an older one: ";
const FULL = `${NOT_STORED}ENOSPC: no space left on device, write`;

/** The reason why no file system can be mounted. @type {string | false} */
const CANNOT_MOUNT = (() => {
  if (process.platform !== "linux") return "a small file system is mounted on Linux only";
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" });
    return false;
  } catch {
    return "only root can mount a small file system";
  }
})();

/**
 * Starts a scripted model and a sandbox with a small file system for its sessions.
 *
 * @param {import("node:test").TestContext} t
 * @param {Parameters<typeof stage>[1]} script
 */
async function smallDisk(t, script) {
  const { sandbox } = await stage(t, script, { globalFiles: HELLO });
  const folder = join(sandbox.agent, "sessions");
  mkdirSync(folder);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "none", folder]);
  const ballast = join(folder, "ballast");
  sandbox.adopt(async () => execFileSync("umount", ["--lazy", folder]));
  return {
    sandbox,
    /** Fills it, with room for this number of bytes at the end of the session's file. */
    fill(room = 0) {
      const [file] = sessionFiles(sandbox);
      const used = file ? statSync(file).size % PAGE : 0;
      if (file) append(file, "\n".repeat((2 * PAGE - used - room) % PAGE));
      try {
        for (;;) append(ballast, " ".repeat(PAGE));
      } catch (/** @type {any} */ error) {
        assert.equal(error.code, "ENOSPC");
      }
    },
    empty: () => rmSync(ballast),
    remount: (/** @type {string} */ options) => execFileSync("mount", ["-o", `remount,${options}`, folder]),
    /** Removes the folder of the project's sessions. */
    remove: () => rmSync(dirname(sessionFiles(sandbox)[0]), { recursive: true }),
  };
}

/** @param {string} file @param {string} text */
function append(file, text) {
  const descriptor = openSync(file, "a");
  try {
    for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(descriptor, rest));
  } finally {
    closeSync(descriptor);
  }
}

/** @param {import("./harness/rpc.mjs").Rpc} rpc */
const errors = (rpc) => notices(rpc).filter((notice) => notice.startsWith("error: "));

suite("a session that takes no entries", { skip: CANNOT_MOUNT }, () => {
  for (const version of VERSIONS) {
    test(`is told once, and anew after one that was taken; a restart finds what is stored (${version})`, async (t) => {
      const { sandbox, fill, empty } = await smallDisk(t, () => ({ text: "Hi." }));
      let rpc = await startRpc({ sandbox, version });
      await rpc.promptAndSettle("Hello");
      await rpc.promptAndSettle("/workflow hello Do it");
      for (let period = 0; period < 2; period += 1) {
        fill(300);
        const before = errors(rpc).length;
        for (const control of ["pause", "resume", "pause", "resume"]) await rpc.prompt(`/workflow :${control}`);
        assert.deepEqual(errors(rpc).slice(before), [FULL], `period ${period}`);
        await rpc.prompt("/workflow :status");
        assert.match(errors(rpc).at(-1) ?? "", /^error: Workflow: the session does not take an entry: ENOSPC/);
        empty();
        await rpc.prompt("/workflow :pause");
        assert.equal(errors(rpc).length, before + 2);
        assert.match(statusTexts(rpc).at(-1) ?? "", /paused/, "the run continued in memory");
        await rpc.kill();
        // The first entry after the failure is one line with what was written of the one that failed.
        rpc = await startRpc({ sandbox, version, args: ["-c"] });
        assert.match(statusTexts(rpc).at(-1) ?? "", /^⏸ The hello > 🔹 Plan/, "restored");
        assert.deepEqual(errors(rpc), []);
        await rpc.promptAndSettle("/workflow :resume");
      }
    });

    test(`leaves a run that is held where entries after it are lost (${version})`, async (t) => {
      const read = { calls: [{ name: "read", arguments: { path: "notes" } }] };
      let calls = false;
      const { sandbox, fill, empty } = await smallDisk(t, () => (calls ? read : { text: "Hi." }));
      let rpc = await startRpc({ sandbox, version });
      await rpc.promptAndSettle("Hello");
      await rpc.promptAndSettle("/workflow hello Do it");
      // The user's message fits, the answer does not.
      fill(300);
      await rpc.promptAndSettle("One");
      empty();
      // It is one line with what was written of the answer.
      await rpc.promptAndSettle("Two");
      await rpc.kill();
      rpc = await startRpc({ sandbox, version, args: ["-c"], onDialog: () => true });
      assert.match(notices(rpc).join("\n"), /entries of the session after its newest one are missing/);
      calls = true;
      await rpc.promptAndSettle("Three");
      assert.match(storedResults(await rpc.entries()).join("\n"), /paused/);
      await rpc.prompt("/workflow :resume");
      assert.match(statusTexts(rpc).at(-1) ?? "", /^The hello > 🔹 Plan/);
      await rpc.close();
    });

    test(`is one that became read-only, or is gone (${version})`, LONG, async (t) => {
      const { sandbox, remount, remove } = await smallDisk(t, () => ({ text: "Hi." }));
      const rpc = await startRpc({ sandbox, version });
      await rpc.promptAndSettle("Hello");
      await rpc.promptAndSettle("/workflow hello Do it");
      const toggle = async () => {
        for (const control of ["pause", "resume"]) await rpc.prompt(`/workflow :${control}`);
      };
      remount("ro");
      await toggle();
      remount("rw");
      await toggle();
      remove();
      await toggle();
      const [first, second, ...rest] = errors(rpc);
      assert.ok(first.startsWith(`${NOT_STORED}EROFS`), first);
      assert.ok(second.startsWith(`${NOT_STORED}ENOENT`), second);
      assert.deepEqual(rest, []);
      // pi reports the prompts that it cannot store.
      assert.ok(rpc.extensionErrors().every(({ event }) => event === "send_user_message"));
    });

    test(`begins no run in print and JSON mode (${version})`, LONG, async (t) => {
      const { sandbox, fill } = await smallDisk(t, () => ({ text: "Hi." }));
      fill();
      for (const mode of /** @type {const} */ (["text", "json"])) {
        const { code, stderr } = await runPrint({ sandbox, version, mode, prompt: "/workflow hello Do it" });
        assert.equal(code, 1);
        assert.match(stderr, /The workflow is not started, because of the session: [^\n]*: the disk is full\.\n/);
      }
    });

    test(`is told in the terminal (${version})`, LONG, async (t) => {
      const { sandbox, fill } = await smallDisk(t, () => ({ text: "Hi." }));
      const tui = await startTui({ sandbox, version });
      await tui.submit("Hello");
      await tui.waitFor(/Hi\./);
      await tui.submit("/workflow hello Do it");
      await tui.waitFor(/The hello > 🔹 Plan/);
      await tui.waitFor(/Hi\.[^]*Hi\./);
      fill(300);
      await tui.submit("/workflow :pause");
      await tui.waitFor(/the session does not take the state of the run/);
      await tui.close();
    });
  }
});
