// Command lines in pi's own shell: their end, their processes and their output.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createLocalBashOperations } from "@earendil-works/pi-coding-agent";
import { OutputFile, runCommandLine } from "#sandbox";
import { showSeconds } from "../../host-shim/requests.js";
import { userShell } from "../../host-shim/shell.js";
import { privateFolder } from "../../sandbox/session-folder.js";

const folder = mkdtempSync(join(tmpdir(), "exec-test-"));
after(() => rmSync(folder, { recursive: true }));

/** pi without settings of the user. @type {any} */
const CODING_AGENT = {
  createLocalBashOperations,
  getAgentDir: () => join(folder, "agent"),
};

/** pi's shell in a folder. */
const shell =
  (cwd = folder) =>
  () =>
    userShell(CODING_AGENT, {}, cwd);

/**
 * @param {string} line
 * @param {{ timeoutMs?: number, signal?: AbortSignal, cwd?: string, env?: [string, string][], apart?: boolean }}
 *   [options]
 */
const run = (line, { timeoutMs = 20_000, signal = new AbortController().signal, cwd, env = [], apart = false } = {}) =>
  runCommandLine(shell(cwd), { line, timeoutMs, env, apart }, signal);

/** Returns true if a process runs and is not a zombie. @param {number} pid */
function lives(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Waits until a process has ended. @param {number} pid */
async function gone(pid) {
  for (let n = 0; lives(pid); n += 1) {
    assert.ok(n < 100, `process ${pid} is still there`);
    await sleep(20);
  }
}

const exited = (/** @type {number} */ status) => ({ tag: "exited", val: status });

suite("a command line", () => {
  test("ends with the status of its last command, or 128 plus the signal", async () => {
    for (const [line, status] of /** @type {const} */ ([
      ["true", 0],
      ["exit 3", 3],
      ["no-such-program", 127],
      ["kill -TERM $$", 143],
      ["", 0],
    ])) {
      assert.deepEqual((await run(line)).end, exited(status), line);
    }
  });

  test("returns standard output apart from standard error, as it is, up to 1 MiB of UTF-8", async () => {
    const left = () => readdirSync(privateFolder()).filter((name) => name.startsWith("command-"));
    const before = left();
    const both = await run("echo error >&2; printf '\\033[31m{}\\r\\n'; echo more >&2", { apart: true });
    assert.equal(both.standardOutput, "\u001b[31m{}\r\n");
    assert.equal(both.output, "{}\nerror\nmore\n");
    assert.equal((await run("echo out")).standardOutput, undefined);
    assert.equal((await run("head -c 1048576 /dev/zero", { apart: true })).standardOutput?.length, 1048576);
    assert.equal((await run("head -c 1048577 /dev/zero", { apart: true })).standardOutput, undefined);
    assert.equal((await run("printf '\\377'", { apart: true })).standardOutput, undefined);
    const loud = await run("yes loud | head -c 3000000 >&2; exit 4", { apart: true });
    assert.deepEqual([loud.end, loud.standardOutput], [exited(4), ""]);
    assert.ok(loud.output.endsWith("loud\n") && loud.output.length <= 64 * 1024);
    assert.equal(Number(loud.cutBytes), 3000000 - loud.output.length);
    const late = await run("echo begun; sleep 60", { apart: true, timeoutMs: 300 });
    assert.deepEqual([late.end, late.standardOutput], [{ tag: "timed-out" }, "begun\n"]);
    assert.deepEqual(left(), before);
  });

  test("writes its output to a file while it runs, apart standard error behind standard output", async () => {
    let made = 0;
    const path = join(folder, "whole.log");
    const start = (/** @type {string} */ line, /** @type {object} */ options = {}) => {
      const file = new OutputFile(() => ({ descriptor: openSync(path, "w"), path: `of ${(made += 1)}` }));
      const commandLine = {
        line,
        timeoutMs: 20_000,
        progress: "",
        env: [],
        apart: false,
        outputFile: undefined,
        ...options,
      };
      return runCommandLine(shell(), commandLine, new AbortController().signal, file);
    };
    const read = () => readFileSync(path, "utf8");
    const running = start("printf '\\033[1mbegun\\r\\n'; sleep 1; seq 100000 >&2");
    await sleep(500);
    assert.equal(read(), "\u001b[1mbegun\r\n");
    const numbers = execFileSync("seq", ["100000"], { encoding: "utf8" });
    assert.deepEqual((await running).outputFile, { tag: "ok", val: "of 1" });
    assert.equal(read(), `\u001b[1mbegun\r\n${numbers}`);
    const apart = await start("seq 100000 >&2; echo '{}'", { apart: true });
    assert.deepEqual([apart.outputFile, apart.standardOutput], [{ tag: "ok", val: "of 2" }, "{}\n"]);
    assert.equal(read(), `{}\n${numbers}`);
    await start("head -c 12000000 /dev/zero >&2; echo '{}'", { apart: true });
    assert.ok(read().length <= 10_000_000 && read().endsWith("[2000103 more bytes]\n"), read().slice(-30));
    assert.equal((await start("true")).outputFile, undefined);
    assert.equal(made, 3);
  });

  test("leaves nothing of standard error on the disk, while it runs, after it and after a kill", async () => {
    const place = mkdtempSync(join(tmpdir(), "exec-stderr-"));
    try {
      const script = `
        const { runCommandLine } = await import(${JSON.stringify(import.meta.resolve("#sandbox"))});
        const { userShell } = await import(${JSON.stringify(new URL("../../host-shim/shell.js", import.meta.url).href)});
        const pi = await import("@earendil-works/pi-coding-agent");
        const line = "yes loud | head -c 50000000 >&2; echo begun >>begun; sleep 60";
        runCommandLine(() => userShell(pi, {}, process.cwd()), { line, timeoutMs: 60000, env: [], apart: true }, new AbortController().signal);
      `;
      const own = { ...process.env, TMPDIR: join(place, "tmp") };
      mkdirSync(own.TMPDIR);
      const child = spawn(
        process.execPath,
        [
          "--input-type=module",
          "-e",
          script.replace("@earendil-works/pi-coding-agent", import.meta.resolve("@earendil-works/pi-coding-agent")),
        ],
        { cwd: place, env: own, stdio: "inherit" },
      );
      while (!existsSync(join(place, "begun"))) await sleep(50);
      const size = (/** @type {string} */ path) =>
        Number(execFileSync("du", ["-s", "-B1", "--apparent-size", path], { encoding: "utf8" }).split("\t")[0]);
      assert.ok(size(own.TMPDIR) < 100_000, String(size(own.TMPDIR)));
      child.kill("SIGKILL");
      await once(child, "exit");
      if (process.platform === "linux")
        assert.deepEqual(
          readdirSync(own.TMPDIR, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory()),
          [],
        );
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
    const left = await run("(for n in $(seq 200); do sleep 0.01; echo late >&2; done) >/dev/null & echo '{}'; exit 0", {
      apart: true,
    });
    assert.deepEqual([left.end, left.standardOutput], [exited(0), "{}\n"]);
  });

  test("returns its duration, and runs in the folder without input", async () => {
    const result = await run("sleep 0.3; pwd; cat; echo end");
    assert.equal(result.output, `${folder}\nend\n`);
    assert.ok(result.durationMs >= 300n && result.durationMs < 5000n, String(result.durationMs));
    assert.equal(result.cutBytes, 0n);
  });

  test("that exceeds its timeout is killed with all its processes", async () => {
    const result = await run("sleep 60 & echo $!; (sleep 60; true) & echo $!; wait", { timeoutMs: 300 });
    assert.deepEqual(result.end, { tag: "timed-out" });
    assert.ok(result.durationMs < 2000n);
    const pids = result.output.trim().split("\n").map(Number);
    assert.equal(pids.length, 2);
    for (const pid of pids) await gone(pid);
  });

  test("that ignores signals is killed", async () => {
    const result = await run("trap '' TERM INT HUP; echo begun; while :; do sleep 0.1; done", { timeoutMs: 300 });
    assert.deepEqual([result.end, result.output], [{ tag: "timed-out" }, "begun\n"]);
  });

  test("has a result although an escaped process keeps writing", async () => {
    const result = await run("setsid bash -c 'echo $$; while :; do echo x; sleep 0.03; done' & sleep 60", {
      timeoutMs: 1000,
    });
    process.kill(parseInt(result.output), "SIGKILL");
    assert.deepEqual(result.end, { tag: "timed-out" });
    assert.ok(result.durationMs > 2000n && result.durationMs < 15_000n, String(result.durationMs));
  });

  test("does not wait for background processes without output", async () => {
    const result = await run("sleep 60 & echo $!");
    assert.deepEqual(result.end, exited(0));
    assert.ok(result.durationMs < 5000n);
    process.kill(Number(result.output), "SIGKILL");
  });

  test("is cancelled by the signal, before and during its run", async () => {
    const early = await run("touch early", { signal: AbortSignal.abort() });
    assert.deepEqual([early.end, early.output], [{ tag: "cancelled" }, ""]);
    assert.deepEqual((await run("ls early 2>/dev/null")).output, "");
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    const late = await run("echo $$; sleep 60 & wait", { signal: controller.signal });
    assert.deepEqual(late.end, { tag: "cancelled" });
    await gone(Number(late.output));
  });

  test("may have any timeout", async () => {
    assert.deepEqual((await run("sleep 0.2; true", { timeoutMs: 2 ** 32 - 1 })).end, exited(0));
    assert.deepEqual((await run("sleep 60", { timeoutMs: 0 })).end, { tag: "timed-out" });
  });

  test("that cannot be started returns the reason", async () => {
    /** @type {[string, string | undefined, RegExp][]} */
    const cases = [
      ["true", join(folder, "missing"), /does not exist/],
      ["echo \0", undefined, /null bytes/],
      [`: ${"x".repeat(4_000_000)}`, undefined, /E2BIG/],
    ];
    for (const [line, cwd, words] of cases) {
      const { end, output } = await run(line, { cwd });
      assert.equal(end.tag, "not-started");
      assert.match(/** @type {any} */ (end).val, words);
      assert.equal(output, "");
    }
    const broken = () => {
      throw new Error("No bash shell found.");
    };
    const result = await runCommandLine(
      broken,
      { line: "true", timeoutMs: 1000, env: [], apart: false },
      new AbortController().signal,
    );
    assert.deepEqual(result.end, { tag: "not-started", val: "No bash shell found." });
  });
});

suite("the environment", () => {
  test("has the variables, in the place of those of pi, and all of pi's own", async () => {
    process.env.EXEC_TEST_OF_PI = "pi's";
    const value = `$(touch made) \`id\` "'\\ *\n-rf {task}`;
    const { output } = await run('printf "%s|%s|%s" "$VALUE" "$EXEC_TEST_OF_PI" "$PATH"; test -e made', {
      env: [["VALUE", value]],
    });
    delete process.env.EXEC_TEST_OF_PI;
    const [given, ofPi, path] = output.split("|");
    assert.deepEqual([given, ofPi], [value, "pi's"]);
    assert.ok(path.startsWith(`${join(folder, "agent", "bin")}:`) && path.includes(String(process.env.PATH)), path);
  });

  test("of a line without variables is pi's", async () => {
    const { output } = await run('test -z "$VALUE" && echo none');
    assert.equal(output, "none\n");
  });

  test("that no program can have starts nothing", async () => {
    for (const value of ["a\0b", "x".repeat(200_000)]) {
      const { end } = await run("touch started", { env: [["VALUE", value]] });
      assert.equal(end.tag, "not-started");
    }
  });
});

suite("the output", () => {
  /** The bytes that the result of `outputOf` lacks. */
  let cut = 0;

  /** Returns the result's output for these bytes. @param {string | Buffer} bytes */
  async function outputOf(bytes) {
    writeFileSync(join(folder, "bytes"), bytes);
    const { output, cutBytes } = await run("cat bytes");
    cut = Number(cutBytes);
    return output;
  }

  test("of both streams is in order of arrival", async () => {
    const { output } = await run("echo 1; sleep 0.1; echo 2 >&2; sleep 0.1; echo 3");
    assert.equal(output, "1\n2\n3\n");
  });

  test("is the text that a terminal would show", async () => {
    /** @type {[string | Buffer, string][]} */
    const cases = [
      ["\x1b[31mred\x1b[0m \x1b[1;38;5;200mpink\x1b[m\n", "red pink\n"],
      ["\x1b]0;title\x07\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\\n", "link\n"],
      ["\x1b[2J\x1b[H\x1b[?25lscreen\x1b[?25h\n", "screen\n"],
      ["10%\r50%\r100%\ndone\r\n", "100%\ndone\n"],
      ["50%\r", "50%"],
      ["a\tb\x08\x07\x00\x7f\u009b1mc\n", "a\tbc\n"],
      ["\x1b", ""],
      ["grün 👩‍👩‍👧 \u2028\n", "grün 👩‍👩‍👧 \u2028\n"],
      [Buffer.from([0x61, 0xff, 0xc3, 0x0a]), "a\ufffd\ufffd\n"],
    ];
    for (const [bytes, text] of cases) assert.deepEqual([await outputOf(bytes), cut], [text, 0]);
  });

  test("is cut to its end, from the start of a line", async () => {
    const lines = Array.from({ length: 1_000_000 }, (_, n) => `line ${n}`);
    const output = await outputOf(`${lines.join("\n")}\n`);
    assert.ok(output.length <= 64 * 1024 && output.length > 60 * 1024, String(output.length));
    assert.match(output, /^line \d{6}\n/);
    assert.match(output, /\nline 999999\n$/);
    assert.equal(cut, lines.join("\n").length + 1 - output.length);
  });

  test("has the lines around a long one, which is shortened", async () => {
    const long = `long ${"x".repeat(300_000)} end`;
    const output = await outputOf(`before\n${long}\n${long}\nafter\n`);
    const short = `long x{2043} … x{2044} end`;
    assert.match(output, new RegExp(`^before\n${short}\n${short}\nafter\n$`));
    assert.equal(cut, 2 * (long.length - 4096 - Buffer.byteLength(" … ")));
    // A line that fits stays whole, and one that has no end is shortened too.
    assert.equal(await outputOf("x".repeat(60_000)), "x".repeat(60_000));
    assert.equal(await outputOf("x".repeat(70_000)), `${"x".repeat(2048)} … ${"x".repeat(2048)}`);
    const bar = Array.from({ length: 100_000 }, (_, n) => `\r${n}`).join("");
    assert.equal(await outputOf(`before\n${bar}\nafter\n`), "before\n99999\nafter\n");
  });

  test("without line ends is shortened between characters", async () => {
    for (const sign of ["x", "ü", "€", "😀"]) {
      const output = await outputOf(sign.repeat(300_000));
      const bytes = Buffer.byteLength(output);
      assert.ok(bytes > 4096 - 8 && bytes <= 4096 + 8, `${sign}: ${bytes}`);
      assert.deepEqual([...new Set(output)], [sign, " ", "…"], sign);
    }
  });

  test("may be binary", async () => {
    const { end, output } = await run("head -c 10000000 /dev/urandom");
    assert.deepEqual(end, exited(0));
    assert.ok(Buffer.byteLength(output) <= 64 * 1024);
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(output, /[\0-\x08\x0b-\x1f\x7f-\x9f]/);
    assert.equal((await run("head -c 1000000 /dev/zero")).output, " … ");
  });

  test("uses bounded memory, in large pieces and small ones", async () => {
    const small = "for i in {1..100000}; do echo -n x; done";
    for (const [line, bytes] of /** @type {const} */ ([
      ["yes | head -c 200000000", 200_000_000n],
      [small, 100_000n],
    ])) {
      const before = process.memoryUsage();
      let most = 0;
      const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 5);
      const result = await run(line);
      clearInterval(watch);
      assert.ok(result.cutBytes > 30_000n && result.cutBytes < bytes);
      assert.ok(most - before.arrayBuffers < 130_000_000, `${most} bytes of buffers`);
    }
  });

  test("that never ends does not prevent the timeout", async () => {
    const { end, output } = await run("yes", { timeoutMs: 500 });
    assert.deepEqual(end, { tag: "timed-out" });
    assert.match(output, /^(y\n)+$/);
  });
});

test("the seconds are shown until they are stopped, even if showing them fails", async () => {
  /** @type {string[]} */
  const shown = [];
  const stop = showSeconds("running", (text) => {
    shown.push(text);
    throw new Error("nobody is there");
  });
  await sleep(1100);
  stop();
  await sleep(1000);
  assert.deepEqual(shown, ["running · 0 s", "running · 1 s"]);
});
