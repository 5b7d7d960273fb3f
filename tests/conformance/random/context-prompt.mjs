// Converts the prompts and tool results of the reference to those of ours.

import { ADVANCE_REMINDER, NOT_DONE, NOT_DONE_AGAIN, ORCHESTRATOR, WORKER } from "./default-texts.mjs";
import { because, replaced } from "./explained.mjs";
import { resolve } from "./place.mjs";

/** @typedef {import("./place.mjs").Place} Place */
/** @typedef {import("./visits.mjs").Visits} Visits */

/** The total number of phases in the prompt of a nested workflow. */
const OUTER_TOTAL = /(?<=\n\*\*Progress:\*\* Step \d+ \(\d+\/)\d+(?= in current scope\))/;
const WHAT_TO_DO = "**What to do in this phase:**\n";

/**
 * The maximum number of steps of a complete list. In a longer one, the number of steps listed before the current one,
 * and after it.
 */
const MAX_COMPLETE = 20;
const AROUND = 5;
/** The maximum lengths of a reminder and of the path in it, in bytes. */
const MAX_REMINDER = 300;
const MAX_PATH = 100;

/**
 * Converts the context prompt: 2 (the innermost scope), 14 (the role), 18 (all steps), 39 (tools, summary, pass), 40
 * (results).
 * @param {string} prompt
 * @param {Place} place
 * @param {Visits} visits
 * @param {boolean} delegates true if a tool for delegation is registered
 */
export function contextPrompt(prompt, place, visits, delegates) {
  const { roleInstruction, advanceReminder } = place.root.fields;
  const [wrong, right] = [place.variablesOfReference(), place.variables()];
  const innermost = (/** @type {string} */ template, /** @type {string} */ before, /** @type {string} */ after) => {
    const as = (/** @type {Record<string, string>} */ variables) => before + resolve(template, variables) + after;
    prompt = replaced(2, prompt, as(wrong), as(right));
  };
  const lastParagraph = advanceReminder ?? ADVANCE_REMINDER;
  if (place.scopes.length > 1) {
    innermost(roleInstruction ?? "", "]\n\n", "\n\n**Task:** ");
    innermost(place.phase.instructions, WHAT_TO_DO, "\n\n**Available subagent profiles");
    innermost(lastParagraph, `\n**All profiles:** ${allProfiles(prompt)}\n\n`, "");
    prompt = because(2, prompt, prompt.replace(OUTER_TOTAL, String(place.scope.phases.length)));
  }
  if (roleInstruction === undefined && !delegates) prompt = replaced(14, prompt, ORCHESTRATOR, WORKER);
  const results = visits.results(place);
  const pass = visits.pass(place.state);
  prompt = replaced(18, prompt, WHAT_TO_DO, `${allSteps(place)}\n\n${WHAT_TO_DO}`);
  if (results) prompt = replaced(40, prompt, WHAT_TO_DO, `${results}\n\n${WHAT_TO_DO}`);
  const inputs = Object.entries(place.inputs())
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");
  if (inputs) prompt = replaced(60, prompt, "\n\n**All steps:**", `\n**Inputs:** ${inputs}\n\n**All steps:**`);
  if (pass > 1) prompt = replaced(39, prompt, "\n\n**All steps:**", `\n**Pass:** ${pass}\n\n**All steps:**`);
  prompt = replaced(39, prompt, "\n**All profiles:** \n", "\n**All profiles:** (none)\n");
  const end = `\n\n${resolve(lastParagraph, right)}`;
  if (!prompt.endsWith(end)) return prompt;
  const begin = `${prompt.slice(0, -end.length)}\n**Tools in this phase:** ${toolsRule(place)}\n${handOverLine(place)}`;
  prompt = because(39, prompt, `${begin}${end}`);
  return place.phase.outcomes ? because(61, prompt, `${begin}\n\n${OUTCOMES}\n${outcomeLines(place)}${end}`) : prompt;
}

const OUTCOMES = "**Outcomes:** with `next`, give workflow_step one of these as `outcome`:";

/** Returns the list of the outcomes of the phase. @param {Place} place */
function outcomeLines({ phase: { outcomes = {} } }) {
  const lines = Object.entries(outcomes).map(
    ([name, target]) => `- \`${name}\`: ${target === "next" ? "the next phase" : "the end of this workflow"}`,
  );
  return lines.join("\n");
}

/**
 * 61: returns the result of `next` without an outcome of the phase.
 * @param {Place} place
 * @param {any} input
 */
export function outcomeMissing(place, input) {
  const title = `${place.phase.emoji} ${place.phase.name}`;
  const given = typeof input?.outcome === "string" ? input.outcome.trim() : "";
  const found =
    given === "" ? `The phase ${title} is left with an outcome` : `\`${given}\` is no outcome of the phase ${title}`;
  const text = `⚠️ ${found}. Call workflow_step with action='next' again and give it an \`outcome\`:\n${outcomeLines(place)}`;
  return { text, details: { active: true, error: "outcome required" } };
}

/**
 * 61: adds the outcome with which the phase was left.
 * @param {any} answer
 * @param {string | undefined} outcome
 */
export function withOutcome(answer, outcome) {
  if (outcome === undefined) return answer;
  const text = answer.text.replace(
    /^✓ (.*?): /,
    (/** @type {string} */ _, /** @type {string} */ verb) => `✓ ${verb} with \`${outcome}\`: `,
  );
  return because(61, answer, { ...answer, text, details: { ...answer.details, outcome } });
}

/** @param {string} prompt */
const allProfiles = (prompt) => /\n\*\*All profiles:\*\* (.*)\n\n/.exec(prompt)?.[1] ?? "";

/**
 * Returns the line about the tools that the phase allows.
 * @param {Place} place
 */
export function toolsRule({ phase: { tools } }) {
  const others = (/** @type {string[]} */ names) => names.filter((name) => name !== "workflow_step").join(", ");
  const rule = () => {
    if (tools?.whitelist) {
      const names = others(tools.whitelist);
      return names ? `only ${names}; a call of any other is refused` : "none; every call is refused";
    }
    const names = others(tools?.blacklist ?? []);
    return names ? `all except ${names}; a call of one of those is refused` : "all";
  };
  return `${rule()}. workflow_step always works.`;
}

/** @param {Place} place */
function handOverLine({ phase: { summary } }) {
  const required = "this phase cannot be left without a summary: give";
  const begin = summary === "required" ? required : "what later phases must know, give";
  return `**Hand-over:** ${begin} workflow_step a \`summary\` of at most 4,000 characters.`;
}

/**
 * Returns the reminder that replaces a context prompt that the model already has in its context.
 * @param {Place} place
 */
export function reminder(place) {
  const { phase, root } = place;
  const path = `[Workflow path: ${place.variables().breadcrumbPath} ▸ ${phase.emoji} ${phase.name}]`;
  const { current, total } = place.outline();
  const own = root.fields.advanceReminder;
  const how =
    own === undefined ? "Phase done? Call workflow_step with action='next'." : resolve(own, place.variables());
  const words = "The instructions of this phase stand above and still hold.";
  return shortened(`${shortened(path, MAX_PATH)}\nStep ${current}/${total}. ${words} ${how}`, MAX_REMINDER);
}

/**
 * @param {string} text
 * @param {number} limit in bytes
 */
function shortened(text, limit) {
  if (Buffer.byteLength(text) <= limit) return text;
  let short = "";
  for (const character of text) {
    if (Buffer.byteLength(`${short}${character}…`) > limit) break;
    short += character;
  }
  return `${short}…`;
}

/**
 * Converts the message to an agent that stops too early: it does not repeat the instructions, which are already in the
 * context, and is short if the agent was told in this phase before.
 * @param {string} text
 * @param {Place | undefined} place
 * @param {boolean} again
 */
export function notDone(text, place, again) {
  if (!place) return text;
  const { root, phase, state } = place;
  const told = (/** @type {string} */ phaseInstructions, byDefault = NOT_DONE) =>
    resolve(root.fields.notDoneReminder ?? byDefault, {
      workflowName: root.fields.name,
      phaseName: phase.name,
      phaseEmoji: phase.emoji,
      phaseInstructions,
      taskDescription: state.taskDescription,
      taskId: state.taskId,
      workflowKey: state.workflowKey,
    });
  if (text !== told(phase.instructions)) return text;
  if (everyRun(place)) return because(1, text, told(resolve(phase.instructions, place.variables())));
  return because(38, text, told("(as given for this phase)", again ? NOT_DONE_AGAIN : NOT_DONE));
}

/** Returns true if the workflow injects the context prompt in every agent run. @param {Place} place */
export const everyRun = ({ root }) => root.fields.contextInjection === "everyRun";

/**
 * Converts the result of `next` or `loop`: 38 (the whole prompt), 18 (the position).
 * @param {any} answer
 * @param {Place} place the place after the transition
 * @param {string} prompt
 */
export function moved(answer, place, prompt) {
  const { name, instructions } = place.phase;
  const alone = `\n\n**What to do in ${name}:**\n${instructions}`;
  if (!answer.text.endsWith(alone)) return answer;
  const head = answer.text.slice(0, -alone.length);
  const where = answer.details.advanced ? `${because(18, "", position(place))}\n\n` : "";
  return because(38, answer, { ...answer, text: `${head}\n\n${where}${prompt}` });
}

/**
 * Returns the block that lists all steps.
 * @param {Place} place
 */
function allSteps(place) {
  const steps = place.steps();
  const { current } = place.outline();
  const isListed = (/** @type {number} */ number) => {
    return (
      steps.length <= MAX_COMPLETE || number === 1 || number === steps.length || Math.abs(number - current) <= AROUND
    );
  };
  const lines = [];
  for (let number = 1; number <= steps.length; number += 1) {
    let next = number;
    while (!isListed(next)) next += 1;
    if (next - number > 1) {
      lines.push(`  … ${next - number} ${number < current ? "earlier" : "later"} steps`);
      number = next;
    }
    const isCurrent = number === current;
    lines.push(`${isCurrent ? "▸" : " "} ${number}. ${steps[number - 1]}${isCurrent ? " (current)" : ""}`);
  }
  return `**All steps:**\n${lines.join("\n")}`;
}

/**
 * Returns the block with the previous, the current and the next step.
 * @param {Place} place
 */
function position(place) {
  const steps = place.steps();
  const { current, total } = place.outline();
  return [
    `**Previous:** ${steps[current - 2] ?? "(start)"}`,
    `**Current:** ${steps[current - 1] ?? ""} (${current}/${total})`,
    `**Next:** ${steps[current] ?? "DONE"}`,
  ].join("\n");
}
