// The interface between pi's side and the component: its version, and its types as the build generates them
// from `wit/extension.wit`.

/** The version of `wit/extension.wit` that this shim implements. */
export const INTERFACE_VERSION = "0.8.0";

/**
 * The interfaces that a component imports. The generated glue reads them by their names without versions.
 * @typedef {import("../target/types/extension.js").ImportObject} VersionedImports
 * @typedef {{
 *   [Name in keyof VersionedImports as Name extends `${infer Unversioned}@${string}` ? Unversioned : Name]:
 *   VersionedImports[Name]
 * }} Imports
 */

/**
 * The interfaces that a component exports. A file that is no pi extension may export others.
 * @typedef {import("../target/types/extension.js").Extension} AllExports
 * @typedef {Partial<AllExports>} Exports
 * @typedef {AllExports[`pi:extension/guest@${typeof INTERFACE_VERSION}`]} GuestExports
 * @typedef {(imports: Imports) => Exports} Instantiate creates an instance of a component
 */

/**
 * @typedef {import("../target/types/interfaces/pi-extension-api.js").Tool} Tool
 * @typedef {import("../target/types/interfaces/pi-extension-types.js").ToolCall} ToolCall
 * @typedef {import("../target/types/interfaces/pi-extension-children.js").Child} Child
 * @typedef {import("../target/types/interfaces/pi-extension-files.js").DirEntry} DirEntry
 * @typedef {import("../target/types/interfaces/pi-extension-files.js").InstalledPackage} InstalledPackage
 * @typedef {import("../target/types/interfaces/pi-extension-guest.js").Answer} Answer
 * @typedef {import("../target/types/interfaces/pi-extension-guest.js").Boundary} Boundary
 * @typedef {import("../target/types/interfaces/pi-extension-guest.js").Event} Event
 * @typedef {import("../target/types/interfaces/pi-extension-guest.js").InputSource} InputSource
 * @typedef {import("../target/types/interfaces/pi-extension-guest.js").Request} Request
 * @typedef {import("../target/types/interfaces/pi-extension-guest.js").StopReason} StopReason
 * @typedef {import("../target/types/interfaces/pi-extension-session.js").Usage} Usage
 * @typedef {import("../target/types/interfaces/pi-extension-types.js").CustomMessage} CustomMessage
 * @typedef {import("../target/types/interfaces/pi-extension-types.js").Drawing} Drawing
 * @typedef {import("../target/types/interfaces/pi-extension-types.js").Model} Model
 */

/**
 * Returns the value if the interface knows it. A later version of pi may have more.
 * @template {string} Known
 * @param {readonly Known[]} values
 * @param {string} value
 * @returns {Known | "other"}
 */
export function known(values, value) {
  return values.find((known) => known === value) ?? "other";
}
