// The sockets in the file system that belong to programs outside of the sandbox. A command line without a network may
// use sockets, and a daemon that it reaches could do anything on its behalf: so each such socket is covered. Abstract
// sockets belong to the network, and the command line has a network of its own.
//
// Neither a read-only mount nor the filter of system calls keeps from connecting to a name.
import { lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

import { mountOf, mountsOf, namesIn, otherMounts } from "./hidden-paths.js";
import { namesOfSockets, ownSockets } from "./listed-sockets.js";
import { unlessFails } from "./plain.js";
import { isReplaceable, isThere, refuseOpenable, turnsOf } from "./ways.js";
import { isBelow, realPath, upwards } from "./write-target.js";

/** The folders in which the programs of the system have their sockets. */
const FOLDERS = ["/run", "/var/run", "/mnt/wslg"];
/** The depth to which sockets are looked for in folders that are not covered. */
const DEPTH = 2;
/** The entries of these folders that hold programs on some systems. */
const PROGRAMS = ["current-system", "booted-system", "opengl-driver", "opengl-driver-32", "wrappers"];
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
 * @property {string[]} written the paths that earlier command lines could write
 */

/**
 * Returns the files and folders that must be covered, none below another; `undefined` where there is nothing to cover.
 * @param {Places} places all without links
 * @throws {Error} if they cannot be told
 */
export function socketCovers({ kept, temporary, covered, found, since, written }) {
  if (process.platform !== "linux") return undefined;
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
  const sockets = [
    ...ofThisNetwork(kept, found, written),
    ...ofOtherNetworks(),
    ...mountsOf("self").map(({ point }) => point),
    ...Object.values(process.env).flatMap((value) => value?.match(/\/[^\s,;:"']+/g) ?? []),
    ...(temporary === undefined ? socketsIn("/tmp", DEPTH) : []),
    ...found.filter((path) => isSocket(path) && lstatSync(path).ctimeMs < since),
  ].flatMap((path) => (isSocket(path) && isReached(realPath(path)) ? [realPath(path)] : []));
  const linked = sockets.find((path) => lstatSync(path).nlink > 1);
  if (linked !== undefined) throw new Error(`the socket ${linked} has another name (hard link). Remove one of the two`);
  const all = [...folders, ...sockets];
  const seen = [...new Set([...all, ...otherMounts(all)])].filter(
    (path) => isSeen(path) && !covered.some((other) => isBelow(path, other)),
  );
  const outer = seen.filter((path) => !seen.some((other) => other !== path && isBelow(path, other)));
  if (outer.length > MAX_COVERS) throw new Error(`there are more than ${MAX_COVERS} sockets of other programs`);
  return outer;
}

/**
 * Returns the paths of the sockets in the network of this process. One that is not at its name is looked for in the name's
 * folder, as ssh renames its own, and among those that were found.
 * @param {string[]} kept
 * @param {string[]} found
 * @param {string[]} written
 * @throws {Error} if a socket may be elsewhere
 */
function ofThisNetwork(kept, found, written) {
  const sockets = ownSockets();
  const folders = sockets.flatMap(({ name }) => (isAbsolute(name) ? dirname(name) : []));
  const working = [...new Set([...kept, ...folders, ...processes().map(folderOf)])];
  const mayBeMoved = (/** @type {string} */ name) =>
    [name, ...turnsOf(name), unlessFails(() => realPath(name)) ?? name].some((way) =>
      [...upwards(way)].some((at) => written.some((path) => at !== path && isBelow(at, path)) && isReplaceable(at)),
    );
  return sockets.flatMap(({ name, isAt }) => {
    const isPlaced = isAbsolute(name) && !mayBeMoved(name);
    if (!isAt && !isPlaced) throw new Error(`the file of the socket ${name} is not known. Install iproute2 (\`ss\`)`);
    if (!isAt) return [name];
    const names = isAbsolute(name) ? [name] : working.map((folder) => join(folder, name));
    const its = (/** @type {string[]} */ paths) => paths.filter((path) => isSocket(path) && isAt(realPath(path)));
    const at = its(names);
    const all = at.length > 0 ? at : its([...found, ...names.flatMap((path) => socketsIn(dirname(path), 1))]);
    if (all.length === 0 && !isPlaced)
      throw new Error(`the socket ${name} is not found at its name, and may be elsewhere. Restart its program`);
    return isAbsolute(name) ? [name, ...all] : all;
  });
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
  } catch (error) {
    refuseOpenable(error, join(folder, "any"));
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
      if (!names.has(network)) names.set(network, namesOfSockets(id));
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
