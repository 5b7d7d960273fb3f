// Registers the guest's commands with pi.
import { messageOf, plainText, unlessFails } from "#sandbox";

import { exitsAfterPrompt } from "./context.js";
import { moment } from "./guest.js";
import { onInterruptKey } from "./terminal-watch.js";
import { setWidget } from "./ui.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionCommandContext} CommandContext */

/**
 * @param {import("./extension.js").Parts} parts
 * @param {import("./interface.js").Command} command
 */
export function registerCommand({ pi, host, manifest, guest, calls, requests, joined }, { name, description }) {
  joined?.watch(name);
  pi.registerCommand(name, {
    description,
    getArgumentCompletions: (prefix) => {
      const completions = calls.callNow("completeArgument", name, prefix);
      return completions?.length ? completions.map(plainCompletion) : null;
    },
    handler: async (parameters, context) => {
      if (joined?.refuses(name, parameters ?? "", context)) return;
      if (guest.off) {
        calls.context = context;
        guest.startAgain(true);
      }
      const outcome = calls.call(context, "runCommand", moment(), name, parameters ?? "");
      // pi's terminal takes no other input before the handler has returned: work of children goes on behind it.
      const { promise: goesOn, resolve: goOn } = Promise.withResolvers();
      let isBehind = false;
      const progress = progressAbove(context, host, `${manifest.name}:running`, () => isBehind);
      const work = requests.complete(
        context,
        outcome,
        (ticket, answer) => calls.call(context, "resumeCommand", moment(), ticket, answer),
        {
          ...progress,
          childrenWork: () => {
            isBehind = context.mode === "tui";
            if (isBehind) goOn(undefined);
          },
        },
      );
      work.catch((error) => isBehind && unlessFails(() => context.ui.notify(plainText(messageOf(error)), "error")));
      const result = await Promise.race([work, goesOn]);
      if (result?.tag === "settle") await settled(context);
    },
  });
}

/**
 * Goes on with work of the guest that an event has begun, while pi goes on.
 * @param {import("./extension.js").Parts} parts
 * @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context
 * @param {{ tag: "pending", val: import("./interface.js").Pending }} outcome
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
 * @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context
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
 * Waits until the agent is idle, in modes in which pi would exit after the command. The agent starts a moment after a
 * prompt was sent to it.
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
