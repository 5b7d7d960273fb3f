// The user's input to a run from a terminal: answers to the questions of pi, and messages when the run waits for one.
import { reportOf } from "../runs/report.js";
import { ask, line } from "./questions.js";

/** @typedef {import("../runs/find.js").Run} Run */
/** @typedef {import("./pi.js").Pi} Pi */
/** @typedef {import("./pi.js").PiRecord} PiRecord */

/** The time after the agent has come to rest in which a countdown begins, in milliseconds. */
const COUNTDOWN_BEGINS = 300;
/** The time between two looks at a run that waits for the end of a limit, in milliseconds. */
const WAIT_LOOK = 5000;
/** The key of the countdown's widget. */
const COUNTDOWN = "workflow-countdown";

/** The questions of pi, and the waits of the run, in a terminal. */
export class Conversation {
  #progress;
  #signal;
  #newestRun;
  #hasCountdown = false;
  #isAtWork = false;
  /** The number of messages of the user. */
  #sent = 0;
  /** Aborts when the agent begins to work while the user is asked for a message. */
  #waiting = new AbortController();
  /** The next look at the run at rest. @type {NodeJS.Timeout | undefined} */
  #look;
  /** Questions one after another. */
  #turn = Promise.resolve();

  /**
   * @param {import("./progress.js").Progress} progress
   * @param {AbortSignal} signal ends a question without an answer
   * @param {() => Run | undefined} newestRun
   */
  constructor(progress, signal, newestRun) {
    this.#progress = progress;
    this.#signal = signal;
    this.#newestRun = newestRun;
  }

  /** @param {Pi} pi @param {PiRecord} record */
  onRecord(pi, record) {
    switch (record.type) {
      case "extension_ui_request":
        return this.#onRequest(pi, record);
      case "agent_start":
        this.#isAtWork = true;
        this.#waiting.abort();
        return undefined;
      case "agent_settled":
        this.#isAtWork = false;
        return this.#atRest(pi);
      case "response":
        // A command that did not prompt the agent.
        if (record.id === "start" || record.id === "message") this.#atRest(pi);
        return undefined;
      default:
        return undefined;
    }
  }

  /** @param {Pi} pi @param {PiRecord} request */
  #onRequest(pi, request) {
    if (request.method === "setWidget" && request.widgetKey === COUNTDOWN)
      this.#hasCountdown = Array.isArray(request.widgetLines);
    if (!["select", "confirm", "input", "editor"].includes(request.method)) return;
    this.#turn = this.#turn.then(async () => {
      const answer = await this.#progress.during(() => ask(request, this.#signal));
      pi.send({ type: "extension_ui_response", id: request.id, ...answer });
    });
  }

  /** Unless the run goes on by itself, asks the user for a message, or ends pi. @param {Pi} pi */
  #atRest(pi, delay = COUNTDOWN_BEGINS) {
    const sent = this.#sent;
    clearTimeout(this.#look);
    this.#look = setTimeout(() => {
      if (this.#isAtWork || this.#hasCountdown || this.#signal.aborted) return;
      this.#turn = this.#turn.then(async () => {
        const run = this.#newestRun();
        // Several events report the same rest.
        if (this.#isAtWork || this.#hasCountdown || sent !== this.#sent) return;
        // At the end of the wait the run may end or pause without the agent, of which nothing else tells.
        if (run && goesOnByItself(run)) return this.#atRest(pi, WAIT_LOOK);
        if (!run || run.outcome !== "running" || this.#signal.aborted) return pi.finish();
        const { signal } = (this.#waiting = new AbortController());
        const message = await this.#progress.during(() =>
          line("The run waits for your message (nothing ends this command): ", AbortSignal.any([this.#signal, signal])),
        );
        if (signal.aborted) return;
        if (!message?.trim()) return pi.finish();
        this.#sent += 1;
        pi.send({ id: "message", type: "prompt", message });
      });
    }, delay).unref();
  }
}

/** Returns true if a run waits for the end of a limit of the model. @param {Run} run */
function goesOnByItself(run) {
  if (run.state.pause !== "quota") return false;
  const { quota } = /** @type {{ quota?: { goesOnAt?: number } }} */ (reportOf(run).data);
  return quota?.goesOnAt !== undefined;
}
