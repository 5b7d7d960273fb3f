// The `pi:extension/session` interface. It reads the session's branch from the leaf, only as far as necessary.
import { closeSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";

import { untrusted } from "#sandbox";

import { NOT_GRANTED } from "./calls.js";
import { claimStep } from "./claims.js";
import { textOf } from "./drawing.js";
import { json } from "./json.js";
import { fromLeaf } from "./branch-entries.js";
import { usageSince } from "./usage.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext["sessionManager"]} Session */
/** @typedef {import("@earendil-works/pi-coding-agent").CustomEntry} CustomEntry */

/** The maximum length of an entry's data, in characters of JSON. */
const MAX_DATA = 8 * 2 ** 20;

/** The maximum length of the text of a user message, in UTF-16 code units. */
const MAX_USER_MESSAGE = 65_536;

/** The maximum number of entries that pi itself adds when a session starts. */
const NEW = 16;

/**
 * @param {import("./calls.js").Calls} calls
 * @param {import("./manifest.js").Manifest} manifest
 * @param {boolean} isChild
 * @returns {import("./interface.js").Imports["pi:extension/session"]}
 */
export function sessionImports(calls, manifest, isChild) {
  /** @type {import("./interface.js").Imports["pi:extension/session"]} */
  const functions = {
    entries: (customType, skip, limit, until) =>
      newestEntries(calls.context.sessionManager, customType, skip, limit, until),
    newestMessage: (customType) => newestMessage(calls.context.sessionManager, customType),
    leafId: () => calls.context.sessionManager.getLeafId() ?? undefined,
    userMessages: (since, limit) => {
      if (!manifest.conversation) throw new Error(NOT_GRANTED);
      return userMessages(calls.context.sessionManager, since, limit);
    },
    usageSince: (customType) => usageSince(calls.context.sessionManager, customType),
    writeFile: () => writeFile(calls.context.sessionManager),
    // The claim of the parent is the child's.
    claim: (step) => (isChild ? undefined : claimStep(calls.context.sessionManager, step)),
  };
  return calls.guarded(functions);
}

/** Returns true if a session has just started and has no entries of extensions. @param {Session} session */
export function isNew(session) {
  let count = 0;
  for (const entry of storedFromLeaf(session)) {
    count += 1;
    if (!entry || count > NEW || entry.type.startsWith("custom")) return false;
  }
  return true;
}

/**
 * Returns the data of custom entries of one type, newest first. Data that is too long is replaced by spaces, which are
 * not valid JSON; an empty string stands where entries of the branch are missing.
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
    const place = entries.at(customType, skip + found.length, until);
    if (!place) break;
    found.push(place.entry ? json(place.entry.data, MAX_DATA) : "");
  }
  return found;
}

/**
 * Returns the newest custom message of one type that the model sees. Equal to the result of pi's
 * `buildSessionProjection`, without building the projection of the whole session.
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
 * Returns the user messages of the branch behind the first custom entry with a field, newest first. The order of the
 * entries decides: their times are those of a clock that may have been set back.
 *
 * @param {Session} session
 * @param {import("../target/types/interfaces/pi-extension-session.js").EntryField} since
 * @param {number} limit
 */
export function userMessages(session, since, limit) {
  const found = [];
  // The number of messages that are behind an entry with the field.
  let behind = 0;
  for (const entry of fromLeaf(session)) {
    if (entry.type === "custom" && entry.customType === since.customType) {
      const data = /** @type {any} */ (entry.data);
      if (data?.[since.name] === since.value) behind = found.length;
    }
    if (entry.type !== "message" || entry.message.role !== "user") continue;
    const { content } = entry.message;
    const images = Array.isArray(content) ? content.filter(({ type }) => type === "image").length : 0;
    if (found.length < limit) found.push({ id: entry.id, text: textOf(content).slice(0, MAX_USER_MESSAGE), images });
  }
  return found.slice(0, behind);
}

/**
 * Returns the images of user messages.
 *
 * @param {Pick<Session, "getEntry">} session
 * @param {string[]} ids the entries of the messages; others have no images
 */
export function imagesOf(session, ids) {
  return ids.flatMap((id) => {
    const entry = session.getEntry(id);
    if (entry?.type !== "message" || entry.message.role !== "user" || typeof entry.message.content === "string")
      return [];
    return entry.message.content.filter((content) => content.type === "image");
  });
}

/**
 * Writes the file of a session that pi has not written yet, and lets pi continue with the file. The file that exists
 * must be the one that pi appends to: pi would fail to create it again.
 *
 * @param {Session} session
 */
export function writeFile(session) {
  const file = session.getSessionFile();
  if (!file || existsSync(file)) return;
  const manager = /** @type {import("@earendil-works/pi-coding-agent").SessionManager} */ (session);
  if (typeof manager.setSessionFile !== "function") throw new Error("pi does not offer it");
  const leaf = session.getLeafId();
  const lines = [session.getHeader(), ...session.getEntries()].map((entry) => `${JSON.stringify(entry)}\n`);
  const descriptor = untrusted.createFile(dirname(file), basename(file));
  try {
    try {
      writeFileSync(descriptor, lines.join(""));
    } finally {
      closeSync(descriptor);
    }
    manager.setSessionFile(file);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
  // pi continues at the last entry of a file.
  if (leaf === null) manager.resetLeaf();
  else if (leaf !== session.getLeafId()) manager.branch(leaf);
}

/**
 * A custom entry with the number of newer custom entries; without one, a place where entries of the branch are missing.
 * @typedef {{ entry?: CustomEntry, newer: number }} Place
 */

/**
 * The custom entries of a branch, newest first. Reads each entry of the branch at most once, and only when necessary.
 */
class CustomEntries {
  #count = 0;
  /** The places of each type. @type {Map<string, Place[]>} */
  #found = new Map();
  #rest;
  /**
   * The types that have an entry since entries were missing; `undefined` while none are.
   *
   * @type {Set<string> | undefined}
   */
  #sinceGap;

  /** @param {Session} session */
  constructor(session) {
    this.leaf = session.getLeafEntry();
    this.#rest = storedFromLeaf(session);
  }

  /**
   * Returns a place of a type by its index, newest first; `undefined` if the newest one of the type `until` is newer.
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
      if (found || !this.#readNext()) return found;
    }
  }

  /** Reads the next entry of the branch. Returns false if there is none. */
  #readNext() {
    const { value, done } = this.#rest.next();
    if (done) return false;
    if (value === undefined) this.#sinceGap = new Set();
    else if (value.type === "custom") {
      const { customType } = value;
      const found = this.#found.get(customType) ?? [];
      if (this.#sinceGap?.has(customType) === false) found.push({ newer: this.#count });
      this.#sinceGap?.add(customType);
      found.push({ entry: value, newer: this.#count });
      this.#found.set(customType, found);
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

/**
 * The entries of the branch, newest first. If an entry names a parent that is missing, a line of the file was lost, for
 * example on a full disk: then `undefined` follows, and after it the entries before the child in the file. The
 * iteration ends in any case.
 *
 * @param {Session} session
 */
function* storedFromLeaf(session) {
  let last;
  for (const entry of fromLeaf(session)) yield (last = entry);
  if (!last?.parentId) return;
  yield undefined;
  const entries = session.getEntries();
  const index = entries.findIndex(({ id }) => id === last.id);
  for (let before = index - 1; before >= 0; before -= 1) yield entries[before];
}
