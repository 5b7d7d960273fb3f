// A second extension, with commands for what only an extension can do: `/go-tree ID` and `/go-reload`.

import { join } from "node:path";
import { REPO } from "./pi.mjs";

/** Its file, for `files` of a sandbox. */
export const TRAVEL = {
  "travel.ts": `export default (pi) => {
    pi.registerCommand("go-tree", { handler: async (id, ctx) => void (await ctx.navigateTree(id, {})) });
    pi.registerCommand("go-reload", { handler: async (_, ctx) => void (await ctx.reload()) });
  };`,
};

/** What `extension` is with it. @param {import("./sandbox.mjs").Sandbox} sandbox */
export const withTravel = (sandbox) => [REPO, join(sandbox.project, "travel.ts")];
