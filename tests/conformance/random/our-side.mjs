// Our side of a walk. Checks the deliberate additions of ours and removes them from the recorded effects.

import { isDeepStrictEqual } from "node:util";

import { because } from "./explained.mjs";
import { ours } from "./ours.mjs";
import { Place } from "./place.mjs";
import { cancelling } from "./questions.mjs";
import { Side } from "./side.mjs";

/** @typedef {import("./side.mjs").Trigger} Trigger */
/** @typedef {import("./stand-in.mjs").Effects} Effects */

const MEANT = /^(Unknown workflow: [^]*)\nDid you mean "[^"\n]*"\?$/;
const DIAGNOSTIC_NOTICE =
  /^(1 workflow has errors|\d+ workflows have errors|\d+ errors in workflow files|\S.*\/workflows\/.*?(: \d+ errors|(:\d+:\d+)?: \S.*)): \/workflow :check$/;
const PAUSE_NOTICE = /^⏸ .* is paused in .*\.\nYour next message resumes it, or \/workflow :resume\.$/s;
const WAIT_STATUS = /^⏸ (.*) \(waits for you\)$/s;
const PAUSE_STATUS = /^⏸ (.*) \(paused: [^)]*\)$/s;

/** The message to a working agent when the user cancels the run. */
const CANCELLED = {
  customType: "workflow:moved",
  data: {
    message: {
      customType: "workflow:moved",
      content: "The user cancelled the workflow. Stop working on it.",
      display: true,
    },
    options: { triggerTurn: false, deliverAs: "steer" },
  },
};

export class OurSide extends Side {
  #bounds;
  /** 55: true while the run waits for the user and shows it in the status. */
  #waits = false;
  /** True if a countdown was running, or the run waited, before the current trigger. */
  #wasAtRest = false;

  /**
   * @param {import("./stand-in.mjs").Setting} setting
   * @param {import("./bounds.mjs").Bounds} bounds the expected automatic behaviour
   */
  constructor(setting, bounds) {
    super(ours, setting);
    this.#bounds = bounds;
  }

  /** The latest notice about diagnostics. */
  diagnostics = "";

  /** The reason for the pause of the run; `undefined` if it is not paused. */
  get paused() {
    const { state } = this;
    return state?.active ? state.progress?.paused?.reason.kind : undefined;
  }

  /** @override */
  get stateEntries() {
    const all = this.pi.entriesOf("workflow:state");
    const common = all.map(({ data }) => withoutProgress(data));
    return all.filter((_, index) => !isDeepStrictEqual(common[index], common[index - 1]));
  }

  /** @override @param {Trigger} trigger */
  async prepare(trigger) {
    this.#wasAtRest = this.#waits || this.pi.widget !== undefined;
    this.#bounds.predict(trigger, this.state, this.tree, this.asking);
  }

  /** @override @param {Trigger | undefined} trigger @param {Effects} effects */
  async explain(trigger, effects) {
    const started = trigger && "command" in trigger && effects.prompts.length > 0;
    const goesOn = trigger ? "stop" in trigger && this.continues : effects.prompts.length > 0;
    if (goesOn) this.#bounds.wentOn();
    if (trigger) this.#bounds.observe(trigger, effects.answer, this.state, started === true);
    this.#rest(trigger, effects);
    const { paused, changed } = this.#bounds.verdict(trigger);
    const others = effects.notices.filter(({ text }) => !DIAGNOSTIC_NOTICE.test(text));
    const told = because(
      23,
      others,
      others.map(({ level, text }) => ({ level, text: text.replace(MEANT, "$1") })),
    );
    this.diagnostics = effects.notices.find(({ text }) => DIAGNOSTIC_NOTICE.test(text))?.text ?? this.diagnostics;
    const asked = because(
      26,
      effects.questions,
      effects.questions.filter((question) => !this.#isOfCancel(trigger, question)),
    );
    const common = because(29, effects.entries, this.#withoutWord(trigger, effects.entries));
    const stored = common.filter(({ data }) => !(changed && this.#isOfPause(data, paused)));
    const continued = trigger && "stop" in trigger && effects.answer?.continue;
    const place = Place.of(this.state, this.tree);
    const { prompts } = effects;
    return {
      ...effects,
      entries: because(7, common, stored).map((entry) => this.#withoutMore(entry)),
      prompts: continued ? because(8, prompts, effects.answer.entries.map(reminderOf)) : prompts,
      notices: because(
        7,
        because(9, effects.notices, told),
        changed && paused && place ? this.#withoutPause(told) : told,
      ),
      questions: this.#questions(asked),
      status: this.#status(effects.status),
      answer: continued ? undefined : this.#answer(trigger, effects.answer),
    };
  }

  /**
   * Removes the mark of a paused or waiting run from the status.
   * @param {string | undefined} status
   */
  #status(status) {
    if (status === undefined) return status;
    if (this.#bounds.paused) return because(7, status, status.replace(PAUSE_STATUS, "$1"));
    const plain = because(55, status, status.replace(WAIT_STATUS, "$1"));
    return (plain !== status) === this.#waits ? plain : `${plain}, and whether it waits should be ${this.#waits}`;
  }

  /**
   * 55: tracks whether the run waits for the user: after a restart, after navigation in the session tree, after an
   * interrupted countdown, and without automatic continuation.
   * @param {Trigger | undefined} trigger
   * @param {Effects} effects
   */
  #rest(trigger, effects) {
    const { prompts } = effects;
    const place = Place.of(this.state, this.tree);
    const begins = () => {
      if (!trigger) return false;
      if ("restart" in trigger || "back" in trigger) return true;
      if ("key" in trigger) return this.#wasAtRest && this.setting.mode === "tui";
      // The agent has stopped during the question, and the answer starts nothing.
      const stopped =
        "answer" in effects &&
        "during" in trigger &&
        trigger.during.some((other) => "stop" in other && (other.stop === "stop" || other.stop === undefined));
      if ("command" in trigger) return this.#wasAtRest || stopped;
      const isOver = "stop" in trigger && (trigger.stop === "stop" || trigger.stop === undefined);
      return isOver && place?.root.fields.autoContinue === false && this.setting.mode !== "print" && !this.asking;
    };
    const goesOn =
      trigger && "event" in trigger && ["input", "before_agent_start", "agent_start"].includes(trigger.event);
    const ends = prompts.length > 0 || goesOn;
    this.#waits = (this.#waits || begins()) && !ends && place !== undefined && !this.#bounds.paused && !this.pi.running;
    // Used once: a command that asks a question calls this function before and after the answer.
    this.#wasAtRest = false;
  }

  /**
   * Removes the message that tells a working agent about the cancellation.
   * @param {Trigger | undefined} trigger
   * @param {Effects["entries"]} entries
   */
  #withoutWord(trigger, entries) {
    const cancels = trigger && "command" in trigger && trigger.command === "cancel-workflow";
    if (!cancels || !this.pi.running || entries.length === 0) return entries;
    const at = entries.findIndex((entry) => isDeepStrictEqual(entry, CANCELLED));
    return at < 0 ? [{ customType: "missing", data: CANCELLED }] : entries.toSpliced(at, 1);
  }

  /**
   * Removes the notice about a pause that has just begun.
   * @param {Effects["notices"]} notices
   */
  #withoutPause(notices) {
    if (this.setting.mode === "print") return notices;
    const at = notices.findIndex(({ level, text }) => level === "warning" && PAUSE_NOTICE.test(text));
    return at < 0 ? [{ level: "missing", text: "a notice of the pause" }] : notices.toSpliced(at, 1);
  }

  /**
   * Returns true for the question about the agent's second `cancel`.
   * @param {Trigger | undefined} trigger
   * @param {Effects["questions"][number]} question
   */
  #isOfCancel(trigger, { title, message }) {
    const { state } = this;
    if (this.setting.mode === "tui") {
      const name = this.tree.find(({ key }) => key === state?.workflowKey)?.fields.name ?? state?.workflowKey;
      const wanted = state && cancelling(name ?? "", state.taskDescription);
      return trigger && "step" in trigger && isDeepStrictEqual({ title, message }, wanted);
    }
    const wanted = /^[^\n]*\n\nThe agent wants to cancel this workflow\. Cancel it\?$/;
    return trigger && "step" in trigger && title === "Cancel the workflow?" && wanted.test(message);
  }

  /**
   * 42: decodes the escapes in questions; in a terminal the questions are compared as they are.
   * @param {Effects["questions"]} questions
   */
  #questions(questions) {
    return this.setting.mode === "tui" ? questions.map(withoutAbout) : questions.map(read);
  }

  /**
   * Returns true for a state entry that differs from the one before only in the expected pause or its end.
   * @param {any} data
   * @param {string | undefined} paused
   */
  #isOfPause(data, paused) {
    if (data?.progress?.paused?.reason.kind !== paused) return false;
    const entries = this.pi.entriesOf("workflow:state");
    return entries.some((entry) => entry.data === data) && !this.stateEntries.some((entry) => entry.data === data);
  }

  /**
   * 17: removes the identification of the run from the entry at its end.
   * @param {{ customType: string, data: any }} entry
   */
  #withoutMore({ customType, data }) {
    if (customType === "workflow:state") return { customType, data: because(25, data, withoutProgress(data)) };
    const { content, taskId, cancelled } = data;
    const { state } = this;
    const fits = customType === "workflow:complete" && taskId === state?.taskId && cancelled === state?.cancelled;
    return because(17, { customType, data }, { customType, data: fits ? { content } : data });
  }

  /**
   * @param {Trigger | undefined} trigger
   * @param {any} answer
   */
  #answer(trigger, answer) {
    if (!trigger || !answer) return answer;
    if ("complete" in trigger) {
      const workflows = because(
        28,
        answer,
        answer.filter((/** @type {any} */ { value }) => !value.startsWith(":")),
      );
      if (workflows.length === 0) return null;
      return because(13, workflows, workflows.map(withoutDescription));
    }
    return answer;
  }
}

/**
 * 42: decodes the escapes that ours shows for invisible characters in a question.
 * @param {Effects["questions"][number]} question
 */
const read = ({ title, message }) => {
  const meant = message.replace(/\\u\{([0-9a-f]+)\}/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
  // eslint-disable-next-line no-control-regex
  return { title, message: meant.replace(/[\t\r\n ]+/g, " ").replace(/[\0-\x1f\x7f-\x9f]/g, "") };
};

/**
 * 50: removes the descriptions of the workflows from the question which one to start.
 * @param {Effects["questions"][number]} question
 */
const withoutAbout = ({ title, message }) => ({
  title,
  message: title === "Which workflow?" ? message.replace(/^(.*? — .*?): .*( {2}\(\S.*\))$/gm, "$1$2") : message,
});

/** @param {any} completion */
const withoutDescription = ({ description, ...rest }) => (description ? rest : { ...rest, description });

/** @param {any} state */
const withoutProgress = ({ progress: _progress, ...state } = {}) => state;

/** @param {any} entry */
const reminderOf = ({ type, customType, display, content }) => ({
  text: type === "custom_message" && customType === "workflow:reminder" && display ? content : undefined,
});
