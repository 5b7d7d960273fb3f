// The locations of workflow files and subagent profiles.
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

import { ownPackage } from "#loader";
import { folderAbove } from "#sandbox";

import { listedPackages, packageAround, packageFolder } from "./packages.js";
import { Failure, shortened } from "./words.js";

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
 * The places of workflow files. `only` is the requested folder, as a path below the last place, unless the last place
 * itself was requested; `problem` is a line for the user.
 * @typedef {{ grants: Grant[], packages: import("#loader").Installed[], only?: string, problem?:
 *   string }} Places
 */

/**
 * The folders of workflows, in pi's order, and the packages.
 * @param {string | undefined} dir a workflows folder, a workflow's own folder, a project, or a package
 * @returns {Promise<Places>}
 */
export async function placesOf(dir) {
  if (dir === undefined) {
    const grants = [
      { name: "global", path: folderIfThere(join(agentDir(), "workflows")) },
      project(folderIfThere(resolve(".pi", "workflows"))),
    ];
    const listed = await listedPackages(agentDir());
    const around = isProject() ? undefined : packageAround(resolve("."));
    const isListed = (/** @type {{ path: string }} */ { path }) =>
      listed.packages.some((other) => realpathSync(other.path) === path);
    return {
      ...listed,
      grants,
      packages: [
        ...listed.packages,
        ...(around?.packages ?? []).filter((own) => !isListed(own)),
        ...ownPackage(packageFolder()),
      ],
    };
  }
  if (!statSync(folderIfThere(dir), { throwIfNoEntry: false }))
    throw new Failure(`There is no folder ${shortened(dir)}.`);
  const folder = resolve(dir);
  const ofProject = folderIfThere(join(folder, ".pi", "workflows"));
  const around = packageAround(folder);
  if (existsSync(ofProject))
    return { grants: [project(ofProject)], packages: around?.only === undefined ? (around?.packages ?? []) : [] };
  if (around) return { grants: [], ...around };
  // A file whose name has another form counts too: it gets a diagnostic.
  if (!readdirSync(folder).some((name) => /^workflow\.ya?ml$/i.test(name)))
    return { grants: [project(folder)], packages: [] };
  // A link to a workflow's folder may be anywhere.
  const real = realpathSync(folder);
  const root = rootOf(real);
  return { grants: [project(root)], packages: [], only: relative(root, real).replaceAll(sep, "/") || undefined };
}

/** The line about workflows that are not read because the current folder is below theirs, if there are any. */
export function workflowsAbove() {
  const above = folderAbove(process.cwd(), join(".pi", "workflows"));
  return above && `${shortened(above)} has workflows, which are known in the folder that it lies in.`;
}

/** Returns true if the current folder is a project with workflows. */
export const isProject = () => existsSync(join(".pi", "workflows"));

/** Returns true if the current folder is a package with workflows, or lies in one. */
export const isInPackage = () => !isProject() && packageAround(resolve(".")) !== undefined;

/** Returns the path; throws if something other than a folder is there. @param {string} path */
function folderIfThere(path) {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new Failure(`${shortened(path)} is not a folder.`);
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
 * The workflows folder of a workflow's folder: the nearest folder above with the name `workflows`, or else the parent.
 * @param {string} folder
 */
function rootOf(folder) {
  for (let above = dirname(folder); dirname(above) !== above; above = dirname(above)) {
    if (basename(above) === "workflows") return above;
  }
  return dirname(folder);
}
