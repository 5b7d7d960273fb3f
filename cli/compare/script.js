// The scripts of a task: `setup` and `check`.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";

/** The output of a script that is kept, in bytes. */
const MAX_OUTPUT = 1_000_000;

/**
 * The end of a script; `late`: it was stopped at its time limit.
 *
 * @typedef {{ status: number | null, signal: string | null, late: boolean }} ScriptEnd
 */

/**
 * Runs a line of the shell in a process group of its own, which ends with it.
 * @param {string} line
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, output: string, time: number, signal: AbortSignal }} options
 * @returns {Promise<ScriptEnd>}
 */
export async function runScript(line, { cwd, env, output, time, signal }) {
  const child = spawn("/bin/sh", ["-c", line], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) keep(stream, output);
  let late = false;
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(() => {
    late = true;
    end();
  }, time);
  signal.addEventListener("abort", end);
  try {
    return await new Promise((done, fail) => {
      child.once("error", fail);
      child.once("exit", (status, name) => done({ status, signal: name, late }));
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    end();
  }
}

/** Keeps the beginning of an output. @param {NodeJS.ReadableStream} stream @param {string} file */
export function keep(stream, file) {
  const output = createWriteStream(file, { flags: "a" });
  // A full disk must not end the comparison.
  output.on("error", () => {});
  let room = MAX_OUTPUT;
  stream.on("data", (/** @type {Buffer} */ bytes) => {
    if (room > 0) output.write(bytes.subarray(0, room));
    room -= bytes.length;
  });
  stream.on("close", () => output.end());
}

/** @param {ScriptEnd} end */
export const words = ({ status, signal, late }) =>
  late ? "at its time limit" : signal === null ? `with exit status ${status}` : `by ${signal}`;
