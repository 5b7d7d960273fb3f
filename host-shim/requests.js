// Fulfils the guest's pending requests and resumes it with the answers.
import { OutputFile, plainText, runCommandLine, unlessFails } from "#sandbox";

import { Dialogs } from "./dialogs.js";
import { createFile } from "./folders.js";
import { userShell } from "./shell.js";
import { Turns } from "./turns.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("./interface.js").Answer} Answer */
/** @typedef {import("../target/types/interfaces/pi-extension-guest.js").CommandLine} CommandLine */
/** @typedef {import("../target/types/interfaces/pi-extension-guest.js").CommandOutcome} CommandOutcome */
/** @typedef {import("./interface.js").Request} Request */
/** @typedef {import("../target/types/interfaces/pi-extension-guest.js").ToolOutcome} ToolOutcome */

/**
 * Shows the progress of a command line.
 * @typedef {object} Progress
 * @property {(stop: () => void) => () => void} begin lets the user stop the command line; returns a function that
 *   withdraws this and hides the progress
 * @property {(text: string) => void} show
 * @property {() => unknown} [childrenWork] called when the wait for children begins
 */

export class Requests {
  /** @type {Set<{ ticket: bigint, controller: AbortController }>} */
  #pending = new Set();
  #dialogs = new Dialogs();
  #children;
  #folderSession;
  #label;
  /** Aborts with the session, and with the instance if it traps. */
  #session = new AbortController();
  #codingAgent;
  #shell;
  #execGranted;
  #foldersGrant;

  /**
   * @param {import("./load.js").Host} host
   * @param {import("./manifest.js").Manifest} manifest
   * @param {() => import("./children/children.js").Children} children
   * @param {import("./extension.js").ChildOf} [childOf]
   * @param {() => import("./shell.js").UserShell} [shell]
   */
  constructor({ codingAgent }, { exec, folders }, children, childOf, shell = () => ({})) {
    this.#shell = shell;
    this.#children = children;
    this.#folderSession = childOf?.session;
    this.#label = childOf?.label;
    this.commandTurns = childOf?.commands ?? new Turns();
    this.#codingAgent = codingAgent;
    this.#execGranted = exec;
    this.#foldersGrant = folders;
  }

  get turns() {
    return this.#dialogs.turns;
  }

  /**
   * Fulfils requests until the guest's work is complete. Returns `undefined` if the instance trapped or the session
   * ended.
   * @template {ToolOutcome | CommandOutcome} Outcome
   * @param {Context} context
   * @param {import("./calls.js").Eventually<Outcome | undefined>} outcome
   * @param {(ticket: bigint, answer: Answer) => import("./calls.js").Eventually<Outcome | undefined>} resume
   * @param {Progress} progress
   * @param {AbortSignal} [signal] cancels the pending request
   * @returns {Promise<Exclude<Outcome, { tag: "pending" }> | undefined>}
   */
  async complete(context, outcome, resume, progress, signal) {
    let result = outcome instanceof Promise ? await outcome : outcome;
    const session = this.#session.signal;
    while (result?.tag === "pending") {
      if (session.aborted) return undefined;
      const { ticket, request } = result.val;
      const answer = await this.#fulfil(context, ticket, request, signal ? [session, signal] : [session], progress);
      result = session.aborted ? undefined : await resume(ticket, answer);
    }
    return /** @type {Exclude<Outcome, { tag: "pending" }> | undefined} */ (result);
  }

  /** Cancels the pending request with this ticket. @param {bigint} ticket */
  cancel(ticket) {
    for (const pending of this.#pending) if (pending.ticket === ticket) pending.controller.abort();
  }

  /** Cancels all requests without an answer: their session ended, or their instance trapped. */
  drop() {
    this.#session.abort();
    this.#session = new AbortController();
  }

  /**
   * @param {Context} context
   * @param {bigint} ticket
   * @param {Request} request
   * @param {AbortSignal[]} signals each signal cancels the request
   * @param {Progress} progress
   * @returns {Promise<Answer>}
   */
  async #fulfil(context, ticket, request, signals, progress) {
    const controller = new AbortController();
    const pending = { ticket, controller };
    const signal = AbortSignal.any([controller.signal, ...signals]);
    this.#pending.add(pending);
    try {
      if (request.tag === "children") {
        const children = this.#children();
        if (!children.isGranted) return { tag: "not-granted" };
        const end = progress.begin(() => controller.abort());
        progress.childrenWork?.();
        try {
          return { tag: "children-ended", val: await children.wait(request.val, progress.show, signal) };
        } finally {
          if (!this.#session.signal.aborted) end();
        }
      }
      if (request.tag !== "exec") return await this.#dialogs.ask(context, request, signal);
      if (!this.#execGranted) return { tag: "not-granted" };
      return { tag: "ran", val: await this.#exec(context, request.val, signal, progress, () => controller.abort()) };
    } finally {
      this.#pending.delete(pending);
    }
  }

  /**
   * @param {Context} context
   * @param {CommandLine} commandLine
   * @param {AbortSignal} signal
   * @param {Progress} progress
   * @param {() => void} stop
   */
  async #exec(context, commandLine, signal, progress, stop) {
    const text = plainText(
      this.#label === undefined ? commandLine.progress : `${this.#label}: ${commandLine.progress}`,
    );
    const turn = this.commandTurns.next(signal);
    const end = progress.begin(stop);
    let stopShowing = showSeconds(turn.waits ? `${text} · waits for another command` : text, progress.show);
    const hide = () => {
      stopShowing();
      end();
    };
    // Immediately when the session ends: afterwards its user interface cannot be changed.
    signal.addEventListener("abort", hide, { once: true });
    if (signal.aborted) hide();
    try {
      await turn.ready;
      if (turn.waits && !signal.aborted) {
        stopShowing();
        stopShowing = showSeconds(text, progress.show);
      }
      const shell = () => userShell(this.#codingAgent, this.#shell(), context.cwd);
      return await runCommandLine(shell, commandLine, signal, this.#outputFile(context, commandLine.outputFile));
    } finally {
      turn.end();
      if (!signal.aborted) hide();
    }
  }

  /** @param {Context} context @param {CommandLine["outputFile"]} wanted */
  #outputFile(context, wanted) {
    if (!wanted) return undefined;
    const { key, name } = wanted;
    const place = {
      context,
      session: this.#folderSession,
      grant: this.#foldersGrant,
      configDirName: this.#codingAgent.CONFIG_DIR_NAME,
      key,
    };
    return new OutputFile(() => createFile(place, name));
  }
}

/**
 * Shows a text with the elapsed seconds, now and every second until the returned function is called.
 * @param {string} text
 * @param {(text: string) => void} show
 */
export function showSeconds(text, show) {
  const start = performance.now();
  const tick = () => unlessFails(() => show(`${text} · ${Math.round((performance.now() - start) / 1000)} s`));
  tick();
  const interval = setInterval(tick, 1000);
  return () => clearInterval(interval);
}
