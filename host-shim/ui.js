// The `pi:extension/ui` interface.
import { plainText, unlessFails } from "#sandbox";

import { BlockedStatus } from "./blocked-status.js";
import { exitsAfterPrompt } from "./context.js";
import { TerminalWatch } from "./terminal-watch.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("./interface.js").Imports["pi:extension/ui"]} UiImports */

export class Ui {
  #calls;
  #label;
  #watch;
  #blocked;
  /** Keys of the texts in the status bar. @type {Set<string>} */
  #statuses = new Set();
  /** @type {Set<string>} */
  #widgets = new Set();

  /**
   * @param {import("./load.js").Host} host
   * @param {import("./calls.js").Calls} calls
   * @param {string | undefined} label the name of a child for the user
   * @param {() => void} onTerminalInput
   */
  constructor({ tui, codingAgent }, calls, label, onTerminalInput) {
    this.#calls = calls;
    this.#label = label;
    this.#watch = new TerminalWatch(tui, onTerminalInput);
    this.#blocked = new BlockedStatus(codingAgent.VERSION);
  }

  /** @returns {UiImports} */
  imports() {
    /** @type {UiImports} */
    const functions = {
      notify: (message, level) => this.#notify(this.#calls.context, message, level),
      setStatus: (key, text) => {
        this.#calls.context.ui.setStatus(key, text === undefined ? undefined : plainText(text));
        if (text === undefined) this.#statuses.delete(key);
        else this.#statuses.add(key);
      },
      setWidget: (key, lines, placement) => {
        this.#calls.context.ui.setWidget(key, lines?.map(plainText), {
          placement: placement === "below-editor" ? "belowEditor" : "aboveEditor",
        });
        if (lines === undefined) this.#widgets.delete(key);
        else this.#widgets.add(key);
      },
      watchTerminal: (watch) => (watch ? this.#watch.start(this.#calls.context) : this.#watch.stop()),
      setBlocked: (message) =>
        this.#blocked.set(this.#calls.context, message === undefined ? undefined : plainText(message)),
    };
    return this.#calls.guarded(functions);
  }

  /**
   * Shows an error to the user, if there is a session.
   * @param {string} message
   */
  showError(message) {
    this.show(message, "error");
  }

  /**
   * Shows a message to the user, if there is a session.
   * @param {string} message
   * @param {Parameters<UiImports["notify"]>[1]} level
   */
  show(message, level) {
    const context = this.#calls.knownContext;
    if (context) unlessFails(() => this.#notify(context, message, level));
  }

  /** Ends with the session. */
  end() {
    this.#watch.stop();
    this.#blocked.clear();
  }

  /** Clears the texts and widgets of an instance that trapped. */
  clear() {
    this.#blocked.clear();
    unlessFails(() => {
      const { ui } = this.#calls.context;
      for (const key of this.#statuses) ui.setStatus(key, undefined);
      for (const key of this.#widgets) ui.setWidget(key, undefined);
    });
    this.#statuses.clear();
    this.#widgets.clear();
  }

  /**
   * @param {Context} context
   * @param {string} message
   * @param {Parameters<UiImports["notify"]>[1]} level
   */
  #notify(context, message, level) {
    // Elsewhere the user interface of a child adds the label.
    const label = this.#label === undefined ? "" : `${this.#label}: `;
    if (exitsAfterPrompt(context)) process.stderr.write(`${plainText(label + message)}\n`);
    else context.ui.notify(plainText(message), level);
  }
}
