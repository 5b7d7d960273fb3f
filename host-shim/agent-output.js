// Tells of the agent's output, as pi reports it.
import { json } from "./json.js";

/**
 * Calls a function at each new output of the agent: not for an event that brings no byte, such as the repeated result of a tool.
 * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
 * @param {() => void} onOutput
 */
export function watchOutput(pi, onOutput) {
  /** The newest result of each call that runs. @type {Map<string, string>} */
  const results = new Map();
  pi.on("message_update", ({ assistantMessageEvent: part }) => {
    if (!("delta" in part) || part.delta !== "") onOutput();
  });
  pi.on("tool_execution_update", ({ toolCallId, partialResult }) => {
    const result = json(partialResult?.content);
    if (results.get(toolCallId) === result) return;
    results.set(toolCallId, result);
    onOutput();
  });
  pi.on("tool_execution_start", onOutput);
  pi.on("tool_execution_end", ({ toolCallId }) => {
    results.delete(toolCallId);
    onOutput();
  });
  pi.on("message_start", onOutput);
  pi.on("message_end", onOutput);
  pi.on("agent_end", () => results.clear());
}
