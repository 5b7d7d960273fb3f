// The parts of a session, as pi holds them in memory since the session's start or the last `/reload`: the only source
// of its children.
import { lstatSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { unlessFails } from "#sandbox";

import { readOnly, readSettings } from "../packages.js";
import { sessionOf } from "../pi-session.js";

/** @typedef {import("@earendil-works/pi-coding-agent").AgentSession} AgentSession */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("@earendil-works/pi-coding-agent").LoadExtensionsResult["extensions"][number]} Loaded */
/** @typedef {import("../load.js").Host} Host */

/** The kind of messages whose renderer tells an extension of this loader from others. There is no such message. */
export const EVALUATION = "pi-extension:evaluation";

/** The files and folders that pi reads for a session, in the project's and the user's folder of configuration, and in folders of context. */
const CONFIGURATION = [
  ...["mcp.json", "models.json", "SYSTEM.md", "APPEND_SYSTEM.md"],
  ...["extensions", "prompts", "skills", "themes"],
];
const CONTEXT = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD", ".agents/skills"];

/** Limits of the search for files that have changed. */
const MAX_FILES = 2000;
const MAX_DEPTH = 5;

/** The maximum number of files that the user is told of. */
const MAX_TOLD = 8;

export class Origin {
  #host;
  #files;
  #isTold = false;

  /** @param {Host} host @param {AgentSession} session */
  constructor(host, session) {
    this.#host = host;
    this.session = session;
    const { extensions } = session.resourceLoader.getExtensions();
    const isOwn = (/** @type {Loaded} */ { messageRenderers }) => messageRenderers.get(EVALUATION) === host.evaluation;
    /** This extension, as pi has loaded it. */
    this.own = extensions.find(isOwn);
    /** The other extensions of the session, in the order in which pi loaded them. */
    this.others = extensions.filter((extension) => !isOwn(extension));
    this.#files = this.#read();
  }

  /**
   * Returns the origin of the session of a context at its start; `undefined` where pi does not show the session.
   * @param {Host} host
   * @param {Context} context
   */
  static of(host, context) {
    const session = sessionOf(context);
    return session && new Origin(host, session);
  }

  /** The settings that are in effect. @returns {any} a copy */
  get settings() {
    const manager = /** @type {any} */ (this.session.settingsManager);
    // pi 0.87.1 does not export them.
    const settings = manager.getSettings?.() ?? manager.settings;
    if (!settings) throw new Error("this version of pi does not share its settings with children");
    return structuredClone(settings);
  }

  get #cwd() {
    return this.session.sessionManager.getCwd();
  }

  /** Returns a warning, once, if files differ from the files that pi read; otherwise `undefined`. */
  toTell() {
    if (this.#isTold) return undefined;
    const now = this.#read();
    const names = [...new Set([...this.#files.keys(), ...now.keys()])].filter(
      (name) => this.#files.get(name) !== now.get(name),
    );
    const changed = [...this.#changedSettings(), ...names].map((name) => relative(this.#cwd, name));
    if (changed.length === 0) return undefined;
    this.#isTold = true;
    const more = changed.length - MAX_TOLD;
    const list = changed.slice(0, MAX_TOLD).map((name) => JSON.stringify(name));
    const told = [...list, ...(more > 0 ? [`${more} more`] : [])].join(", ");
    return `Changed on disk since pi read it: ${told}. Child agents have the earlier state, as this session; /reload takes up the changes.`;
  }

  /** The paths of the settings that differ from those of the session. */
  #changedSettings() {
    const { SettingsManager, getAgentDir, CONFIG_DIR_NAME } = this.#host.codingAgent;
    const { settingsManager } = this.session;
    const projectTrusted = settingsManager.isProjectTrusted();
    const bases = {
      cwd: () => this.#cwd,
      agentDir: getAgentDir,
      configDirName: CONFIG_DIR_NAME,
      isProjectTrusted: () => projectTrusted,
    };
    // pi's own storage would wait for a pipe.
    const now = unlessFails(() => SettingsManager.fromStorage(readOnly(readSettings(bases)), { projectTrusted }));
    if (!now) return [];
    const of = (/** @type {"getGlobalSettings" | "getProjectSettings"} */ name, /** @type {string} */ folder) =>
      isDeepStrictEqual(now[name](), settingsManager[name]()) ? [] : [join(folder, "settings.json")];
    return [...of("getGlobalSettings", getAgentDir()), ...of("getProjectSettings", join(this.#cwd, CONFIG_DIR_NAME))];
  }

  /** The states of the files that pi reads for a session, by path. @returns {Map<string, string>} */
  #read() {
    const { getAgentDir, CONFIG_DIR_NAME } = this.#host.codingAgent;
    const { resourceLoader } = this.session;
    const cwd = this.#cwd;
    /** @type {Map<string, string>} */
    const files = new Map();
    for (const folder of [getAgentDir(), join(cwd, CONFIG_DIR_NAME)])
      for (const name of CONFIGURATION) readInto(files, join(folder, name), 0);
    for (let folder = cwd, above = ""; folder !== above; above = folder, folder = dirname(folder))
      for (const name of CONTEXT) readInto(files, join(folder, name), 0);
    for (const name of CONTEXT.slice(0, -1)) readInto(files, join(getAgentDir(), name), 0);
    for (const { resolvedPath } of this.others) if (resolvedPath) readInto(files, resolvedPath, 0);
    for (const { filePath } of resourceLoader.getSkills().skills) readInto(files, filePath, 0);
    return files;
  }
}

/**
 * Adds the states of a file, or of all files in a folder.
 * @param {Map<string, string>} files
 * @param {string} path
 * @param {number} depth
 */
function readInto(files, path, depth) {
  if (files.size >= MAX_FILES || depth > MAX_DEPTH) return;
  const found = unlessFails(() => lstatSync(path, { throwIfNoEntry: false }));
  if (!found) return;
  if (!found.isDirectory()) return void files.set(path, `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`);
  for (const name of unlessFails(() => readdirSync(path)) ?? [])
    if (name !== "node_modules" && name !== ".git") readInto(files, join(path, name), depth + 1);
}
