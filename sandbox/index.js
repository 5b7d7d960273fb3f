// The sandbox: lets the calls of an agent reach what their limits allow, and nothing else. This module is the interface of
// the package, which imports nothing from outside of its folder.
//
//   SandboxSession  one for each session of an agent: begins its command lines and searches, tells what its operations
//                   on files may reach, and cleans up after them; `Busy` is the error of a call that can begin later
//   fileOperations  operations on files within limits
//   absolutePath, realPath
//                   resolve a path of the agent
//   canConfine      tells if the system can confine command lines
//   lineInFolder    a confined command line of no session, with one folder that it may write
//   resolveWrite    the file that a tool would write for a path of the agent
//   runCommandLine, OutputFile, killGroup
//                   runs a command line, with or without the sandbox, and keeps the end of its output, or all of it
//   findProgram     a program that may run outside of the sandbox
//   workTreeAt, folderAbove, commonGitFolder, gitFoldersOf
//                   the git work tree of a folder, the folder of git that work trees share, and those of a rule
//   untrusted       opens and writes files at places that an agent can write; `copyFolder` copies such a folder
//   shellQuoted     a text as a word of the shell
//   namesLike       the names in a folder that differ from a name in their form of Unicode at most
//   processes       notes of processes, for files, and if these processes still live
//   isBelow         tells if a path is a folder, or below it
//   plainText, messageOf, unlessFails
//                   plain helpers
//
//   session.js ─── look.js ═ look-thread.js: what takes long, in a thread of its own
//              ─┬─ command-line.js ─┬─ bubblewrap.js ── mounts.js, seccomp.js   Linux
//               │                   └─ seatbelt.js                              macOS
//               └─ agent-folder.js, git-folders.js, hard-links.js, hidden-paths.js, key-folders.js, placeholders.js
//                  (git-exclude.js), running-commands.js, session-folder.js, sockets.js ── listed-sockets.js
//                  what is looked at, created and removed around a command line
//   file-operations.js, exec.js ── output-file.js
//   copies.js; below all: processes.js, programs.js, untrusted-files.js, ways.js, write-target.js, shell-quote.js, plain.js
//
// Several sessions of one process have a `SandboxSession` each. What they share is one object for the process: the command
// lines and searches that run (running-commands.js), the placeholders, of which the user's other processes know
// (placeholders.js), the thread of looks (look.js), and what it has seen (known.js).
export { canConfine, lineInFolder } from "./command-line.js";
export { copyFolder } from "./copies.js";
export { MAX_TIMEOUT, killGroup, runCommandLine } from "./exec.js";
export { fileOperations } from "./file-operations.js";
export { commonGitFolder, folderAbove, gitFoldersOf, workTreeAt } from "./git-folders.js";
export { OutputFile } from "./output-file.js";
export { messageOf, plainText, unlessFails } from "./plain.js";
export * as processes from "./processes.js";
export { findProgram } from "./programs.js";
export { Busy } from "./running-commands.js";
export { SandboxSession } from "./session.js";
export { quoted as shellQuoted } from "./shell-quote.js";
export * as untrusted from "./untrusted-files.js";
export { absolutePath, isBelow, namesLike, realPath, resolveWrite } from "./write-target.js";

/**
 * The limits of a call.
 * @typedef {object} Limits
 * @property {string[]} writable absolute paths; with a slash at the end a folder, with all below it; `/` is everything
 * @property {string[]} [hidden] files and folders that cannot be read or written, as paths of the agent
 * @property {boolean} [keepsAgentFolder] true if the agent's own folder cannot be written although it lies in a writable
 *   folder
 * @property {string[]} [kept] absolute paths of other folders that cannot be written although they lie in a writable folder
 * @property {boolean} network true if command lines reach the network
 * @property {string} notice the text that follows the output of a command line that failed because of its limits
 * @property {string[]} [signs] parts of such an output, in lower case
 */

/**
 * The files that operations may write, and the check of each one that they read or write.
 * @typedef {object} Reach
 * @property {string[]} writable
 * @property {import("./file-operations.js").Check} check rejects for what is hidden or kept
 */

/**
 * A file that a tool would write.
 * @typedef {object} WriteTarget
 * @property {string} path absolute, without links, with slashes
 * @property {boolean} linked true if the path led through a link
 */

/** @typedef {import("./look.js").Watch} Watch */
/** @typedef {import("./exec.js").CommandResult} CommandResult */
/** @typedef {import("./exec.js").Exec} Exec */
/** @typedef {import("./untrusted-files.js").Place} Place */
