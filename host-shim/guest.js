// One component, whatever becomes of its instances.
//
// A panic in the guest surfaces as an error of a call, and the instance that it happened in is not
// fit for use any more. It is replaced by a new one, which finds its state in the session again; the
// call that broke gets no answer, and the caller does what is safe without one.

/** The version of `wit/extension.wit` that this shim speaks. */
export const INTERFACE_VERSION = "0.1.0";

const GUEST = "pi:extension/guest@";

export class Guest {
  /** @type {Record<string, Function> | undefined} */
  #exports;
  #busy = false;
  #lastWords = "";
  #instantiate;
  #onTrap;
  #onEnd;

  /**
   * @param {() => Record<string, any>} instantiate makes a fresh instance
   * @param {(words: string) => void} onTrap is told the last words of an instance that broke, when
   *   the next one is ready
   * @param {() => void} [onEnd] an instance broke, and the next one is not there yet
   */
  constructor(instantiate, onTrap, onEnd = () => {}) {
    this.#onEnd = onEnd;
    this.#instantiate = instantiate;
    this.#onTrap = onTrap;
    this.#exports = this.#fresh();
  }

  /** Whether a call is under way: the component must not be entered again before it ends. */
  get busy() {
    return this.#busy;
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
    const call = this.#exports?.[name];
    if (!call) return undefined;
    this.#busy = true;
    try {
      return call(...parameters);
    } catch (error) {
      this.#replace(error);
      return undefined;
    } finally {
      this.#busy = false;
    }
  }

  /** Tries again to get an instance, if the last try failed. */
  revive() {
    if (this.#exports) return;
    try {
      this.#exports = this.#fresh();
    } catch {
      // It stays without an instance; the person was told when it broke.
    }
  }

  /** @param {unknown} error */
  #replace(error) {
    const words = this.#lastWords || String(error);
    this.#lastWords = "";
    this.#exports = undefined;
    this.#onEnd();
    this.revive();
    const restarted = this.#exports;
    if (restarted) {
      try {
        /** @type {Record<string, Function>} */ (restarted).handleEvent(moment(), { tag: "restarted" });
      } catch {
        this.#exports = undefined;
      }
    }
    this.#onTrap(words);
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
