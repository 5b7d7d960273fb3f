// Workflow files and model steps for scenarios.

/**
 * A phase: its id, or its front matter with the instructions as `text`. `@key` is a nested workflow.
 *
 * @typedef {string | { id?: string, text?: string, [field: string]: unknown }} PhaseSpec
 * @typedef {Record<string, string>} Files
 */

/**
 * Returns the files of a workflow. Its command name is its key by default; an undefined value in `fields` omits the
 * field.
 *
 * @param {string} key
 * @param {PhaseSpec[]} phases
 * @param {Record<string, unknown>} [fields]
 * @returns {Files}
 */
export function workflow(key, phases, fields = {}) {
  const names = phases.map((phase, index) => {
    if (typeof phase === "string" && phase.startsWith("@")) return { subworkflow: phase.slice(1) };
    return `${index + 1}.md`;
  });
  const defaults = { name: title(key), commandName: key, initialMessage: "Begin with {firstPhaseName}: {description}" };
  const files = phases.flatMap((phase, index) =>
    typeof names[index] === "string" ? [[`${key}/${names[index]}`, phaseFile(phase)]] : [],
  );
  return { [`${key}/workflow.yaml`]: yaml({ ...defaults, ...fields, phases: names }), ...Object.fromEntries(files) };
}

/**
 * Returns the files of a workflow that can only be nested.
 *
 * @param {string} key
 * @param {PhaseSpec[]} phases
 * @param {Record<string, unknown>} [fields]
 */
export const hidden = (key, phases, fields = {}) =>
  workflow(key, phases, { show: "workflows", commandName: undefined, initialMessage: undefined, ...fields });

/** @param {PhaseSpec} spec */
export function phaseFile(spec) {
  const { text, ...fields } = typeof spec === "string" ? { id: spec, text: undefined } : spec;
  return `---\n${yaml({ name: title(fields.id ?? "x"), emoji: "🔹", ...fields })}---\n\n${text ?? `Do ${fields.id}.`}\n`;
}

/** @param {Record<string, unknown>} fields */
function yaml(fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  // JSON is valid YAML.
  return given.map(([field, value]) => `${field}: ${JSON.stringify(value)}\n`).join("");
}

/** @param {string} key */
function title(key) {
  return key[0].toUpperCase() + key.slice(1);
}

/** @typedef {import("../pi/harness/scripted-model.mjs").Step} Step */

/**
 * The model calls `workflow_step` with these actions, all in one answer.
 * @param {...("next" | "status" | "loop" | "cancel")} actions
 * @returns {Step}
 */
export const step = (...actions) => ({
  calls: actions.map((action) => ({ name: "workflow_step", arguments: { action } })),
});

/**
 * The model calls a tool.
 * @param {string} name
 * @param {unknown} parameters
 * @returns {Step}
 */
export const use = (name, parameters) => ({ calls: [{ name, arguments: parameters }] });

/**
 * The model says something and stops.
 * @param {string} text
 * @returns {Step}
 */
export const say = (text) => ({ text });

/** The model stops. @type {Step} */
export const stop = { text: "I stop." };

/** The model sends a text and does not end its answer. @type {Step} */
export const working = { text: "Working on it", hang: true };
