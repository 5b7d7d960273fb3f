// The reference's side of a walk. Applies the deliberate differences to its behaviour or to its recorded effects.

import {
  contextPrompt,
  everyRun,
  moved,
  notDone,
  outcomeMissing,
  reminder,
  toolsRule,
  withOutcome,
} from "./context-prompt.mjs";
import { UNAVAILABLE } from "./default-texts.mjs";
import { because } from "./explained.mjs";
import { Place, enter, resolve } from "./place.mjs";
import { startAnother } from "./questions.mjs";
import { reference, timerManager } from "./reference.mjs";
import { Side } from "./side.mjs";
import { Visits } from "./visits.mjs";
import { FOLDERS, passTime } from "./world.mjs";

/** @typedef {import("./side.mjs").Trigger} Trigger */
/** @typedef {import("./stand-in.mjs").Effects} Effects */

const COUNTDOWN = "⏳ Auto-continuing in 3s... (type anything to interrupt)";

/** Events of pi that interrupt a countdown. */
const INTERRUPTIONS = new Set(["input", "before_agent_start", "agent_start"]);

export class ReferenceSide extends Side {
  /** The names of workflows that have errors. @type {string[]} */
  leftOut = [];
  /** True while the reference waits for a second `cancel`. */
  #cancelPending = false;
  /** The newest entry, the place and the status before the current trigger. */
  #leaf = this.pi.leaf;
  #place = Place.of(this.state, this.tree);
  #shown = this.pi.status;
  /** @type {import("./place.mjs").State["currentPath"]} */
  #path = [];
  #bounds;
  #visits = new Visits();
  /** The visits at the time when each state was stored. @type {WeakMap<object, Visits>} */
  #stored = new WeakMap();
  /** The newest context prompt in the model's context. @type {string | undefined} */
  #inView;

  /**
   * @param {import("./stand-in.mjs").Setting} setting
   * @param {import("./bounds.mjs").Bounds} bounds the expected automatic behaviour of ours
   */
  constructor(setting, bounds) {
    super(reference, setting);
    this.#bounds = bounds;
  }

  /** @override @param {Trigger} trigger */
  async prepare(trigger) {
    this.#leaf = this.pi.leaf;
    this.#place = Place.of(this.state, this.tree);
    this.#shown = this.pi.status;
    this.#path = this.state?.currentPath ?? [];
    const event = "event" in trigger ? trigger.event : "";
    const key = "key" in trigger && this.setting.mode === "tui";
    if (key || "restart" in trigger || "command" in trigger || INTERRUPTIONS.has(event)) {
      this.#stopCountdown("command" in trigger && trigger.command === "cancel-workflow" ? 4 : 5);
    }
    const otherStep =
      "step" in trigger && trigger.step !== "cancel" && this.pi.validated("workflow_step", trigger.input);
    const ends = "stop" in trigger || "retry" in trigger;
    if (this.#cancelPending && (otherStep || ends || event === "before_agent_start")) {
      // 6: drops the pending cancellation, which the session does not store: a reload of the run removes it.
      because(6, true, false);
      await this.#takeUp();
    }
  }

  /** @override @param {Trigger | undefined} trigger @param {Effects} effects */
  async explain(trigger, effects) {
    this.#correctStates(trigger, effects);
    if (trigger && "stop" in trigger) this.#holdBack(trigger, effects);
    if (trigger && "retry" in trigger) this.#waitForRetry(effects);
    const refused = trigger && "step" in trigger && (await this.#refuse(trigger, effects));
    if (trigger && "step" in trigger && effects.answer?.details?.advanced) {
      effects.answer = withOutcome(
        effects.answer,
        this.#place?.outcome(this.pi.validated("workflow_step", trigger.input)),
      );
    }
    const starts = trigger && "command" in trigger && effects.prompts.length > 0;
    if (trigger && ("back" in trigger || starts)) {
      this.#stopCountdown(5);
      effects.widgets.push(...this.pi.takeEffects().widgets);
    }
    await this.#enter(trigger);
    if (trigger && !refused) this.#visit(trigger, effects, starts === true);
    const entries = effects.entries.map((entry) => this.#withResults(asEntry(entry)));
    if (trigger && "compact" in trigger) entries.push(...(await this.#briefed()));
    const { notices, questions } = this.#inTerminal(effects);
    const prompts = [];
    for (const prompt of effects.prompts) prompts.push(await this.#prompt(trigger, prompt));
    return {
      ...effects,
      status: onOneLine(await this.#status(trigger, effects)),
      entries,
      prompts: prompts.map((prompt) => ({ ...prompt, text: plain(prompt.text) })),
      notices: notices.map(({ level, text }) => ({ level, text: plain(this.#offer(text)) })),
      questions: questions.map(({ title, message }) => this.#question(title, message)),
      sessionNames: effects.sessionNames.map((name) => plain(withWholeCharacters(name))),
      answer: plainAnswer(refused ? effects.answer : await this.#answer(trigger, effects.answer)),
    };
  }

  /**
   * 39 and 40: updates the visits of phases.
   * @param {Trigger} trigger
   * @param {Effects} effects
   * @param {boolean} starts
   */
  #visit(trigger, effects, starts) {
    const { state } = this;
    if ("restart" in trigger || "back" in trigger) {
      this.#visits = (state && this.#stored.get(state)?.copy()) ?? new Visits();
      this.#inView =
        "restart" in trigger && trigger.restart === "reload" ? this.pi.newestMessage("workflow:context") : undefined;
    }
    if (starts) this.#visits = new Visits();
    const { details } = effects.answer ?? {};
    const hasMoved = "step" in trigger && (details?.advanced || details?.looped);
    if (hasMoved && this.#place)
      this.#visits.handOver(this.#place, this.pi.validated("workflow_step", trigger.input)?.summary);
    if (state?.active && (starts || hasMoved)) this.#visits.begin(state);
    for (const { customType, data } of effects.entries) {
      if (customType === "workflow:state") this.#stored.set(data, this.#visits.copy());
    }
  }

  /**
   * Converts a message that was sent for the user. 24: while the agent works, pi refuses the message of the reference;
   * ours queues its message, with the context prompt.
   * @param {Trigger | undefined} trigger
   * @param {import("./stand-in.mjs").Prompt} prompt
   * @returns {Promise<import("./stand-in.mjs").Prompt>}
   */
  async #prompt(trigger, prompt) {
    if (trigger && "command" in trigger) {
      if (prompt.meanwhile !== "refused") return prompt;
      const text = `${prompt.text}\n\n${(this.#inView = await this.#contextPrompt())}`;
      return because(24, prompt, { text, meanwhile: "followUp" });
    }
    const place = Place.of(this.state, this.tree);
    const text = notDone(prompt.text, place, this.#bounds.toldAgain);
    const context = trigger && place ? await this.#contextPrompt() : this.#inView;
    if (context === this.#inView) return { ...prompt, text };
    // In the same agent run, no other message carries the context prompt.
    this.#inView = context;
    return because(38, prompt, { ...prompt, text: `${text}\n\n${context}` });
  }

  /** 38: after a compaction, a working agent gets the context prompt again. */
  async #briefed() {
    this.#inView = undefined;
    if (!this.pi.running || !Place.of(this.state, this.tree)) return [];
    const message = {
      customType: "workflow:context",
      content: (this.#inView = await this.#contextPrompt()),
      display: false,
    };
    this.pi.append({ type: "custom_message", ...message });
    const options = { triggerTurn: false, deliverAs: "steer" };
    return because(38, [], [{ customType: "workflow:context", data: { message, options } }]);
  }

  /**
   * 40: adds the summaries to the message at the end.
   * @param {{ customType: string, data: any }} entry
   */
  #withResults({ customType, data }) {
    const { state } = this;
    const workflows = new Map(this.tree.map((workflow) => [workflow.key, workflow]));
    const byCommand = data?.content?.startsWith("❌ **Workflow Cancelled**\n");
    if (customType !== "workflow:complete" || !state || byCommand) return { customType, data };
    const own = workflows.get(state.workflowKey)?.fields.completionMessage !== undefined;
    const lines = own ? [] : this.#visits.lines(state, workflows);
    if (lines.length === 0) return { customType, data };
    return because(
      40,
      { customType, data },
      { customType, data: { content: `${data.content}\n\n**Results:**\n${lines.join("\n")}` } },
    );
  }

  /** @param {number} number */
  #stopCountdown(number) {
    timerManager.clearAll();
    because(number, this.pi.widget, undefined);
    this.pi.setWidget(undefined);
  }

  /** Reloads the run from the session; nothing else changes. */
  async #takeUp() {
    this.#cancelPending = false;
    const { status } = this.pi;
    await this.pi.emit("session_tree");
    this.pi.takeEffects();
    this.pi.status = status;
  }

  /**
   * 3 and 6: corrects the stored states.
   * @param {Trigger | undefined} trigger
   * @param {Effects} effects
   */
  #correctStates(trigger, effects) {
    const states = effects.entries.filter(({ customType }) => customType === "workflow:state").map(({ data }) => data);
    if (effects.answer?.details?.cancelPending) this.#cancelPending = true;
    if (states.length > 0) this.#cancelPending = false;
    for (const state of states) {
      because(6, state._cancelPending, undefined);
      delete state._cancelPending;
      const announced = trigger && ("stop" in trigger || "retry" in trigger || ("command" in trigger && !state.active));
      if (announced) state.completionNotified = because(3, state.completionNotified, true);
    }
  }

  /**
   * 7 and 8: removes a continuation that ours does not make; without a user interface the continuation is immediate.
   * @param {Trigger} trigger
   * @param {Effects} effects
   */
  #holdBack(trigger, effects) {
    if (!this.#bounds.verdict(trigger).goesOn) this.#forgetCountdown(effects);
    if (this.setting.mode !== "print") return;
    const others = effects.entries.filter(({ customType }) => customType !== "workflow:countdown");
    effects.entries = because(8, effects.entries, others);
    passTime(3000);
    effects.prompts.push(...this.pi.takeEffects().prompts);
  }

  /**
   * 7: removes the countdown while pi retries: the agent is not idle.
   * @param {Effects} effects
   */
  #waitForRetry(effects) {
    this.#forgetCountdown(effects);
    effects.entries = effects.entries.filter(({ customType }) => customType !== "workflow:countdown");
  }

  /** @param {Effects} effects */
  #forgetCountdown(effects) {
    if (effects.widgets.length > 0) {
      this.#stopCountdown(7);
      this.pi.takeEffects();
      if (effects.widgets.join() === COUNTDOWN) effects.widgets = [];
    }
    timerManager.clearAll();
  }

  /**
   * Reverts a call of `workflow_step` that ours refuses and the reference has executed.
   * @param {import("./side.mjs").Step} trigger
   * @param {Effects} effects
   * @returns {Promise<boolean>}
   */
  async #refuse(trigger, effects) {
    const { step, late, yes } = trigger;
    const { answer } = effects;
    if (answer.invalid) return false;
    const place = this.#place;
    const refusal = () => {
      if (late && place && (step === "next" || step === "loop" || step === "cancel"))
        return because(43, answer, outdated(place));
      const input = this.pi.validated("workflow_step", trigger.input);
      if (step === "next" && place?.phase.outcomes && answer.details?.advanced && place.outcome(input) === undefined) {
        return because(61, answer, outcomeMissing(place, input));
      }
      if (step === "next" && place && answer.details?.advanced && !this.#handsOver(trigger, place)) {
        return because(40, answer, summaryMissing(place));
      }
      if (this.#bounds.verdict(trigger).refusesLoop) return because(27, answer, this.#exhausted(effects));
      if (yes === false && answer.details?.cancelled && this.setting.mode !== "print")
        return because(26, answer, DECLINED);
      // 35: ours refuses a loop in a workflow that no longer exists.
      if (answer.threw === "Cannot read properties of undefined (reading 'loopable')") return because(35, answer, GONE);
      if (answer.text === "Error: could not resolve active workflow after loop.") return because(35, answer, STALE);
      return undefined;
    };
    const instead = refusal();
    if (!instead) return false;
    effects.answer = instead;
    effects.entries = [];
    this.pi.leaf = this.#leaf;
    this.pi.status = effects.status = this.#shown;
    await this.#takeUp();
    return true;
  }

  /**
   * Returns true if the call gives the summary that the phase requires.
   * @param {import("./side.mjs").Step} step
   * @param {Place} place
   */
  #handsOver({ input }, { phase }) {
    const { summary } = this.pi.validated("workflow_step", input) ?? {};
    return phase.summary !== "required" || (typeof summary === "string" && summary.trim() !== "");
  }

  /**
   * Returns the result of a loop that exceeds the limit, and notifies the user.
   * @param {Effects} effects
   */
  #exhausted({ notices }) {
    const scope = this.#path[this.#path.length - 1].workflowKey;
    const times = this.tree.find(({ key }) => key === scope)?.fields.maxLoops ?? 20;
    const error = `This workflow has been looped ${times} times, which is all it allows (maxLoops). Go on with action='next', or leave it to the user.`;
    if (this.setting.mode !== "print") {
      notices.push({ level: "warning", text: `The agent wants to loop again. ${error}` });
    }
    return { text: `⚠️ ${error}`, details: { active: true, error } };
  }

  /**
   * 20: enters the nested workflow at which a loop ends.
   * @param {Trigger | undefined} trigger
   */
  async #enter(trigger) {
    const { state } = this;
    if (!state?.active || !trigger || !("step" in trigger)) return;
    const entered = enter(state, new Map(this.tree.map((workflow) => [workflow.key, workflow])));
    if (entered === state) return;
    state.currentPath = because(20, state.currentPath, entered.currentPath);
    await this.#takeUp();
  }

  /**
   * 22: returns the status that the reference shows only after the turn.
   * @param {Trigger | undefined} trigger
   * @param {Effects} effects
   */
  async #status(trigger, { status, entries }) {
    const moved = trigger && ("step" in trigger || "command" in trigger) && entries.length > 0;
    const late = this.#bounds.verdict(trigger).changed || (moved && status === undefined);
    if (!late || !this.state?.active) return status;
    await this.pi.emit("turn_end");
    return because(22, status, this.pi.takeEffects().status);
  }

  /**
   * 1: resolves the variables of instructions.
   * @param {string} text
   */
  #withoutTemplates(text) {
    const place = Place.of(this.state, this.tree);
    if (!place) return text;
    const { instructions } = place.phase;
    return because(
      1,
      text,
      text.replaceAll(instructions, () => resolve(instructions, place.variables())),
    );
  }

  /**
   * Applies the differences in a terminal. 17: the end of a run is an entry. 50: missing arguments of `/workflow` are
   * asked for.
   * @param {Effects} effects
   */
  #inTerminal({ notices, questions }) {
    if (this.setting.mode !== "tui") return { notices, questions };
    const others = because(
      17,
      notices,
      notices.filter(({ text }) => text !== "Workflow cancelled."),
    );
    const asked = others.map((notice) => this.#asked(notice) ?? notice);
    return {
      notices: asked.filter((what) => "text" in what),
      questions: [...questions, ...asked.filter((what) => "title" in what)],
    };
  }

  /**
   * 50: returns the question or error that ours shows in a terminal instead of the usage of the command.
   * @param {Effects["notices"][number]} notice
   * @returns {Effects["notices"][number] | Effects["questions"][number] | undefined}
   */
  #asked({ text }) {
    if (text.startsWith("Usage: /workflow {name} {description}\n")) {
      const folders = { global: FOLDERS.global, project: ".pi/workflows" };
      const lines = this.#startable().map(
        ({ key, root, fields }) => `${fields.commandName} — ${fields.name}  (${folders[root]}/${key})`,
      );
      return lines.length > 0 ? because(50, undefined, { title: WHICH, message: lines.join("\n") }) : undefined;
    }
    const name = /^Usage: \/workflow (.*) \{description\}$/s.exec(text)?.[1];
    if (name === undefined) return undefined;
    const fields = this.tree.find(({ fields }) => fields.commandName === name)?.fields;
    const error = (/** @type {string} */ text) => because(50, undefined, { level: "error", text });
    if (!fields) return error(`Unknown workflow: "${name}". Available: `);
    if (fields.show === "workflows") return error(`"${name}" ${HIDDEN}`);
    return because(50, undefined, { title: `${fields.name}: what is the task?`, message: "" });
  }

  /**
   * 56: in a terminal the question before another run starts is a selection.
   * @param {string} title
   * @param {string} message
   */
  #question(title, message) {
    const { state } = this;
    const [, phase, task] = /^Phase: (.*)\nTask: (.*)\n\nStart a new one\?$/s.exec(message) ?? [];
    if (this.setting.mode === "tui" && state && title === "Workflow already active" && task !== undefined) {
      const root = this.tree.find(({ key }) => key === state.workflowKey)?.fields.name ?? state.workflowKey;
      return because(56, { title, message }, startAnother(root, phase, task));
    }
    const isAsked = title.endsWith(": what is the task?") || title === WHICH;
    return isAsked ? { title, message } : { title: plain(title), message: plain(message).replace(/[\t\r\n ]+/g, " ") };
  }

  /**
   * 9 and 23: offers only workflows that the user can start, each command name once; a workflow with errors is not
   * called unknown.
   * @param {string} text
   */
  #offer(text) {
    const [unknown, name] = /^Unknown workflow: "(.*)"\. Available: /s.exec(text) ?? [];
    if (unknown && this.leftOut.includes(name)) {
      return because(9, text, `The workflow "${name}" has errors: /workflow :check shows them.`);
    }
    if (unknown) {
      const names = this.#startable().map(({ fields }) => fields.commandName);
      return because(23, text, unknown + (names.join(", ") || "(none)"));
    }
    const [, asked] = /^Usage: \/workflow (.*) \{description\}$/s.exec(text) ?? [];
    const inputs = this.tree.find(({ fields }) => fields.commandName === asked)?.fields.inputs;
    if (asked !== undefined && inputs)
      return because(
        60,
        text,
        `Usage: /workflow ${asked} ${Object.keys(inputs)
          .map((name) => `[${name}=…] `)
          .join("")}{description}`,
      );
    const usage = /^Usage: \/workflow \{name\} \{description\}\n\nAvailable workflows:\n/.exec(text)?.[0];
    if (!usage) return text;
    const lines = this.#startable().map(({ fields }) => `  ${fields.commandName} — ${fields.name}`);
    return because(23, text, usage + lines.join("\n"));
  }

  #startable() {
    const first = new Map(this.tree.toReversed().map((workflow) => [workflow.fields.commandName ?? "", workflow]));
    return this.tree.filter(
      (workflow) => workflow.fields.show !== "workflows" && first.get(workflow.fields.commandName ?? "") === workflow,
    );
  }

  /**
   * @param {Trigger | undefined} trigger
   * @param {any} answer
   */
  async #answer(trigger, answer) {
    if (!trigger) return answer;
    if ("complete" in trigger) return this.#completions(trigger.complete, answer);
    const place = Place.of(this.state, this.tree);
    if (!answer || !place) return answer;
    if (answer.message) return { message: await this.#injected(place) };
    if (answer.details?.cancelPending) {
      const { key, fields } = place.root;
      const named = answer.text.replace(`"${place.state.taskDescription}"`, () => `"${onOneLine(fields.name ?? key)}"`);
      return { ...answer, text: because(6, answer.text, named) };
    }
    if (answer.block && place.root.fields.blockReasonTemplate === undefined) {
      return because(39, answer, { ...answer, reason: `${answer.reason}\nTools in this phase: ${toolsRule(place)}` });
    }
    if (!("step" in trigger)) return answer;
    if (answer.details?.advanced || answer.details?.looped) {
      return moved(answer, place, (this.#inView = await this.#contextPrompt()));
    }
    if (trigger.step !== "status" || !answer.text) return answer;
    return { ...answer, text: this.#withResultsSoFar(place, this.#withoutTemplates(answer.text)) };
  }

  /**
   * 40: adds the summaries to the status.
   * @param {Place} place
   * @param {string} text
   */
  #withResultsSoFar(place, text) {
    const results = this.#visits.results(place);
    const at = text.lastIndexOf("**Available profiles:** ");
    return results && at >= 0 ? because(40, text, `${text.slice(0, at)}${results}\n\n${text.slice(at)}`) : text;
  }

  /**
   * 38: returns the context prompt, or a reminder if the model already has it in its context.
   * @param {Place} place
   */
  async #injected(place) {
    const prompt = await this.#contextPrompt();
    const inView = this.#inView === prompt && !everyRun(place);
    this.#inView = prompt;
    if (!inView) return { customType: "workflow:context", content: prompt, display: false };
    return because(38, prompt, { customType: "workflow:reminder", content: reminder(place), display: false });
  }

  /** Returns the context prompt of the current phase. */
  async #contextPrompt() {
    const place = Place.of(this.state, this.tree);
    const { message } = /** @type {any} */ (await this.pi.emit("before_agent_start"));
    const delegates = this.setting.tools.includes("delegate_to_subagents");
    return place ? contextPrompt(message.content, place, this.#visits, delegates) : message.content;
  }

  /**
   * 13 and 23: completes the project's workflows too, and each name once; offers nothing for a complete name.
   * @param {string} prefix
   * @param {{ value: string, label: string }[] | null} answer
   */
  #completions(prefix, answer) {
    const names = this.#startable().map(({ fields }) => fields.commandName ?? "");
    if (names.includes(prefix)) return because(13, answer, null);
    if (this.tree.some(({ root }) => root === "project")) {
      const offered = names.filter((name) => name.startsWith(prefix)).map((name) => ({ value: name, label: name }));
      return because(13, answer, offered.length > 0 ? offered : null);
    }
    const isFirst = (/** @type {{ value: string }} */ { value }, /** @type {number} */ index) =>
      names.includes(value) && answer?.findIndex((other) => other.value === value) === index;
    const offered = answer?.filter(isFirst) ?? [];
    return because(23, answer, offered.length > 0 ? offered : null);
  }
}

/** The question after `/workflow` without arguments, and the error for a workflow that the user cannot start. */
const WHICH = "Which workflow?";
const HIDDEN = "is a subworkflow that can only run as part of another workflow. It cannot be started directly.";

const DECLINED = {
  text: "The user declined: the workflow is not cancelled. Continue with the current phase.",
  details: { active: true, cancelled: false, declined: true },
};

const GONE = {
  text: "⚠️ The workflow is no longer available.",
  details: { active: true, error: "The workflow is no longer available." },
};

const STALE = { text: UNAVAILABLE, details: { active: false, stale: true } };

/**
 * Returns the result of `next` without the required summary.
 * @param {Place} place
 */
function summaryMissing({ phase }) {
  const how =
    "Call workflow_step with action='next' again and give it a `summary`: what this phase found or did, as far as later phases must know it.";
  const text = `⚠️ The phase ${phase.emoji} ${phase.name} cannot be left without a summary. ${how}`;
  return { text, details: { active: true, error: "summary required" } };
}

/**
 * Returns the result of a call that refers to a phase the run has already left.
 * @param {Place} place
 */
function outdated(place) {
  const { phase } = place;
  const current = "The user has moved the workflow meanwhile; this call had no effect. The current phase is";
  const text = `${current} ${phase.emoji} ${phase.name}. Its instructions follow.`;
  return { text, details: { active: true, moved: true } };
}

/**
 * 41: removes a truncated surrogate pair.
 * @param {string} name
 */
const withWholeCharacters = (name) => because(41, name, name.replace(/[\ud800-\udbff](?=…$)/, ""));

/**
 * 51: puts names and tasks on one line.
 * @template {string | undefined} T
 * @param {T} text
 * @returns {T}
 */
const onOneLine = (text) => because(51, text, /** @type {T} */ (text?.replaceAll("\n", " ")));

/**
 * 42: removes control characters.
 * @param {string} text
 */
// eslint-disable-next-line no-control-regex
const plain = (text) => because(42, text, text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, ""));

/**
 * 17: converts a message for the user only to an entry.
 * @param {{ customType: string, data: any }} entry
 */
function asEntry({ customType, data }) {
  if (!data.message) return { customType, data };
  const { message, options } = data;
  const expected = message.display && options.triggerTurn === false;
  return because(17, { customType, data }, { customType, data: expected ? { content: message.content } : data });
}

/**
 * 42: removes control characters from tool results, reasons of refused calls and displayed messages.
 * @param {any} answer
 */
function plainAnswer(answer) {
  if (typeof answer?.text === "string") return { ...answer, text: plain(answer.text) };
  if (typeof answer?.reason === "string") return { ...answer, reason: plain(answer.reason) };
  if (!answer?.message?.display) return answer;
  return { ...answer, message: { ...answer.message, content: plain(answer.message.content) } };
}
