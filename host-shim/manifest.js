// The manifest of a package with a component, and the component's instances.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * The field `component` of a package's manifest.
 * @typedef {object} Manifest
 * @property {string} name the package's name, without its scope
 * @property {string} glue the path of the generated module, relative to the manifest's folder
 * @property {string} [registrations] the path of the registrations that the build has stored; without
 *   it the component is instantiated when pi loads the extension
 * @property {import("./files.js").Grant[]} files the folders that the component may read
 * @property {boolean} exec true if the component may run command lines
 * @property {boolean} activeTools true if the component may set the active tools
 * @property {boolean} conversation true if the component may read the user's messages and replace earlier messages by a
 *   summary
 * @property {boolean} models true if the component may set the model and the thinking level
 * @property {boolean} programs true if the component may have programs of the user's run
 * @property {boolean} confine true if tool calls can be confined for the component
 * @property {import("./children/children.js").ChildrenGrant | undefined} children the number of children that the component may
 *   have at a time
 * @property {string} [joinedPrompt] the text that the user is told if a command of the component is only a part of pi's
 *   first prompt, which then does nothing
 * @property {string} folder the folder of the package
 * @property {{ name: string } | undefined} store the store that the component may use
 * @property {import("./folders.js").FoldersGrant | undefined} folders the place of the folders that the component may
 *   have made
 */

/** Limit of the number of children that a manifest can grant. */
const MAX_CHILDREN = 64;

/** @param {URL} url @returns {Manifest} */
export function readManifest(url) {
  const { name, component } = JSON.parse(readFileSync(url, "utf8"));
  if (typeof component?.glue !== "string") {
    throw new Error(`${fileURLToPath(url)} names no component.`);
  }
  const { glue, registrations, files = [], store, folders, children, joinedPrompt } = component;
  if (store && !/^[\w-]+$/.test(store.name))
    throw new Error(`${fileURLToPath(url)}: a store's name consists of letters, digits, "_" and "-".`);
  if (folders && !/^[\w-]+$/.test(folders.path))
    throw new Error(`${fileURLToPath(url)}: the path of the folders consists of letters, digits, "_" and "-".`);
  if (children && !(Number.isInteger(children.max) && children.max >= 1 && children.max <= MAX_CHILDREN)) {
    throw new Error(
      `${fileURLToPath(url)}: the maximum number of children is a whole number from 1 to ${MAX_CHILDREN}.`,
    );
  }
  const folder = fileURLToPath(new URL(".", url));
  const granted = (/** @type {string} */ grant) => component[grant] === true;
  return {
    ...{ name: String(name).replace(/^@[^/]*\//, ""), glue, registrations, folder },
    ...{ files, store, folders, children, joinedPrompt },
    exec: granted("exec"),
    confine: granted("confine"),
    activeTools: granted("activeTools"),
    conversation: granted("conversation"),
    models: granted("models"),
    programs: granted("programs"),
  };
}

/**
 * Returns the calls of `pi:extension/api` that the component makes in `init`, as stored by the build.
 * @param {URL} manifestUrl
 * @param {Manifest} manifest
 * @returns {import("./extension.js").Registration[] | undefined}
 */
export function readRegistrations(manifestUrl, { name, registrations }) {
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
  const help = `Run "npm run build" in ${folder}, or install a branch or tag that holds the built files.`;
  return new Error(`The component of ${name} is not built. ${help}`, { cause });
}

/**
 * Returns a function that creates an instance of the component. The first call compiles the modules; later calls reuse
 * them.
 * @param {URL} manifestUrl
 * @param {Pick<Manifest, "name" | "glue">} manifest
 * @returns {import("./interface.js").Instantiate}
 */
export function instantiator(manifestUrl, { name, glue: path }) {
  const url = new URL(path, manifestUrl);
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
    /** @type {typeof import("../target/types/extension.js")} */
    let glue;
    try {
      glue = createRequire(manifestUrl)(fileURLToPath(url));
    } catch (error) {
      throw notBuilt(manifestUrl, name, error);
    }
    // The declarations have the versioned names of the imports, the generated code reads the unversioned ones.
    return glue.instantiate(
      compiled,
      /** @type {import("./interface.js").VersionedImports} */ (/** @type {unknown} */ (imports)),
    );
  };
}
