// The actions of scenarios.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sessionFiles } from "../../pi/harness/pi.mjs";
import { writeAll } from "./files.mjs";
import { extendSession, writeSession } from "./hand-written.mjs";
import { working } from "./workflows.mjs";

/** @typedef {(stage: import("./play.mjs").Stage) => Promise<any>} Action */

/**
 * Sends a prompt or a command that starts a run, and waits until the agent is idle.
 * @param {string} text
 * @returns {Action}
 */
export const run =
  (text) =>
  ({ rpc }) =>
    rpc.promptAndSettle(text);

/**
 * Sends a command that starts no run.
 * @param {string} text
 * @returns {Action}
 */
export const command =
  (text) =>
  async ({ rpc }) => {
    await rpc.prompt(text);
    // The answer to a later command arrives after everything that the first command has sent.
    await rpc.state();
  };

/**
 * Sends a prompt, performs actions while the model is `working`, and then aborts.
 * @param {string} text
 * @param {...Action} meanwhile
 * @returns {Action}
 */
export const interrupt =
  (text, ...meanwhile) =>
  async (stage) => {
    const works = modelWorks(stage.rpc);
    await stage.rpc.prompt(text);
    await works;
    for (const action of meanwhile) await action(stage);
    await abort(stage);
  };

/** Waits for the run that a countdown starts, and aborts it while the model is `working`. @type {Action} */
export const interruptNext = async (stage) => {
  await modelWorks(stage.rpc);
  await abort(stage);
};

/** @param {import("../../pi/harness/rpc.mjs").Rpc} rpc */
function modelWorks(rpc) {
  const says = (/** @type {any} */ record) =>
    record.type === "message_update" && JSON.stringify(record).includes(String(working.text));
  return rpc.waitFor(says, { from: rpc.records.length, timeoutMs: 15_000, what: "the model to work" });
}

/** Aborts the agent if it works. @type {Action} */
export const abort = async ({ rpc }) => {
  if (!(await rpc.state()).isStreaming) return;
  const settled = rpc.waitForSettled();
  await rpc.send({ type: "abort" });
  await settled;
};

/**
 * Sends a prompt, performs actions after request number `request` to the model, and waits until the agent is idle. The
 * answer to that request should be delayed.
 * @param {string} text
 * @param {number} request from 1
 * @param {...Action} meanwhile
 * @returns {Action}
 */
export const during =
  (text, request, ...meanwhile) =>
  async (stage) => {
    const settled = stage.rpc.waitForSettled();
    await stage.rpc.prompt(text);
    await stage.model.waitForRequests(request);
    for (const action of meanwhile) await action(stage);
    await settled;
  };

/** Waits for the run that a countdown starts. @type {Action} */
export const countdown = ({ rpc }) => rpc.waitForSettled({ timeoutMs: 15_000 });

/** Waits a second. @type {Action} */
export const rest = () => sleep(1_000);

/** Waits longer than a countdown takes, and then until the agent is idle or hangs. @type {Action} */
export const pause = async ({ rpc, model }) => {
  await sleep(4_000);
  for (let seen = -1; seen !== model.requests.length;) {
    seen = model.requests.length;
    await sleep(300);
    await rpc.state();
  }
};

/**
 * Sets the user's answer to the following questions; `undefined` cancels them.
 * @param {boolean | string} [value]
 * @returns {Action}
 */
export const answer = (value) => async (stage) => {
  stage.answer = value;
};

/**
 * Ends pi and starts it again.
 * @param {{ change?: FileChange, entries?: object[], args?: string[] }} [options] changes before the start: files,
 *   and entries appended to the session; `args` replaces `--continue`
 * @returns {Action}
 */
export const restart =
  ({ change, entries = [], args } = {}) =>
  async (stage) => {
    await stage.stop();
    if (change) await files(change)(stage);
    if (entries.length > 0) extendSession(stage.sandbox, entries);
    await stage.restart(args);
  };

/**
 * Ends the running pi, and runs pi once in print or JSON mode.
 * @param {string} prompt
 * @param {{ mode?: "text" | "json", args?: string[] }} [options]
 * @returns {Action}
 */
export const print =
  (prompt, { mode = "text", args = [] } = {}) =>
  (stage) =>
    stage.print(prompt, mode, args);

/** @type {Action} */
export const newSession = ({ rpc }) => rpc.send({ type: "new_session" });

/**
 * Opens a hand-written session.
 * @param {object[]} entries
 * @returns {Action}
 */
export const open =
  (entries) =>
  async ({ rpc, sandbox }) =>
    rpc.send({ type: "switch_session", sessionPath: writeSession(sandbox, entries) });

/** Opens the oldest session. @type {Action} */
export const switchBack = ({ rpc, sandbox }) =>
  rpc.send({ type: "switch_session", sessionPath: sessionFiles(sandbox)[0] });

/** @type {Action} */
export const clone = ({ rpc }) => rpc.send({ type: "clone" });

/** @type {Action} */
export const compact = ({ rpc }) => rpc.send({ type: "compact" });

/** @type {Action} */
export const reload = command("/drive-reload");

/**
 * Sends a command of RPC mode.
 * @param {{ type: string, [field: string]: unknown }} record
 * @returns {Action}
 */
export const send =
  (record) =>
  ({ rpc }) =>
    rpc.send(record);

/**
 * Forks the session before the prompt with this text.
 * @param {string} text
 * @returns {Action}
 */
export const forkBefore =
  (text) =>
  async ({ rpc }) => {
    const { data } = await rpc.send({ type: "get_fork_messages" });
    const { entryId } = data.messages.find((/** @type {any} */ message) => message.text.includes(text));
    await rpc.send({ type: "fork", entryId });
  };

/**
 * Navigates in the session tree to the first entry that contains a text.
 * @param {string} text
 * @returns {Action}
 */
export const moveTo = (text) => async (stage) => {
  const entry = (await stage.rpc.entries()).find((entry) => JSON.stringify(entry).includes(text));
  if (!entry) throw new Error(`no entry with ${text}`);
  await command(`/drive-tree ${entry.id}`)(stage);
};

/**
 * Files to write below the agent directory or the project; `undefined` removes a file.
 * @typedef {{ global?: Record<string, string | undefined>, project?: Record<string, string | undefined> }} FileChange
 */

/**
 * Changes workflow files while pi runs.
 * @param {FileChange} change
 * @returns {Action}
 */
export const files =
  ({ global = {}, project = {} }) =>
  async ({ sandbox }) => {
    for (const [folder, changes] of /** @type {const} */ ([
      [join(sandbox.agent, "workflows"), global],
      [join(sandbox.project, ".pi/workflows"), project],
    ])) {
      for (const [path, text] of Object.entries(changes)) {
        if (text === undefined) rmSync(join(folder, path), { recursive: true, force: true });
        else writeAll(folder, { [path]: text });
      }
    }
  };
