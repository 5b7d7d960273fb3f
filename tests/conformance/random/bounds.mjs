// Models the rules of docs/reference.md for automatic continuation, pauses and refused loops (differences 7 and 27), to
// compare ours with them.

import { Place } from "./place.mjs";

/** @typedef {import("./side.mjs").Trigger} Trigger */
/** @typedef {import("./place.mjs").State} State */
/** @typedef {State["currentPath"]} Path */

const DEFAULT_MAX_LOOPS = 20;
const DEFAULT = { maxPerPhase: 10, maxIdle: 3 };

/**
 * The expected behaviour of ours after an event.
 * @typedef {object} Verdict
 * @property {Path | undefined} path the path of the run before the event
 * @property {string | undefined} paused the reason for the pause after the event; `undefined` if the run is not paused
 * @property {boolean} changed true if the event changes `paused`
 * @property {boolean} goesOn true if ours tells the agent to continue
 * @property {boolean} refusesLoop true if the requested loop exceeds the limit
 */

export class Bounds {
  /** The reason for the pause; `undefined` if the run is not paused. @type {string | undefined} */
  paused;
  /** @type {WeakMap<Trigger, Verdict>} */
  #verdicts = new WeakMap();
  /** True if a countdown started this agent run. */
  #automatic = false;
  /** True if a countdown sends the next prompt. */
  #own = false;
  /** True if the agent has called a tool in this agent run. */
  #worked = false;
  #idle = 0;
  #continuations = 0;
  /** The number of restarts of each open scope. @type {Map<string, number>} */
  #loops = new Map();

  /**
   * Computes the verdict on an event; called before it.
   * @param {Trigger} trigger
   * @param {State | undefined} state
   * @param {import("./trees.mjs").Tree} tree
   * @param {boolean} asking true while a question to the user is open
   */
  predict(trigger, state, tree, asking) {
    const place = Place.of(state, tree);
    const path = state?.active ? state.currentPath : undefined;
    const before = this.paused;
    let goesOn = false;
    if ("event" in trigger) this.#event(trigger);
    if ("stop" in trigger && place && !this.paused) goesOn = this.#stop(trigger.stop, place, asking);
    const changed = path !== undefined && before !== this.paused;
    const refusesLoop =
      path !== undefined && "step" in trigger && trigger.step === "loop" && this.#refusesLoop(path, tree);
    this.#verdicts.set(trigger, { path, paused: this.paused, changed, goesOn, refusesLoop });
  }

  /**
   * Returns the expected behaviour.
   * @param {Trigger | undefined} trigger `undefined` for the passing of time
   * @returns {Verdict}
   */
  verdict(trigger) {
    const nothing = { path: undefined, paused: this.paused, changed: false, goesOn: false, refusesLoop: false };
    return (trigger && this.#verdicts.get(trigger)) ?? nothing;
  }

  /**
   * @param {Path} path
   * @param {import("./trees.mjs").Tree} tree
   */
  #refusesLoop(path, tree) {
    const scope = tree.find(({ key }) => key === path[path.length - 1].workflowKey);
    if (!scope || scope.fields.loopable === false) return false;
    return (this.#loops.get(scopeKey(path)) ?? 0) >= (scope.fields.maxLoops ?? DEFAULT_MAX_LOOPS);
  }

  /** @param {{ event: string, data?: any }} event */
  #event({ event, data }) {
    if (event === "before_agent_start") this.#worked = false;
    if (event !== "input") return;
    const byUser = data.source !== "extension";
    if (byUser || !this.#own) this.#automatic = false;
    this.#own = false;
    if (byUser && this.paused) this.#resume();
  }

  /**
   * @param {string | undefined} reason
   * @param {Place} place
   * @param {boolean} asking
   */
  #stop(reason, place, asking) {
    const { autoContinue } = place.root.fields;
    if (reason === "aborted") this.paused = "aborted";
    else if (reason === "error") this.paused = "modelError";
    else if (autoContinue !== false && !asking) {
      const { maxPerPhase, maxIdle } = { ...DEFAULT, ...autoContinue };
      this.#idle = this.#worked || !this.#automatic ? 0 : this.#idle + 1;
      if (this.#idle >= maxIdle) this.paused = "idle";
      else if (this.#continuations >= maxPerPhase) this.paused = "limit";
      else return true;
    }
    return false;
  }

  #resume() {
    this.paused = undefined;
    this.#idle = this.#continuations = 0;
  }

  /** Records that the agent was told to continue. */
  wentOn() {
    this.#automatic = this.#own = true;
    this.#worked = false;
    this.#continuations += 1;
  }

  /** True if the agent was told to continue in this phase more than once. */
  get toldAgain() {
    return this.#continuations > 1;
  }

  /**
   * Records the result of an event in ours; called after it.
   * @param {Trigger} trigger
   * @param {any} answer the answer of ours
   * @param {State | undefined} state the stored state after the event
   * @param {boolean} started true if the event started a run
   */
  observe(trigger, answer, state, started) {
    if ("restart" in trigger || "back" in trigger) {
      if ("restart" in trigger) this.#automatic = this.#own = this.#worked = false;
      const { paused, idle, continuations, loops } = (state?.active && state.progress) || {};
      this.paused = paused?.reason.kind;
      this.#idle = idle ?? 0;
      this.#continuations = continuations ?? 0;
      this.#loops = new Map(Object.entries(loops ?? {}));
    }
    if (started) {
      this.#resume();
      this.#loops.clear();
    }
    if ("event" in trigger && trigger.event === "tool_call" && !answer) {
      this.#worked ||= trigger.data?.toolName !== "workflow_step";
    }
    const { path } = this.verdict(trigger);
    if (path && answer?.details?.looped) this.#loops.set(scopeKey(path), (this.#loops.get(scopeKey(path)) ?? 0) + 1);
    if ("step" in trigger) this.#moved(answer.details, state);
    if (!state?.active) this.#resume();
  }

  /**
   * @param {any} details
   * @param {State | undefined} state
   */
  #moved(details, state) {
    if (!details?.advanced && !details?.looped && !details?.cancelled) return;
    this.#worked = true;
    this.#idle = this.#continuations = 0;
    // A pause about the phase ends with it; that of a stopped agent stays one of the user.
    if (this.paused) this.paused = this.paused === "person" || this.paused === "aborted" ? "person" : undefined;
    const path = state?.currentPath ?? [];
    const open = path.map((_, index) => scopeKey(path.slice(0, index + 1)));
    this.#loops = new Map([...this.#loops].filter(([key]) => open.includes(key)));
  }
}

/** @param {Path} path */
function scopeKey(path) {
  const outer = path.slice(0, -1).map(({ workflowKey, phaseIndex }) => `${workflowKey}:${phaseIndex}`);
  return `${outer.join("/")}/${path[path.length - 1].workflowKey}`;
}
