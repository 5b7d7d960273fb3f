// Where workflow files are, and what else is known there.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
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

/** The names of subagent profiles: Markdown files in `agents` of pi's folders. Not known if there are none. */
export function definedProfiles() {
  const names = [join(agentDir(), "agents"), resolve(".pi", "agents")].flatMap(profilesIn);
  return names.length > 0 ? names : undefined;
}

/** @param {string} folder */
function profilesIn(folder) {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith(".md"));
  return files.flatMap((file) => {
    const name = /^name:[ \t]*["']?([^"'\r\n]+?)["']?[ \t]*$/m.exec(readFileSync(join(folder, file), "utf8"))?.[1];
    return name ? [name, basename(file, ".md")] : [basename(file, ".md")];
  });
}
