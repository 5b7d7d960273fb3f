// The sandbox of a command line, by the mechanism of this system.
import { spawnSync } from "node:child_process";

import { bubblewrapLine } from "./bubblewrap.js";
import { known } from "./known.js";
import { plainText, unlessFails } from "./plain.js";
import { seatbeltLine } from "./seatbelt.js";
import { standIns, temporaryFolder } from "./session-folder.js";

/**
 * The sandbox of one command line. All paths are absolute and exist; a socket may vanish.
 * @typedef {object} Sandbox
 * @property {string[]} writable no path is below another; `/` is everything
 * @property {string[]} readOnly paths that stay read-only in writable folders, and can be read in the system's folder
 *   for temporary files
 * @property {boolean} network
 * @property {string[]} [covers] the sockets of other programs, and folders with such sockets, which are covered;
 *   `undefined` if sockets in the file system cannot be used
 * @property {string} cwd
 * @property {string} temporary the folder for temporary files
 * @property {string[]} hidden folders and files that appear empty, whatever is writable
 * @property {string[]} fixed links, and names of nothing, in writable folders that stay as they are
 * @property {string[]} kept folders of `readOnly` that keep their names
 * @property {string[]} unreadable files and folders that can be neither read nor written
 * @property {import("./session-folder.js").StandIns} standIns the stand-ins for `unreadable` on Linux
 * @property {string} [ids] a file to which bubblewrap adds the id of the first process
 */

/**
 * A confined command line, and the paths on which it rests.
 * @typedef {object} Confined
 * @property {string} line
 * @property {string[]} places paths that must stay in place while the command line runs: absolute, without links
 * @property {string[]} sealed paths in which the command line changes nothing
 * @property {() => void} close to be called when the command line has ended
 */

/** Neither writable nor hidden paths. @satisfies {Partial<Sandbox>} */
const NO_PATHS = { writable: [], readOnly: [], hidden: [], fixed: [], unreadable: [], kept: [] };

/** The time in which the system must run an empty command line confined, in milliseconds. */
const PROBE_TIMEOUT = 10_000;

/**
 * Returns a confined command line for the shell that runs the given one.
 * @param {string} line without NUL
 * @param {Sandbox} sandbox
 * @returns {Confined}
 */
export function confinedLine(line, sandbox) {
  switch (process.platform) {
    case "linux":
      return bubblewrapLine(line, sandbox);
    case "darwin":
      return {
        line: seatbeltLine(line, sandbox),
        places: [...sandbox.unreadable, ...sandbox.writable],
        sealed: sandbox.unreadable,
        close() {},
      };
    default:
      throw new Error(
        `there is no sandbox for command lines on ${process.platform === "win32" ? "Windows" : process.platform}`,
      );
  }
}

/**
 * Returns a confined command line, of no session, that may write a folder and nothing else.
 * @param {string} line without NUL
 * @param {string} folder
 * @param {Pick<Sandbox, "cwd" | "temporary" | "network"> & { readOnly?: string[] }} places `temporary` is not below the
 *   folder
 */
export function lineInFolder(line, folder, places) {
  return alone(line, { ...NO_PATHS, writable: [folder], standIns: standIns(), ...places });
}

/**
 * Returns a confined command line that no other command line can disturb.
 * @param {string} line without NUL
 * @param {Sandbox} sandbox
 */
function alone(line, sandbox) {
  const confined = confinedLine(line, sandbox);
  confined.close();
  return confined.line;
}

/**
 * Returns if the system can confine command lines. A success is remembered.
 * @param {boolean} network false for command lines without a network
 * @throws {Error} with the reason, and how to fix it
 */
export function canConfine(network) {
  if (known.starts.get(network) || known.starts.get(false)) return;
  const sandbox = {
    ...NO_PATHS,
    network,
    cwd: "/",
    temporary: temporaryFolder(),
    standIns: { file: "", folder: "" },
  };
  const { status, stderr, error } = spawnSync("/bin/sh", ["-c", alone("exit 7", sandbox)], {
    timeout: PROBE_TIMEOUT,
    encoding: "utf8",
    env: {},
  });
  if (status !== 7) throw new Error(withHelp(plainText(stderr ?? "") || String(error), network));
  known.starts.set(network, true);
}

/**
 * Returns the reason for a sandbox that did not start, for the user.
 * @param {string} message of the mechanism
 * @param {boolean} network
 */
function withHelp(message, network) {
  const [first] = message.trim().split("\n");
  const needed = network || unlessFails(() => (canConfine(true), true)) === undefined ? "user" : "network";
  const cause = /mount proc/i.test(first)
    ? "The container covers parts of /proc"
    : /namespace|permitted|permission|uid map/i.test(first) &&
      `The system or the container does not allow ${needed} namespaces`;
  const way = needed === "network" ? ". Commands that may use the network can be confined" : "";
  const help = cause ? `. ${cause}${way}: see "Where commands cannot be confined" in docs/reference/limits.md` : "";
  return `the sandbox does not start (${first || "no message"})${help}`;
}
