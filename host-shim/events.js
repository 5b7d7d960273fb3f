// Converts pi's events to events of the interface, and the guest's outcomes to results of pi's handlers.
import { NOT_GRANTED } from "./calls.js";
import { plainText } from "./plain-text.js";
import { plainMessage } from "./messages.js";
import { levelOf } from "./models.js";
import { imagesOf } from "./session.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionAPI} ExtensionAPI */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("./interface.js").Event} Event */
/** @typedef {import("./models.js").Models} Models */
/** @typedef {import("./interface.js").EventKind} EventKind */

/** @type {readonly import("./interface.js").InputSource[]} */
const SOURCES = ["interactive", "rpc", "extension"];
/** @type {readonly import("./interface.js").SessionReason[]} */
const REASONS = ["startup", "reload", "new", "resume", "fork", "quit"];

/**
 * An event of pi. Its fields are unknown: versions of pi differ in them.
 * @typedef {any} PiEvent
 */

/** @typedef {keyof typeof EVENTS} PiEventName */

/** The converter for each of pi's events, by pi's name. */
export const EVENTS = {
  session_start: (/** @type {PiEvent} */ { reason }) => event({ tag: "session-start", val: known(REASONS, reason) }),
  session_tree: () => event({ tag: "session-tree" }),
  session_compact: () => event({ tag: "session-compact" }),
  session_shutdown: (/** @type {PiEvent} */ { reason }) => event({ tag: "session-shutdown", val: known(REASONS, reason) }),
  input: (/** @type {PiEvent} */ { source }) => event({ tag: "input", val: known(SOURCES, source) }),
  before_agent_start: () => event({ tag: "before-agent-start" }),
  agent_start: () => event({ tag: "agent-start" }),
  turn_start: () => event({ tag: "turn-start" }),
  turn_end: () => event({ tag: "turn-end" }),
  // Some versions of pi report an error if a tool was aborted.
  agent_end: (/** @type {PiEvent} */ { messages }, /** @type {Context} */ context) =>
    event({ tag: "agent-end", val: isAborted(context) ? "aborted" : lastStopReason(messages) }),
  agent_before_settle: () => event({ tag: "agent-before-settle" }),
  agent_settled: () => event({ tag: "agent-settled" }),
  tool_call: (/** @type {PiEvent} */ call, /** @type {Context} */ _context, /** @type {ExtensionAPI} */ pi) =>
    event({ tag: "tool-call", val: toolCall(call, pi) }),
  model_select: (
    /** @type {PiEvent} */ { model: { provider, id } },
    /** @type {Context} */ context,
    /** @type {ExtensionAPI} */ _pi,
    /** @type {Models} */ models,
  ) => event({ tag: "model-select", val: { model: { provider, id }, byGuest: models.selected({ provider, id }, context) } }),
  thinking_level_select: (
    /** @type {PiEvent} */ { level },
    /** @type {Context} */ context,
    /** @type {ExtensionAPI} */ _pi,
    /** @type {Models} */ models,
  ) => event({ tag: "thinking-level-select", val: { level: levelOf(level), byGuest: models.selectedLevel(level, context) } }),
};

/**
 * pi's name for each kind of event. `undefined`: not an event of pi, see `ui.watch-terminal`.
 * @type {Record<EventKind, PiEventName | undefined>}
 */
const NAMES = {
  "session-start": "session_start",
  "session-tree": "session_tree",
  "session-compact": "session_compact",
  "session-shutdown": "session_shutdown",
  input: "input",
  "terminal-input": undefined,
  "before-agent-start": "before_agent_start",
  "agent-start": "agent_start",
  "turn-end": "turn_end",
  "agent-end": "agent_end",
  "agent-before-settle": "agent_before_settle",
  "agent-settled": "agent_settled",
  "tool-call": "tool_call",
  "model-select": "model_select",
  "thinking-level-select": "thinking_level_select",
  "turn-start": "turn_start",
};

/**
 * Returns pi's name for a kind of event; `undefined` if it is not an event of pi.
 * @param {string} kind
 */
export function eventName(kind) {
  if (!Object.hasOwn(NAMES, kind)) throw new Error(`The extension subscribes to the event "${kind}", which the loader does not know.`);
  return NAMES[/** @type {EventKind} */ (kind)];
}

/** Gives a literal its type. @param {Event} event */
const event = (event) => event;

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
 * Returns true if a tool is one of pi's own and declares that it reaches other tools. A tool of an extension that declares
 * this may have other effects as well.
 *
 * @param {ExtensionAPI} pi
 * @param {string} name
 */
function carriesCalls(pi, name) {
  try {
    const tool = /** @type {any} */ (pi.getAllTools().find((tool) => tool.name === name));
    return typeof tool?.reachesTools === "function" && tool.sourceInfo?.source === "builtin";
  } catch {
    return false; // The session no longer exists.
  }
}

/**
 * Returns the value if the interface knows it. A later version of pi may have more.
 *
 * @template {string} Known
 * @param {readonly Known[]} values
 * @param {Known} value
 * @returns {Known | "other"}
 */
function known(values, value) {
  return values.includes(value) ? value : "other";
}

/** @param {Context} context */
function isAborted(context) {
  try {
    return context.signal?.aborted;
  } catch {
    return false; // The session no longer exists.
  }
}

/**
 * @param {{ role: string, stopReason?: string }[]} messages
 * @returns {import("./interface.js").StopReason | undefined}
 */
function lastStopReason(messages) {
  const reason = messages.findLast(({ role }) => role === "assistant")?.stopReason;
  switch (reason) {
    case undefined:
    case "stop":
    case "length":
    case "error":
    case "aborted":
      return reason;
    case "toolUse":
      return "tool-use";
    default:
      return "other";
  }
}

/**
 * Returns the result of pi's handler for an outcome.
 *
 * @param {import("./interface.js").EventOutcome | undefined} outcome
 * @param {PiEvent} event
 */
export function handlerResult(outcome, event) {
  switch (outcome?.tag) {
    case "block":
      return refusal(plainText(outcome.val));
    case "stop":
      return { ...refusal(plainText(outcome.val)), terminate: true };
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
 * @param {import("./load.js").Manifest} manifest
 * @param {import("./session.js").Session} session
 */
export function boundaryResult(boundary, event, manifest, session) {
  const entries = boundary.entries.map((draft) => {
    switch (draft.tag) {
      case "custom":
        return { type: "custom", customType: draft.val.customType, data: JSON.parse(draft.val.data) };
      case "custom-message":
        return { type: "custom_message", ...withImages(plainMessage(draft.val.message), imagesOf(session, draft.val.imagesOf)) };
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

/**
 * The result with which a handler refuses a tool call.
 * @param {string} reason
 */
export function refusal(reason) {
  return { block: true, reason };
}
