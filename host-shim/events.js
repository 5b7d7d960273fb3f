// Converts pi's events to events of the interface, and the guest's outcomes to results of pi's handlers.
import { plainText, unlessFails } from "#sandbox";

import { NOT_GRANTED } from "./calls.js";
import { known } from "./interface.js";
import { plainMessage } from "./messages.js";
import { LEVELS } from "./models.js";
import { imagesOf } from "./session.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionAPI} ExtensionAPI */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("./interface.js").Event} Event */
/** @typedef {import("./models.js").Models} Models */
/** @typedef {import("./tools.js").RunningCalls} RunningCalls */

/** @type {readonly import("./interface.js").InputSource[]} */
const SOURCES = ["interactive", "rpc", "extension"];
/** @type {readonly import("../target/types/interfaces/pi-extension-guest.js").SessionReason[]} */
const REASONS = ["startup", "reload", "new", "resume", "fork", "quit"];
/** @type {readonly import("./interface.js").StopReason[]} */
const STOP_REASONS = ["stop", "length", "error", "aborted"];

/**
 * An event of pi. Its fields are unknown: versions of pi differ in them.
 * @typedef {any} PiEvent
 */

/**
 * pi's name for a kind of event.
 * @template {string} Kind
 * @typedef {Kind extends `${infer First}-${infer Rest}` ? `${First}_${NameOf<Rest>}` : Kind} NameOf
 */

/** The kinds of events that are not pi's. @type {readonly ["terminal-input", "child-progress", "child-end", "time-skipped"]} */
const OWN = ["terminal-input", "child-progress", "child-end", "time-skipped"];

/** @typedef {NameOf<Exclude<import("../target/types/interfaces/pi-extension-api.js").EventKind, typeof OWN[number]>>} PiEventName */

/** The maximum number of inputs that are kept. */
const MAX_INPUTS = 100;

/**
 * The inputs whose messages have not reached the agent: pi does not tell the source of a message. A message whose text
 * is not the text of an input, because an extension has changed it, has an unknown source.
 */
export class Inputs {
  /** @type {{ text: string, source: import("./interface.js").InputSource }[]} */
  #waiting = [];

  /** Notes an input, and returns its source. @param {PiEvent} event */
  given({ text, source: given }) {
    const source = known(SOURCES, given);
    this.#waiting = [...this.#waiting, { text: String(text), source }].slice(-MAX_INPUTS);
    return source;
  }

  /** Returns the source of a message that has reached the agent. @param {PiEvent} message */
  arrived({ content }) {
    const texts = typeof content === "string" ? [content] : (content ?? []).map((/** @type {any} */ { text }) => text);
    const index = this.#waiting.findIndex(({ text }) => texts.includes(text));
    return index < 0 ? "other" : this.#waiting.splice(index, 1)[0].source;
  }

  /** Forgets all inputs: the agent is at rest, so no input waits. */
  clear() {
    this.#waiting = [];
  }
}

/**
 * Returns the event of the interface; `undefined` if the guest does not get it.
 * @typedef {(event: PiEvent, context: Context, pi: ExtensionAPI, models: Models, inputs: Inputs, running: RunningCalls) => Event | undefined} Converter
 */

/** The converter for each of pi's events, by pi's name. @type {Record<PiEventName, Converter>} */
export const EVENTS = {
  session_start: ({ reason }) => ({ tag: "session-start", val: known(REASONS, reason) }),
  session_tree: () => ({ tag: "session-tree" }),
  session_compact: () => ({ tag: "session-compact" }),
  session_shutdown: ({ reason }) => ({ tag: "session-shutdown", val: known(REASONS, reason) }),
  input: (event, _context, _pi, _models, inputs) => ({ tag: "input", val: inputs.given(event) }),
  before_agent_start: () => ({ tag: "before-agent-start" }),
  agent_start: () => ({ tag: "agent-start" }),
  turn_start: () => ({ tag: "turn-start" }),
  message_start: ({ message }, _context, _pi, _models, inputs) =>
    message?.role === "user" ? { tag: "message-start", val: inputs.arrived(message) } : undefined,
  turn_end: (event, _context, _pi, _models, _inputs, running) => ({ tag: "turn-end", val: running.ofTurn(event) }),
  agent_end: ({ messages }, context) => ({ tag: "agent-end", val: stopReason(messages, context) }),
  agent_before_settle: () => ({ tag: "agent-before-settle" }),
  agent_settled: (_event, _context, _pi, _models, inputs) => {
    inputs.clear();
    return { tag: "agent-settled" };
  },
  tool_call: (call, _context, pi) => ({ tag: "tool-call", val: toolCall(call, pi) }),
  model_select: ({ model: { provider, id } }, context, _pi, models) => {
    const model = { provider, id };
    return { tag: "model-select", val: { model, byGuest: models.selected(model, context) } };
  },
  thinking_level_select: ({ level }, context, _pi, models) => {
    return {
      tag: "thinking-level-select",
      val: { level: known(LEVELS, level), byGuest: models.selectedLevel(level, context) },
    };
  },
};

/**
 * Returns pi's name for a kind of event; `undefined` if it is not an event of pi, see `ui.watch-terminal`, `children` and
 * `timers.watch-clock`.
 * @param {string} kind
 */
export function eventName(kind) {
  const name = kind.replaceAll("-", "_");
  if (Object.hasOwn(EVENTS, name)) return /** @type {PiEventName} */ (name);
  if (OWN.some((own) => own === kind)) return undefined;
  throw new Error(`The extension subscribes to the event "${kind}", which the loader does not know.`);
}

/**
 * @param {PiEvent} event
 * @param {ExtensionAPI} pi
 * @returns {import("./interface.js").ToolCall}
 */
export function toolCall({ toolCallId, toolName, parentToolCallId: parent }, pi) {
  return {
    id: String(toolCallId),
    name: String(toolName),
    parent: parent === undefined ? undefined : String(parent),
    carriesCalls: carriesCalls(pi, toolName),
  };
}

/**
 * Returns true if a tool is one of pi's own and declares that it reaches other tools. A tool of an extension that
 * declares this may have other effects as well.
 *
 * @param {ExtensionAPI} pi
 * @param {string} name
 */
function carriesCalls(pi, name) {
  const tools = /** @type {any[]} */ (unlessFails(() => pi.getAllTools()) ?? []);
  const tool = tools.find((tool) => tool.name === name);
  return typeof tool?.reachesTools === "function" && tool.sourceInfo?.source === "builtin";
}

/**
 * Returns the stop reason of the last answer; `undefined` without an answer.
 *
 * @param {{ role: string, stopReason?: string }[]} messages
 * @param {Context} context
 * @returns {import("./interface.js").StopReason | undefined}
 */
function stopReason(messages, context) {
  // Some versions of pi report an error if a tool was aborted.
  if (unlessFails(() => context.signal?.aborted)) return "aborted";
  const reason = messages.findLast(({ role }) => role === "assistant")?.stopReason;
  if (reason === undefined) return undefined;
  return reason === "toolUse" ? "tool-use" : known(STOP_REASONS, reason);
}

/**
 * Returns the result of pi's handler for an outcome.
 *
 * @param {import("../target/types/interfaces/pi-extension-guest.js").EventOutcome | undefined} outcome
 * @param {PiEvent} event
 */
export function handlerResult(outcome, event) {
  switch (outcome?.tag) {
    case "block":
      return refusal(plainText(outcome.val));
    case "stop":
      return { ...refusal(plainText(outcome.val)), terminate: true };
    case "drop":
      return { action: "handled" };
    case "inject":
      return { message: plainMessage(outcome.val) };
    case "continue":
      return { entries: [...event.entries, { type: "custom_message", ...plainMessage(outcome.val) }], continue: true };
    default:
      return undefined;
  }
}

/**
 * Returns the result of pi's handler for entries that follow a turn.
 *
 * @param {import("./interface.js").Boundary} boundary
 * @param {PiEvent} event
 * @param {import("./manifest.js").Manifest} manifest
 * @param {import("./session.js").Session} session
 */
export function boundaryResult(boundary, event, manifest, session) {
  const entries = boundary.entries.map((draft) => {
    switch (draft.tag) {
      case "custom":
        return { type: "custom", customType: draft.val.customType, data: JSON.parse(draft.val.data) };
      case "custom-message":
        return {
          type: "custom_message",
          ...withImages(plainMessage(draft.val.message), imagesOf(session, draft.val.imagesOf)),
        };
      case "compaction":
        if (!manifest.conversation) throw new Error(NOT_GRANTED);
        return { type: "compaction", summary: draft.val.summary, firstKeptEntryId: draft.val.firstKept ?? null };
    }
  });
  return { entries: [...event.entries, ...entries], continue: event.continue || boundary.continue };
}

/**
 * @param {{ customType: string, content: string, display: boolean }} message
 * @param {ReturnType<typeof imagesOf>} images
 */
function withImages(message, images) {
  return images.length === 0 ? message : { ...message, content: [{ type: "text", text: message.content }, ...images] };
}

/** The result with which a handler refuses a tool call. @param {string} reason */
export function refusal(reason) {
  return { block: true, reason };
}
