// In the terminal of pi before 1.4 a new dialog replaces the open dialog, which is then never answered. For these
// versions the dialogs of all extensions are shown one after another, and a replaced dialog is shown again.
import { isAtLeast } from "./blocked-status.js";
import { Turns } from "./turns.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext["ui"]} Ui */

/** The first version of pi that keeps all open dialogs. @type {[number, number, number]} */
const SINCE = [1, 4, 0];

/**
 * Returns the dialogs to which a session binds its extensions.
 *
 * @param {string} version the version of pi
 * @param {{ mode?: string, uiContext?: Ui }} bindings
 */
export function dialogsFor(version, { mode, uiContext }) {
  return mode === "tui" && uiContext && !isAtLeast(version, SINCE) ? oneAtATime(uiContext) : uiContext;
}

/** @param {Ui} ui @returns {Ui} */
export function oneAtATime(ui) {
  const turns = new Turns();
  /** Shows the open dialog again. @type {(() => void) | undefined} */
  let showAgain;
  /** @param {"select" | "confirm" | "input" | "editor"} name */
  const dialog =
    (name) =>
    async (/** @type {any[]} */ ...parameters) => {
      const signal = parameters[2]?.signal;
      const turn = turns.next(signal);
      /** @type {typeof showAgain} */
      let show;
      try {
        await turn.ready;
        if (signal?.aborted) return name === "confirm" ? false : undefined;
        return await new Promise((resolve, reject) => {
          const shown = /** @type {(...parameters: any[]) => Promise<unknown>} */ (ui[name]);
          show = showAgain = () => void shown(...parameters).then(resolve, reject);
          show();
        });
      } finally {
        if (showAgain === show) showAgain = undefined;
        turn.end();
      }
    };
  /** @type {(factory: any, options?: any) => Promise<any>} */
  const custom = async (factory, options) => {
    try {
      return await ui.custom(factory, options);
    } finally {
      if (!options?.overlay) showAgain?.();
    }
  };
  const dialogs = { select: dialog("select"), confirm: dialog("confirm"), input: dialog("input") };
  return /** @type {Ui} */ (/** @type {unknown} */ ({ ...ui, ...dialogs, editor: dialog("editor"), custom }));
}
