// Files and folders at places that an agent can write: the agent can put a link, a pipe, a device, a second name of
// another file or something endless there, before they are opened and at any moment meanwhile.
//
// A place is a trusted root, which may be reached through links, and a path below it, no part of which may be a link.
// The path is walked part by part. On Linux each part is opened with `O_PATH`, which has no effect on what is opened,
// and the next one is a name in the opened folder (`/proc/self/fd/N/name`), so what names lead to meanwhile does not
// matter. On other systems Node has no such means: each part is checked before and after the opening.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, sep } from "node:path";

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = constants;
// Windows lacks these flags.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
/**
 * Opens a file or folder without access to its content. Node has no name for this flag; its value is the same on all
 * processors that Node supports.
 */
export const O_PATH = 0o10000000;

/** True where the entries of an opened folder have paths by its descriptor. */
const BY_DESCRIPTOR = process.platform === "linux" && existsSync("/proc/self/fd");

/**
 * @typedef {object} Options
 * @property {boolean} [byDescriptor] false walks as on other systems than Linux
 * @property {string} [shown] the path of the root in errors; if absent, the root itself
 */

/** An opened file, folder, pipe or device, which stays the same whatever its name leads to. */
export class Place {
  /** A descriptor without access to the content, if the system has such descriptors. @type {number | undefined} */
  descriptor;
  /** A path that leads to the opened file. @type {string} */
  name;
  /** Its path as users know it. @type {string} */
  path;
  #above;

  /**
   * @param {string} path as users know it
   * @param {Place | undefined} above the folder in which it is; if absent, the place is the trusted root
   * @param {string} part its name in this folder; of the root its path
   * @param {boolean} byDescriptor
   */
  constructor(path, above, part, byDescriptor) {
    this.path = path;
    this.#above = above;
    this.name = above ? above.at(part) : part;
    if (byDescriptor) {
      const name = this.name;
      this.descriptor = worded(path || part, () => openSync(name, O_PATH | (above ? O_NOFOLLOW : 0)));
      this.name = `/proc/self/fd/${this.descriptor}`;
    }
    this.stat = worded(path || part, () =>
      this.descriptor === undefined
        ? lstatSync(this.name, { bigint: true })
        : fstatSync(this.descriptor, { bigint: true }),
    );
  }

  /** Returns the path by which an entry of this folder is reached. @param {string} part */
  at(part) {
    return `${this.name}/${part}`;
  }

  /**
   * Opens a folder in this folder, not through a link, and calls a function with it.
   * @template T
   * @param {string} part its name
   * @param {(folder: Place) => T} use
   */
  inside(part, use) {
    return using(new Place(join(this.path, part), this, part, this.descriptor !== undefined), use);
  }

  /** Throws unless it is a folder. */
  asFolder() {
    // The root of a walk without descriptors may be a link.
    if (this.#above === undefined && this.descriptor === undefined) return this;
    if (this.stat.isSymbolicLink()) throw refusal(this.path, "ELOOP");
    if (!this.stat.isDirectory()) throw refusal(this.path, "ENOTDIR");
    return this;
  }

  /** Throws unless it is a regular file that has no other name. */
  asFile() {
    if (this.stat.isSymbolicLink()) throw refusal(this.path, "ELOOP");
    if (this.stat.isDirectory()) throw refusal(this.path, "EISDIR");
    if (!this.stat.isFile()) throw refusal(this.path, "ENXIO");
    if (this.stat.nlink > 1n) throw refusal(this.path, "EMLINK");
    return this;
  }

  /** Throws if a name on the way leads elsewhere by now. A place with a descriptor needs no check. */
  confirm() {
    if (this.descriptor !== undefined || this.#above === undefined) return;
    this.#above.confirm();
    if (
      !isSame(
        this.stat,
        worded(this.path, () => lstatSync(this.name, { bigint: true })),
      )
    )
      throw refusal(this.path, "ESTALE");
  }

  close() {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }
}

/**
 * Opens whatever is at a place, without an effect on it. A link at its end is opened itself.
 * @param {string} root a trusted folder
 * @param {string} path below it; absolute if the root is `/`
 * @param {Options} [options]
 * @returns {Place} to be closed
 */
export function openPlace(root, path, { byDescriptor = BY_DESCRIPTOR, shown = root } = {}) {
  let place = new Place(shown, undefined, root, byDescriptor);
  for (const part of partsOf(path)) {
    const above = place;
    try {
      place = new Place(join(above.path, part), above.asFolder(), part, byDescriptor);
    } finally {
      above.close();
    }
  }
  return place;
}

/**
 * Opens a folder, and calls a function with it.
 * @template T
 * @param {string} root a trusted folder
 * @param {string} path below it
 * @param {(folder: Place) => T} use
 * @param {Options} [options]
 * @returns {T}
 */
export function inFolder(root, path, use, options) {
  return using(openPlace(root, path, options), use);
}

/**
 * @template T
 * @param {Place} place a folder, which is closed
 * @param {(folder: Place) => T} use
 */
function using(place, use) {
  try {
    const result = use(place.asFolder());
    place.confirm();
    return result;
  } finally {
    place.close();
  }
}

/**
 * Opens a regular file without another name.
 * @param {string} root a trusted folder
 * @param {string} path below it
 * @param {Options & { flags?: number }} [options] `flags`: for reading, if absent
 * @returns {number} a descriptor, to be closed
 */
export function openFile(root, path, options) {
  const place = openPlace(root, path, options);
  try {
    place.asFile();
    const flags = (options?.flags ?? O_RDONLY) | O_NONBLOCK | (place.descriptor === undefined ? O_NOFOLLOW : 0);
    const descriptor = worded(place.path, () => openSync(place.name, flags));
    try {
      if (!isSame(place.stat, fstatSync(descriptor, { bigint: true }))) throw refusal(place.path, "ESTALE");
      place.confirm();
      return descriptor;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  } finally {
    place.close();
  }
}

/**
 * Returns the content of a regular file without another name.
 * @param {string} root a trusted folder
 * @param {string} path below it
 * @param {number} limit maximum size in bytes
 * @param {Options} [options]
 */
export function readFile(root, path, limit, options) {
  const descriptor = openFile(root, path, options);
  try {
    const { size } = fstatSync(descriptor);
    if (size > limit) throw refusal(join(root, path), "EFBIG");
    return worded(join(root, path), () => readToEnd(descriptor, size, limit));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Opens a regular file of the user, which may be a link and have other names. Nothing is waited for.
 * @param {string} path
 * @param {{ flags?: number, place?: string }} [options] `flags` are more flags; `place` is where the file must lie, if
 *   the links of the path were followed before: on Linux the kernel tells where it does
 * @returns {{ descriptor: number, stat: import("node:fs").Stats }} to be closed
 */
export function openUserFile(path, { flags = 0, place } = {}) {
  const descriptor = openSync(path, O_RDONLY | O_NONBLOCK | flags);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw refusal(path, stat.isDirectory() ? "EISDIR" : "ENXIO");
    // A file that was replaced since then was at the place.
    const isThere = (/** @type {string} */ now) => now === place || now === `${place} (deleted)`;
    if (place !== undefined && BY_DESCRIPTOR && !isThere(readlinkSync(`/proc/self/fd/${descriptor}`)))
      throw refusal(path, "ESTALE");
    return { descriptor, stat };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Returns the content of a regular file of the user, which may be a link and have other names.
 * @param {string} path
 * @param {number} limit maximum size in bytes
 */
export function readUserFile(path, limit) {
  const { descriptor, stat } = openUserFile(path);
  try {
    if (stat.size > limit) throw refusal(path, "EFBIG");
    return worded(path, () => readToEnd(descriptor, stat.size, limit));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads to the end of a file, which may be beyond its size: it may grow, and some files report no size.
 * @param {number} descriptor
 * @param {number} size
 * @param {number} limit
 * @param {Buffer} [room] the buffer to read into, if it is large enough
 */
export function readToEnd(descriptor, size, limit, room) {
  let bytes = room && size < room.length ? room : Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, bytes, length, bytes.length - length, null);
    length += count;
    if (length > limit) throw Object.assign(new Error("it is too large"), { code: "EFBIG", size: length });
    // The read requested more than the rest of the file.
    if (count === 0 || length === size) return bytes.subarray(0, length);
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * length + 4096, limit + 1));
  }
}

/**
 * Creates a file with a new name in a folder.
 * @param {string} root a trusted folder
 * @param {string} path below it, of the file
 * @param {number} [mode]
 * @param {Options} [options]
 * @returns {number} a descriptor for writing, to be closed
 */
export function createFile(root, path, mode = 0o666, options) {
  const { folder, name } = split(path);
  return inFolder(root, folder, (above) => created(above, name, mode), options);
}

/**
 * Opens a regular file without another name to append to it. Creates it if there is none.
 * @param {string} root a trusted folder
 * @param {string} path below it
 * @param {number} [mode] of a new file
 * @param {Options} [options]
 * @returns {number} a descriptor, to be closed
 */
export function openToAppend(root, path, mode, options) {
  try {
    return createFile(root, path, mode, options);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return openFile(root, path, { ...options, flags: O_WRONLY | O_APPEND });
  }
}

/**
 * Appends to a regular file without another name. Creates it if there is none.
 * @param {string} root a trusted folder
 * @param {string} path below it
 * @param {string | Uint8Array} content
 */
export function appendFile(root, path, content) {
  const descriptor = openToAppend(root, path);
  try {
    worded(join(root, path), () => writeFileSync(descriptor, content));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a new file and gives it a name, which another file, a link or a pipe may have had.
 * @param {string} root a trusted folder
 * @param {string} path below it, of the file
 * @param {string | Uint8Array} content
 * @param {number} [mode]
 * @param {Options} [options]
 */
export function replaceFile(root, path, content, mode = 0o666, options) {
  const { folder, name } = split(path);
  inFolder(
    root,
    folder,
    (above) => {
      const temporary = `.${randomBytes(12).toString("hex")}.new`;
      const descriptor = created(above, temporary, mode);
      try {
        worded(join(above.path, name), () => {
          try {
            writeFileSync(descriptor, content);
          } finally {
            closeSync(descriptor);
          }
          above.confirm();
          renameSync(above.at(temporary), above.at(name));
        });
      } catch (error) {
        rmSync(above.at(temporary), { force: true });
        throw error;
      }
    },
    options,
  );
}

/**
 * Creates a folder, and those above it, unless they are there.
 * @param {string} root a trusted folder
 * @param {string} path below it
 * @param {number} [mode]
 * @param {Options} [options]
 */
export function makeFolder(root, path, mode = 0o777, options) {
  const parts = partsOf(path);
  for (const [at, part] of parts.entries())
    inFolder(
      root,
      parts.slice(0, at).join("/"),
      (above) => {
        try {
          mkdirSync(above.at(part), { mode });
        } catch (error) {
          if (codeOf(error) !== "EEXIST") throw inWords(join(above.path, part), error);
        }
      },
      options,
    );
  inFolder(root, path, () => {}, options);
}

/**
 * @param {Place} above
 * @param {string} name
 * @param {number} mode
 */
const created = (above, name, mode) =>
  worded(join(above.path, name), () => openSync(above.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));

/** Returns the parts of a path, none of which leads upwards. @param {string} path */
function partsOf(path) {
  const parts = path.split(sep === "/" ? "/" : /[\\/]/).filter((part) => part !== "");
  if (parts.some((part) => part === "." || part === ".." || part.includes("\0") || (sep === "\\" && /:/.test(part))))
    throw new Error(`${JSON.stringify(path)} is not a path below a folder`);
  return parts;
}

/** @param {string} path */
function split(path) {
  const parts = partsOf(path);
  const name = parts.pop();
  if (name === undefined) throw new Error("The path has no name");
  return { folder: parts.join("/"), name };
}

/** @param {import("node:fs").BigIntStats} a @param {import("node:fs").BigIntStats} b */
const isSame = (a, b) => a.dev === b.dev && a.ino === b.ino;

/**
 * Does something with a path; an error names the path as the user knows it.
 * @template T
 * @param {string} path
 * @param {() => T} work
 */
export function worded(path, work) {
  try {
    return work();
  } catch (error) {
    throw inWords(path, error);
  }
}

/** @param {string} path @param {unknown} error */
function inWords(path, error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  return Object.assign(new Error(`${path}: ${WORDS[code ?? ""] ?? message}`), { code });
}

/** @param {string} path @param {string} code */
const refusal = (path, code) => inWords(path, { code });

/** @param {unknown} error */
const codeOf = (error) => /** @type {NodeJS.ErrnoException} */ (error).code;

/** @type {Record<string, string>} */
const WORDS = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EAGAIN: "another process holds a lease on it",
  ENOTDIR: "it is not a folder",
  EISDIR: "it is a folder",
  ENXIO: "it is not a regular file",
  ELOOP: "it is a link",
  EMLINK: "it has other names (hard links)",
  EFBIG: "it is too large",
  ENOENT: "it does not exist",
  EEXIST: "it is there already",
  ESTALE: "it was removed or replaced meanwhile",
};
