// Shows the dialogs of requests to the user, one after another.
import { plainText } from "#sandbox";

import { Turns } from "./turns.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("./interface.js").Answer} Answer */
/** @typedef {Exclude<import("./interface.js").Request, { tag: "exec" | "children" }>} Question */

/** @type {Answer} */
const CANCELLED = { tag: "cancelled" };

export class Dialogs {
  /** The turns of the dialogs, also of children. */
  turns = new Turns();

  /**
   * Shows a dialog and returns the answer. The signal closes the dialog.
   * @param {Context} context
   * @param {Question} question
   * @param {AbortSignal} signal
   * @returns {Promise<Answer>}
   */
  async ask(context, question, signal) {
    const turn = this.turns.next(signal);
    try {
      if (!context.hasUI) return { tag: "no-ui" };
      // Some versions of pi's terminal interface lose a dialog if another one is opened over it.
      if (context.mode === "tui") await turn.ready;
      const answer = signal.aborted ? CANCELLED : await show(context.ui, question, signal);
      return signal.aborted ? CANCELLED : answer;
    } catch {
      return CANCELLED;
    } finally {
      turn.end();
    }
  }
}

/**
 * @param {Context["ui"]} ui
 * @param {Question} question
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
async function show(ui, question, signal) {
  const title = plainText(question.val.title);
  switch (question.tag) {
    case "confirm": {
      const yes = await ui.confirm(title, plainText(question.val.message), { signal });
      return { tag: "confirmed", val: yes === true };
    }
    case "select": {
      const options = question.val.options.map((option) => plainText(option).replaceAll("\n", " "));
      const index = options.indexOf(/** @type {string} */ (await ui.select(title, options, { signal })));
      return index < 0 ? CANCELLED : { tag: "selected", val: index };
    }
    case "input": {
      const text = await ui.input(title, plainText(question.val.placeholder), { signal });
      return typeof text === "string" ? { tag: "entered", val: text } : CANCELLED;
    }
  }
}
