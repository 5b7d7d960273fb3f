// The locations of workflow files and subagent profiles.
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

import { Failure, shortened } from "./words.js";

/** pi's own folder. */
export function agentDir() {
  const own = process.env.PI_CODING_AGENT_DIR;
  if (!own) return join(homedir(), ".pi", "agent");
  return own.startsWith("~") ? join(homedir(), own.slice(1)) : resolve(own);
}

/**
 * A folder of workflows, and the project that it must lie in, links followed.
 * @typedef {{ name: string, path: string, within?: string }} Grant
 */

/**
 * The folders of workflows, in pi's order; and the requested one, as a path below the last of them, if it is not the
 * whole.
 *
 * @param {string | undefined} dir a workflows folder, a workflow's own folder, or a project
 * @returns {{ grants: Grant[], only?: string }}
 */
export function placesOf(dir) {
  if (dir === undefined) {
    return {
      grants: [
        { name: "global", path: folderIfThere(join(agentDir(), "workflows")) },
        project(folderIfThere(resolve(".pi", "workflows"))),
      ],
    };
  }
  if (!statSync(folderIfThere(dir), { throwIfNoEntry: false })) throw new Failure(`There is no folder ${shortened(dir)}.`);
  const folder = resolve(dir);
  const ofProject = folderIfThere(join(folder, ".pi", "workflows"));
  if (existsSync(ofProject)) return { grants: [project(ofProject)] };
  // A file under another name counts too: it is a diagnostic.
  if (!readdirSync(folder).some((name) => /^workflow\.ya?ml$/i.test(name))) return { grants: [project(folder)] };
  // A link to a workflow's folder may be anywhere.
  const real = realpathSync(folder);
  const root = rootOf(real);
  return { grants: [project(root)], only: relative(root, real).replaceAll(sep, "/") || undefined };
}

/**
 * Returns the path; throws if there is something that is not a folder.
 * @param {string} path
 */
function folderIfThere(path) {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false) throw new Failure(`${shortened(path)} is not a folder.`);
  return path;
}

/**
 * A folder of workflows in place of a project's. `.pi/workflows` must lie in its project, as in pi.
 * @param {string} path
 * @returns {Grant}
 */
function project(path) {
  const above = dirname(path);
  const isOfProject = basename(path) === "workflows" && basename(above) === ".pi";
  return { name: "project", path, within: isOfProject ? dirname(above) : undefined };
}

/**
 * The workflows folder of a workflow's folder: the nearest one above with that name, or else the parent.
 * @param {string} folder
 */
function rootOf(folder) {
  for (let above = dirname(folder); dirname(above) !== above; above = dirname(above)) {
    if (basename(above) === "workflows") return above;
  }
  return dirname(folder);
}
