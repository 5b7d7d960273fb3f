// The files that a manifest grants, read-only. There is no way from here to any other file.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { opendirSync, readSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";

import { Record } from "./record.js";

/**
 * A folder that the manifest grants. `agent`: below pi's agent directory. `project`: below the project's
 * configuration directory, `cwd`: below the working directory, both only while the user trusts the project, and only where
 * the folder lies in the working directory, links followed.
 * @typedef {object} Grant
 * @property {string} name what the component calls it
 * @property {"agent" | "project" | "cwd"} base
 * @property {string} path
 * @property {false} [listed] whether `roots` tells of it
 */

/**
 * The current locations of the bases. Each function throws errors of the interface only.
 * @typedef {object} Bases
 * @property {() => string} agentDir
 * @property {() => string} cwd
 * @property {string} configDirName
 * @property {() => boolean} isProjectTrusted
 */

/** Larger files are not read, in bytes. */
const MAX_FILE_SIZE = 1024 * 1024;

/** Directories with more entries are not listed. */
const MAX_ENTRIES = 50_000;

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
  const roots = grants.map((grant) => ({
    name: grant.name,
    path: () => folder(grant),
    within: grant.base === "agent" ? undefined : bases.cwd,
    granted: () => granted(grant),
    listed: grant.listed !== false,
  }));
  return filesBelow(roots, bases.cwd);
}

/**
 * A folder, wherever it is.
 * @typedef {object} Root
 * @property {string} name what the component calls it
 * @property {() => string} path
 * @property {(() => string) | undefined} within the project that it must lie in, links followed
 * @property {() => boolean} granted whether it may be read now
 * @property {boolean} listed whether it is one of the roots that the component is told of
 */

/**
 * Where a folder is.
 * @typedef {object} Place
 * @property {string} at the path that led there, with links in it
 * @property {string} root the real path of its root
 * @property {string} real its own
 */

/**
 * The interface over folders.
 *
 * @param {Root[]} folders
 * @param {() => string} cwd
 */
export function filesBelow(folders, cwd) {
  /** @type {Record | undefined} */
  let record;

  /**
   * A folder below a root, wherever links lead. It is looked up once in a record.
   * @param {string} name the root's
   * @param {string} path
   * @returns {Place}
   */
  const place = (name, path) => record?.place(name, path) ?? look(name, path);

  /**
   * @param {string} name
   * @param {string} path
   */
  const look = (name, path) => {
    const at = resolve(name, path);
    record?.keepPlace(name, path, at);
    return at;
  };

  /**
   * The real paths of a root and of something below it.
   * @param {string} name
   * @param {string} path
   * @returns {Place}
   */
  const resolve = (name, path) => {
    const folder = folders.find((folder) => folder.name === name);
    if (!folder?.granted()) throw { tag: "no-such-root" };
    if (!isPlain(path)) throw { tag: "outside-root" };
    const at = folder.path();
    const root = record?.place(name, "")?.root ?? realRoot(folder, at);
    const real = realpathSync.native(join(root, path));
    if (!isWithin(root, real)) throw { tag: "outside-root" };
    return { at: join(at, path), root, real };
  };

  /**
   * The real path of a root.
   * @param {Root} folder
   * @param {string} at
   */
  const realRoot = ({ within }, at) => {
    const real = realpathSync.native(at);
    if (within && !isWithin(realpathSync.native(within()), real)) throw { tag: "outside-project", val: display(at, cwd()) };
    return real;
  };

  /**
   * The content of a file. It holds until the next one is read.
   * @param {string} name
   * @param {string} path
   */
  const readFile = (name, path) => {
    try {
      const slash = path.lastIndexOf("/");
      const base = path.slice(slash + 1);
      if (path !== "" && (slash === 0 || !isPlainPart(base))) throw { tag: "outside-root" };
      const { at, real } = place(name, slash < 0 ? "" : path.slice(0, slash));
      const file = below(real, base);
      const { bytes, stat } = readUnlessLink(file) ?? readFileAndStat(resolve(name, path).real, MAX_FILE_SIZE, OPEN_FLAGS, scratch);
      record?.file(at === real ? file : below(at, base), stat);
      return bytes;
    } catch (error) {
      throw asFileError(error);
    }
  };

  const roots = () =>
    attempt(() =>
      folders.filter((folder) => folder.listed && folder.granted()).flatMap((folder) => {
        const path = folder.path();
        const there = statSync(path, { throwIfNoEntry: false })?.isDirectory();
        return there ? [{ name: folder.name, path: display(path, cwd()) }] : [];
      }),
    );

  const listDirectory = (/** @type {string} */ name, /** @type {string} */ path) =>
    attempt(() => {
      const folder = place(name, path);
      return readEntries(folder.real).map((entry) => {
        const [at, real] = [below(folder.at, entry.name), below(folder.real, entry.name)];
        const way = path === "" ? entry.name : `${path}/${entry.name}`;
        if (entry.isDirectory()) record?.keepPlace(name, way, { ...folder, at, real });
        return entry.isSymbolicLink() ? { name: entry.name, ...follow(folder.root, real) } : { name: entry.name, kind: kindOf(entry) };
      });
    });

  /** Where the folders are: another one may have the same path for users. */
  const places = () => attempt(() => folders.map((folder) => (folder.granted() ? folder.path() : "")));

  return {
    roots: () => {
      record?.answer(places);
      return record ? record.answer(roots) : roots();
    },
    listDirectory: (/** @type {string} */ name, /** @type {string} */ path) =>
      record ? record.answer(() => listDirectory(name, path)) : listDirectory(name, path),
    readFile: (/** @type {string} */ name, /** @type {string} */ path) => {
      try {
        return readFile(name, path);
      } catch (error) {
        record?.refusal(error, () => void readFile(name, path));
        throw error;
      }
    },
    keepRecord: (/** @type {boolean} */ on) => {
      if (on) record = new Record();
      else record?.close();
    },
    unchanged: () => record?.holds() === true,
  };
}

/** What the component is handed a file's content in: it copies it at once. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * A file that is no link, by the real path of its folder; nothing if it may be one.
 * @param {string} file
 */
function readUnlessLink(file) {
  if (constants.O_NOFOLLOW === undefined) return undefined;
  try {
    return readFileAndStat(file, MAX_FILE_SIZE, OPEN_FLAGS, scratch);
  } catch (/** @type {any} */ error) {
    if (error.code !== "ELOOP" && error.code !== "EMLINK") throw error;
    return undefined;
  }
}

/**
 * The content of a file that is one.
 *
 * @param {string} path
 * @param {number} limit in bytes
 * @param {number} [flags]
 */
export function readRegularFile(path, limit, flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) {
  return readFileAndStat(path, limit, flags).bytes;
}

/**
 * @param {string} path
 * @param {number} limit
 * @param {number} flags
 * @param {Buffer} [room] what to read into, if it is large enough
 */
function readFileAndStat(path, limit, flags, room) {
  const descriptor = openSync(path, flags);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw { tag: "wrong-kind" };
    if (stat.size > limit) throw { tag: "too-large", val: BigInt(stat.size) };
    return { bytes: readToEnd(descriptor, stat.size, limit, room), stat };
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
 * @param {Buffer} [room]
 */
function readToEnd(descriptor, size, limit, room) {
  let bytes = room && size < room.length ? room : Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, bytes, length, bytes.length - length, null);
    length += count;
    // More was asked for than there was.
    if (count === 0 || length === size) return bytes.subarray(0, length);
    if (length > limit) throw { tag: "too-large", val: BigInt(length) };
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * length + 4096, limit + 1));
  }
}

/**
 * The entries of a directory, sorted; a file in its place is of the wrong kind, not missing. Of a directory with too
 * many entries no more than that is read.
 * @param {string} path
 */
function readEntries(path) {
  const directory = open(path);
  try {
    const entries = [];
    for (let entry; (entry = directory.readSync()); entries.push(entry)) {
      if (entries.length === MAX_ENTRIES) throw { tag: "too-many", val: MAX_ENTRIES };
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    directory.closeSync();
  }
}

/** @param {string} path */
function open(path) {
  try {
    return opendirSync(path, { bufferSize: 256 });
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
  return path === "" || path.split("/").every(isPlainPart);
}

/** @param {string} part */
function isPlainPart(part) {
  if (part === "" || part === "." || part === ".." || part.includes("\0")) return false;
  return sep !== "\\" || !/[\\:]/.test(part);
}

/**
 * What has this name in a folder; the folder itself if the name is empty.
 * @param {string} folder
 * @param {string} name
 */
function below(folder, name) {
  if (name === "") return folder;
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
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
 * The kind of a link's target and its path below the root; `other` if it lies outside the root.
 * @param {string} root
 * @param {string} path
 */
function follow(root, path) {
  try {
    const real = realpathSync.native(path);
    if (isWithin(root, real)) return { kind: kindOf(statSync(real)), target: relative(root, real).replaceAll(sep, "/") };
  } catch {
    // It leads nowhere.
  }
  return { kind: "other" };
}

/** @param {{ isFile(): boolean, isDirectory(): boolean }} entry */
function kindOf(entry) {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}

/**
 * A path as a user would write it.
 * @param {string} path
 * @param {string} cwd
 */
function display(path, cwd) {
  const [base, prefix] = isWithin(cwd, path) ? [cwd, ""] : [homedir(), `~${sep}`];
  return (isWithin(base, path) ? prefix + relative(base, path) || "." : path).replaceAll(sep, "/");
}

/**
 * An identifier of a folder that no other folder at the same path has: device, inode and, where the file system records it,
 * creation time, because inode numbers are reused. `undefined` on systems without inodes.
 * @param {string} path
 */
export function identityOf(path) {
  try {
    const { dev, ino, birthtimeNs } = statSync(path, { bigint: true });
    return ino > 0n ? `${dev}:${ino}:${birthtimeNs > 0n ? birthtimeNs : ""}` : undefined;
  } catch {
    return undefined;
  }
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
  } catch (error) {
    throw asFileError(error);
  }
}

/** @param {unknown} error */
function asFileError(error) {
  if (!(error instanceof Error)) return error;
  switch (/** @type {NodeJS.ErrnoException} */ (error).code) {
    case "ENOENT":
    case "ENOTDIR":
      return { tag: "not-found" };
    case "EISDIR":
    case "ENXIO":
      return { tag: "wrong-kind" };
    default:
      return { tag: "failed", val: error.message };
  }
}
