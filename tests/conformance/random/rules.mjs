// The parts of workflow files that must not change during a run (difference 54).

import { isPhase } from "./trees.mjs";

/**
 * Returns the rules of a workflow and of its nested workflows as JSON; `undefined` if the workflow does not exist. The
 * defaults are those of the documentation.
 *
 * @param {import("./trees.mjs").Tree} tree
 * @param {string} key
 */
export function rulesOf(tree, key) {
  const workflows = new Map(tree.map((workflow) => [workflow.key, workflow]));
  if (!workflows.has(key)) return undefined;
  const reached = new Set([key]);
  const rules = [];
  for (const name of reached) {
    const workflow = workflows.get(name);
    if (!workflow) continue;
    const { root, fields, phases } = workflow;
    const { autoContinue = {}, maxLoops = 20, loopable = true } = fields;
    const bounds = autoContinue && { delaySeconds: 3, maxPerPhase: 10, maxIdle: 3, ...autoContinue };
    const entries = phases.map((entry) => {
      if (!isPhase(entry)) return reached.add(entry.subworkflow) && entry.subworkflow;
      const { id, tools, summary, outcomes } = entry;
      const whitelist = tools?.whitelist && [...new Set(tools.whitelist)].sort();
      const blacklist = tools?.blacklist && [...new Set(tools.blacklist)].sort();
      return { id, whitelist, blacklist: whitelist ? undefined : blacklist, summary, outcomes };
    });
    rules.push({ name, root, bounds, maxLoops, loopable, entries });
  }
  return JSON.stringify(rules);
}
