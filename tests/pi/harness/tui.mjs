// pi's terminal interface in tmux: keys in, screen out. Each instance has a tmux server of its own.

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { onExit } from "./on-exit.mjs";
import { PATIENCE_MS, piCommand } from "./pi.mjs";

const exec = promisify(execFile);
const POLL_MS = 40;

// remain-on-exit keeps the last screen after pi ends; the rest makes the pane a plain terminal of the requested size.
const CONFIG = `
set -g default-terminal tmux-256color
set -g status off
set -g remain-on-exit on
set -g extended-keys on
set -s escape-time 0
`;

/** @typedef {Awaited<ReturnType<typeof startTui>>} Tui */

/**
 * Starts pi in a terminal and waits until its extensions have started and it accepts input.
 *
 * @param {import("./pi.mjs").PiOptions & { columns?: number, rows?: number, ready?: RegExp }} options `ready` is what
 *   the screen must show instead, for a dialog before that
 */
export async function startTui({ columns = 110, rows = 36, ready, ...options }) {
  const { sandbox } = options;
  const socket = join(sandbox.root, `tmux-${++instances}`);
  const config = `${socket}.conf`;
  writeFileSync(config, CONFIG);
  // -u: without a UTF-8 locale tmux would print underscores for non-ASCII characters.
  const args = (/** @type {string[]} */ ...rest) => ["-u", "-S", socket, "-f", config, ...rest];
  const tmux = async (/** @type {string[]} */ ...rest) => (await exec("tmux", args(...rest))).stdout;
  const pane = async (/** @type {string} */ name) => (await tmux("display-message", "-p", `#{${name}}`)).trimEnd();

  // The server inherits this environment, and pi inherits the server's.
  const env = { ...sandbox.env(), ...options.env };
  const size = ["-x", String(columns), "-y", String(rows)];
  await exec("tmux", args("new-session", "-d", ...size, "-c", sandbox.project, "--", ...piCommand(options)), { env });
  // By process id, which needs no answer from tmux in an exit hook.
  const server = Number(await pane("pid"));
  const pi = Number(await pane("pane_pid"));
  const end = () => {
    signal(server, "SIGTERM");
    signal(-pi, "SIGKILL");
  };
  const forget = onExit(end);
  let closed = false;

  const screen = () => tmux("capture-pane", "-p");
  const tui = {
    /** The visible screen as plain text. */
    screen,
    /** Writes what pi sends to the terminal from now on into a file. */
    record: (/** @type {string} */ file) => tmux("pipe-pane", "-O", `cat >> '${file}'`),
    /** Changes the terminal's size. */
    resize: (/** @type {number} */ columns, /** @type {number} */ rows) =>
      tmux("resize-window", "-x", String(columns), "-y", String(rows)),
    /** The terminal's title. */
    title: () => pane("pane_title"),
    /** The visible screen with the escape sequences for colours. */
    screenWithColors: () => tmux("capture-pane", "-p", "-e"),
    /** Types text key by key, so completion popups open as they do for a user. */
    type: (/** @type {string} */ text) => tmux("send-keys", "-l", "--", text),
    /**
     * Presses keys by tmux's names: Enter, Escape, Tab, C-c, Up … After Escape, wait until the screen shows its effect:
     * pi reads Escape and a key that follows too soon as Alt+key.
     */
    async press(/** @type {string[]} */ ...keys) {
      for (const key of keys) await tmux("send-keys", "--", key);
    },
    /**
     * Puts a line into the editor and submits it. The line is pasted: typed, it opens a completion popup some time
     * later, and Enter accepts a completion while one is open. pi opens none on a paste.
     */
    async submit(/** @type {string} */ line) {
      await tmux("set-buffer", "--", line);
      await tmux("paste-buffer", "-p", "-r", "-d");
      await tui.press("Enter");
    },
    /**
     * Waits until the screen matches, and returns it.
     *
     * @param {RegExp | string | ((screen: string) => unknown)} condition
     * @param {number} [timeoutMs]
     */
    async waitFor(condition, timeoutMs = PATIENCE_MS) {
      let text = "";
      const holds = async () => {
        text = await screen();
        if (typeof condition === "function") return Boolean(condition(text));
        return typeof condition === "string" ? text.includes(condition) : condition.test(text);
      };
      await poll(holds, String(condition), timeoutMs);
      return text;
    },
    /** Returns true if pi has ended; its last screen stays. */
    ended,
    /** Waits until pi has ended (for example after /quit) and returns its exit code. */
    async waitForEnd(timeoutMs = PATIENCE_MS) {
      await poll(ended, "pi to end", timeoutMs);
      return Number(await pane("pane_dead_status"));
    },
    /** Ends pi, normally if possible, and the terminal. */
    close: async ({ timeoutMs = 3_000 } = {}) => {
      if (closed) return;
      closed = true;
      if (!(await ended())) signal(pi, "SIGHUP");
      const deadline = Date.now() + timeoutMs;
      while (!(await ended()) && Date.now() < deadline) await sleep(POLL_MS);
      forget();
      end();
    },
  };

  /**
   * @param {() => Promise<boolean>} condition
   * @param {string} what
   * @param {number} timeoutMs
   */
  async function poll(condition, what, timeoutMs) {
    const deadline = Date.now() + timeoutMs;
    // Checked in this order, so that the last screen before pi ended still counts.
    for (let over = false; ;) {
      if (await condition()) return;
      if (over || Date.now() > deadline) {
        const how = over ? "pi ended; waited" : `waited ${timeoutMs} ms`;
        // With the scrollback: if pi does not start, its first lines show the reason.
        const everything = await tmux("capture-pane", "-p", "-S", "-");
        throw new Error(`${how} for ${what} on this screen:\n${everything.trimEnd()}`);
      }
      over = await ended();
      if (!over) await sleep(POLL_MS);
    }
  }

  async function ended() {
    return (await pane("pane_dead")) === "1";
  }

  sandbox.adopt(tui.close);
  // pi shows its editor before it accepts input. It sets the title after the extensions' session_start.
  if (ready) await tui.waitFor(ready);
  else
    await poll(async () => (await pane("pane_title")).startsWith("π"), "pi to set the terminal's title", PATIENCE_MS);
  return tui;
}

/**
 * Sends a signal to a process, or to a process group if negative; returns false if it does not exist.
 *
 * @param {number} pid
 * @param {NodeJS.Signals | 0} name
 */
function signal(pid, name) {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

let instances = 0;
