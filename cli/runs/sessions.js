// Finds the session files of pi and reads them in bounded memory.
//
// A session file can be large, and another process may append to it. The bytes are searched for state entries;
// only the lines that matter are decoded and parsed.
import { closeSync, readSync, readdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { projectSettings, readText, timeOf } from "#loader";
import { shellQuoted, unlessFails, untrusted } from "#sandbox";

import { agentDir } from "../places.js";
import { Failure, inWords, shortened } from "../words.js";
import { counted } from "./figures.js";

/** The longest line that is read, in bytes. The extension reads no longer state. */
export const MAX_LINE = 8 * 2 ** 20;

/** The greatest file that is read, in bytes: a file with holes costs an agent nothing. */
const MAX_SESSION = 4 * 2 ** 30;

/** The number of bytes at the beginning of an entry in which pi writes its kind. */
const BEGINNING = 512;

/** pi reads a session's header within this number of bytes. */
const MAX_HEADER = 2 ** 20;

/** The end of the name of the folder with the sessions of a session's child agents. */
const CHILDREN = ".children";

const STATE = "workflow:state";
// The end of the name of the field. Its first letter is rare, which makes the search fast. The quotation mark shows
// that this is no part of a text: in a text the mark has a backslash.
const FIELD = Buffer.from('Type"');
const NAMES_STATE = new RegExp(`^Type"[ \\t]*:[ \\t]*"${STATE}"`);
/** Maximum length of the field from `FIELD` on, with blanks. */
const MAX_FIELD = 64;
const TASK_ID = Buffer.from('"taskId":"');
const USAGE = Buffer.from('usage":');
const NEWLINE = 10;
/** A state entry as pi writes it: its data, its id, its time. */
const WRITTEN = new RegExp(
  `^\\{"type":"custom","customType":"${STATE}","data":(\\{"active":.*\\}),"id":"([^"\\\\]*)","parentId":(?:null|"[^"\\\\]*"),"timestamp":"([^"\\\\]*)"\\}$`,
  "s",
);
const QUOTE = 34;
const BACKSLASH = 92;

/** The buffer fits into the processor's cache, so that the search costs little more than reading. */
const CHUNK = Buffer.allocUnsafeSlow(2 ** 18);

/**
 * Session files that a command reads.
 * @typedef {object} Selection
 * @property {boolean} [all] the session files of all projects
 * @property {string} [sessions] a folder of session files, or a session file
 * @property {number} [since] only files that were changed since, in milliseconds since 1970
 * @property {boolean} [approve] the user trusts the project
 *
 * The beginning of a session file.
 * @typedef {object} Header
 * @property {string} id
 * @property {string} cwd the project's directory; empty if unknown
 * @property {number} createdAt in milliseconds since 1970; NaN if unknown
 *
 * A line of a file, by the offsets of its first byte and of its end.
 * @typedef {{ start: number, stop: number }} Line
 *
 * A function that gets a line until it returns false.
 * @typedef {(line: Buffer, isWhole: boolean, isEnded: boolean, place: Line) => boolean} UseLine
 *
 * A state entry: its data as JSON, and the place of its line. The id is empty if the entry has none.
 * @typedef {{ id: string, time: number, data: string, line: Line, mayBeActive: boolean }} StateEntry
 *
 * An entry of a session that was parsed. Its other fields can have any value.
 * @typedef {Record<string, any> & { type: string }} Entry
 */

/** An open session file. */
export class SessionFile {
  #fd;
  #size;

  /**
   * @param {string} path
   * @param {number} fd
   * @param {number} size its length when it was opened; later bytes are not read
   */
  constructor(path, fd, size) {
    this.path = path;
    this.#fd = fd;
    this.#size = size;
    /** The number of state entries that could not be read. */
    this.unreadable = 0;
    this.header = this.#readHeader();
  }

  /** @returns {Header} */
  #readHeader() {
    // Most headers are short.
    const header = this.#firstEntry(BEGINNING) ?? this.#firstEntry(MAX_HEADER);
    if (header?.type !== "session" || typeof header.id !== "string") throw new Failure("not a session of pi");
    const { id, cwd } = header;
    return { id, cwd: typeof cwd === "string" ? cwd : "", createdAt: timeOf(header) };
  }

  /** Returns the first entry if it ends within this number of bytes. @param {number} within */
  #firstEntry(within) {
    /** @type {Entry[]} */
    const found = [];
    const end = Math.min(within, this.#size);
    this.#eachLine(0, end, (line, _isWhole, isEnded) => {
      const entry = isEnded || end === this.#size ? parsed(line) : undefined;
      if (entry) found.push(entry);
      return !entry;
    });
    return found.at(0);
  }

  /**
   * Returns the lines that may be states of runs, by the task ID in the line, in the order of the file, and the start of
   * the newest one.
   */
  states() {
    /** @type {Map<string, Line[]>} */
    const states = new Map();
    let newestLine = 0;
    /** @type {UseLine} */
    const useLine = (line, isWhole, isEnded, place) => {
      const taskId = namesState(line) ? this.#taskIn(line, isWhole, isEnded) : undefined;
      if (taskId === undefined) return true;
      const lines = states.get(taskId);
      if (lines) lines.push(place);
      else states.set(taskId, [place]);
      newestLine = place.start;
      return true;
    };
    this.#eachLine(0, this.#size, useLine, FIELD);
    return { states, newestLine };
  }

  /**
   * Most states are followed by a newer one of their run and never parsed. An id in quotation marks cannot be part of a
   * text: in a text the marks have a backslash.
   * @param {Buffer} line
   * @param {boolean} isWhole
   * @param {boolean} isEnded false for half a line at the end, which a killed process leaves
   */
  #taskIn(line, isWhole, isEnded) {
    const from = line.indexOf(TASK_ID) + TASK_ID.length;
    const to = line.indexOf(QUOTE, from);
    const isNamed = from >= TASK_ID.length && to !== -1 && line.subarray(from, to).indexOf(BACKSLASH) === -1;
    if (isWhole && isEnded && isNamed) return line.toString("utf8", from, to);
    const entry = isWhole ? parsed(line) : undefined;
    if (!entry && (isEnded || !isWhole)) this.unreadable += 1;
    if (!entry || !isStateEntry(entry)) return undefined;
    return typeof entry.data?.taskId === "string" ? entry.data.taskId : "";
  }

  /**
   * Returns the newest state in lines of `states`, cut out of its line as pi writes it; `undefined` if the line has
   * another form. Only the component tells if the data is JSON.
   * @param {Line[]} lines in the order of the file
   * @returns {StateEntry | undefined}
   */
  cutNewest(lines) {
    const line = lines[lines.length - 1];
    const [, data, id, timestamp] = WRITTEN.exec(this.#text(line)) ?? [];
    return data === undefined
      ? undefined
      : { id, time: timeOf({ timestamp }), data, line, mayBeActive: data.startsWith('{"active":true') };
  }

  /**
   * Returns the newest state in lines of `states`. A process that was killed may have left half a line.
   * @param {Line[]} lines in the order of the file
   * @returns {StateEntry | undefined}
   */
  newestState(lines) {
    for (const line of lines.toReversed()) {
      const entry = this.entryAt(line);
      if (!entry) this.unreadable += 1;
      else if (isStateEntry(entry)) {
        // An entry without a workflow is no state of a run.
        if (taskOf(entry) === undefined) return undefined;
        return {
          id: typeof entry.id === "string" ? entry.id : "",
          time: timeOf(entry),
          data: JSON.stringify(entry.data),
          line,
          mayBeActive: entry.data.active === true,
        };
      }
    }
    return undefined;
  }

  /** Returns the data in the line of a state, as JSON. @param {Line} line */
  dataAt(line) {
    const text = this.#text(line);
    return WRITTEN.exec(text)?.[1] ?? JSON.stringify(parsed(text)?.data ?? null);
  }

  /**
   * Calls a function for each entry from an offset on. Messages of the user and results of tools without a usage, and
   * entries that are too long, have only the fields that pi writes first, without their content.
   * @param {number} offset the start of a line
   * @param {(start: Entry) => boolean} matters returns true for the entries that `use` gets; its argument has the
   *   fields that pi writes first
   * @param {(entry: Entry, line: Line) => void} use
   */
  eachEntry(offset, matters, use) {
    this.#eachLine(offset, this.#size, (line, isWhole, _isEnded, place) => {
      const start = beginning(line);
      if (start && !matters(start)) return true;
      const role = start?.message?.role;
      const isEnough = !isWhole || role === "user" || (role === "toolResult" && !line.includes(USAGE));
      const entry = isEnough ? start : parsed(line);
      if (entry) use(entry, place);
      return true;
    });
  }

  /** Returns true if an entry has this id. @param {string} id */
  hasEntry(id) {
    // An id in quotation marks cannot be part of a text.
    const ids = [":", ": "].map((colon) => Buffer.from(`"id"${colon}${JSON.stringify(id)}`));
    let isThere = false;
    this.#eachLine(0, this.#size, (line) => {
      isThere = ids.some((id) => line.includes(id));
      return !isThere;
    });
    return isThere;
  }

  /** Returns the entry in a line; `undefined` if the line is no entry. @param {Line} line */
  entryAt(line) {
    return parsed(this.#text(line));
  }

  /** @param {Line} line */
  #text({ start, stop }) {
    const bytes = Buffer.allocUnsafe(stop - start);
    return bytes.toString("utf8", 0, readSync(this.#fd, bytes, 0, bytes.length, start));
  }

  /**
   * Calls a function for each line until it returns false. Of a line that is too long the function gets only the
   * beginning.
   * @param {number} from
   * @param {number} to
   * @param {UseLine} use
   * @param {Buffer} [mark] most lines without this mark are passed over, which is faster
   */
  #eachLine(from, to, use, mark) {
    /** The parts of the line in earlier chunks. @type {Buffer[]} */
    let parts = [];
    let length = 0;
    let start = from;
    const give = (/** @type {Buffer} */ part, /** @type {boolean} */ isEnded) => {
      length += part.length;
      const isWhole = length <= MAX_LINE;
      const line = parts.length === 0 ? part : Buffer.concat([...parts, part]);
      const goesOn = length === 0 || use(line, isWhole, isEnded, { start, stop: start + length });
      start += length + 1;
      [parts, length] = [[], 0];
      return goesOn;
    };
    for (let at = from; at < to;) {
      const count = readSync(this.#fd, CHUNK, 0, Math.min(CHUNK.length, to - at), at);
      if (count === 0) break;
      const chunk = CHUNK.subarray(0, count);
      let begin = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, begin)) {
        if (!give(chunk.subarray(begin, end), true)) return;
        begin = end + 1;
        if (mark === undefined) continue;
        const next = chunk.indexOf(mark, begin);
        const line = chunk.lastIndexOf(NEWLINE, next === -1 ? chunk.length : next) + 1;
        start += line - begin;
        begin = line;
      }
      length += count - begin;
      if (length <= MAX_LINE) parts.push(Buffer.from(chunk.subarray(begin)));
      at += count;
    }
    give(CHUNK.subarray(0, 0), false);
  }
}

/** Returns true if a line may be the state of a run, whatever the order of its fields. @param {Buffer} line */
function namesState(line) {
  let at = line.indexOf(FIELD);
  while (at !== -1 && !NAMES_STATE.test(line.toString("latin1", at, at + MAX_FIELD))) at = line.indexOf(FIELD, at + 1);
  return at !== -1;
}

/** Returns true if an entry is a state of a run. @param {Entry} entry */
export function isStateEntry({ type, customType }) {
  return type === "custom" && customType === STATE;
}

/**
 * Returns the task ID of the state in an entry; `undefined` if the entry has no state of a run.
 * @param {Entry} entry
 */
export function taskOf(entry) {
  if (!isStateEntry(entry) || (entry.data?.workflowKey ?? undefined) === undefined) return undefined;
  return typeof entry.data.taskId === "string" ? entry.data.taskId : "";
}

/** The record with a type in a line of JSON. @param {Buffer | string} line @returns {Entry | undefined} */
export function parsed(line) {
  try {
    const entry = JSON.parse(line.toString("utf8"));
    return typeof entry?.type === "string" ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the fields that pi writes at the beginning of an entry. @param {Buffer} line @returns {Entry | undefined} */
function beginning(line) {
  const start = line.toString("utf8", 0, BEGINNING);
  const entry = /^\{"type":"(\w+)","id":"([^"\\]*)","parentId":(?:"([^"\\]*)"|null),"timestamp":"([^"\\]*)"/.exec(
    start,
  );
  if (!entry) return undefined;
  const [all, type, id, parentId, timestamp] = entry;
  const role = /^,"message":\{"role":"(\w+)"/.exec(start.slice(all.length))?.[1];
  return { type, id, parentId, timestamp, message: role === undefined ? undefined : { role } };
}

/**
 * Reads session files one after the other. A file that cannot be read is passed over.
 * @param {Selection} selection
 * @param {(file: SessionFile) => void} use
 * @returns {string[]} one line for each file that could not be read, or not completely
 */
export function readSessions(selection, use) {
  const { files, problems, isOfProject } = sessionFiles(selection);
  /** The files that were read, which may have several names. @type {Set<string>} */
  const seen = new Set();
  const progress = new Progress(files.length);
  for (const path of files) {
    progress.next();
    try {
      openSession(
        path,
        (file) => {
          if (!isOfProject(file.header)) return;
          use(file);
          if (file.unreadable > 0) problems.push(`${path}: ${counted(file.unreadable, "state")} cannot be read`);
        },
        ({ dev, ino, mtimeMs }) => {
          const isMeant = mtimeMs >= (selection.since ?? -Infinity) && !seen.has(`${dev}:${ino}`);
          if (isMeant) seen.add(`${dev}:${ino}`);
          return isMeant;
        },
      );
    } catch (error) {
      problems.push(`${path}: ${reason(error)}`);
    }
  }
  progress.end();
  return problems;
}

/**
 * Opens a session file for the time of a call.
 * @template T
 * @param {string} path
 * @param {(file: SessionFile) => T} use
 * @param {(stats: import("node:fs").Stats) => boolean} [isMeant] returns true if the file is to be read
 */
export function openSession(path, use, isMeant = () => true) {
  const { descriptor, stat } = opened(path);
  try {
    if (stat.size > MAX_SESSION) throw new Failure("too large");
    return isMeant(stat) ? use(new SessionFile(path, descriptor, stat.size)) : undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** @param {string} path */
function opened(path) {
  try {
    return untrusted.openUserFile(path);
  } catch (/** @type {any} */ error) {
    throw ["EISDIR", "ENXIO"].includes(error.code) ? new Failure("not a file") : error;
  }
}

/** The reason of an error, without the path that stands before the reason. @param {any} error */
const reason = (error) => /^[A-Z]+: ([^,]+)/.exec(error?.message ?? "")?.[1] ?? inWords(error);

/**
 * Returns the paths of session files.
 * @param {Selection} selection
 * @returns {{ files: string[], problems: string[], isOfProject: (header: Header) => boolean }}
 */
function sessionFiles({ all, sessions, approve }) {
  const every = () => true;
  if (sessions !== undefined) {
    const stats = statSync(sessions, { throwIfNoEntry: false });
    if (!stats) throw new Failure(`There is no ${shortened(sessions)}.`);
    const file = { files: [resolve(sessions)], problems: [] };
    return { ...(stats.isDirectory() ? filesIn(resolve(sessions), true) : file), isOfProject: every };
  }
  const { own, passedOver } = ownFolder(approve);
  const here = join(agentDir(), "sessions", encoded(process.cwd()));
  const { files, problems } = filesIn(own ?? (all ? join(agentDir(), "sessions") : here), all);
  if (passedOver !== undefined)
    problems.push(
      `pi has not stored that this project is trusted, so the sessions in ${passedOver}, which its settings name, are passed over: --sessions ${shellQuoted(passedOver)} reads them.`,
    );
  const isOfProject = (/** @type {Header} */ { cwd }) => cwd !== "" && resolve(cwd) === process.cwd();
  return { files, problems, isOfProject: all || own === undefined ? every : isOfProject };
}

/** The name of the folder in which pi stores the sessions of a project. @param {string} cwd */
export const encoded = (cwd) => `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;

/**
 * The path of a new session of this project, as pi names its own.
 * @param {string} id
 * @param {boolean} [approve] the user trusts the project
 */
export function newSessionFile(id, approve) {
  const folder = ownFolder(approve).own ?? join(agentDir(), "sessions", encoded(process.cwd()));
  return join(folder, `${new Date().toISOString().replace(/[:.]/g, "-")}_${id}.jsonl`);
}

/**
 * The folder that is set for sessions: `own`, or, if only a project that is not trusted has set it, `passedOver`.
 * @param {boolean} [approve] the user trusts the project
 * @returns {{ own?: string, passedOver?: string }}
 */
function ownFolder(approve) {
  const given = process.env.PI_CODING_AGENT_SESSION_DIR;
  const ofProject = given ? undefined : settingsFolder(() => projectSettings(process.cwd(), ".pi"));
  if (ofProject && (approve || isTrusted())) return { own: ofProject };
  const ofUser = settingsFolder(() => (given ? JSON.stringify({ sessionDir: given }) : agentFile("settings.json")));
  return { own: ofUser, passedOver: ofProject === ofUser ? undefined : ofProject };
}

/** @param {() => string} read returns the text of a settings file @returns {string | undefined} */
function settingsFolder(read) {
  const folder = unlessFails(() => JSON.parse(read()).sessionDir);
  return typeof folder === "string" && folder !== ""
    ? resolve(folder.replace(/^~(?=$|\/)/, () => homedir()))
    : undefined;
}

/** Returns true if pi's file of trust says so of the current folder, or of the nearest one above that it names. */
function isTrusted() {
  const known = unlessFails(() => JSON.parse(agentFile("trust.json")));
  for (let at = realpathSync(process.cwd()); ; at = dirname(at)) {
    const decision = Object.hasOwn(known ?? {}, at) ? known[at] : undefined;
    if (typeof decision === "boolean") return decision;
    if (at === dirname(at)) return false;
  }
}

/** Returns the text of a file in pi's agent folder. @param {string} name */
const agentFile = (name) => readText(join(agentDir(), name));

/**
 * Returns the session files in a folder and, if `deep`, in its folders.
 * @param {string} folder
 * @param {boolean} [deep]
 */
function filesIn(folder, deep) {
  /** @type {string[]} */
  const files = [];
  /** @type {string[]} */
  const problems = [];
  const read = (/** @type {string} */ path, /** @type {boolean | undefined} */ deep) => {
    let entries;
    try {
      entries = readdirSync(path, { withFileTypes: true });
    } catch (error) {
      // pi makes the folder with the first session.
      if (/** @type {any} */ (error).code !== "ENOENT") problems.push(`${path}: ${reason(error)}`);
      return;
    }
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = join(path, entry.name);
      if (isFolder(entry, child)) {
        // The sessions of child agents are parts of a run.
        if (deep && !entry.name.endsWith(CHILDREN)) read(child, false);
      } else if (entry.name.endsWith(".jsonl")) {
        files.push(child);
      }
    }
  };
  read(folder, deep);
  return { files, problems };
}

/** @param {import("node:fs").Dirent} entry @param {string} path */
function isFolder(entry, path) {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The line on standard error that shows how many files are read; only on a terminal. */
class Progress {
  #count = 0;
  #shownAt = 0;
  #total;

  /** @param {number} total */
  constructor(total) {
    this.#total = total;
  }

  next() {
    this.#count += 1;
    const now = Date.now();
    // One file is read again and again while `run` shows its progress.
    if (!process.stderr.isTTY || this.#total === 1 || now - this.#shownAt < 100) return;
    process.stderr.write(`\rReading session ${this.#count} of ${this.#total}`);
    this.#shownAt = now;
  }

  end() {
    if (this.#shownAt > 0) process.stderr.write("\r\x1b[K");
  }
}
