// Loads the reference like pi does.

import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { createJiti } from "jiti";

const FOLDER = realpathSync(fileURLToPath(new URL("../../node_modules/@harms-haus/pi-workflows", import.meta.url)));

const pi = new URL("../../node_modules/@earendil-works/", import.meta.url);
const piModule = (/** @type {string} */ path) => import(new URL(path, pi).href);

// Only the modules of pi that the reference uses: loading all of pi takes a second.
const jiti = createJiti(import.meta.url, {
  virtualModules: {
    "@earendil-works/pi-coding-agent": await piModule("pi-coding-agent/dist/utils/frontmatter.js"),
    "@earendil-works/pi-tui": await piModule("pi-tui/dist/index.js"),
    "@earendil-works/pi-ai": await piModule("pi-ai/dist/index.js"),
    typebox: await import("typebox"),
  },
});

/** @type {import("@earendil-works/pi-coding-agent").ExtensionFactory} */
export const reference = await jiti.import(`${FOLDER}/src/index.ts`, { default: true });
