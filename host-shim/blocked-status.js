// Shows in pi's terminal that pi waits for the user where no dialog is open.

/**
 * The first version of pi in which an overlay component can report the wait: pi sends OSC 7501 with `blocked`.
 * @type {[number, number, number]}
 */
const SINCE = [1, 5, 1];

export class BlockedStatus {
  /** @type {(() => void) | undefined} */
  #close;
  #isSupported;

  /** @param {string} version the version of pi */
  constructor(version) {
    this.#isSupported = isAtLeast(version, SINCE);
  }

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context
   * @param {string | undefined} message the reason for which pi waits; `undefined` if pi does not wait
   */
  set(context, message) {
    this.clear();
    if (message === undefined || context.mode !== "tui" || !this.#isSupported) return;
    // Not every version of pi knows `blocked`.
    const options = {
      overlay: true,
      overlayOptions: { nonCapturing: true, visible: () => false },
      blocked: { kind: "question", message },
    };
    /** @type {Promise<void>} */
    const shown = context.ui.custom((_tui, _theme, _keys, done) => {
      this.#close = () => done(undefined);
      return { render: () => [], invalidate: () => {} };
    }, options);
    // Nothing is lost if pi cannot show the status.
    shown.catch(() => {});
  }

  clear() {
    this.#close?.();
    this.#close = undefined;
  }
}

/**
 * Returns true if a version of pi is `least` or a later one.
 *
 * @param {string} version
 * @param {[number, number, number]} least
 */
export function isAtLeast(version, least) {
  const numbers = version.split(".", 3).map((part) => Number.parseInt(part, 10));
  for (const [index, number] of least.entries()) {
    const own = numbers[index] ?? 0;
    if (own !== number) return own > number;
  }
  return true;
}
