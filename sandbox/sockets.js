// The sockets in the file system that belong to programs outside of the sandbox. A command line without a network may
// use sockets, and a daemon that it reaches could do anything on its behalf: so each such socket is covered. Abstract
// sockets belong to the network, and the command line has a network of its own.
//
// Neither a read-only mount nor the filter of system calls keeps from connecting to a name.
import { lstatSync, readFileSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

import { mountOf, mountsOf, namesIn, otherMounts, refuseOpenable } from "./hidden-paths.js";
import { unlessFails } from "./plain.js";
import { isBelow, realPath } from "./write-target.js";

/** The folders in which the programs of the system have their sockets. */
const FOLDERS = ["/run", "/var/run", "/mnt/wslg"];
/** The depth to which sockets are looked for in folders that are not covered. */
const DEPTH = 2;
/** The entries of these folders that hold programs on some systems. */
const PROGRAMS = ["current-system", "booted-system", "opengl-driver", "opengl-driver-32", "wrappers"];
/** In `/proc/net/unix`: the flag of a socket that takes connections, and the type of a socket that takes datagrams. */
const [LISTENS, DATAGRAM] = [0x10000, 2];
/** The maximum number of covers. */
const MAX_COVERS = 200;

/**
 * The paths around which sockets are looked for.
 * @typedef {object} Places
 * @property {string[]} kept folders and files that the command line sees or writes
 * @property {string} [temporary] the system's folder for temporary files, if the command line does not see it
 * @property {string[]} covered paths that the command line does not see in any case
 * @property {string[]} found the sockets in the folders that the command line may write
 * @property {number} since sockets that came later, and are not of this system's network, belong to command lines
 */

/**
 * Returns the files and folders that must be covered, none below another; `undefined` if they cannot be determined.
 * @param {Places} places all without links
 * @returns {string[] | undefined}
 */
export function socketCovers({ kept, temporary, covered, found, since }) {
  if (process.platform !== "linux") return undefined;
  try {
    const isSeen = (/** @type {string} */ path) =>
      temporary === undefined || !isBelow(path, temporary) || kept.some((other) => isBelow(path, other));
    const ofUser = process.env.XDG_RUNTIME_DIR ?? "";
    // The user's folder may be any folder, and contain other files too.
    const mixed = !isAbsolute(ofUser) || kept.some((path) => isBelow(path, realPath(ofUser)));
    const keptFolders = [...kept, ...PROGRAMS.map((name) => join("/run", name)).filter(isThere)];
    const folders = [
      ...FOLDERS.flatMap((path) => coversOf(path, keptFolders)),
      ...(mixed ? socketsIn(ofUser, DEPTH) : coversOf(ofUser, [])),
    ];
    const own = ownNames();
    const [absolute, relative] = [own.filter(isAbsolute), own.filter((name) => !isAbsolute(name))];
    const ways =
      relative.length === 0 ? [] : [...kept, ...absolute.map((path) => dirname(path)), ...processes().map(folderOf)];
    const placed = relative.flatMap((name) => [
      ...ways.map((folder) => join(folder, name)).filter(isSocket),
      ...found.filter((path) => path.endsWith(join("/", name))),
    ]);
    if (new Set(placed).size < relative.length) return undefined;
    const sockets = [
      ...absolute,
      ...ofOtherNetworks(),
      ...mountsOf("self").map(({ point }) => point),
      ...Object.values(process.env).flatMap((value) => value?.match(/\/[^\s,;:"']+/g) ?? []),
      ...(temporary === undefined ? socketsIn("/tmp", DEPTH) : []),
      ...placed,
      ...found.filter((path) => lstatSync(path).ctimeMs < since),
    ].flatMap((path) => (isSocket(path) && isReached(realPath(path)) ? [realPath(path)] : []));
    // A socket with another name could be reached by that name.
    if (sockets.some((path) => lstatSync(path).nlink > 1)) return undefined;
    const all = [...folders, ...sockets];
    const seen = [...new Set([...all, ...otherMounts(all)])].filter(
      (path) => isSeen(path) && !covered.some((other) => isBelow(path, other)),
    );
    const outer = seen.filter((path) => !seen.some((other) => other !== path && isBelow(path, other)));
    return outer.length > MAX_COVERS ? undefined : outer;
  } catch {
    return undefined;
  }
}

/** The device and inode of the sockets that were seen at their names, by the kernel's number and the name. */
let seen = /** @type {Map<string, string | undefined>} */ (new Map());
/** The paths that command lines with a network could write. @type {Set<string>} */
const written = new Set();

/**
 * Notes which sockets are at their names: a command line with a network, in which they are no mounts, could rename a
 * socket for a command line without a network.
 * @param {string[]} writable the paths that a command line with a network is about to write
 */
export function noteSockets(writable) {
  if (process.platform !== "linux") return;
  unlessFails(ownNames);
  for (const path of writable) written.add(path);
}

/**
 * Returns the names of the sockets in the network of this process.
 * @throws {Error} if a command may have moved a socket since it was seen, or a name cannot be read
 */
function ownNames() {
  const own = named("self");
  const before = seen;
  seen = new Map();
  for (const { number, name } of own.filter(({ name }) => isAbsolute(name))) {
    const key = `${number} ${name}`;
    const stat = unlessFails(() => isSocket(name) && lstatSync(realPath(name)));
    const id = stat ? `${stat.dev}:${stat.ino}` : undefined;
    if (before.has(key) || id !== undefined) seen.set(key, before.get(key) ?? id);
  }
  for (const { number, name } of own) {
    const known = seen.get(`${number} ${name}`);
    if (known === undefined || ![...written].some((path) => isBelow(name, path))) continue;
    const { dev, ino } = lstatSync(realPath(name));
    if (`${dev}:${ino}` !== known) throw new Error(`the socket ${name} was moved`);
  }
  return own.map(({ name }) => name);
}

/**
 * Returns what covers a folder, but nothing that is kept.
 * @param {string} path
 * @param {string[]} kept
 * @returns {string[]}
 */
function coversOf(path, kept) {
  if (!isThere(path)) return [];
  const folder = realPath(path);
  if (!lstatSync(folder).isDirectory()) return [];
  if (kept.some((other) => isBelow(folder, other))) return socketsIn(folder, 1);
  if (!kept.some((other) => isBelow(other, folder))) return [folder];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isSocket()) return [join(folder, entry.name)];
    return entry.isDirectory() ? coversOf(join(folder, entry.name), kept) : [];
  });
}

/**
 * Returns the sockets in a folder.
 * @param {string} folder
 * @param {number} depth
 * @returns {string[]}
 */
function socketsIn(folder, depth) {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isSocket()) return [path];
      return entry.isDirectory() && depth > 1 ? socketsIn(path, depth - 1) : [];
    });
  } catch {
    return []; // A command line, which has no more rights, cannot look into the folder either.
  }
}

/**
 * Returns the sockets of programs in other networks, such as containers, by the names that they have here.
 * @returns {string[]}
 */
function ofOtherNetworks() {
  const [own, here] = [statSync("/proc/self/net/unix").ino, mountsOf("self")];
  /** @type {Map<number, string[]>} */
  const names = new Map();
  return processes().flatMap((id) => {
    try {
      const network = statSync(`/proc/${id}/net/unix`).ino;
      if (network === own) return [];
      if (!names.has(network))
        names.set(
          network,
          named(id).map(({ name }) => name),
        );
      const [there, folder] = [mountsOf(id), folderOf(id)];
      return (names.get(network) ?? []).flatMap((name) => {
        const { own, inside } = mountOf(resolve(folder, name), there);
        return own === undefined ? [] : namesIn(here, own, inside);
      });
    } catch (/** @type {any} */ error) {
      if (error.code === undefined) throw error;
      return []; // The process has ended.
    }
  });
}

/** Returns the ids of all processes. */
const processes = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name));

/** Returns the folder in which a process works; `/` if it is another user's. @param {string} id */
function folderOf(id) {
  try {
    return readlinkSync(`/proc/${id}/cwd`);
  } catch {
    return "/";
  }
}

/**
 * Returns the numbers and names of the sockets in the network of a process to which others can connect or send. Relative names
 * count from the folder in which their process worked at that time.
 * @param {string} id
 * @throws {Error} if a name has a line end, or bytes that are not UTF-8
 */
function named(id) {
  const lines = readFileSync(`/proc/${id}/net/unix`, "utf8").split("\n").slice(1, -1);
  return lines.flatMap((line) => {
    const [all, flags, type, number, name = "@"] =
      line.match(/^[\da-f]+: (?:\S+ +){2}(\S+) +(\S+) +\S+ +(\d+)(?: ([^]*))?$/) ?? [];
    const isAbstract = name.startsWith("@");
    if (all === undefined || (name.includes("\uFFFD") && !isAbstract)) throw new Error("a name cannot be read");
    const isOpen = parseInt(flags, 16) & LISTENS || parseInt(type, 16) === DATAGRAM;
    return name !== "" && !isAbstract && isOpen ? [{ number, name }] : [];
  });
}

/** @param {string} path */
function isSocket(path) {
  try {
    return lstatSync(realPath(path), { throwIfNoEntry: false })?.isSocket() === true;
  } catch (error) {
    refuseOpenable(error, path);
    return false; // The socket cannot be reached.
  }
}

/**
 * Returns true unless the folders around a path belong to others, who have closed them for a process without
 * capabilities.
 * @param {string} path
 * @throws {Error} if it cannot be told
 */
function isReached(path) {
  const own = [process.getuid?.(), ...(process.getgroups?.() ?? []), process.getgid?.()];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const { uid, gid, mode } = lstatSync(folder);
    const bits = uid === own[0] ? 0o100 : own.slice(1).includes(gid) ? 0o010 : 0o001;
    if (mode & bits) continue;
    if (uid === own[0]) throw new Error(`a command could open ${folder}`);
    // With an access control list, the bits of the group are the mask of the whole list.
    if (bits === 0o001 && mode & 0o010) throw new Error(`${folder} may be closed`);
    return false;
  }
  return true;
}

/** @param {string} path */
function isThere(path) {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
