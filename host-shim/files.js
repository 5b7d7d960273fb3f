// The files that a manifest grants, read-only. There is no way from here to any other file.
import { closeSync, constants, fstatSync, openSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";

/**
 * A folder that the manifest grants. `agent`: below pi's agent directory. `project`: below the
 * project's configuration directory, and only while the person trusts the project.
 * @typedef {object} Grant
 * @property {string} name what the component calls it
 * @property {"agent" | "project"} base
 * @property {string} path
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

// A pipe must not keep us waiting, and a link that was just put in place must not lead us away.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * The `pi:extension/files` interface over a list of grants.
 *
 * @param {Grant[]} grants
 * @param {Bases} bases
 */
export function fileImports(grants, bases) {
  const folder = (/** @type {Grant} */ { base, path }) =>
    base === "agent" ? join(bases.agentDir(), path) : join(bases.cwd(), bases.configDirName, path);
  const granted = (/** @type {Grant} */ { base }) => base === "agent" || bases.isProjectTrusted();

  /**
   * The real path of something below a root.
   * @param {string} name
   * @param {string} path
   */
  const resolve = (name, path) => {
    const grant = grants.find((grant) => grant.name === name);
    if (!grant || !granted(grant)) throw { tag: "no-such-root" };
    if (!isPlain(path)) throw { tag: "outside-root" };
    const root = realpathSync.native(folder(grant));
    const real = realpathSync.native(join(root, path));
    if (!isWithin(root, real)) throw { tag: "outside-root" };
    return { root, real };
  };

  return {
    roots: () =>
      attempt(() =>
        grants.filter(granted).flatMap((grant) => {
          const path = folder(grant);
          const there = statSync(path, { throwIfNoEntry: false })?.isDirectory();
          return there ? [{ name: grant.name, path: display(path, bases.cwd()) }] : [];
        }),
      ),

    listDirectory: (/** @type {string} */ name, /** @type {string} */ path) =>
      attempt(() => {
        const { root, real } = resolve(name, path);
        const entries = readEntries(real);
        entries.sort((a, b) => (a.name < b.name ? -1 : 1));
        return entries.map((entry) => ({
          name: entry.name,
          kind: kindOf(entry.isSymbolicLink() ? follow(root, join(real, entry.name)) : entry),
        }));
      }),

    readFile: (/** @type {string} */ name, /** @type {string} */ path) =>
      attempt(() => {
        const { real } = resolve(name, path);
        const descriptor = openSync(real, OPEN_FLAGS);
        try {
          const stat = fstatSync(descriptor);
          if (!stat.isFile()) throw { tag: "wrong-kind" };
          if (stat.size > MAX_FILE_SIZE) throw { tag: "too-large", val: BigInt(stat.size) };
          return readFileSync(descriptor);
        } finally {
          closeSync(descriptor);
        }
      }),
  };
}

/**
 * The entries of a directory; a file in its place is of the wrong kind, not missing.
 * @param {string} path
 */
function readEntries(path) {
  try {
    return readdirSync(path, { withFileTypes: true });
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
  return (isWithin(base, path) ? prefix + relative(base, path) : path).replaceAll(sep, "/");
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
