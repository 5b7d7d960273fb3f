// The `pi:extension/files` interface: the files that the manifest grants, and no other file. They can be read, and
// nothing that exists can be changed.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  opendirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, sep } from "node:path";

import { folderAbove, isBelow, messageOf, namesLike, untrusted } from "#sandbox";

import { NOT_GRANTED } from "./calls.js";
import { json } from "./json.js";
import { Snapshot } from "./snapshot.js";

/** @typedef {import("../target/types/interfaces/pi-extension-files.js").FileError} FileError */
/** @typedef {import("./interface.js").Imports["pi:extension/files"]} FileImports */

/** @typedef {FolderGrant | PackageGrant} Grant */
/** @typedef {import("./packages.js").Installed} Installed */

/**
 * A folder that the manifest grants. `agent`: below pi's agent directory. `project`: below the project's configuration
 * directory; `cwd`: below the working directory. The latter two only while the user trusts the project, and only if the
 * folder lies in the working directory after links are followed. Links in a folder of `agent` may lead anywhere, except
 * links in place of the folder's own files, whose changes hold at once. In others links lead within the folder.
 * @typedef {object} FolderGrant
 * @property {string} name the component's name for it
 * @property {"agent" | "project" | "cwd"} base
 * @property {string} path
 * @property {false} [listed] omits it from `roots`
 * @property {true} [creates] folders can be created in it, each with a file
 */

/**
 * The folders of the installed pi packages whose `package.json` has a field; of `own` the component's own package. Packages
 * of the project's settings count only while the user trusts the project.
 * @typedef {object} PackageGrant
 * @property {string} name the component's name for the own package, the beginning of its names for others
 * @property {"packages" | "own"} base
 * @property {string[]} field the keys that lead to the field
 */

/**
 * The current locations of the bases. The functions throw only errors of the interface.
 * @typedef {object} Bases
 * @property {() => string} agentDir
 * @property {() => string} cwd
 * @property {string} configDirName
 * @property {() => boolean} isProjectTrusted
 */

/** The maximum size of a file, in bytes. */
const MAX_FILE_SIZE = 1024 * 1024;

/** The maximum number of entries of a directory. */
const MAX_ENTRIES = 50_000;

/**
 * @param {Grant[]} grants
 * @param {Bases} bases
 * @param {() => Installed[]} [packages] returns the installed packages
 * @returns {FileImports}
 */
export function fileImports(grants, bases, packages = () => []) {
  const isOfPackage = (/** @type {Grant} */ grant) => grant.base === "packages" || grant.base === "own";
  const ofPackages = /** @type {PackageGrant[]} */ (grants.filter(isOfPackage));
  const ofFolders = /** @type {FolderGrant[]} */ (grants.filter((grant) => !isOfPackage(grant)));
  const folder = (/** @type {FolderGrant} */ { base, path }) => {
    if (base === "agent") return join(bases.agentDir(), path);
    return base === "cwd" ? join(bases.cwd(), path) : join(bases.cwd(), bases.configDirName, path);
  };
  const granted = (/** @type {FolderGrant} */ { base }) => base === "agent" || bases.isProjectTrusted();
  const roots = ofFolders.map((grant) => ({
    name: grant.name,
    path: () => folder(grant),
    within: grant.base === "agent" ? undefined : bases.cwd,
    anywhere: grant.base === "agent",
    granted: () => granted(grant),
    listed: grant.listed !== false,
    creates: grant.creates === true,
  }));
  if (ofPackages.length === 0) return filesBelow(roots, bases.cwd);
  return filesBelow(roots, bases.cwd, () => packageRoots(ofPackages, packages()));
}

/**
 * Returns the roots of those packages that have a field of a grant.
 * @param {PackageGrant[]} grants
 * @param {Installed[]} packages
 * @returns {Root[]}
 */
export function packageRoots(grants, packages) {
  return grants.flatMap((grant) =>
    packages.flatMap(({ path, scope, name, manifest, granted, isOwn = false }) => {
      const value = fieldOf(manifest, grant.field);
      if (value === undefined || isOwn !== (grant.base === "own")) return [];
      const installed = { name, scope, value: json(value) };
      const root = isOwn ? grant.name : `${grant.name}:${path}`;
      return [{ name: root, path: () => path, within: undefined, granted, listed: true, installed }];
    }),
  );
}

/**
 * Returns the value at some keys; `undefined` if there is none.
 * @param {unknown} value
 * @param {string[]} keys
 * @returns {unknown}
 */
export function fieldOf(value, keys) {
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = /** @type {Record<string, unknown>} */ (value)[key];
  }
  return value;
}

/**
 * A folder whose files the component may read.
 * @typedef {object} Root
 * @property {string} name the component's name for it
 * @property {() => string} path
 * @property {(() => string) | undefined} within the project that must contain it after links are followed
 * @property {boolean} [anywhere] true if links in it may lead anywhere, except links in place of its own files
 * @property {() => boolean} granted returns true if the folder may be read now
 * @property {boolean} listed true if `roots` includes it
 * @property {boolean} [creates] true if folders can be created in it
 * @property {import("./interface.js").InstalledPackage} [installed] the package whose folder it is
 */

/**
 * The location of a folder.
 * @typedef {object} Place
 * @property {string} at the path that led to it, which may contain links
 * @property {string} root the real path of its root
 * @property {string} real its own real path
 * @property {boolean} anywhere true if links in the folder may lead anywhere
 */

/**
 * The interface for a list of folders.
 * @param {Root[]} fixed
 * @param {() => string} cwd
 * @param {() => Root[]} [more] returns the folders that depend on the settings; called by `roots`
 * @returns {FileImports}
 */
export function filesBelow(fixed, cwd, more = () => []) {
  /** The folders that `roots` returned last, and the folders that `roots` does not list. */
  let folders = fixed;
  const own = fixed.find(({ listed, within }) => listed && within);
  /** @type {Snapshot | undefined} */
  let snapshot;

  /**
   * Returns the location of a folder below a root. A snapshot resolves it once.
   * @param {string} name of the root
   * @param {string} path
   * @returns {Place}
   */
  const place = (name, path) => {
    const stored = snapshot?.place(name, path);
    if (stored) return stored;
    const at = resolve(name, path);
    snapshot?.storePlace(name, path, at);
    return at;
  };

  /**
   * Resolves the real paths of a root and of a path below it.
   * @param {string} name
   * @param {string} path
   * @param {boolean} [isFile]
   * @returns {Place}
   */
  const resolve = (name, path, isFile = false) => {
    const folder = folders.find((folder) => folder.name === name);
    if (!folder?.granted()) throw fileError({ tag: "no-such-root" });
    if (!isPlain(path)) throw fileError({ tag: "outside-root" });
    const at = folder.path();
    const root = snapshot?.place(name, "")?.root ?? realRoot(folder, at);
    const real = realpathSync.native(join(root, ...spelled(root, path)));
    const { anywhere = false } = folder;
    if (!(anywhere && (!isFile || path.includes("/"))) && !isBelow(real, root))
      throw fileError({ tag: "outside-root" });
    return { at: join(at, path), root, real, anywhere };
  };

  /**
   * Resolves the real path of a root.
   * @param {Root} folder
   * @param {string} at
   */
  const realRoot = ({ within }, at) => {
    const real = realpathSync.native(at);
    if (within && !isBelow(real, realpathSync.native(within())))
      throw fileError({ tag: "outside-project", val: display(at, cwd()) });
    return real;
  };

  /**
   * Returns the content of a file. It is valid until the next file is read.
   * @param {string} name
   * @param {string} path
   */
  const readFile = (name, path) => {
    try {
      const slash = path.lastIndexOf("/");
      const base = path.slice(slash + 1);
      if (path !== "" && (slash === 0 || !isPlainPart(base))) throw fileError({ tag: "outside-root" });
      const { at, real } = place(name, slash < 0 ? "" : path.slice(0, slash));
      const file = below(real, namesLike(real, base)[0]);
      const { bytes, stat } = readUnlessLink(file) ?? readThroughLink(file, () => resolve(name, path, true).real);
      snapshot?.file(at === real ? file : below(at, base), stat);
      return bytes;
    } catch (error) {
      throw asFileError(error);
    }
  };

  const roots = () =>
    attempt(() => {
      folders = [...fixed, ...more()];
      return present(folders.filter((folder) => folder.listed && folder.granted()));
    });

  /** @param {Root[]} folders */
  const present = (folders) =>
    folders.flatMap(({ name, path: locate, installed }) => {
      const path = locate();
      const there = statSync(path, { throwIfNoEntry: false })?.isDirectory();
      const location = path.replaceAll(sep, "/");
      return there ? [{ name, path: display(path, cwd()), location, ...(installed && { installed }) }] : [];
    });

  const listDirectory = (/** @type {string} */ name, /** @type {string} */ path) =>
    attempt(() => {
      const folder = place(name, path);
      return composed(readEntries(folder.real)).map(({ entry, name }) => {
        const [at, real] = [below(folder.at, entry.name), below(folder.real, entry.name)];
        const way = path === "" ? name : `${path}/${name}`;
        if (entry.isDirectory()) snapshot?.storePlace(name, way, { ...folder, at, real });
        return entry.isSymbolicLink() ? { name, ...follow(folder, real, path === "") } : { name, kind: kindOf(entry) };
      });
    });

  /**
   * Creates a folder with a file in a root. In the project no link is followed; a link of the user's own that is the
   * root itself leads anywhere.
   * @param {string} name of the root
   * @param {string} directory
   * @param {string} file
   * @param {string} text
   */
  const create = (name, directory, file, text) => {
    const folder = folders.find((folder) => folder.name === name);
    if (!folder?.granted()) throw fileError({ tag: "no-such-root" });
    if (!folder.creates) throw fileError({ tag: "failed", val: NOT_GRANTED });
    if (![directory, file].every((part) => isPlainPart(part) && !part.includes("/")))
      throw fileError({ tag: "outside-root" });
    const at = folder.path();
    const isThere = statSync(at, { throwIfNoEntry: false }) !== undefined;
    const around = folder.within?.() ?? dirname(at);
    const from = folder.within || !isThere ? realpathSync.native(around) : realpathSync.native(at);
    const way = isThere ? relative(from, realRoot(folder, at)) : relative(around, at);
    const shown = { shown: display(isThere && !folder.within ? at : around, cwd()) };
    if (!isThere) untrusted.makeFolder(from, way, 0o777, shown);
    untrusted.inFolder(from, way, (root) => newFolder(root, directory, file, text), shown);
    return display(join(at, directory, file), cwd());
  };

  /** The paths of the folders. `roots` returns paths for users, which may be the same for different folders. */
  const places = () => attempt(() => fixed.map((folder) => (folder.granted() ? folder.path() : "")));

  return {
    roots: () => {
      snapshot?.result(places);
      return snapshot ? snapshot.result(roots) : roots();
    },
    withheldRoots: () => attempt(() => present(fixed.filter((folder) => folder.listed && !folder.granted()))),
    rootAbove: () => attempt(() => own && folderAbove(cwd(), relative(cwd(), own.path()))),
    listDirectory: (name, path) =>
      snapshot ? snapshot.result(() => listDirectory(name, path)) : listDirectory(name, path),
    readFile: (name, path) => {
      try {
        return readFile(name, path);
      } catch (error) {
        snapshot?.failure(error, () => void readFile(name, path));
        throw error;
      }
    },
    create: (name, directory, file, text) => {
      try {
        return create(name, directory, file, text);
      } catch (error) {
        throw error instanceof Error ? fileError({ tag: "failed", val: messageOf(error) }) : error;
      }
    },
    startSnapshot: () => {
      snapshot = new Snapshot();
    },
    finishSnapshot: () => snapshot?.finish(),
    unchanged: () => snapshot?.isUnchanged() === true,
  };
}

/** The name of a folder that is not complete: pi was killed while it was written. */
const UNFINISHED = /^\.[0-9a-f]{24}\.new$/;

/**
 * Creates a folder with a file in a folder, or nothing.
 * @param {import("#sandbox").Place} root
 * @param {string} name
 * @param {string} file
 * @param {string} text
 */
function newFolder(root, name, file, text) {
  const begun = `.${randomBytes(12).toString("hex")}.new`;
  const at = (/** @type {() => void} */ work) => untrusted.worded(join(root.path, name), work);
  at(() => {
    if (lstatSync(root.at(name), { throwIfNoEntry: false })) throw Object.assign(new Error(), { code: "EEXIST" });
    mkdirSync(root.at(begun));
  });
  try {
    root.inside(begun, (folder) =>
      untrusted.worded(join(root.path, name, file), () => writeFileSync(folder.at(file), text, { flag: "wx" })),
    );
    at(() => {
      root.confirm();
      renameSync(root.at(begun), root.at(name));
    });
  } finally {
    rmSync(root.at(begun), { recursive: true, force: true });
  }
}

/** A buffer for the content of a file: the component copies it immediately. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Reads a file by the real path of its folder. Returns `undefined` if the path may be a link.
 * @param {string} file
 */
function readUnlessLink(file) {
  if (constants.O_NOFOLLOW === undefined) return undefined;
  try {
    return readFileAndStat(file);
  } catch (/** @type {any} */ error) {
    if (error.code !== "ELOOP" && error.code !== "EMLINK") throw error;
    return undefined;
  }
}

/**
 * Reads a file that may be a link.
 * @param {string} file
 * @param {() => string} resolved returns the path to which it leads
 */
function readThroughLink(file, resolved) {
  try {
    return readFileAndStat(resolved());
  } catch (/** @type {any} */ error) {
    // A link that leads nowhere is not the same as a missing file.
    if (error.code === "ENOENT" && lstatSync(file, { throwIfNoEntry: false }))
      throw fileError({ tag: "failed", val: "it is a link that leads nowhere" });
    throw error;
  }
}

/** Returns the content of a regular file whose links were followed before. @param {string} path */
function readFileAndStat(path) {
  const { descriptor, stat } = untrusted.openUserFile(path, { flags: constants.O_NOFOLLOW ?? 0, place: path });
  try {
    if (stat.size > MAX_FILE_SIZE) throw fileError({ tag: "too-large", val: BigInt(stat.size) });
    return { bytes: untrusted.readToEnd(descriptor, stat.size, MAX_FILE_SIZE, scratch), stat };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns the entries of a directory. Reads at most the maximum number of entries. A file at the path is of the
 * wrong kind, not missing.
 * @param {string} path
 */
function readEntries(path) {
  const directory = open(path);
  try {
    const entries = [];
    for (let entry; (entry = directory.readSync()); entries.push(entry)) {
      if (entries.length === MAX_ENTRIES) throw fileError({ tag: "too-many", val: MAX_ENTRIES });
    }
    return entries.filter(({ name }) => !UNFINISHED.test(name));
  } finally {
    directory.closeSync();
  }
}

/**
 * Returns the names of a path in a folder as the folders have them, which may be in another form of Unicode.
 * @param {string} folder
 * @param {string} path
 */
function spelled(folder, path) {
  /** @type {string[]} */
  const names = [];
  for (const part of path.split("/")) names.push(namesLike(join(folder, ...names), part)[0]);
  return names;
}

/**
 * Returns entries with their names in the composed form of Unicode, which most keyboards write; entries whose names
 * differ only in their form keep their own names. Sorted by these names.
 * @param {import("node:fs").Dirent[]} entries
 */
function composed(entries) {
  const counts = new Map();
  for (const { name } of entries) counts.set(name.normalize(), (counts.get(name.normalize()) ?? 0) + 1);
  return entries
    .map((entry) => {
      const name = entry.name.normalize();
      return { entry, name: counts.get(name) === 1 ? name : entry.name };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @param {string} path */
function open(path) {
  try {
    return opendirSync(path, { bufferSize: 256 });
  } catch (/** @type {any} */ error) {
    throw error.code === "ENOTDIR" ? fileError({ tag: "wrong-kind" }) : error;
  }
}

/**
 * Returns true for a path of the interface's form: names separated by `/`, none of which leads upwards or, on Windows,
 * contains a drive or a separator.
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
 * Returns the path of a name in a folder; the folder itself if the name is empty.
 * @param {string} folder
 * @param {string} name
 */
function below(folder, name) {
  if (name === "") return folder;
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}

/**
 * Returns the kind of a link's target and its path below the root, or its whole path; `other` if the link may not.
 * @param {Place} folder
 * @param {string} path
 * @param {boolean} isOfRoot true for a name in the root itself
 * @returns {Omit<import("./interface.js").DirEntry, "name">}
 */
function follow({ root, anywhere }, path, isOfRoot) {
  try {
    const real = realpathSync.native(path);
    const isInside = isBelow(real, root);
    const target = (isInside ? relative(root, real) : real).replaceAll(sep, "/");
    const kind = kindOf(statSync(real));
    if (isInside || (anywhere && !(isOfRoot && kind === "file"))) return { kind, target };
  } catch {
    // The link is broken.
  }
  return { kind: "other" };
}

/**
 * @param {{ isFile(): boolean, isDirectory(): boolean }} entry
 * @returns {import("./interface.js").DirEntry["kind"]}
 */
function kindOf(entry) {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}

/**
 * Returns a path as a user would write it.
 * @param {string} path
 * @param {string} cwd
 */
function display(path, cwd) {
  const [base, prefix] = isBelow(path, cwd) ? [cwd, ""] : [homedir(), `~${sep}`];
  return (isBelow(path, base) ? prefix + relative(base, path) || "." : path).replaceAll(sep, "/");
}

/**
 * Returns an identifier of a folder that no other folder at the same path has: device, inode and, if the file system
 * records it, creation time, because inode numbers are reused. `undefined` on systems without inodes.
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
 * Converts errors of the operating system to errors of the interface.
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

/** Gives a literal its type. @param {FileError} error */
function fileError(error) {
  return error;
}

/** Any other object that was thrown is already an error of the interface. @param {unknown} error */
function asFileError(error) {
  if (!(error instanceof Error)) return error;
  const { code = "", size } = /** @type {NodeJS.ErrnoException & { size?: number }} */ (error);
  if (code === "EFBIG" && size !== undefined) return fileError({ tag: "too-large", val: BigInt(size) });
  if (["ENOENT", "ENOTDIR"].includes(code)) return fileError({ tag: "not-found" });
  if (["EISDIR", "ENXIO"].includes(code)) return fileError({ tag: "wrong-kind" });
  return fileError({ tag: "failed", val: error.message });
}
