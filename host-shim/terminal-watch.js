// Reports that the user types, without the input itself.

/** Input that the user did not type: answers to queries, changes of focus, mouse events. */
// eslint-disable-next-line no-control-regex
const NOT_TYPED = /^\x1b(?:\[[?<>][\d;:]*[a-zA-Z$]|\[[\d;]*[IORnt]|\[M|[\]P_^].)/s;

/**
 * Calls a function when pi's interrupt key is pressed. Has no effect outside a terminal.
 * @param {typeof import("@earendil-works/pi-tui")} tui
 * @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context
 * @param {() => boolean} onInterrupt returns true to consume the key
 * @returns {() => void} removes the listener
 */
export function onInterruptKey(tui, context, onInterrupt) {
  if (context.mode !== "tui") return () => {};
  return context.ui.onTerminalInput((data) => {
    if (tui.isKeyRelease(data) || !isInterrupt(tui, data)) return undefined;
    return onInterrupt() ? { consume: true } : undefined;
  });
}

/** @param {typeof import("@earendil-works/pi-tui")} tui @param {string} data */
const isInterrupt = (tui, data) =>
  tui.getKeybindings().matches(data, /** @type {import("@earendil-works/pi-tui").Keybinding} */ ("app.interrupt"));

export class TerminalWatch {
  /** @type {(() => void) | undefined} */
  #unsubscribe;
  #tui;
  #onInput;

  /**
   * @param {typeof import("@earendil-works/pi-tui")} tui
   * @param {(interrupts: boolean) => void} onInput called with true for pi's interrupt key
   */
  constructor(tui, onInput) {
    this.#tui = tui;
    this.#onInput = onInput;
  }

  /** @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context */
  start(context) {
    if (this.#unsubscribe || context.mode !== "tui") return;
    this.#unsubscribe = context.ui.onTerminalInput((data) => {
      if (!NOT_TYPED.test(data) && !this.#tui.isKeyRelease(data)) this.#onInput(isInterrupt(this.#tui, data));
      return undefined;
    });
  }

  stop() {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }
}
