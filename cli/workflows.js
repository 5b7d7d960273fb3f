// Runs the component's interface `pi-workflows:tools/workflows` (`wit/tools/tools.wit`) in Node.
import { dirname, join } from "node:path";

import { filesBelow } from "../host-shim/files.js";
import { instantiator, readManifest } from "../host-shim/load.js";
import { agentDir } from "./places.js";

const MANIFEST = new URL("../package.json", import.meta.url);
const TOOLS = "pi-workflows:tools/workflows@0.1.0";

/**
 * @typedef {{ line: number, column: number, endColumn: number }} Place
 * @typedef {{ severity: "error" | "warning", file: string, place?: Place, message: string, help?: string, text: string }} Diagnostic
 * @typedef {{ diagnostics: Diagnostic[], summary: string }} Report
 *
 * @typedef {object} Workflows
 * @property {(surroundings: { tools: string[], moreTools: boolean, profiles?: string[] }, folder?: string) => Report} check
 * @property {() => { key: string, commandName: string, name: string, description?: string, folder: string }[]} all
 * @property {(name: string) => string} graph
 * @property {(name: string, task: string) => string} show
 * @property {(name: string, task: string) => string} runThrough
 * @property {(name: string) => { path: string, text: string }[]} skeleton
 */

/**
 * Starts the component with some folders of workflows, and the `agents` beside the last one. Its functions throw errors
 * with the message as `payload`.
 *
 * @param {import("./places.js").Grant[]} grants absolute paths
 * @returns {Workflows}
 */
export function openWorkflows(grants) {
  /** @param {import("./places.js").Grant} grant @param {boolean} listed */
  const root = ({ name, path, within }, listed) => ({
    name,
    path: () => path,
    within: within === undefined ? undefined : () => within,
    granted: () => true,
    listed,
  });
  const beside = grants.slice(-1).map((grant) => ({ ...grant, name: "project-agents", path: join(dirname(grant.path), "agents") }));
  const folders = [
    ...grants.map((grant) => root(grant, true)),
    ...[{ name: "agents", path: join(agentDir(), "agents") }, ...beside].map((grant) => root(grant, false)),
  ];
  const files = filesBelow(folders, () => process.cwd());
  const instance = /** @type {any} */ (instantiator(MANIFEST, readManifest(MANIFEST))(importsOf(files)));
  return instance[TOOLS];
}

/**
 * All imports of the component. Only files are implemented: nothing else is called outside of pi.
 * @param {object} files
 * @returns {any}
 */
function importsOf(files) {
  const absent = new Proxy({}, { get: () => () => { throw { tag: "failed", val: "This is not pi." }; } });
  const names = ["types", "api", "context", "session", "ui", "store", "timers"];
  return { ...Object.fromEntries(names.map((name) => [`pi:extension/${name}`, absent])), "pi:extension/files": files };
}
