// Operations on files for the tools of an agent, within writable paths and without hidden ones.
//
// A name can lead elsewhere between a check and the use of it. So a file is opened first, then the check asks where the
// opened file is, and its content is reached through the descriptor. On Linux `O_PATH` opens without an effect on what
// is opened, the kernel tells the place of a descriptor, and `/proc/self/fd/N/name` is a name in an opened folder, so
// that also new files and folders are created in a folder that was checked. On other systems Node has no such means:
// the place is the target of the name after the file was opened, and a link can be in the way when a new file or folder
// is created.
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFile,
  readSync,
  readlinkSync,
  writeFile,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

import { isBelow, realPath } from "./write-target.js";

/**
 * @typedef {Pick<import("node:fs").BigIntStats | import("node:fs").Stats, "dev" | "ino" | "nlink" | "isFile" | "isDirectory">} Stat
 */
/**
 * Rejects if something at a place may be neither read nor written; `stat` is that of an opened file or folder.
 * @typedef {(place: string, stat?: Stat) => Promise<void>} Check
 */

const { O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } = constants;
// Windows lacks these flags.
const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
/**
 * Opens a file or folder without access to its content. Node has no name for this flag; its value is the same on all
 * processors that Node supports.
 */
const O_PATH = 0o10000000;
/** Opens a folder itself, not through a link. */
const FOLDER = O_PATH | O_DIRECTORY | O_NOFOLLOW;

/** The place that the kernel tells for a file or folder without a name. */
const REMOVED = / \(deleted\)$/;
/** Names that Node's messages have in the place of the real path. */
const BY_DESCRIPTOR = /'\/proc\/self\/fd\/.*'/;

/** The maximum size of a file that is read, in bytes: Node has no longer text. */
const MAX_SIZE = 2 ** 29 - 24;

/** @type {(descriptor: number) => Promise<Buffer>} */
const readWhole = promisify(readFile);
const read = async (/** @type {number} */ descriptor) => {
  if (fstatSync(descriptor).size > MAX_SIZE) throw new Error("The file is too large to be read whole");
  return await readWhole(descriptor);
};
/** @type {(descriptor: number, content: string) => Promise<void>} */
const write = promisify(writeFile);

/**
 * Returns the operations. Each one throws if it would read or write a file that is not in these paths or is hidden, or create
 * something elsewhere.
 * @param {string[]} writable absolute, without links; `/` is everything
 * @param {Check} [check]
 * @param {boolean} [byDescriptor] true on Linux
 */
export function fileOperations(writable, check = async () => {}, byDescriptor = process.platform === "linux") {
  const paths = new Paths(writable, check);
  const files = byDescriptor ? new FilesByDescriptor(paths) : new FilesByName(paths);
  /**
   * @template T
   * @param {string} path
   * @param {number} flags
   * @param {(descriptor: number) => Promise<T>} use
   */
  const withFile = (path, flags, use) =>
    withRealPath(path, async () => {
      const descriptor = await files.open(path, flags).catch((error) => {
        if (codeOf(error) !== "EEXIST") throw error;
        // The file was created while its place was checked.
        return files.open(path, flags);
      });
      try {
        if (flags & O_TRUNC) ftruncateSync(descriptor);
        return await use(descriptor);
      } finally {
        closeSync(descriptor);
      }
    });
  return {
    /** @param {string} path */
    readable: (path) => withFile(path, O_RDONLY, async () => {}),
    /** The type of an image that a model can see; `undefined` for any other file. @param {string} path */
    imageType: (path) => withFile(path, O_RDONLY, async (descriptor) => imageType(descriptor)),
    access: (/** @type {string} */ path) => withFile(path, O_RDWR, async () => {}),
    readFile: (/** @type {string} */ path) => withFile(path, O_RDONLY, read),
    writeFile: (/** @type {string} */ path, /** @type {string} */ content) =>
      withFile(path, O_WRONLY | O_CREAT | O_TRUNC, (descriptor) => write(descriptor, content)),
    mkdir: (/** @type {string} */ path) => withRealPath(path, () => files.mkdir(path)),
  };
}

/**
 * Puts the path that the caller knows in the place of a descriptor, in the message of an error.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 */
async function withRealPath(path, work) {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) === "EAGAIN") throw new Error(`${path} cannot be opened: another process holds a lease on it`);
    if (error instanceof Error) error.message = error.message.replace(BY_DESCRIPTOR, () => `'${path}'`);
    throw error;
  }
}

/** The beginnings of the images that a model can see, as text of one byte a character. */
const IMAGES = /** @type {const} */ ([
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff(?!\xf7)/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
  ["image/bmp", /^BM[^]{12}[\x0c\x28\x34\x38\x40\x6c\x7c]\0\0\0/],
]);

/** @param {number} descriptor */
function imageType(descriptor) {
  const bytes = Buffer.alloc(32);
  const begin = bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
  return IMAGES.find(([, form]) => form.test(begin))?.[0];
}

/** The checks that both kinds of files make. */
class Paths {
  #paths;
  #check;

  /** @param {string[]} paths @param {Check} check */
  constructor(paths, check) {
    this.#paths = paths;
    this.#check = check;
  }

  get #everything() {
    return this.#paths.includes("/");
  }

  /**
   * @param {string} place of a file
   * @param {Stat} stat of the opened file
   * @param {() => Stat} now returns it anew: a check takes a while
   */
  async checkFile(place, stat, now) {
    await this.#check(place, stat);
    if (!this.#everything) this.#checkWritable(place);
    // Opening anything else could take for ever.
    if (!stat.isFile() && !stat.isDirectory()) throw new Error(`${place} is not a regular file`);
    if (this.#everything) return;
    if (stat.isFile() && [stat, now()].some(({ nlink }) => nlink > 1))
      throw new Error(`${place} has other names (hard links), which would be changed too`);
  }

  /** @param {string} place of a file that is to be created */
  async checkPlace(place) {
    await this.#check(place);
    if (!this.#everything) this.#checkWritable(place);
  }

  /** @param {string} place */
  #checkWritable(place) {
    if (!this.#paths.some((path) => isBelow(place, path))) throw new Error(`${place} may not be written`);
  }

  /** @param {string} place of a folder that is to be created */
  async checkFolder(place) {
    await this.#check(place);
    if (!this.#everything && !this.#paths.some((path) => isBelow(place, path) || isBelow(path, place)))
      throw new Error(`${place} may not be created`);
  }
}

/** A file or folder that stays the same whatever its name leads to. */
class Opened {
  #descriptor;
  #checked;

  /**
   * @param {string} path
   * @param {number} flags
   * @param {string} [checked] the place of a new file, which was checked before the creation
   */
  constructor(path, flags, checked) {
    this.#checked = checked;
    this.#descriptor = openSync(path, flags, 0o666);
  }

  /** A name that leads to the opened file. */
  get name() {
    return `/proc/self/fd/${this.#descriptor}`;
  }

  get stat() {
    return fstatSync(this.#descriptor, { bigint: true });
  }

  /** The path of the opened file. @returns {string} */
  get place() {
    const place = readlinkSync(this.name);
    // If the name in a writable path was removed, another name may be left elsewhere.
    if (REMOVED.test(place)) throw new Error(`${place.replace(REMOVED, "")} was removed or replaced meanwhile`);
    return place;
  }

  /**
   * Checks the place, and then that it is still the same: a check takes a while.
   * @param {(place: string) => Promise<void>} check
   */
  async check(check) {
    const place = this.#checked ?? this.place;
    if (this.#checked === undefined) await check(place);
    if (this.place !== place) throw new Error(`${place} was removed or replaced meanwhile`);
  }

  close() {
    closeSync(this.#descriptor);
  }
}

class Files {
  /** @param {Paths} paths */
  constructor(paths) {
    this.paths = paths;
  }
}

class FilesByDescriptor extends Files {
  /** Returns a descriptor. @param {string} path @param {number} flags */
  async open(path, flags) {
    const opened = await this.#opened(realPath(path), (flags & O_CREAT) !== 0);
    try {
      // The number of names is read first: a name that is removed after that leaves the file without a place.
      const { stat } = opened;
      await opened.check((place) => this.paths.checkFile(place, stat, () => opened.stat));
      return openSync(opened.name, (flags & ~(O_CREAT | O_TRUNC)) | O_NONBLOCK);
    } finally {
      opened.close();
    }
  }

  /** @param {string} path @param {boolean} create */
  async #opened(path, create) {
    try {
      return new Opened(path, O_PATH | O_NOFOLLOW);
    } catch (error) {
      if (!create || codeOf(error) !== "ENOENT") throw error;
    }
    const folder = new Opened(dirname(path), FOLDER);
    try {
      let place = "";
      await folder.check((above) => this.paths.checkPlace((place = join(above, basename(path)))));
      return new Opened(`${folder.name}/${basename(path)}`, O_CREAT | O_EXCL | O_NOFOLLOW, place);
    } finally {
      folder.close();
    }
  }

  /** @param {string} path */
  async mkdir(path) {
    (await this.#folder(realPath(path))).close();
  }

  /**
   * Opens a folder. Creates the folder, and the folders above it, if they do not exist.
   * @param {string} path
   * @returns {Promise<Opened>}
   */
  async #folder(path) {
    try {
      return new Opened(path, FOLDER);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
    const above = await this.#folder(dirname(path));
    try {
      await above.check((place) => this.paths.checkFolder(join(place, basename(path))));
      const name = `${above.name}/${basename(path)}`;
      try {
        mkdirSync(name);
      } catch (error) {
        // Another call has created the folder.
        if (codeOf(error) !== "EEXIST") throw error;
      }
      return new Opened(name, FOLDER);
    } finally {
      above.close();
    }
  }
}

class FilesByName extends Files {
  /** Returns a descriptor. @param {string} path @param {number} flags */
  async open(path, flags) {
    const place = realPath(path);
    const found = lstatSync(place, { throwIfNoEntry: false, bigint: true });
    if (found) await this.paths.checkFile(place, found, () => found);
    else await this.paths.checkPlace(place);
    const creating = !found && flags & O_CREAT ? O_CREAT | O_EXCL : 0;
    const descriptor = openSync(place, (flags & ~(O_CREAT | O_TRUNC)) | creating | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fstatSync(descriptor, { bigint: true });
      const now = realPath(path);
      const named = lstatSync(now, { bigint: true });
      if (named.dev !== stat.dev || named.ino !== stat.ino || (creating && now !== place))
        throw new Error(`${now} was removed or replaced meanwhile`);
      if (!creating) await this.paths.checkFile(now, stat, () => fstatSync(descriptor, { bigint: true }));
      return descriptor;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** @param {string} path */
  async mkdir(path) {
    const place = realPath(path);
    if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory()) return;
    await this.paths.checkFolder(place);
    mkdirSync(place, { recursive: true });
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException | undefined} */ (error)?.code;
}
