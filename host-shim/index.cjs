// The pi extension: loads the component that the package's manifest names.
//
// pi resolves its own packages only for the file that it loads itself, and compiles that file unless it is CommonJS.
// Therefore this file is small, and Node loads the rest from one file, which the build bundles from load.js and its
// imports.
"use strict";

const { existsSync } = require("node:fs");
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const codingAgent = require("@earendil-works/pi-coding-agent");
const tui = require("@earendil-works/pi-tui");

const nodeRequire = createRequire(__filename);

const bundle = join(__dirname, "component/shim.cjs");
// Without a build, load.js reports that the component is missing.
const { load } = nodeRequire(existsSync(bundle) ? bundle : "./load.js");

module.exports = load(new URL("../package.json", pathToFileURL(__filename)), { codingAgent, tui });
