// The sandbox: lets a tool call reach what its limits allow, and nothing else. This module is its interface: what is
// outside of the folder imports this file only, and the folder imports nothing from outside but `plain-text.js`.
//
//   Confinement   one for each session: judges calls, confines pi's `bash` and file tools, and cleans up after them
//   canConfine    tells if the system can confine command lines
//   lineInFolder  a confined command line outside of pi, with one folder that it may write
//   resolveWrite  the file that pi's `edit` and `write` would write for a path
//   SYSTEM_FOLDERS the usual folders of system programs
//   shellQuoted   a text as a word of the shell
//   namesLike     the names in a folder that differ from a name in their form of Unicode at most
//   isBelow       tells if a path is a folder, or below it
//   untrusted     opens and writes files at places that an agent can write
//   workTreeAt, commonGitFolder, gitFoldersOf
//                 the git work tree of a folder, the folder of git that work trees share, and those of a rule
//
//   confinement.js ─┬─ command-line.js ─┬─ bubblewrap.js ── mounts.js, seccomp.js   Linux
//                   │                   └─ seatbelt.js                          macOS
//                   ├─ file-tools.js ──── file-operations.js                pi's `read`, `edit` and `write`
//                   └─ agent-folder.js, git-folders.js, hard-links.js, hidden-paths.js, key-folders.js,
//                   placeholders.js, running-commands.js,
//                      session-folder.js
//                      what is looked at, created and removed around a command line
//
// Several sessions of one process have a `Confinement` each. What they share is one object for the process: the command
// lines and searches that run (running-commands.js), the placeholders (placeholders.js), the stand-ins and the folder
// of process ids (session-folder.js), and what a hidden path has led to (hidden-paths.js).
export { SYSTEM_FOLDERS } from "./bubblewrap.js";
export { canConfine, lineInFolder } from "./command-line.js";
export { Confinement } from "./confinement.js";
export { commonGitFolder, gitFoldersOf, workTreeAt } from "./git-folders.js";
export { quoted as shellQuoted } from "./shell-quote.js";
export * as untrusted from "./untrusted-files.js";
export { isBelow, namesLike, resolveWrite } from "./write-target.js";

/**
 * The limits of a tool call.
 * @typedef {object} Limits
 * @property {string[]} writable absolute paths; with a slash at the end a folder, with all below it; `/` is everything
 * @property {string[]} [hidden] files and folders that cannot be read or written, as the argument `path` of pi's tools
 * @property {boolean} [keepsAgentFolder] true if pi's agent folder cannot be written although it lies in a writable
 *   folder
 * @property {boolean} network true if command lines reach the network
 * @property {string} notice the text that follows the output of a command line that failed because of its limits
 * @property {string[]} [signs] parts of such an output, in lower case
 */

/**
 * A file that a tool would write.
 * @typedef {object} WriteTarget
 * @property {string} path absolute, without links, with slashes
 * @property {boolean} linked true if the path led through a link
 */

/**
 * A tool call of pi.
 * @typedef {object} Call
 * @property {string} toolName
 * @property {string} toolCallId
 * @property {any} input its arguments
 */
