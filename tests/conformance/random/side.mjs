// One of the two packages in its own mock of pi.

import { MockPi } from "./stand-in.mjs";
import { settle } from "./world.mjs";

/** @typedef {import("./stand-in.mjs").Effects} Effects */
/** @typedef {import("./place.mjs").State} State */

/**
 * An input to an extension.
 * @typedef {{ event: string, data?: any }} Event an event of pi
 * @typedef {{ stop: string | undefined }} Stop the agent stops, with the stop reason of the model's last answer, if
 *   there is one
 * @typedef {{ retry: true }} Retry the model fails, and pi retries
 * @typedef {{ restart: string }} Restart the session or pi starts again with the current entries
 * @typedef {{ back: number }} Back the user navigates to the point with this number of state entries
 * @typedef {{ step: unknown, input: unknown, late: boolean, yes: boolean }} Step the agent calls `workflow_step`:
 *   `step` is the action, `input` all arguments; `late`: the call was begun before the user started the run; `yes`: the
 *   user's
 *   answer to a question
 * @typedef {{ command: string, text: string, yes: boolean, during: Trigger[] }} Command
 *   the user runs a command; if it asks a question, `during` happens before the answer `yes`
 * @typedef {{ compact: true }} Compact pi compacts the session
 * @typedef {{ key: true }} Key the user presses a key
 * @typedef {{ complete: string }} Complete the user has typed this prefix after `/workflow`
 * @typedef {Event | Stop | Retry | Restart | Back | Step | Command | Compact | Key | Complete} Trigger
 */

export class Side {
  /** The workflows in the files. @type {import("./trees.mjs").Tree} */
  tree = [];
  /** True while a question of a command is open. */
  asking = false;
  /** True if the agent continues without becoming idle. */
  continues = false;
  #extension;

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionFactory} extension
   * @param {import("./stand-in.mjs").Setting} setting
   */
  constructor(extension, setting) {
    this.#extension = extension;
    this.setting = setting;
    this.pi = new MockPi(setting);
  }

  /** The newest stored state of a run in the session. @returns {State | undefined} */
  get state() {
    return this.pi.entriesOf("workflow:state").at(-1)?.data;
  }

  /** The state entries that both packages store. */
  get stateEntries() {
    return this.pi.entriesOf("workflow:state");
  }

  /**
   * @param {Trigger} trigger
   * @returns {Promise<Effects[]>} one item, or one before and one after each question
   */
  async apply(trigger) {
    /** @type {Effects[]} */
    const effects = [];
    this.pi.user = async () => {
      // A question of a tool: see difference 26.
      if (!("command" in trigger)) return "step" in trigger && trigger.yes;
      effects.push(await this.explain(trigger, this.pi.takeEffects()));
      this.asking = true;
      for (const meanwhile of trigger.during) effects.push(...(await this.apply(meanwhile)));
      this.asking = false;
      return trigger.yes;
    };
    await this.prepare(trigger);
    const answer = await settle(this.#perform(trigger)).catch((error) => ({ threw: error.message }));
    const explained = await this.explain(trigger, { ...this.pi.takeEffects(), answer });
    if ("event" in trigger && explained.answer?.message)
      this.pi.append({ type: "custom_message", ...explained.answer.message });
    effects.push(explained);
    return effects;
  }

  /** Returns the effects of timers. */
  async afterTime() {
    return this.explain(undefined, this.pi.takeEffects());
  }

  /**
   * Applies deliberate differences before a trigger.
   * @param {Trigger} _trigger
   * @returns {Promise<void>}
   */
  async prepare(_trigger) {}

  /**
   * Returns the effects without the deliberate differences.
   * @param {Trigger | undefined} _trigger
   * @param {Effects} effects
   * @returns {Promise<Effects>}
   */
  async explain(_trigger, effects) {
    return effects;
  }

  /** @param {Trigger} trigger */
  async #perform(trigger) {
    if ("event" in trigger) {
      if (trigger.event === "agent_start") this.pi.running = true;
      return this.pi.emit(trigger.event, trigger.data);
    }
    if ("step" in trigger) {
      const input = this.pi.validated("workflow_step", trigger.input);
      if (!input) return { invalid: true };
      const { content, details } = await this.pi.callTool("workflow_step", input);
      return { text: content[0].text, details: structuredClone(details) };
    }
    if ("command" in trigger) return this.pi.runCommand(trigger.command, trigger.text);
    if ("key" in trigger) return this.pi.pressKey();
    if ("complete" in trigger) return this.pi.complete("workflow", trigger.complete);
    if ("stop" in trigger) return this.#stop(trigger.stop);
    if ("retry" in trigger) {
      await this.pi.emit("turn_end");
      await this.pi.emit("agent_end", { messages: [{ role: "user" }, { role: "assistant", stopReason: "error" }] });
      return this.pi.emit("agent_start");
    }
    if ("compact" in trigger) {
      this.pi.append({ type: "compaction" });
      return this.pi.emit("session_compact");
    }
    if ("back" in trigger) {
      this.pi.leaf = this.stateEntries[trigger.back - 1];
      return this.pi.emit("session_tree");
    }
    await this.pi.emit("session_shutdown", { reason: trigger.restart });
    await this.pi.load(this.#extension);
    // The first call makes the component receive the session without a delay.
    await this.pi.complete("workflow", "-");
    return this.pi.emit("session_start", { reason: trigger.restart });
  }

  /**
   * The agent stops and becomes idle, unless an extension continues it.
   * @param {string | undefined} stopReason
   */
  async #stop(stopReason) {
    await this.pi.emit("turn_end");
    const answer = stopReason === undefined ? [] : [{ role: "assistant", stopReason }];
    await this.pi.emit("agent_end", { messages: [{ role: "user" }, ...answer] });
    /** @type {any} */
    const more = stopReason === "aborted" ? undefined : await this.pi.emit("agent_before_settle", { entries: [] });
    this.pi.running = false;
    this.continues = Boolean(more?.continue);
    if (!more?.continue) await this.pi.emit("agent_settled");
    return more;
  }
}
