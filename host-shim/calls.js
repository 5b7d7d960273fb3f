// Calls the guest on behalf of pi: one call at a time, each with its context of pi.

import { messageOf } from "#sandbox";

import { json } from "./json.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("./interface.js").GuestExports} GuestExports */

/** The error of a function that the manifest does not grant. */
export const NOT_GRANTED = "The manifest does not grant it.";

/** Maximum delay of a deferred call, in milliseconds. By then pi has started. */
const MAX_DEFERRAL = 100;

export class Calls {
  #guest;
  /** The context of the current call; between calls, the context of the session. @type {Context | undefined} */
  #context;
  /** The arguments of the tool call whose event is being handled. @type {unknown} */
  #toolInput = undefined;
  /** The work that the current call has started; pi waits for it. @type {Promise<void> | undefined} */
  #started;
  /** A call that must come before any other. @type {(() => unknown) | undefined} */
  #deferred;

  /** @param {import("./guest.js").Guest} guest */
  constructor(guest) {
    this.#guest = guest;
  }

  get context() {
    if (!this.#context) throw new Error("There is no session yet.");
    return this.#context;
  }

  set context(context) {
    this.#context = context;
  }

  /** The context of the current call; `undefined` before the first session. */
  get knownContext() {
    return this.#context;
  }

  /** The arguments of the tool call whose event is being handled, as JSON. */
  get toolInput() {
    return json(this.#toolInput);
  }

  /**
   * Calls a function of the guest. During another call, waits until the other call has returned.
   *
   * @template {keyof GuestExports} Name
   * @param {Context | undefined} context
   * @param {Name} name
   * @param {Parameters<GuestExports[Name]>} parameters
   * @returns {Eventually<ReturnType<GuestExports[Name]> | undefined>} a promise only if this call had to wait, for
   *   another call or for the work that it started; `undefined` if the instance trapped or does not exist
   */
  call(context, name, ...parameters) {
    return this.#whenFree(() => this.#enter(context, name, parameters));
  }

  /**
   * Delivers a `tool-call` event. During the call, `toolInput` returns the arguments.
   *
   * @param {Context} context
   * @param {unknown} toolInput
   * @param {Parameters<GuestExports["handleEvent"]>} parameters
   */
  handleToolCall(context, toolInput, ...parameters) {
    return this.#whenFree(() => this.#enter(context, "handleEvent", parameters, toolInput));
  }

  /**
   * Calls a function of the guest that pi needs the result of immediately. Returns `undefined` during another call.
   *
   * @template {keyof GuestExports} Name
   * @param {Name} name
   * @param {Parameters<GuestExports[Name]>} parameters
   */
  callNow(name, ...parameters) {
    if (this.#guest.busy) return undefined;
    this.#makeDeferredCall();
    return this.#enter(undefined, name, parameters);
  }

  /**
   * Lets pi wait for the end of something before it goes on after the current call.
   * @param {Promise<void>} started a promise that is never rejected
   */
  waitFor(started) {
    this.#started = started;
  }

  /** Defers a call of the guest until the next other call, or until pi has started. @param {() => unknown} call */
  defer(call) {
    this.#deferred = call;
    setTimeout(() => this.#makeDeferredCall(), MAX_DEFERRAL).unref();
  }

  /** Drops the deferred call. Returns true if there was one. */
  dropDeferred() {
    const dropped = this.#deferred !== undefined;
    this.#deferred = undefined;
    return dropped;
  }

  #makeDeferredCall() {
    const call = this.#deferred;
    this.#deferred = undefined;
    call?.();
  }

  /**
   * @template Result
   * @param {() => Result} call
   * @returns {Eventually<Result>}
   */
  #whenFree(call) {
    this.#makeDeferredCall();
    if (this.#guest.busy) return Promise.resolve().then(() => this.#whenFree(call));
    this.#started = undefined;
    const result = call();
    // TypeScript does not see that the call has changed `#started`.
    const started = /** @type {Promise<void> | undefined} */ (this.#started);
    return started ? started.then(() => result) : result;
  }

  /**
   * @template {keyof GuestExports} Name
   * @param {Context | undefined} context
   * @param {Name} name
   * @param {Parameters<GuestExports[Name]>} parameters
   * @param {unknown} [toolInput]
   */
  #enter(context, name, parameters, toolInput) {
    const outer = this.#context;
    if (context) this.#context = context;
    this.#toolInput = toolInput;
    try {
      return this.#guest.call(name, ...parameters);
    } finally {
      this.#toolInput = undefined;
      if (outer) this.#context = outer;
    }
  }

  /**
   * Wraps functions of the interface that call pi: an exception of pi becomes an error of the interface.
   *
   * @template {object} Functions
   * @param {Functions} functions
   * @returns {Functions}
   */
  guarded(functions) {
    const wrapped = Object.entries(functions).map(([name, work]) => [
      name,
      (/** @type {unknown[]} */ ...parameters) => {
        try {
          return work(...parameters);
        } catch (error) {
          throw isGone(this.#context) ? { tag: "stale" } : { tag: "failed", val: messageOf(error) };
        }
      },
    ]);
    return Object.fromEntries(wrapped);
  }
}

/**
 * Returns true if the session of a context was replaced. pi's error for this case has no class and no code of its own,
 * and its text may occur in any other error, for example in a path; but every access to such a context throws.
 *
 * @param {Context | undefined} context
 */
export function isGone(context) {
  try {
    void context?.cwd;
    return false;
  } catch {
    return true;
  }
}

/**
 * A value, or a promise of it.
 * @template T
 * @typedef {T | Promise<T>} Eventually
 */

/**
 * Applies a function to a value, without a delay if the value is no promise.
 *
 * @template T, U
 * @param {Eventually<T>} value
 * @param {(value: T) => U} next
 * @returns {Eventually<U>}
 */
export function after(value, next) {
  return value instanceof Promise ? value.then(next) : next(value);
}
