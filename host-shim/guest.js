// One component, whatever becomes of its instances.
//
// A panic in the guest surfaces as an error of a call, and the instance that it happened in is not
// fit for use any more. It is replaced by a new one, which finds its state in the session again; the
// call that broke gets no answer, and the caller does what is safe without one. A component that breaks
// again and again is left without an instance.

/** The version of `wit/extension.wit` that this shim speaks. */
export const INTERFACE_VERSION = "0.1.0";

/** So many traps without a sound call between them, and there is no new instance. */
const MAX_TRAPS = 3;

const GUEST = "pi:extension/guest@";

export class Guest {
  /** @type {Record<string, Function> | undefined} */
  #exports;
  #busy = false;
  /** Whether the first instance was asked for. */
  #begun = false;
  #lastWords = "";
  /** Since the last sound call. */
  #traps = 0;
  #instantiate;
  #onTrap;
  #onEnd;

  /**
   * @param {() => Record<string, any>} instantiate makes a fresh instance
   * @param {(words: string, off: boolean) => void} onTrap is told the last words of an instance that broke,
   *   when the next one is ready, or when there is none any more
   * @param {() => void} [onEnd] an instance broke, and the next one is not there yet
   */
  constructor(instantiate, onTrap, onEnd = () => {}) {
    this.#onEnd = onEnd;
    this.#instantiate = instantiate;
    this.#onTrap = onTrap;
  }

  /** Makes the first instance. Without it, the first call does. */
  start() {
    this.#begun = true;
    try {
      this.#exports = this.#fresh();
    } catch (error) {
      throw this.#lastWords ? new Error(this.#lastWords, { cause: error }) : error;
    }
  }

  /** Whether a call is under way: the component must not be entered again before it ends. */
  get busy() {
    return this.#busy;
  }

  /** Whether there is no instance: the component broke too often, or could not be started. */
  get off() {
    return this.#begun && !this.#exports && !this.#busy;
  }

  /** Whether the first instance was asked for. */
  get begun() {
    return this.#begun;
  }

  /** @param {string} message what a guest says before it traps */
  logPanic(message) {
    this.#lastWords = message;
  }

  /**
   * Calls an export. Gives `undefined` if the instance broke, or if there is none.
   *
   * @param {string} name
   * @param {...unknown} parameters
   */
  call(name, ...parameters) {
    if (!this.#begun) this.#begin();
    const call = this.#exports?.[name];
    if (!call) return undefined;
    this.#busy = true;
    try {
      const result = call(...parameters);
      this.#traps = 0;
      return result;
    } catch (error) {
      this.#broke(error);
      return undefined;
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Tries again to get an instance, if there is none any more.
   *
   * @param {boolean} restore whether it has to find its state now; else an event for that follows
   */
  revive(restore) {
    if (this.off) this.#attempt(() => this.#restart(restore));
  }

  #begin() {
    this.#begun = true;
    this.#attempt(() => (this.#exports = this.#fresh()));
  }

  /** @param {() => unknown} start */
  #attempt(start) {
    this.#busy = true;
    try {
      start();
    } catch (error) {
      this.#onTrap(this.#wordsOf(error), true);
    } finally {
      this.#busy = false;
    }
  }

  /** @param {unknown} error */
  #broke(error) {
    this.#exports = undefined;
    this.#traps += 1;
    const words = this.#wordsOf(error);
    this.#onEnd();
    while (!this.#exports && this.#traps < MAX_TRAPS) {
      try {
        this.#restart(true);
      } catch {
        // Another trap; the words of the first say more.
        this.#lastWords = "";
      }
    }
    this.#onTrap(words, !this.#exports);
  }

  /** @param {boolean} restore */
  #restart(restore) {
    try {
      const fresh = this.#fresh();
      if (restore) fresh.handleEvent(moment(), { tag: "restarted" });
      this.#exports = fresh;
    } catch (error) {
      this.#traps += 1;
      this.#onEnd();
      throw error;
    }
  }

  /** @param {unknown} error */
  #wordsOf(error) {
    const words = this.#lastWords || String(error);
    this.#lastWords = "";
    return words;
  }

  #fresh() {
    const instance = this.#instantiate();
    const exported = instance[GUEST + INTERFACE_VERSION];
    if (!exported) {
      const other = Object.keys(instance).find((key) => key.startsWith(GUEST));
      throw new Error(
        other
          ? `The component speaks pi:extension ${other.slice(GUEST.length)}, pi's side speaks ${INTERFACE_VERSION}.`
          : "The component is no pi extension: it does not export pi:extension/guest.",
      );
    }
    try {
      exported.init({ interfaceVersion: INTERFACE_VERSION });
    } catch (/** @type {any} */ error) {
      if (error?.payload?.tag !== "version-mismatch") throw error;
      throw new Error(
        `The component speaks pi:extension ${error.payload.val}, pi's side speaks ${INTERFACE_VERSION}.`,
      );
    }
    return exported;
  }
}

/** The time and the luck of one call. */
export function moment() {
  return {
    unixMs: BigInt(Date.now()),
    random: crypto.getRandomValues(new BigUint64Array(1))[0],
  };
}
