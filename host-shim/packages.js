// The installed pi packages, as pi's own settings and package manager tell.
import { realpathSync } from "node:fs";
import { basename, join } from "node:path";

import { unlessFails, untrusted } from "#sandbox";

/** @typedef {import("./files.js").Bases} Bases */
/** @typedef {import("./interface.js").InstalledPackage["scope"]} Scope */

/**
 * The part of pi that knows the installed packages; pi may lack it.
 * @typedef {Partial<Pick<typeof import("@earendil-works/pi-coding-agent"), "DefaultPackageManager" |
 *   "SettingsManager">>} PackageSource
 */

/**
 * An installed package.
 * @typedef {object} Installed
 * @property {string} path its folder
 * @property {Scope} scope
 * @property {string} name the name in its manifest; without a valid one, made of the name of its folder
 * @property {unknown} manifest the value of its `package.json`
 * @property {() => boolean} granted returns true if the package may be read now
 * @property {true} [isOwn] it is the component's own package, installed or not
 */

/** The maximum size of a `package.json` and of a settings file, in bytes. */
const MAX_FILE_SIZE = 1024 * 1024;

/** Names of packages in npm's registry, and their older forms with capitals. */
const PACKAGE_NAME = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/i;

/**
 * Returns a function that returns the installed packages, each folder once, packages of the user's settings first. It
 * throws only errors of the bases: packages that pi cannot find, or whose manifest cannot be read, are left out.
 * @param {PackageSource} source
 * @param {Bases} bases
 * @returns {() => Installed[]}
 */
export function installedPackages({ DefaultPackageManager, SettingsManager }, bases) {
  if (!DefaultPackageManager || !SettingsManager) return () => [];
  /** The packages of the settings that were read last: pi may run npm to find the folder of a package. */
  let known = { settings: "", located: /** @type {{ path: string, scope: Scope }[]} */ ([]) };

  const locate = (/** @type {Settings} */ settings) => {
    try {
      const settingsManager = SettingsManager.fromStorage(readOnly(settings), { projectTrusted: settings.trusted });
      const manager = new DefaultPackageManager({ cwd: settings.cwd, agentDir: settings.agentDir, settingsManager });
      const of = (/** @type {unknown} */ packages, /** @type {Scope} */ scope) =>
        sources(packages).flatMap((source) => {
          const path = unlessFails(() => manager.getInstalledPath(source, scope));
          return path === undefined ? [] : [{ path, scope }];
        });
      return [
        ...of(settingsManager.getGlobalSettings().packages, "user"),
        ...of(settingsManager.getProjectSettings().packages, "project"),
      ];
    } catch {
      return [];
    }
  };

  return () => {
    const settings = readSettings(bases);
    const text = JSON.stringify(settings);
    if (known.settings !== text) known = { settings: text, located: locate(settings) };
    const isOfProject = () => bases.isProjectTrusted() && bases.cwd() === settings.cwd;
    /** @type {Map<string, Installed>} */
    const packages = new Map();
    for (const { path, scope } of known.located) {
      const real = unlessFails(() => realpathSync.native(path));
      if (real === undefined || packages.has(real)) continue;
      const installed = packageIn(path, scope, scope === "user" ? () => true : isOfProject);
      if (installed) packages.set(real, installed);
    }
    return [...packages.values()];
  };
}

/**
 * Returns the package in a folder; `undefined` if there is none.
 * @param {string} path
 * @param {Scope} scope
 * @param {() => boolean} granted
 * @returns {Installed | undefined}
 */
export function packageIn(path, scope, granted) {
  const manifest = unlessFails(() => readManifest(path));
  return manifest === undefined ? undefined : { path, scope, name: nameOf(manifest, path), manifest, granted };
}

/**
 * Returns the component's own package, as a list.
 * @param {string} folder
 * @returns {Installed[]}
 */
export function ownPackage(folder) {
  const own = packageIn(folder.replace(/[/\\]$/, ""), "user", () => true);
  return own ? [{ ...own, isOwn: true }] : [];
}

/**
 * pi's settings files.
 * @typedef {object} Settings
 * @property {string} cwd
 * @property {string} agentDir
 * @property {boolean} trusted
 * @property {string | undefined} global
 * @property {string | undefined} project
 */

/** @param {Bases} bases @returns {Settings} */
export function readSettings({ cwd: currentCwd, agentDir: currentAgentDir, configDirName, isProjectTrusted }) {
  const [cwd, agentDir, trusted] = [currentCwd(), currentAgentDir(), isProjectTrusted()];
  return {
    cwd,
    agentDir,
    trusted,
    global: unlessFails(() => readText(join(agentDir, "settings.json"))),
    project: trusted ? unlessFails(() => projectSettings(cwd, configDirName)) : undefined,
  };
}

/**
 * A storage of settings that is not changed: pi's own storage locks the files, and writes to their folders to do so.
 * @param {Settings} settings
 * @returns {Parameters<typeof import("@earendil-works/pi-coding-agent").SettingsManager.fromStorage>[0]}
 */
export function readOnly(settings) {
  return { withLock: (scope, work) => void work(settings[scope]) };
}

/**
 * Returns the sources of the value `packages` of a settings file.
 * @param {unknown} packages
 * @returns {string[]}
 */
function sources(packages) {
  if (!Array.isArray(packages)) return [];
  const all = packages.map((entry) => (typeof entry === "object" && entry !== null ? entry.source : entry));
  return all.filter((source) => typeof source === "string");
}

/** @param {string} folder */
function readManifest(folder) {
  return JSON.parse(readText(join(folder, "package.json")));
}

/**
 * Returns the text of a project's settings, which an agent can replace: neither the file nor its folder may be a link.
 * @param {string} cwd
 * @param {string} configDirName
 */
export const projectSettings = (cwd, configDirName) =>
  textOf(untrusted.readFile(cwd, join(configDirName, "settings.json"), MAX_FILE_SIZE));

/** Returns the text of a file of the user, which may be a link. @param {string} path */
export const readText = (path) => textOf(untrusted.readUserFile(path, MAX_FILE_SIZE));

/** Returns a text without a byte order mark. @param {Uint8Array} bytes */
const textOf = (bytes) =>
  Buffer.from(bytes)
    .toString("utf8")
    .replace(/^\ufeff/, "");

/**
 * Returns the name of a package. A folder's name gets `-` for each character that a package's name cannot have.
 * @param {any} manifest
 * @param {string} folder
 * @returns {string}
 */
function nameOf(manifest, folder) {
  const name = manifest?.name;
  return typeof name === "string" && name.length <= 214 && PACKAGE_NAME.test(name)
    ? name
    : basename(folder).replace(/[^\w.~-]/g, "-");
}
