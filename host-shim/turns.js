// Lets one thing happen after another.

export class Turns {
  /** Resolves when the last turn that was asked for is over. */
  #last = Promise.resolve();

  /**
   * Waits for the turns that were asked for before, or until the signal aborts.
   *
   * @param {AbortSignal} [signal]
   * @returns {{ ready: Promise<unknown>, end: () => void }} `end` ends the turn
   */
  next(signal) {
    const before = this.#last;
    /** @type {() => void} */
    let done = () => {};
    this.#last = new Promise((resolve) => (done = resolve));
    const ready = signal ? Promise.race([before, aborted(signal)]) : before;
    // One that did not wait for the others does not end their turns.
    return { ready, end: () => void before.then(done) };
  }
}

/** @param {AbortSignal} signal */
function aborted(signal) {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
