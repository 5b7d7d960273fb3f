// Carries out the outcome `confine` for pi's tools: runs the command line of `bash` in the sandbox, and lets the file
// tools reach the writable paths only, and nothing that is hidden.
import { join } from "node:path";

import { absolutePath, Busy, canConfine, messageOf, plainText, realPath, SandboxSession, unlessFails } from "#sandbox";

import { NOT_GRANTED } from "./calls.js";
import { FileTools } from "./file-tools.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("#sandbox").Limits} Limits */
/** @typedef {import("#sandbox").Watch} Watch */

/**
 * A tool call of pi.
 * @typedef {object} Call
 * @property {string} toolName
 * @property {string} toolCallId
 * @property {any} input its arguments
 */

/** The key of the status that tells what is looked at. */
const LOOK = "sandbox";

/** The text that follows the output of a killed command of which processes are left. */
const LEFT = "Processes of a killed command have not ended yet. Until they have, commands and searches are refused.";

export class Confinement {
  /** True if the ends of tool calls are observed. */
  #observing = false;
  #pi;
  #granted;
  #fileTools;
  #sandbox;

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
   * @param {{ codingAgent: typeof import("@earendil-works/pi-coding-agent") }} host
   * @param {boolean} granted true if the manifest grants confinement
   * @param {() => import("./shell.js").UserShell} [shell] returns the shell of pi's `bash`
   * @param {(message: string) => void} [tell] tells the user
   */
  constructor(pi, { codingAgent }, granted, shell, tell = () => {}) {
    this.#pi = pi;
    this.#granted = granted;
    this.#fileTools = new FileTools(pi, codingAgent, tell);
    const agentFolder = () => {
      const path = codingAgent.getAgentDir();
      return { path, name: "pi's agent folder", programs: join(path, "bin") };
    };
    this.#sandbox = new SandboxSession(agentFolder, shell);
  }

  /** Notes the start of a session, which may be gone. @param {Context} context */
  begin(context) {
    unlessFails(() => this.#sandbox.begin(context.cwd));
  }

  /** Prepares the confinement of file tools, from the agent's next turn on. */
  prepare() {
    // If pi is not ready, or the session is gone, the first call that is to be confined tries again.
    if (this.#granted) unlessFails(() => this.#fileTools.register());
  }

  /** Returns if command lines can be confined. @param {boolean} network @throws {Error} with the reason */
  test(network) {
    this.#checkGrant();
    canConfine(network);
  }

  #checkGrant() {
    if (!this.#granted) throw new Error(NOT_GRANTED);
  }

  #observe() {
    if (this.#observing) return;
    this.#observing = true;
    this.#pi.on("tool_result", (event, { signal }) => this.#result(event, signal));
    this.#pi.on("agent_start", (_, { signal }) => this.#sandbox.settled(signal));
  }

  /** Notes the end of a call. @param {string} id */
  ended(id) {
    this.#sandbox.ended(id);
  }

  /** Waits for a limited time until the processes of killed commands have ended; `undefined` if there are none. */
  settled() {
    return this.#sandbox.isLeft ? this.#sandbox.settled() : undefined;
  }

  /**
   * Returns a call for the processes of killed commands that are left, unless a command is among the running calls.
   * @param {import("./interface.js").ToolCall[]} running
   * @returns {import("./interface.js").ToolCall[]}
   */
  leftBeside(running) {
    const isTold = running.some(({ name }) => name === "bash");
    return isTold || !this.#sandbox.isLeft ? [] : [{ id: "", name: "bash", parent: undefined, carriesCalls: false }];
  }

  /**
   * Confines a tool call. Waits for a limited time if the call could meet a command or search of another session.
   * @param {Call} call
   * @param {Limits} limits
   * @param {Context} context
   * @returns {Promise<string | undefined>} the reason for refusing the call
   */
  async confine(call, limits, context) {
    try {
      const { signal, ui } = context;
      const tell = (/** @type {string | undefined} */ what) =>
        unlessFails(() => ui.setStatus(LOOK, what && `The sandbox looks at ${plainText(what)} …`));
      return await this.#sandbox.whenFree(() => this.#tryToConfine(call, limits, context, { signal, tell }), signal);
    } catch (error) {
      return whyNot(error);
    }
  }

  /**
   * @param {Call} call
   * @param {Limits} limits
   * @param {Context} context
   * @param {Watch} watch
   * @returns {Promise<string | undefined>} the reason for refusing the call
   */
  async #tryToConfine({ toolName, toolCallId, input }, limits, context, watch) {
    const { cwd } = context;
    if (toolName === "bash" && typeof input?.command === "string") {
      this.#observe();
      this.#checkGrant();
      const at = { cwd, session: context.sessionManager.getSessionId(), ...watch };
      input.command = await this.#sandbox.command(toolCallId, input.command, limits, at);
      return undefined;
    }
    if ((toolName === "read" || toolName === "edit" || toolName === "write") && typeof input?.path === "string") {
      this.#checkGrant();
      const reach = this.#sandbox.reach(limits, cwd, toolName !== "read", watch);
      return this.#fileTools.confine(toolName, input, reach);
    }
    if (toolName === "grep" || toolName === "find" || toolName === "ls")
      return this.#confineSearch({ toolName, toolCallId, input }, limits, context, watch);
    return `The tool "${plainText(String(toolName))}" cannot be confined.`;
  }

  /**
   * Confines a search in a folder. Names are not hidden, so only `grep` is kept from folders around hidden paths.
   * @param {Call} call
   * @param {Limits} limits
   * @param {Context} context
   * @param {Watch} watch
   * @returns {Promise<string | undefined>} the reason for refusing the call
   */
  async #confineSearch({ toolName, toolCallId, input }, limits, { cwd }, watch) {
    const other = this.#fileTools.replaced(toolName);
    if (other) return other;
    const path = input?.path ?? ".";
    if (typeof path !== "string") return `The tool "${toolName}" cannot be confined without a readable path.`;
    const find = () => realPath(absolutePath(path, cwd));
    const place = find();
    const isGrep = toolName === "grep";
    const project =
      toolName === "ls" ? undefined : await this.#sandbox.projectOfSearch(isGrep ? "grep" : "find", watch);
    const places = [...(isGrep ? [place] : []), ...(project === undefined ? [] : [project])];
    const isSearch = places.length > 0;
    if (isSearch) this.#observe();
    let allowed = false;
    try {
      if (isSearch && !this.#sandbox.search(toolCallId, places))
        return `A command is running. Run "${toolName}" after it, or search with "bash".`;
      if (project !== undefined) await this.#sandbox.projectOfSearch(isGrep ? "grep" : "find", watch);
      // From here on no command line changes the place, but one that has ended since may have changed the path.
      if (find() !== place) throw new Busy(`${place} was replaced meanwhile`);
      const { itself, inside } = await this.#sandbox.hiddenAt(limits, cwd, place, watch);
      if (itself) return `${plainText(place)} is hidden.`;
      if (isGrep && inside !== undefined)
        return `${plainText(inside)} is hidden, and "grep" would search it. Search with "bash".`;
      allowed = true;
      return undefined;
    } finally {
      if (isSearch && !allowed) this.#sandbox.ended(toolCallId);
    }
  }

  /** Notes a call that runs without limits. @param {Call} call */
  notConfined({ input }) {
    this.#fileTools.allow(input);
  }

  /** Notes the end of the session. */
  end() {
    this.#sandbox.end();
  }

  /**
   * Returns the changed result of a command line that failed because of its limits, or of which processes are left. Waits
   * until there are none, for a limited time.
   * @param {any} event pi's event `tool_result`
   * @param {AbortSignal} [signal]
   */
  async #result({ toolName, toolCallId, content }, signal) {
    if (!Array.isArray(content)) return undefined;
    if (toolName === "bash") await this.#sandbox.settled(signal);
    const isLeft = toolName === "bash" && !signal?.aborted && this.#sandbox.isLeft;
    const output = content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    const notices = [this.#sandbox.notice(toolCallId, output), isLeft && LEFT];
    const told = notices.flatMap((notice) => (notice ? { type: "text", text: plainText(notice) } : []));
    return told.length === 0 ? undefined : { content: [...content, ...told] };
  }
}

/** @param {unknown} error */
function whyNot(error) {
  return `The call cannot be confined${error instanceof Busy ? " now" : ""}: ${plainText(messageOf(error))}`;
}
