// The reference's side of a walk, with our deliberate differences applied to its behaviour or to its record.

import { contextPrompt, everyRun, moved, notDone, reminder, toolsRule } from "./context-prompt.mjs";
import { UNAVAILABLE } from "./default-texts.mjs";
import { because } from "./explained.mjs";
import { Place, enter, resolve } from "./place.mjs";
import { startAnother } from "./questions.mjs";
import { reference, timerManager } from "./reference.mjs";
import { Side } from "./side.mjs";
import { Visits } from "./visits.mjs";
import { FOLDERS, passTime } from "./world.mjs";

/** @typedef {import("./side.mjs").Happening} Happening */
/** @typedef {import("./stand-in.mjs").Deeds} Deeds */

const COUNTDOWN = "⏳ Auto-continuing in 3s... (type anything to interrupt)";

/** Pi's events that mean that somebody has taken over. */
const INTERRUPTIONS = new Set(["input", "before_agent_start", "agent_start"]);

export class ReferenceSide extends Side {
  /** The names of workflows that have errors. @type {string[]} */
  leftOut = [];
  /** Whether it waits for a second `cancel`. */
  #cancelPending = false;
  /** The newest entry, the place and the status before what is happening. */
  #leaf = this.pi.leaf;
  #place = Place.of(this.state, this.tree);
  #shown = this.pi.status;
  /** @type {import("./place.mjs").State["currentPath"]} */
  #path = [];
  #bounds;
  #visits = new Visits();
  /** What was known of visits when a state was stored. @type {WeakMap<object, Visits>} */
  #stored = new WeakMap();
  /** The context prompt that the model has in view. @type {string | undefined} */
  #inView;

  /**
   * @param {import("./stand-in.mjs").Setting} setting
   * @param {import("./bounds.mjs").Bounds} bounds what ours does by itself now
   */
  constructor(setting, bounds) {
    super(reference, setting);
    this.#bounds = bounds;
  }

  /** @override @param {Happening} happening */
  async prepare(happening) {
    this.#leaf = this.pi.leaf;
    this.#place = Place.of(this.state, this.tree);
    this.#shown = this.pi.status;
    this.#path = this.state?.currentPath ?? [];
    const event = "event" in happening ? happening.event : "";
    const key = "key" in happening && this.setting.mode === "tui";
    if (key || "restart" in happening || "command" in happening || INTERRUPTIONS.has(event)) {
      this.#stopCountdown("command" in happening && happening.command === "cancel-workflow" ? 4 : 5);
    }
    const otherStep = "step" in happening && happening.step !== "cancel" && this.pi.validated("workflow_step", happening.input);
    const ends = "stop" in happening || "retry" in happening;
    if (this.#cancelPending && (otherStep || ends || event === "before_agent_start")) {
      // 6: dropped. It is not in the session, so taking up the run from there forgets it.
      because(6, true, false);
      await this.#takeUp();
    }
  }

  /** @override @param {Happening | undefined} happening @param {Deeds} deeds */
  async explain(happening, deeds) {
    this.#correctStates(happening, deeds);
    if (happening && "stop" in happening) this.#holdBack(happening, deeds);
    if (happening && "retry" in happening) this.#waitForRetry(deeds);
    const refused = happening && "step" in happening && (await this.#refuse(happening, deeds));
    const starts = happening && "command" in happening && deeds.prompts.length > 0;
    if (happening && ("back" in happening || starts)) {
      this.#stopCountdown(5);
      deeds.widgets.push(...this.pi.takeDeeds().widgets);
    }
    await this.#enter(happening);
    if (happening && !refused) this.#visit(happening, deeds, starts === true);
    const entries = deeds.entries.map((entry) => this.#withResults(asEntry(entry)));
    if (happening && "compact" in happening) entries.push(...(await this.#briefed()));
    const { notices, questions } = this.#inTerminal(deeds);
    const prompts = [];
    for (const prompt of deeds.prompts) prompts.push(await this.#prompt(happening, prompt));
    return {
      ...deeds,
      status: onOneLine(await this.#status(happening, deeds)),
      entries,
      prompts: prompts.map((prompt) => ({ ...prompt, text: plain(prompt.text) })),
      notices: notices.map(({ level, text }) => ({ level, text: plain(this.#offer(text)) })),
      questions: questions.map(({ title, message }) => this.#question(title, message)),
      sessionNames: deeds.sessionNames.map((name) => plain(withWholeCharacters(name))),
      answer: plainAnswer(refused ? deeds.answer : await this.#answer(happening, deeds.answer)),
    };
  }

  /**
   * 39 and 40: what ours remembers of phases.
   * @param {Happening} happening
   * @param {Deeds} deeds
   * @param {boolean} starts
   */
  #visit(happening, deeds, starts) {
    const { state } = this;
    if ("restart" in happening || "back" in happening) {
      this.#visits = (state && this.#stored.get(state)?.copy()) ?? new Visits();
      this.#inView = "restart" in happening && happening.restart === "reload" ? this.pi.newestMessage("workflow:context") : undefined;
    }
    if (starts) this.#visits = new Visits();
    const { details } = deeds.answer ?? {};
    const hasMoved = "step" in happening && (details?.advanced || details?.looped);
    if (hasMoved && this.#place) this.#visits.handOver(this.#place, this.pi.validated("workflow_step", happening.input)?.summary);
    if (state?.active && (starts || hasMoved)) this.#visits.begin(state);
    for (const { customType, data } of deeds.entries) {
      if (customType === "workflow:state") this.#stored.set(data, this.#visits.copy());
    }
  }

  /**
   * What was said in the user's place. 24: while the agent works, pi refuses it; that of ours waits, and brings the
   * context prompt along.
   * @param {Happening | undefined} happening
   * @param {import("./stand-in.mjs").Prompt} prompt
   * @returns {Promise<import("./stand-in.mjs").Prompt>}
   */
  async #prompt(happening, prompt) {
    if (happening && "command" in happening) {
      if (prompt.meanwhile !== "refused") return prompt;
      const text = `${prompt.text}\n\n${(this.#inView = await this.#contextPrompt())}`;
      return because(24, prompt, { text, meanwhile: "followUp" });
    }
    const place = Place.of(this.state, this.tree);
    const text = notDone(prompt.text, place);
    const context = happening && place ? await this.#contextPrompt() : this.#inView;
    if (context === this.#inView) return { ...prompt, text };
    // In the same run, no other message brings it.
    this.#inView = context;
    return because(38, prompt, { ...prompt, text: `${text}\n\n${context}` });
  }

  /** 38: after a compaction, an agent at work is told its phase again. */
  async #briefed() {
    this.#inView = undefined;
    if (!this.pi.running || !Place.of(this.state, this.tree)) return [];
    const message = { customType: "workflow:context", content: (this.#inView = await this.#contextPrompt()), display: false };
    this.pi.append({ type: "custom_message", ...message });
    const options = { triggerTurn: false, deliverAs: "steer" };
    return because(38, [], [{ customType: "workflow:context", data: { message, options } }]);
  }

  /**
   * 40: the message at the end says what was handed over.
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
    return because(40, { customType, data }, { customType, data: { content: `${data.content}\n\n**Results:**\n${lines.join("\n")}` } });
  }

  /** @param {number} number */
  #stopCountdown(number) {
    timerManager.clearAll();
    because(number, this.pi.widget, undefined);
    this.pi.setWidget(undefined);
  }

  /** Takes up the run as the session has it; nothing else changes. */
  async #takeUp() {
    this.#cancelPending = false;
    const { status } = this.pi;
    await this.pi.emit("session_tree");
    this.pi.takeDeeds();
    this.pi.status = status;
  }

  /**
   * 3 and 6: what is stored.
   * @param {Happening | undefined} happening
   * @param {Deeds} deeds
   */
  #correctStates(happening, deeds) {
    const states = deeds.entries.filter(({ customType }) => customType === "workflow:state").map(({ data }) => data);
    if (deeds.answer?.details?.cancelPending) this.#cancelPending = true;
    if (states.length > 0) this.#cancelPending = false;
    for (const state of states) {
      because(6, state._cancelPending, undefined);
      delete state._cancelPending;
      const announced =
        happening && ("stop" in happening || "retry" in happening || ("command" in happening && !state.active));
      if (announced) state.completionNotified = because(3, state.completionNotified, true);
    }
  }

  /**
   * 7 and 8: nothing goes on by itself where ours does not; without a user interface it goes on at once.
   * @param {Happening} happening
   * @param {Deeds} deeds
   */
  #holdBack(happening, deeds) {
    if (!this.#bounds.verdict(happening).goesOn) this.#forgetCountdown(deeds);
    if (this.setting.mode !== "print") return;
    const others = deeds.entries.filter(({ customType }) => customType !== "workflow:countdown");
    deeds.entries = because(8, deeds.entries, others);
    passTime(3000);
    deeds.prompts.push(...this.pi.takeDeeds().prompts);
  }

  /**
   * 7: the agent is not at rest while pi tries again.
   * @param {Deeds} deeds
   */
  #waitForRetry(deeds) {
    this.#forgetCountdown(deeds);
    deeds.entries = deeds.entries.filter(({ customType }) => customType !== "workflow:countdown");
  }

  /** @param {Deeds} deeds */
  #forgetCountdown(deeds) {
    if (deeds.widgets.length > 0) {
      this.#stopCountdown(7);
      this.pi.takeDeeds();
      if (deeds.widgets.join() === COUNTDOWN) deeds.widgets = [];
    }
    timerManager.clearAll();
  }

  /**
   * What ours does not do for the agent: the reference has done it, and takes it back.
   * @param {import("./side.mjs").Step} happening
   * @param {Deeds} deeds
   * @returns {Promise<boolean>}
   */
  async #refuse(happening, deeds) {
    const { step, late, yes } = happening;
    const { answer } = deeds;
    if (answer.invalid) return false;
    const place = this.#place;
    const refusal = () => {
      if (late && place && (step === "next" || step === "loop" || step === "cancel")) return because(43, answer, outdated(place));
      if (step === "next" && place && answer.details?.advanced && !this.#handsOver(happening, place)) {
        return because(40, answer, summaryMissing(place));
      }
      if (this.#bounds.verdict(happening).refusesLoop) return because(27, answer, this.#exhausted(deeds));
      if (yes === false && answer.details?.cancelled && this.setting.mode !== "print") return because(26, answer, DECLINED);
      // 35: no loop in a workflow that is gone.
      if (answer.threw === "Cannot read properties of undefined (reading 'loopable')") return because(35, answer, GONE);
      if (answer.text === "Error: could not resolve active workflow after loop.") return because(35, answer, STALE);
      return undefined;
    };
    const instead = refusal();
    if (!instead) return false;
    deeds.answer = instead;
    deeds.entries = [];
    this.pi.leaf = this.#leaf;
    this.pi.status = deeds.status = this.#shown;
    await this.#takeUp();
    return true;
  }

  /**
   * Whether the phase is left as it demands.
   * @param {import("./side.mjs").Step} step
   * @param {Place} place
   */
  #handsOver({ input }, { phase }) {
    const { summary } = this.pi.validated("workflow_step", input) ?? {};
    return phase.summary !== "required" || (typeof summary === "string" && summary.trim() !== "");
  }

  /**
   * What a loop too many gets; the user is told.
   * @param {Deeds} deeds
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
   * 20: a loop enters the nested workflow that it leads to.
   * @param {Happening | undefined} happening
   */
  async #enter(happening) {
    const { state } = this;
    if (!state?.active || !happening || !("step" in happening)) return;
    const entered = enter(state, new Map(this.tree.map((workflow) => [workflow.key, workflow])));
    if (entered === state) return;
    state.currentPath = because(20, state.currentPath, entered.currentPath);
    await this.#takeUp();
  }

  /**
   * 22: the phase that the status line shows after the turn.
   * @param {Happening | undefined} happening
   * @param {Deeds} deeds
   */
  async #status(happening, { status, entries }) {
    const moved = happening && ("step" in happening || "command" in happening) && entries.length > 0;
    const late = this.#bounds.verdict(happening).changed || (moved && status === undefined);
    if (!late || !this.state?.active) return status;
    await this.pi.emit("turn_end");
    return because(22, status, this.pi.takeDeeds().status);
  }

  /**
   * 1: resolved instructions.
   * @param {string} text
   */
  #withoutTemplates(text) {
    const place = Place.of(this.state, this.tree);
    if (!place) return text;
    const { instructions } = place.phase;
    return because(1, text, text.replaceAll(instructions, () => resolve(instructions, place.variables())));
  }

  /**
   * What differs in a terminal only. 17: the end of a run is an entry. 50: what is missing behind `/workflow` is asked for.
   * @param {Deeds} deeds
   */
  #inTerminal({ notices, questions }) {
    if (this.setting.mode !== "tui") return { notices, questions };
    const others = because(17, notices, notices.filter(({ text }) => text !== "Workflow cancelled."));
    const asked = others.map((notice) => this.#asked(notice) ?? notice);
    return {
      notices: asked.filter((what) => "text" in what),
      questions: [...questions, ...asked.filter((what) => "title" in what)],
    };
  }

  /**
   * 50: what ours does in a terminal where the reference says how the command is used.
   * @param {Deeds["notices"][number]} notice
   * @returns {Deeds["notices"][number] | Deeds["questions"][number] | undefined}
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
   * 56: in a terminal the question before another start is a choice.
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
   * 9 and 23: what is offered can be started: it is for users, and the first of its name; one with errors is not unknown.
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
   * @param {Happening | undefined} happening
   * @param {any} answer
   */
  async #answer(happening, answer) {
    if (!happening) return answer;
    if ("complete" in happening) return this.#completions(happening.complete, answer);
    const place = Place.of(this.state, this.tree);
    if (!answer || !place) return answer;
    if (answer.message) return { message: await this.#injected(place) };
    if (answer.details?.cancelPending) {
      const { taskDescription } = place.state;
      return { ...answer, text: answer.text.replace(taskDescription, () => onOneLine(taskDescription)) };
    }
    if (answer.block && place.root.fields.blockReasonTemplate === undefined) {
      return because(39, answer, { ...answer, reason: `${answer.reason}\nTools in this phase: ${toolsRule(place)}` });
    }
    if (!("step" in happening)) return answer;
    if (answer.details?.advanced || answer.details?.looped) {
      return moved(answer, place, (this.#inView = await this.#contextPrompt()));
    }
    if (happening.step !== "status" || !answer.text) return answer;
    return { ...answer, text: this.#withResultsSoFar(place, this.#withoutTemplates(answer.text)) };
  }

  /**
   * 40: the status has what was handed over.
   * @param {Place} place
   * @param {string} text
   */
  #withResultsSoFar(place, text) {
    const results = this.#visits.results(place);
    const at = text.lastIndexOf("**Available profiles:** ");
    return results && at >= 0 ? because(40, text, `${text.slice(0, at)}${results}\n\n${text.slice(at)}`) : text;
  }

  /**
   * 38: the context prompt, or a reminder where the model has it in view.
   * @param {Place} place
   */
  async #injected(place) {
    const prompt = await this.#contextPrompt();
    const inView = this.#inView === prompt && !everyRun(place);
    this.#inView = prompt;
    if (!inView) return { customType: "workflow:context", content: prompt, display: false };
    return because(38, prompt, { customType: "workflow:reminder", content: reminder(place), display: false });
  }

  /** The context prompt of where the run is. */
  async #contextPrompt() {
    const place = Place.of(this.state, this.tree);
    const { message } = /** @type {any} */ (await this.pi.emit("before_agent_start"));
    const delegates = this.setting.tools.includes("delegate_to_subagents");
    return place ? contextPrompt(message.content, place, this.#visits, delegates) : message.content;
  }

  /**
   * 13 and 23: the project's workflows too, and each name once; nothing where it is complete.
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

/** What a terminal asks behind `/workflow` alone, and what is said of a workflow that is not for users. */
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
 * What `next` gets in a phase that cannot be left without a summary.
 * @param {Place} place
 */
function summaryMissing({ phase }) {
  const how = "Call workflow_step with action='next' again and give it a `summary`: what this phase found or did, as far as later phases must know it.";
  const text = `⚠️ The phase ${phase.emoji} ${phase.name} cannot be left without a summary. ${how}`;
  return { text, details: { active: true, error: "summary required" } };
}

/**
 * What a call gets that comes too late.
 * @param {Place} place
 */
function outdated(place) {
  const { phase } = place;
  const current = "The user has moved the workflow meanwhile; this call had no effect. The current phase is";
  const text = `${current} ${phase.emoji} ${phase.name}. Its instructions follow.`;
  return { text, details: { active: true, moved: true } };
}

/**
 * 41: no character is cut in two.
 * @param {string} name
 */
const withWholeCharacters = (name) => because(41, name, name.replace(/[\ud800-\udbff](?=…$)/, ""));

/**
 * 51: names and tasks on one line.
 * @template {string | undefined} T
 * @param {T} text
 * @returns {T}
 */
const onOneLine = (text) => because(51, text, /** @type {T} */ (text?.replaceAll("\n", " ")));

/**
 * 42: nothing of what is shown reaches the terminal as a command.
 * @param {string} text
 */
// eslint-disable-next-line no-control-regex
const plain = (text) => because(42, text, text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, ""));

/**
 * 17: what is for the user's eyes is an entry.
 * @param {{ customType: string, data: any }} entry
 */
function asEntry({ customType, data }) {
  if (!data.message) return { customType, data };
  const { message, options } = data;
  const expected = message.display && options.triggerTurn === false;
  return because(17, { customType, data }, { customType, data: expected ? { content: message.content } : data });
}

/**
 * 42: what a tool says, why a call is refused, and a message that is shown.
 * @param {any} answer
 */
function plainAnswer(answer) {
  if (typeof answer?.text === "string") return { ...answer, text: plain(answer.text) };
  if (typeof answer?.reason === "string") return { ...answer, reason: plain(answer.reason) };
  if (!answer?.message?.display) return answer;
  return { ...answer, message: { ...answer.message, content: plain(answer.message.content) } };
}
