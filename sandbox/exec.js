// Runs a command line in a shell that is passed in, which runs it in a process group and kills that as a whole. Only the
// end of its output is kept.
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

import { MAX as MAX_OUTPUT_FILE } from "./output-file.js";
import { messageOf, plainText, unlessFails } from "./plain.js";
import { findProgram } from "./programs.js";
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

/** The maximum size of a line where output is cut, the part of a longer one that is kept at each end, in bytes, and what stands between. */
const MAX_LINE = 8192;
const LINE_END = 2048;
const GAP = Buffer.from(" … ");

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
 * @property {bigint} cutBytes the bytes of the whole output that it lacks
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
  const output = tail.close();
  return {
    end: how,
    durationMs: BigInt(Math.round(performance.now() - start)),
    output,
    cutBytes: BigInt(tail.cut),
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
      const mkfifo = findProgram("mkfifo");
      if (mkfifo === undefined) throw new Error("the program `mkfifo` is not installed.");
      execFileSync(mkfifo, ["-m", "600", this.#path], { stdio: "ignore", env: {} });
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
    tail.cut += this.#end.cut;
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
  /** The bytes that were cut off or out of it. */
  cut = 0;
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
    const kept = Buffer.from(this.#cutTo(RAW_TAIL, Buffer.concat(this.#chunks)));
    this.#chunks = [kept];
    this.#held = kept.length;
    return kept;
  }

  /**
   * Returns the end of some bytes, from the start of a line on; long lines are shortened before whole lines are left out.
   * @param {number} limit
   * @param {Buffer} bytes
   */
  #cutTo(limit, bytes) {
    if (bytes.length <= limit && this.cut === 0) return bytes;
    const lines = withShortLines(bytes);
    const end = lines.subarray(lines.length > limit ? lines.indexOf(10, lines.length - limit) + 1 : 0);
    this.cut += bytes.length - end.length;
    return end;
  }

  /** Returns the end as it is, at most `RAW_TAIL` bytes. */
  raw() {
    return this.#shrink();
  }

  /** Returns the kept output as plain text. Later output is ignored. */
  close() {
    this.#closed = true;
    return this.#cutTo(PLAIN_TAIL, Buffer.from(asPlain(this.#shrink().toString("utf8")))).toString("utf8");
  }
}

/** Returns bytes in which each long line has a gap in its middle. @param {Buffer} bytes */
function withShortLines(bytes) {
  const parts = [];
  let [start, from] = [0, 0];
  for (;;) {
    if (from + MAX_LINE >= bytes.length) return Buffer.concat([...parts, bytes.subarray(start)]);
    const last = bytes.lastIndexOf(10, from + MAX_LINE);
    const next = last < from ? bytes.indexOf(10, from) : last;
    const end = next < 0 ? bytes.length : next;
    if (last < from) {
      parts.push(bytes.subarray(start, characterAt(bytes, from + LINE_END)), GAP);
      start = characterAt(bytes, end - LINE_END);
    }
    from = end + 1;
  }
}

/** Returns the first place from here on that is not within a character. @param {Buffer} bytes @param {number} at */
function characterAt(bytes, at) {
  const place = [at, at + 1, at + 2].find((place) => (bytes[place] & 0xc0) !== 0x80);
  return place ?? at + 3;
}

/**
 * Returns the text that a terminal would show: without escape sequences, and with the last state of overwritten lines.
 * @param {string} text
 */
function asPlain(text) {
  const lines = stripVTControlCharacters(text).replaceAll("\r\n", "\n").split("\n");
  return plainText(lines.map((line) => line.split("\r").findLast(Boolean) ?? "").join("\n"));
}
