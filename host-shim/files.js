// The files that a manifest grants, read-only. There is no way from here to any other file.
import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { readSync, readdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";

/**
 * A folder that the manifest grants. `agent`: below pi's agent directory. `project`: below the project's
 * configuration directory, `cwd`: below the working directory, both only while the person trusts the project.
 * @typedef {object} Grant
 * @property {string} name what the component calls it
 * @property {"agent" | "project" | "cwd"} base
 * @property {string} path
 * @property {false} [listed] whether `roots` tells of it
 */

/**
 * Where the bases are now.
 * @typedef {object} Bases
 * @property {() => string} agentDir
 * @property {() => string} cwd
 * @property {string} configDirName
 * @property {() => boolean} isProjectTrusted
 */

/** Larger files are not read, in bytes. */
const MAX_FILE_SIZE = 1024 * 1024;

/** More is not found by one walk. */
const MAX_FOUND = 20_000;

/** How coarse the time stamps of a file system may be, in milliseconds. */
const STAMP_MARGIN = 2000;

// A pipe must not keep us waiting, and a link that was just put in place must not lead us away.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * The `pi:extension/files` interface over a list of grants.
 *
 * @param {Grant[]} grants
 * @param {Bases} bases
 */
export function fileImports(grants, bases) {
  const folder = (/** @type {Grant} */ { base, path }) => {
    if (base === "agent") return join(bases.agentDir(), path);
    return base === "cwd" ? join(bases.cwd(), path) : join(bases.cwd(), bases.configDirName, path);
  };
  const granted = (/** @type {Grant} */ { base }) => base === "agent" || bases.isProjectTrusted();
  const roots = grants.map((grant) => ({ name: grant.name, path: () => folder(grant), granted: () => granted(grant), listed: grant.listed !== false }));
  return filesBelow(roots, bases.cwd);
}

/**
 * A folder, wherever it is.
 * @typedef {object} Root
 * @property {string} name what the component calls it
 * @property {() => string} path
 * @property {() => boolean} granted whether it may be read now
 * @property {boolean} listed whether it is one of the roots that the component is told of
 */

/**
 * The interface over folders.
 *
 * @param {Root[]} folders
 * @param {() => string} cwd
 */
export function filesBelow(folders, cwd) {
  /**
   * The real path of something below a root.
   * @param {string} name
   * @param {string} path
   */
  const resolve = (name, path) => {
    const folder = folders.find((folder) => folder.name === name);
    if (!folder?.granted()) throw { tag: "no-such-root" };
    if (!isPlain(path)) throw { tag: "outside-root" };
    const root = realpathSync.native(folder.path());
    const real = realpathSync.native(join(root, path));
    if (!isWithin(root, real)) throw { tag: "outside-root" };
    return { root, real };
  };

  return {
    roots: () =>
      attempt(() =>
        folders.filter((folder) => folder.listed && folder.granted()).flatMap((folder) => {
          const path = folder.path();
          const there = statSync(path, { throwIfNoEntry: false })?.isDirectory();
          return there ? [{ name: folder.name, path: display(path, cwd()) }] : [];
        }),
      ),

    listDirectory: (/** @type {string} */ name, /** @type {string} */ path) =>
      attempt(() => {
        const { root, real } = resolve(name, path);
        return readEntries(real).map((entry) => ({
          name: entry.name,
          kind: kindOf(entry.isSymbolicLink() ? follow(root, join(real, entry.name)) : entry),
        }));
      }),

    readFile: (/** @type {string} */ name, /** @type {string} */ path) =>
      attempt(() => {
        return readRegularFile(resolve(name, path).real, MAX_FILE_SIZE, OPEN_FLAGS);
      }),

    stat: (/** @type {string} */ name, /** @type {string} */ path) =>
      attempt(() => {
        const stat = statSync(resolve(name, path).real);
        const kind = kindOf(stat);
        return { kind, size: BigInt(kind === "file" ? stat.size : 0), stamp: stampOf(stat) };
      }),

    walk: (/** @type {string} */ name, /** @type {string} */ path, /** @type {number} */ depth) =>
      attempt(() => {
        const { root, real } = resolve(name, path);
        /** @type {{ path: string, kind: string, stamp: string }[]} */
        const found = [];
        collect(found, root, readEntries(real), real, path, depth);
        return found;
      }),
  };
}

/**
 * The content of a file that is one.
 *
 * @param {string} path
 * @param {number} limit in bytes
 * @param {number} [flags]
 */
export function readRegularFile(path, limit, flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) {
  const descriptor = openSync(path, flags);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw { tag: "wrong-kind" };
    if (stat.size > limit) throw { tag: "too-large", val: BigInt(stat.size) };
    return readToEnd(descriptor, stat.size, limit);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * What can be read, which may be more than the file's size: it may grow, and some have no size at all.
 *
 * @param {number} descriptor
 * @param {number} size
 * @param {number} limit
 */
function readToEnd(descriptor, size, limit) {
  let bytes = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, bytes, length, bytes.length - length, null);
    if (count === 0) return bytes.subarray(0, length);
    length += count;
    if (length > limit) throw { tag: "too-large", val: BigInt(length) };
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * length + 4096, limit + 1));
  }
}

/**
 * Adds what is below a directory.
 *
 * @param {{ path: string, kind: string, stamp: string }[]} found
 * @param {string} root
 * @param {import("node:fs").Dirent[]} entries the directory's
 * @param {string} real where it is
 * @param {string} path what the guest calls it
 * @param {number} depth
 */
function collect(found, root, entries, real, path, depth) {
  if (depth === 0) return;
  for (const entry of entries) {
    const at = join(real, entry.name);
    const stat = entry.isSymbolicLink() ? follow(root, at) : lstatSync(at, { throwIfNoEntry: false });
    const kind = kindOf(stat);
    const below = path === "" ? entry.name : `${path}/${entry.name}`;
    if (found.push({ path: below, kind, stamp: stat ? stampOf(stat) : "" }) > MAX_FOUND) {
      throw { tag: "too-large", val: BigInt(found.length) };
    }
    if (kind === "directory" && depth > 1) collect(found, root, readableEntries(at), at, below, depth - 1);
  }
}

/** Tells apart the stamps of what changed a moment ago. */
let unsettled = 0;

/**
 * What changes with every change of a file. Time stamps are coarse: of two changes in a moment both may
 * have the same, so a fresh one is never given out twice.
 *
 * @param {import("node:fs").Stats} stat
 */
function stampOf({ dev, ino, size, mtimeMs, ctimeMs }) {
  const stamp = `${dev}.${ino}.${size}.${mtimeMs}.${ctimeMs}`;
  return Math.max(mtimeMs, ctimeMs) > Date.now() - STAMP_MARGIN ? `${stamp}.${process.pid}.${(unsettled += 1)}` : stamp;
}

/** @param {string} path */
function readableEntries(path) {
  try {
    return readEntries(path);
  } catch {
    return [];
  }
}

/**
 * The entries of a directory, sorted; a file in its place is of the wrong kind, not missing.
 * @param {string} path
 */
function readEntries(path) {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (/** @type {any} */ error) {
    throw error.code === "ENOTDIR" ? { tag: "wrong-kind" } : error;
  }
}

/**
 * Whether a path is what the interface asks for: parts with `/` between them, none of them a way up
 * or, on Windows, a drive or a separator.
 * @param {string} path
 */
function isPlain(path) {
  if (path === "") return true;
  const odd = sep === "\\" ? /[\\:\0]/ : /\0/;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !odd.test(part));
}

/**
 * Whether one real path is another, or lies below it. `relative` ignores case where the platform does.
 * @param {string} root
 * @param {string} path
 */
export function isWithin(root, path) {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/**
 * What a link leads to, if that lies within the root.
 * @param {string} root
 * @param {string} path
 */
function follow(root, path) {
  try {
    const real = realpathSync.native(path);
    return isWithin(root, real) ? statSync(real) : undefined;
  } catch {
    return undefined;
  }
}

/** @param {{ isFile(): boolean, isDirectory(): boolean } | undefined} entry */
function kindOf(entry) {
  if (entry?.isFile()) return "file";
  return entry?.isDirectory() ? "directory" : "other";
}

/**
 * A path as a person would write it.
 * @param {string} path
 * @param {string} cwd
 */
function display(path, cwd) {
  const [base, prefix] = isWithin(cwd, path) ? [cwd, ""] : [homedir(), `~${sep}`];
  return (isWithin(base, path) ? prefix + relative(base, path) || "." : path).replaceAll(sep, "/");
}

/**
 * Turns what the operating system says into an error of the interface.
 * @template T
 * @param {() => T} work
 * @returns {T}
 */
function attempt(work) {
  try {
    return work();
  } catch (/** @type {any} */ error) {
    if (!(error instanceof Error)) throw error;
    if (isStale(error)) throw { tag: "stale" };
    switch (/** @type {NodeJS.ErrnoException} */ (error).code) {
      case "ENOENT":
      case "ENOTDIR":
        throw { tag: "not-found" };
      case "EISDIR":
      case "ENXIO":
        throw { tag: "wrong-kind" };
      default:
        throw { tag: "failed", val: error.message };
    }
  }
}

/**
 * Whether pi says that the session is gone. The operating system's words may contain "stale" too, in a
 * path.
 * @param {unknown} error
 */
export function isStale(error) {
  return error instanceof Error && /\bis stale\b/.test(error.message);
}
