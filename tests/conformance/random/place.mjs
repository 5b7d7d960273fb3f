// The position of a run in a tree, and the values of its template variables there. Implements the documentation,
// because the reference does not resolve the variables everywhere.

import { isPhase } from "./trees.mjs";

/** @typedef {import("./trees.mjs").Phase} Phase */
/** @typedef {import("./trees.mjs").Entry} Entry */
/** @typedef {import("./trees.mjs").Workflow} Workflow */

/**
 * The stored state of a run.
 * @typedef {object} State
 * @property {boolean} active
 * @property {string} workflowKey
 * @property {{ workflowKey: string, phaseIndex: number }[]} currentPath
 * @property {number} globalStepCount
 * @property {string} taskId
 * @property {string} taskDescription
 * @property {boolean} completionNotified
 * @property {boolean} cancelled
 * @property {boolean} [_cancelPending] of the reference only
 * @property {Progress} [progress] of ours only
 *
 * @typedef {object} Progress
 * @property {{ reason: { kind: string } }} [paused]
 * @property {number} [idle]
 * @property {number} [continuations]
 * @property {Record<string, number>} [loops]
 */

export class Place {
  /**
   * @param {State} state
   * @param {Workflow[]} scopes the workflows of its path
   * @param {Phase} phase
   * @param {Map<string, Workflow>} workflows
   */
  constructor(state, scopes, phase, workflows) {
    this.state = state;
    this.scopes = scopes;
    this.phase = phase;
    this.workflows = workflows;
    this.root = scopes[0];
    this.scope = scopes[scopes.length - 1];
    this.index = state.currentPath[state.currentPath.length - 1].phaseIndex;
  }

  /**
   * Returns the place of an active run; `undefined` if the tree lacks a workflow or phase of its path.
   * @param {State | undefined} state
   * @param {import("./trees.mjs").Tree} tree
   */
  static of(state, tree) {
    if (!state?.active) return undefined;
    const workflows = new Map(tree.map((workflow) => [workflow.key, workflow]));
    const entered = enter(state, workflows);
    const scopes = entered.currentPath.flatMap(({ workflowKey }) => workflows.get(workflowKey) ?? []);
    if (scopes.length < entered.currentPath.length) return undefined;
    const phase = scopes[scopes.length - 1].phases[entered.currentPath[scopes.length - 1].phaseIndex];
    return phase && isPhase(phase) ? new Place(entered, scopes, phase, workflows) : undefined;
  }

  /** @param {Entry | undefined} entry @param {string} none */
  #nameOf(entry, none) {
    if (!entry) return none;
    return isPhase(entry) ? entry.name : (this.workflows.get(entry.subworkflow)?.fields.name ?? entry.subworkflow);
  }

  /** Returns the variables of the instructions, `roleInstruction` and `advanceReminder`. */
  variables() {
    const { state, phase, scope, root } = this;
    const blocked = phase.tools?.blacklist ?? [];
    return {
      workflowName: root.fields.name,
      workflowKey: state.workflowKey,
      description: state.taskDescription,
      taskId: state.taskId,
      phaseId: phase.id,
      phaseName: phase.name,
      previousPhaseName: this.#nameOf(scope.phases[this.index - 1], "(start)"),
      nextPhaseName: this.#nameOf(scope.phases[this.index + 1], "DONE"),
      blockedToolsList: blocked.length > 0 ? blocked.join(", ") : "(none)",
      toolName: "workflow_step",
      breadcrumbPath: this.scopes.map(({ fields }) => fields.name).join(" > "),
      globalStepCount: String(state.globalStepCount),
    };
  }

  /** Returns the same variables with the bug of the reference: it looks up the inner index in the outer workflow. */
  variablesOfReference() {
    const previous = this.index > 0 ? this.root.phases[this.index - 1] : undefined;
    return { ...this.variables(), previousPhaseName: this.#nameOf(previous, "(start)") };
  }

  /** Returns the values of the inputs of the innermost workflow. @returns {Record<string, string>} */
  inputs() {
    /** @type {Record<string, string>} */
    let values = {};
    for (const [depth, { fields }] of this.scopes.entries()) {
      const outer = values;
      const entry = depth > 0 ? this.scopes[depth - 1].phases[this.state.currentPath[depth - 1].phaseIndex] : undefined;
      const given = entry && !isPhase(entry) ? (entry.with ?? {}) : {};
      const valueOf = (/** @type {string} */ text) => (text === "{input.scope}" ? outer.scope : text);
      const own = Object.entries(fields.inputs ?? {}).map(
        ([name, input]) =>
          /** @type {const} */ ([name, Object.hasOwn(given, name) ? valueOf(given[name]) : (input.default ?? "false")]),
      );
      values = Object.fromEntries(own);
    }
    return values;
  }

  /**
   * Returns the outcome that the arguments of `workflow_step` name, if the phase has it.
   * @param {any} input
   */
  outcome(input) {
    const outcome = typeof input?.outcome === "string" ? input.outcome.trim() : "";
    return Object.hasOwn(this.phase.outcomes ?? {}, outcome) ? outcome : undefined;
  }

  /** Returns the names of all steps of the root workflow. */
  steps() {
    /** @type {string[]} */
    const steps = [];
    const walk = (/** @type {Workflow} */ workflow, /** @type {string[]} */ names) => {
      for (const entry of workflow.phases) {
        if (isPhase(entry)) {
          steps.push([...names, `${entry.emoji} ${entry.name}`].join(" > "));
        } else {
          const nested = this.workflows.get(entry.subworkflow);
          if (nested) walk(nested, [...names, nested.fields.name]);
        }
      }
    };
    walk(this.root, []);
    return steps;
  }

  /** Returns the number of the current step, from 1, and the number of all steps. */
  outline() {
    const before = this.state.currentPath.map(({ phaseIndex }, depth) => {
      const { phases } = this.scopes[depth];
      // The index may be beyond the last phase if the file was shortened.
      return phaseIndex > phases.length ? 0 : this.#count(phases.slice(0, phaseIndex));
    });
    return { current: before.reduce((sum, count) => sum + count, 1), total: this.#count(this.root.phases) };
  }

  /**
   * @param {Entry[]} entries
   * @returns {number}
   */
  #count(entries) {
    const counts = entries.map((entry) =>
      isPhase(entry) ? 1 : this.#count(this.workflows.get(entry.subworkflow)?.phases ?? []),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }
}

/**
 * Moves a run that is at a nested workflow to the first phase of that workflow.
 * @param {State} state
 * @param {Map<string, Workflow>} workflows
 * @returns {State}
 */
export function enter(state, workflows) {
  const { workflowKey, phaseIndex } = state.currentPath[state.currentPath.length - 1];
  const entry = workflows.get(workflowKey)?.phases[phaseIndex];
  if (!entry || isPhase(entry)) return state;
  const inner = { workflowKey: entry.subworkflow, phaseIndex: 0 };
  return enter({ ...state, currentPath: [...state.currentPath, inner] }, workflows);
}

/**
 * @param {string} template
 * @param {Record<string, string>} variables
 */
export function resolve(template, variables) {
  const valueOf = (/** @type {string} */ written, /** @type {string} */ name) =>
    Object.hasOwn(variables, name) ? variables[name] : written;
  return template.replace(/\{(\w+)\}/g, valueOf);
}
