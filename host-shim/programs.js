// The `pi:extension/programs` interface: programs of the user's that get lines while the user does not type.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";

import { findProgram, killGroup, messageOf } from "#sandbox";

import { TerminalWatch } from "./terminal-watch.js";

/** The time without a key before a program is run, in milliseconds. */
const QUIET = 30_000;
/** The time between two lines of a kind, in milliseconds. */
const APART = 60_000;
/** The time after which a program is stopped, in milliseconds. */
const TIME_LIMIT = 10_000;

/** The programs of one pi, and of its children. */
export class Programs {
  /** The time of the last key, or of the start of the session in a terminal. */
  #lastKey = -Infinity;
  /** The times of the last line of each kind. @type {Map<string, number>} */
  #last = new Map();
  #toldFailure = false;
  #watch;
  #showError;

  /** @param {typeof import("@earendil-works/pi-tui")} tui @param {(message: string) => void} showError */
  constructor(tui, showError) {
    this.#watch = new TerminalWatch(tui, () => this.#noteKey());
    this.#showError = showError;
  }

  #noteKey() {
    this.#lastKey = performance.now();
  }

  /** Watches a terminal for keys. @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context */
  begin(context) {
    if (context.mode === "tui") this.#noteKey();
    this.#watch.start(context);
  }

  end() {
    this.#watch.stop();
  }

  /** @type {import("./interface.js").Imports["pi:extension/programs"]["run"]} */
  run(kind, [program = "", ...args], line) {
    const now = performance.now();
    const placeOf = (/** @type {string} */ word) => resolve(homedir(), word.replace(/^~\//, ""));
    let path = program.includes("/") ? placeOf(program) : program;
    let problem;
    try {
      path = findProgram(path, true) ?? path;
      // An interpreter gets its script.
      for (const word of args.map(placeOf).filter(existsSync)) findProgram(word, true);
    } catch (error) {
      problem = messageOf(error);
    }
    if (line === "" || now < Math.max(this.#lastKey + QUIET, (this.#last.get(kind) ?? -Infinity) + APART)) return;
    this.#last.set(kind, now);
    const fail = (/** @type {string} */ why) => {
      if (this.#toldFailure) return;
      this.#toldFailure = true;
      this.#showError(`The program ${program} of your settings ${why}`);
    };
    try {
      if (problem !== undefined) return fail(`is not run: ${problem}`);
      const child = spawn(path, args, {
        cwd: homedir(),
        stdio: ["pipe", "ignore", "ignore"],
        detached: process.platform !== "win32",
        windowsHide: true,
      });
      const timer = setTimeout(() => {
        fail(`did not end within ${TIME_LIMIT / 1000} seconds and was stopped.`);
        killGroup(child);
      }, TIME_LIMIT);
      // Before all else: without a listener the error of a program that did not start ends pi.
      child.on("error", (error) => {
        clearTimeout(timer);
        fail(`did not start: ${error.message}`);
      });
      child.on("exit", (code) => {
        clearTimeout(timer);
        if (code) fail(`failed with exit status ${code}.`);
      });
      // The child has no input if Node could open no pipe. The input of bun has no `unref`.
      const input = /** @type {Partial<import("node:net").Socket> | undefined} */ (child.stdin);
      // A program may end without reading.
      input?.on?.("error", () => {});
      input?.end?.(`${line}\n`);
      // pi does not wait for the program.
      for (const one of [timer, child, input]) one?.unref?.();
    } catch (error) {
      fail(`did not start: ${messageOf(error)}`);
    }
  }
}
