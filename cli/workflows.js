// Runs the component's interface `pi-workflows:tools/workflows` (`wit/tools/tools.wit`) in Node.
import { dirname, join } from "node:path";

import { canConfine, resolveWrite } from "../host-shim/sandbox/index.js";
import { utcOffset } from "../host-shim/local-time.js";
import { filesBelow, packageRoots } from "../host-shim/files.js";
import { instantiator, readManifest } from "../host-shim/load.js";
import { GRANTS } from "./packages.js";
import { agentDir } from "./places.js";
import { inWords } from "./words.js";

const MANIFEST = new URL("../package.json", import.meta.url);
/** A folder of a run that there is not. */
const SAMPLE = { name: "0123456789abcdef0123", path: ".pi/workflow-runs/0123456789abcdef0123" };
const TOOLS = "pi-workflows:tools/workflows@0.1.0";

/**
 * @typedef {{ line: number, column: number, endColumn: number }} Place
 * @typedef {{ severity: "error" | "warning", file: string, place?: Place, message: string, help?: string, text: string
 *   }} Diagnostic
 * @typedef {{ diagnostics: Diagnostic[], summary: string }} Report
 *
 * @typedef {object} Workflows
 * @property {(surroundings: { tools: string[], moreTools: boolean, profiles?: string[] }, folder?: string) => Report}
 *   check
 * @property {() => { key: string, commandName: string, name: string, description?: string, folder: string, package?:
 *   string }[]} all
 * @property {(name: string) => string} graph
 * @property {(name: string, task: string) => string} show
 * @property {(name: string, task: string, inputs: [string, string][], outcomes: [string, string[]][], outputs: [string,
 *   string][], items: [string, string][]) => string} runThrough
 * @property {(name: string, inputs: [string, string][]) => string} allWays
 * @property {(name: string, phase: string, tool: string, argument?: string) => { allowed: boolean, text: string }} may
 * @property {(tool: string, argument?: string) => { allowed: boolean, text: string }} mayWithoutRun
 * @property {(name: string) => { path: string, text: string }[]} skeleton
 * @property {(name: string) => string} definition
 * @property {(file: string, text: string) => Task} readTask throws with diagnostics as its `payload`
 * @property {(text: string) => Bounds} readBounds
 * @property {(limits: string | undefined, hide: string[], home: string) => string} trialLimits
 * @property {(run: StoredRun) => any} readRun a `RunRecord`, with integers of 64 bits and lists of counts by name
 * @property {(run: StoredRun) => { markdown: string, json: string }} reportRun
 * @property {new () => { add: (entries: BranchEntry[]) => void, end: (replaced: boolean) => [any[], any[]] }} Course
 *   `Visit[]` and `Span[]`, with integers of 64 bits
 *
 * @typedef {{ text: string, inputs: [string, string][], timeoutMs: bigint, checkTimeoutMs: bigint, budget?: string,
 *   repo?: [address: string, commit: string] }} Task
 * @typedef {{ cost?: number, outputTokens?: bigint, timeMs?: bigint, turns?: bigint }} Bounds
 *
 * @typedef {{ states: string[], since?: import("../host-shim/interface.js").Usage, endedMs?: bigint, replaced: boolean
 *   }} StoredRun
 * @typedef {{ at?: bigint, kind: { tag: "state", val: string } | { tag: "work" | "wait" | "other" } }} BranchEntry
 */

/**
 * @typedef {object} RunRecord
 * @property {string} taskId
 * @property {string} workflow its key
 * @property {string} task
 * @property {"running" | "paused" | "done" | "stopped" | "cancelled" | "replaced"} outcome
 * @property {string} [pause] the kind of its reason
 * @property {string} phaseKey
 * @property {string} phaseName
 * @property {string} phaseTitle
 * @property {number} startedAt in milliseconds since 1970
 * @property {number} steps
 * @property {string} [fingerprint]
 * @property {PhaseRecord[]} phases in the order of the workflow
 * @property {Took} [usage] of the whole run; `undefined` if it was stored without usages
 * @property {number} older
 *
 * @typedef {{ key: string, name: string, title: string, place: Uint32Array, passes: number, startedAt: number,
 *   endedAt?: number, skipped: boolean, workMs: number, waitMs: number, cost?: number, gateFailures: number, refusals:
 *   number }} PhaseRecord `cost`: `undefined` if unknown
 *
 * @typedef {object} Took see `wit/tools/tools.wit`
 * @property {number} cost in US dollars, of the answers that have a price
 * @property {number} unpriced
 * @property {Record<string, number>} refusals by rule
 * @property {number} gateFailures
 * @property {number} workMs
 * @property {number} waitMs
 * @property {Record<string, number>} models the number of answers of each
 *
 * @typedef {{ key: string, name: string, pass: number, from: number, to: number, how: "done" | "skipped" | "again" |
 *   "ended" | "current" }} Visit
 * @typedef {{ kind: "work" | "wait" | "gate" | "pause", from: number, to: number, reason?: string }} Span
 */

/**
 * Returns a record of the component with numbers in place of integers of 64 bits.
 * @param {any} record is changed
 * @returns {any}
 */
export function plain(record) {
  for (const name in record) if (typeof record[name] === "bigint") record[name] = Number(record[name]);
  return record;
}

/**
 * Starts the component with some folders of workflows, and the `agents` beside the last one. Paths of limits are
 * relative to the project of the last one. Its functions throw errors with the message as `payload`.
 *
 * @param {import("./places.js").Grant[]} grants absolute paths
 * @param {import("../host-shim/packages.js").Installed[]} [packages]
 * @returns {Workflows}
 */
export function openWorkflows(grants, packages = []) {
  /** @param {import("./places.js").Grant} grant @param {boolean} listed */
  const root = ({ name, path, within }, listed) => ({
    name,
    path: () => path,
    within: within === undefined ? undefined : () => within,
    granted: () => true,
    listed,
  });
  const beside = grants
    .slice(-1)
    .map((grant) => ({ ...grant, name: "project-agents", path: join(dirname(grant.path), "agents") }));
  const folders = [
    ...grants.map((grant) => root(grant, true)),
    ...[{ name: "agents", path: join(agentDir(), "agents") }, ...beside].map((grant) => root(grant, false)),
  ];
  const files = filesBelow(
    folders,
    () => process.cwd(),
    () => packageRoots(GRANTS, packages),
  );
  const instance = /** @type {any} */ (
    instantiator(MANIFEST, readManifest(MANIFEST))(importsOf(files, grants.at(-1)?.within ?? process.cwd()))
  );
  return instance[TOOLS];
}

/**
 * All imports of the component. Only those that are called outside of pi are implemented.
 * @param {object} files
 * @param {string} project
 * @returns {any}
 */
function importsOf(files, project) {
  const fail = (/** @type {string} */ val) => {
    throw { tag: "failed", val };
  };
  const absent = {
    get: (/** @type {any} */ own, /** @type {string} */ name) => own[name] ?? (() => fail("This is not pi.")),
  };
  const orFail = (/** @type {() => any} */ question) => {
    try {
      return question();
    } catch (error) {
      return fail(inWords(error));
    }
  };
  const context = {
    resolveWrite: (/** @type {string} */ path) => orFail(() => resolveWrite(path, project)),
    canConfine: () => orFail(canConfine),
    utcOffset,
  };
  const names = ["types", "api", "session", "ui", "store", "timers", "children", "notifications"];
  return {
    ...Object.fromEntries(names.map((name) => [`pi:extension/${name}`, new Proxy({}, absent)])),
    "pi:extension/context": new Proxy(context, absent),
    "pi:extension/files": files,
    "pi:extension/folders": { open: () => SAMPLE },
  };
}
