// One of the two packages in its own stand-in for pi.

import { StandIn } from "./stand-in.mjs";
import { settle } from "./world.mjs";

/** @typedef {import("./stand-in.mjs").Deeds} Deeds */
/** @typedef {import("./place.mjs").State} State */

/**
 * Something that happens to an extension.
 * @typedef {{ event: string, data?: any }} Event one of pi's events
 * @typedef {{ stop: string | undefined }} Stop the agent stops; how its last answer ended, if there was one
 * @typedef {{ retry: true }} Retry the model fails, and pi tries again by itself
 * @typedef {{ restart: string }} Restart a new session or pi, with the entries so far
 * @typedef {{ back: number }} Back the user moves to where the session had so many states of runs
 * @typedef {{ step: unknown, input: unknown, late: boolean, yes: boolean }} Step the agent calls `workflow_step`:
 *   its action, all its arguments, whether it cannot know of a run that the user has started meanwhile, and what the
 *   user says if asked
 * @typedef {{ command: string, text: string, yes: boolean, during: Happening[] }} Command
 *   the user runs a command; `yes` and what happens before it if there is a question
 * @typedef {{ compact: true }} Compact pi sums up what the session has so far
 * @typedef {{ key: true }} Key the user presses a key
 * @typedef {{ complete: string }} Complete the user has typed this much behind `/workflow`
 * @typedef {Event | Stop | Retry | Restart | Back | Step | Command | Compact | Key | Complete} Happening
 */

export class Side {
  /** What was written when the files were read last. @type {import("./trees.mjs").Tree} */
  tree = [];
  /** Whether a question of a command is open. */
  asking = false;
  /** Whether the agent goes on without having come to rest. */
  continues = false;
  #extension;

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionFactory} extension
   * @param {import("./stand-in.mjs").Setting} setting
   */
  constructor(extension, setting) {
    this.#extension = extension;
    this.setting = setting;
    this.pi = new StandIn(setting);
  }

  /** The run that the session tells of. @returns {State | undefined} */
  get state() {
    return this.pi.entriesOf("workflow:state").at(-1)?.data;
  }

  /** The entries of the session with states of runs that both packages store. */
  get stateEntries() {
    return this.pi.entriesOf("workflow:state");
  }

  /**
   * @param {Happening} happening
   * @returns {Promise<Deeds[]>} before and after a question there is one each
   */
  async undergo(happening) {
    /** @type {Deeds[]} */
    const deeds = [];
    this.pi.user = async () => {
      // Of a tool: see difference 26.
      if (!("command" in happening)) return "step" in happening && happening.yes;
      deeds.push(await this.explain(happening, this.pi.takeDeeds()));
      this.asking = true;
      for (const meanwhile of happening.during) deeds.push(...(await this.undergo(meanwhile)));
      this.asking = false;
      return happening.yes;
    };
    await this.prepare(happening);
    const answer = await settle(this.#happen(happening)).catch((error) => ({ threw: error.message }));
    const explained = await this.explain(happening, { ...this.pi.takeDeeds(), answer });
    if ("event" in happening && explained.answer?.message) this.pi.append({ type: "custom_message", ...explained.answer.message });
    deeds.push(explained);
    return deeds;
  }

  /** What happened while time went by. */
  async afterTime() {
    return this.explain(undefined, this.pi.takeDeeds());
  }

  /**
   * Brings about a deliberate difference before something happens.
   * @param {Happening} _happening
   * @returns {Promise<void>}
   */
  async prepare(_happening) {}

  /**
   * What was done, but for deliberate differences.
   * @param {Happening | undefined} _happening
   * @param {Deeds} deeds
   * @returns {Promise<Deeds>}
   */
  async explain(_happening, deeds) {
    return deeds;
  }

  /** @param {Happening} happening */
  async #happen(happening) {
    if ("event" in happening) {
      if (happening.event === "agent_start") this.pi.running = true;
      return this.pi.emit(happening.event, happening.data);
    }
    if ("step" in happening) {
      const input = this.pi.validated("workflow_step", happening.input);
      if (!input) return { invalid: true };
      const { content, details } = await this.pi.callTool("workflow_step", input);
      return { text: content[0].text, details: structuredClone(details) };
    }
    if ("command" in happening) return this.pi.runCommand(happening.command, happening.text);
    if ("key" in happening) return this.pi.pressKey();
    if ("complete" in happening) return this.pi.complete("workflow", happening.complete);
    if ("stop" in happening) return this.#stop(happening.stop);
    if ("retry" in happening) {
      await this.pi.emit("turn_end");
      await this.pi.emit("agent_end", { messages: [{ role: "user" }, { role: "assistant", stopReason: "error" }] });
      return this.pi.emit("agent_start");
    }
    if ("compact" in happening) {
      this.pi.append({ type: "compaction" });
      return this.pi.emit("session_compact");
    }
    if ("back" in happening) {
      this.pi.leaf = this.stateEntries[happening.back - 1];
      return this.pi.emit("session_tree");
    }
    await this.pi.emit("session_shutdown", { reason: happening.restart });
    await this.pi.load(this.#extension);
    // A component that has been asked something is told of the session at once.
    await this.pi.complete("workflow", "-");
    return this.pi.emit("session_start", { reason: happening.restart });
  }

  /**
   * The agent stops, and comes to rest unless an extension makes it go on.
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
