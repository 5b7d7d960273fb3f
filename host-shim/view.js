// The model's view of the conversation: changes the messages of pi's `context` event. The session keeps all of them as
// they are.

import { isDeepStrictEqual } from "node:util";

import { imagesOf } from "./session.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ContextEvent["messages"]} Messages */
/** @typedef {import("./session.js").Session} Session */

/**
 * The messages from one entry of the session on, and a summary with images of user messages in place of the earlier
 * messages.
 * @typedef {{ firstKept: string, summary: string, imagesOf: string[] }} Begun
 */

/** @typedef {Messages[number]} Message */

export class View {
  /** The types of custom messages that are the guest's. @type {Set<string>} */
  #own = new Set();
  /** @type {Begun | undefined} */
  #begun;
  /** Messages of the guest that pi stores after the current turn. @type {Message[]} */
  #coming = [];

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
   * @param {Pick<import("./load.js").Host["codingAgent"], "convertToLlm">} codingAgent
   */
  constructor(pi, { convertToLlm }) {
    pi.on("context", ({ messages }, { sessionManager }) => {
      const begun = this.#begun && withoutEarlier(messages, this.#begun, sessionManager, this.#own);
      const seen = begun ?? messages;
      const joined = withOwnJoined(withComing(seen, this.#coming), this.#own, begun !== undefined, convertToLlm);
      return joined === messages ? undefined : { messages: joined };
    });
  }

  /** @param {string} customType of messages of the guest */
  registered(customType) {
    this.#own.add(customType);
  }

  /** @param {Begun} begun */
  begin(begun) {
    this.#begun = begun;
  }

  /**
   * Adds a message to the next request; pi stores it after that turn. Returns false if the text is already in view.
   * @param {Extract<Message, { role: "custom" }>} message
   * @param {Pick<Session, "buildSessionProjection">} session
   */
  send(message, session) {
    const text = textOf(message);
    if (session.buildSessionProjection().messages.some((other) => textOf(other).includes(text))) return false;
    this.#coming.push(message);
    return true;
  }

  /** Ends the view that `begin` began, and forgets the messages of `send`, which pi has stored. */
  end() {
    this.#begun = undefined;
    this.#coming = [];
  }
}

/**
 * Replaces the messages before an entry of the session by a summary. Returns the same list if the entry is not on the
 * branch. Other extensions may have changed, added or removed messages. A message since the entry is never left out: if
 * it is not found in the list, it is taken from the session.
 *
 * @param {Messages} messages
 * @param {Begun} begun
 * @param {Pick<Session, "buildSessionProjection" | "getBranch" | "getEntry">} session
 * @param {ReadonlySet<string>} own the types of custom messages of the guest
 * @returns {Messages}
 */
export function withoutEarlier(messages, begun, session, own) {
  const { firstKept, summary } = begun;
  const { entries } = session.buildSessionProjection();
  let first = entries.findIndex(({ sourceEntry }) => sourceEntry.id === firstKept);
  if (first < 0) {
    if (!session.getBranch().some(({ id }) => id === firstKept)) return messages;
    first = 1; // A later compaction left the entry out. The summary of the compaction comes first.
  }
  const of = (/** @type {typeof entries} */ some) =>
    some.flatMap((entry) => entry.messages.filter(({ role }) => String(role) !== "system"));
  const left = since(messages, of(entries.slice(0, first)), of(entries.slice(first)), own);
  const timestamp = Date.now();
  const images = imagesOf(session, begun.imagesOf);
  /** @type {Messages} */
  const shown = images.length > 0 ? [{ role: "user", content: images, timestamp }] : [];
  return [{ role: "compactionSummary", summary, tokensBefore: 0, timestamp }, ...shown, ...left];
}

/**
 * Returns the messages behind the last earlier message, or from the first later message on.
 * @param {Messages} messages
 * @param {Messages} earlier the messages of the session before the cut
 * @param {Messages} later the messages of the session behind the cut
 * @param {ReadonlySet<string>} own
 */
function since(messages, earlier, later, own) {
  const ages = messages.map((message) => ageOf(message, earlier, later));
  const start = ages.includes("earlier") ? ages.lastIndexOf("earlier") + 1 : ages.indexOf("later");
  const found = start < 0 ? [] : messages.slice(start);
  const isThere = (/** @type {Message} */ one) =>
    found.some((message) => hasTextOf(message, one) || isSame(message, one));
  const isLost = start < 0 || later.some((one) => isOwn(one, own) && !isThere(one));
  const left = isLost ? later : found;
  const calls = new Set(left.flatMap((message) => (message.role === "assistant" ? callsOf(message) : [])));
  return left.filter((message) => message.role !== "toolResult" || calls.has(message.toolCallId));
}

/**
 * Tells if a message is one of the earlier or of the later messages of the session, by the first comparison that holds
 * for only one of the two.
 *
 * @param {Message} message
 * @param {Messages} earlier
 * @param {Messages} later
 */
function ageOf(message, earlier, later) {
  for (const same of SAME) {
    const [isEarlier, isLater] = [earlier, later].map((of) => of.some((other) => same(message, other)));
    if (isEarlier !== isLater) return isEarlier ? "earlier" : "later";
  }
  return "unknown";
}

/** The length, in UTF-16 code units, from which a text belongs to one message only. */
const LONG = 40;

/** The ways to compare a message with one of the session, the surest first. @type {((a: Message, b: Message) => boolean)[]} */
const SAME = [
  (a, b) => isDeepStrictEqual(a, b),
  (a, b) => a.role === "toolResult" && b.role === "toolResult" && a.toolCallId === b.toolCallId,
  (a, b) => a.role === "assistant" && b.role === "assistant" && callsOf(a).some((id) => callsOf(b).includes(id)),
  isSame,
  (a, b) => isOfUser(a) && isOfUser(b) && a.timestamp === b.timestamp,
  hasTextOf,
];

/** @param {Message} a @param {Message} b */
function isSame(a, b) {
  const typeOf = (/** @type {Message} */ message) => (message.role === "custom" ? message.customType : "");
  return a.role === b.role && a.timestamp === b.timestamp && typeOf(a) === typeOf(b);
}

/** @param {Message} a @param {Message} b */
function hasTextOf(a, b) {
  const text = textOf(b);
  return text.length >= LONG && textOf(a).includes(text);
}

/** @param {Message} message */
function textOf(message) {
  if ("summary" in message) return message.summary;
  const content = "content" in message ? message.content : "";
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : "")).join("\n");
}

/** @param {Message & { role: "assistant" }} message */
const callsOf = ({ content }) => content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));

/**
 * Adds the messages that are not there yet.
 * @param {Messages} messages
 * @param {Messages} coming
 */
function withComing(messages, coming) {
  const isThere = (/** @type {Message} */ one) =>
    messages.some((other) => other.role === "custom" && textOf(other) === textOf(one));
  const left = coming.filter((message) => !isThere(message));
  return left.length > 0 ? [...messages, ...left] : messages;
}

/** @param {Message} message @param {ReadonlySet<string>} own */
const isOwn = (message, own) => message.role === "custom" && own.has(message.customType);

/**
 * Returns false for messages that pi leaves out of requests: the user's own commands behind `!!`, and answers that
 * failed or were stopped.
 * @param {Message} message
 */
function isSent(message) {
  if (message.role === "bashExecution") return !message.excludeFromContext;
  return message.role !== "assistant" || (message.stopReason !== "error" && message.stopReason !== "aborted");
}

/** Roles of messages that the model is sent as the user's. */
const USERS = ["user", "custom", "bashExecution", "branchSummary", "compactionSummary"];

/** @param {Message} message */
const isOfUser = ({ role }) => USERS.includes(role);

/**
 * Makes one message of messages in a row that the model is sent as the user's, if one of them is the guest's: templates
 * of some models refuse two messages of one role in a row. The summary of a compaction counts as the guest's.
 *
 * @param {Messages} messages
 * @param {ReadonlySet<string>} own the types of custom messages of the guest
 * @param {boolean} begun true if there is a summary of the guest
 * @param {import("./load.js").Host["codingAgent"]["convertToLlm"]} convertToLlm
 * @returns {Messages}
 */
export function withOwnJoined(messages, own, begun, convertToLlm) {
  if (!begun && !messages.some((message) => isOwn(message, own))) return messages;
  const joins = (/** @type {Message} */ message) => isOwn(message, own) || message.role === "compactionSummary";
  /** @type {Messages[]} */
  const rows = [];
  for (const message of messages.filter(isSent)) {
    const row = rows.at(-1);
    if (row && isOfUser(row[0]) && isOfUser(message)) row.push(message);
    else rows.push([message]);
  }
  if (!rows.some((row) => row.length > 1 && row.some(joins))) return messages;
  return rows.flatMap((row) => {
    if (row.length === 1 || !row.some(joins)) return row;
    const content = convertToLlm(row).flatMap(({ content }) =>
      typeof content === "string" ? [{ type: "text", text: content }] : /** @type {any[]} */ (content),
    );
    return [/** @type {Message} */ ({ role: "user", content, timestamp: row[0].timestamp })];
  });
}
