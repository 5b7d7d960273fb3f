// Command lines that run confined on Linux, by bubblewrap: in namespaces of their own, with every mount read-only
// except the writable paths, and with a filter of system calls.
//
// The processes, from the outside: this process, the host; bubblewrap, in the place of the shell that the host started;
// the first process of the sandbox, a shell; the command. The kernel kills bubblewrap when the host ends, the first
// process when bubblewrap ends, and every process of the sandbox when the first one ends, which it does with the command.
import { spawnSync } from "node:child_process";
import { lstatSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

import { otherMounts } from "./hidden-paths.js";
import { known } from "./known.js";
import { Mounts, OUTSIDE } from "./mounts.js";
import { LIBRARIES, findProgram } from "./programs.js";
import { seccompFilter } from "./seccomp.js";
import { privateFolder } from "./session-folder.js";
import { quoted } from "./shell-quote.js";
import { makeFolder } from "./untrusted-files.js";
import { isThere } from "./ways.js";
import { isBelow, realPath } from "./write-target.js";

/** @typedef {import("./command-line.js").Sandbox} Sandbox */

/** The folder for temporary files inside of the sandbox. The folder is private to the session. */
export const TEMPORARY = process.platform === "linux" ? realPath("/tmp") : "/tmp";

/**
 * Namespaces, capabilities, processes. Without capabilities, a command of `root` may do no more than one of any other
 * user. bubblewrap's own first process would wait for the processes that a command leaves behind.
 */
const ISOLATION = [
  "--unshare-user-try",
  "--unshare-ipc",
  "--unshare-pid",
  "--as-pid-1",
  "--unshare-cgroup-try",
  "--cap-drop",
  "ALL",
  "--new-session",
  "--die-with-parent",
];

/** The place in the arguments for the mounts of sockets, which the shell that starts bubblewrap puts there. */
const SOCKETS = '"$@"';

/** The character in the place of bytes that are not UTF-8. */
const NOT_UTF8 = "\uFFFD";

/** The program of the first process, in an empty folder of the sandbox. Its name makes a bash read no start-up file. */
const FIRST = "/dev/sh";

/**
 * The command line of the first process. Its first argument is the id of the host, the others are the command. Descriptor
 * 5 is the status of bubblewrap. The host must still be the parent of bubblewrap: otherwise the host ended before
 * bubblewrap asked the kernel to be killed with its parent. The shell's own messages about the command are left out. Libraries of the
 * environment, which may be the command's in here, are the command's alone.
 * @param {string} check lines that end the shell unless the sandbox is built as it should be
 */
const firstLine = (check) => `read -r PI_CONFINED <&5; exec 5<&-
case $PI_CONFINED in *") "[!ZX]" $1 "*) ;; *) echo "The process that confined this command has ended, or did not start it itself." >&2; exit 126;; esac
unset PI_CONFINED; shift
${check}
exec ${OUTSIDE}<&- 6>&2 2>/dev/null
${Object.keys(LIBRARIES)
  .flatMap((name) => (process.env[name] === undefined ? [] : `export ${name}=${quoted(process.env[name])}; `))
  .join("")}
"$@" 2>&6 6>&-
exit $?`;

/**
 * Returns the mounts of a sandbox, and all arguments of bubblewrap before the command.
 *
 * `/proc` and `/sys` are read-only as a whole: `root` could otherwise change settings of the kernel in them.
 * @param {Sandbox} sandbox
 */
function bubblewrapArguments(sandbox) {
  const { writable, readOnly, network, cwd, temporary, fixed, unreadable, standIns, covers = [] } = sandbox;
  const sockets = covers.filter(
    (path) => !isFolder(path) && ![TEMPORARY, "/dev", ...writable].some((at) => isBelow(path, at)),
  );
  const hidden = [...sandbox.hidden, ...covers.filter((path) => !sockets.includes(path))];
  const everything = writable.includes("/");
  const own = privateFolder();
  // In the system's folder for temporary files, that of the session lies over it.
  const ofOthers = [own, ...otherMounts([own]).filter((path) => !isBelow(path, own))].filter(
    (folder) => !isBelow(folder, TEMPORARY) || writable.some((path) => isBelow(folder, path)),
  );
  const mounts = new Mounts([...hidden, ...unreadable]);
  try {
    const { args } = mounts;
    args.push(...ISOLATION, ...Object.keys(LIBRARIES).flatMap((name) => ["--unsetenv", name]));
    if (!network) args.push("--unshare-net");
    args.push(
      everything ? "--bind" : "--ro-bind",
      "/",
      "/",
      SOCKETS,
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      "--remount-ro",
      "/proc",
    );
    mounts.addSockets(sockets);
    if (!everything) {
      mounts.bind(TEMPORARY, { writable: true, source: temporary, isLimit: false });
      args.push("--setenv", "TMPDIR", TEMPORARY);
      for (const path of foldersOfMounts([cwd, ...hidden, ...unreadable, ...readOnly, ...writable])) {
        const place = join(temporary, relative(TEMPORARY, path));
        removeLink(place);
        makeFolder("/", place, 0o755);
        mounts.empty(path, { writable: true, place });
      }
      if (isBelow(cwd, TEMPORARY)) mounts.bind(cwd, { isLimit: false });
      for (const path of writable) mounts.bind(path, { writable: true });
    }
    for (const path of foldersAround([...readOnly, ...hidden, ...fixed, ...unreadable, ...ofOthers], writable))
      mounts.bind(path, { writable: true });
    // The outermost first: the folders in a fixed one are mounted with it, writable.
    for (const folder of [...new Set(fixed.map((path) => dirname(path)))].sort((a, b) => a.length - b.length))
      addFixed(folder, mounts);
    for (const folder of ofOthers) mounts.empty(folder, { writable: true });
    for (const path of readOnly) mounts.bind(path);
    if (everything) args.push("--ro-bind-try", "/sys", "/sys");
    for (const path of hidden) {
      if (isFolder(path)) mounts.empty(path);
      else mounts.bind(path, { source: "/dev/null" });
    }
    // The mount is read-only, so nobody can change the rights.
    for (const path of unreadable) mounts.bind(path, { source: isFolder(path) ? standIns.folder : standIns.file });
    args.push("--chdir", cwd, "--seccomp", "3");
    return mounts;
  } catch (error) {
    mounts.close();
    throw error;
  }
}

/**
 * Returns the folders between writable paths and these paths, outermost first. As mounts they cannot be renamed, and no
 * other folder can take their place.
 * @param {string[]} paths
 * @param {string[]} writable
 */
function foldersAround(paths, writable) {
  const folders = paths.flatMap((path) => {
    const top = writable.find((folder) => folder !== path && isBelow(path, folder));
    if (top === undefined) return [];
    const between = relative(top, dirname(path)).split(sep).filter(Boolean);
    return between.map((_, index) => join(top, ...between.slice(0, index + 1)));
  });
  return [...new Set(folders)].filter(isThere);
}

/**
 * Makes a folder read-only, but not what is in it: nothing can be mounted in the place of a link, or of nothing.
 * @param {string} folder
 * @param {Mounts} mounts
 */
function addFixed(folder, mounts) {
  mounts.bind(folder);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (!entry.isSymbolicLink() && !entry.name.includes(NOT_UTF8))
      mounts.bind(join(folder, entry.name), { writable: true });
}

/**
 * Returns the folders in the folder for temporary files that contain these paths. Each of them gets an empty file
 * system of its own. Otherwise bubblewrap would create the places for mounts in a folder in which earlier commands
 * could leave links, and would follow them out of the sandbox.
 * @param {string[]} paths
 */
function foldersOfMounts(paths) {
  const inside = paths.filter((path) => path !== TEMPORARY && isBelow(path, TEMPORARY));
  const folders = inside.map((path) => join(TEMPORARY, relative(TEMPORARY, path).split(sep)[0]));
  return [...new Set(folders)].filter(isFolder);
}

/** @param {string} path */
function isFolder(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Removes a link or file, but no folder. @param {string} path */
function removeLink(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat && !stat.isDirectory()) rmSync(path);
}

/**
 * Returns a command line that runs a command line in the sandbox, by the shell that reads the result. That shell must
 * be a child of this process.
 * @param {string} line without NUL
 * @param {Sandbox} sandbox
 * @returns {import("./command-line.js").Confined}
 */
export function bubblewrapLine(line, sandbox) {
  const program = findProgram("bwrap");
  if (program === undefined)
    throw new Error("bubblewrap is not installed. Install it, for example by `apt install bubblewrap`.");
  const stat = findProgram("stat");
  if (stat === undefined) throw new Error("the program `stat` is not installed.");
  const mounts = bubblewrapArguments(sandbox);
  const args = mounts.args.map((arg) => (arg === SOCKETS ? arg : quoted(arg))).join(" ");
  const check = quoted(firstLine(mounts.check(quoted(stat))));
  const sockets = mounts.socketLines(quoted(stat));
  const shell = `"\${BASH:-/bin/sh}"`;
  // The kernel lets nobody reach into a process whose program cannot be read. Without a copy only the filter prevents
  // this.
  const first = canCopy(program) ? `--perms 0111 --file 4 ${FIRST}` : `--symlink ${shell} ${FIRST}`;
  const [info, toIds] = sandbox.ids === undefined ? ["", ""] : ["--info-fd 8 ", ` 8>>${quoted(sandbox.ids)}`];
  const descriptors = `3<${filterFile(sandbox.covers !== undefined)} 4<${shell} 5</proc/$$/stat ${OUTSIDE}</ </dev/null${toIds}`;
  return {
    line: `${sockets}exec ${quoted(program)} ${args} ${info}${first} -- ${FIRST} -c ${check} sh ${process.pid} ${shell} -c -- ${quoted(line)} "$0" ${descriptors}`,
    places: mounts.places,
    sealed: [...sandbox.readOnly, ...mounts.covered, privateFolder()],
    close: () => mounts.close(),
  };
}

/** The open files with the filter of system calls, by whether it allows sockets. @type {Map<boolean, number>} */
const filters = new Map();

/**
 * Returns the path of a file with the filter. It has no name, so that no confined command can open it.
 * @param {boolean} sockets
 */
function filterFile(sockets) {
  let descriptor = filters.get(sockets);
  if (descriptor === undefined) {
    const filter = seccompFilter(process.arch, sockets);
    if (!filter) throw new Error(`There is no filter of system calls for processors of the type ${process.arch}.`);
    const folder = mkdtempSync(join(privateFolder(), "filter-"));
    try {
      descriptor = openSync(join(folder, "filter"), "wx+", 0o600);
      // Writes the whole filter, also if the disk takes only a part at a time: a part would be another filter.
      writeFileSync(descriptor, filter);
      filters.set(sockets, descriptor);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return `/proc/${process.pid}/fd/${descriptor}`;
}

/** @param {string} program */
function canCopy(program) {
  const told = known.copying.get(program);
  if (told !== undefined) return told;
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8", env: {} });
  const [, major, minor] = stdout?.match(/(\d+)\.(\d+)/) ?? [];
  const can = Number(major) > 0 || Number(minor) >= 5;
  known.copying.set(program, can);
  return can;
}
