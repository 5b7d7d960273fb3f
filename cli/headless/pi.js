// Starts pi without its terminal interface, and reads its records.
import { spawn, spawnSync } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";

import { SHARED_CLAIM, isAtLeast, sharedClaim } from "#loader";
import { killGroup } from "#sandbox";

import { parsed } from "../runs/sessions.js";
import { Failure, inWords, quoted, shortened } from "../words.js";

/** The oldest version of pi with which this package is tested. @type {[number, number, number]} */
const OLDEST = [0, 87, 1];
/** The time that pi has to tell its version, and to start, in milliseconds. */
const PATIENCE = 30_000;
/** The time that pi has to end after a signal, in milliseconds. */
const GRACE = 5000;
/** The longest line that is read, in characters; pi's records repeat whole messages. */
const MAX_LINE = 64 * 2 ** 20;

/** A record that pi writes in JSON or RPC mode. @typedef {Record<string, any> & { type: string }} PiRecord */

/**
 * Returns the command that starts pi: the value of the option `--pi`, or `pi`.
 * @param {string | undefined} path a program, or a JavaScript file for this Node
 * @returns {[string, ...string[]]}
 */
export function piCommand(path) {
  const command = /** @type {[string, ...string[]]} */ (
    path !== undefined && /\.[cm]?js$/.test(path) ? [process.execPath, path] : [path ?? "pi"]
  );
  const [program, ...args] = command;
  const { error, status, stdout, stderr } = spawnSync(program, [...args, "--version"], {
    encoding: "utf8",
    timeout: PATIENCE,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const name = quoted(path ?? "pi");
  if (/** @type {any} */ (error)?.code === "ETIMEDOUT")
    throw new Failure(`${name} does not tell its version within ${PATIENCE / 1000} seconds.`);
  if (/** @type {any} */ (error)?.code === "ENOENT")
    throw new Failure(
      path === undefined ? "There is no command pi here; --pi PATH names one." : `There is no ${name}.`,
    );
  if (error) throw new Failure(`${name} cannot be started: ${inWords(error)}`);
  const version = /\d+\.\d+\.\d+/.exec(`${stdout}\n${stderr}`)?.[0];
  if (status !== 0 || version === undefined)
    throw new Failure(
      `${name} does not tell its version${status === 0 ? "" : `, and ends with status ${status}`}: it is not pi, or it is broken.`,
    );
  if (!isAtLeast(version, OLDEST))
    throw new Failure(`${name} is version ${version}; ${OLDEST.join(".")} or later is needed.`);
  return command;
}

/**
 * The end of a pi: its status, or the signal that ended it; `hung`: pi was stopped because it did not start.
 * @typedef {{ status: number | null, signal: NodeJS.Signals | null, hung: boolean }} PiEnd
 */

/** A running pi. */
export class Pi {
  #child;
  #hung = false;
  /** @type {NodeJS.Timeout | undefined} */
  #patience;
  /** True if this process ended pi. */
  isEnded = false;
  /** Resolves when pi has ended and its whole output was read. @type {Promise<PiEnd>} */
  ended;

  /**
   * @param {[string, ...string[]]} command
   * @param {string[]} args
   * @param {object} listeners
   * @param {(record: PiRecord | undefined) => void} listeners.onRecord gets `undefined` for a line that is no record
   * @param {(line: string) => void} listeners.onError gets each line of standard error
   */
  constructor([program, ...before], args, { onRecord, onError }) {
    // pi has a process group of its own: Ctrl+C reaches only this process, which then ends pi in order.
    const env = { ...process.env, [SHARED_CLAIM]: sharedClaim() };
    this.#child = spawn(program, [...before, ...args], { stdio: ["pipe", "pipe", "pipe"], detached: true, env });
    const { stdin, stdout, stderr } = this.#child;
    stdin.on("error", () => {});
    this.#patience = setTimeout(() => {
      this.#hung = true;
      this.#signal("SIGKILL");
    }, PATIENCE);
    eachLine(stdout, (line) => {
      const record = parsed(line);
      if (record) clearTimeout(this.#patience);
      onRecord(record);
    });
    eachLine(stderr, onError);
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", (error) => {
        clearTimeout(this.#patience);
        reject(new Failure(`pi cannot be started: ${inWords(error)}`));
      });
      this.#child.on("close", (status, signal) => {
        clearTimeout(this.#patience);
        resolve({ status, signal, hung: this.#hung });
      });
    });
    // The promise is awaited later.
    this.ended.catch(() => {});
  }

  get pid() {
    return this.#child.pid;
  }

  /** Writes a record; in RPC mode. @param {object} record */
  send(record) {
    this.#child.stdin.write(`${JSON.stringify(record)}\n`);
  }

  /** Closes standard input: pi ends in RPC mode, and begins with the prompt in JSON mode. @param {string} [prompt] */
  finish(prompt = "") {
    this.#child.stdin.end(prompt);
  }

  /** Ends pi, in order if possible. */
  end() {
    this.isEnded = true;
    this.#signal("SIGTERM");
    const kill = setTimeout(() => this.#signal("SIGKILL"), GRACE);
    this.ended.then(
      () => clearTimeout(kill),
      () => {},
    );
  }

  /**
   * Signals the group: the command may be a script that started pi. Commands of the agent have groups of their own, which
   * pi ends.
   * @param {NodeJS.Signals} name
   */
  #signal(name) {
    killGroup(this.#child, name);
  }
}

/**
 * Calls a function when the user or the system ends this process, until the returned function is called.
 * @param {NodeJS.SignalsListener} listener
 */
export function onInterrupt(listener) {
  const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  for (const signal of signals) process.on(signal, listener);
  return () => signals.forEach((signal) => process.off(signal, listener));
}

/** Ends a process that another one has left, in order if possible; never the first one of the system. @param {number} pid */
export async function endProcess(pid) {
  if (pid <= 1) return;
  const ended = (/** @type {NodeJS.Signals | 0} */ name) => {
    try {
      return !process.kill(pid, name);
    } catch {
      return true;
    }
  };
  const started = performance.now();
  let isOver = ended("SIGTERM");
  while (!isOver && performance.now() - started < GRACE) {
    await sleep(50);
    isOver = ended(0);
  }
  if (!isOver) ended("SIGKILL");
}

/** @param {NodeJS.ReadableStream} stream @param {(line: string) => void} use */
function eachLine(stream, use) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  stream.on("data", (/** @type {Buffer} */ bytes) => {
    const lines = (rest + decoder.write(bytes)).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(use);
    if (rest.length <= MAX_LINE) return;
    rest = "";
    // The line is too long to be a record.
    use("");
  });
  stream.on("end", () => {
    if (rest !== "") use(rest);
  });
}

/**
 * The message about a pi that ended by itself too early, with the last line of its standard error.
 * @param {PiEnd} end
 * @param {string} last
 */
export function earlyEnd({ status, signal, hung }, last) {
  if (hung) return `pi did not start within ${PATIENCE / 1000} seconds, and was stopped.`;
  const how = signal === null ? `with exit status ${status}` : `by ${signal}`;
  return `pi ended ${how} before the run was over${last === "" ? "." : `: ${shortened(last)}`}`;
}
