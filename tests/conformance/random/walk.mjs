// A random walk: applies the same triggers to both packages and compares their effects.

import { isDeepStrictEqual } from "node:util";

import { describe, edited, makeActions, smallerActions } from "./actions.mjs";
import { Bounds } from "./bounds.mjs";
import { Choices } from "./choices.mjs";
import { because } from "./explained.mjs";
import { OurSide } from "./our-side.mjs";
import { ReferenceSide } from "./reference-side.mjs";
import { rulesOf } from "./rules.mjs";
import { visible, without } from "./shrink.mjs";
import { filesOf, isPhase, loadable, makeTree, namesLeftOut, smallerTrees, withoutBrokenChains } from "./trees.mjs";
import { passTime, printed, setRandomDigits, writeWorkflows } from "./world.mjs";

/** @typedef {import("./actions.mjs").Action} Action */
/** @typedef {import("./side.mjs").Trigger} Trigger */
/** @typedef {import("./stand-in.mjs").Effects} Effects */

/**
 * @typedef {object} Walk
 * @property {import("./stand-in.mjs").Setting} setting
 * @property {import("./trees.mjs").Tree} tree
 * @property {Action[]} actions
 *
 * @typedef {object} Disagreement
 * @property {number} action the index of the action, -1 for the start of the session
 * @property {string} trigger
 * @property {string[]} differences
 */

/**
 * @param {number} seed
 * @returns {Walk}
 */
export function makeWalk(seed) {
  const choices = new Choices(seed);
  const tree = makeTree(choices);
  return {
    setting: {
      mode: choices.weighted([
        [3, "tui"],
        [2, "rpc"],
        [1, "print"],
      ]),
      tools: choices.chance(0.3) ? ["read", "delegate_to_subagents"] : ["read"],
    },
    tree,
    actions: makeActions(
      choices,
      tree,
      choices.weighted([
        [3, 10],
        [3, 20],
        [1, 50],
      ]),
    ),
  };
}

/**
 * Returns the first disagreement between the two packages.
 * @param {Walk} walk
 * @returns {Promise<Disagreement | undefined>}
 */
export async function findDisagreement(walk) {
  const walker = new Walker(walk);
  await walker.apply({ restart: "startup" });
  for (const [index, action] of walk.actions.entries()) {
    if (walker.disagreement || walker.held) break;
    walker.action = index;
    await walker.act(action);
  }
  return walker.disagreement;
}

class Walker {
  action = -1;
  /** @type {Disagreement | undefined} */
  disagreement;
  /**
   * True once ours has paused the run because the rules in the files have changed (54), or because the agent wants to
   * cancel it (66). The walk then ends.
   */
  held = false;
  /** The rules at the start of each run, by task id. @type {Map<string, string | undefined>} */
  #rules = new Map();
  /** True while the agent works. */
  #running = false;
  /** True if the model's current answer was begun before the run was started. */
  #late = false;
  /**
   * The values of `#running` and `#late` before the triggers during a question. They are restored if no question is
   * asked.
   */
  #before = { running: false, late: false };
  #bounds = new Bounds();
  #tree;
  #reference;
  #ours;

  /** @param {Walk} walk */
  constructor({ setting, tree }) {
    this.#reference = new ReferenceSide(setting, this.#bounds);
    this.#ours = new OurSide(setting, this.#bounds);
    this.#tree = tree;
    this.#write(undefined);
  }

  /** @param {Action} action */
  async act(action) {
    if (action.do === "workflow") setRandomDigits(action.randomDigits);
    const leaves = action.do === "restart" || action.do === "back";
    if (leaves && this.#running) await this.#applyAll(this.#stop("aborted"));
    if ("edit" in action && action.edit && this.#reads(action)) this.#write(action.edit);
    await (action.do === "wait" ? this.#wait(action.ms) : this.#applyAll(this.#triggers(action)));
  }

  /** @param {number} ms */
  async #wait(ms) {
    passTime(ms);
    const ours = await this.#ours.afterTime();
    this.#compare(() => `${ms} ms go by`, [await this.#reference.afterTime()], [ours]);
    await this.#deliver(ours.prompts);
  }

  /** @param {Iterable<Trigger>} triggers */
  async #applyAll(triggers) {
    for (const trigger of triggers) await this.apply(trigger);
  }

  /** @param {Trigger} trigger */
  async apply(trigger) {
    if (this.disagreement || this.held) return;
    const asked = "command" in trigger && this.#mustHold();
    const ours = await this.#ours.apply(trigger);
    if (await this.#holds(trigger, asked)) return;
    if (this.#pausesForCancel(trigger)) return;
    const { prompts } = ours[ours.length - 1];
    if ("command" in trigger) this.#commanded(ours.length > 1, prompts.length > 0);
    const reference = await this.#reference.apply(trigger);
    this.#compare(() => visible(trigger), reference, ours);
    this.#check(trigger);
    if (this.#ours.continues && "stop" in trigger) {
      this.#running = true;
      await this.apply({ event: "agent_start" });
    } else {
      await this.#deliver(prompts);
    }
  }

  /**
   * 54: returns true if the walk ends, because ours paused a run whose rules have changed. Reports a disagreement if
   * ours did not.
   * @param {Trigger} trigger
   * @param {boolean} asked true if the run was already paused before a command, which may have started another run
   */
  async #holds(trigger, asked) {
    const { state, tree, pi } = this.#ours;
    if (state?.active && !this.#rules.has(state.taskId))
      this.#rules.set(state.taskId, rulesOf(tree, state.workflowKey));
    const holds = this.#mustHold();
    this.held = holds || asked;
    if (!holds) return this.held;
    /** @type {any} */
    const answer = await pi.emit("tool_call", { toolCallId: "3", toolName: "read", input: {} });
    const why = /^The workflow is paused: (its rules are no longer|the files of the workflow|its files no longer have)/;
    if (!why.test(because(54, undefined, answer?.reason) ?? ""))
      this.#disagree(visible(trigger), ["ours does not hold the run"]);
    return true;
  }

  /**
   * 66: returns true if the walk ends, because ours paused a run that the agent wants to cancel without a user
   * interface.
   * @param {Trigger} trigger
   */
  #pausesForCancel(trigger) {
    const { paused, setting } = this.#ours;
    if (paused !== "cancel") return false;
    const fits = setting.mode === "print" && "step" in trigger && trigger.step === "cancel";
    if (!fits) this.#disagree(visible(trigger), ["ours pauses as for a cancellation"]);
    this.held = because(66, false, true);
    return true;
  }

  #mustHold() {
    const { state, tree } = this.#ours;
    return state?.active === true && rulesOf(tree, state.workflowKey) !== this.#rules.get(state.taskId);
  }

  /**
   * @param {boolean} asked true if the command asked a question
   * @param {boolean} started true if the command started a run
   */
  #commanded(asked, started) {
    if (!asked) this.#running = this.#before.running;
    if (!asked) this.#late = this.#before.late;
    if (started) this.#late = this.#running;
  }

  /**
   * Delivers the messages that were sent for the user to the agent.
   * @param {import("./stand-in.mjs").Prompt[]} prompts
   */
  async #deliver(prompts) {
    for (const { text, meanwhile } of prompts) {
      await this.apply({ event: "input", data: { source: "extension", text, streamingBehavior: meanwhile } });
      await this.#applyAll(this.#run());
    }
  }

  /** @param {Trigger} trigger */
  #check(trigger) {
    const { state, paused, diagnostics } = this.#ours;
    const wanted = state?.active ? this.#bounds.paused : undefined;
    if (paused !== wanted) this.#disagree(visible(trigger), [`ours pauses: ${paused}, and should: ${wanted}`]);
    // 9: if ours shows diagnostics, the reference has printed some.
    if (diagnostics && printed.length === 0) this.#disagree(visible(trigger), ["ours tells of diagnostics"]);
  }

  /**
   * Converts an action to triggers. If the agent is idle, its run is started first.
   * @param {Action} action
   * @returns {Generator<Trigger>}
   */
  *#triggers(action) {
    switch (action.do) {
      case "workflow": {
        const before = { running: this.#running, late: this.#late };
        // Without `cancel`, whose question would wait for the answer to the first.
        const quiet = action.during.filter((meanwhile) => meanwhile.do !== "step" || meanwhile.action !== "cancel");
        const during = quiet.flatMap((meanwhile) => [...this.#triggers(meanwhile)]);
        this.#before = before;
        yield { command: "workflow", text: action.line, yes: action.yes, during };
        return;
      }
      case "cancel":
        this.#before = { running: this.#running, late: this.#late };
        yield { command: "cancel-workflow", text: "", yes: false, during: [] };
        return;
      case "prompt":
        yield { event: "input", data: { source: action.source, text: "x" } };
        yield* this.#run();
        return;
      case "step": {
        yield* this.#run();
        const input = { action: action.action, ...action.more };
        const late = this.#late;
        // pi refuses invalid arguments before it emits `tool_call`.
        if (this.#ours.pi.validated("workflow_step", input)) {
          yield { event: "tool_call", data: { toolCallId: "1", toolName: "workflow_step", input } };
        }
        yield { step: action.action, input, late, yes: !action.no };
        return;
      }
      case "tool":
        yield* this.#run();
        yield { event: "tool_call", data: { toolCallId: "2", toolName: action.name, input: {} } };
        yield { event: "tool_execution_end", data: { toolCallId: "2", toolName: action.name } };
        return;
      case "turn":
        yield* this.#run();
        this.#late = false;
        yield { event: "turn_end" };
        return;
      case "retry":
        yield* this.#run();
        this.#late = false;
        yield { retry: true };
        return;
      case "stop":
        yield* this.#run();
        yield* this.#stop(action.reason);
        return;
      case "compact":
        yield { compact: true };
        return;
      case "key":
        yield { key: true };
        return;
      case "restart":
        yield { restart: action.reason };
        return;
      case "back":
        yield { back: Math.round((this.#reference.stateEntries.length * action.percent) / 100) };
        return;
      case "complete":
        yield { complete: action.prefix };
        return;
    }
  }

  /** @returns {Generator<Trigger>} */
  *#run() {
    if (this.#running) return;
    this.#running = true;
    this.#late = false;
    yield { event: "before_agent_start", data: { prompt: "x", systemPrompt: "" } };
    yield { event: "agent_start" };
  }

  /**
   * @param {string | undefined} reason
   * @returns {Generator<Trigger>}
   */
  *#stop(reason) {
    this.#running = false;
    this.#late = false;
    yield { stop: reason };
  }

  /**
   * Returns true if both packages read the files for this action.
   * @param {Action} action
   */
  #reads(action) {
    return action.do !== "workflow" || /^\s*\S+\s+\S/.test(action.line);
  }

  /** @param {import("./actions.mjs").Edit | undefined} edit */
  #write(edit) {
    this.#tree = withoutBrokenChains(edited(this.#tree, edit));
    writeWorkflows(filesOf(this.#tree));
    this.#reference.tree = this.#ours.tree = loadable(this.#tree);
    this.#reference.leftOut = namesLeftOut(this.#tree);
    this.#ours.diagnostics = "";
  }

  /**
   * @param {() => string} trigger
   * @param {Effects[]} reference
   * @param {Effects[]} ours
   */
  #compare(trigger, reference, ours) {
    const [left, right] = [reference.map(sorted), ours.map(sorted)];
    if (!isDeepStrictEqual(left, right)) this.#disagree(trigger(), differences(left, right));
  }

  /**
   * @param {string} trigger
   * @param {string[]} differences
   */
  #disagree(trigger, differences) {
    this.disagreement ??= { action: this.action, trigger, differences };
  }
}

/**
 * Returns the kind of a disagreement in one line.
 * @param {Disagreement} disagreement
 */
export function kindOf({ trigger, differences }) {
  const what = /^\{"(\w+)":("\w+")?/.exec(trigger);
  return `${what ? what.slice(1).join(" ") : "time"}: ${differences.map((words) => words.split("\n")[0]).join(", ")}`;
}

/**
 * Sorts the entries by type: the order of entries of different types is not visible to the user.
 * @param {Effects} effects
 */
export function sorted(effects) {
  return { ...effects, entries: effects.entries.toSorted((a, b) => a.customType.localeCompare(b.customType)) };
}

/**
 * @param {Effects[]} reference
 * @param {Effects[]} ours
 */
export function differences(reference, ours) {
  if (reference.length !== ours.length) return [`reference: ${reference.length} questions, ours: ${ours.length}`];
  return reference.flatMap((effects, index) => {
    const fields = /** @type {(keyof Effects)[]} */ (Object.keys(effects));
    return fields
      .filter((field) => !isDeepStrictEqual(effects[field], ours[index][field]))
      .map((field) => `${field}\n  reference: ${visible(effects[field])}\n  ours:      ${visible(ours[index][field])}`);
  });
}

/**
 * @param {Walk} walk
 * @returns {Generator<Walk>}
 */
export function* smallerWalks(walk) {
  for (const actions of without(walk.actions)) yield { ...walk, actions };
  for (const tree of smallerTrees(walk.tree)) yield { ...walk, tree };
  for (const [index, action] of walk.actions.entries()) {
    for (const smaller of smallerActions(action)) yield { ...walk, actions: walk.actions.with(index, smaller) };
  }
}

/**
 * Formats a walk for a report.
 * @param {Walk} walk
 */
export function scriptOf({ setting, tree, actions }) {
  const workflows = tree.map(({ key, root, fields, phases }) => {
    const lines = phases.map((entry) => {
      if (!isPhase(entry)) {
        const { subworkflow, ...rest } = entry;
        return `    → ${subworkflow}${Object.keys(rest).length > 0 ? ` ${visible(rest)}` : ""}`;
      }
      const { id, ...rest } = entry;
      return `    ${id} ${visible(rest)}`;
    });
    return [`  ${root}/${key} ${visible(fields)}`, ...lines].join("\n");
  });
  return [
    `mode ${setting.mode}, tools ${setting.tools.join(", ")}; workflows:`,
    ...workflows,
    "then:",
    ...actions.map((action, index) => `  ${index}. ${describe(action)}`),
  ].join("\n");
}
