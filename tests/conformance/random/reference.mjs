// The reference, loaded as pi loads it.

import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { createJiti } from "jiti";

const FOLDER = realpathSync(fileURLToPath(new URL("../../../node_modules/@harms-haus/pi-workflows", import.meta.url)));

const pi = new URL("../../../node_modules/@earendil-works/", import.meta.url);
const piModule = (/** @type {string} */ path) => import(new URL(path, pi).href);

// pi's own modules, but only those that the reference uses: the whole of pi takes a second.
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

/** Its only countdown. @type {{ timerManager: { clearAll(): void } }} */
export const { timerManager } = await jiti.import(`${FOLDER}/src/TimerManager.ts`);

/** Its loader: definitions by their keys. @type {{ loadWorkflows(cwd: string): Record<string, any> }} */
export const { loadWorkflows } = await jiti.import(`${FOLDER}/src/config/index.ts`);
