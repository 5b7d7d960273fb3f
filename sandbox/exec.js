// Runs a command line in a shell that is passed in, which runs it in a process group and kills that as a whole. Only the
// end of its output is kept.
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

import { MAX as MAX_OUTPUT_FILE } from "./output-file.js";
import { messageOf, plainText, unlessFails } from "./plain.js";
import { privateFolder, temporaryFolder } from "./session-folder.js";
import { quoted } from "./shell-quote.js";

/** The maximum delay of `setTimeout`, in milliseconds: a longer one ends immediately. */
export const MAX_TIMEOUT = 2 ** 31 - 1;

/** The time that a killed command line has to exit before it is abandoned, in milliseconds. */
const GRACE = 2000;

/**
 * The maximum size of the raw output that is kept, in bytes: without escape sequences and overwritten lines much less
 * is left.
 */
const RAW_TAIL = 128 * 1024;

/** The maximum size of standard output that is returned as it is, in bytes. */
const MAX_APART = 1024 * 1024;

/** The most that a pipe of the system can have, in bytes. */
const MAX_PIPE = 1024 * 1024;

/** The maximum size of the plain output that is returned, in bytes. */
const PLAIN_TAIL = 64 * 1024;

/**
 * A command line. `apart` is true if standard output is wanted as it is, apart from standard error.
 * @typedef {{ line: string, timeoutMs: number, env?: [string, string][], apart?: boolean }} CommandLine
 */

/** @typedef {{ tag: "exited", val: number } | { tag: "timed-out" } | { tag: "cancelled" } | { tag: "not-started", val: string }} CommandEnd */

/**
 * The result of a command line.
 * @typedef {object} CommandResult
 * @property {CommandEnd} end
 * @property {bigint} durationMs
 * @property {string} output the end of the output, as plain text
 * @property {bigint} outputBytes the size of the whole output
 * @property {string} [standardOutput] if it is wanted apart, short enough and UTF-8
 * @property {import("./output-file.js").Written} [outputFile]
 */

/**
 * Starts a command line in a shell. Both streams of output go to `onData`; the signal kills all its processes.
 * @callback Exec
 * @param {string} line
 * @param {[string, string][]} variables
 * @param {{ onData: (data: Buffer) => void, signal: AbortSignal }} options
 * @returns {Promise<{ exitCode: number | null }>}
 */

/**
 * Runs a command line until it exits, its timeout has passed or the signal aborts it.
 * @param {() => { exec: Exec }} shell
 * @param {CommandLine} commandLine
 * @param {AbortSignal} signal
 * @param {import("./output-file.js").OutputFile} [file] gets the output
 * @returns {Promise<CommandResult>}
 */
export async function runCommandLine(shell, { line, timeoutMs, env = [], apart = false }, signal, file) {
  const start = performance.now();
  const tail = new Tail();
  /** @type {ErrorStream | undefined} */
  let errors;
  const whole = apart ? new Whole() : undefined;
  // The reason of its abort tells the end of the command line.
  const stop = new AbortController();
  const stopped = () => /** @type {"timed-out" | "cancelled" | undefined} */ (stop.signal.reason);
  /** @type {NodeJS.Timeout | undefined} */
  let grace;
  const abandoned = new Promise((resolve) => {
    stop.signal.addEventListener("abort", () => (grace = setTimeout(resolve, GRACE)), { once: true });
  });
  const cancel = () => stop.abort("cancelled");
  const timeout = setTimeout(() => stop.abort("timed-out"), Math.min(timeoutMs, MAX_TIMEOUT));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  /** @type {CommandEnd} */
  let how;
  try {
    const onData = (/** @type {Buffer} */ data) => {
      tail.add(data);
      whole?.add(data);
      file?.add(data);
    };
    if (apart) errors = new ErrorStream();
    const exec = async () => shell().exec(errors?.redirected(line) ?? line, env, { onData, signal: stop.signal });
    const ended = await Promise.race([exec(), abandoned]);
    const why = stopped();
    how = why ? { tag: why } : { tag: "exited", val: /** @type {any} */ (ended)?.exitCode ?? 1 };
  } catch (error) {
    const why = stopped();
    how = why ? { tag: why } : { tag: "not-started", val: messageOf(error) };
  } finally {
    clearTimeout(timeout);
    clearTimeout(grace);
    signal.removeEventListener("abort", cancel);
  }
  errors?.moveTo(tail, file);
  return {
    end: how,
    durationMs: BigInt(Math.round(performance.now() - start)),
    output: tail.close(),
    outputBytes: BigInt(tail.bytes),
    standardOutput: whole?.close(),
    outputFile: file?.close(tail.bytes),
  };
}

/**
 * Ends a detached process with its children.
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} [signal]
 */
export function killGroup(child, signal = "SIGKILL") {
  try {
    if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // The process has ended meanwhile.
  }
}

/**
 * The standard error of a command line, apart from its standard output: the shell gives one stream of both. Standard
 * error goes through a named pipe, of which this process holds both ends, so nothing is on the disk, and a long output does not
 * delay the command line. The shell itself redirects standard error before it reads the command line, as it runs the
 * user's prefix.
 */
class ErrorStream {
  #end = new Tail();
  /** The beginning of standard error, for a file with the whole output. @type {Buffer[]} */
  #beginning = [];
  #kept = 0;
  #folder = "";
  #path = "/dev/null";
  /** The ends of the pipe. Without its end for writing the pipe would end before it begins. @type {number[]} */
  #descriptors = [];
  /** @type {Socket | undefined} */
  #stream;

  constructor() {
    // No program that makes named pipes for the shells of Windows is found from here: standard error is lost.
    if (process.platform === "win32") return;
    this.#folder = mkdtempSync(join(unlessFails(privateFolder) ?? temporaryFolder(), "command-"));
    try {
      this.#path = join(this.#folder, "stderr");
      execFileSync("mkfifo", ["-m", "600", this.#path], { stdio: "ignore" });
      const reading = () => openSync(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
      const streamed = reading();
      this.#stream = new Socket({ fd: streamed, readable: true, writable: false });
      this.#stream.on("error", () => {});
      this.#stream.on("data", (data) => this.#add(Buffer.from(data)));
      this.#descriptors = [reading()];
      const writing = openSync(this.#path, constants.O_WRONLY | constants.O_NONBLOCK);
      this.#descriptors.push(writing);
      if (process.platform === "linux") {
        // From here on the pipe has no name, so a kill leaves no file behind.
        this.#removeFolder();
        this.#path = `/proc/${process.pid}/fd/${writing}`;
      }
    } catch (error) {
      this.#close();
      throw error;
    }
  }

  /** @param {string} line */
  redirected(line) {
    return `exec 2>${quoted(this.#path)}\n${line}`;
  }

  /** @param {Buffer} data */
  #add(data) {
    this.#end.add(data);
    if (this.#kept >= MAX_OUTPUT_FILE) return;
    this.#beginning.push(data);
    this.#kept += data.length;
  }

  /**
   * Adds standard error to the tail and to the whole output, and closes the pipe.
   * @param {Tail} tail
   * @param {import("./output-file.js").OutputFile | undefined} whole
   */
  moveTo(tail, whole) {
    this.#readRest();
    this.#close();
    for (const data of this.#beginning) whole?.add(data);
    const { bytes } = tail;
    tail.add(this.#end.raw());
    tail.bytes = bytes + this.#end.bytes;
  }

  /** Reads the rest in the pipe, but not what a remaining process goes on to write. */
  #readRest() {
    const [reading] = this.#descriptors;
    this.#stream?.destroy();
    for (let left = MAX_PIPE; reading !== undefined && left > 0;) {
      const data = Buffer.allocUnsafe(64 * 1024);
      const length = unlessFails(() => readSync(reading, data)) ?? 0;
      if (length === 0) return;
      this.#add(data.subarray(0, length));
      left -= length;
    }
  }

  #close() {
    this.#stream?.destroy();
    for (const descriptor of this.#descriptors.splice(0)) closeSync(descriptor);
    this.#removeFolder();
  }

  #removeFolder() {
    if (this.#folder !== "") rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = "";
  }
}

/** A whole output, unless it is too long. */
class Whole {
  /** @type {Buffer[]} */
  #chunks = [];
  #size = 0;

  /** @param {Buffer} data */
  add(data) {
    this.#size += data.length;
    if (this.#size > MAX_APART) this.#chunks = [];
    else this.#chunks.push(data);
  }

  /** Returns the output, or `undefined` if it is too long or no UTF-8. */
  close() {
    if (this.#size > MAX_APART) return undefined;
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(this.#chunks));
    } catch {
      return undefined;
    }
  }
}

/** The end of an output. */
class Tail {
  /** The total size of the output in bytes. */
  bytes = 0;
  /** @type {Buffer[]} */
  #chunks = [];
  #held = 0;
  #closed = false;

  /** @param {Buffer} data */
  add(data) {
    if (this.#closed) return;
    this.bytes += data.length;
    this.#chunks.push(data);
    this.#held += data.length;
    if (this.#held > 2 * RAW_TAIL || this.#chunks.length > 256) this.#shrink();
  }

  #shrink() {
    const kept = Buffer.from(Buffer.concat(this.#chunks).subarray(-RAW_TAIL));
    this.#chunks = [kept];
    this.#held = kept.length;
    return kept;
  }

  /** Returns the end as it is, at most `RAW_TAIL` bytes. */
  raw() {
    return this.#shrink();
  }

  /** Returns the kept output as plain text. Later output is ignored. */
  close() {
    this.#closed = true;
    const kept = this.#shrink();
    return lastBytes(asPlain(wholeLines(kept.toString("utf8"), this.bytes > kept.length)), PLAIN_TAIL);
  }
}

/**
 * Returns the text that a terminal would show: without escape sequences, and with the last state of overwritten lines.
 * @param {string} text
 */
function asPlain(text) {
  const lines = stripVTControlCharacters(text).replaceAll("\r\n", "\n").split("\n");
  return plainText(lines.map((line) => line.split("\r").findLast(Boolean) ?? "").join("\n"));
}

/**
 * @param {string} text
 * @param {number} limit in bytes
 */
function lastBytes(text, limit) {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  let from = bytes.length - limit;
  // Not in the middle of a character.
  while ((bytes[from] & 0xc0) === 0x80) from += 1;
  return wholeLines(bytes.toString("utf8", from), true);
}

/**
 * @param {string} text
 * @param {boolean} cut true if text before it is missing
 */
function wholeLines(text, cut) {
  const start = cut ? text.indexOf("\n") + 1 : 0;
  return start < text.length ? text.slice(start) : text;
}
