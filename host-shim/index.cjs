// The pi extension: loads the component that the package's manifest names.
//
// pi resolves its own packages only for the file that it loads itself, and puts that file through a
// compiler unless it is CommonJS. So this one is small, and everything else is loaded by Node alone: from the one file
// that the build makes of load.js and what it needs.
"use strict";

const { createRequire } = require("node:module");
const { pathToFileURL } = require("node:url");
const codingAgent = require("@earendil-works/pi-coding-agent");
const tui = require("@earendil-works/pi-tui");

const nodeRequire = createRequire(__filename);

function shim() {
  try {
    return nodeRequire("./component/shim.cjs");
  } catch (/** @type {any} */ error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    // Not built: load.js says so.
    return nodeRequire("./load.js");
  }
}

module.exports = shim().load(new URL("../package.json", pathToFileURL(__filename)), { codingAgent, tui });
