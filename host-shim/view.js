// The model's view of the conversation: filters the messages of pi's `context` event. The session keeps all of them.

import { isDeepStrictEqual } from "node:util";

import { imagesOf } from "./session.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ContextEvent["messages"]} Messages */
/** @typedef {import("./session.js").Session} Session */

/**
 * The messages from one entry of the session on, and a summary with images of user messages in place of those before.
 * @typedef {{ firstKept: string, summary: string, imagesOf: string[] }} Begun
 */

export class View {
  /** The types of custom messages of which the model is sent only the newest. @type {Set<string>} */
  #newestOnly = new Set();
  /** @type {Begun | undefined} */
  #begun;
  #filtering = false;
  #pi;

  /** @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
  constructor(pi) {
    this.#pi = pi;
  }

  /**
   * @param {string} customType
   * @param {boolean} keep
   */
  keepNewest(customType, keep) {
    if (!keep) return void this.#newestOnly.delete(customType);
    this.#newestOnly.add(customType);
    this.#filter();
  }

  /** @param {Begun} begun */
  begin(begun) {
    this.#begun = begun;
    this.#filter();
  }

  /** Ends the view that `begin` began. */
  end() {
    this.#begun = undefined;
  }

  /** Forgets all settings of an instance. */
  reset() {
    this.#newestOnly.clear();
    this.end();
  }

  #filter() {
    if (this.#filtering) return;
    this.#filtering = true;
    this.#pi.on("context", ({ messages }, { sessionManager }) => {
      const begun = this.#begun && withoutEarlier(messages, this.#begun, sessionManager);
      const left = withoutOlder(begun ?? messages, this.#newestOnly);
      return left === messages ? undefined : { messages: left };
    });
  }
}

/**
 * Replaces the messages before an entry of the session by a summary. Returns the same list if the entry is not on the
 * branch.
 * @param {Messages} messages
 * @param {Begun} begun
 * @param {Pick<Session, "buildSessionProjection" | "getBranch" | "getEntry">} session
 * @returns {Messages}
 */
export function withoutEarlier(messages, begun, session) {
  const { firstKept, summary } = begun;
  const { entries } = session.buildSessionProjection();
  let first = entries.findIndex(({ sourceEntry }) => sourceEntry.id === firstKept);
  if (first < 0) {
    if (!session.getBranch().some(({ id }) => id === firstKept)) return messages;
    first = 1; // A later compaction left it out. Its summary comes first.
  }
  const kept = entries.slice(first).flatMap((entry) => entry.messages.filter(({ role }) => String(role) !== "system"));
  // Other extensions may have removed or added messages before or behind.
  const start = messages.findIndex((message) => kept.some((other) => isDeepStrictEqual(message, other)));
  const left = start < 0 ? messages.slice(Math.max(0, messages.length - kept.length)) : messages.slice(start);
  const timestamp = Date.now();
  const images = imagesOf(session, begun.imagesOf);
  /** @type {Messages} */
  const shown = images.length > 0 ? [{ role: "user", content: images, timestamp }] : [];
  return [{ role: "compactionSummary", summary, tokensBefore: 0, timestamp }, ...shown, ...left];
}

/**
 * Removes the custom messages of some types that are not the newest of their type. Returns the same list if there are
 * none.
 * @param {Messages} messages
 * @param {ReadonlySet<string>} types
 */
export function withoutOlder(messages, types) {
  const seen = new Set();
  const left = messages.toReversed().filter((message) => {
    if (message.role !== "custom" || !types.has(message.customType)) return true;
    if (seen.has(message.customType)) return false;
    seen.add(message.customType);
    return true;
  });
  return left.length < messages.length ? left.reverse() : messages;
}
