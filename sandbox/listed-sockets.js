// The sockets that the kernel lists for a network. Their names are what they were bound to, and may lead elsewhere since; the
// files of those of this network are told by `ss` of iproute2.
import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";

import { mountOf, mountsOf } from "./hidden-paths.js";
import { isThere } from "./ways.js";

/** In `/proc/net/unix`: the flag of a socket that takes connections, and the type of a socket that takes datagrams. */
const [LISTENS, DATAGRAM] = [0x10000, 2];
/** The places of `ss`, and the bounds of a run of it, in milliseconds and bytes. An environment could have it read a forged list. */
const SS = ["/usr/bin/ss", "/usr/sbin/ss", "/bin/ss", "/sbin/ss", "/run/current-system/sw/bin/ss"];
const OPTIONS = /** @type {const} */ ({ env: {}, encoding: "latin1", timeout: 5000, maxBuffer: 2 ** 26 });
/** The end of a line of `ss`: the number of a socket, and of one in the file system its inode and device. */
const TOLD = / (\d+) \* \d+ +[-<]-[->] ?(?:ino:(\d+) dev:(\d+)\/(\d+))? *(?:peers:[ \d]*)?$/;

/**
 * Returns the sockets in the network of this process. `isAt` tells if a path without links is that of the socket's file.
 * @returns {{ name: string, isAt?: (path: string) => boolean }[]}
 */
export function ownSockets() {
  const [sockets, files, mounts] = [listed("self"), toldFiles(), mountsOf("self")];
  const open = new Set(listed("self").map(({ number }) => number));
  return sockets.flatMap(({ number, name }) => {
    const file = files.get(number);
    const isAbstract = file && !file.inode && name.startsWith("@");
    // One that is gone was closed meanwhile.
    if (isAbstract || !open.has(number)) return [];
    if (!file?.inode) return [{ name }];
    // The kernel tells 32 bits of the inode, and inodes of two file systems have the same numbers.
    const isAt = (/** @type {string} */ path) => {
      const device = mountOf(path, mounts).own?.device;
      const isIts = String(lstatSync(path, { bigint: true }).ino & 0xffffffffn) === file.inode;
      return isIts && (device === undefined || file.devices.includes(device));
    };
    return [{ name, isAt }];
  });
}

/** Returns the names of the sockets in the network of a process. @param {string} id */
export const namesOfSockets = (id) => listed(id).flatMap(({ name }) => (name.startsWith("@") ? [] : [name]));

/**
 * Returns the numbers and names of the sockets in the network of a process to which others can connect or send. Relative names
 * count from the folder in which their process worked at that time. `@` begins an abstract name, and may begin a relative one.
 * @param {string} id
 * @throws {Error} if a name has a line end, or bytes that are not UTF-8
 */
function listed(id) {
  const lines = readFileSync(`/proc/${id}/net/unix`, "utf8").split("\n").slice(1, -1);
  return lines.flatMap((line) => {
    const [all, flags, type, number, name = ""] =
      line.match(/^[\da-f]+: (?:\S+ +){2}(\S+) +(\S+) +\S+ +(\d+)(?: ([^]*))?$/) ?? [];
    if (all === undefined || (name.includes("\uFFFD") && !name.startsWith("@")))
      throw new Error("a name of a socket cannot be read");
    const isOpen = parseInt(flags, 16) & LISTENS || parseInt(type, 16) === DATAGRAM;
    return name !== "" && isOpen ? [{ number, name }] : [];
  });
}

/** Returns the inode and device of each socket in the network of this process, by its number; no inode for one without a file. */
function toldFiles() {
  const { status, stdout } = spawnSync(SS.find(isThere) ?? "/dev/null", ["-Hxae"], OPTIONS);
  const lines = (status === 0 ? stdout.split("\n") : []).flatMap((line) => [line.match(TOLD) ?? []]);
  return new Map(
    lines.map(([, number, inode, major, minor]) => {
      // `ss` takes the kernel's number of a device, with 20 bits for the minor part, for one of the C library (iproute2 6.1).
      const raw = ((Number(major) << 8) | (Number(minor) & 0xff) | ((Number(minor) & ~0xff) << 12)) >>> 0;
      return [number, { inode, devices: [`${raw >>> 20}:${raw & 0xfffff}`, `${major}:${minor}`] }];
    }),
  );
}
