// Our side of a walk. Additions to the reference's behaviour are checked against the tree and removed.

import { isDeepStrictEqual } from "node:util";

import { because } from "./explained.mjs";
import { ours } from "./ours.mjs";
import { Place } from "./place.mjs";
import { cancelling } from "./questions.mjs";
import { Side } from "./side.mjs";

/** @typedef {import("./side.mjs").Happening} Happening */
/** @typedef {import("./stand-in.mjs").Deeds} Deeds */

const MEANT = /^(Unknown workflow: [^]*)\nDid you mean "[^"\n]*"\?$/;
const DIAGNOSTIC_NOTICE =
  /^(1 workflow has errors|\d+ workflows have errors|\d+ errors in workflow files|\S.*\/workflows\/.*?(: \d+ errors|(:\d+:\d+)?: \S.*)): \/workflow :check$/;
const PAUSE_NOTICE = /^⏸ .* is paused in .*\.\nYour next message resumes it, or \/workflow :resume\.$/s;
const WAIT_STATUS = /^⏸ (.*) \(waits for you: send a message, or \/workflow :resume\)$/s;
const PAUSE_STATUS = /^⏸ (.*) \(paused: [^)]*\)$/s;

/** What an agent at work is told when the user cancels. */
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
  /** 55: whether the run waits for the user and says so. */
  #waits = false;
  /** Whether it was in a countdown or waited before what is happening. */
  #wasAtRest = false;

  /**
   * @param {import("./stand-in.mjs").Setting} setting
   * @param {import("./bounds.mjs").Bounds} bounds what it is to do by itself now
   */
  constructor(setting, bounds) {
    super(ours, setting);
    this.#bounds = bounds;
  }

  /** What it told last of diagnostics in files. */
  diagnostics = "";

  /** Why the run waits for the user, if it does. */
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

  /** @override @param {Happening} happening */
  async prepare(happening) {
    this.#wasAtRest = this.#waits || this.pi.widget !== undefined;
    this.#bounds.foresee(happening, this.state, this.tree, this.asking);
  }

  /** @override @param {Happening | undefined} happening @param {Deeds} deeds */
  async explain(happening, deeds) {
    const started = happening && "command" in happening && deeds.prompts.length > 0;
    const goesOn = happening ? "stop" in happening && this.continues : deeds.prompts.length > 0;
    if (goesOn) this.#bounds.wentOn();
    if (happening) this.#bounds.observe(happening, deeds.answer, this.state, started === true);
    this.#rest(happening, deeds);
    const { paused, changed } = this.#bounds.verdict(happening);
    const others = deeds.notices.filter(({ text }) => !DIAGNOSTIC_NOTICE.test(text));
    const told = because(23, others, others.map(({ level, text }) => ({ level, text: text.replace(MEANT, "$1") })));
    this.diagnostics = deeds.notices.find(({ text }) => DIAGNOSTIC_NOTICE.test(text))?.text ?? this.diagnostics;
    const asked = because(26, deeds.questions, deeds.questions.filter((question) => !this.#isOfCancel(happening, question)));
    const common = because(29, deeds.entries, this.#withoutWord(happening, deeds.entries));
    const stored = common.filter(({ data }) => !(changed && this.#isOfPause(data, paused)));
    const continued = happening && "stop" in happening && deeds.answer?.continue;
    const place = Place.of(this.state, this.tree);
    const { prompts } = deeds;
    return {
      ...deeds,
      entries: because(7, common, stored).map((entry) => this.#withoutMore(entry)),
      prompts: continued ? because(8, prompts, deeds.answer.entries.map(reminderOf)) : prompts,
      notices: because(7, because(9, deeds.notices, told), changed && paused && place ? this.#withoutPause(told) : told),
      questions: this.#questions(asked),
      status: this.#status(deeds.status),
      answer: continued ? undefined : this.#answer(happening, deeds.answer),
    };
  }

  /**
   * The status without the sign that the run is paused, or waits for the user.
   * @param {string | undefined} status
   */
  #status(status) {
    if (status === undefined) return status;
    if (this.#bounds.paused) return because(7, status, status.replace(PAUSE_STATUS, "$1"));
    const plain = because(55, status, status.replace(WAIT_STATUS, "$1"));
    return (plain !== status) === this.#waits ? plain : `${plain}, and whether it waits should be ${this.#waits}`;
  }

  /**
   * 55: when a run waits for the user: after a restart or a move in the tree, where a countdown was interrupted, and where it
   * is not to go on by itself.
   * @param {Happening | undefined} happening
   * @param {Deeds} deeds
   */
  #rest(happening, { prompts }) {
    const place = Place.of(this.state, this.tree);
    const begins = () => {
      if (!happening) return false;
      if ("restart" in happening || "back" in happening) return true;
      if ("key" in happening) return this.#wasAtRest && this.setting.mode === "tui";
      if ("command" in happening) return this.#wasAtRest;
      const isOver = "stop" in happening && (happening.stop === "stop" || happening.stop === undefined);
      return isOver && place?.root.fields.autoContinue === false && this.setting.mode !== "print" && !this.asking;
    };
    const goesOn = happening && "event" in happening && ["input", "before_agent_start", "agent_start"].includes(happening.event);
    const ends = prompts.length > 0 || goesOn;
    this.#waits = (this.#waits || begins()) && !ends && place !== undefined && !this.#bounds.paused && !this.pi.running;
    // What it was counts once: a command that asks is over after the answer.
    this.#wasAtRest = false;
  }

  /**
   * The entries without the word to an agent at work that the user has cancelled.
   * @param {Happening | undefined} happening
   * @param {Deeds["entries"]} entries
   */
  #withoutWord(happening, entries) {
    const cancels = happening && "command" in happening && happening.command === "cancel-workflow";
    if (!cancels || !this.pi.running || entries.length === 0) return entries;
    const at = entries.findIndex((entry) => isDeepStrictEqual(entry, CANCELLED));
    return at < 0 ? [{ customType: "missing", data: CANCELLED }] : entries.toSpliced(at, 1);
  }

  /**
   * The notices without the one that tells of a pause that has just begun.
   * @param {Deeds["notices"]} notices
   */
  #withoutPause(notices) {
    if (this.setting.mode === "print") return notices;
    const at = notices.findIndex(({ level, text }) => level === "warning" && PAUSE_NOTICE.test(text));
    return at < 0 ? [{ level: "missing", text: "a notice of the pause" }] : notices.toSpliced(at, 1);
  }

  /**
   * Whether it is the question about the agent's second `cancel`.
   * @param {Happening | undefined} happening
   * @param {Deeds["questions"][number]} question
   */
  #isOfCancel(happening, { title, message }) {
    const { state } = this;
    if (this.setting.mode === "tui") {
      const name = this.tree.find(({ key }) => key === state?.workflowKey)?.fields.name ?? state?.workflowKey;
      const wanted = state && cancelling(name ?? "", state.taskDescription);
      return happening && "step" in happening && isDeepStrictEqual({ title, message }, wanted);
    }
    const wanted = /^[^\n]*\n\nThe agent wants to cancel this workflow\. Cancel it\?$/;
    return happening && "step" in happening && title === "Cancel the workflow?" && wanted.test(message);
  }

  /**
   * 42: the questions as they are meant; those of a terminal are compared as they are.
   * @param {Deeds["questions"]} questions
   */
  #questions(questions) {
    return this.setting.mode === "tui" ? questions.map(withoutAbout) : questions.map(read);
  }

  /**
   * Whether an entry only says that a run is paused, or is not any more, as it must.
   * @param {any} data
   * @param {string | undefined} paused
   */
  #isOfPause(data, paused) {
    if (data?.progress?.paused?.reason.kind !== paused) return false;
    const entries = this.pi.entriesOf("workflow:state");
    return entries.some((entry) => entry.data === data) && !this.stateEntries.some((entry) => entry.data === data);
  }

  /**
   * 17: the entry at the end of a run says which run it was.
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
   * @param {Happening | undefined} happening
   * @param {any} answer
   */
  #answer(happening, answer) {
    if (!happening || !answer) return answer;
    if ("complete" in happening) {
      const workflows = because(28, answer, answer.filter((/** @type {any} */ { value }) => !value.startsWith(":")));
      if (workflows.length === 0) return null;
      return because(13, workflows, workflows.map(withoutDescription));
    }
    return answer;
  }
}

/**
 * 42: a question as it is meant, where ours writes out the characters that do not show.
 * @param {Deeds["questions"][number]} question
 */
const read = ({ title, message }) => {
  const meant = message.replace(/\\u\{([0-9a-f]+)\}/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
  // eslint-disable-next-line no-control-regex
  return { title, message: meant.replace(/[\t\r\n ]+/g, " ").replace(/[\0-\x1f\x7f-\x9f]/g, "") };
};

/**
 * 50: the choice of a workflow without what each is about.
 * @param {Deeds["questions"][number]} question
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
