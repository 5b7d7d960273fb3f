// One walk: both packages undergo the same, and do the same.

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
import { passTime, printed, setLuck, writeWorkflows } from "./world.mjs";

/** @typedef {import("./actions.mjs").Action} Action */
/** @typedef {import("./side.mjs").Happening} Happening */
/** @typedef {import("./stand-in.mjs").Deeds} Deeds */

/**
 * @typedef {object} Walk
 * @property {import("./stand-in.mjs").Setting} setting
 * @property {import("./trees.mjs").Tree} tree
 * @property {Action[]} actions
 *
 * @typedef {object} Disagreement
 * @property {number} action the index of the action, -1 for the start of the session
 * @property {string} happening
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
      mode: choices.weighted([[3, "tui"], [2, "rpc"], [1, "print"]]),
      tools: choices.chance(0.3) ? ["read", "delegate_to_subagents"] : ["read"],
    },
    tree,
    actions: makeActions(choices, tree, choices.weighted([[3, 10], [3, 20], [1, 50]])),
  };
}

/**
 * The first thing that the two do differently.
 * @param {Walk} walk
 * @returns {Promise<Disagreement | undefined>}
 */
export async function findDisagreement(walk) {
  const walker = new Walker(walk);
  await walker.undergo({ restart: "startup" });
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
  /** 54: whether ours waits for the user, because the files no longer have the rules of the run; the walk ends there. */
  held = false;
  /** The rules with which each run was started, by its task id. @type {Map<string, string | undefined>} */
  #rules = new Map();
  /** Whether the agent is at work after what has been told so far. */
  #running = false;
  /** Whether the answer that the model gives now was begun before the run was started. */
  #late = false;
  /** The two before what goes on during a question, which may not come. */
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
    if (action.do === "workflow") setLuck(action.luck);
    const leaves = action.do === "restart" || action.do === "back";
    if (leaves && this.#running) await this.#undergoAll(this.#stop("aborted"));
    if ("edit" in action && action.edit && this.#reads(action)) this.#write(action.edit);
    await (action.do === "wait" ? this.#wait(action.ms) : this.#undergoAll(this.#happenings(action)));
  }

  /** @param {number} ms */
  async #wait(ms) {
    passTime(ms);
    const ours = await this.#ours.afterTime();
    this.#compare(() => `${ms} ms go by`, [await this.#reference.afterTime()], [ours]);
    await this.#deliver(ours.prompts);
  }

  /** @param {Iterable<Happening>} happenings */
  async #undergoAll(happenings) {
    for (const happening of happenings) await this.undergo(happening);
  }

  /** @param {Happening} happening */
  async undergo(happening) {
    if (this.disagreement || this.held) return;
    const asked = "command" in happening && this.#mustHold();
    const ours = await this.#ours.undergo(happening);
    if (await this.#holds(happening, asked)) return;
    const { prompts } = ours[ours.length - 1];
    if ("command" in happening) this.#commanded(ours.length > 1, prompts.length > 0);
    const reference = await this.#reference.undergo(happening);
    this.#compare(() => visible(happening), reference, ours);
    this.#check(happening);
    if (this.#ours.continues && "stop" in happening) {
      this.#running = true;
      await this.undergo({ event: "agent_start" });
    } else {
      await this.#deliver(prompts);
    }
  }

  /**
   * 54: whether ours holds a run, as it must where the files have other rules than those with which it was started.
   * @param {Happening} happening
   * @param {boolean} asked whether it did so during a question, after which another run may have begun
   */
  async #holds(happening, asked) {
    const { state, tree, pi } = this.#ours;
    if (state?.active && !this.#rules.has(state.taskId)) this.#rules.set(state.taskId, rulesOf(tree, state.workflowKey));
    const holds = this.#mustHold();
    this.held = holds || asked;
    if (!holds) return this.held;
    /** @type {any} */
    const answer = await pi.emit("tool_call", { toolCallId: "3", toolName: "read", input: {} });
    const why = /^The workflow is paused: (its rules are no longer|the files of the workflow|its files no longer have)/;
    if (!why.test(because(54, undefined, answer?.reason) ?? "")) this.#disagree(visible(happening), ["ours does not hold the run"]);
    return true;
  }

  #mustHold() {
    const { state, tree } = this.#ours;
    return state?.active === true && rulesOf(tree, state.workflowKey) !== this.#rules.get(state.taskId);
  }

  /**
   * @param {boolean} asked whether there was a question
   * @param {boolean} started whether a run was started
   */
  #commanded(asked, started) {
    if (!asked) this.#running = this.#before.running;
    if (!asked) this.#late = this.#before.late;
    if (started) this.#late = this.#running;
  }

  /**
   * What was said in the user's place reaches the agent.
   * @param {import("./stand-in.mjs").Prompt[]} prompts
   */
  async #deliver(prompts) {
    for (const { text, meanwhile } of prompts) {
      await this.undergo({ event: "input", data: { source: "extension", text, streamingBehavior: meanwhile } });
      await this.#undergoAll(this.#run());
    }
  }

  /** @param {Happening} happening */
  #check(happening) {
    const { state, paused, diagnostics } = this.#ours;
    const wanted = state?.active ? this.#bounds.paused : undefined;
    if (paused !== wanted) this.#disagree(visible(happening), [`ours pauses: ${paused}, and should: ${wanted}`]);
    // 9: where ours shows diagnostics, the reference prints some.
    if (diagnostics && printed.length === 0) this.#disagree(visible(happening), ["ours tells of diagnostics"]);
  }

  /**
   * What an action means for the extensions. An agent that acts has begun to run before.
   * @param {Action} action
   * @returns {Generator<Happening>}
   */
  *#happenings(action) {
    switch (action.do) {
      case "workflow": {
        const before = { running: this.#running, late: this.#late };
        // A second question would wait for the first.
        const quiet = action.during.filter((meanwhile) => meanwhile.do !== "step" || meanwhile.action !== "cancel");
        const during = quiet.flatMap((meanwhile) => [...this.#happenings(meanwhile)]);
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
        // pi refuses wrong arguments before it tells of the call.
        if (this.#ours.pi.validated("workflow_step", input)) {
          yield { event: "tool_call", data: { toolCallId: "1", toolName: "workflow_step", input } };
        }
        yield { step: action.action, input, late, yes: !action.no };
        return;
      }
      case "tool":
        yield* this.#run();
        yield { event: "tool_call", data: { toolCallId: "2", toolName: action.name, input: {} } };
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

  /** @returns {Generator<Happening>} */
  *#run() {
    if (this.#running) return;
    this.#running = true;
    this.#late = false;
    yield { event: "before_agent_start", data: { prompt: "x", systemPrompt: "" } };
    yield { event: "agent_start" };
  }

  /**
   * @param {string | undefined} reason
   * @returns {Generator<Happening>}
   */
  *#stop(reason) {
    this.#running = false;
    this.#late = false;
    yield { stop: reason };
  }

  /**
   * Whether both packages read the files for it.
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
   * @param {() => string} happening
   * @param {Deeds[]} reference
   * @param {Deeds[]} ours
   */
  #compare(happening, reference, ours) {
    const [left, right] = [reference.map(sorted), ours.map(sorted)];
    if (!isDeepStrictEqual(left, right)) this.#disagree(happening(), differences(left, right));
  }

  /**
   * @param {string} happening
   * @param {string[]} differences
   */
  #disagree(happening, differences) {
    this.disagreement ??= { action: this.action, happening, differences };
  }
}

/**
 * What tells a disagreement from others, in a line.
 * @param {Disagreement} disagreement
 */
export function kindOf({ happening, differences }) {
  const what = /^\{"(\w+)":("\w+")?/.exec(happening);
  return `${what ? what.slice(1).join(" ") : "time"}: ${differences.map((words) => words.split("\n")[0]).join(", ")}`;
}

/**
 * The order of entries of different types does not matter: no two of them are shown.
 * @param {Deeds} deeds
 */
export function sorted(deeds) {
  return { ...deeds, entries: deeds.entries.toSorted((a, b) => (a.customType.localeCompare(b.customType))) };
}

/**
 * @param {Deeds[]} reference
 * @param {Deeds[]} ours
 */
export function differences(reference, ours) {
  if (reference.length !== ours.length) return [`reference: ${reference.length} questions, ours: ${ours.length}`];
  return reference.flatMap((deeds, index) => {
    const fields = /** @type {(keyof Deeds)[]} */ (Object.keys(deeds));
    return fields
      .filter((field) => !isDeepStrictEqual(deeds[field], ours[index][field]))
      .map((field) => `${field}\n  reference: ${visible(deeds[field])}\n  ours:      ${visible(ours[index][field])}`);
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
 * A walk as a script to read.
 * @param {Walk} walk
 */
export function scriptOf({ setting, tree, actions }) {
  const workflows = tree.map(({ key, root, fields, phases }) => {
    const lines = phases.map((entry) => {
      if (!isPhase(entry)) return `    → ${entry.subworkflow}`;
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
