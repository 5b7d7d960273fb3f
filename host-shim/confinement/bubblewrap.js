// Command lines that run confined on Linux, by bubblewrap: in namespaces of their own, with every mount read-only except
// the writable paths, and with a filter of system calls.
import { accessSync, constants, lstatSync, rmSync } from "node:fs";
import { delimiter, dirname, join, relative, sep } from "node:path";

import { seccompFilter } from "./seccomp.js";
import { octal, quoted } from "./shell-quote.js";
import { isBelow } from "../write-target.js";

/** @typedef {import("./sandbox.js").Sandbox} Sandbox */

/** The usual folders of system programs. They come before those of PATH, which may be writable for the user. */
const SYSTEM_FOLDERS = ["/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/**
 * The folder for temporary files inside of the sandbox. It is a private one of the session.
 */
const TEMPORARY = "/tmp";

/**
 * Namespaces, capabilities, processes. Processes end with the command line. Without capabilities, a command of `root`
 * may do no more than one of any other user.
 */
const ISOLATION = ["--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-cgroup-try", "--cap-drop", "ALL", "--new-session", "--die-with-parent"];

/**
 * Returns the arguments of bubblewrap before the command.
 *
 * `/proc` and `/sys` are read-only as a whole: `root` could otherwise change settings of the kernel in them.
 *
 * @param {Sandbox} sandbox
 */
function bubblewrapArguments({ writable, readOnly, network, cwd, temporary, hidden }) {
  const everything = writable.includes("/");
  const args = [...ISOLATION];
  if (!network) args.push("--unshare-net");
  args.push(everything ? "--bind" : "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc");
  if (!everything) {
    args.push("--bind", temporary, TEMPORARY, "--setenv", "TMPDIR", TEMPORARY);
    for (const path of foldersOfMounts([cwd, ...hidden, ...writable])) {
      removeLink(join(temporary, relative(TEMPORARY, path)));
      args.push("--tmpfs", path);
    }
    if (isBelow(cwd, TEMPORARY)) args.push("--ro-bind", cwd, cwd);
    for (const path of hidden) args.push("--tmpfs", path);
    for (const path of writable) args.push("--bind", path, path);
    // It also holds the lock and the process ids of the session.
    if (writable.some((path) => isBelow(temporary, path))) args.push("--tmpfs", dirname(temporary));
    for (const path of readOnly) args.push("--ro-bind", path, path);
  }
  if (everything) args.push("--ro-bind-try", "/sys", "/sys");
  args.push("--chdir", cwd, "--seccomp", "3");
  return args;
}

/**
 * Returns the folders in the folder for temporary files that contain these paths. Each of them gets an empty file system
 * of its own. Otherwise bubblewrap would create the places for mounts in a folder in which earlier commands could leave
 * links, and would follow them out of the sandbox.
 *
 * @param {string[]} paths
 */
function foldersOfMounts(paths) {
  const inside = paths.filter((path) => path !== TEMPORARY && isBelow(path, TEMPORARY));
  const folders = inside.map((path) => join(TEMPORARY, relative(TEMPORARY, path).split(sep)[0]));
  return [...new Set(folders)].filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
}

/** Removes a link or file, but no folder. @param {string} path */
function removeLink(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat && !stat.isDirectory()) rmSync(path);
}

/**
 * Returns a command line that runs a command line in the sandbox, by the shell that reads the result.
 *
 * @param {string} line without NUL
 * @param {Sandbox} sandbox
 */
export function bubblewrapLine(line, sandbox) {
  const program = findBubblewrap();
  const filter = seccompFilter(process.arch);
  if (program === undefined) throw new Error("bubblewrap is not installed. Install it, for example by `apt install bubblewrap`.");
  if (!filter) throw new Error(`There is no filter of system calls for processors of the type ${process.arch}.`);
  const args = bubblewrapArguments(sandbox).map(quoted).join(" ");
  // The filter comes through a pipe, so that no file can be changed before it is read.
  return `printf ${octal(filter)} | ${quoted(program)} ${args} -- "\${BASH:-/bin/sh}" -c -- ${quoted(line)} "$0" 3<&0 </dev/null`;
}

function findBubblewrap() {
  const folders = [...SYSTEM_FOLDERS, ...(process.env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"))];
  return folders.map((folder) => join(folder, "bwrap")).find(isExecutable);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
