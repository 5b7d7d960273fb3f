// The `pi:extension/timers` interface.
import { MAX_TIMEOUT } from "./exec.js";
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
      start: (id, delay) => this.#start(id, delay),
      stop: (id) => this.#stop(id),
    };
  }

  /**
   * @param {bigint} id
   * @param {number} delay
   */
  #start(id, delay) {
    this.#stop(id);
    const context = this.#calls.knownContext;
    const wait = (/** @type {number} */ rest) => {
      const part = Math.min(rest, MAX_TIMEOUT);
      const timer = setTimeout(() => {
        if (rest > part) return wait(rest - part);
        this.#running.delete(id);
        this.#calls.call(context, "timer", moment(), id);
      }, part);
      this.#running.set(id, timer);
    };
    wait(delay);
  }

  /** @param {bigint} id */
  #stop(id) {
    clearTimeout(this.#running.get(id));
    this.#running.delete(id);
  }

  stopAll() {
    for (const timer of this.#running.values()) clearTimeout(timer);
    this.#running.clear();
  }
}
