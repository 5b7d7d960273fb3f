// The programs that this package and its host start outside of the sandbox while an agent works, and the files that these
// programs read as they start. No confined command can change those of them that this user could change.
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, join, resolve } from "node:path";

import { known } from "./known.js";
import { unlessFails } from "./plain.js";
import { isReplaceable, turnsOf } from "./ways.js";
import { isBelow, realPath, upwards } from "./write-target.js";

/** The usual folders of system programs, before the folders of PATH, which the user may be able to write. */
const SYSTEM_FOLDERS = ["/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
/** The folders of the system for `root`, who can write everything. */
const OF_SYSTEM = ["/usr", "/bin", "/sbin", "/nix/store"];
/** The programs of this package, and those that the host takes for its searches, beside the `git` that tells it the branch. */
const [OWN, SEARCHES] = [["bwrap", "stat", "mkfifo"], { grep: ["rg"], find: ["fd", "fdfind"] }];
/** The variables with the path of a file or folder. */
const FILES = ["BASH_ENV", "ENV", "RIPGREP_CONFIG_PATH", "RUNNER_TEMP", "GITHUB_ACTION_PATH"];
/** The variables with the paths of libraries, and what separates these. */
export const LIBRARIES = { LD_LIBRARY_PATH: /[:;]/, LD_PRELOAD: /[\s:]+/, LD_AUDIT: ":", GCONV_PATH: ":" };

/**
 * Returns the path of a program to be started outside of the sandbox, which no confined command can have written.
 * @param {string} name of a program, or of the user's a path, or that of a file which it is given
 * @param {boolean} [isUsers]
 * @throws {Error} if there is only another one
 */
export function findProgram(name, isUsers = false) {
  if (isUsers) known.programs.add(name);
  const found = placesOf(name, isUsers ? [] : SYSTEM_FOLDERS).filter(name.includes("/") ? isFile : isExecutable);
  const path = (isUsers ? undefined : found.find(isFixed)) ?? found.find((path) => !projectOf(path));
  return path ?? found.slice(0, 1).map(refuse)[0];
}

/**
 * Returns a project in which a command could put the program that the host takes for a search.
 * @param {"grep" | "find"} search
 * @param {string} programs the host's own folder of programs
 * @throws {Error} if a command can have written the program
 */
export function projectOfSearch(search, programs) {
  if (process.platform === "win32" || existsSync(join(programs, SEARCHES[search][0]))) return undefined;
  const all = SEARCHES[search].flatMap((name) => placesOf(name));
  const first = all.findIndex(isExecutable);
  if (projectOf(all[first] ?? "/")) refuse(all[first]);
  return all
    .slice(0, first < 0 ? all.length : first)
    .map(projectOf)
    .find(Boolean);
}

/** @param {string} path @returns {never} */
function refuse(path) {
  const why = "lies in the project, where a command can have written it, so it is not run outside of the sandbox";
  throw new Error(`${path} ${why}. Take its folder out of PATH, or its path out of the settings`);
}

/**
 * Returns what confined commands cannot change, with its names for users.
 * @param {import("./session.js").Shell} shell
 * @param {string} cwd
 * @param {string} [programs] the host's own folder of programs
 * @throws {Error} if it cannot be told, or the shell cannot begin a confined command
 */
export function keptPlaces({ path: shell = "/bin/bash", prefix = "" }, cwd, programs) {
  if (process.platform === "win32") return [];
  const kind = basename(realPath(shell));
  if (/^(fish|t?csh|nu|elvish|xonsh)\b/.test(kind))
    throw new Error(
      `${shell} does not read the lines of sh, as confined commands need: set shellPath to bash, zsh or sh`,
    );
  if (projectOf(shell)) refuse(shell);
  const variables = [...FILES.map((name) => /** @type {const} */ ([name, "\0"])), ...Object.entries(LIBRARIES)];
  const read = variables.flatMap(([name, separator]) => {
    const parts = process.env[name] ? process.env[name].split(separator) : [];
    // An empty folder of libraries is the working directory, and a library without a folder lies in one of those folders.
    return parts.filter((part) => name !== "LD_PRELOAD" || part.includes("/")).map((part) => [name, part || "."]);
  });
  const unclear = read.find(([, path]) => /[$`]/.test(path));
  if (unclear) throw new Error(`${unclear[0]} is ${unclear[1]}, which only a shell can expand. Set it to a path`);
  if (kind === "zsh")
    for (const name of [".zshenv", ".zshenv.zwc"]) read.push([name, join(process.env.ZDOTDIR || homedir(), name)]);
  // A bash reads it that ssh has started, without another shell around it.
  if ((process.env.SSH_CLIENT ?? process.env.SSH2_CLIENT) !== undefined && !(Number(process.env.SHLVL) > 0))
    read.push([".bashrc", join(homedir(), ".bashrc")]);
  for (const path of prefix.match(/(~|\$HOME)?\/[^\s"'`;|&(){}<>$:]+/g) ?? [])
    read.push(["the prefix", path.replace(/^(~|\$HOME)/, homedir)]);
  const shells = existsSync(shell) ? [shell] : ["which", "bash", "sh"];
  for (const name of [...Object.values(SEARCHES).flat(), "git", ...shells, ...known.programs])
    read.push(...before(name));
  read.push(...OWN.flatMap((name) => before(name, SYSTEM_FOLDERS)), ...(programs ? [["its host", programs]] : []));
  const places = read.map(([name, path]) => ({ name: `the place of ${name}`, path: resolve(cwd, path) }));
  return places.filter(({ name, path }) => !isFixed(path) && (name !== "the place of the prefix" || existsSync(path)));
}

/** Returns the paths at which a program is looked for. @param {string} name @param {string[]} [first] folders before PATH */
function placesOf(name, first = []) {
  const folders = name.includes("/") ? ["/"] : [...first, ...(process.env.PATH ?? "").split(delimiter)];
  return [...new Set(folders.map((folder) => resolve(folder, name)))];
}

/** Returns those that no program of the system precedes, outside of the project. @param {string} name @param {string[]} [first] */
function before(name, first) {
  const all = placesOf(name, first);
  const end = all.findIndex((path) => isExecutable(path) && isFixed(path));
  return all.slice(0, end < 0 ? all.length : end).flatMap((path) => (projectOf(path) ? [] : [[basename(name), path]]));
}

/** Returns the target of a path, and the places at which this user could lead the path elsewhere. @param {string} path */
const ways = (path) => [unlessFails(() => realPath(path)) ?? path, ...turnsOf(path)];

/** Returns true if this user can change neither a path nor a folder or link on the way. @param {string} path */
function isFixed(path) {
  const own = process.getuid?.();
  const [real, ...turns] = ways(path);
  if (own === 0) return [real, ...turns].every((at) => OF_SYSTEM.some((folder) => isBelow(at, folder)));
  const isOwn = isAllowed(real, constants.W_OK) || unlessFails(() => statSync(real).uid === own);
  return !isOwn && turns.length === 0 && ![...upwards(real)].some(isReplaceable);
}

/** Returns the folder in which a session works, unless it is around the user's own, if a path leads through it. @param {string} path */
function projectOf(path) {
  const folders = [...known.projects, ...known.trees.keys()];
  const home = realPath(homedir());
  return folders.find((folder) => !isBelow(home, folder) && [path, ...ways(path)].some((at) => isBelow(at, folder)));
}

/** Bun's `accessSync` returns `null`. @param {string} path @param {number} mode */
const isAllowed = (path, mode) => unlessFails(() => accessSync(path, mode) ?? true) === true;

/** @param {string} path */
const isFile = (path) => unlessFails(() => statSync(path).isFile()) === true;

/** @param {string} path */
const isExecutable = (path) => isFile(path) && isAllowed(path, constants.X_OK);
