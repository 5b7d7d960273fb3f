// The `pi:extension/folders` interface: folders in the project that the manifest grants, one for each key in each
// session.
//
// The name of a folder is a hash of the session's ID and the key, so nothing that a session stores is a path. Each
// folder is opened without following links, and on Linux its entries are reached through its descriptor: a change of
// what its name leads to does not matter.
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

import { NOT_GRANTED, messageOf } from "./calls.js";
import { untrusted } from "./sandbox/index.js";

/** @typedef {import("./calls.js").Calls} Calls */
/** The folder of all folders, below the project's configuration directory. @typedef {{ path: string }} FoldersGrant */

/** The beginning of the name of a file. */
const STEM = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}$/;

/** The name of a folder. */
const NAME = /^[0-9a-f]{20}$/;

/** The maximum number of files and folders that are copied, and their size together, in bytes. */
const MAX_COPY = { entries: 10_000, bytes: 256 * 2 ** 20 };

const NO_LINKS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** True if the entries of an open folder have paths by its descriptor. */
const HAS_DESCRIPTORS = process.platform === "linux" && existsSync("/proc/self/fd");

/**
 * @param {Calls} calls
 * @param {FoldersGrant | undefined} grant
 * @param {string} configDirName
 * @param {import("./session.js").Session} [session] the session of these folders; if absent, the session of the call
 * @returns {import("./interface.js").Imports["pi:extension/folders"]}
 */
export function folderImports(calls, grant, configDirName, session) {
  return calls.guarded({
    /** @type {import("./interface.js").Imports["pi:extension/folders"]["open"]} */
    open: (key, copyOf) => {
      if (copyOf !== undefined && !isName(copyOf)) throw new Error("The name of the folder to copy is no such name.");
      const { name, path } = open({ context: calls.context, session, grant, configDirName, key, copyOf }, () => {});
      return { name, path };
    },
    /** @type {import("./interface.js").Imports["pi:extension/folders"]["writeFile"]} */
    writeFile: (key, name, text) => {
      if (!STEM.test(name)) throw new Error("The name of the file is no such name.");
      const { context } = calls;
      const { path } = open({ context, session, grant, configDirName, key, copyOf: undefined }, () => {});
      untrusted.replaceFile(context.cwd, `${path}/${name}`, text);
    },
  });
}

/**
 * Creates a file with a new name in the folder of a key, to write to.
 * @param {Pick<Wanted, "context" | "session" | "grant" | "configDirName" | "key">} wanted
 * @param {string} stem the beginning of its name; a number and `.log` follow
 * @returns {{ descriptor: number, path: string }} its path from the working directory
 */
export function createFile(wanted, stem) {
  if (!STEM.test(stem)) throw new Error("The name of the file is no such name.");
  const { path, result } = open({ ...wanted, copyOf: undefined }, (folder, shown) => {
    const numbers = readdirSync(folder).map((name) =>
      name.startsWith(`${stem}-`) ? Number(/^(\d{1,9})\.log$/.exec(name.slice(stem.length + 1))?.[1] ?? 0) : 0,
    );
    for (let number = numbers.reduce((most, one) => Math.max(most, one), 0) + 1; ; number += 1) {
      const name = `${stem}-${number}.log`;
      const descriptor = named(`${shown}/${name}`, () => unlessThere(() => openSync(join(folder, name), "wx")));
      if (descriptor !== undefined) return { descriptor, name };
    }
  });
  return { descriptor: result.descriptor, path: `${path}/${result.name}` };
}

/**
 * The values that open a folder: the context of pi, the grant, and the key.
 * @typedef {object} Wanted
 * @property {Pick<import("@earendil-works/pi-coding-agent").ExtensionContext, "cwd" | "sessionManager" |
 *   "isProjectTrusted">} context
 * @property {import("./session.js").Session} [session] the session of the folder; if absent, the context's session
 * @property {FoldersGrant | undefined} grant
 * @property {string} configDirName
 * @property {string} key
 * @property {string | undefined} copyOf
 */

/**
 * Opens the folder of a key, which is created if it does not exist, and calls a function with the path by which its
 * entries are reached.
 * @template T
 * @param {Wanted} wanted
 * @param {(folder: string, shown: string) => T} use
 */
function open({ context, session = context.sessionManager, grant, configDirName, key, copyOf }, use) {
  if (!grant) throw new Error(NOT_GRANTED);
  if (!context.isProjectTrusted()) throw new Error("The project is not trusted.");
  const name = nameOf(session.getSessionId(), key);
  const result = openFolder(context.cwd, [configDirName, grant.path], name, copyOf, use);
  return { name, path: [configDirName, grant.path, name].join("/"), result };
}

/** Returns true if a text is the name of a folder. @param {string} name */
export const isName = (name) => NAME.test(name);

/**
 * @param {string} session
 * @param {string} key
 */
function nameOf(session, key) {
  return createHash("sha256")
    .update(JSON.stringify([session, key]))
    .digest("hex")
    .slice(0, 20);
}

/**
 * Opens a folder, which is created if it does not exist.
 * @template T
 * @param {string} cwd
 * @param {string[]} place the folders above it
 * @param {string} name
 * @param {string | undefined} copyOf the folder beside it whose files a new folder gets
 * @param {(folder: string, shown: string) => T} use is called with the path by which its entries are reached
 */
function openFolder(cwd, place, name, copyOf, use) {
  /**
   * @param {string} folder the path by which the entries of the folder are reached
   * @param {string} shown
   * @param {string[]} names
   * @returns {T}
   */
  const enter = (folder, shown, [first, ...rest]) => {
    if (first === undefined) {
      makeIn(folder, shown, name, copyOf);
      const own = `${shown}${name}`;
      return within(join(folder, name), own, (inside) => use(inside, own));
    }
    const below = `${shown}${first}`;
    named(below, () => unlessThere(() => mkdirSync(join(folder, first))));
    return within(join(folder, first), below, (inside) => enter(inside, `${below}/`, rest));
  };
  // The working directory itself may be reached through a link.
  const descriptor = named(cwd, () => openByDescriptor(cwd, 0));
  return using(descriptor, cwd, (folder) => enter(folder, "", place));
}

/**
 * Creates a folder unless something has its name.
 * @param {string} folder
 * @param {string} shown
 * @param {string} name
 * @param {string | undefined} copyOf
 */
function makeIn(folder, shown, name, copyOf) {
  const ignore = join(folder, ".gitignore");
  named(`${shown}.gitignore`, () => unlessThere(() => writeFileSync(ignore, "*\n", { flag: "wx" })));
  const own = join(folder, name);
  if (lstatSync(own, { throwIfNoEntry: false })) return;
  // Complete or not at all: a folder that exists is not copied to again.
  const begun = join(folder, `.${name}`);
  named(`${shown}${name}`, () => {
    rmSync(begun, { recursive: true, force: true });
    mkdirSync(begun);
  });
  try {
    const first =
      copyOf === undefined || copyOf === name ? undefined : lstatSync(join(folder, copyOf), { throwIfNoEntry: false });
    if (first && copyOf) copyFolder(join(folder, copyOf), begun, `${shown}${copyOf}`);
    named(`${shown}${name}`, () => renameSync(begun, own));
  } finally {
    rmSync(begun, { recursive: true, force: true });
  }
}

/**
 * Copies the files and folders in a folder; no links, devices and pipes.
 * @param {string} from
 * @param {string} to
 * @param {string} shown
 */
export function copyFolder(from, to, shown) {
  const left = { ...MAX_COPY };
  /** @param {string} source @param {string} target @param {string} shown */
  const copy = (source, target, shown) => {
    within(source, shown, (inside) =>
      within(target, shown, (copied) => {
        for (const entry of readdirSync(inside, { withFileTypes: true })) {
          const [a, b, name] = [join(inside, entry.name), join(copied, entry.name), `${shown}/${entry.name}`];
          if (!entry.isDirectory() && !entry.isFile()) continue;
          left.entries -= 1;
          if (left.entries < 0) throw new Error(`${shown}: its folder has more than ${MAX_COPY.entries} entries`);
          if (entry.isFile()) named(name, () => copyFile(a, b, left));
          else {
            named(name, () => mkdirSync(b));
            copy(a, b, name);
          }
        }
      }),
    );
  };
  copy(from, to, shown);
}

/**
 * Copies a regular file with its permission to be executed.
 * @param {string} from
 * @param {string} to
 * @param {{ bytes: number }} left the number of bytes that may be copied
 */
function copyFile(from, to, left) {
  const source = openSync(from, constants.O_RDONLY | NO_LINKS);
  try {
    const stat = fstatSync(source);
    if (!stat.isFile()) return;
    const target = openSync(to, "wx", stat.mode & 0o777);
    try {
      const chunk = Buffer.allocUnsafe(64 * 1024);
      for (let length; (length = readSync(source, chunk, 0, chunk.length, null)) > 0;) {
        left.bytes -= length;
        if (left.bytes < 0) throw new Error(`its folder has more than ${MAX_COPY.bytes} bytes`);
        for (let written = 0; written < length;) written += writeSync(target, chunk, written, length - written);
      }
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/**
 * Opens a folder, not through a link, and calls a function with the path by which its entries are reached.
 * @template T
 * @param {string} path
 * @param {string} shown
 * @param {(path: string) => T} work
 * @returns {T}
 */
export function within(path, shown, work) {
  const open = () => {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) throw new Error("it is a link");
    if (!stat.isDirectory()) throw new Error("it is not a folder");
    return openByDescriptor(path, NO_LINKS);
  };
  return using(named(shown, open), path, work);
}

/**
 * Returns the descriptor of an open folder; `undefined` on systems where entries have no paths by a descriptor.
 * @param {string} path
 * @param {number} flags
 */
function openByDescriptor(path, flags) {
  return HAS_DESCRIPTORS ? openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | flags) : undefined;
}

/**
 * @template T
 * @param {number | undefined} descriptor is closed
 * @param {string} path
 * @param {(path: string) => T} work
 * @returns {T}
 */
function using(descriptor, path, work) {
  try {
    return work(descriptor === undefined ? path : `/proc/self/fd/${descriptor}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Creates something, and returns the result; `undefined` if something has its name.
 * @template T
 * @param {() => T} create
 */
function unlessThere(create) {
  try {
    return create();
  } catch (/** @type {any} */ error) {
    if (error.code === "EEXIST") return undefined;
    throw error;
  }
}

/**
 * Does something with a path; an error names the path as the user knows it.
 * @template T
 * @param {string} path
 * @param {() => T} work
 */
export function named(path, work) {
  try {
    return work();
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    throw new Error(`${path}: ${WORDS[code ?? ""] ?? messageOf(error)}`);
  }
}

/** @type {Record<string, string>} */
const WORDS = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENOTDIR: "it is not a folder",
  ELOOP: "it is a link",
  ENOENT: "it does not exist",
};
