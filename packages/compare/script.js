// The scripts of a task: `setup` and `check`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path";

import { killGroup, untrusted } from "@pi-workflows/pi-workflows/sandbox";

/** The output of a script that is kept, in bytes. */
const MAX_OUTPUT = 1_000_000;

/**
 * The end of a script; `late`: the script was stopped at its time limit.
 * @typedef {{ status: number | null, signal: string | null, late: boolean }} ScriptEnd
 */

/**
 * Runs a line of the shell in a process group of its own. The group ends with the line.
 * @param {string} line
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, output: string, time: number, signal: AbortSignal }} options
 * @returns {Promise<ScriptEnd>}
 */
export async function runScript(line, { cwd, env, output, time, signal }) {
  const child = spawn("/bin/sh", ["-c", line], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  keep([child.stdout, child.stderr], output);
  const end = () => killGroup(child);
  return endOf(child, "exit", end, time, signal).finally(end);
}

/**
 * Waits for the end of a process.
 * @param {import("node:child_process").ChildProcess} child
 * @param {"exit" | "close"} event
 * @param {() => void} end ends the process, at its time limit or when the signal aborts
 * @param {number} time
 * @param {AbortSignal} signal
 * @returns {Promise<ScriptEnd>}
 */
export async function endOf(child, event, end, time, signal) {
  const limit = AbortSignal.timeout(time);
  const over = AbortSignal.any([limit, signal]);
  over.addEventListener("abort", end);
  try {
    const [status, name] = await once(child, event);
    return { status, signal: name, late: limit.aborted };
  } finally {
    over.removeEventListener("abort", end);
  }
}

/** Keeps the beginning of an output in a new file. @param {NodeJS.ReadableStream[]} streams @param {string} file */
export function keep(streams, file) {
  const output = untrusted.createFile(dirname(file), basename(file));
  let [room, open] = [MAX_OUTPUT, streams.length];
  for (const stream of streams) {
    stream.on("data", (/** @type {Buffer} */ bytes) => {
      try {
        if (room > 0) writeSync(output, bytes.subarray(0, room));
      } catch {
        // A full disk must not end the comparison.
      }
      room -= bytes.length;
    });
    stream.on("close", () => {
      open -= 1;
      if (open === 0) closeSync(output);
    });
  }
}

/** @param {ScriptEnd} end */
export const words = ({ status, signal, late }) =>
  late ? "at its time limit" : signal === null ? `with exit status ${status}` : `by ${signal}`;
