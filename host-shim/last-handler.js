// Acts on a tool call after the handlers of all extensions, also of extensions that pi loads later. The handlers see
// the call as the model has made it, and their changes of the call hold here. pi has no event for this moment, but all
// its tool calls go through one method of the session.
import { sessionOf } from "./pi-session.js";

/** @typedef {import("./events.js").PiEvent} PiEvent */
/** @typedef {() => unknown} Decide returns the result of a handler, or a promise of it */

export class LastHandler {
  /**
   * The events of calls that pi sends, each as pi has made it, and with the decision about the call.
   * @type {WeakMap<PiEvent, { made: PiEvent, decide?: Decide }>}
   */
  #calls = new WeakMap();
  /** The parts of sessions that are watched. @type {WeakSet<object>} */
  #watched = new WeakSet();

  /** Watches a session that begins. @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context */
  begin(context) {
    const runner = /** @type {any} */ (sessionOf(context)?.extensionRunner);
    const emit = runner?.emitToolCall;
    if (typeof emit !== "function" || this.#watched.has(runner)) return;
    this.#watched.add(runner);
    runner.emitToolCall = async (/** @type {PiEvent} */ event) => {
      this.#calls.set(event, { made: { ...event } });
      const result = await emit.call(runner, event);
      const decide = this.#calls.get(event)?.decide;
      this.#calls.delete(event);
      return (!result?.block && (await decide?.())) || result;
    };
  }

  /**
   * Decides about the call of an event when all handlers have returned and none has refused the call; at once if pi
   * does not show the session.
   *
   * @param {PiEvent} event
   * @param {Decide} decide
   */
  decide(event, decide) {
    const call = this.#calls.get(event);
    if (!call) return decide();
    call.decide = decide;
    return undefined;
  }

  /**
   * Gives an event the fields again that pi has made: pi carries out the call with these fields, also where an extension
   * has put other values in their place.
   *
   * @param {PiEvent} event
   */
  restore(event) {
    Object.assign(event, this.#calls.get(event)?.made);
  }
}
