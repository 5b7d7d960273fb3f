// Plays a scenario in the real pi, and records everything that is visible to the user, to the model or in a session
// file.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openWorkflows } from "../../../cli/workflows.js";
import { runPrint } from "../../pi/harness/pi.mjs";
import { startRpc } from "../../pi/harness/rpc.mjs";
import { makeSandbox } from "../../pi/harness/sandbox.mjs";
import { startModel } from "../../pi/harness/scripted-model.mjs";
import { writeSession } from "./hand-written.mjs";
import { OURS } from "./packages.mjs";
import { normaliser } from "./normalise.mjs";
import { recordErrors, recordRequests, recordScreen, recordSessions, recordTool } from "./record.mjs";

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {Record<string, string>} [global] workflow files below the agent directory
 * @property {Record<string, string>} [project] workflow files below the project's configuration directory
 * @property {Record<string, string>} [files] other files of the project
 * @property {boolean} [trust]
 * @property {string[]} [extensions] more extensions
 * @property {Record<string, unknown>} [settings]
 * @property {boolean} [waits] true if it waits for the countdown; otherwise the remaining seconds are not compared
 * @property {object[]} [session] hand-written entries of a session that pi continues
 * @property {Parameters<typeof startModel>[0]} [model]
 * @property {import("./actions.mjs").Action[]} actions
 * @property {import("./compare.mjs").Difference[]} differs every difference of the two records
 *
 * @typedef {object} PlayRecord
 * @property {import("./record.mjs").Request[]} requests the requests to the model
 * @property {import("./record.mjs").Entry[][]} sessions the entries of the session files, oldest first
 * @property {ReturnType<typeof recordTool>} tool the definition of `workflow_step`
 * @property {string[]} screen the output and questions to the user, in order
 * @property {string[]} printed the output that bypassed pi's interface
 * @property {string[]} checked the diagnostics of ours, each once
 * @property {string[]} errors errors of extensions and refused commands
 *
 * @typedef {{ requests: number, entries: number[], screen: number }} Mark
 */

const DRIVER = fileURLToPath(new URL("driver.mjs", import.meta.url));

/**
 * @param {Scenario} scenario
 * @param {string} version of pi
 * @param {...string} packages the package of the first pi, of the second, and so on; the last one stays
 */
export async function play(scenario, version, ...packages) {
  const model = await startModel(scenario.model);
  const { global, project, files, settings } = scenario;
  const sandbox = makeSandbox({ model, settings, globalFiles: global, projectFiles: project, files });
  try {
    if (scenario.session) writeSession(sandbox, scenario.session);
    const stage = new Stage(scenario, version, packages, model, sandbox);
    await stage.start(scenario.session ? ["--continue"] : []);
    for (const action of scenario.actions) {
      stage.check();
      await action(stage);
    }
    await stage.stop();
    if (model.faults.length > 0) throw model.faults[0];
    return { record: normaliser(sandbox)(stage.record()), restarts: stage.restarts };
  } finally {
    await sandbox.dispose();
    await model.close();
  }
}

/** Runs one pi after the other in one sandbox. */
export class Stage {
  /** @type {import("../../pi/harness/rpc.mjs").Rpc | undefined} */
  #rpc;
  /** @type {string[]} */
  screen = [];
  /** @type {string[]} */
  printed = [];
  /** @type {Set<string>} */
  #checked = new Set();
  /** @type {string[]} */
  errors = [];
  /** The user's answer to the next question. @type {import("../../pi/harness/rpc.mjs").DialogAnswer} */
  answer = undefined;
  /** The sizes of the lists of the record at each restart. @type {Mark[]} */
  restarts = [];
  #scenario;
  #version;
  #packages;

  /**
   * @param {Scenario} scenario
   * @param {string} version
   * @param {string[]} packages
   * @param {import("../../pi/harness/scripted-model.mjs").ScriptedModel} model
   * @param {import("../../pi/harness/sandbox.mjs").Sandbox} sandbox
   */
  constructor(scenario, version, packages, model, sandbox) {
    this.#scenario = scenario;
    this.#version = version;
    this.#packages = packages;
    this.model = model;
    this.sandbox = sandbox;
  }

  get rpc() {
    if (!this.#rpc) throw new Error("pi is not running");
    return this.#rpc;
  }

  /** @param {string[]} args */
  async start(args) {
    this.#rpc = await startRpc({ ...this.#options(args), onDialog: () => this.answer });
    const isTakenUp = (/** @type {any} */ { method }) => method === "setStatus";
    await this.#rpc.waitFor(isTakenUp, { what: "the extension to take up the session" });
  }

  /** Ends pi, if it runs, and keeps its output so far. */
  async stop() {
    const rpc = this.#rpc;
    if (!rpc) return;
    this.#rpc = undefined;
    // Records that arrive while pi ends depend on timing.
    this.screen.push(...recordScreen(rpc.ui(undefined), Boolean(this.#scenario.waits)));
    this.errors.push(...recordErrors(rpc.records));
    await rpc.close();
    this.printed.push(...complaints(rpc.stderr()));
  }

  /** @param {string[]} [args] */
  async restart(args = ["--continue"]) {
    await this.stop();
    this.screen.push("(pi starts again)");
    const { requests, sessions, screen } = this.record();
    const entries = sessions.map((session) => session.length);
    this.restarts.push({ requests: requests.length, entries, screen: screen.length });
    if (this.#packages.length > 1) this.#packages = this.#packages.slice(1);
    await this.start(args);
  }

  /**
   * Runs pi once, in print or JSON mode.
   * @param {string} prompt
   * @param {"text" | "json"} mode
   * @param {string[]} args
   */
  async print(prompt, mode, args) {
    await this.stop();
    const run = await runPrint({ ...this.#options(args), prompt, mode });
    this.screen.push(`(pi ends with ${run.code})`);
    if (mode === "text") this.screen.push(...lines(run.stdout));
    this.printed.push(...complaints(run.stderr));
  }

  /** Records the diagnostics of ours about the current files. */
  check() {
    if (this.#packages[0] !== OURS) return;
    const { agent, project } = this.sandbox;
    const grants = [{ name: "global", path: join(agent, "workflows") }];
    if (this.#scenario.trust !== false) grants.push({ name: "project", path: join(project, ".pi/workflows") });
    const { diagnostics } = openWorkflows(grants).check({ tools: [], moreTools: true });
    for (const { file, message } of diagnostics) if (!ADVICE.test(message)) this.#checked.add(`${file}: ${message}`);
  }

  /** @returns {PlayRecord} */
  record() {
    const { screen, printed, errors, model, sandbox } = this;
    return {
      requests: recordRequests(model.requests),
      tool: recordTool(model.requests),
      sessions: recordSessions(sandbox),
      screen: [...screen],
      printed,
      checked: [...this.#checked],
      errors,
    };
  }

  /** @param {string[]} args */
  #options(args) {
    const { trust, extensions = [] } = this.#scenario;
    const extension = [this.#packages[0], DRIVER, ...extensions];
    return { version: this.#version, sandbox: this.sandbox, extension, trust, args };
  }
}

/** Diagnostics about valid files. */
const ADVICE = new RegExp(
  [
    "^unknown field .*; it has no effect$",
    "^unknown variable ",
    "^unused phase file: no workflow lists it$",
    "^this workflow replaces ",
    "^skipped: ",
    " differ in case only$",
  ].join("|"),
);

/**
 * Splits the output on stderr into items; all lines of one warning of the reference form one item.
 * @param {string} text
 */
function complaints(text) {
  return text
    .split(/\n(?=\[pi-workflows\] )/)
    .map((warning) => warning.trim())
    .filter(Boolean);
}

/** @param {string} text */
function lines(text) {
  return text.split("\n").filter((line) => line.trim() !== "");
}
