// Registers the guest's commands with pi.
import { messageOf, plainText, unlessFails } from "#sandbox";

import { exitsAfterPrompt } from "./context.js";
import { moment } from "./guest.js";
import { onInterruptKey } from "./terminal-watch.js";
import { setWidget } from "./ui.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionCommandContext} CommandContext */

/** The time between two looks for work that goes on behind a command, in milliseconds. */
const LOOK = 50;

/** The commands of the guest. */
export class Commands {
  #parts;
  #timers;
  /** Runs a command, by name. @type {Map<string, (parameters: string, context: Context, isOwn: boolean) => Promise<unknown>>} */
  #runners = new Map();
  /** The number of commands that the guest has run itself and that have not ended. */
  #own = 0;

  /** @param {import("./extension.js").Parts} parts @param {import("./timers.js").Timers} timers */
  constructor(parts, timers) {
    this.#parts = parts;
    this.#timers = timers;
  }

  /** @returns {Pick<import("./interface.js").Imports["pi:extension/api"], "runCommand">} */
  imports() {
    return {
      runCommand: (name, parameters) => {
        const run = this.#runners.get(name);
        if (!run) throw new Error(`The command /${name} is not registered.`);
        const { context } = this.#parts.calls;
        this.#own += 1;
        void Promise.resolve()
          .then(() => run(parameters, context, true))
          .catch((error) => unlessFails(() => context.ui.notify(plainText(messageOf(error)), "error")))
          .finally(() => (this.#own -= 1));
      },
    };
  }

  /** @param {import("../target/types/interfaces/pi-extension-api.js").Command} command */
  register({ name, description }) {
    const { pi, guest, calls, joined, begin, settled } = this.#parts;
    joined?.watch(name);
    this.#runners.set(name, (parameters, context, isOwn) => this.#run(name, parameters, context, isOwn));
    pi.registerCommand(name, {
      description,
      getArgumentCompletions: (prefix) => {
        const completions = calls.callNow("completeArgument", name, prefix);
        return completions?.length ? completions.map(plainCompletion) : null;
      },
      handler: async (parameters, context) => {
        if (joined?.refuses(name, parameters ?? "", context)) return;
        const begun = begin(context);
        if (begun) await begun;
        if (guest.off) {
          calls.context = context;
          guest.startAgain(true);
        }
        // A command may leave what the killed commands belong to.
        const settling = settled();
        if (settling) await settling;
        const result = await this.#run(name, parameters ?? "", context, false);
        if (result?.tag === "settle") await this.#settled(context);
      },
    });
  }

  /**
   * Runs a command up to its end; in a terminal, up to the beginning of the work of children.
   * @param {string} name
   * @param {string} parameters
   * @param {Context} context
   * @param {boolean} isOwn the guest runs it
   */
  async #run(name, parameters, context, isOwn) {
    const { host, manifest, calls, requests } = this.#parts;
    const outcome = calls.call(context, "runCommand", moment(), name, parameters);
    // pi's terminal takes no other input before the handler has returned: work of children goes on behind it.
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers();
    let isBehind = isOwn;
    const progress = progressAbove(context, host, `${manifest.name}:running`, () => isBehind);
    const work = requests.complete(
      context,
      outcome,
      (ticket, answer) => calls.call(context, "resumeCommand", moment(), ticket, answer),
      {
        ...progress,
        childrenWork: () => {
          isBehind ||= context.mode === "tui";
          if (isBehind && !isOwn) goOn(undefined);
        },
      },
    );
    work.catch(
      (error) => isBehind && !isOwn && unlessFails(() => context.ui.notify(plainText(messageOf(error)), "error")),
    );
    return Promise.race([work, goesOn]);
  }

  /**
   * Waits until the agent is idle and nothing is left that could prompt it, in modes in which pi would exit after the
   * command. The agent starts a moment after a prompt was sent to it.
   * @param {CommandContext} context
   */
  async #settled(context) {
    if (!exitsAfterPrompt(context)) return;
    for (let goesOn = true; goesOn;) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      await context.waitForIdle();
      // In a program that embeds pi, `waitForIdle` may do nothing.
      for (goesOn = false; !context.isIdle() || this.#own > 0 || this.#timers.areRunning; goesOn = true)
        await new Promise((resolve) => setTimeout(resolve, LOOK));
    }
  }
}

/**
 * Goes on with work of the guest that an event has begun, while pi goes on.
 * @param {import("./extension.js").Parts} parts
 * @param {Context} context
 * @param {{ tag: "pending", val: import("../target/types/interfaces/pi-extension-guest.js").Pending }} outcome
 */
export function goOnBehind({ host, manifest, calls, requests }, context, outcome) {
  const resume = (/** @type {bigint} */ ticket, /** @type {import("./interface.js").Answer} */ answer) =>
    calls.call(context, "resumeCommand", moment(), ticket, answer);
  const progress = progressAbove(context, host, `${manifest.name}:running`, () => true);
  requests
    .complete(context, outcome, resume, progress)
    .catch((error) => unlessFails(() => context.ui.notify(plainText(messageOf(error)), "error")));
}

/**
 * Shows the progress of a command line above the editor. pi's interrupt key stops the command line. Behind the
 * command, the key is for the agent at work, or for the text in the editor, if there is any.
 * @param {Context} context
 * @param {import("./load.js").Host} host
 * @param {string} widget the key of the widget
 * @param {() => boolean} isBehind the handler of the command has returned
 * @returns {import("./requests.js").Progress}
 */
function progressAbove(context, { tui, codingAgent }, widget, isBehind) {
  const isForOthers = () => isBehind() && (!context.isIdle() || context.ui.getEditorText() !== "");
  return {
    show: (text) => {
      const hint = context.mode === "tui" ? ` · ${codingAgent.keyText("app.interrupt")} stops it` : "";
      setWidget(tui, context, widget, (text + hint).split("\n"));
    },
    begin: (stop) => {
      const unsubscribe = onInterruptKey(tui, context, () => !isForOthers() && (stop(), true));
      return () =>
        unlessFails(() => {
          unsubscribe();
          context.ui.setWidget(widget, undefined);
        });
    },
  };
}

/**
 * Removes control characters from the texts of a completion.
 * @param {import("../target/types/interfaces/pi-extension-guest.js").Completion} completion
 */
function plainCompletion({ value, label, description }) {
  return { value: plainText(value), label: plainText(label), description: description && plainText(description) };
}
