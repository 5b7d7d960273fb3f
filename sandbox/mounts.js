// The mounts of a command line on Linux: one list. bubblewrap gets its arguments from the list, and the first process
// of the sandbox compares the built mounts with the list before the command begins.
//
// bubblewrap goes by names, also with `--bind-fd`, which mounts the target of the descriptor's name. So each place is
// opened without following links, and stays open: a place is known by its device and inode, which no other file can get
// meanwhile. Only sockets that may vanish are not opened. docs/architecture.md says why this cannot be raced.
import { lstatSync } from "node:fs";
import { dirname } from "node:path";

import { quoted } from "./shell-quote.js";
import { openPlace } from "./untrusted-files.js";
import { isBelow } from "./write-target.js";

/** The descriptor of the first process for the root folder outside of the sandbox. */
export const OUTSIDE = 7;
const OUTSIDE_ROOT = `/proc/self/fd/${OUTSIDE}`;

/** The error of a command line that is not started because the comparison failed. */
const NOT_STARTED =
  "The command was not started: while its sandbox was built, another process replaced or moved a file or folder on which the sandbox rests. Run it again.";

/**
 * A path where something is mounted.
 * @typedef {object} Point
 * @property {boolean} isItself true if the file or folder with this path is itself mounted
 * @property {string | undefined} inside the device and inode of what is mounted; `undefined` for an empty folder
 * @property {string} outside the device and inode of the file or folder with this path outside of the sandbox
 * @property {string | undefined} closed a folder above that the command line cannot search: it can change nothing there
 */

export class Mounts {
  /** The arguments of bubblewrap. @type {string[]} */
  args = [];
  /** The paths outside that must stay in place while the command runs. @type {string[]} */
  places = [];
  /** @type {Map<string, Point>} */
  #points = new Map();
  /** @type {{ writable: Set<string>, readOnly: Set<string> }} */
  #expected = { writable: new Set(), readOnly: new Set() };
  /** @type {import("./untrusted-files.js").Place[]} */
  #opened = [];
  /** @type {string[]} */
  #sockets = [];

  /** @param {string[]} covered paths that are covered last: earlier mounts in these paths are not seen */
  constructor(covered) {
    this.covered = covered;
  }

  /**
   * Mounts a file or folder.
   * @param {string} point
   * @param {{ writable?: boolean, source?: string, isLimit?: boolean }} [options] `source` is the path itself unless it
   *   is given; without `isLimit` nothing depends on the place once the command has begun
   */
  bind(point, { writable = false, source = point, isLimit = true } = {}) {
    if (this.#isCovered(point)) return;
    this.args.push(writable ? "--bind" : "--ro-bind", source, point);
    this.#expect(point, writable, source);
    if (isLimit) this.places.push(point);
  }

  /**
   * Mounts an empty folder.
   * @param {string} point
   * @param {{ writable?: boolean, place?: string }} [options] `place` is the folder outside, if it has another path
   */
  empty(point, { writable = false, place = point } = {}) {
    if (this.#isCovered(point)) return;
    this.args.push("--tmpfs", point, ...(writable ? [] : ["--remount-ro", point]));
    this.#expect(point, writable, undefined);
    this.places.push(place);
  }

  /**
   * Covers sockets outside of what is writable. Their programs may remove them at any moment, and then there is no place
   * for a mount.
   * @param {string[]} paths
   */
  addSockets(paths) {
    this.#sockets = paths;
    this.places.push(...paths);
  }

  /**
   * Returns lines of a shell that sets its parameters to the arguments for the sockets that are still there. The source
   * of each mount, `/dev/null`, is named through the folder of the socket: bubblewrap leaves out a mount without a source.
   * @param {string} stat the path of the program `stat`
   */
  socketLines(stat) {
    if (this.#sockets.length === 0) return "set --\n";
    const lines = this.#sockets.map((path) => {
      const source = `${dirname(path)}${dirname(path).replace(/\/[^/]+/g, "/..")}/dev/null`;
      return `gone ${quoted(path)} || set -- "$@" --ro-bind-try ${quoted(source)} ${quoted(path)}`;
    });
    return ["set --", gone(stat), ...lines, ""].join("\n");
  }

  /** Closes the descriptors: the command line has ended. */
  close() {
    for (const place of this.#opened.splice(0)) place.close();
  }

  /**
   * Returns the lines of a shell that end it unless everything is mounted where it belongs.
   * @param {string} stat the path of the program `stat`
   */
  check(stat) {
    const points = [...this.#points];
    const compared = points.filter(([, { closed }]) => closed === undefined);
    const covered = compared.filter(([, { isItself }]) => !isItself);
    const paths = [...compared.map(([path]) => path), ...covered.map(([path]) => OUTSIDE_ROOT + path)];
    const ids = [...compared.map(([, { inside }]) => inside), ...covered.map(([, { outside }]) => outside)];
    const closed = new Set(points.flatMap(([, { closed }]) => closed ?? []));
    // The kernel writes some characters as numbers.
    const special = points.filter(([path]) => escaped(path) !== path);
    return `PI_CONFINED=$(
exec 2>/dev/null
m=
IFS= read -rd '' m </proc/self/mountinfo || [ -n "$m" ] || while IFS= read -r e; do m="$m$e
"; done </proc/self/mountinfo
mounted() {
case $1 in ${special.map(([path]) => `${quoted(path)}) e=${quoted(escaped(path))};; `).join("")}*) e=$1;; esac
case $m in *" $e "$2,nosuid*) ;; *) exit 1;; esac
}
is() { [ "$1" -ef "${OUTSIDE_ROOT}$1" ] || exit 1; }
${[this.#expected.readOnly, this.#expected.writable]
  .flatMap((expected, index) => {
    const mode = index === 0 ? "ro" : "r[ow]";
    const [itself, other] = [true, false].map((is) =>
      compared.filter(([path, { isItself }]) => expected.has(path) && isItself === is).map(([path]) => path),
    );
    const unseen = points.filter(([path, { closed }]) => expected.has(path) && closed !== undefined);
    return [
      each(itself, `mounted "$p" '${mode}'; is "$p"`),
      each([...other, ...unseen.map(([path]) => path)], `mounted "$p" '${mode}'`),
    ];
  })
  .join("\n")}
${each([...closed], '[ ! -x "$p" ] || exit 1')}
${gone(stat)}
${each(this.#sockets, '[ "$p" -ef /dev/null ] || gone "$p" || exit 1')}
${paths.length > 0 ? `exec ${stat} -c %d:%i -- ${paths.map(quoted).join(" ")}` : ""}
) && case $PI_CONFINED in ${ids.map((id) => (id === undefined ? "*" : quoted(id))).join("'\n'") || "''"}) ;; *) false;; esac || {
echo ${quoted(NOT_STARTED)} >&2; exit 126
}
unset PI_CONFINED`;
  }

  /** @param {string} point */
  #isCovered(point) {
    return this.covered.some((cover) => cover !== point && isBelow(point, cover));
  }

  /**
   * @param {string} point
   * @param {boolean} writable
   * @param {string | undefined} source
   */
  #expect(point, writable, source) {
    this.#expected[writable ? "writable" : "readOnly"].add(point);
    const known = this.#points.get(point);
    const outside = known?.outside ?? this.#idOf(point);
    const isItself = source === point;
    const inside = isItself ? outside : source && this.#idOf(source);
    this.#points.set(point, { isItself, inside, outside, closed: known ? known.closed : closedAbove(point) });
  }

  /** Opens a file or folder, and returns its device and inode. @param {string} path */
  #idOf(path) {
    const place = openPlace("/", path);
    this.#opened.push(place);
    const { dev, ino } = place.stat;
    if (place.stat.isSymbolicLink()) throw new Error(`a link leads elsewhere from ${path}`);
    return `${dev}:${ino}`;
  }
}

/**
 * Returns a function of the shell that succeeds if there is nothing at a path. A path that cannot be reached is not gone: a
 * command that runs beside can close a folder and open it again.
 * @param {string} stat the path of the program `stat`
 */
const gone = (stat) =>
  `gone() { [ ! -e "$1" ] && case $(LC_ALL=C ${stat} -- "$1" 2>&1 || echo failed) in *": No such file or directory${"\n"}failed" | *": No such file or directory (os error 2)${"\n"}failed") ;; *) false;; esac; }`;

/**
 * Returns a loop of the shell over some paths.
 * @param {string[]} paths
 * @param {string} body with the path as `p`
 */
const each = (paths, body) => (paths.length > 0 ? `for p in ${paths.map(quoted).join(" ")}; do ${body}; done` : "");

/**
 * Returns a folder above a path that `root` cannot search without capabilities. Other users cannot get below it.
 * @param {string} path
 */
function closedAbove(path) {
  if (process.getuid?.() !== 0) return undefined;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { uid, gid, mode } = lstatSync(folder);
    const search = uid === 0 ? 0o100 : gid === 0 || process.getgroups?.().includes(gid) ? 0o010 : 0o001;
    if ((mode & search) === 0) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Returns a path as the kernel writes it in `mountinfo`. @param {string} path */
const escaped = (path) =>
  path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
