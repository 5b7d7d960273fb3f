// The `pi:extension/session` interface. It reads the session's branch from the leaf, only as far as necessary.
import { textOf } from "./drawing.js";
import { json } from "./json.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext["sessionManager"]} Session */
/** @typedef {import("@earendil-works/pi-coding-agent").ContextEvent["messages"]} Messages */
/** @typedef {import("@earendil-works/pi-coding-agent").CustomEntry} CustomEntry */

/** The maximum length of an entry's data, in characters of JSON. */
const MAX_DATA = 8 * 2 ** 20;

/** The maximum number of entries that pi itself adds when a session starts. */
const NEW = 16;

/**
 * @param {import("./calls.js").Calls} calls
 * @returns {import("./interface.js").Imports["pi:extension/session"]}
 */
export function sessionImports(calls) {
  /** @type {import("./interface.js").Imports["pi:extension/session"]} */
  const functions = {
    entries: (customType, skip, limit, until) => newestEntries(calls.context.sessionManager, customType, skip, limit, until),
    newestMessage: (customType) => newestMessage(calls.context.sessionManager, customType),
  };
  return calls.guarded(functions);
}

/**
 * Returns true if a session has just started and has no entries of extensions.
 * @param {Session} session
 */
export function isNew(session) {
  let count = 0;
  for (const entry of fromLeaf(session)) {
    count += 1;
    if (count > NEW || entry.type.startsWith("custom")) return false;
  }
  return true;
}

/**
 * Returns the data of custom entries of one type, newest first. Data that is too long is replaced by spaces, which are not
 * valid JSON.
 *
 * @param {Session} session
 * @param {string} customType
 * @param {number} skip
 * @param {number} limit
 * @param {string} [until] the newest entry of this type is the last one that is read
 */
export function newestEntries(session, customType, skip, limit, until) {
  /** @type {string[]} */
  const found = [];
  const entries = customEntries(session);
  while (found.length < limit) {
    const entry = entries.at(customType, skip + found.length, until);
    if (!entry) break;
    found.push(json(entry.data, MAX_DATA));
  }
  return found;
}

/**
 * Returns the newest custom message of one type that the model sees. Equal to the result of pi's `buildSessionProjection`,
 * without building the projection of the whole session.
 *
 * @param {Session} session
 * @param {string} customType
 */
export function newestMessage(session, customType) {
  /** The newest edit of each entry; `null` hides the entry. @type {Map<string, { content: any } | null>} */
  const edits = new Map();
  /** @type {import("./interface.js").CustomMessage | undefined} */
  let found;
  /** The first entry that the last compaction kept. @type {string | undefined} */
  let firstKept;
  for (const entry of fromLeaf(session)) {
    if (entry.type === "context_edit") {
      if (!edits.has(entry.targetId)) edits.set(entry.targetId, entry.replacement);
    } else if (entry.type === "compaction") {
      firstKept ??= entry.firstKeptEntryId ?? entry.id;
    } else if (entry.type === "custom_message" && entry.customType === customType && !found) {
      const edit = edits.get(entry.id);
      const { display } = entry;
      if (edit !== null) found = { customType, content: textOf((edit ?? entry).content), display };
    }
    if (firstKept === undefined ? found : entry.id === firstKept) return found;
  }
  // The compaction kept nothing.
  return undefined;
}

/**
 * Removes the custom messages of some types that are not the newest of their type. Returns `undefined` if there are none.
 *
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
  return left.length < messages.length ? { messages: left.reverse() } : undefined;
}

/** The custom entries of a branch, newest first. Reads each entry of the branch at most once, and only when necessary. */
class CustomEntries {
  #count = 0;
  /** The entries of each type, with the number of newer custom entries. @type {Map<string, { entry: CustomEntry, newer: number }[]>} */
  #found = new Map();
  #rest;

  /** @param {Session} session */
  constructor(session) {
    this.leaf = session.getLeafEntry();
    this.#rest = fromLeaf(session);
  }

  /**
   * Returns an entry of a type by its index, newest first; `undefined` if the newest entry of the type `until` is newer.
   *
   * @param {string} customType
   * @param {number} index
   * @param {string | undefined} until
   */
  at(customType, index, until) {
    for (;;) {
      const found = this.#found.get(customType)?.[index];
      const end = until === undefined ? undefined : this.#found.get(until)?.[0];
      if (end && !(found && found.newer <= end.newer)) return undefined;
      if (found || !this.#readNext()) return found?.entry;
    }
  }

  /** Reads the next entry of the branch. Returns false if there is none. */
  #readNext() {
    const { value, done } = this.#rest.next();
    if (done) return false;
    if (value.type === "custom") {
      const found = this.#found.get(value.customType) ?? [];
      if (found.push({ entry: value, newer: this.#count }) === 1) this.#found.set(value.customType, found);
      this.#count += 1;
    }
    return true;
  }
}

/** The custom entries of the last branch that was read. @type {WeakMap<Session, CustomEntries>} */
const known = new WeakMap();

/** @param {Session} session */
function customEntries(session) {
  const entries = known.get(session);
  if (entries && entries.leaf === session.getLeafEntry()) return entries;
  const fresh = new CustomEntries(session);
  known.set(session, fresh);
  return fresh;
}

/** @param {Session} session */
function* fromLeaf(session) {
  let entry = session.getLeafEntry();
  while (entry) {
    yield entry;
    entry = entry.parentId ? session.getEntry(entry.parentId) : undefined;
  }
}
