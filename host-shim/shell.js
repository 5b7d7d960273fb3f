// The settings of pi's shell, of a session: as pi read them at its start or at the last `/reload`. A project's file of
// settings can be replaced at any time, so it is not opened again.
import { settingsOf } from "./origin.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("@earendil-works/pi-coding-agent").SettingsManager} SettingsManager */

/**
 * @typedef {object} ShellSettings
 * @property {string} [prefix] what pi's `bash` runs before each command line
 * @property {UserShell} user what of it the user has set; a project has no part in it
 */

/** @typedef {{ prefix?: string, path?: string }} UserShell */

/** The user's settings of the sessions of children, whose own are those of the user and of the project in one. @type {WeakMap<object, object>} */
const ofUsers = new WeakMap();

/**
 * Reads the settings at the start of a session.
 * @param {import("./load.js").Host["codingAgent"]} codingAgent
 * @param {Context} context
 * @returns {ShellSettings}
 */
export function shellSettings({ SettingsManager, getAgentDir }, context) {
  const manager =
    settingsOf(context) ??
    SettingsManager.create(context.cwd, getAgentDir(), { projectTrusted: context.isProjectTrusted() });
  const user = SettingsManager.inMemory(userSettings(manager));
  return {
    prefix: manager.getShellCommandPrefix(),
    user: { prefix: user.getShellCommandPrefix(), path: user.getShellPath() },
  };
}

/**
 * Has the user's settings of a session stay known in one of its children.
 * @param {SettingsManager} child
 * @param {SettingsManager} parent
 */
export function shareUserSettings(child, parent) {
  ofUsers.set(child, userSettings(parent));
}

/** @param {SettingsManager} manager @returns {object} */
const userSettings = (manager) => ofUsers.get(manager) ?? manager.getGlobalSettings();
