// Compares how both packages load one set of files.

import { isDeepStrictEqual } from "node:util";

import { openWorkflows } from "../../../cli/workflows.js";
import { Bounds } from "./bounds.mjs";
import { because } from "./explained.mjs";
import { OurSide } from "./our-side.mjs";
import { loadWorkflows } from "./reference.mjs";
import { ReferenceSide } from "./reference-side.mjs";
import { visible, without } from "./shrink.mjs";
import { isPhase, loadable } from "./trees.mjs";
import { differences, sorted } from "./walk.mjs";
import { FOLDERS, passTime, printed, projectDir, setRandomDigits, writeWorkflows } from "./world.mjs";

/** @typedef {import("./workflow-files.mjs").Files} Files */
/** @typedef {import("./side.mjs").Trigger} Trigger */

/**
 * A difference between the two packages for one set of files.
 * @typedef {object} Difference
 * @property {string} what `the reference refuses`, `ours refuses` and the like
 * @property {string} where
 * @property {string[]} details
 * @property {string[]} printed the output of the reference
 * @property {string} diagnostics the diagnostics of ours, one per line
 */

/** A task that is longer than most values of `sessionNameMaxLength`. */
const TASK = "a task of more than fifty characters, so that it is cut in most names 🔍🔎";
const TOOLS = ["read", "007", "other"];
const MAX_STEPS = 12;
/** @type {import("./stand-in.mjs").Setting} */
const SETTING = { mode: "tui", tools: ["read"] };

/** @param {string} action @returns {Trigger} */
const step = (action) => ({ step: action, input: { action }, late: false, yes: true });

/**
 * @param {Files} files
 * @returns {Promise<Difference | undefined>}
 */
export async function findDifference(files) {
  return (await compareFiles(files)).difference;
}

/**
 * @param {Files} files
 * @returns {Promise<{ difference: Difference | undefined, accepted: boolean }>} `accepted`: the reference loads the
 *   workflow
 */
export async function compareFiles(files) {
  writeWorkflows(files);
  setRandomDigits("abc123");
  const comparison = new Comparison();
  return { difference: await comparison.run(), accepted: comparison.accepted };
}

class Comparison {
  #bounds = new Bounds();
  #reference = new ReferenceSide(SETTING, this.#bounds);
  #ours = new OurSide(SETTING, this.#bounds);
  /** @type {Difference | undefined} */
  #difference;
  #printed;
  #tools;
  #comparable;

  constructor() {
    const tree = treeOf(loadWorkflows(projectDir));
    this.#printed = [...printed];
    const listed = tree
      .flatMap(({ phases }) => phases.filter(isPhase))
      .flatMap(({ tools }) => Object.values(tools ?? {}));
    this.#tools = new Set([...TOOLS, ...listed.flat()]);
    this.#reference.tree = this.#ours.tree = loadable(tree);
    // 33: the reference keeps workflows that nest a broken one.
    this.#comparable = because(33, tree.length, this.#reference.tree.length) === tree.length;
  }

  /** True if the reference loads the workflow `w`. */
  get accepted() {
    return this.#reference.tree.some(({ key }) => key === "w");
  }

  async run() {
    await this.#compare({ restart: "startup" });
    await this.#acceptance();
    if (!this.#comparable) return this.#difference;
    const startable = this.#reference.tree.filter(({ fields }) => fields.show !== "workflows");
    for (const { fields } of startable) await this.#walkThrough(fields.commandName ?? "");
    return this.#difference;
  }

  /** Compares whether the packages load the workflow `w`: `outer`, which nests it, is offered only then. */
  async #acceptance() {
    if (this.#difference) return;
    const [{ answer }] = await this.#ours.apply({ complete: "oute" });
    const { accepted } = this;
    if (!accepted && answer === null && !this.#ours.diagnostics) this.#differ("ours refuses without a word", "", []);
    if (accepted === (answer !== null)) return;
    this.#differ(accepted ? "ours refuses" : "the reference refuses", "", []);
  }

  /** @param {string} name the name of a command */
  async #walkThrough(name) {
    await this.#compare({ command: "workflow", text: `${name} ${TASK}`, yes: true, during: [] });
    await this.#phase();
    await this.#compare(step("status"));
    await this.#compare({ stop: "stop" });
    passTime(3000);
    this.#check("reminder", [await this.#reference.afterTime()], [await this.#ours.afterTime()]);
    await this.#compare(step("loop"));
    for (let steps = 0; steps < MAX_STEPS && this.#reference.state?.active; steps += 1) {
      await this.#compare(step("next"));
      await this.#phase();
    }
    await this.#compare(step("loop"));
    await this.#compare({ stop: "stop" });
  }

  async #phase() {
    await this.#compare({ event: "before_agent_start", data: { prompt: "x", systemPrompt: "" } });
    for (const toolName of this.#tools) {
      await this.#compare({ event: "tool_call", data: { toolCallId: "1", toolName, input: {} } });
      await this.#compare({ event: "tool_execution_end", data: { toolCallId: "1", toolName } });
    }
    await this.#compare({ event: "turn_end" });
  }

  /** @param {Trigger} trigger */
  async #compare(trigger) {
    if (this.#difference) return;
    const ours = await this.#ours.apply(trigger);
    this.#check(JSON.stringify(trigger), await this.#reference.apply(trigger), ours);
  }

  /**
   * @param {string} where
   * @param {import("./stand-in.mjs").Effects[]} reference
   * @param {import("./stand-in.mjs").Effects[]} ours
   */
  #check(where, reference, ours) {
    const [left, right] = [reference.map(sorted), ours.map(sorted)];
    if (!isDeepStrictEqual(left, right)) this.#differ("understood differently", where, differences(left, right));
  }

  /**
   * @param {string} what
   * @param {string} where
   * @param {string[]} details
   */
  #differ(what, where, details) {
    this.#difference ??= { what, where, details, printed: this.#printed, diagnostics: diagnosticsNow() };
  }
}

/** Returns the diagnostics of ours for the current files. */
function diagnosticsNow() {
  const grants = Object.entries(FOLDERS).map(([name, path]) => ({ name, path }));
  const { diagnostics } = openWorkflows(grants).check({ tools: [], moreTools: true });
  return diagnostics.map(({ text }) => text.split("\n")[0]).join("\n");
}

/**
 * Converts the workflows that the reference loaded to a tree.
 * @param {Record<string, any>} definitions
 * @returns {import("./trees.mjs").Tree}
 */
function treeOf(definitions) {
  return Object.entries(definitions).map(([key, { phases, ...fields }]) => ({
    key,
    root: "global",
    fields,
    phases: phases.map((/** @type {any} */ entry) => (isPhase(entry) ? entry : { subworkflow: entry.workflowKey })),
  }));
}

/**
 * Yields smaller sets: first without a file or a range of lines, then without a range of characters.
 * @param {Files} files
 * @returns {Generator<Files>}
 */
export function* smallerFiles(files) {
  for (const path of Object.keys(files)) {
    const { [path]: content, ...rest } = files;
    yield rest;
    if (typeof content !== "string") continue;
    const lines = content.split("\n");
    if (lines.length > 1) for (const fewer of without(lines)) yield { ...files, [path]: fewer.join("\n") };
  }
  for (const [path, content] of Object.entries(files)) {
    if (typeof content !== "string" || content.length > 300) continue;
    for (const fewer of without([...content])) yield { ...files, [path]: fewer.join("") };
  }
}

/**
 * Formats files for a report.
 * @param {Files} files
 */
export function textOf(files) {
  return Object.entries(files)
    .map(([path, content]) => `  ${path} ${visible(content.toString())}`)
    .join("\n");
}
