// A model that does what the workflows of the package tell it.

import { messageText } from "./scripted-model.mjs";

/** The phase of the agent to which a request belongs. @param {import("./scripted-model.mjs").ChatRequest} request */
export const phaseOf = (request) => {
  const paths = request.messages
    .map(messageText)
    .join("\n")
    .matchAll(/\[Workflow path: [^\]]*▸ \S+ ([^\]]+)\]/g);
  return [...paths].at(-1)?.[1] ?? "";
};

/**
 * A model that leaves each phase as it is told, after these calls there.
 *
 * @param {Record<string, { outcome?: string, outputs?: object }>} ways by the name of the phase
 * @param {Record<string, ({ name: string, arguments: object } | null)[]>} [work] the calls by the name of the phase; at
 *   `null` it is left
 */
export const model =
  (ways, work = {}) =>
  (/** @type {import("./scripted-model.mjs").ChatRequest} */ request) => {
    const last = request.messages.at(-1);
    const told = last ? messageText(last) : "";
    if (last?.role === "tool" && /→ (DONE|the end of the branch)|is paused|was stopped/.test(told))
      return { text: "All done." };
    const phase = phaseOf(request);
    const call = work[phase]?.shift();
    if (call) return { calls: [call] };
    const way = { action: "next", summary: `Left ${phase}.`, ...ways[phase] };
    return { calls: [{ name: "workflow_step", arguments: way }] };
  };
