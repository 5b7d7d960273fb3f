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

/** The reason for refusing a call with the id of another one. */
export const TAKEN_ID = "Another call with the same id is running. The call is refused; make it again.";

/** The result of a call whose arguments are incomplete. */
const INCOMPLETE_CALL =
  "The arguments of this call are not complete JSON: perhaps the answer was cut off. The call had no effect. Make it again, with shorter arguments.";

/**
 * The calls of all tools that have begun and not ended. A model chooses the ids of its calls, and may choose one that
 * another call has, so no two running calls have the same id, and a call has ended when all calls with its id have: pi
 * tells the end of each call once, also of those that it refuses.
 */
export class RunningCalls {
  /** The running calls, in the order of their beginning. @type {Map<string, import("./interface.js").ToolCall>} */
  #running = new Map();
  /** By id, the calls that pi has started and not ended, and the call that made them. @type {Map<string, { count: number, parent?: string }>} */
  #started = new Map();
  /**
   * The calls of the model in this turn, in their order; without `call` those that are refused.
   * @type {{ call?: import("./interface.js").ToolCall, begun: number, isAborted: boolean }[]}
   */
  #turn = [];
  #ended;

  /** @param {(id: string) => void} ended called when a call has ended */
  constructor(ended = () => {}) {
    this.#ended = ended;
  }

  get all() {
    return [...this.#running.values()];
  }

  /** @param {string} id */
  get(id) {
    return this.#running.get(id);
  }

  /**
   * Notes that a call has begun. Returns false if its id is that of a running call, or of the maker of one.
   * @param {import("./interface.js").ToolCall} call
   */
  begin(call) {
    const makers = [...this.#started.values()].map(({ parent }) => parent);
    if (this.#running.has(call.id) || makers.includes(call.id)) return false;
    this.#running.set(call.id, call);
    // pi starts the next call of an answer after this event.
    if (call.parent === undefined) Object.assign(this.#turn.at(-1) ?? {}, { call, begun: performance.now() });
    return true;
  }

  /** Notes that a call is refused. @param {import("./interface.js").ToolCall} call */
  refuse(call) {
    if (this.#running.get(call.id) === call) this.#running.delete(call.id);
    for (const own of this.#turn) if (own.call === call) own.call = undefined;
  }

  /** @param {string} id */
  #end(id) {
    this.#started.delete(id);
    if (this.#running.delete(id)) this.#ended(id);
  }

  /** Learns the starts and ends of calls from pi. @param {ExtensionAPI} pi */
  watch(pi) {
    pi.on("turn_start", () => {
      this.#turn = [];
    });
    pi.on("tool_execution_start", (/** @type {any} */ { toolCallId, parentToolCallId: parent }, { signal }) => {
      const id = String(toolCallId);
      const started = this.#started.get(id) ?? { count: 0, parent };
      this.#started.set(id, { ...started, count: started.count + 1 });
      // pi gives the rest of an aborted answer's calls a result without `tool_call`.
      if (parent === undefined) this.#turn.push({ begun: 0, isAborted: signal?.aborted === true });
    });
    pi.on("tool_execution_end", ({ toolCallId }) => {
      const id = String(toolCallId);
      const started = this.#started.get(id);
      if (started && started.count > 1) this.#started.set(id, { ...started, count: started.count - 1 });
      else this.#end(id);
    });
    // The model's calls end with the agent's run; a call that another tool made may still run.
    pi.on("agent_end", () => {
      for (const [id, { parent }] of [...this.#started, ...this.#running]) if (parent === undefined) this.#end(id);
    });
  }

  endAll() {
    for (const id of [...this.#running.keys()]) this.#end(id);
    this.#started.clear();
    this.#turn = [];
  }

  /**
   * Returns the calls of a turn that is over. pi does not tell the extension of a call that pi itself refuses. A call that
   * has not begun is none.
   * @param {any} event pi's event `turn_end`
   * @returns {import("../target/types/interfaces/pi-extension-guest.js").EndedCall[]}
   */
  ofTurn({ message, toolResults }) {
    const made = (Array.isArray(message?.content) ? message.content : []).filter(
      (/** @type {any} */ { type }) => type === "toolCall",
    );
    const results = Array.isArray(toolResults) ? toolResults : [];
    return results.flatMap(({ toolName, content, isError }, at) => {
      const { call, begun, isAborted } = this.#turn[at] ?? {};
      if (isAborted) return [];
      const text = json([toolName, made[at]?.arguments, content, isError === true]);
      return {
        name: String(toolName),
        hash: createHash("sha256").update(text).digest().readBigUInt64LE(),
        refused: call === undefined,
        durationMs: BigInt(Math.round(call && begun !== undefined ? performance.now() - begun : 0)),
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

/** @param {string} text @returns {import("./interface.js").Drawing} */
function mutedText(text) {
  return { tag: "lines", val: [[{ text, color: "muted", bold: false }]] };
}
