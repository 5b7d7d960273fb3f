// Workflows with gates, and the evidence in a run's state.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { custom, paths, states, workflow } from "./workflows.mjs";

/**
 * Returns the files of a workflow `hello` (plan, build) whose first phase has this gate.
 *
 * @param {object[]} gate
 * @param {object} [more] fields of the phase
 * @param {Record<string, unknown>} [fields] fields of the workflow
 */
export function gated(gate, more = {}, fields = {}) {
  return workflow("hello", [{ id: "plan", ...{ gate, ...more } }, "build"], { autoContinue: false, ...fields });
}

/** Returns the newest `progress` in a session. @param {any[]} entries */
export const progress = (entries) => custom(entries, "workflow:state").at(-1).progress;

/** Returns the evidence of the checks of a phase. @param {any[]} entries @param {string} phase its key in the state */
export const evidence = (entries, phase = "hello:0") => progress(entries).visits[phase].evidence;

/** @param {any[]} entries */
export const lastPath = (entries) => paths(states(entries)).at(-1);

/**
 * Waits until a command has created this file in the project.
 *
 * @param {import("./sandbox.mjs").Sandbox} sandbox
 * @param {string} file
 */
export async function madeBy(sandbox, file) {
  for (let tries = 0; !existsSync(join(sandbox.project, file)); tries += 1) {
    if (tries > 500) throw new Error(`no command made ${file}`);
    await sleep(20);
  }
}
