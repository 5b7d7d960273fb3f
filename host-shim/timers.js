// The `pi:extension/timers` interface.
import { MAX_TIMEOUT } from "#sandbox";

import { moment } from "./guest.js";

export class Timers {
  /** @type {Map<bigint, NodeJS.Timeout>} */
  #running = new Map();
  #calls;

  /** @param {import("./calls.js").Calls} calls */
  constructor(calls) {
    this.#calls = calls;
  }

  /** @returns {import("./interface.js").Imports["pi:extension/timers"]} */
  imports() {
    return {
      start: (id, delay) => this.#wait(this.#calls.knownContext, id, delay),
      stop: (id) => this.#stop(id),
    };
  }

  /**
   * Replaces a running timer with the same id.
   * @param {import("./calls.js").Context | undefined} context
   * @param {bigint} id
   * @param {number} delay
   */
  #wait(context, id, delay) {
    this.#stop(id);
    const part = Math.min(delay, MAX_TIMEOUT);
    const timer = setTimeout(() => {
      if (delay > part) return this.#wait(context, id, delay - part);
      this.#running.delete(id);
      this.#calls.call(context, "timer", moment(), id);
    }, part);
    this.#running.set(id, timer);
  }

  /** @param {bigint} id */
  #stop(id) {
    clearTimeout(this.#running.get(id));
    this.#running.delete(id);
  }

  /** True while a timer runs. */
  get areRunning() {
    return this.#running.size > 0;
  }

  stopAll() {
    for (const id of this.#running.keys()) this.#stop(id);
  }
}
