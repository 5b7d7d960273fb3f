// Turns a component that exports `pi:extension/guest` into a pi extension.
//
// Invariant: nothing here, nor in the files beside it, knows what an extension does. Any component
// that implements the world of `wit/extension.wit` loads through it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

import { Extension } from "./extension.js";

/**
 * pi's own packages, handed in by the module that pi loads.
 * @typedef {object} Host
 * @property {typeof import("@earendil-works/pi-coding-agent")} codingAgent
 * @property {typeof import("@earendil-works/pi-tui")} tui
 */

/**
 * What a package's manifest says under `component`.
 * @typedef {object} Manifest
 * @property {string} name the package's name, without its scope
 * @property {string} glue the generated module, from the manifest's folder
 * @property {string} [registrations] what the component registers, as the build has written it down; without
 *   it the component itself is asked when pi loads the extension
 * @property {import("./files.js").Grant[]} files what the component may read
 * @property {boolean} exec whether it may have command lines run
 * @property {{ name: string } | undefined} store the name of the store that it may keep values in
 */

/**
 * The extension of the package whose `package.json` this is.
 *
 * @param {URL} manifestUrl
 * @param {Host} host
 * @returns {import("@earendil-works/pi-coding-agent").ExtensionFactory}
 */
export function load(manifestUrl, host) {
  return (pi) => {
    const manifest = readManifest(manifestUrl);
    const extension = new Extension(pi, host, manifest, instantiator(manifestUrl, manifest));
    extension.start(readRegistrations(manifestUrl, manifest));
  };
}

/**
 * @param {URL} url
 * @returns {Manifest}
 */
export function readManifest(url) {
  const { name, component } = JSON.parse(readFileSync(url, "utf8"));
  if (typeof component?.glue !== "string") {
    throw new Error(`${fileURLToPath(url)} names no component.`);
  }
  const { glue, registrations, files = [], exec, store } = component;
  if (store && !/^[\w-]+$/.test(store.name)) throw new Error(`${fileURLToPath(url)}: a store's name is of letters, digits, _ and -.`);
  return { name: String(name).replace(/^@[^/]*\//, ""), glue, registrations, files, exec: exec === true, store };
}

/**
 * The calls of `pi:extension/api` that the component makes when it begins.
 *
 * @param {URL} manifestUrl
 * @param {Manifest} manifest
 * @returns {import("./extension.js").Registration[] | undefined}
 */
function readRegistrations(manifestUrl, { name, registrations }) {
  if (registrations === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(new URL(registrations, manifestUrl), "utf8"));
  } catch (error) {
    throw notBuilt(manifestUrl, name, error);
  }
}

/**
 * @param {URL} manifestUrl
 * @param {string} name
 * @param {unknown} cause
 */
function notBuilt(manifestUrl, name, cause) {
  const folder = fileURLToPath(new URL(".", manifestUrl));
  const words = `Run "npm run build" in ${folder}, or install a branch or tag that holds the built files.`;
  return new Error(`The component of ${name} is not built. ${words}`, { cause });
}

/**
 * A function that makes a fresh instance of the component. Its modules are compiled once, with the first.
 *
 * @param {URL} manifestUrl
 * @param {Pick<Manifest, "name" | "glue">} manifest
 * @returns {(imports: object) => Record<string, any>}
 */
export function instantiator(manifestUrl, { name, glue }) {
  const url = new URL(glue, manifestUrl);
  /** @type {Map<string, WebAssembly.Module>} */
  const modules = new Map();
  const compiled = (/** @type {string} */ file) => {
    let module = modules.get(file);
    if (!module) {
      module = new WebAssembly.Module(readFileSync(new URL(file, url)));
      modules.set(file, module);
    }
    return module;
  };
  return (imports) => {
    let generated;
    try {
      generated = createRequire(manifestUrl)(fileURLToPath(url));
    } catch (error) {
      throw notBuilt(manifestUrl, name, error);
    }
    return generated.instantiate(compiled, imports);
  };
}
