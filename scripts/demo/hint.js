// Shows the command to enter in the demo until the user enters it.

/** @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
export default function (pi) {
  pi.on("session_start", (_event, ctx) => {
    ctx.ui.setWidget("demo", [`Demo. Type:  ${process.env.PI_WORKFLOWS_DEMO}`]);
  });
  pi.on("agent_start", (_event, ctx) => {
    ctx.ui.setWidget("demo", undefined);
  });
}
