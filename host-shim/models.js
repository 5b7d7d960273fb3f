// Models and thinking levels. pi sets a model asynchronously, and a guest's calls are synchronous: so the settings of a
// guest, and the messages that the guest sends after them, are queued, and pi waits for the queue after the guest's
// call.
import { messageOf, unlessFails } from "#sandbox";

import { NOT_GRANTED, isGone } from "./calls.js";
import { known } from "./interface.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("./interface.js").Model} Model */
/** @typedef {import("../target/types/interfaces/pi-extension-types.js").ThinkingLevel} ThinkingLevel */
/** @typedef {import("./interface.js").Imports} Imports */

/** @type {readonly ThinkingLevel[]} */
export const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The maximum number of events that are waited for: a guest need not subscribe to such events. */
const MAX_UNREPORTED = 8;

export class Models {
  /** The end of the queue; `undefined` if it is empty. @type {Promise<void> | undefined} */
  #last;
  /** The model that is last in the queue. @type {Model | undefined} */
  #coming;
  /** The level that is last in the queue. @type {ThinkingLevel | undefined} */
  #comingLevel;
  /** The model that pi is setting for the guest. @type {Model | undefined} */
  #setting;
  /** True while pi sets a level for the guest. */
  #settingLevel = false;
  /** True if the event of the level that pi sets for the guest was delivered. */
  #reported = false;
  /** The levels that pi has set for the guest, and whose events are still to be delivered. @type {string[]} */
  #unreported = [];
  #pi;
  #manifest;
  #calls;
  #tell;

  /**
   * @param {Pick<import("./extension.js").Parts, "pi" | "manifest" | "calls">} parts
   * @param {(message: string) => void} tell shows an error to the user
   */
  constructor({ pi, manifest, calls }, tell) {
    this.#pi = pi;
    this.#manifest = manifest;
    this.#calls = calls;
    this.#tell = tell;
  }

  /** @returns {Pick<Imports["pi:extension/api"], "setModel" | "getThinkingLevel" | "setThinkingLevel">} */
  actions() {
    return this.#calls.guarded({
      setModel: (/** @type {Model} */ model) => this.#setModel(model),
      getThinkingLevel: () => this.#comingLevel ?? known(LEVELS, this.#pi.getThinkingLevel()),
      setThinkingLevel: (/** @type {ThinkingLevel} */ level) => this.#setLevel(level),
    });
  }

  /** @returns {Pick<Imports["pi:extension/context"], "currentModel" | "models">} */
  questions() {
    return this.#calls.guarded({
      currentModel: () => this.#coming ?? nameOf(this.#calls.context.model),
      models: () => {
        const registry = this.#calls.context.modelRegistry;
        return registry.getAll().map((model) => ({
          model: { provider: model.provider, id: model.id },
          available: registry.hasConfiguredAuth(model),
          priced: hasPrice(model.cost),
          contextWindow: sizeOf(model.contextWindow),
        }));
      },
    });
  }

  get queue() {
    return this.#last;
  }

  /** Does something when the queue is empty: now, if it is. @param {() => void} work */
  afterwards(work) {
    if (this.#last) this.#queue(work);
    else work();
  }

  /**
   * Handles an event `model_select`: returns true if it is the result of a call of the guest. A model that the user
   * selects while another one is in the queue is set again after it, or the guest's model would replace it.
   * @param {{ provider: string, id: string }} model
   * @param {Context} context of the event
   */
  selected({ provider, id }, context) {
    if (this.#setting && areEqual(this.#setting, { provider, id })) return true;
    if (this.#coming && !isGone(context)) this.#queueModel({ provider, id }, context);
    return false;
  }

  /**
   * Handles an event `thinking_level_select` in the same way. The event is the result of a call of the guest also if pi
   * chooses a level for a model that the guest sets.
   * @param {string} level
   * @param {Context} context of the event
   */
  selectedLevel(level, context) {
    if (this.#settingLevel || this.#isSet(context)) return (this.#reported = true);
    const index = this.#unreported.indexOf(level);
    if (index >= 0) return this.#unreported.splice(index, 1).length > 0;
    const own = known(LEVELS, level);
    if ((this.#coming || this.#comingLevel) && own !== "other") this.#queueLevel(own);
    return false;
  }

  /** @param {Model} model */
  #setModel({ provider, id }) {
    this.#checkGrant();
    if (!this.#queueModel({ provider, id }, this.#calls.context))
      throw new Error(`There is no model ${provider}/${id}.`);
  }

  /**
   * Returns false if there is no such model.
   * @param {Model} model
   * @param {Context} context
   */
  #queueModel({ provider, id }, context) {
    const model = context.modelRegistry.find(provider, id);
    if (!model) return false;
    this.#coming = { provider, id };
    this.#comingLevel = undefined;
    this.#queue(async () => {
      this.#setting = { provider, id };
      try {
        await this.#reporting(async () => {
          if (!(await this.#pi.setModel(model)))
            throw new Error(`the model ${provider}/${id} is not set, because there is no key for it.`);
        });
      } finally {
        this.#setting = undefined;
      }
    });
    return true;
  }

  /** @param {ThinkingLevel} level */
  #setLevel(level) {
    this.#checkGrant();
    if (level === "other") throw new Error("This thinking level cannot be set.");
    this.#queueLevel(level);
  }

  /** @param {Exclude<ThinkingLevel, "other">} level */
  #queueLevel(level) {
    this.#comingLevel = level;
    this.#queue(() =>
      this.#reporting(() => {
        this.#settingLevel = true;
        try {
          this.#pi.setThinkingLevel(level);
        } finally {
          this.#settingLevel = false;
        }
      }),
    );
  }

  /** Returns true if the model that pi is setting for the guest is in use. @param {Context} context */
  #isSet(context) {
    return (
      this.#setting !== undefined &&
      areEqual(
        this.#setting,
        unlessFails(() => context.model),
      )
    );
  }

  /**
   * Adds something to the queue. An error is shown to the user, unless the session has ended.
   * @param {() => unknown} work
   */
  #queue(work) {
    const context = this.#calls.context;
    const before = this.#last;
    const perform = async () => {
      await before;
      try {
        await work();
      } catch (error) {
        if (!isGone(context)) this.#tell(`${this.#manifest.name}: ${messageOf(error)}`);
      }
      if (this.#last === last) this.#last = this.#coming = this.#comingLevel = undefined;
    };
    const last = perform();
    this.#last = last;
    this.#calls.waitFor(last);
  }

  /**
   * Does work that may change the level. pi may deliver the event of a change after other extensions' handlers.
   * @param {() => unknown} work
   */
  async #reporting(work) {
    const before = this.#pi.getThinkingLevel();
    this.#reported = false;
    await work();
    const now = this.#pi.getThinkingLevel();
    if (now === before || this.#reported) return;
    this.#unreported = [...this.#unreported.slice(1 - MAX_UNREPORTED), now];
  }

  #checkGrant() {
    if (!this.#manifest.models) throw new Error(NOT_GRANTED);
  }
}

/** @param {Model | undefined} model @returns {Model | undefined} */
function nameOf(model) {
  return model && { provider: model.provider, id: model.id };
}

/** @param {Model} model @param {Model | undefined} other */
function areEqual(model, other) {
  return model.provider === other?.provider && model.id === other.id;
}

/** @param {unknown} tokens */
const sizeOf = (tokens) => (Number.isInteger(tokens) && Number(tokens) > 0 ? Math.min(Number(tokens), 0xffff_ffff) : 0);

/** Returns true if any kind of token costs something. @param {object | undefined} cost */
function hasPrice(cost) {
  return Object.values(cost ?? {}).some((price) => typeof price === "number" && price > 0);
}
