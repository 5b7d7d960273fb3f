// Ours. What it has more than the reference is checked against the tree, and taken off.

import { isDeepStrictEqual } from "node:util";

import { PROPOSED, because, replaced } from "./explained.mjs";
import { ours } from "./ours.mjs";
import { Place } from "./place.mjs";
import { Side } from "./side.mjs";

/** @typedef {import("./side.mjs").Happening} Happening */
/** @typedef {import("./stand-in.mjs").Deeds} Deeds */

const FAULT_NOTICE = /^(1 workflow has|\d+ workflows have|\d+ errors? in workflow files).*: \/workflow :check$/;
const PAUSE_NOTICE = /^⏸ .* is paused in .*\.\nYour next message resumes it, or \/workflow :resume\.$/s;
const PAUSE_STATUS = /^⏸ (.*) \(paused: [^)]*\)$/s;

const CONTEXT = /\n\n\[Workflow path: [^]*?\n\*\*Task ID:\*\* [^]*$/;
const POSITION = /\*\*Previous:\*\* .*\n\*\*Current:\*\* .*\n\*\*Next:\*\* .*\n\n/;
const ALL_STEPS = /\*\*All steps:\*\*\n[^]*?\n\n(?=\*\*What to do in this phase:)/;

/** What an agent at work is told when the person cancels. */
const CANCELLED = {
  customType: "workflow:moved",
  data: {
    message: {
      customType: "workflow:moved",
      content: "The person cancelled the workflow. Stop working on it.",
      display: true,
    },
    options: { triggerTurn: false, deliverAs: "steer" },
  },
};

/** How many steps the context prompt lists. */
const MAX_STEPS = 60;

export class OurSide extends Side {
  /** @param {import("./stand-in.mjs").Setting} setting */
  constructor(setting) {
    super(ours, setting);
  }

  /** What it told last of faults in files. */
  faults = "";

  /** Whether the run waits for the person. */
  get paused() {
    const { state } = this;
    return state?.active === true && state.progress?.paused !== undefined;
  }

  /** @override */
  get stateEntries() {
    const all = this.pi.entriesOf("workflow:state");
    const common = all.map(({ data }) => withoutProgress(data));
    return all.filter((_, index) => !isDeepStrictEqual(common[index], common[index - 1]));
  }

  /** @override @param {Happening | undefined} happening @param {Deeds} deeds */
  async explain(happening, deeds) {
    const told = deeds.notices.filter(({ text }) => !FAULT_NOTICE.test(text));
    this.faults = deeds.notices.find(({ text }) => FAULT_NOTICE.test(text))?.text ?? this.faults;
    const common = because(29, deeds.entries, deeds.entries.filter((entry) => !isDeepStrictEqual(entry, CANCELLED)));
    const stored = common.filter(({ data }) => !this.#isOfPause(data));
    const continued = happening && "stop" in happening && deeds.answer?.continue;
    const prompts = deeds.prompts.map((prompt) => this.#withoutContext(prompt));
    return {
      ...deeds,
      entries: because(7, common, stored).map((entry) => this.#withoutMore(entry)),
      prompts: continued
        ? because(8, prompts, deeds.answer.entries.map(reminderOf))
        : prompts.map((prompt) => because(24, prompt, prompt.replace(/^\(followUp\) /, ""))),
      notices: because(7, because(9, deeds.notices, told), told.filter(({ text }) => !PAUSE_NOTICE.test(text))),
      questions: because(26, deeds.questions, deeds.questions.filter(({ title }) => title !== "Cancel the workflow?")),
      status: because(7, deeds.status, deeds.status?.replace(PAUSE_STATUS, "$1")),
      answer: continued ? undefined : this.#answer(happening, deeds.answer),
    };
  }

  /**
   * 104: to an agent that is at work, what it is to do is told with the first prompt.
   * @param {string} prompt
   */
  #withoutContext(prompt) {
    if (!this.pi.running) return prompt;
    return because(PROPOSED.contextAtOnce, prompt, prompt.replace(CONTEXT, ""));
  }

  /**
   * Whether an entry only says that a run is paused, or is not any more.
   * @param {any} data
   */
  #isOfPause(data) {
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
    const place = Place.of(this.state, this.tree);
    if (!place) return answer;
    // Files that were shortened may have left the run beside all steps: nothing is known then.
    const known = place.steps().some(({ current }) => current);
    if ("step" in happening && answer.details?.advanced) {
      const text = known ? replaced(18, answer.text, position(place), "") : answer.text.replace(POSITION, "");
      return { ...answer, text };
    }
    if (answer.message) {
      const { content } = answer.message;
      const prompt = known ? replaced(18, content, allSteps(place), "") : content.replace(ALL_STEPS, "");
      return { message: { ...answer.message, content: prompt } };
    }
    return answer;
  }
}

/** @param {any} completion */
const withoutDescription = ({ description, ...rest }) => (description ? rest : { ...rest, description });

/** @param {any} state */
const withoutProgress = ({ progress: _progress, ...state } = {}) => state;

/** @param {any} entry */
const reminderOf = ({ type, customType, display, content }) =>
  type === "custom_message" && customType === "workflow:reminder" && display ? content : undefined;

/**
 * The block with all steps.
 * @param {Place} place
 */
function allSteps(place) {
  const steps = place.steps();
  const at = steps.findIndex(({ current }) => current);
  const first = steps.length <= MAX_STEPS ? 0 : Math.min(Math.max(at - MAX_STEPS / 2, 0), steps.length - MAX_STEPS);
  const after = steps.length - first - MAX_STEPS;
  const lines = steps.slice(first, first + MAX_STEPS).map(({ name, current }, index) => {
    return `${current ? "▸" : " "} ${first + index + 1}. ${name}${current ? " (current)" : ""}`;
  });
  if (first > 0) lines.unshift(`  … ${first} before`);
  if (after > 0) lines.push(`  … ${after} more`);
  return `**All steps:**\n${lines.join("\n")}\n\n`;
}

/**
 * The steps around the current one.
 * @param {Place} place
 */
function position(place) {
  const steps = place.steps();
  const at = steps.findIndex(({ current }) => current);
  const name = (/** @type {number} */ index, /** @type {string} */ none) => steps[index]?.name ?? none;
  return [
    `**Previous:** ${name(at - 1, "(start)")}`,
    `**Current:** ${name(at, "")} (${at + 1}/${steps.length})`,
    `**Next:** ${name(at + 1, "DONE")}\n\n`,
  ].join("\n");
}
