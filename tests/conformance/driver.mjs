// A pi extension with a command for an action that RPC mode lacks.

/** @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
export default function (pi) {
  pi.registerCommand("drive-tree", {
    description: "Moves to an entry of the session's tree",
    handler: async (entryId, context) => void (await context.navigateTree(entryId)),
  });
}
