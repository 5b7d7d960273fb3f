// Registers the guest's tools with pi.
import { Drawing, guestDrawing, textOf } from "./drawing.js";
import { plainText } from "./plain-text.js";
import { moment } from "./guest.js";
import { json } from "./json.js";

/** @typedef {import("./interface.js").Tool} Tool */

/** The reason for refusing a call if the guest trapped while it handled the call. */
export const BROKEN_CALL = "The extension that decides about this call broke while it did. The call is refused; try again.";
/** The reason for refusing a call while the guest is switched off. */
export const OFF_CALL = "The extension that decides about this call broke and is switched off. The call is refused; tell the user.";

export class Tools {
  /** Names of the registered tools. @type {Set<string>} */
  #names = new Set();
  /** The calls of all tools that have begun and not ended. @type {Map<string, import("./interface.js").ToolCall>} */
  #running = new Map();
  #pi;
  #host;
  #guest;
  #calls;
  #requests;

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
   * @param {import("./load.js").Host} host
   * @param {import("./guest.js").Guest} guest
   * @param {import("./calls.js").Calls} calls
   * @param {import("./requests.js").Requests} requests
   */
  constructor(pi, host, guest, calls, requests) {
    this.#pi = pi;
    this.#host = host;
    this.#guest = guest;
    this.#calls = calls;
    this.#requests = requests;
  }

  /** The calls that have begun and not ended, in the order of their beginning. */
  get running() {
    return [...this.#running.values()];
  }

  /** @param {import("./interface.js").ToolCall} call */
  begin(call) {
    this.#running.delete(call.id);
    this.#running.set(call.id, call);
  }

  /** @param {unknown} id */
  end(id) {
    this.#running.delete(String(id));
  }

  /** Learns the ends of calls from pi. */
  watchEnds() {
    this.#pi.on("tool_result", ({ toolCallId }) => this.end(toolCallId));
    this.#pi.on("tool_execution_end", ({ toolCallId }) => this.end(toolCallId));
    // The model's calls end with the agent's run; a call that another tool made may still run.
    this.#pi.on("agent_end", () => {
      for (const { id, parent } of this.running) if (parent === undefined) this.end(id);
    });
  }

  endAll() {
    this.#running.clear();
  }

  /** @param {Tool} tool */
  register(tool) {
    if (this.#names.has(tool.name)) return;
    this.#names.add(tool.name);
    const { name, label, description, parameters, promptSnippet, promptGuidelines, sequential } = tool;
    const draw = guestDrawing(this.#calls, this.#host, 0);
    this.#pi.registerTool({
      name,
      label,
      description,
      parameters: JSON.parse(parameters),
      promptSnippet,
      promptGuidelines,
      executionMode: sequential ? "sequential" : undefined,
      execute: async (id, input, signal, onUpdate, context) => {
        if (this.#guest.off) throw new Error(OFF_CALL);
        const parent = this.#running.get(id)?.parent;
        const call = { id, name, parent, carriesCalls: false };
        const outcome = this.#calls.call(context, "executeTool", moment(), call, json(input));
        const progress = {
          show: (/** @type {string} */ text) => onUpdate?.({ content: [{ type: "text", text }], details: {} }),
          begin: () => () => {},
        };
        const result = await this.#requests.complete(
          context,
          outcome,
          (ticket, answer) => this.#calls.call(context, "resumeTool", moment(), ticket, answer),
          progress,
          signal,
        );
        // pi converts an exception to the result of a failed call.
        if (!result) throw new Error(BROKEN_CALL);
        const { text, details } = result.val;
        return { content: [{ type: "text", text: plainText(text) }], details: JSON.parse(details) };
      },
      renderCall: (input, theme, context) => draw(theme, "drawToolCall", name, json(input), context?.expanded === true),
      renderResult: ({ content, details }, { expanded, isPartial }, theme) => {
        if (isPartial) return new Drawing(() => mutedText(textOf(content)), theme, this.#host, 0);
        const output = { text: textOf(content), details: json(details) };
        return draw(theme, "drawToolResult", name, output, expanded);
      },
    });
  }
}

/**
 * @param {string} text
 * @returns {import("./interface.js").Drawing}
 */
function mutedText(text) {
  return { tag: "lines", val: [[{ text, color: "muted", bold: false }]] };
}
