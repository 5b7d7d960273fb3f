// The `pi:extension/ui` interface.
import { plainText, unlessFails } from "#sandbox";

import { BlockedStatus } from "./blocked-status.js";
import { exitsAfterPrompt } from "./context.js";
import { TerminalWatch } from "./terminal-watch.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("./interface.js").Imports["pi:extension/ui"]} UiImports */

/** Maximum number of lines that pi shows of a list of lines. */
const MAX_LISTED = 10;

/**
 * Sets or clears a widget. Of a list of lines pi shows the first ones only, so in a terminal more lines are a component.
 * @param {typeof import("@earendil-works/pi-tui")} tui
 * @param {Context} context
 * @param {string} key
 * @param {string[] | undefined} lines without control characters
 * @param {Parameters<Context["ui"]["setWidget"]>[2]} [options]
 */
export function setWidget(tui, { ui, mode }, key, lines, options) {
  if (mode !== "tui" || lines === undefined || lines.length <= MAX_LISTED) return ui.setWidget(key, lines, options);
  const component = () => {
    const container = new tui.Container();
    for (const line of lines) container.addChild(new tui.Text(line, 1, 0));
    return container;
  };
  return ui.setWidget(key, component, options);
}

export class Ui {
  #calls;
  #tui;
  #label;
  #watch;
  #blocked;
  /** Keys of the texts in the status bar. @type {Set<string>} */
  #statuses = new Set();
  /** @type {Set<string>} */
  #widgets = new Set();
  #isBeginning = false;

  /**
   * @param {import("./load.js").Host} host
   * @param {import("./calls.js").Calls} calls
   * @param {string | undefined} label the name of a child for the user
   * @param {(interrupts: boolean) => void} onTerminalInput
   */
  constructor({ tui, codingAgent }, calls, label, onTerminalInput) {
    this.#calls = calls;
    this.#tui = tui;
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
        setWidget(this.#tui, this.#calls.context, key, lines?.map(plainText), {
          placement: placement === "below-editor" ? "belowEditor" : "aboveEditor",
        });
        if (lines === undefined) this.#widgets.delete(key);
        else this.#widgets.add(key);
      },
      terminalSize: () => {
        const { columns, rows: lines } = process.stdout;
        return this.#calls.context.mode === "tui" && columns > 0 && lines > 0 ? { columns, lines } : undefined;
      },
      watchTerminal: (watch) => (watch ? this.#watch.start(this.#calls.context) : this.#watch.stop()),
      setBlocked: (message) =>
        this.#blocked.set(this.#calls.context, message === undefined ? undefined : plainText(message)),
    };
    return this.#calls.guarded(functions);
  }

  /** Shows an error to the user, if there is a session. @param {string} message */
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

  /**
   * Calls a function that begins a session. In a terminal its notices follow when pi has drawn the messages of the session, which
   * would stand below them.
   * @template T
   * @param {() => T} begin
   */
  beginning(begin) {
    this.#isBeginning = true;
    try {
      return begin();
    } finally {
      this.#isBeginning = false;
    }
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
    const tell = () => context.ui.notify(plainText(message), level);
    if (exitsAfterPrompt(context) && !context.hasUI) process.stderr.write(`${plainText(label + message)}\n`);
    else if (this.#isBeginning && context.mode === "tui") setTimeout(() => unlessFails(tell));
    else tell();
  }
}
