// Runs the component's interface `pi-workflows:tools/workflows` (`wit/tools/tools.wit`) in Node.
import { dirname, join } from "node:path";

import { filesBelow, instantiator, packageRoots, readManifest, utcOffset, zoneOffset } from "#loader";
import { canConfine, resolveWrite } from "#sandbox";

import { GRANTS } from "./packages.js";
import { agentDir } from "./places.js";
import { inWords } from "./words.js";

const MANIFEST = new URL("../package.json", import.meta.url);
/** A sample of a run's folder; no such folder exists. */
const SAMPLE = { name: "0123456789abcdef0123", path: ".pi/workflow-runs/0123456789abcdef0123" };
const TOOLS = "pi-workflows:tools/workflows@0.1.0";

/**
 * The interface, as the component exports it. Its functions throw with a message as their `payload`.
 * @typedef {typeof import("../target/types/interfaces/pi-workflows-tools-workflows.js")} Exported
 * @typedef {Omit<Exported, "check"> & { check: (...given: [Parameters<Exported["check"]>[0], folder?: string]) =>
 *   ReturnType<Exported["check"]> }} Workflows
 * @typedef {import("../target/types/interfaces/pi-workflows-tools-workflows.js").Took} Took
 * @typedef {import("../target/types/interfaces/pi-workflows-tools-workflows.js").Run} Run
 */

/**
 * A record with numbers in place of integers of 64 bits.
 * @template T
 * @typedef {{ [Name in keyof T]: T[Name] extends bigint | undefined ? number | Exclude<T[Name], bigint> : T[Name] }} Plain
 */

/** @template {object} T @param {T} record is changed @returns {Plain<T>} */
export function plain(record) {
  const fields = /** @type {Record<string, unknown>} */ (record);
  for (const name in fields) if (typeof fields[name] === "bigint") fields[name] = Number(fields[name]);
  return /** @type {Plain<T>} */ (record);
}

/**
 * Starts the component with some folders of workflows, and the folder `agents` beside the last one. Paths of limits are
 * relative to the project of the last folder. The functions of the component throw errors with the message as
 * `payload`.
 * @param {import("./places.js").Grant[]} grants absolute paths
 * @param {import("#loader").Installed[]} [packages]
 * @returns {Workflows}
 */
export function openWorkflows(grants, packages = []) {
  /** @param {import("./places.js").Grant} grant @param {boolean} listed */
  const root = ({ name, path, within }, listed) => ({
    name,
    path: () => path,
    within: within === undefined ? undefined : () => within,
    anywhere: name === "global" || name === "agents",
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
 * All imports of the component. Only functions that are called outside of pi are implemented.
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
    canConfine: (/** @type {boolean} */ network) => orFail(() => canConfine(network)),
    utcOffset,
    zoneOffset,
  };
  const names = ["types", "api", "ui", "store", "timers", "children", "programs"];
  return {
    ...Object.fromEntries(names.map((name) => [`pi:extension/${name}`, new Proxy({}, absent)])),
    "pi:extension/context": new Proxy(context, absent),
    // No other process works on a session that is only played.
    "pi:extension/session": new Proxy({ claim: () => undefined }, absent),
    "pi:extension/files": files,
    "pi:extension/folders": { open: () => SAMPLE, writeFile: () => {} },
  };
}
