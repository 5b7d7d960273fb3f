// pi's shell: runs command lines as pi's own `bash` does, with the settings of a session as pi read them at its start or at
// the last `/reload`. A project's file of settings can be replaced at any time, so it is not opened again.
import { delimiter, join } from "node:path";

import { settingsOf } from "./pi-session.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("@earendil-works/pi-coding-agent").SettingsManager} SettingsManager */

/**
 * @typedef {object} ShellSettings
 * @property {string} [prefix] the text that pi's `bash` runs before each command line
 * @property {string} [path] the shell of pi's `bash`, if it is set
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
    path: manager.getShellPath(),
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

/**
 * Returns the shell of the user's settings. A project's settings are ignored: the shell must run exactly the command
 * line that the user agreed to.
 * @param {import("./load.js").Host["codingAgent"]} codingAgent
 * @param {UserShell} settings
 * @param {string} cwd
 */
export function userShell({ createLocalBashOperations, getAgentDir }, { prefix, path }, cwd) {
  const operations = createLocalBashOperations({ shellPath: path });
  return {
    /**
     * @param {string} line
     * @param {[string, string][]} variables
     * @param {Parameters<typeof operations.exec>[2]} options
     */
    exec: (line, variables, options) => {
      const env = variables.length > 0 ? { env: environment(getAgentDir(), variables) } : {};
      return operations.exec(prefix ? `${prefix}\n${line}` : line, cwd, { ...options, ...env });
    },
  };
}

/**
 * Returns the environment that pi gives command lines, with more variables. pi uses this environment in place of its
 * own.
 * @param {string} agentDir
 * @param {[string, string][]} variables
 * @returns {NodeJS.ProcessEnv}
 */
function environment(agentDir, variables) {
  const path = Object.keys(process.env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  const folders = [join(agentDir, "bin"), process.env[path]].filter(Boolean);
  return { ...process.env, [path]: folders.join(delimiter), ...Object.fromEntries(variables) };
}
