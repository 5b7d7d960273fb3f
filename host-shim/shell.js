// The settings of pi's shell in a session, as pi read them at the session's start or at the last `/reload`. A project's
// file of settings can be replaced at any time, so it is not opened again.
import { settingsOf } from "./origin.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("@earendil-works/pi-coding-agent").SettingsManager} SettingsManager */

/**
 * @typedef {object} ShellSettings
 * @property {string} [prefix] the text that pi's `bash` runs before each command line
 * @property {UserShell} user the part that the user has set; a project has no influence on it
 */

/** @typedef {{ prefix?: string, path?: string }} UserShell */

/** The user's settings for children's sessions, whose own include the project's. @type {WeakMap<object, object>} */
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
 * Makes the user's settings of a session known in one of its children.
 * @param {SettingsManager} child
 * @param {SettingsManager} parent
 */
export function shareUserSettings(child, parent) {
  ofUsers.set(child, userSettings(parent));
}

/** @param {SettingsManager} manager @returns {object} */
const userSettings = (manager) => ofUsers.get(manager) ?? manager.getGlobalSettings();
