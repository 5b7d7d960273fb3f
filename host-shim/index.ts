// The pi extension: loads the component that the package's manifest names.
//
// TypeScript, because pi compiles it and gives it the pi that runs: in the bundled program, in the compiled binary, and in
// a program that embeds pi. pi lets Node import a JavaScript module first, and Node finds another pi where one is
// installed beside this package. This file is small; Node loads the rest from one file, which the build bundles from
// load.js and its imports.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import * as codingAgent from "@earendil-works/pi-coding-agent";
import * as tui from "@earendil-works/pi-tui";

const bundle = fileURLToPath(new URL("component/shim.cjs", import.meta.url));
// Without a build, load.js reports that the component is missing.
const { load } = createRequire(import.meta.url)(existsSync(bundle) ? bundle : "./load.js");

export default load(new URL("../package.json", import.meta.url), { codingAgent, tui });
