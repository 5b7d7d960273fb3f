// A second extension with commands for actions that RPC mode lacks: `/go-tree ID` and `/go-reload`.

import { join } from "node:path";
import { REPO } from "./pi.mjs";

/** The file of this extension, for `files` of a sandbox. */
export const TRAVEL = {
  "travel.ts": `export default (pi) => {
    pi.registerCommand("go-tree", { handler: async (id, ctx) => void (await ctx.navigateTree(id, {})) });
    pi.registerCommand("go-reload", { handler: async (_, ctx) => void (await ctx.reload()) });
  };`,
};

/** The option `extension` that loads it too. @param {import("./sandbox.mjs").Sandbox} sandbox */
export const withTravel = (sandbox) => [REPO, join(sandbox.project, "travel.ts")];
