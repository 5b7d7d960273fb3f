// Registers the guest's commands with pi.
import { exitsAfterPrompt } from "./context.js";
import { plainText } from "./plain-text.js";
import { moment } from "./guest.js";
import { onInterruptKey } from "./terminal-watch.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionCommandContext} CommandContext */

export class Commands {
  /** Names of the registered commands. @type {Set<string>} */
  #names = new Set();
  #pi;
  #host;
  #guest;
  #calls;
  #requests;
  #widgetKey;

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
   * @param {import("./load.js").Host} host
   * @param {import("./load.js").Manifest} manifest
   * @param {import("./guest.js").Guest} guest
   * @param {import("./calls.js").Calls} calls
   * @param {import("./requests.js").Requests} requests
   */
  constructor(pi, host, manifest, guest, calls, requests) {
    this.#pi = pi;
    this.#host = host;
    this.#widgetKey = `${manifest.name}:running`;
    this.#guest = guest;
    this.#calls = calls;
    this.#requests = requests;
  }

  /** @param {import("./interface.js").Command} command */
  register({ name, description }) {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    this.#pi.registerCommand(name, {
      description,
      getArgumentCompletions: (prefix) => {
        const completions = this.#calls.callNow("completeArgument", name, prefix);
        return completions?.length ? completions.map(plainCompletion) : null;
      },
      handler: async (parameters, context) => {
        this.#startAgain(context);
        const outcome = this.#calls.call(context, "runCommand", moment(), name, parameters ?? "");
        const result = await this.#requests.complete(
          context,
          outcome,
          (ticket, answer) => this.#calls.call(context, "resumeCommand", moment(), ticket, answer),
          this.#progress(context),
        );
        if (result?.tag === "settle") await settled(context);
      },
    });
  }

  /**
   * Starts the guest again if it is switched off.
   * @param {CommandContext} context
   */
  #startAgain(context) {
    if (!this.#guest.off) return;
    this.#calls.context = context;
    this.#guest.startAgain(true);
  }

  /**
   * Shows the progress of a command line above the editor. pi's interrupt key stops the command line.
   *
   * @param {CommandContext} context
   * @returns {import("./requests.js").Progress}
   */
  #progress(context) {
    const { tui, codingAgent } = this.#host;
    return {
      show: (text) => {
        const hint = context.mode === "tui" ? ` · ${codingAgent.keyText("app.interrupt")} stops it` : "";
        context.ui.setWidget(this.#widgetKey, [text + hint]);
      },
      begin: (stop) => {
        const unsubscribe = onInterruptKey(tui, context, stop);
        return () => {
          try {
            unsubscribe();
            context.ui.setWidget(this.#widgetKey, undefined);
          } catch {
            // The session no longer exists, and neither do its widgets.
          }
        };
      },
    };
  }
}

/**
 * Waits until the agent is idle, in modes in which pi would exit after the command. The agent starts a moment after a
 * prompt was sent to it.
 *
 * @param {CommandContext} context
 */
async function settled(context) {
  if (!exitsAfterPrompt(context)) return;
  await new Promise((resolve) => setTimeout(resolve, 0));
  await context.waitForIdle();
}

/**
 * Removes control characters from the texts of a completion.
 * @param {import("./interface.js").Completion} completion
 */
function plainCompletion({ value, label, description }) {
  return { value: plainText(value), label: plainText(label), description: description && plainText(description) };
}
