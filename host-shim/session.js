// What a session says to a guest. Its branch is walked from the leaf, so what lies before the last one
// wanted is not looked at.
import { textOf } from "./drawing.js";
import { json } from "./json.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext["sessionManager"]} Session */
/** @typedef {import("@earendil-works/pi-coding-agent").ContextEvent["messages"]} Messages */
/** @typedef {import("@earendil-works/pi-coding-agent").CustomEntry} CustomEntry */

/** Maximum length of an entry's data, in characters of JSON. */
const MAX_DATA = 8 * 2 ** 20;

/** What pi itself notes when a session begins is no more than this many entries. */
const NEW = 16;

/**
 * Whether a session has just begun, and no extension has left anything in it.
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
 * The data of custom entries of one type, newest first. For what is very long there are blanks, which are no JSON.
 *
 * @param {Session} session
 * @param {string} customType
 * @param {number} skip
 * @param {number} limit
 * @param {string} [until] the newest entry of this type is the last one that is looked at
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
 * The newest custom message of one type that the model sees: what pi's `buildSessionProjection` leaves
 * of it, without building that of a whole session.
 *
 * @param {Session} session
 * @param {string} customType
 */
export function newestMessage(session, customType) {
  /** The newest edit of each entry; `null` hides it. @type {Map<string, { content: any } | null>} */
  const edits = new Map();
  /** @type {{ customType: string, content: string, display: boolean } | undefined} */
  let found;
  /** Where the part begins that the last compaction kept. @type {string | undefined} */
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
 * The messages for the model without those custom ones of some types that have a newer one of their type;
 * nothing if there are none.
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

/** The custom entries of a branch, newest first, looked for as far as somebody asks and no part twice. */
class CustomEntries {
  #count = 0;
  /** Those of each type, and how many custom entries are newer. @type {Map<string, { entry: CustomEntry, newer: number }[]>} */
  #found = new Map();
  #rest;

  /** @param {Session} session */
  constructor(session) {
    this.leaf = session.getLeafEntry();
    this.#rest = fromLeaf(session);
  }

  /**
   * The entry of a type that so many are newer than; nothing if the newest one of the type `until` is newer too.
   * @param {string} customType
   * @param {number} index
   * @param {string | undefined} until
   */
  at(customType, index, until) {
    for (;;) {
      const found = this.#found.get(customType)?.[index];
      const end = until === undefined ? undefined : this.#found.get(until)?.[0];
      if (end && !(found && found.newer <= end.newer)) return undefined;
      if (found || !this.#look()) return found?.entry;
    }
  }

  /** Looks at one more entry of the branch; whether there is one. */
  #look() {
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

/** Those of the branch that was asked for last. @type {WeakMap<Session, CustomEntries>} */
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
