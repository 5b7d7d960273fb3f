// Loads both packages into this process, with a mock of pi, so that the measured time excludes pi's own.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ours } from "./ours.mjs";
import { reference } from "./reference.mjs";
import { standIn } from "../../tests/shim/pi-stand-in.mjs";

export const PHASES = 4;

/** The instructions of a phase, about as long as in the examples. */
const INSTRUCTIONS = `Work on: {description}\n\n${"Read what is there before you change it, and say in a line what you found. ".repeat(16)}`;

/** @typedef {ReturnType<typeof makeWorld>} World */

/**
 * Creates folders for both packages with this number of workflows. Each of the first five nests the next one.
 * @param {number} workflows
 * @param {string} [frontMatter] additional lines for the front matter of each phase
 */
export function makeWorld(workflows, frontMatter = "") {
  const root = mkdtempSync(join(tmpdir(), "pi-bench-"));
  const [agent, project] = [join(root, "agent"), join(root, "project")];
  mkdirSync(project);
  const paths = [];
  for (let number = 0; number < workflows; number += 1) {
    const folder = join(agent, "workflows", `w${number}`);
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(workflowFiles(number, Math.min(5, workflows), frontMatter))) {
      paths.push(join(folder, name));
      writeFileSync(join(folder, name), text);
    }
  }
  return { agent, project, paths, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/**
 * @param {number} number
 * @param {number} nested
 * @param {string} frontMatter
 */
function workflowFiles(number, nested, frontMatter) {
  const ids = Array.from({ length: PHASES }, (_, index) => `phase-${index + 1}`);
  const entries = ids.map((id) => `  - ${id}.md\n`);
  if (number + 1 < nested) entries[0] = `  - subworkflow: w${number + 1}\n`;
  const phases = ids.map((id) => [`${id}.md`, phaseFile(id, frontMatter)]);
  const yaml = `name: Workflow ${number}\ncommandName: w${number}\ndescription: One of many\ninitialMessage: "Begin: {description}"\nphases:\n${entries.join("")}`;
  return { "workflow.yaml": yaml, ...Object.fromEntries(phases) };
}

/**
 * @param {string} id
 * @param {string} frontMatter
 */
function phaseFile(id, frontMatter) {
  return `---\nid: ${id}\nname: The ${id}\nemoji: "🔹"\ntools:\n  blacklist: [edit, write]\n${frontMatter}---\n\n${INSTRUCTIONS}\n`;
}

/** A state in the innermost of the five workflows. */
export function nestedState() {
  const currentPath = Array.from({ length: 5 }, (_, index) => ({ workflowKey: `w${index}`, phaseIndex: 0 }));
  return {
    active: true,
    workflowKey: "w0",
    currentPath,
    globalStepCount: 1,
    taskId: "wf-1747234567890-abc123",
    taskDescription: "a task",
    startedAt: 1747234567890,
    completionNotified: false,
    cancelled: false,
  };
}

/**
 * The functions of a session that the packages call.
 *
 * @typedef {{ getLeafEntry(): any, getEntry(id: string): any, getBranch(): any[], getEntries(): any[] }} Session
 */

/** @typedef {{ type: string, customType?: string, data?: unknown, message?: object }} Entry */

/** @param {Entry[]} entries oldest first @returns {Session & { append: (entry: Entry) => void }} */
export function sessionOf(entries) {
  /** @type {any[]} */
  const all = [];
  const byId = new Map();
  const append = (/** @type {Entry} */ entry) => {
    const added = {
      id: `e${all.length}`,
      parentId: all.at(-1)?.id ?? null,
      timestamp: new Date().toISOString(),
      ...entry,
    };
    all.push(added);
    byId.set(added.id, added);
  };
  for (const entry of entries) append(entry);
  return {
    append,
    getLeafEntry: () => all.at(-1),
    getEntry: (id) => byId.get(id),
    // pi also starts at the leaf.
    getBranch: () => {
      const branch = [];
      for (let entry = all.at(-1); entry; entry = entry.parentId ? byId.get(entry.parentId) : undefined)
        branch.push(entry);
      return branch.reverse();
    },
    getEntries: () => [...all],
  };
}

/** Each package's factory. */
export const PACKAGES = { ours, reference };

/**
 * Loads one of the packages. Its session has not started yet.
 *
 * @param {keyof typeof PACKAGES} name
 * @param {World} world
 * @param {Session} [session]
 */
export function side(name, world, session = sessionOf([])) {
  process.env.PI_CODING_AGENT_DIR = world.agent;
  const pi = standIn();
  PACKAGES[name](/** @type {any} */ (pi.api));
  // After a first call, the component receives the start of the session immediately.
  pi.registered.get("command workflow").getArgumentCompletions("-");
  const context = pi.context({ cwd: world.project, sessionManager: session, isProjectTrusted: () => true });
  return {
    pi,
    emit: (/** @type {string} */ event, /** @type {object} */ data = {}) => pi.emit(event, data, context),
    /** Calls a tool. @param {string} name @param {object} input */
    call: (name, input) => pi.registered.get(`tool ${name}`).execute("call-1", input, undefined, undefined, context),
    start: () => pi.emit("session_start", { reason: "startup" }, context),
    /** Starts another session with the same entries. */
    startAgain: () => {
      const again = { ...context, sessionManager: { ...session } };
      pi.emit("session_start", { reason: "startup" }, again);
    },
  };
}
