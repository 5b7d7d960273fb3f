// Loads this package like `host-shim/index.js`, but only with the modules of pi that it uses.

import { load } from "../../host-shim/load.js";

const pi = new URL("../../node_modules/@earendil-works/", import.meta.url);

/** @type {any} */
const codingAgent = await import(new URL("pi-coding-agent/dist/config.js", pi).href);
/** @type {any} */
const tui = await import(new URL("pi-tui/dist/index.js", pi).href);

// Caches the compiled modules: a benchmark creates many instances.
/** @type {Map<number, WebAssembly.Module>} */
const compiled = new Map();
WebAssembly.Module = new Proxy(WebAssembly.Module, {
  construct(Module, [bytes]) {
    const module = compiled.get(bytes.length) ?? new Module(bytes);
    compiled.set(bytes.length, module);
    return module;
  },
});

export const ours = load(new URL("../../package.json", import.meta.url), { codingAgent, tui });
