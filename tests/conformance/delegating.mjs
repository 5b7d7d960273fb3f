// A pi extension with the tool that the default role refers to.

/** @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
export default function (pi) {
  pi.registerTool({
    name: "delegate_to_subagents",
    label: "Delegate",
    description: "Delegates work",
    parameters: /** @type {any} */ ({ type: "object", properties: {} }),
    execute: async () => ({ content: [{ type: "text", text: "Delegated." }], details: {} }),
  });
}
