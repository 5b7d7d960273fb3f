// When ours lets the agent go on by itself, pauses a run and refuses a loop (differences 7 and 27): a model of what
// docs/reference.md says, compared with what ours does.

import { Place } from "./place.mjs";

/** @typedef {import("./side.mjs").Happening} Happening */
/** @typedef {import("./place.mjs").State} State */
/** @typedef {State["currentPath"]} Path */

const DEFAULT_MAX_LOOPS = 20;
const DEFAULT = { maxPerPhase: 10, maxIdle: 3 };

/**
 * What ours should do by itself after an event.
 * @typedef {object} Verdict
 * @property {Path | undefined} path that of the run before
 * @property {string | undefined} paused why the run is paused then, if it is
 * @property {boolean} changed whether that is new
 * @property {boolean} goesOn whether the agent is told to go on when it comes to rest now
 * @property {boolean} refusesLoop whether the loop that the agent wants is one too many
 */

export class Bounds {
  /** Why the run is paused, if it is. @type {string | undefined} */
  paused;
  /** @type {WeakMap<Happening, Verdict>} */
  #verdicts = new WeakMap();
  /** Whether a countdown started this agent run. */
  #automatic = false;
  /** Whether a countdown sends the next prompt. */
  #own = false;
  /** Whether the agent has worked in this agent run. */
  #worked = false;
  #idle = 0;
  #continuations = 0;
  /** How often each open scope was restarted. @type {Map<string, number>} */
  #loops = new Map();

  /**
   * Called before an event.
   * @param {Happening} happening
   * @param {State | undefined} state
   * @param {import("./trees.mjs").Tree} tree
   * @param {boolean} asking whether a question to the user is open
   */
  foresee(happening, state, tree, asking) {
    const place = Place.of(state, tree);
    const path = state?.active ? state.currentPath : undefined;
    const before = this.paused;
    let goesOn = false;
    if ("event" in happening) this.#event(happening);
    if ("stop" in happening && place && !this.paused) goesOn = this.#stop(happening.stop, place, asking);
    const changed = path !== undefined && before !== this.paused;
    const refusesLoop = path !== undefined && "step" in happening && happening.step === "loop" && this.#refusesLoop(path, tree);
    this.#verdicts.set(happening, { path, paused: this.paused, changed, goesOn, refusesLoop });
  }

  /**
   * The expected result.
   * @param {Happening | undefined} happening nothing: time goes by
   * @returns {Verdict}
   */
  verdict(happening) {
    const nothing = { path: undefined, paused: this.paused, changed: false, goesOn: false, refusesLoop: false };
    return (happening && this.#verdicts.get(happening)) ?? nothing;
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

  /** The agent was told to go on. */
  wentOn() {
    this.#automatic = this.#own = true;
    this.#worked = false;
    this.#continuations += 1;
  }

  /**
   * Called after an event in ours.
   * @param {Happening} happening
   * @param {any} answer that of ours
   * @param {State | undefined} state what is stored then
   * @param {boolean} started whether a run was started
   */
  observe(happening, answer, state, started) {
    if ("restart" in happening || "back" in happening) {
      if ("restart" in happening) this.#automatic = this.#own = this.#worked = false;
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
    if ("event" in happening && happening.event === "tool_call" && !answer) {
      this.#worked ||= happening.data?.toolName !== "workflow_step";
    }
    const { path } = this.verdict(happening);
    if (path && answer?.details?.looped) this.#loops.set(scopeKey(path), (this.#loops.get(scopeKey(path)) ?? 0) + 1);
    if ("step" in happening) this.#moved(answer.details, state);
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
