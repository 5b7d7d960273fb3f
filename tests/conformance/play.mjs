// Plays a scenario in the real pi with one of the packages, or with one after the other.

import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sessionFiles } from "../pi/harness/pi.mjs";
import { startRpc } from "../pi/harness/rpc.mjs";
import { makeSandbox } from "../pi/harness/sandbox.mjs";
import { startModel } from "../pi/harness/scripted-model.mjs";
import { recordPlay } from "./record.mjs";
import { working } from "./workflows.mjs";

/**
 * @typedef {(stage: Stage) => Promise<any>} Action
 *
 * @typedef {object} Play
 * @property {Record<string, string>} [global] workflow files below the agent directory
 * @property {Record<string, string>} [project] workflow files below the project's configuration directory
 * @property {Record<string, string>} [files] other files of the project
 * @property {string[]} [extensions] more extensions
 * @property {Record<string, unknown>} [settings]
 * @property {object[]} [session] entries of a stored session that pi continues
 * @property {Parameters<typeof startModel>[0]} [model]
 * @property {Action[]} actions
 */

const DRIVER = fileURLToPath(new URL("driver.mjs", import.meta.url));

/**
 * @param {Play} play
 * @param {string} version of pi
 * @param {...string} packages the package of the first pi, of the second, and so on; the last one stays
 */
export async function play({ global, project, files, settings, extensions = [], ...play }, version, ...packages) {
  const model = await startModel(play.model);
  const sandbox = makeSandbox({ model, settings, globalFiles: global, projectFiles: project, files });
  try {
    if (play.session) writeSession(sandbox, play.session);
    const stage = new Stage(model, sandbox, version, packages, extensions);
    await stage.start(play.session ? ["--continue"] : []);
    for (const action of play.actions) await action(stage);
    await stage.stop();
    if (model.faults.length > 0) throw model.faults[0];
    return recordPlay(stage);
  } finally {
    await sandbox.dispose();
    await model.close();
  }
}

/** Runs one pi after the other in one sandbox. */
export class Stage {
  /** @type {import("../pi/harness/rpc.mjs").Rpc | undefined} */
  #rpc;
  /** The calls of the user interface. @type {any[]} */
  ui = [];
  /** The user's answer to the next question. @type {import("../pi/harness/rpc.mjs").DialogAnswer} */
  answer = undefined;
  #version;
  #packages;
  #extensions;

  /**
   * @param {import("../pi/harness/scripted-model.mjs").ScriptedModel} model
   * @param {import("../pi/harness/sandbox.mjs").Sandbox} sandbox
   * @param {string} version
   * @param {string[]} packages
   * @param {string[]} extensions
   */
  constructor(model, sandbox, version, packages, extensions) {
    this.model = model;
    this.sandbox = sandbox;
    this.#version = version;
    this.#packages = packages;
    this.#extensions = extensions;
  }

  get rpc() {
    if (!this.#rpc) throw new Error("pi is not running");
    return this.#rpc;
  }

  /** @param {string[]} args */
  async start(args) {
    const extension = [this.#packages[0], DRIVER, ...this.#extensions];
    const options = { version: this.#version, sandbox: this.sandbox, extension, trust: true, args };
    this.#rpc = await startRpc({ ...options, onDialog: () => this.answer });
    const isTakenUp = (/** @type {any} */ { method }) => method === "setStatus";
    await this.#rpc.waitFor(isTakenUp, { what: "the extension to take up the session" });
  }

  /** Ends pi, and keeps its output so far. Records that arrive while pi ends depend on timing. */
  async stop() {
    this.ui.push(...this.rpc.ui(undefined));
    await this.rpc.close();
  }

  /** Ends pi and starts the next package. */
  async restart() {
    await this.stop();
    if (this.#packages.length > 1) this.#packages = this.#packages.slice(1);
    await this.start(["--continue"]);
  }
}

/**
 * Writes a session file whose name sorts after all existing ones.
 *
 * @param {import("../pi/harness/sandbox.mjs").Sandbox} sandbox
 * @param {object[]} entries without ids; each is the child of the one before
 */
function writeSession(sandbox, entries) {
  const { agent, project } = sandbox;
  const number = sessionFiles(sandbox).length + 1;
  const timestamp = "2026-01-01T00:00:00.000Z";
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  const folder = join(agent, "sessions", `--${project.slice(1).replaceAll("/", "-")}--`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `2026-01-01T00-00-0${number}-000Z_${id}.jsonl`);
  writeFileSync(file, `${JSON.stringify({ type: "session", version: 3, id, timestamp, cwd: project })}\n`);
  for (const [index, entry] of entries.entries()) {
    const ids = { id: `entry-${index}`, parentId: index === 0 ? null : `entry-${index - 1}`, timestamp };
    appendFileSync(file, `${JSON.stringify({ ...entry, ...ids })}\n`);
  }
  return file;
}

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
 * Sends a prompt, and aborts while the model is `working`.
 * @param {string} text
 * @returns {Action}
 */
export const interrupt =
  (text) =>
  async ({ rpc }) => {
    const isWorking = (/** @type {any} */ record) =>
      record.type === "message_update" && JSON.stringify(record).includes(String(working.text));
    const works = rpc.waitFor(isWorking, { from: rpc.records.length, timeoutMs: 15_000, what: "the model to work" });
    await rpc.prompt(text);
    await works;
    const settled = rpc.waitForSettled();
    await rpc.send({ type: "abort" });
    await settled;
  };

/** Waits for the run that a countdown starts. @type {Action} */
export const countdown = ({ rpc }) => rpc.waitForSettled({ timeoutMs: 15_000 });

/** Waits longer than a countdown takes. @type {Action} */
export const pause = async ({ rpc }) => {
  await sleep(4_000);
  await rpc.state();
};

/**
 * Sets the user's answer to the following questions; `undefined` cancels them.
 * @param {boolean | string} [value]
 * @returns {Action}
 */
export const answer = (value) => async (stage) => {
  stage.answer = value;
};

/** Ends pi and starts it again with the next package. @type {Action} */
export const restart = (stage) => stage.restart();

/**
 * Opens a stored session.
 * @param {object[]} entries
 * @returns {Action}
 */
export const open =
  (entries) =>
  ({ rpc, sandbox }) =>
    rpc.send({ type: "switch_session", sessionPath: writeSession(sandbox, entries) });

/** @type {Action} */
export const newSession = ({ rpc }) => rpc.send({ type: "new_session" });

/** @type {Action} */
export const compact = ({ rpc }) => rpc.send({ type: "compact" });

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
  await command(`/drive-tree ${entry.id}`)(stage);
};

/**
 * Changes workflow files below the agent directory while pi runs; `undefined` removes a file.
 * @param {Record<string, string | undefined>} changes
 * @returns {Action}
 */
export const change =
  (changes) =>
  async ({ sandbox }) =>
    writeAll(join(sandbox.agent, "workflows"), changes);

/**
 * Writes files into a folder; `undefined` removes a file.
 * @param {string} folder
 * @param {Record<string, string | undefined>} files
 */
export function writeAll(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    rmSync(file, { recursive: true, force: true });
    if (text === undefined) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
