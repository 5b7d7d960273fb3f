// Runs command lines confined, one after the other, as pi does. Prints their results as JSON.
//
//   node confined-host.mjs FOLDER LIMITS LINE...      LIMITS in JSON; a list has the writable paths; `agent` is pi's
//   agent folder
import { spawnSync } from "node:child_process";
import { Confinement } from "../../host-shim/sandbox/index.js";

const [folder, given, ...lines] = process.argv.slice(2);
const limits = Array.isArray(JSON.parse(given)) ? { writable: JSON.parse(given) } : JSON.parse(given);
const codingAgent = {
  getAgentDir: () => limits.agent ?? folder,
};
/** @type {Record<string, (event: object) => any>} */
const handlers = {};
const pi = {
  on: (/** @type {string} */ name, /** @type {(event: object) => any} */ handler) => (handlers[name] = handler),
};
const confinement = new Confinement(/** @type {any} */ (pi), /** @type {any} */ ({ codingAgent }), true);
const context = { cwd: folder, isProjectTrusted: () => true, sessionManager: { getSessionId: () => folder } };

const results = lines.map((line, index) => {
  const event = { toolName: "bash", toolCallId: String(index), input: { command: line } };
  const refused = confinement.confine(
    event,
    { hidden: [], network: true, ...limits, notice: "NOTICE", signs: ["read-only file system"] },
    /** @type {any} */ (context),
  );
  if (refused !== undefined) return { refused };
  const { status, stdout, stderr } = spawnSync("bash", ["-c", event.input.command], { cwd: folder, encoding: "utf8" });
  const changed = handlers.tool_result({ toolCallId: event.toolCallId, content: [{ type: "text", text: stderr }] });
  handlers.tool_execution_end({ toolCallId: event.toolCallId });
  return { status, stdout, stderr, notice: changed?.content.at(-1).text };
});
confinement.end();
console.log(JSON.stringify(results));
