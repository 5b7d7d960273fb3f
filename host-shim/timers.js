// The `pi:extension/timers` interface.
import { MAX_TIMEOUT } from "#sandbox";

import { watchOutput } from "./agent-output.js";
import { watchClock } from "./clock.js";
import { moment } from "./guest.js";

export class Timers {
  /** @type {Map<bigint, NodeJS.Timeout>} */
  #running = new Map();
  #calls;
  #pi;
  /** The time of the agent's newest output; `undefined` while pi does not tell of it. @type {number | undefined} */
  #outputAt;
  #endClock = () => {};

  /** @param {import("./calls.js").Calls} calls @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
  constructor(calls, pi) {
    this.#calls = calls;
    this.#pi = pi;
  }

  /** @returns {import("./interface.js").Imports["pi:extension/timers"]} */
  imports() {
    return {
      start: (id, delay) => this.#wait(this.#calls.knownContext, id, delay),
      startAtSilence: (id, delay) => {
        if (this.#outputAt === undefined) watchOutput(this.#pi, () => this.#noteOutput());
        this.#noteOutput();
        this.#waitForSilence(this.#calls.knownContext, id, delay, delay);
      },
      stop: (id) => this.#stop(id),
      watchClock: (watch) => {
        this.#endClock();
        this.#endClock = watch ? watchClock((skipped) => this.#skipped(skipped)) : () => {};
      },
    };
  }

  /**
   * Replaces a running timer with the same id.
   * @param {import("./calls.js").Context | undefined} context
   * @param {bigint} id
   * @param {number} delay
   * @param {() => void} [end] called at the end instead of the guest
   */
  #wait(context, id, delay, end = () => void this.#calls.call(context, "timer", moment(), id)) {
    this.#stop(id);
    const part = Math.min(delay, MAX_TIMEOUT);
    const timer = setTimeout(() => {
      if (delay > part) return this.#wait(context, id, delay - part, end);
      this.#running.delete(id);
      end();
    }, part);
    this.#running.set(id, timer);
  }

  /**
   * @param {import("./calls.js").Context | undefined} context
   * @param {bigint} id
   * @param {number} delay
   * @param {number} left the time until the next look, in milliseconds
   */
  #waitForSilence(context, id, delay, left) {
    this.#wait(context, id, left, () => {
      const at = moment();
      const left = Math.ceil((this.#outputAt ?? 0) + delay - performance.now());
      if (left > 0) return this.#waitForSilence(context, id, delay, left);
      void this.#calls.call(context, "timer", at, id);
    });
  }

  #noteOutput() {
    this.#outputAt = performance.now();
  }

  /** @param {number} ms */
  #skipped(ms) {
    // The time in which this process did not run is no silence.
    this.#noteOutput();
    void this.#calls.call(undefined, "handleEvent", moment(), { tag: "time-skipped", val: BigInt(ms) });
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
    this.#endClock();
    this.#endClock = () => {};
  }
}
