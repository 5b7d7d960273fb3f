// The claim of a session: a note beside its file names the process that works on it. Of all processes one has it, and
// the note of a process that has ended counts for nothing.
import { mkdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";

import { processes, untrusted } from "#sandbox";

import { locked } from "./store.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext["sessionManager"]} Session */
/** @typedef {ReturnType<typeof processes.self>} ProcessNote */
/** @typedef {import("../target/types/interfaces/pi-extension-session.js").ClaimStep} ClaimStep */
/** @typedef {import("../target/types/interfaces/pi-extension-session.js").ClaimObstacle} ClaimObstacle */

/**
 * A note of a process. `pi`: the pi that this process has started, and that shares its claim; `ended`: the time at which
 * the process gave the claim back.
 * @typedef {ProcessNote & { pi?: ProcessNote, ended?: number }} Note
 */

/** The variable by which a process shares its claim with the pi that it starts. */
export const SHARED_CLAIM = "PI_SESSION_CLAIM";
/** The process that shares its claim with this pi. What the agent starts does not share it. */
const STARTED_BY = process.env[SHARED_CLAIM];
delete process.env[SHARED_CLAIM];
/** The maximum size of a note, in bytes. */
const MAX_NOTE = 10_000;

/** @param {string} file */
const noteFile = (file) => `${file}.process`;

/**
 * The text of the note of a session; `undefined` without a note, and empty if it cannot be read.
 * @param {string} file
 */
function textAt(file) {
  try {
    return String(untrusted.readFile(dirname(file), basename(noteFile(file)), MAX_NOTE));
  } catch (/** @type {any} */ error) {
    return error.code === "ENOENT" ? undefined : "";
  }
}

/** @param {string | undefined} text @returns {Note | undefined} */
function noteIn(text) {
  if (text === undefined) return undefined;
  try {
    return Object(JSON.parse(text));
  } catch {
    return /** @type {any} */ ({});
  }
}

/** The note of a session; `undefined` without a note. @param {string} file */
export const noteOf = (file) => noteIn(textAt(file));

/** @param {ProcessNote} note */
const nameOf = ({ pid, start, namespace }) => JSON.stringify([pid, start, namespace]);

/** The value of the variable by which this process shares its claims. */
export const sharedClaim = () => nameOf(processes.self());

/** @param {Note} note @param {boolean} inPi */
const isOwn = (note, inPi) => nameOf(note) === sharedClaim() || (inPi && nameOf(note) === STARTED_BY);

/**
 * The process that has the claim of a session, by its note: also the pi of a process that was killed. `undefined` if
 * there is none.
 * @param {Note | undefined} note
 * @returns {Exclude<ClaimObstacle, { tag: "changed" }> | undefined}
 */
export function holderOf(note) {
  if (note === undefined || Number.isFinite(note.ended)) return undefined;
  const all = [note, ...(note.pi === undefined ? [] : [note.pi])];
  for (const tag of /** @type {const} */ (["living", "unknown"])) {
    const holder = all.find((process) => processes.state(process) === tag);
    if (holder) return { tag, val: Number.isSafeInteger(holder.pid) && holder.pid > 0 ? holder.pid : 0 };
  }
  return undefined;
}

/**
 * Takes the claim of a session for this process. Returns the process that keeps it from that.
 * @param {string} file
 * @param {{ takesOver?: boolean, seen?: { text: string | undefined, size?: number } }} [options] `takesOver`: also from
 *   a process of which nobody can tell if it lives; `seen`, in pi: neither the note, if it had this text, nor the
 *   session, if it had this size, must have changed since
 * @returns {ClaimObstacle | undefined}
 */
export function claim(file, { takesOver = false, seen } = {}) {
  mkdirSync(dirname(file), { recursive: true });
  return locked(noteFile(file), () => {
    const text = textAt(file);
    const note = noteIn(text);
    const holder = holderOf(note);
    if (holder && note && isOwn(note, seen !== undefined)) return undefined;
    if (holder?.tag === "living") return holder;
    if (seen && seen.text !== text) return { tag: "changed" };
    if (holder && !takesOver) return holder;
    if (seen?.size !== undefined && seen.size !== sizeOf(file)) return { tag: "changed" };
    write(file, processes.self());
    return undefined;
  });
}

/**
 * Changes the note of this process, if it still is the note of the session. Returns true if it is.
 * @param {string} file
 * @param {Partial<Note> | undefined} change `undefined` removes the note
 * @param {boolean} [isWhole] true if nothing of the note stays
 */
export function changeClaim(file, change, isWhole = false) {
  const ownNote = () => [noteOf(file)].find((note) => note && nameOf(note) === sharedClaim());
  return (
    ownNote() !== undefined &&
    locked(noteFile(file), () => {
      const note = ownNote();
      if (note && change) write(file, isWhole ? change : { ...note, ...change });
      else if (note) rmSync(noteFile(file), { force: true });
      return note !== undefined;
    })
  );
}

/** @param {string} file @param {Partial<Note>} note */
function write(file, note) {
  const name = basename(noteFile(file));
  try {
    untrusted.replaceFile(dirname(file), name, `${JSON.stringify(note)}\n`);
  } catch (/** @type {any} */ error) {
    // An agent may have put a folder in its place.
    if (error.code !== "EISDIR") throw error;
    rmSync(noteFile(file), { recursive: true, force: true });
    untrusted.replaceFile(dirname(file), name, `${JSON.stringify(note)}\n`);
  }
}

/**
 * The text of the note of each session when pi read the session's file, or when this process wrote the note last; no
 * text of a note equals `null`. `size`: the size of that file, if a process that nobody sees may have written more.
 * @type {WeakMap<Session, { file: string, text: string | undefined | null, size?: number }>}
 */
const SEEN = new WeakMap();

/** @param {string} file */
const sizeOf = (file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Notes that pi has read the file of a session. @param {Session} session */
export function sessionRead(session) {
  const file = session.getSessionFile();
  // After a reload of the extensions pi has the session as it had it before.
  if (!file || SEEN.get(session)?.file === file) return;
  const text = textAt(file);
  const note = noteIn(text);
  const holder = note && !isOwn(note, true) ? holderOf(note)?.tag : undefined;
  // While another process works on it, the session is out of date from the beginning.
  const size = holder === "unknown" ? sizeOf(file) : undefined;
  SEEN.set(session, { file, text: holder === "living" ? null : text, size });
}

/**
 * Carries out a step with the claim of a session in pi.
 * @param {Session} session
 * @param {ClaimStep} step
 * @returns {ClaimObstacle | undefined}
 */
export function claimStep(session, step) {
  const file = session.getSessionFile();
  if (!file) return undefined;
  sessionRead(session);
  const seen = /** @type {{ text: string | undefined, size?: number }} */ (SEEN.get(session));
  if (step === "take" || step === "take-over") {
    const obstacle = claim(file, { takesOver: step === "take-over", seen });
    if (obstacle) return obstacle;
  } else if (!changeClaim(file, step === "finish" ? undefined : { ended: Date.now() })) return undefined;
  SEEN.set(session, { file, text: textAt(file) });
  return undefined;
}
