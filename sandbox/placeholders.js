// Files and folders that are created because a confined command line may write them, or may not read them: only what
// exists can be mounted. There is one object, `placeholders`: several command lines, of several sessions in this
// process, may rest on one placeholder, which is removed after the last of these command lines.
//
// Command lines of other processes of this user may rest on it too. Each process lists its placeholders in a file of its own
// in the folder that they share. A list has more than there is, never less: it is written before a placeholder is created and
// after it was removed. The last process that lives removes a placeholder; the next one that looks removes those of killed ones.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

import { excludeOf, excluded, setExcluded } from "./git-exclude.js";
import { messageOf, unlessFails } from "./plain.js";
import { self, state } from "./processes.js";
import { Busy } from "./running-commands.js";
import { makePrivate, privateFolder } from "./session-folder.js";
import { appendFile, createFile, inFolder, makeFolder, readUserFile, replaceFile } from "./untrusted-files.js";

/**
 * A file or folder that was created, or is about to be.
 * @typedef {object} Placeholder
 * @property {string} path
 * @property {boolean} directory
 * @property {string} id its device and inode: it may have several paths; empty before it is created
 * @property {number} listed the time at which it was listed, in milliseconds
 * @property {string} [created] the time of its creation, in nanoseconds
 * @property {boolean} hidden false if a command line may write it
 * @property {import("./git-exclude.js").Exclude} [exclude] of a file
 */

/** @typedef {{ process?: unknown, placeholders?: Placeholder[] }} List the list of a process */

/** The number of tries to be the only process that changes lists, and the longest time between two, in milliseconds. */
const [TRIES, PAUSE] = [10, 5];
/** The time after which a process of another namespace, which may have been killed, changes nothing, in milliseconds. */
const STALE = 10_000;
/** The longest time from the listing of a placeholder to its creation, in milliseconds. */
const AT_ONCE = 1000;
/** The maximum size of a file with a list, and the size from which it is written anew, in bytes. */
const [MAX_SIZE, LONG] = [2 ** 24, 2 ** 20];

export class Placeholders {
  /** By id, before the creation by path; outermost first. @type {Map<string, Placeholder & { holders: Set<object> }>} */
  #created = new Map();
  /** The lists of the other processes that may live, while no other process changes its list. @type {List[] | undefined} */
  #others;
  /** The name of the files of this process, and the size of its list, whose last line counts. */
  #name = `${process.pid}-${randomBytes(4).toString("hex")}`;
  #size = 0;

  /** The folder with the lists, once it is needed, unless a test has set another one. @type {string | undefined} */
  folder;

  get #folder() {
    return (this.folder ??= join(privateFolder(), "placeholders"));
  }

  /**
   * Calls a function that calls `create`.
   * @template T
   * @param {() => T} work
   */
  together(work) {
    try {
      return work();
    } finally {
      if (this.#others) rmSync(join(this.#folder, `${this.#name}.lock`), { force: true });
      this.#others = undefined;
    }
  }

  /**
   * Creates a file or folder, and the folders above it, unless it exists. An existing placeholder stays until
   * `release`.
   * @param {string} path absolute; a folder ends with `/`
   * @param {object} holder
   * @param {boolean} [hidden] true if no command line may read or write it
   * @throws {Busy} if the lists cannot be changed now
   */
  create(path, holder, hidden = false) {
    const directory = path.endsWith("/");
    const name = directory ? path.slice(0, -1) : path;
    if (name === "" || (statOf(name) && this.#created.size === 0 && this.#files().length === 0)) return;
    this.create(`${dirname(name).replace(/\/$/, "")}/`, holder, hidden);
    const others = this.#enter();
    const found = statOf(name);
    const key = found ? idOf(found) : name;
    const own = this.#created.get(key);
    const known = own ?? others.flatMap(({ placeholders }) => placeholders ?? []).find(({ id }) => id === key);
    if (found && !known) return;
    const exclude = directory ? undefined : excludeOf(name);
    const { hidden: before = true, ...placeholder } = known ?? {
      path: name,
      directory,
      id: "",
      listed: Date.now(),
      exclude,
    };
    const all = { ...placeholder, hidden: hidden && before, holders: (own?.holders ?? new Set()).add(holder) };
    this.#created.set(key, all);
    try {
      if (!own || before !== all.hidden) this.#write([all]);
      if (found) return;
      // No link is followed: another command line may put one on the way.
      if (directory) makeFolder("/", name);
      else closeSync(createFile("/", name));
      const stat = lstatSync(name, { bigint: true });
      this.#created.set(idOf(stat), { ...all, id: idOf(stat), created: String(stat.mtimeNs) });
    } finally {
      if (this.#created.delete(name)) this.#write([all]);
    }
  }

  /**
   * Removes the created files and folders that only this holder rested on, if they are still empty, but no file that
   * was written or touched.
   * @param {object} holder
   */
  release(holder) {
    for (const { holders } of this.#created.values()) holders.delete(holder);
    const unused = [...this.#created].filter(([, { holders }]) => holders.size === 0);
    if (unused.length === 0) return;
    // If it fails, the next release tries again, or the next process.
    unlessFails(() =>
      this.together(() => {
        this.#enter();
        for (const [key] of unused) this.#created.delete(key);
        this.#remove(unused.map(([, placeholder]) => placeholder));
        this.#write([]);
      }),
    );
  }

  /**
   * Removes what killed processes have left. If the system has lost their lists, only the lines for git can be told: those
   * of empty files stay, which may be placeholders of a process with lists elsewhere.
   * @param {string} folder absolute, without links
   */
  sweep(folder) {
    this.together(() => {
      const exclude = excludeOf(join(folder, "any"));
      const lines = () => (exclude ? excluded(exclude) : []);
      if (lines().length + this.#files().length === 0) return;
      this.#enter();
      const kept = lines().filter(({ path }) => unlessFails(() => statOf(path)?.size) === 0n);
      this.#exclude(
        [{ exclude }],
        kept.map(({ line }) => line),
      );
    });
  }

  /** Returns true if a placeholder of a holder is gone, or its name leads to another file. @param {object} holder */
  isChanged(holder) {
    const idAt = (/** @type {string} */ path) => unlessFails(() => idOf(lstatSync(path, { bigint: true })));
    return [...this.#created.values()].some(({ id, path, holders }) => holders.has(holder) && idAt(path) !== id);
  }

  /** Waits until no other process changes its list. Returns the lists of the others, without what killed ones have left. */
  #enter() {
    const mark = join(this.#folder, `${this.#name}.lock`);
    for (let tries = 0; !this.#others; tries += 1) {
      if (tries === TRIES) throw new Busy("another process is changing its list of the files created for commands");
      if (tries > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * PAUSE);
      try {
        listing(() => {
          for (const folder of [dirname(this.#folder), this.#folder]) makePrivate(folder);
          // A link has its content from the beginning. Of two processes that make theirs at once, one at least sees the other.
          symlinkSync(JSON.stringify(self()), mark);
          const files = this.#files();
          if (files.every((file) => !file.endsWith(".lock") || isOver(file)))
            this.#read(files.filter((file) => file.endsWith(".list")));
        });
      } finally {
        if (!this.#others) rmSync(mark, { force: true });
      }
    }
    return this.#others;
  }

  /** Reads the lists of other processes, and removes what killed ones have left. @param {string[]} files */
  #read(files) {
    const lists = files.map((file) => {
      const lines = String(readUserFile(file, MAX_SIZE)).split("\n").slice(0, -1).filter(Boolean);
      // On a full disk a line may be written in part: before it nothing more was created.
      const parsed = lines.map((line) => /** @type {List | undefined} */ (unlessFails(() => JSON.parse(line))));
      const list = parsed.findLast(Boolean);
      // A process that was killed while it wrote its first line has created nothing.
      const isDead = lines.length === 0 || state(list?.process) === "dead";
      return { file, placeholders: list?.placeholders, isDead };
    });
    this.#others = lists.filter(({ isDead }) => !isDead);
    for (const { file, placeholders = [] } of lists.filter(({ isDead }) => isDead)) {
      this.#remove(placeholders);
      rmSync(file);
    }
  }

  /** Removes placeholders on which neither this process nor another one rests. @param {Placeholder[]} unused */
  #remove(unused) {
    const isHeld = (/** @type {string} */ id) =>
      this.#created.has(id) ||
      this.#others?.some(({ placeholders }) => !placeholders || placeholders.some((other) => other.id === id));
    for (const placeholder of unused.toReversed()) if (!isHeld(placeholder.id)) removeUntouched(placeholder);
    this.#exclude(unused);
  }

  /** Writes the list of this process, and the lines for git. @param {Placeholder[]} changed */
  #write(changed) {
    const placeholders = [...this.#created.values()].map(({ holders: _, ...placeholder }) => placeholder);
    const [name, text] = [`${this.#name}.list`, `\n${JSON.stringify({ process: self(), placeholders })}\n`];
    const isNew = this.#size + text.length > LONG;
    this.#size = placeholders.length === 0 ? 0 : text.length + (isNew ? 0 : this.#size);
    listing(() => {
      if (this.#size === 0) rmSync(join(this.#folder, name), { force: true });
      else (isNew ? replaceFile : appendFile)(this.#folder, name, text);
    });
    this.#exclude(changed);
  }

  /**
   * Writes the lines for git where they may have changed: those of names that no command line may write.
   * @param {Pick<Placeholder, "exclude">[]} changed
   * @param {string[]} [kept] lines that stay
   */
  #exclude(changed, kept = []) {
    const all = [this.#created.values(), ...(this.#others ?? []).map(({ placeholders = [] }) => placeholders)];
    for (const folder of new Set(changed.flatMap(({ exclude }) => exclude?.folder ?? []))) {
      /** @type {Map<string, boolean>} */
      const lines = new Map(kept.map((line) => [line, true]));
      for (const { exclude, hidden } of all.flatMap((list) => [...list]))
        if (exclude?.folder === folder) lines.set(exclude.line, hidden && lines.get(exclude.line) !== false);
      setExcluded(
        folder,
        [...lines].filter(([, hidden]) => hidden).map(([line]) => line),
      );
    }
  }

  /** Returns the files of other processes. */
  #files() {
    const names = existsSync(this.#folder) ? readdirSync(this.#folder) : [];
    return names.filter((name) => !name.startsWith(this.#name)).map((name) => join(this.#folder, name));
  }
}

/** The placeholders of this process. */
export const placeholders = new Placeholders();

/** @param {string} path */
const statOf = (path) => lstatSync(path, { throwIfNoEntry: false, bigint: true });

/** @param {import("node:fs").BigIntStats} stat */
const idOf = ({ dev, ino }) => `${dev}:${ino}`;

/** Removes a placeholder that is still empty, and if it is a file, untouched. @param {Placeholder} placeholder */
function removeUntouched({ path, directory, id, created, listed }) {
  unlessFails(() =>
    inFolder("/", dirname(path), (folder) => {
      const name = folder.at(basename(path));
      const stat = lstatSync(name, { bigint: true });
      const isIts = id === "" ? Math.abs(Number(stat.mtimeMs) - listed) < AT_ONCE : idOf(stat) === id;
      if (isIts && directory) rmdirSync(name);
      else if (isIts && stat.size === 0n && (id === "" || String(stat.mtimeNs) === created)) unlinkSync(name);
    }),
  );
}

/** Returns true if the process that made a mark has ended or removed it. @param {string} mark */
function isOver(mark) {
  const text = unlessFails(() => readlinkSync(mark));
  // It is gone: its process lives, and may make it again at any moment.
  if (text === undefined) return true;
  const now = state(unlessFails(() => JSON.parse(text)));
  const made = unlessFails(() => lstatSync(mark).mtimeMs) ?? Date.now();
  const isDone = now === "dead" || (now === "unknown" && Date.now() - made > STALE);
  if (isDone) rmSync(mark, { force: true });
  return isDone;
}

/** @template T @param {() => T} change of the lists */
function listing(change) {
  try {
    return change();
  } catch (error) {
    throw new Busy(`the list of the files created for commands cannot be changed: ${messageOf(error)}`);
  }
}
