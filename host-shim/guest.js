// Supervises a component; restarts it after a trap.
//
// A panic in the guest traps: the call throws, and its instance must not be used any more. A new instance replaces it
// and restores its state from the session. The call that trapped returns no result; the caller then takes the safe
// action. A component that traps repeatedly is switched off: it gets no new instance.
import { look } from "./clock.js";
import { INTERFACE_VERSION } from "./interface.js";

/** @typedef {import("./interface.js").GuestExports} GuestExports */

/** The component is switched off after this many traps without a successful call between them. */
const MAX_TRAPS = 3;

const GUEST = "pi:extension/guest@";

export class Guest {
  /** The exports of the current instance. @type {GuestExports | undefined} */
  #exports;
  #busy = false;
  #begun = false;
  /** The message of the last panic. */
  #panic = "";
  /** The number of traps since the last successful call. */
  #traps = 0;
  #instantiate;
  #onTrap;
  #onEnd;

  /**
   * @param {() => import("./interface.js").Exports} instantiate creates an instance
   * @param {(message: string, off: boolean) => void} onTrap receives the message of a trap when the next instance is
   *   ready, or when the component is switched off
   * @param {() => void} [onEnd] called after a trap, before the next instance is created
   */
  constructor(instantiate, onTrap, onEnd = () => {}) {
    this.#onEnd = onEnd;
    this.#instantiate = instantiate;
    this.#onTrap = onTrap;
  }

  /** Creates the first instance. Otherwise the first call creates it. */
  start() {
    this.#begun = true;
    try {
      this.#exports = this.#instance();
    } catch (error) {
      throw this.#panic ? new Error(this.#panic, { cause: error }) : error;
    }
  }

  /** True during a call: the component must not be entered again before it returns. */
  get busy() {
    return this.#busy;
  }

  /** True if the component is switched off: it trapped too often, or could not be started. */
  get off() {
    return this.#begun && !this.#exports && !this.#busy;
  }

  /** True once the first instance was requested. */
  get begun() {
    return this.#begun;
  }

  /** @param {string} message the message of a panic, which a trap follows */
  logPanic(message) {
    this.#panic = message;
  }

  /**
   * Calls an export. Returns `undefined` if the instance traps, or if there is no instance.
   * @template {keyof GuestExports} Name
   * @param {Name} name
   * @param {Parameters<GuestExports[Name]>} parameters
   * @returns {ReturnType<GuestExports[Name]> | undefined}
   */
  call(name, ...parameters) {
    if (!this.#begun) this.#begin();
    const call =
      /** @type {((...parameters: Parameters<GuestExports[Name]>) => ReturnType<GuestExports[Name]>) | undefined} */ (
        this.#exports?.[name]
      );
    if (!call) return undefined;
    this.#busy = true;
    try {
      const result = call(...parameters);
      this.#traps = 0;
      return result;
    } catch (error) {
      this.#trapped(error);
      return undefined;
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Creates an instance again if the component is switched off.
   * @param {boolean} restore true if it must restore its state now; otherwise an event that restores it follows
   */
  startAgain(restore) {
    if (this.off) this.#attempt(() => this.#restart(restore));
  }

  #begin() {
    this.#begun = true;
    this.#attempt(() => (this.#exports = this.#instance()));
  }

  /** @param {() => unknown} start */
  #attempt(start) {
    this.#busy = true;
    try {
      start();
    } catch (error) {
      this.#onTrap(this.#messageOf(error), true);
    } finally {
      this.#busy = false;
    }
  }

  /** @param {unknown} error */
  #trapped(error) {
    this.#exports = undefined;
    this.#traps += 1;
    const message = this.#messageOf(error);
    this.#onEnd();
    while (!this.#exports && this.#traps < MAX_TRAPS) {
      try {
        this.#restart(true);
      } catch {
        // Another trap: the message of the first one is reported.
        this.#panic = "";
      }
    }
    this.#onTrap(message, !this.#exports);
  }

  /** @param {boolean} restore */
  #restart(restore) {
    try {
      const instance = this.#instance();
      if (restore) instance.handleEvent(moment(), { tag: "restarted" });
      this.#exports = instance;
    } catch (error) {
      this.#traps += 1;
      this.#onEnd();
      throw error;
    }
  }

  /** @param {unknown} error */
  #messageOf(error) {
    const message = this.#panic || String(error);
    this.#panic = "";
    return message;
  }

  #instance() {
    const all = /** @type {Record<string, any>} */ (this.#instantiate());
    const name = Object.keys(all).find((key) => key.startsWith(GUEST));
    if (name === undefined)
      throw new Error("The component is not a pi extension: it does not export pi:extension/guest.");
    const version = name.slice(GUEST.length);
    if (version !== INTERFACE_VERSION) throw mismatch(version);
    const exported = /** @type {GuestExports} */ (all[name]);
    try {
      exported.init({ interfaceVersion: version });
    } catch (/** @type {any} */ error) {
      throw error?.payload?.tag === "version-mismatch" ? mismatch(error.payload.val) : error;
    }
    return exported;
  }
}

/** @param {string} version */
function mismatch(version) {
  return new Error(`The component implements pi:extension ${version}, pi's side implements ${INTERFACE_VERSION}.`);
}

/**
 * Returns the timestamp and random bits supplied with a call. A `time-skipped` event comes before the call.
 * @returns {import("../target/types/interfaces/pi-extension-types.js").Moment}
 */
export function moment() {
  look();
  return {
    unixMs: BigInt(Date.now()),
    random: crypto.getRandomValues(new BigUint64Array(1))[0],
  };
}
