// `pi-workflows` with a command `pi` that is the real one, and a scripted model.
import { execFile, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { NODE, PATIENCE_MS, REPO, piCli } from "../pi/harness/pi.mjs";
import { stage } from "../pi/harness/stage.mjs";

const exec = promisify(execFile);
const CLI = join(REPO, "cli/pi-workflows.js");

/**
 * A sandbox with a command `pi`.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {Parameters<typeof stage>[1]} script
 * @param {Partial<import("../pi/harness/sandbox.mjs").SandboxOptions>} [options]
 * @param {string} [cli] the JavaScript file of the program
 */
export async function withPi(t, version, script, options, cli = CLI) {
  const { model, sandbox } = await stage(t, script, options);
  const bin = join(sandbox.root, "bin");
  mkdirSync(bin);
  const [node, pi] = piCli(version);
  program("pi", `exec ${node} ${pi} --offline "$@"`);
  return { model, sandbox, run, runs, start, startCommand, program, bin, terminal };

  /** @param {string} name @param {string} script */
  function program(name, script) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
    return join(bin, name);
  }

  /** @param {string[]} args @param {Record<string, string>} [env] @param {string} [input] */
  function start(args, env = {}, input) {
    return startCommand(["run", ...args], env, input);
  }

  /** @param {string[]} args */
  function runs(...args) {
    return startCommand(["runs", ...args]).ended;
  }

  /**
   * @param {string[]} args
   * @param {Record<string, string>} [env]
   * @param {string} [input] of standard input
   * @param {string[]} [wrapper] a program with arguments that runs the command line
   */
  function startCommand(args, env = {}, input, wrapper = []) {
    const [program, ...before] = [...wrapper, NODE];
    const child = spawn(program, [...before, cli, ...args], {
      cwd: sandbox.project,
      env: { ...sandbox.env(), PATH: `${bin}:${process.env.PATH}`, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    child.stdin.end(input);
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text) => (output.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (output.stderr += text));
    const ended = new Promise((resolve) =>
      child.on("close", (status, signal) => resolve({ status: status ?? signal, ...output })),
    );
    t.after(() => child.kill("SIGKILL"));
    return {
      child,
      output,
      ended: /** @type {Promise<{ status: number | string, stdout: string, stderr: string }>} */ (ended),
    };
  }

  /** Runs the command in a terminal, which shows its exit status at the end. @param {string[]} args */
  async function terminal(args, command = "run") {
    const socket = join(sandbox.root, `tmux-${Math.random()}`);
    const tmux = async (/** @type {string[]} */ ...rest) => (await exec("tmux", ["-u", "-S", socket, ...rest])).stdout;
    const line = [NODE, cli, command, ...args].map((word) => `'${word}'`).join(" ");
    const env = { ...sandbox.env(), PATH: `${bin}:${process.env.PATH}` };
    await exec(
      "tmux",
      [
        "-u",
        "-S",
        socket,
        "new-session",
        "-d",
        "-x",
        "120",
        "-y",
        "40",
        "-c",
        sandbox.project,
        `${line}; echo "status $?"; sleep 60`,
      ],
      { env },
    );
    sandbox.adopt(() => tmux("kill-server").catch(() => ""));
    return {
      type: (/** @type {string} */ text) => tmux("send-keys", "-l", "--", text.replace("\n", "\r")),
      press: (/** @type {string} */ key) => tmux("send-keys", "--", key),
      close: () => tmux("kill-server"),
      /** @param {RegExp | string} wanted */
      async waitFor(wanted) {
        let screen = "";
        for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(50)) {
          screen = await tmux("capture-pane", "-p", "-S", "-");
          if (typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen)) return screen;
        }
        throw new Error(`waited for ${wanted} on\n${screen}`);
      },
    };
  }

  /** @param {string[]} args */
  function run(...args) {
    return start(args).ended;
  }
}
