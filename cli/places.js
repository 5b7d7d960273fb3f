// Where workflow files are, and what else is known there.
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

/** pi's own folder. */
export function agentDir() {
  const own = process.env.PI_CODING_AGENT_DIR;
  if (!own) return join(homedir(), ".pi", "agent");
  return own.startsWith("~") ? join(homedir(), own.slice(1)) : resolve(own);
}

/**
 * The folders of workflows, in pi's order; and the one whose faults matter, if it is not all.
 *
 * @param {string | undefined} dir a workflows folder, a workflow's own folder, or a project
 * @returns {{ grants: { name: string, path: string }[], only?: string }}
 */
export function placesOf(dir) {
  if (dir === undefined || dir === "") {
    return {
      grants: [
        { name: "global", path: join(agentDir(), "workflows") },
        { name: "project", path: resolve(".pi", "workflows") },
      ],
    };
  }
  const folder = resolve(dir);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw Object.assign(new Error(), { payload: `There is no folder ${dir}.` });
  }
  const ofProject = join(folder, ".pi", "workflows");
  if (existsSync(ofProject)) return { grants: [{ name: "project", path: ofProject }] };
  if (!existsSync(join(folder, "workflow.yaml"))) return { grants: [{ name: "project", path: folder }] };
  return { grants: [{ name: "project", path: rootOf(folder) }], only: folder };
}

/**
 * The workflows folder that a workflow's folder is in: the nearest one of that name, or else the one above.
 * @param {string} folder
 */
function rootOf(folder) {
  for (let above = dirname(folder); dirname(above) !== above; above = dirname(above)) {
    if (basename(above) === "workflows") return above;
  }
  return dirname(folder);
}
