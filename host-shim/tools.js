// Registers the guest's tools with pi.
import { createHash } from "node:crypto";

import { plainText } from "#sandbox";

import { drawingWith, textOf } from "./drawing.js";
import { moment } from "./guest.js";
import { json } from "./json.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionAPI} ExtensionAPI */

/** The reason for refusing a call if the guest trapped while it handled the call. */
export const BROKEN_CALL =
  "The extension that decides about this call broke while it did. The call is refused; try again.";
/** The reason for refusing a call while the guest is switched off. */
export const OFF_CALL =
  "The extension that decides about this call broke and is switched off. The call is refused; tell the user.";

/** The result of a call whose arguments are incomplete. */
const INCOMPLETE_CALL =
  "The arguments of this call are not complete JSON: perhaps the answer was cut off. The call had no effect. Make it again, with shorter arguments.";

/** The calls of all tools that have begun and not ended. */
export class RunningCalls {
  /** The running calls, in the order of their beginning. @type {Map<string, import("./interface.js").ToolCall>} */
  #running = new Map();
  /** The beginnings of the calls of this turn that are not refused, in milliseconds. @type {Map<string, number>} */
  #begun = new Map();
  /** The calls of this turn that have not begun, because the agent was aborted before. @type {Set<string>} */
  #unbegun = new Set();

  get all() {
    return [...this.#running.values()];
  }

  /** @param {string} id */
  get(id) {
    return this.#running.get(id);
  }

  /** @param {import("./interface.js").ToolCall} call */
  begin(call) {
    this.end(call.id);
    this.#running.set(call.id, call);
    this.#begun.set(call.id, performance.now());
  }

  /** Notes that a call is refused. @param {unknown} id */
  refuse(id) {
    this.end(id);
    this.#begun.delete(String(id));
  }

  /** @param {unknown} id */
  end(id) {
    this.#running.delete(String(id));
  }

  /** Learns the ends of calls from pi. @param {ExtensionAPI} pi */
  watchEnds(pi) {
    pi.on("tool_result", ({ toolCallId }) => this.end(toolCallId));
    pi.on("tool_execution_end", ({ toolCallId }) => this.end(toolCallId));
    // pi gives the rest of an aborted answer's calls a result without `tool_call`.
    pi.on("tool_execution_start", ({ toolCallId }, { signal }) => {
      if (signal?.aborted) this.#unbegun.add(toolCallId);
    });
    // The model's calls end with the agent's run; a call that another tool made may still run.
    pi.on("agent_end", () => {
      for (const { id, parent } of this.all) if (parent === undefined) this.end(id);
    });
  }

  endAll() {
    this.#running.clear();
    this.#begun.clear();
    this.#unbegun.clear();
  }

  /**
   * Returns the calls of a turn that is over. pi does not tell the extension of a call that pi itself refuses. A call that
   * has not begun is none.
   * @param {any} event pi's event `turn_end`
   * @returns {import("./interface.js").EndedCall[]}
   */
  ofTurn({ message, toolResults }) {
    const [begun, unbegun] = [this.#begun, this.#unbegun];
    this.#begun = new Map();
    this.#unbegun = new Set();
    const parts = Array.isArray(message?.content) ? message.content : [];
    const results = (Array.isArray(toolResults) ? toolResults : []).filter(({ toolCallId: id }) => !unbegun.has(id));
    return results.map(({ toolCallId, toolName, content, isError }) => {
      const since = begun.get(String(toolCallId));
      const call = parts.find((/** @type {any} */ { type, id }) => type === "toolCall" && id === toolCallId);
      const text = json([toolName, call?.arguments, content, isError === true]);
      return {
        name: String(toolName),
        hash: createHash("sha256").update(text).digest().readBigUInt64LE(),
        refused: since === undefined,
        durationMs: BigInt(Math.round(since === undefined ? 0 : performance.now() - since)),
        cutOff: message?.stopReason === "length",
      };
    });
  }
}

/**
 * @param {import("./extension.js").Parts} parts
 * @param {RunningCalls} running
 * @param {import("./interface.js").Tool} tool
 */
export function registerTool({ pi, host, guest, calls, requests, argumentText }, running, tool) {
  const { name, label, description, parameters, promptSnippet, promptGuidelines, sequential } = tool;
  const draw = drawingWith(host, 0);
  argumentText.watch(pi);
  pi.registerTool({
    name,
    label,
    description,
    parameters: JSON.parse(parameters),
    promptSnippet,
    promptGuidelines,
    executionMode: sequential ? "sequential" : undefined,
    prepareArguments: (/** @type {any} */ input) => {
      const prepared = calls.callNow("prepareArguments", name, json(input));
      return prepared === undefined ? input : JSON.parse(prepared);
    },
    execute: async (id, input, signal, onUpdate, context) => {
      if (guest.off) throw new Error(OFF_CALL);
      if (argumentText.isIncomplete(id)) throw new Error(INCOMPLETE_CALL);
      const call = { id, name, parent: running.get(id)?.parent, carriesCalls: false };
      const outcome = calls.call(context, "executeTool", moment(), call, json(input));
      const progress = {
        show: (/** @type {string} */ text) => onUpdate?.({ content: [{ type: "text", text }], details: {} }),
        begin: () => () => {},
      };
      const result = await requests.complete(
        context,
        outcome,
        (ticket, answer) => calls.call(context, "resumeTool", moment(), ticket, answer),
        progress,
        signal,
      );
      // pi converts an exception to the result of a failed call.
      if (!result) throw new Error(BROKEN_CALL);
      const { text, details } = result.val;
      const terminate = result.tag === "last" && { terminate: true };
      return { content: [{ type: "text", text: plainText(text) }], details: JSON.parse(details), ...terminate };
    },
    renderCall: (input, theme, context) =>
      draw(theme, () => calls.callNow("drawToolCall", name, json(input), context?.expanded === true)),
    renderResult: ({ content, details }, { expanded, isPartial }, theme) => {
      if (isPartial) return draw(theme, () => mutedText(textOf(content)));
      const output = { text: textOf(content), details: json(details) };
      return draw(theme, () => calls.callNow("drawToolResult", name, output, expanded));
    },
  });
}

/**
 * @param {string} text
 * @returns {import("./interface.js").Drawing}
 */
function mutedText(text) {
  return { tag: "lines", val: [[{ text, color: "muted", bold: false }]] };
}
