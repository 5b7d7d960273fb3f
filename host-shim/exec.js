// Runs a command line as pi's own `bash` tool does: by pi's shell, in a process group that is killed as a
// whole. Of its output only the end is kept, however much there is.
import { stripVTControlCharacters } from "node:util";
import { plainText } from "./drawing.js";

/** @typedef {{ line: string, timeoutMs: number, progress: string }} CommandLine */

/** Longer timeouts end at once, in milliseconds. */
export const MAX_TIMEOUT = 2 ** 31 - 1;

/** How long a killed command line may take to end before it is left alone, in milliseconds. */
const GRACE = 2000;

/** How much raw output is kept, in bytes: escape sequences and progress bars shrink a lot. */
const RAW_TAIL = 128 * 1024;

/** How much plain output is handed on, in bytes. */
const PLAIN_TAIL = 16 * 1024;

/**
 * The user's shell, as pi's settings have it. A project's settings have no say: what the user agreed to
 * is to be what runs.
 *
 * @param {import("./load.js").Host["codingAgent"]} codingAgent
 * @param {string} cwd
 */
export function personsShell({ SettingsManager, createLocalBashOperations, getAgentDir }, cwd) {
  const settings = SettingsManager.create(cwd, getAgentDir(), { projectTrusted: false });
  const prefix = settings.getShellCommandPrefix();
  const operations = createLocalBashOperations({ shellPath: settings.getShellPath() });
  return {
    exec: (/** @type {string} */ line, /** @type {Parameters<typeof operations.exec>[2]} */ options) =>
      operations.exec(prefix ? `${prefix}\n${line}` : line, cwd, options),
  };
}

/**
 * Runs a command line to its end: its own, or that of its time, or that of the signal.
 *
 * @param {() => { exec: ReturnType<typeof personsShell>["exec"] }} shell
 * @param {CommandLine} commandLine
 * @param {AbortSignal} signal
 */
export async function runCommandLine(shell, { line, timeoutMs }, signal) {
  const start = performance.now();
  const tail = new Tail();
  /** @type {"timed-out" | "cancelled" | undefined} */
  let stopped;
  const stop = new AbortController();
  /** @type {() => void} */
  let giveUp = () => {};
  const givenUp = new Promise((resolve) => (giveUp = () => resolve(undefined)));
  /** @type {NodeJS.Timeout | undefined} */
  let grace;
  const end = (/** @type {"timed-out" | "cancelled"} */ why) => {
    if (stopped) return;
    stopped = why;
    stop.abort();
    grace = setTimeout(giveUp, GRACE);
  };
  const cancel = () => end("cancelled");
  const timeout = setTimeout(() => end("timed-out"), Math.min(timeoutMs, MAX_TIMEOUT));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  let how;
  try {
    const onData = (/** @type {Buffer} */ data) => tail.add(data);
    const exec = async () => shell().exec(line, { onData, signal: stop.signal });
    const ended = await Promise.race([exec(), givenUp]);
    how = stopped ? { tag: stopped } : { tag: "exited", val: /** @type {any} */ (ended)?.exitCode ?? 1 };
  } catch (error) {
    how = stopped ? { tag: stopped } : { tag: "not-started", val: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timeout);
    clearTimeout(grace);
    signal.removeEventListener("abort", cancel);
  }
  return {
    end: how,
    durationMs: BigInt(Math.round(performance.now() - start)),
    output: tail.close(),
    outputBytes: BigInt(tail.bytes),
  };
}

/**
 * Shows a text with the seconds that went by, now and each second until the returned function is called.
 *
 * @param {string} text
 * @param {(text: string) => void} show
 */
export function showSeconds(text, show) {
  const start = performance.now();
  const tick = () => {
    try {
      show(`${text} · ${Math.round((performance.now() - start) / 1000)} s`);
    } catch {
      // The session is gone.
    }
  };
  tick();
  const interval = setInterval(tick, 1000);
  return () => clearInterval(interval);
}

/** The end of an output. */
class Tail {
  /** How many bytes came in all. */
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

  /** What is kept, as plain text. Nothing more is taken. */
  close() {
    this.#closed = true;
    const kept = this.#shrink();
    return lastBytes(asPlain(wholeLines(kept.toString("utf8"), this.bytes > kept.length)), PLAIN_TAIL);
  }
}

/**
 * What a terminal would show at the end: without escape sequences, of an overwritten line the last state.
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
 * @param {boolean} cut whether something before it is missing
 */
function wholeLines(text, cut) {
  const start = cut ? text.indexOf("\n") + 1 : 0;
  return start < text.length ? text.slice(start) : text;
}
