// Workflows with a parallel group, and a model that plays the session and each of its children.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { progress } from "./gates.mjs";
import { readSession, sessionFiles } from "./pi.mjs";
import { messageText } from "./scripted-model.mjs";
import { leave, phaseFile, workflow } from "./workflows.mjs";

/** @typedef {import("./scripted-model.mjs").ChatRequest} ChatRequest */
/** @typedef {import("./scripted-model.mjs").Step} Step */
/** @typedef {import("./scripted-model.mjs").ScriptedModel} ScriptedModel */
/**
 * Answers of a branch in their order: of a function the answer to this request of the branch, counted from 0.
 *
 * @typedef {Step[] | ((request: ChatRequest, index: number) => Step | undefined | Promise<Step | undefined>)} BranchScript
 */

/** Limits with which branches can work at the same time. */
const READS = { write: [] };

/**
 * Returns the files of a workflow `panel`: do, the parallel group `team` of these phases, end.
 *
 * @param {(string | import("./workflows.mjs").PhaseSpec)[]} branches by default with `write: []`
 * @param {object} [group] fields of the group
 * @param {Record<string, unknown>} [fields] fields of the workflow
 */
export function panel(branches, group = {}, fields = {}) {
  const specs = branches.map((branch) => ({ ...READS, ...(typeof branch === "string" ? { id: branch } : branch) }));
  const ids = specs.map(({ id }) => `${id}.md`);
  return {
    ...workflow("panel", ["do"], {
      autoContinue: false,
      phases: ["do.md", { id: "team", phases: ids, parallel: true, ...group }, "last.md"],
      ...fields,
    }),
    ...Object.fromEntries(specs.map((spec) => [`panel/${spec.id}.md`, phaseFile(spec)])),
    "panel/last.md": phaseFile({ id: "last" }),
  };
}

/** The branch that a request is of; `undefined` for the session itself. @param {ChatRequest} request */
export function branchOf(request) {
  const prompts = request.messages.filter(({ role }) => role === "user").map(messageText);
  return prompts
    .map((text) => /Work on “([^”]+)”, a branch of the workflow/.exec(text)?.[1])
    .find((name) => name !== undefined);
}

/** @param {ScriptedModel} model @param {string} [branch] all of them by default */
export const requestsOf = (model, branch) =>
  model.requests.filter((request) =>
    branch === undefined ? branchOf(request) !== undefined : branchOf(request) === branch,
  );

/** The last step of a branch. @param {string} name @param {string} [outcome] */
export const ends = (name, outcome = "") => leave(outcome, { summary: `${name} did it.` });

/**
 * Plays a session that calls `next` as long as its run moves, and children that each play their script; without one, or
 * behind it, a child calls `next` and rests.
 *
 * @param {Record<string, BranchScript>} [scripts] by the name of the branch
 * @returns {import("./scripted-model.mjs").StepFunction}
 */
export function team(scripts = {}) {
  /** @type {Record<string, number>} */
  const counts = {};
  return async (request) => {
    const name = branchOf(request);
    const last = request.messages.at(-1);
    const told = last ? messageText(last) : "";
    const isAnswer = last?.role === "tool";
    if (name === undefined)
      return isAnswer && !/^✓ Advanced: .*(?<!DONE)$/m.test(told)
        ? { text: "I rest." }
        : leave("", { summary: "Did it." });
    const script = scripts[name] ?? [];
    const index = (counts[name] = (counts[name] ?? -1) + 1);
    const played = typeof script === "function" ? await script(request, index) : script[index];
    if (played) return played;
    const isDone = request.messages.some(
      (message) => message.role === "tool" && /→ (DONE|the end of the branch)/.test(messageText(message)),
    );
    return isDone ? { text: "I am done." } : ends(name);
  };
}

/** The records of the branches of a run, by name. @param {any[]} entries @returns {Record<string, any>} */
export const branchesOf = (entries) =>
  Object.fromEntries(
    Object.values(progress(entries).branches ?? {}).map((run) => [/** @type {any} */ (run).name, run]),
  );

/**
 * How the branches ended, by name; `undefined` for one that did not.
 *
 * @param {any[]} entries
 * @returns {Record<string, any>}
 */
export const endsOf = (entries) =>
  Object.fromEntries(
    Object.entries(branchesOf(entries)).map(([name, { end, waits }]) => [
      name,
      end ? (end.why ?? end.outcome ?? end.kind) : waits && `waits: ${waits}`,
    ]),
  );

/** The files of sessions that are no children's, oldest first. @param {import("./sandbox.mjs").Sandbox} sandbox */
export const parentFiles = (sandbox) => sessionFiles(sandbox).filter((file) => !dirname(file).endsWith(".children"));

/** The files of the sessions of children. @param {import("./sandbox.mjs").Sandbox} sandbox */
export const childFiles = (sandbox) => sessionFiles(sandbox).filter((file) => dirname(file).endsWith(".children"));

/** The entries of the newest session that is no child's. @param {import("./sandbox.mjs").Sandbox} sandbox */
export const parentEntries = (sandbox) => readSession(sandbox, parentFiles(sandbox).at(-1));

/** @param {string} file */
export const headerOf = (file) => JSON.parse(readFileSync(file, "utf8").split("\n")[0]);

/**
 * @param {import("./sandbox.mjs").Sandbox} sandbox
 * @param {string} path below the project
 * @returns {string | undefined}
 */
export const textIn = (sandbox, path) =>
  existsSync(join(sandbox.project, path)) ? readFileSync(join(sandbox.project, path), "utf8") : undefined;
