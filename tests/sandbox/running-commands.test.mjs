// The end of a command line: that of the last process of its sandbox.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxSession } from "#sandbox";
import { RunningCommands } from "../../sandbox/running-commands.js";
import { privateFolder } from "../../sandbox/session-folder.js";

const SWAP = new URL("../pi/harness/swap.py", import.meta.url).pathname;
const LINUX = { skip: process.platform === "linux" ? false : "needs Linux" };

/** @param {import("node:test").TestContext} t */
function folder(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "running-commands-")));
  t.after(() => rmSync(root, { recursive: true }));
  return root;
}

/** A process that sleeps, and its end. @param {import("node:test").TestContext} t @param {string} [line] */
function sleeping(t, line = "exec sleep 100") {
  const child = spawn("sh", ["-c", line], { stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  return { id: Number(child.pid), end: async () => (child.kill("SIGKILL"), await once(child, "exit")) };
}

test(
  "what is removed before a command lies in its folder for temporary files, whatever a process does to names",
  LINUX,
  async (t) => {
    const root = folder(t);
    const temporary = join(privateFolder(), createHash("sha256").update(root).digest("hex").slice(0, 16));
    for (const path of [root, temporary])
      for (const name of ["sub", "outside"]) mkdirSync(join(path, name), { recursive: true });
    for (const name of ["sub/file", "outside/file"]) writeFileSync(join(root, name), "untouched");
    symlinkSync(join(root, "sub"), join(temporary, "link"));
    const swap = spawn("python3", [SWAP, join(temporary, "sub"), join(temporary, "link")]);
    t.after(async () => {
      swap.kill("SIGKILL");
      await once(swap, "exit");
      rmSync(temporary, { recursive: true });
    });
    await once(swap.stdout, "data");
    const session = new SandboxSession(() => ({ path: join(root, "none"), name: "the agent's folder" }));
    t.after(() => session.end());
    const limits = { writable: [], hidden: [], network: true, notice: "" };
    let removed = 0;
    for (let round = 0; round < 40; round += 1) {
      for (const name of ["sub", "link"]) {
        try {
          const descriptor = openSync(join(temporary, name), constants.O_RDONLY | constants.O_NOFOLLOW);
          linkSync(join(root, "outside/file"), `/proc/self/fd/${descriptor}/file`);
          closeSync(descriptor);
        } catch {
          // It is the link at this moment, or has the file.
        }
      }
      await session.command("call", "true", limits, { cwd: root, session: root }).catch(() => {});
      session.ended("call");
      assert.equal(readFileSync(join(root, "sub/file"), "utf8"), "untouched", `round ${round}`);
      removed += lstatSync(join(root, "outside/file")).nlink === 1 ? 1 : 0;
    }
    assert.ok(removed > 0, "something was removed");
  },
);

suite("a command line", LINUX, () => {
  const reach = { writable: [], temporary: "/tmp/own", places: [], sealed: [] };

  /** @param {import("node:test").TestContext} t */
  function begun(t) {
    const [commands, owner, file] = [new RunningCommands(), {}, join(folder(t), "ids")];
    const { command } = commands.begin("true", owner, reach, () => {}, file);
    const store = (/** @type {(number | string)[]} */ shell, /** @type {number} */ first = 0) =>
      writeFileSync(
        file,
        `${shell.join("")}${first ? `{\n    "child-pid": ${first},\n    "pid-namespace": 4026532185\n}\n` : ""}`,
      );
    return { commands, owner, command, file, store };
  }

  test("has ended with the first process of its sandbox, not with bubblewrap", async (t) => {
    const { commands, owner, command, file, store } = begun(t);
    const [shell, first] = [sleeping(t), sleeping(t)];
    store([shell.id, "\n"]);
    commands.end(command);
    assert.deepEqual([commands.any(owner), commands.isLeft(owner)], [true, false]);
    store([shell.id, "\n"], first.id);
    assert.deepEqual([commands.any(owner), commands.isLeft(owner)], [true, false]);
    await shell.end();
    assert.deepEqual([commands.any(owner), commands.isLeft(owner), commands.uses("/tmp/own")], [true, true, true]);
    assert.throws(() => commands.check(owner, reach), /processes of a command that was ended have not ended yet/);
    commands.check({}, reach);
    assert.throws(() => commands.search({}, "/"), /a command of another agent is running/);
    await first.end();
    assert.deepEqual([commands.any(owner), commands.isLeft(owner), commands.uses("/tmp/own")], [false, false, false]);
    assert.equal(existsSync(file), false);
    commands.check(owner, reach);
  });

  test("has ended with a first process that nobody reaps", async (t) => {
    const { commands, owner, command, store } = begun(t);
    const root = folder(t);
    const parent = sleeping(t, `sleep 100 & echo $! > ${root}/id; exec sleep 100`);
    while (!existsSync(join(root, "id")) || readFileSync(join(root, "id"), "utf8") === "") await sleep(10);
    const first = Number(readFileSync(join(root, "id"), "utf8"));
    const shell = sleeping(t);
    store([shell.id, "\n"], first);
    await shell.end();
    commands.end(command);
    assert.equal(commands.isLeft(owner), true);
    process.kill(first, "SIGKILL");
    while (!/^\S+ \(sleep\) Z/.test(readFileSync(`/proc/${first}/stat`, "utf8"))) await sleep(10);
    assert.deepEqual([commands.any(owner), commands.isLeft(owner)], [false, false]);
    assert.ok(parent.id);
  });

  test("never began if bubblewrap has ended without a first process", async (t) => {
    const { commands, owner, command, store } = begun(t);
    const shell = sleeping(t);
    store([shell.id, "\n"]);
    await shell.end();
    commands.end(command);
    assert.equal(commands.any(owner), false);
  });
});
