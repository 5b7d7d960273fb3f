// The `pi:extension/notifications` interface: notifications by a program and by the terminal, while the user does not
// type.
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";

import { killGroup, messageOf, plainText } from "#sandbox";

import { TerminalWatch } from "./terminal-watch.js";

/** @typedef {import("./interface.js").Notification} Notification */

/** The time without a key before a notification, in milliseconds. */
const QUIET = 30_000;
/** The time between two notifications of an occasion, in milliseconds. */
const APART = 60_000;
/** The time after which a program is stopped, in milliseconds. */
const TIME_LIMIT = 10_000;

/** The notifications of one pi. The notifications of the children of that pi go through this object too. */
export class Notifications {
  /** The time of the last key, or of the start of the session in a terminal. */
  #lastKey = -Infinity;
  /** The times of the last notification of each occasion. @type {Map<string, number>} */
  #last = new Map();
  #toldFailure = false;
  #isTerminal = false;
  #watch;
  #showError;

  /**
   * @param {typeof import("@earendil-works/pi-tui")} tui
   * @param {(message: string) => void} showError
   */
  constructor(tui, showError) {
    this.#watch = new TerminalWatch(tui, () => this.#noteKey());
    this.#showError = showError;
  }

  #noteKey() {
    this.#lastKey = performance.now();
  }

  /** Watches a terminal for keys. @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context */
  begin(context) {
    this.#isTerminal = context.mode === "tui";
    if (!this.#isTerminal) return;
    this.#noteKey();
    this.#watch.start(context);
  }

  end() {
    this.#watch.stop();
  }

  /**
   * The time until a notification of this occasion may be shown, in milliseconds; 0 or less: now.
   * @param {string} occasion
   */
  wait(occasion) {
    const last = this.#last.get(occasion) ?? -Infinity;
    return Math.max(this.#lastKey + QUIET, last + APART) - performance.now();
  }

  /** @param {Notification} notification */
  show({ occasion, title, text, command, terminal }) {
    this.#last.set(occasion, performance.now());
    if (terminal && this.#isTerminal) process.stdout.write(terminalNotification(title, text, process.env));
    if (command) this.#run(command);
  }

  /** @param {string[]} command */
  #run([program = "", ...args]) {
    const fail = (/** @type {string} */ why) => {
      if (this.#toldFailure) return;
      this.#toldFailure = true;
      this.#showError(`The program ${program}, which is to notify you, ${why}`);
    };
    try {
      const path = program.startsWith("~/") ? join(homedir(), program.slice(2)) : program;
      const child = spawn(path, args, {
        cwd: homedir(),
        stdio: "ignore",
        detached: process.platform !== "win32",
        windowsHide: true,
      });
      const timer = setTimeout(() => {
        fail(`did not end within ${TIME_LIMIT / 1000} seconds and was stopped.`);
        killGroup(child);
      }, TIME_LIMIT);
      // pi does not wait for the timer.
      timer.unref();
      child.unref();
      child.on("error", (error) => {
        clearTimeout(timer);
        fail(`did not start: ${error.message}`);
      });
      child.on("exit", (code) => {
        clearTimeout(timer);
        if (code) fail(`failed with exit status ${code}.`);
      });
    } catch (error) {
      fail(`did not start: ${messageOf(error)}`);
    }
  }
}

/** The notifications of one guest that are held back. */
export class HeldNotifications {
  /** @type {Map<string, NodeJS.Timeout>} */
  #held = new Map();
  #notifications;

  /** @param {Notifications | undefined} notifications if they are granted */
  constructor(notifications) {
    this.#notifications = notifications;
  }

  /** @returns {import("./interface.js").Imports["pi:extension/notifications"]} */
  imports() {
    return {
      send: (notification) => this.#send(notification),
      withdraw: (occasion) => this.#withdraw(occasion),
    };
  }

  dropAll() {
    for (const occasion of this.#held.keys()) this.#withdraw(occasion);
  }

  /** @param {Notification} notification */
  #send(notification) {
    this.#withdraw(notification.occasion);
    if (!this.#notifications) return;
    const wait = this.#notifications.wait(notification.occasion);
    if (wait <= 0) return this.#notifications.show(notification);
    const timer = setTimeout(() => this.#send(notification), Math.ceil(wait));
    timer.unref();
    this.#held.set(notification.occasion, timer);
  }

  /** @param {string} occasion */
  #withdraw(occasion) {
    clearTimeout(this.#held.get(occasion));
    this.#held.delete(occasion);
  }
}

/**
 * Returns the sequence that shows a notification: OSC 99 for kitty, OSC 9 for iTerm2, OSC 777 for others.
 * @param {string} title
 * @param {string} text
 * @param {NodeJS.ProcessEnv} env
 */
export function terminalNotification(title, text, env) {
  const [head = "", body = ""] = [title, text].map((part) => plainText(part).replace(/[\n\t]/g, " "));
  const sequences = env.KITTY_WINDOW_ID
    ? [`\x1b]99;i=1:d=0;${head}\x1b\\`, `\x1b]99;i=1:p=body;${body}\x1b\\`]
    : [
        env.TERM_PROGRAM === "iTerm.app"
          ? `\x1b]9;${head}: ${body}\x07`
          : `\x1b]777;notify;${head.replaceAll(";", ",")};${body}\x07`,
      ];
  // tmux passes on a sequence inside of one of its own, if its option `allow-passthrough` is on.
  return sequences
    .map((sequence) => (env.TMUX ? `\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\` : sequence))
    .join("");
}
