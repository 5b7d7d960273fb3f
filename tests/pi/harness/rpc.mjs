// A client for pi's RPC mode: commands with their responses, every record pi sent, and answers to extensions' dialogs.

import { once } from "node:events";
import { PATIENCE_MS, spawnPi } from "./pi.mjs";

/**
 * The answer to a dialog: a boolean for `confirm`, a string for `select`, `input` and `editor`; `undefined` or `null`
 * cancels. A promise keeps the dialog open until it resolves.
 *
 * @typedef {boolean | string | undefined | null} DialogAnswer
 * @typedef {(request: any) => DialogAnswer | Promise<DialogAnswer>} DialogHandler
 * @typedef {Awaited<ReturnType<typeof startRpc>>} Rpc
 */

const DIALOGS = ["select", "confirm", "input", "editor"];

/**
 * Starts pi in RPC mode and waits until it answers.
 *
 * @param {import("./pi.mjs").PiOptions & { onDialog?: DialogHandler }} options
 */
export async function startRpc({ onDialog, ...options }) {
  const { child, killGroup } = spawnPi(options, ["--mode", "rpc"], "pipe");
  const stdin = /** @type {import("node:stream").Writable} */ (child.stdin);
  /** @type {any[]} */
  const records = [];
  /** @type {Set<() => void>} */
  const watchers = new Set();
  let stderr = "";
  let exited = false;
  let lastId = 0;
  let answerDialog = onDialog ?? (() => undefined);

  child.stderr?.setEncoding("utf8").on("data", (text) => (stderr += text));
  // Lines end with LF alone: readline would also split at U+2028 and U+2029, which JSON strings may contain.
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) receive(JSON.parse(line));
  });
  child.once("error", (error) => (stderr += error.stack));
  child.once("close", () => {
    exited = true;
    notify();
  });
  // If pi has just ended, the next wait fails with its stderr.
  stdin.on("error", () => {});

  /** @param {any} record */
  function receive(record) {
    records.push(record);
    notify();
    if (record.type === "extension_ui_request" && DIALOGS.includes(record.method)) void respond(record);
  }

  function notify() {
    for (const watcher of watchers) watcher();
  }

  /** @param {any} request */
  async function respond(request) {
    const answer = await answerDialog(request);
    write({ type: "extension_ui_response", id: request.id, ...answerFields(answer) });
  }

  /** @param {object} record */
  function write(record) {
    stdin.write(`${JSON.stringify(record)}\n`);
  }

  /** @param {string} what */
  function fault(what) {
    const last = records.slice(-12).map((record) => JSON.stringify(record).slice(0, 400));
    const ended = exited ? " (pi has ended)" : "";
    return new Error(`${what}${ended}\n--- last records\n${last.join("\n")}\n--- stderr\n${stderr}`);
  }

  /**
   * Resolves with the first record at or after index `from` that fulfils `predicate`, present or future.
   *
   * @param {(record: any) => unknown} predicate
   * @param {{ timeoutMs?: number, from?: number, what?: string }} [options]
   * @returns {Promise<any>}
   */
  function waitFor(predicate, { timeoutMs = PATIENCE_MS, from = 0, what = predicate.toString() } = {}) {
    let next = from;
    const found = new Promise((resolve, reject) => {
      const finish = (/** @type {() => void} */ settle) => {
        clearTimeout(timer);
        watchers.delete(check);
        settle();
      };
      const check = () => {
        try {
          while (next < records.length) {
            const record = records[next++];
            if (predicate(record)) return finish(() => resolve(record));
          }
          if (exited) finish(() => reject(fault(`pi ended before: ${what}`)));
        } catch (error) {
          finish(() => reject(error));
        }
      };
      const timer = setTimeout(() => finish(() => reject(fault(`waited ${timeoutMs} ms for: ${what}`))), timeoutMs);
      watchers.add(check);
      check();
    });
    // A wait is often created before a command and awaited after it.
    found.catch(() => {});
    return found;
  }

  /**
   * Sends a command; resolves with its response, successful or not.
   *
   * @param {{ type: string, [field: string]: unknown }} command
   * @param {{ timeoutMs?: number }} [options]
   * @returns {Promise<any>}
   */
  function send(command, { timeoutMs } = {}) {
    const id = `harness-${++lastId}`;
    const from = records.length;
    write({ id, ...command });
    const what = `the response to ${JSON.stringify(command)}`;
    return waitFor((record) => record.type === "response" && record.id === id, { from, timeoutMs, what });
  }

  /** @param {string} type */
  async function ask(type) {
    const response = await send({ type });
    if (!response.success) throw fault(`${type} failed: ${response.error}`);
    return response.data;
  }

  const client = {
    /** Every record pi has sent. */
    records,
    /** pi's process id. */
    pid: /** @type {number} */ (child.pid),
    send,
    waitFor,
    /** Everything pi wrote to stderr so far. */
    stderr: () => stderr,
    /**
     * Resolves at the next `agent_settled`. Call it before the run starts, or pass the index of the first record to
     * check.
     */
    waitForSettled: (/** @type {{ timeoutMs?: number, from?: number }} */ { timeoutMs, from = records.length } = {}) =>
      waitFor((record) => record.type === "agent_settled", { timeoutMs, from, what: "agent_settled" }),
    /** Sends a prompt or a slash command and resolves with the response: a command's comes when its handler is done. */
    prompt: (/** @type {string} */ message, /** @type {Record<string, unknown>} */ fields = {}) =>
      send({ type: "prompt", message, ...fields }),
    /** Sends a prompt or a slash command and resolves when the run it starts has settled. */
    async promptAndSettle(
      /** @type {string} */ message,
      /** @type {{ timeoutMs?: number, images?: object[] }} */ { images, ...options } = {},
    ) {
      const settled = client.waitForSettled(options);
      const response = await send({ type: "prompt", message, images }, options);
      if (!response.success) throw fault(`prompt ${JSON.stringify(message)} failed: ${response.error}`);
      await settled;
    },
    /** UI calls of extensions, all or those of one method. */
    ui: (/** @type {string | undefined} */ method) =>
      records.filter((record) => record.type === "extension_ui_request" && (!method || record.method === method)),
    /** Errors that extensions threw, as pi reports them. */
    extensionErrors: () => records.filter((record) => record.type === "extension_error"),
    /** Sets the handler of dialogs; without a handler they are cancelled. */
    onDialog(/** @type {DialogHandler} */ handler) {
      answerDialog = handler;
    },
    /** The entries of the current session, in the order they were appended. */
    entries: async () => /** @type {any[]} */ ((await ask("get_entries")).entries),
    state: () => ask("get_state"),
    /** Ends pi normally, or kills it after `timeoutMs`. Resolves with its exit code (null if killed). */
    close: async ({ timeoutMs = 5_000 } = {}) => {
      if (exited) return child.exitCode;
      const closed = once(child, "close");
      stdin.end();
      const timer = setTimeout(killGroup, timeoutMs);
      await closed;
      clearTimeout(timer);
      return child.exitCode;
    },
    /** Kills pi with SIGKILL. */
    kill: async () => {
      if (exited) return;
      const closed = once(child, "close");
      killGroup();
      await closed;
    },
  };

  options.sandbox.adopt(client.close);
  await send({ type: "get_state" });
  return client;
}

/** @param {DialogAnswer} answer */
function answerFields(answer) {
  if (answer === undefined || answer === null) return { cancelled: true };
  return typeof answer === "boolean" ? { confirmed: answer } : { value: answer };
}
