// The sandbox of one session of an agent: confines its command lines by the operating system, tells what its operations on
// files may reach, and cleans up after both.
import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmSync, rmdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { noteWorkTrees, writableGitFolders } from "./git-folders.js";
import { keyFolders } from "./key-folders.js";
import { known } from "./known.js";
import { look } from "./look.js";
import { placeholders } from "./placeholders.js";
import { messageOf, unlessFails } from "./plain.js";
import { Busy, runningCommands } from "./running-commands.js";
import { confinedLine } from "./command-line.js";
import { TEMPORARY } from "./bubblewrap.js";
import { privateFolder, sessionFolder, standIns } from "./session-folder.js";
import { inFolder, makeFolder } from "./untrusted-files.js";
import { isThere, refuseOpenable, turnsOf } from "./ways.js";
import { hasOtherCase, isBelow, realPath, upwards } from "./write-target.js";

/** @typedef {import("./session-folder.js").SessionFolder} SessionFolder */
/** @typedef {import("./index.js").Limits} Limits */
/** @typedef {import("./look.js").Watch} Watch */
/** A shell: its path, if it is set, and the text that it runs before each command line. @typedef {{ path?: string, prefix?: string }} Shell */

/** The maximum length of an argument on Linux, in bytes: a shell gets a command line as one argument. */
const MAX_LINE = 128 * 1024 - 1;
/** The maximum number of paths that are named in a result for one reason. */
const MAX_NAMED = 5;
/** The reasons for which a path in the list is read-only. */
const READ_ONLY = {
  closed: "it cannot be reached or searched",
  fixed: "a link in it, or the name of nothing, is on the way to what is kept (only new names are refused)",
  kept: "it belongs to a folder that is kept as it is, or a link there leads to it",
  linked: "files there have other names (hard links) elsewhere, which a write would change too",
  tracked: "something hidden is tracked in it, and its absence would be committed",
  outside: "programs outside of the sandbox start from it, as PATH or a variable like BASH_ENV or LD_LIBRARY_PATH says",
};
/** The longest wait for another session, in milliseconds: in longer waits two sessions could wait for each other. */
const PATIENCE = 5000;
/** The longest time between two tries in it, in milliseconds. */
const LOOK = 200;
/** The longest wait for the processes of a killed command line, and the time between two looks, in milliseconds. */
const [LONGEST_END, NEXT_LOOK] = [10_000, 50];

/** The paths that command lines of this process could write: they may have moved sockets there. @type {Set<string>} */
const written = new Set();

export class SandboxSession {
  /**
   * The command lines that were allowed and whose calls have not ended, by call.
   * @type {Map<string, { limits: Limits, command: import("./running-commands.js").Command }>}
   */
  #commands = new Map();
  /**
   * The searches that have not ended, by call: no command line may redirect the names of a running search.
   * @type {Map<string, import("./running-commands.js").Search[]>}
   */
  #searches = new Map();
  /** Aborts when the session ends. The controller is also the owner of the session's command lines and searches. */
  #session = new AbortController();
  /** The folder of the session; `undefined` until it is needed. @type {SessionFolder | undefined} */
  #folder;
  /** The paths in the list that the last command line could not write, by the reason. @type {Map<string, string[]>} */
  #readOnly = new Map();
  /**
   * The folders for which `.git/` stands in `write`, decided at the start of the session; `undefined` before it.
   * @type {{ of: string, granted: ReturnType<typeof writableGitFolders> } | undefined}
   */
  #git;
  /** Ends with the command lines that have begun so far. @type {Promise<void>} */
  #last = Promise.resolve();
  #keptFolder;
  #shell;

  /**
   * @param {() => { path: string, name: string, programs?: string }} keptFolder returns the folder that limits with
   *   `keepsAgentFolder` keep, its name for users, and the folder of the programs that the host has for itself
   * @param {() => Shell} [shell] returns the host's shell
   */
  constructor(keptFolder, shell = () => ({})) {
    this.#keptFolder = keptFolder;
    this.#shell = shell;
  }

  /** The sockets in the folders that the last command line could write. @type {string[]} */
  #sockets = [];
  /** The reason why the last command line without a network could use no sockets, if any. @type {string | undefined} */
  #forbidden;
  /** The start of the session, in milliseconds. */
  #since = 0;

  /** Notes the start of the session, and decides the folders of git. @param {string} cwd */
  begin(cwd) {
    this.#since = Date.now();
    try {
      const of = realPath(cwd);
      known.projects.add(of);
      unlessFails(() => placeholders.sweep(of));
      noteWorkTrees(of);
      this.#git = { of, granted: writableGitFolders(of) };
    } catch {
      // The folder is gone. The first command line tries again.
    }
  }

  /**
   * Returns the result of an attempt. If it is `Busy`, waits for a limited time for the other session.
   * @template T
   * @param {() => Promise<T>} attempt
   * @param {AbortSignal} [other] ends the wait
   * @throws {Busy}
   */
  async whenFree(attempt, other) {
    const signal = this.#endingWith(other);
    let left = PATIENCE;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Busy) || left <= 0 || signal.aborted) throw error;
        const start = performance.now();
        // A change in another process is not told here.
        await runningCommands.changed(Math.min(left, LOOK), signal);
        left -= performance.now() - start;
        if (signal.aborted) throw error;
      }
    }
  }

  /** Returns a signal that aborts at the end of the session, and with another one. @param {AbortSignal} [other] */
  #endingWith(other) {
    const { signal } = this.#session;
    return other ? AbortSignal.any([signal, other]) : signal;
  }

  /**
   * Begins a command line, and returns its confined form for a shell that is a child of this process. It runs until
   * `ended` and until its shell has ended.
   * @param {string} id of its call
   * @param {string} line
   * @param {Limits} limits
   * @param {{ cwd: string, session: string } & Watch} at `session` is the id of the session
   * @throws {Busy} if it can begin later
   */
  async command(id, line, limits, { cwd, session, signal, tell }) {
    const before = this.#last;
    const { promise, resolve } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
    this.#last = promise;
    try {
      // The paths that a command line may not write are noted for one command line at a time.
      await before;
      // The folder is opened again for every call: a call without limits could have put a link in its place.
      this.#folder = sessionFolder(session);
      const begun = await this.#begin(line, limits, cwd, this.#folder, { signal: this.#endingWith(signal), tell });
      this.#commands.set(id, { limits, command: begun.command });
      return begun.line;
    } finally {
      resolve();
    }
  }

  /**
   * Begins a search by names. While it runs, no command line may run that could replace a searched path.
   * @param {string} id of its call
   * @param {string[]} places absolute, without links
   * @returns {boolean} false if a command line of this session runs
   * @throws {Busy} if it can begin later
   */
  search(id, places) {
    if (runningCommands.any(this.#session)) return false;
    /** @type {import("./running-commands.js").Search[]} */
    const begun = [];
    this.#searches.set(id, begun);
    for (const place of places) begun.push(runningCommands.search(this.#session, place));
    return true;
  }

  /**
   * Returns a project in which a command could put the program that the host takes for a search.
   * @param {"grep" | "find"} search
   * @param {Watch} watch
   */
  projectOfSearch(search, watch) {
    return look(watch, "programs", "projectOfSearch", search, this.#keptFolder().programs ?? "/");
  }

  /**
   * Returns what `fileOperations` may reach.
   * @param {Limits} limits
   * @param {string} cwd
   * @param {boolean} writes false for operations that only read
   * @param {Watch} watch
   * @returns {import("./index.js").Reach}
   */
  reach(limits, cwd, writes, watch) {
    const { writable, hidden = [] } = limits;
    const kept = writes ? this.#keptFolders(limits) : [];
    const ends = { ...watch, signal: this.#endingWith(watch.signal) };
    /** @type {import("./index.js").Reach["check"]} */
    const check = async (place, stat) => {
      const places = writes ? await this.#keptPlaces(cwd, ends) : [];
      if (hidden.length + kept.length + places.length === 0) return;
      const file = stat && !stat.isDirectory() ? { dev: stat.dev, ino: stat.ino, nlink: stat.nlink } : undefined;
      await look(ends, place, "check", hidden, cwd, [...kept, ...places], place, file);
    };
    return { writable, check };
  }

  /**
   * Tells if a place is hidden, or which hidden path lies in the place.
   * @param {Limits} limits
   * @param {string} cwd
   * @param {string} place absolute, without links
   * @param {Watch} watch
   */
  async hiddenAt({ hidden = [] }, cwd, place, watch) {
    if (hidden.length === 0) return { itself: false, inside: undefined };
    const ends = { ...watch, signal: this.#endingWith(watch.signal) };
    return await look(ends, hidden.join(", "), "hiddenAt", hidden, cwd, place);
  }

  /** Returns what no limits allow to write, with its names for users. @param {string} cwd @param {Watch} watch */
  #keptPlaces(cwd, watch) {
    return look(watch, "programs", "keptPlaces", this.#shell(), cwd, this.#keptFolder().programs);
  }

  /** Returns the folders that limits keep, with their names for users. @param {Limits} limits */
  #keptFolders({ keepsAgentFolder, kept = [] }) {
    const own = keepsAgentFolder ? [this.#keptFolder()] : [];
    return [...own, ...kept.map((path) => ({ path, name: path }))];
  }

  /**
   * Returns the paths that a command line can neither read nor write. Paths that do not exist are created while the
   * command line runs: a mount can cover only an existing path, and another program may create the path meanwhile.
   * @param {string[]} rules
   * @param {string} cwd
   * @param {object} holder of the placeholders
   * @param {Watch} watch
   */
  async #unreadable(rules, cwd, holder, watch) {
    if (rules.length === 0) return [];
    const what = rules.join(", ");
    const found = await look(watch, what, "hiddenPlaces", rules, cwd);
    const isLinux = process.platform === "linux";
    const places = isLinux ? found : [];
    /** @type {string[]} */
    const closed = [];
    placeholders.together(() => {
      for (const { path, directory } of places) {
        try {
          placeholders.create(directory ? `${path}/` : path, holder, true);
        } catch (error) {
          if (isPassing(error)) throw error;
          refuseOpenable(error, path);
          // No process of this user can create the path. If none can reach the path, the look below tells.
          if (!isRaced(error) || isBelow(path, "/proc")) closed.push(path);
        }
      }
    });
    // Looked up with the created paths, since a name in another mount is found by its file.
    const names = await look(watch, what, "hiddenNames", rules, cwd);
    const all = outermost(names);
    const gone = isLinux ? all.filter((path) => !isThere(path)) : [];
    const lost = gone.find((path) => !closed.includes(withoutSlash(path)));
    if (lost !== undefined) throw new Busy(`${lost}, which is hidden, was removed while the sandbox was built`);
    return all.filter((path) => !gone.includes(path));
  }

  /**
   * Begins a command line, a second time if a placeholder was changed meanwhile.
   * @param {string} line
   * @param {Limits} limits
   * @param {string} cwd
   * @param {SessionFolder} folder
   * @param {Watch} watch
   * @returns {Promise<ReturnType<typeof runningCommands.begin>>}
   */
  async #begin(line, limits, cwd, folder, watch, isFirst = true) {
    const owner = this.#session;
    const holder = {};
    const ids = join(folder.running, randomBytes(8).toString("hex"));
    let close = () => {};
    const release = () => {
      close();
      placeholders.release(holder);
    };
    try {
      const { confined, reach } = await this.#confined(line, limits, cwd, folder, holder, watch, ids);
      close = confined.close;
      watch.signal?.throwIfAborted();
      runningCommands.check(owner, reach);
      const begun = runningCommands.begin(confined.line, owner, reach, release, ids);
      if (Buffer.byteLength(begun.line) <= MAX_LINE) return begun;
      runningCommands.end(begun.command);
      throw new Error("it is too long");
    } catch (error) {
      const isChanged = placeholders.isChanged(holder);
      release();
      if (isFirst && isChanged) return await this.#begin(line, limits, cwd, folder, watch, false);
      throw error;
    }
  }

  /**
   * Returns a confined command line, and the paths on which it rests.
   * @param {string} line
   * @param {Limits} limits
   * @param {string} folderOfCall the working directory
   * @param {SessionFolder} folder
   * @param {object} holder of the placeholders
   * @param {Watch} watch
   * @param {string} ids a file for the ids of its processes
   */
  async #confined(line, limits, folderOfCall, folder, holder, watch, ids) {
    const { writable: paths, hidden: rules = [], network } = limits;
    const { temporary } = folder;
    await look(watch, "the system", "canConfine", network);
    if (line.includes("\0")) throw new Error("it contains a NUL character");
    if (!this.#git) this.begin(folderOfCall);
    this.#readOnly = new Map();
    const unreadable = await this.#unreadable(rules, folderOfCall, holder, watch);
    const trees = unreadable.length > 0 ? await look(watch, "git", "trackingGitFolders", unreadable) : [];
    const tracking = trees.filter((path) => !unreadable.some((hidden) => isBelow(path, hidden)));
    this.#addReadOnly("tracked", tracking);
    const listed = this.#withGitFolders(paths).filter((path) => !tracking.some((git) => isBelow(path, git)));
    const outer = await this.#keptPlaces(folderOfCall, watch);
    placeholders.together(() => outer.forEach(({ path }) => this.#keepFree(path, listed, holder)));
    const isListed = (/** @type {string} */ path) => listed.some((one) => isBelow(path, one) || isBelow(one, path));
    this.#addReadOnly("outside", outer.map(({ path }) => path).filter(isListed));
    const folders = [...this.#keptFolders(limits), ...outer];
    const kept = await look(watch, "the agent's folder", "keptTogether", folders);
    const isKept = (/** @type {string} */ path) => kept.names.some((name) => isBelow(path, name));
    this.#addReadOnly("kept", listed.filter(isKept));
    const all = outermost(listed).filter((path) => !isKept(path));
    const keys = this.#hide(all);
    keys.hidden = keys.hidden.filter((path) => !unreadable.some((other) => isBelow(path, other)));
    const writable = placeholders.together(() => all.filter((path) => this.#prepare(path, holder)));
    const reach = { writable: writable.map(withoutSlash), temporary };
    const isWritable = (/** @type {string} */ path) => reach.writable.some((other) => isBelow(path, other));
    const isMounted = process.platform === "linux";
    const keptNames = outermost(kept.names).filter((name) => (!isMounted || isThere(name)) && isWritable(name));
    // Nobody but `root` changes `/`, and what is in it cannot be mounted anew. A kept folder is fixed as a whole.
    keys.fixed = [...keys.fixed, ...kept.turns].filter(
      (turn) => dirname(turn) !== "/" && isWritable(dirname(turn)) && !keptNames.some((name) => isBelow(turn, name)),
    );
    this.#addReadOnly("fixed", [...new Set(keys.fixed.map((turn) => dirname(turn)))]);
    await this.#clean(temporary, watch);
    const cwd = realPath(folderOfCall);
    // Elsewhere it is read-only already, and a path from a file of the project must not be mounted over other mounts.
    const own = ["/proc", "/dev", "/sys", TEMPORARY, privateFolder()];
    const git = tracking.filter((path) => isOnlyIn(path, reach.writable, own));
    const readOnly = [...(await this.#readOnlyBelow(writable, keptNames, watch)), ...git, ...keptNames];
    const everything = reach.writable.includes("/");
    const covered = [...keys.hidden, ...unreadable];
    const places = everything
      ? { kept: [cwd], covered, found: [] }
      : { kept: [cwd, ...reach.writable], temporary: TEMPORARY, covered, found: this.#sockets };
    const sockets = { ...places, since: this.#since, written: [...written] };
    this.#forbidden = undefined;
    const covers = network
      ? undefined
      : await look(watch, "sockets", "socketCovers", sockets).catch((error) => {
          watch.signal?.throwIfAborted();
          this.#forbidden = messageOf(error);
          return undefined;
        });
    if (written.size > sockets.written.length) throw new Busy("another command began while sockets were looked for");
    for (const path of reach.writable) written.add(path);
    const isSeen = (/** @type {string} */ path) => !covers?.some((other) => isBelow(path, other));
    const hidden = keys.hidden.filter(isSeen);
    const visible = unreadable.filter((path) => isSeen(path) && !hidden.some((other) => isBelow(path, other)));
    const more = { readOnly, hidden, unreadable: visible, kept: keptNames };
    const sandbox = { ...reach, ...keys, ...more, network, covers, cwd, standIns: standIns(), ids };
    const around = [...hidden, ...(covers ?? []), ...unreadable].find(
      (path) => isBelow(cwd, path) && (path !== cwd || unreadable.includes(path)),
    );
    if (around !== undefined) throw new Error(`commands do not see the folder ${around}`);
    checkCase([...hidden, ...visible, ...readOnly]);
    const confined = confinedLine(this.#withPrefix(line), sandbox);
    return { confined, reach: { ...reach, places: confined.places, sealed: confined.sealed } };
  }

  /**
   * Returns these paths with the folders of git in the place of `.git/` in the working directory.
   * @param {string[]} paths
   */
  #withGitFolders(paths) {
    const { of, granted } = this.#git ?? {};
    if (of === undefined || !granted) return paths;
    return paths.flatMap((path) => {
      if (withoutSlash(path) !== join(of, ".git")) return [path];
      if (granted.reason !== undefined) this.#addReadOnly(granted.reason, [path]);
      return granted.folders.filter(isThere);
    });
  }

  /** @param {string} reason or its key in `READ_ONLY` @param {string[]} paths */
  #addReadOnly(reason, paths) {
    const why = READ_ONLY[/** @type {keyof typeof READ_ONLY} */ (reason)] ?? reason;
    if (paths.length > 0) this.#readOnly.set(why, [...(this.#readOnly.get(why) ?? []), ...paths]);
  }

  /**
   * Returns a command line with the prefix of the settings. The shell outside of the sandbox may run the prefix too, where
   * its changes of the shell are lost.
   * @param {string} line
   */
  #withPrefix(line) {
    const { prefix } = this.#shell();
    return prefix ? `${prefix}\n${line}` : line;
  }

  /**
   * Creates what a command line could create otherwise, and must not.
   * @param {string} path
   * @param {string[]} listed
   * @param {object} holder of the placeholders
   */
  #keepFree(path, listed, holder) {
    const real = realPath(path);
    const isListed = listed.some((other) => isBelow(real, withoutSlash(other)) && real !== withoutSlash(other));
    const slash = path === this.#keptFolder().programs ? "/" : "";
    try {
      if (process.platform === "linux" && isListed) placeholders.create(real + slash, holder, true);
    } catch (error) {
      // No process of this user can create it.
      if (isPassing(error) || isRaced(error)) throw error;
    }
  }

  /**
   * Creates a writable path that does not exist. Returns false if the path cannot be reached or created: then no
   * command can do so either.
   * @param {string} path
   * @param {object} holder of the placeholders
   */
  #prepare(path, holder) {
    const name = withoutSlash(path);
    let real;
    try {
      real = realPath(name);
      if (real === name) placeholders.create(path, holder);
    } catch (error) {
      if (isPassing(error)) throw error;
      this.#addReadOnly("closed", [name]);
      return false;
    }
    if (real !== name) throw new Error(`a link leads elsewhere from ${name}`);
    return true;
  }

  /**
   * Returns the folders of keys, and the turns of the ways to them (`turnsOf`). Creates the folders that the
   * command line could create, for good: if another process of this kind removed such a folder, its mount here would vanish.
   * @param {string[]} writable
   */
  #hide(writable) {
    const isWritable = (/** @type {string} */ path) => writable.some((allowed) => isBelow(path, allowed));
    /** @type {string[]} */
    const hidden = [];
    for (const name of keyFolders()) {
      try {
        const path = realPath(name);
        const found = isThere(path);
        if (!found && isWritable(path)) makeFolder("/", path, 0o700);
        if ((found || isWritable(path)) && !hidden.includes(path)) hidden.push(path);
      } catch (error) {
        if (isPassing(error)) throw error;
        isThere(name);
        // The folder cannot be reached or created: a command line, which has no more rights, cannot do so either.
      }
    }
    return { hidden, fixed: keyFolders().flatMap(turnsOf) };
  }

  /**
   * Returns the paths in writable paths that must stay read-only, see `readOnlyIn`. Every call searches: any program outside
   * can create links.
   * @param {string[]} writable
   * @param {string[]} kept read-only folders in the writable paths
   * @param {Watch} watch
   */
  async #readOnlyBelow(writable, kept, watch) {
    if (writable.includes("/") || writable.length === 0) return [];
    const paths = writable.map(withoutSlash);
    const { readOnly, linked, closed, sockets } = await look(watch, paths.join(", "), "readOnlyIn", paths, kept);
    this.#sockets = sockets;
    this.#addReadOnly("closed", closed);
    this.#addReadOnly("linked", linked);
    return readOnly;
  }

  /**
   * Removes files that have links to the outside from the folder for temporary files. The whole folder is put aside if
   * it cannot be searched. While command lines use the folder, it is as clean as when the first began.
   * @param {string} temporary
   * @param {Watch} watch
   */
  async #clean(temporary, watch) {
    if (runningCommands.uses(temporary)) return;
    const { linked, closed } = await look(watch, temporary, "linkedOutside", [temporary]);
    if (runningCommands.uses(temporary)) return;
    for (const path of linked)
      inFolder("/", dirname(path), (folder) => rmSync(folder.at(basename(path)), { force: true }));
    if (closed.length === 0) return;
    renameSync(temporary, `${temporary}.${Date.now()}`);
    mkdirSync(temporary, { mode: 0o700 });
  }

  /** Notes the end of the session. */
  end() {
    const folder = this.#folder;
    this.#session.abort();
    this.allEnded();
    this.#session = new AbortController();
    this.#folder = undefined;
    // It is not empty while a command line runs on.
    unlessFails(() => {
      if (folder) for (const path of [folder.running, dirname(folder.running)]) rmdirSync(path);
    });
  }

  /**
   * Returns the text that follows the output of a command line that failed because of its limits; `undefined` for any
   * other output.
   * @param {string} id of its call
   * @param {string} output
   */
  notice(id, output) {
    const limits = this.#commands.get(id)?.limits;
    const lower = output.replace(/^bwrap: .*/gm, "").toLowerCase();
    if (!limits?.notice || !limits.signs?.some((sign) => lower.includes(sign))) return undefined;
    const readOnly = [...this.#readOnly].map(
      ([why, paths]) =>
        ` Read-only, because ${why}: ${paths.slice(0, MAX_NAMED).join(", ")}${paths.length > MAX_NAMED ? ", …" : ""}.`,
    );
    return limits.notice + readOnly.join("") + (this.#forbidden ? ` Sockets cannot be used: ${this.#forbidden}.` : "");
  }

  /** Notes the end of a call. @param {string} id */
  ended(id) {
    const searches = this.#searches.get(id) ?? [];
    const running = this.#commands.get(id);
    this.#searches.delete(id);
    this.#commands.delete(id);
    for (const search of searches) runningCommands.endSearch(search);
    if (running) runningCommands.end(running.command);
  }

  /** True if processes of a command line are left that was killed. */
  get isLeft() {
    return runningCommands.isLeft(this.#session);
  }

  /** Waits for a limited time until no such processes are left. @param {AbortSignal} [other] ends the wait */
  async settled(other) {
    const signal = this.#endingWith(other);
    const end = performance.now() + LONGEST_END;
    while (this.isLeft && performance.now() < end && !signal.aborted) await runningCommands.changed(NEXT_LOOK, signal);
  }

  /** Notes the end of all calls. */
  allEnded() {
    for (const id of [...this.#commands.keys(), ...this.#searches.keys()]) this.ended(id);
  }
}

/**
 * Returns true if a path lies in a writable path, and no other of these paths lies in it, or contains it more closely.
 * @param {string} path
 * @param {string[]} writable
 * @param {string[]} others
 */
function isOnlyIn(path, writable, others) {
  const around = [...others, ...writable].filter((other) => isBelow(path, other));
  const nearest = around.reduce((found, other) => (other.length >= found.length ? other : found), "");
  return writable.includes(nearest) && nearest !== path && !others.some((other) => isBelow(other, path));
}

/**
 * Throws if a path has another name by which a command line would reach it: a mount lies on one name. On macOS the kernel
 * compares the name that a file has on the disk.
 * @param {string[]} paths that are hidden or read-only
 */
function checkCase(paths) {
  const seen = new Map();
  const path = process.platform === "linux" && paths.find((path) => hasOtherCase(path, seen));
  if (!path) return;
  const why = "is on a file system that does not tell upper and lower case apart, so a command could reach it";
  throw new Error(`${path} ${why} by another spelling. Hide the folder around it, or move the project`);
}

/**
 * Returns true if an error may be gone a moment later, also because of a command line itself, for example one that
 * makes room on a full disk.
 * @param {any} error
 */
function isPassing(error) {
  return error instanceof Busy || ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "EIO"].includes(error?.code);
}

/** Returns true if a path was not created because another process has changed it meanwhile. @param {any} error */
const isRaced = (error) => ["ENOENT", "ENOTDIR", "ELOOP", "EEXIST", "ESTALE"].includes(error?.code);

/** @param {string} path */
function withoutSlash(path) {
  return path === "/" ? path : path.replace(/\/$/, "");
}

/** Returns the paths that are not below another one. @param {string[]} paths */
function outermost(paths) {
  /** By path without a slash at the end: a path is a folder if one of its forms is. @type {Map<string, string>} */
  const named = new Map();
  for (const path of paths) if (path.endsWith("/") || !named.has(resolve(path))) named.set(resolve(path), path);
  const isInside = (/** @type {string} */ name) => [...upwards(name)].some((at) => at !== name && named.has(at));
  return [...named].flatMap(([name, path]) => (isInside(name) ? [] : [path]));
}
