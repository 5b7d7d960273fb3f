// Lets one thing happen after another.

export class Turns {
  /** Resolves when the last turn that was asked for is over. */
  #last = Promise.resolve();
  /** The number of turns that are not over. */
  #open = 0;

  /**
   * Waits for the turns that were asked for before, or until the signal aborts.
   * @param {AbortSignal} [signal]
   * @returns {{ waits: boolean, ready: Promise<unknown>, end: () => void }} `waits` is true if another turn is not
   *   over; `end` ends this one
   */
  next(signal) {
    const before = this.#last;
    const waits = this.#open > 0;
    this.#open += 1;
    /** @type {() => void} */
    let done = () => {};
    this.#last = new Promise((resolve) => (done = resolve));
    const ready = signal ? Promise.race([before, aborted(signal)]) : before;
    const over = () => {
      this.#open -= 1;
      done();
    };
    // A turn that did not wait for the earlier turns does not end them.
    return { waits, ready, end: () => void before.then(over) };
  }
}

/** @param {AbortSignal} signal */
function aborted(signal) {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
