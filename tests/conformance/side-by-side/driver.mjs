// A pi extension with commands for actions that RPC mode lacks.

/** @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
export default function (pi) {
  pi.registerCommand("drive-tree", {
    description: "Moves to an entry of the session's tree",
    handler: async (entryId, context) => void (await context.navigateTree(entryId)),
  });
  pi.registerCommand("drive-reload", {
    description: "Reloads the extensions",
    handler: async (_none, context) => context.reload(),
  });
}
