// Registers pi's `read`, `edit` and `write` with file operations that can be confined, call by call.
//
// pi's own definitions do the work, so their schemas, texts, diffs and rendering are pi's. A call is judged before it
// runs, and the judgement is kept with its arguments, of which pi passes the same object to the handler and to the
// tool. Nothing is opened before the tool runs: a call that another extension refuses, or that is aborted, leaves
// nothing behind.
//
// A descriptor in place of the call's path would be shorter and was tried, but then the handlers of extensions that are
// loaded later, guards of paths among them, see the descriptor instead of the path.
import { fileOperations } from "#sandbox";

/** @typedef {"read" | "edit" | "write"} FileTool */
/** @typedef {import("#sandbox").Reach} Reach */
/** @typedef {import("@earendil-works/pi-coding-agent").ToolDefinition<any, any, any>} ToolDefinition */

/** The reason for refusing a call that was not judged. */
const NOT_JUDGED = "The extension that decides about this call did not see it. The call is refused.";

export class FileTools {
  /** The definitions that were registered. @type {Map<string, ToolDefinition>} */
  #registered = new Map();
  /**
   * The tools that were registered before the agent's current turn began: a turn uses the tools of its beginning.
   * @type {Set<string>}
   */
  #inUse = new Set();
  /**
   * The reach of the calls that were allowed, by their arguments; `undefined` for a call without limits.
   * @type {WeakMap<object, Reach | undefined>}
   */
  #judged = new WeakMap();
  /** The replaced tools of which the user was told. @type {Set<string>} */
  #told = new Set();
  #pi;
  #codingAgent;
  #tell;

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
   * @param {typeof import("@earendil-works/pi-coding-agent")} codingAgent
   * @param {(message: string) => void} tell tells the user
   */
  constructor(pi, codingAgent, tell) {
    this.#pi = pi;
    this.#codingAgent = codingAgent;
    this.#tell = tell;
  }

  /** Registers the tools that no extension has replaced. */
  register() {
    if (this.#registered.size === 0) {
      this.#pi.on("turn_start", () => {
        for (const name of this.#registered.keys()) this.#inUse.add(name);
      });
    }
    for (const name of /** @type {const} */ (["read", "edit", "write"])) {
      if (this.#registered.has(name) || this.#otherTool(name)) continue;
      const definition = this.#definition(name);
      this.#registered.set(name, definition);
      this.#pi.registerTool(definition);
    }
  }

  /** @param {FileTool} name @returns {ToolDefinition} */
  #definition(name) {
    const { createReadToolDefinition, createEditToolDefinition, createWriteToolDefinition } = this.#codingAgent;
    // Each call works in the folder of its own context.
    const create = (/** @type {Reach} */ { writable, check }) => {
      const operations = fileOperations(writable, check);
      if (name === "edit") return createEditToolDefinition("", { operations });
      if (name === "write") return createWriteToolDefinition("", { operations });
      const { readable: access, readFile, imageType: detectImageMimeType } = operations;
      return createReadToolDefinition("", { operations: { access, readFile, detectImageMimeType } });
    };
    /** @type {ToolDefinition} */
    const own = { read: createReadToolDefinition, edit: createEditToolDefinition, write: createWriteToolDefinition }[
      name
    ]("");
    return {
      ...own,
      execute: async (id, parameters, ...rest) => {
        const input = /** @type {object} */ (parameters);
        if (!this.#judged.has(input)) throw new Error(NOT_JUDGED);
        const reach = this.#judged.get(input);
        /** @type {ToolDefinition} */
        const tool = reach ? create(reach) : own;
        return tool.execute(id, input, ...rest);
      },
    };
  }

  /** Allows a call without limits. @param {unknown} input its arguments */
  allow(input) {
    if (typeof input === "object" && input !== null) this.#judged.set(input, undefined);
  }

  /**
   * Allows a call within limits.
   * @param {FileTool} name
   * @param {object} input its arguments
   * @param {Reach} reach
   * @returns {string | undefined} the reason for refusing the call
   */
  confine(name, input, reach) {
    const other = this.replaced(name);
    if (other) return other;
    this.register();
    if (!this.#inUse.has(name))
      return `The tool "${name}" can be confined from the next message on. Make the call again.`;
    this.#judged.set(input, reach);
    return undefined;
  }

  /**
   * Returns the reason for refusing calls of a tool that is not pi's; `undefined` for a tool of pi. The user is told
   * once which extension has replaced the tool.
   * @param {string} name
   */
  replaced(name) {
    const other = this.#otherTool(name);
    if (!other) return undefined;
    if (!this.#told.has(name)) {
      this.#told.add(name);
      this.#tell(
        `The extension ${other.path} has replaced the tool "${name}", so its calls are refused where a phase or the user's limits confine them. An extension that only changes how the tool is drawn can use pi.registerToolRenderer instead (pi 1.0.1 or later).`,
      );
    }
    return `An extension has replaced the tool "${name}", so it cannot be confined.`;
  }

  /** Returns the origin of a tool of this name that is not pi's. @param {string} name */
  #otherTool(name) {
    const found = this.#pi.getAllTools().find((tool) => tool.name === name);
    const own = this.#registered.get(name)?.promptGuidelines;
    // For a registered definition pi returns the definition's own list, not a copy.
    const isOther = found?.sourceInfo.source !== "builtin" && (own === undefined || found?.promptGuidelines !== own);
    return isOther ? { path: found?.sourceInfo.path ?? "of an unknown origin" } : undefined;
  }
}
