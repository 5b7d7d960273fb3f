// Acts on a tool call after the handlers of all extensions, also of extensions that pi loads later. The handlers see
// the call as the model has made it, and their changes of the call hold here. pi has no event for this moment, but all
// its tool calls go through one method of the session.
import { sessionOf } from "./origin.js";

/** @typedef {import("./events.js").PiEvent} PiEvent */
/** @typedef {() => unknown} Decide returns the result of a handler, or a promise of it */

export class LastHandler {
  /** The calls whose event pi sends, with the decisions about them. @type {WeakMap<PiEvent, Decide | undefined>} */
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
      this.#calls.set(event, undefined);
      const result = await emit.call(runner, event);
      const decide = this.#calls.get(event);
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
    if (!this.#calls.has(event)) return decide();
    this.#calls.set(event, decide);
    return undefined;
  }
}
