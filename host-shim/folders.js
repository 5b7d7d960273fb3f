// The `pi:extension/folders` interface: folders in the project that the manifest grants, one for each key in each
// session.
//
// The name of a folder is a hash of the session's ID and the key, so nothing that a session stores is a path.
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { copyFolder, untrusted } from "#sandbox";

import { NOT_GRANTED } from "./calls.js";

/** @typedef {import("./calls.js").Calls} Calls */
/** The folder of all folders, below the project's configuration directory. @typedef {{ path: string }} FoldersGrant */

/** The beginning of the name of a file. */
const STEM = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}$/;

/** The name of a folder. */
const NAME = /^[0-9a-f]{20}$/;

/** Errors name paths from the working directory on. */
const FROM_CWD = { shown: "" };

/**
 * @param {Calls} calls
 * @param {FoldersGrant | undefined} grant
 * @param {string} configDirName
 * @param {import("./session.js").Session} [session] the session of these folders; if absent, the session of the call
 * @returns {import("./interface.js").Imports["pi:extension/folders"]}
 */
export function folderImports(calls, grant, configDirName, session) {
  const wanted = (/** @type {string} */ key) => ({ context: calls.context, session, grant, configDirName, key });
  return calls.guarded({
    /** @type {import("./interface.js").Imports["pi:extension/folders"]["open"]} */
    open: (key, copyOf) => {
      if (copyOf !== undefined && !isName(copyOf)) throw new Error("The name of the folder to copy is no such name.");
      return open(wanted(key), copyOf);
    },
    /** @type {import("./interface.js").Imports["pi:extension/folders"]["writeFile"]} */
    writeFile: (key, name, text) => {
      if (!STEM.test(name)) throw new Error("The name of the file is no such name.");
      const { path } = open(wanted(key));
      untrusted.replaceFile(calls.context.cwd, `${path}/${name}`, text, undefined, FROM_CWD);
    },
  });
}

/**
 * Creates a file with a new name in the folder of a key, to write to.
 * @param {Wanted} wanted
 * @param {string} stem the beginning of its name; a number and `.log` follow
 * @returns {{ descriptor: number, path: string }} its path from the working directory
 */
export function createFile(wanted, stem) {
  if (!STEM.test(stem)) throw new Error("The name of the file is no such name.");
  const { cwd } = wanted.context;
  const { path: folder } = open(wanted);
  const names = untrusted.inFolder(cwd, folder, (opened) => readdirSync(opened.at(".")), FROM_CWD);
  const numbers = names.map((name) =>
    name.startsWith(`${stem}-`) ? Number(/^(\d{1,9})\.log$/.exec(name.slice(stem.length + 1))?.[1] ?? 0) : 0,
  );
  for (let number = numbers.reduce((most, one) => Math.max(most, one), 0) + 1; ; number += 1) {
    const path = `${folder}/${stem}-${number}.log`;
    const descriptor = unlessThere(() => untrusted.createFile(cwd, path, 0o666, FROM_CWD));
    if (descriptor !== undefined) return { descriptor, path };
  }
}

/**
 * The values that open a folder: the context of pi, the grant, and the key.
 * @typedef {object} Wanted
 * @property {Pick<import("@earendil-works/pi-coding-agent").ExtensionContext, "cwd" | "sessionManager" |
 *   "isProjectTrusted">} context
 * @property {import("./session.js").Session} [session] the session of the folder; if absent, the context's session
 * @property {FoldersGrant | undefined} grant
 * @property {string} configDirName
 * @property {string} key
 */

/**
 * Opens the folder of a key, which is created if it does not exist.
 * @param {Wanted} wanted
 * @param {string} [copyOf] the folder beside it whose files a new folder gets
 */
function open({ context, session = context.sessionManager, grant, configDirName, key }, copyOf) {
  if (!grant) throw new Error(NOT_GRANTED);
  const { cwd } = context;
  if (!context.isProjectTrusted()) throw new Error("The project is not trusted.");
  const name = nameOf(session.getSessionId(), key);
  const folders = `${configDirName}/${grant.path}`;
  untrusted.makeFolder(cwd, folders, 0o777, FROM_CWD);
  untrusted.inFolder(cwd, folders, (folder) => makeIn(folder, name, copyOf), FROM_CWD);
  return { name, path: `${folders}/${name}` };
}

/** Returns true if a text is the name of a folder. @param {string} name */
export const isName = (name) => NAME.test(name);

/** @param {string} session @param {string} key */
function nameOf(session, key) {
  return createHash("sha256")
    .update(JSON.stringify([session, key]))
    .digest("hex")
    .slice(0, 20);
}

/**
 * Creates a folder unless there is one.
 * @param {import("#sandbox").Place} folder
 * @param {string} name
 * @param {string | undefined} copyOf
 */
function makeIn(folder, name, copyOf) {
  const at = (/** @type {string} */ part, /** @type {() => void} */ work) =>
    untrusted.worded(join(folder.path, part), work);
  at(".gitignore", () => unlessThere(() => writeFileSync(folder.at(".gitignore"), "*\n", { flag: "wx" })));
  if (lstatSync(folder.at(name), { throwIfNoEntry: false })) return folder.inside(name, () => {});
  // Complete or not at all: a folder that exists is not copied to again.
  const begun = `.${name}`;
  at(name, () => {
    rmSync(folder.at(begun), { recursive: true, force: true });
    mkdirSync(folder.at(begun));
  });
  try {
    if (copyOf !== undefined && copyOf !== name && lstatSync(folder.at(copyOf), { throwIfNoEntry: false }))
      folder.inside(copyOf, (from) => folder.inside(begun, (to) => copyFolder(from, to)));
    at(name, () => renameSync(folder.at(begun), folder.at(name)));
  } finally {
    rmSync(folder.at(begun), { recursive: true, force: true });
  }
}

/**
 * Creates something, and returns the result; `undefined` if something has its name.
 * @template T
 * @param {() => T} create
 */
function unlessThere(create) {
  try {
    return create();
  } catch (/** @type {any} */ error) {
    if (error.code === "EEXIST") return undefined;
    throw error;
  }
}
