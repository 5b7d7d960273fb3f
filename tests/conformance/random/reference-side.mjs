// The reference, with our deliberate differences brought about or written into what it did.

import { ADVANCE_REMINDER, ORCHESTRATOR, UNAVAILABLE, WORKER } from "./default-texts.mjs";
import { PROPOSED, because, replaced } from "./explained.mjs";
import { Place, enter, resolve } from "./place.mjs";
import { reference, timerManager } from "./reference.mjs";
import { Side } from "./side.mjs";
import { passTime } from "./world.mjs";

/** @typedef {import("./side.mjs").Happening} Happening */
/** @typedef {import("./stand-in.mjs").Deeds} Deeds */

/** Where the prompt says how many phases there are, in a nested workflow. */
const OUTER_TOTAL = /(?<=\n\*\*Progress:\*\* Step \d+ \(\d+\/)\d+(?= in current scope\))/;

/** Pi's events that mean that somebody has taken over. */
const INTERRUPTIONS = new Set(["input", "before_agent_start", "agent_start"]);

export class ReferenceSide extends Side {
  #paused = false;
  /** Whether a pause of ours has just begun or ended. */
  #pauseChanged = false;
  /** Whether it waits for a second `cancel`. */
  #cancelPending = false;

  /** @param {import("./stand-in.mjs").Setting} setting */
  constructor(setting) {
    super(reference, setting);
  }

  /** Whether ours waits for the person now. */
  set paused(/** @type {boolean} */ paused) {
    this.#pauseChanged = paused !== this.#paused;
    this.#paused = paused;
  }

  /** @override @param {Happening} happening */
  async prepare(happening) {
    const event = "event" in happening ? happening.event : "";
    const key = "key" in happening && this.setting.mode === "tui";
    if (key || "restart" in happening || "command" in happening || INTERRUPTIONS.has(event)) {
      this.#stopCountdown("command" in happening && happening.command === "cancel-workflow" ? 4 : 5);
    }
    const otherStep = "step" in happening && happening.step !== "cancel";
    if (this.#cancelPending && (otherStep || "stop" in happening || event === "before_agent_start")) {
      // 6: dropped. It is not in the session, so taking up the run from there forgets it.
      because(6, true, false);
      await this.#takeUp();
    }
  }

  /** @override @param {Happening | undefined} happening @param {Deeds} deeds */
  async explain(happening, deeds) {
    this.#correctStates(happening, deeds);
    if (happening && "stop" in happening) this.#holdBack(deeds);
    if (happening && "step" in happening && happening.step === "loop") await this.#refuseLoop(deeds);
    const starts = happening && "command" in happening && deeds.prompts.length > 0;
    if (happening && ("back" in happening || starts)) {
      this.#stopCountdown(5);
      deeds.widgets.push(...this.pi.takeDeeds().widgets);
    }
    await this.#enter(happening);
    return {
      ...deeds,
      status: await this.#status(happening, deeds.status),
      entries: deeds.entries.map(asEntry),
      prompts: deeds.prompts.map((prompt) => this.#withoutTemplates(prompt)),
      notices: deeds.notices.map(({ level, text }) => ({ level, text: plain(this.#offer(text)) })),
      questions: deeds.questions.map(({ title, message }) => ({ title: plain(title), message: plain(message) })),
      sessionNames: deeds.sessionNames.map((name) => plain(withWholeCharacters(name))),
      answer: this.#answer(happening, deeds.answer),
    };
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
        happening && ("stop" in happening || ("command" in happening && !state.active));
      if (announced) state.completionNotified = because(3, state.completionNotified, true);
    }
  }

  /**
   * 7 and 8: nothing goes on by itself while a run is paused or a question is open; without a user
   * interface it goes on at once.
   * @param {Deeds} deeds
   */
  #holdBack(deeds) {
    if (this.#paused || this.asking) {
      this.#stopCountdown(7);
      this.pi.takeDeeds();
      deeds.widgets = [];
    }
    if (this.setting.mode !== "print") return;
    const others = deeds.entries.filter(({ customType }) => customType !== "workflow:countdown");
    deeds.entries = because(8, deeds.entries, others);
    passTime(3000);
    deeds.prompts.push(...this.pi.takeDeeds().prompts);
  }

  /**
   * 35: no loop in a workflow that is gone.
   * @param {Deeds} deeds
   */
  async #refuseLoop(deeds) {
    if (deeds.answer.threw === "Cannot read properties of undefined (reading 'loopable')") {
      const error = "The workflow is no longer available.";
      deeds.answer = because(35, deeds.answer, { text: `⚠️ ${error}`, details: { active: true, error } });
    }
    if (deeds.answer.text !== "Error: could not resolve active workflow after loop.") return;
    deeds.answer = because(35, deeds.answer, { text: UNAVAILABLE, details: { active: false, stale: true } });
    deeds.entries = [];
    this.pi.dropLeaf();
    await this.#takeUp();
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
   * @param {string | undefined} status
   */
  async #status(happening, status) {
    const moved = happening && ("step" in happening || "command" in happening);
    const plain = happening && ("stop" in happening || "event" in happening) && !this.asking;
    const paused = plain && this.#pauseChanged;
    const late = paused || (moved && status === undefined);
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
   * 23: what is offered can be started: it is for people, and the first of its name.
   * @param {string} text
   */
  #offer(text) {
    const unknown = /^Unknown workflow: ".*"\. Available: /s.exec(text)?.[0];
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
  #answer(happening, answer) {
    if (!happening) return answer;
    if ("complete" in happening) return this.#completions(happening.complete, answer);
    if (!answer) return answer;
    if ("step" in happening && answer.text) return { ...answer, text: this.#withoutTemplates(answer.text) };
    if (answer.message) {
      return { message: { ...answer.message, content: this.#prompt(answer.message.content) } };
    }
    return answer;
  }

  /**
   * 13 and 23: the project's workflows too, and each name once.
   * @param {string} prefix
   * @param {{ value: string, label: string }[] | null} answer
   */
  #completions(prefix, answer) {
    const names = this.#startable().map(({ fields }) => fields.commandName ?? "");
    if (this.tree.some(({ root }) => root === "project")) {
      const offered = names.filter((name) => name.startsWith(prefix)).map((name) => ({ value: name, label: name }));
      return because(13, answer, offered.length > 0 ? offered : null);
    }
    const isFirst = (/** @type {{ value: string }} */ { value }, /** @type {number} */ index) =>
      answer?.findIndex((other) => other.value === value) === index;
    return answer && because(23, answer, answer.filter(isFirst));
  }

  /**
   * 2 and 14: the context prompt.
   * @param {string} prompt
   */
  #prompt(prompt) {
    const place = Place.of(this.state, this.tree);
    if (!place) return prompt;
    const { roleInstruction, advanceReminder } = place.root.fields;
    const [wrong, right] = [place.variablesOfReference(), place.variables()];
    const innermost = (/** @type {string} */ template, /** @type {string} */ before, /** @type {string} */ after) => {
      const as = (/** @type {Record<string, string>} */ variables) => before + resolve(template, variables) + after;
      prompt = replaced(2, prompt, as(wrong), as(right));
    };
    if (place.scopes.length > 1) {
      innermost(roleInstruction ?? "", "]\n\n", "\n\n**Task:** ");
      innermost(place.phase.instructions, "**What to do in this phase:**\n", "\n\n**Available subagent profiles");
      innermost(advanceReminder ?? ADVANCE_REMINDER, `\n**All profiles:** ${allProfiles(prompt)}\n\n`, "");
      prompt = because(2, prompt, prompt.replace(OUTER_TOTAL, String(place.scope.phases.length)));
    }
    const delegates = this.setting.tools.includes("delegate_to_subagents");
    return roleInstruction === undefined && !delegates ? replaced(14, prompt, ORCHESTRATOR, WORKER) : prompt;
  }
}

/**
 * 101: no character is cut in two.
 * @param {string} name
 */
const withWholeCharacters = (name) => because(PROPOSED.wholeCharacters, name, name.replace(/[\ud800-\udbff](?=…$)/, ""));

/**
 * 102: nothing of what is shown reaches the terminal as a command.
 * @param {string} text
 */
// eslint-disable-next-line no-control-regex
const plain = (text) => because(PROPOSED.plainText, text, text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, ""));

/** @param {string} prompt */
const allProfiles = (prompt) => /\n\*\*All profiles:\*\* (.*)\n\n/.exec(prompt)?.[1] ?? "";

/**
 * 17: what is for the person's eyes is an entry.
 * @param {{ customType: string, data: any }} entry
 */
function asEntry({ customType, data }) {
  if (!data.message) return { customType, data };
  const { message, options } = data;
  const expected = message.display && options.triggerTurn === false;
  return because(17, { customType, data }, { customType, data: expected ? { content: message.content } : data });
}
