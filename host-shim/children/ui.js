// The user interface of a child: the dialogs and notifications of its parent, which begin with the child's label.
// Everything else has no effect.
import { plainText, unlessFails } from "#sandbox";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {Context["ui"]} Ui */

/** The dialogs, whose first argument is their title and whose last are options with a signal. */
const DIALOGS = ["select", "confirm", "input"];

/**
 * @param {Context} parent
 * @param {string} label begins with words of the component; names in it are quoted
 * @param {import("../turns.js").Turns} turns
 * @param {AbortSignal} signal closes its dialogs
 * @returns {Ui}
 */
export function childUi(parent, label, turns, signal) {
  const before = (/** @type {unknown} */ text) => `${plainText(label)}: ${plainText(String(text))}`;
  /** @param {"select" | "confirm" | "input"} name */
  const dialog =
    (name) => async (/** @type {unknown} */ title, /** @type {any} */ argument, /** @type {any} */ options) => {
      const signals = [signal, options?.signal].filter((one) => one !== undefined);
      const any = AbortSignal.any(signals);
      const turn = turns.next(any);
      try {
        await turn.ready;
        if (any.aborted) return name === "confirm" ? false : undefined;
        const show = /** @type {(title: string, argument: unknown, options: unknown) => Promise<unknown>} */ (
          parent.ui[name]
        );
        return await show.call(parent.ui, before(title), argument, { ...options, signal: any });
      } finally {
        turn.end();
      }
    };
  /** @type {Record<string, unknown>} */
  const functions = {
    ...Object.fromEntries(DIALOGS.map((name) => [name, dialog(/** @type {"select"} */ (name))])),
    notify: (/** @type {unknown} */ message, /** @type {any} */ level) =>
      unlessFails(() => parent.ui.notify(before(message), level)),
    onTerminalInput: () => () => {},
    custom: async () => undefined,
    editor: async () => undefined,
    getEditorText: () => "",
    getAllThemes: () => [],
    getTheme: () => undefined,
    setTheme: () => ({ success: false, error: "not in a child" }),
    getToolsExpanded: () => false,
    getEditorComponent: () => undefined,
  };
  // pi copies the properties.
  const others = Object.keys(parent.ui).filter((name) => !Object.hasOwn(functions, name) && name !== "theme");
  const silent = Object.fromEntries(others.map((name) => [name, () => undefined]));
  return /** @type {Ui} */ (/** @type {unknown} */ ({ ...silent, ...functions, theme: parent.ui.theme }));
}
