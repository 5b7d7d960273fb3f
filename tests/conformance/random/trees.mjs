// Random trees of nested workflows: generates them, writes them to files, shrinks them.

import { without } from "./shrink.mjs";

/**
 * @typedef {object} Phase
 * @property {string} id
 * @property {string} name
 * @property {string} emoji
 * @property {string} instructions unique to each phase
 * @property {{ blacklist?: string[], whitelist?: string[] }} [tools]
 * @property {string[]} [availableProfiles]
 * @property {"required"} [summary] of ours only
 * @property {Record<string, "next" | "done">} [outcomes] of ours only; none leads back or past a phase
 *
 * @typedef {{ subworkflow: string, when?: Record<string, string[]>, with?: Record<string, string> }} Reference `when`
 *   holds; it
 *   and `with` are of ours only
 * @typedef {Phase | Reference} Entry
 *
 * @typedef {object} Workflow
 * @property {string} key
 * @property {"global" | "project"} root
 * @property {Fields} fields the fields of its `workflow.yaml`, without `phases`
 * @property {Entry[]} phases
 *
 * @typedef {object} Fields
 * @property {string} name
 * @property {string} [commandName]
 * @property {string} [initialMessage]
 * @property {"user" | "workflows"} [show]
 * @property {boolean} [loopable]
 * @property {string} [sessionNamePrefix]
 * @property {number} [sessionNameMaxLength]
 * @property {string} [roleInstruction]
 * @property {string} [advanceReminder]
 * @property {string} [blockReasonTemplate]
 * @property {string} [completionMessage]
 * @property {string} [notDoneReminder]
 * @property {false | { maxPerPhase?: number, maxIdle?: number }} [autoContinue] of ours only
 * @property {number} [maxLoops] of ours only
 * @property {"everyRun"} [contextInjection] of ours only
 * @property {Record<string, { type: string, options?: string[], default?: string }>} [inputs] of ours only; all have
 *   defaults
 * @property {"pause" | "next"} [onMaxLoops] of ours only
 *
 * @typedef {Workflow[]} Tree
 */

export const TOOLS = ["read", "bash", "edit", "write", "grep", "delegate_to_subagents", "workflow_step"];

const MAX_PHASES = 30;
const MAX_DEPTH = 4;
const KEYS = ["alpha", "beta", "Gamma", "delta-4", "_epsilon", "zeta.7", "eta eta", "θ", "v1"];
const WORDS = 'plan|Build it|check & sign|«Ship»|a "quoted" name|O\'Neill|{phaseName}|x > y|🚀 go|ünï'.split("|");
const EMOJIS = ["🔹", "⚙️", "👩‍💻", "!", "[x]"];
const PROFILES = ["planner", "coder", "reviewer", "a, b", "7"];
const VARIABLES = [
  ..."workflowName workflowKey description taskDescription taskId".split(" "),
  ..."phaseId phaseName phaseEmoji phaseInstructions".split(" "),
  ..."previousPhaseName nextPhaseName blockedToolsList allowedTools toolName breadcrumbPath".split(" "),
  ..."globalStepCount phaseCount firstPhaseId firstPhaseName firstPhaseEmoji firstPhaseProfiles".split(" "),
  ..."unknown __proto__ constructor é".split(" "),
];

/** @param {Entry} entry @returns {entry is Phase} */
export const isPhase = (entry) => "id" in entry;

/**
 * Generates workflows; each may nest those generated before it.
 * @param {import("./choices.mjs").Choices} choices
 * @returns {Tree}
 */
export function makeTree(choices) {
  const large = choices.chance(0.08);
  const count = large
    ? choices.between(3, 5)
    : choices.weighted([
        [3, 1],
        [4, 2],
        [4, 3],
        [2, 5],
        [1, 8],
      ]);
  let phasesLeft = large
    ? MAX_PHASES
    : choices.weighted([
        [4, 6],
        [3, 12],
      ]);
  const keys = shuffled(KEYS, choices).slice(0, count);
  /** @type {Map<string, number>} */
  const depths = new Map();
  /** @type {Tree} */
  const tree = [];
  for (const [index, key] of keys.entries()) {
    const most = Math.ceil(phasesLeft / (count - index));
    const length = large ? Math.max(1, most) : choices.between(1, Math.max(1, Math.min(6, most)));
    const fields = makeFields(choices, index);
    /** @type {Entry[]} */
    const phases = choices.list(length, () => {
      const nested = tree.filter((other) => (depths.get(other.key) ?? 0) < MAX_DEPTH - 1);
      if (nested.length > 0 && choices.chance(0.4)) return makeReference(choices, choices.pick(nested), fields);
      phasesLeft -= 1;
      return makePhase(choices, `${keys.indexOf(key)}.${phasesLeft}`);
    });
    const last = phases[phases.length - 1];
    if (isPhase(last) && last.outcomes && choices.chance(0.5)) last.outcomes.ok = "done";
    const below = phases.map((entry) => (isPhase(entry) ? -1 : (depths.get(entry.subworkflow) ?? 0)));
    depths.set(key, Math.max(...below) + 1);
    const root = choices.chance(0.75) ? "global" : "project";
    tree.push({ key, root, fields, phases });
  }
  if (choices.chance(0.1)) {
    const replaced = choices.pick(tree);
    const root = replaced.root === "global" ? "project" : "global";
    // The workflows that nest it may give it values.
    const { inputs: _inputs, ...fields } = makeFields(choices, tree.length);
    const { inputs } = replaced.fields;
    tree.push({
      ...replaced,
      root,
      fields: { ...fields, ...(inputs && { inputs }) },
      phases: [makePhase(choices, "other")],
    });
  }
  // 63: the two packages start different ones of a global and a project's workflow of one command name.
  for (const { root, fields } of tree) {
    if (root === "project" && fields.commandName === "same") fields.commandName = "same-of-project";
  }
  return tree;
}

/**
 * @param {import("./choices.mjs").Choices} choices
 * @param {string} mark unique to each phase
 * @returns {Phase}
 */
function makePhase(choices, mark) {
  const id = `p${mark.replace(".", "-")}`;
  const tools = choices.weighted([
    [3, undefined],
    [2, { blacklist: choices.some(TOOLS, 0.4) }],
    [2, { whitelist: choices.some(TOOLS, 0.4) }],
  ]);
  return {
    id,
    name: choices.chance(0.7) ? `Phase ${mark}` : choices.pick(WORDS),
    emoji: choices.pick(EMOJIS),
    instructions: [`Do ${mark}:`, makeTemplate(choices), makeTemplate(choices)].join("\n").trim(),
    ...(tools && { tools }),
    ...(choices.chance(0.4) && { availableProfiles: choices.some(PROFILES, 0.4) }),
    ...(choices.chance(0.05) && { summary: /** @type {const} */ ("required") }),
    ...(choices.chance(0.08) && { outcomes: makeOutcomes(choices) }),
  };
}

/** @param {import("./choices.mjs").Choices} choices @returns {Record<string, "next" | "done">} */
const makeOutcomes = (choices) => (choices.chance(0.5) ? { ok: "next" } : { ok: "next", "so-so": "next" });

/**
 * @param {import("./choices.mjs").Choices} choices
 * @param {Workflow} nested
 * @param {Fields} fields of the workflow that nests it
 * @returns {Reference}
 */
function makeReference(choices, { key, fields: { inputs = {} } }, fields) {
  const own = Object.entries(fields.inputs ?? {}).filter(([, input]) => input.default !== undefined);
  const [condition] = own.filter(() => choices.chance(0.3));
  const given = Object.keys(inputs).filter((name) => name === "scope" && choices.chance(0.5));
  return {
    subworkflow: key,
    ...(condition && {
      when: {
        [`input.${condition[0]}`]: [
          /** @type {string} */ (condition[1].default),
          condition[1].type === "number" ? "4" : "web",
        ],
      },
    }),
    ...(given.length > 0 && { with: { scope: fields.inputs?.scope ? "{input.scope}" : "web" } }),
  };
}

/**
 * @param {import("./choices.mjs").Choices} choices
 * @param {number} index
 * @returns {Fields}
 */
function makeFields(choices, index) {
  const hidden = choices.chance(0.15);
  const template = (/** @type {keyof Fields} */ field) => choices.chance(0.3) && { [field]: makeTemplate(choices) };
  return {
    name: choices.chance(0.5) ? `Workflow ${index}` : choices.pick(WORDS),
    ...((!hidden || choices.chance(0.5)) && { commandName: choices.chance(0.9) ? `c${index}` : "same" }),
    ...((!hidden || choices.chance(0.5)) && { initialMessage: makeTemplate(choices) || "Begin" }),
    ...(hidden ? { show: "workflows" } : choices.chance(0.2) && { show: "user" }),
    ...(choices.chance(0.4) && { loopable: choices.chance(0.5) }),
    ...(choices.chance(0.2) && { sessionNamePrefix: choices.pick(["", "W: ", "🔍"]) }),
    ...(choices.chance(0.3) && { sessionNameMaxLength: choices.pick([0, 1, 3, 5, 7.5, 50, 1e6]) }),
    ...template("roleInstruction"),
    ...template("advanceReminder"),
    ...template("blockReasonTemplate"),
    ...template("completionMessage"),
    ...template("notDoneReminder"),
    ...(choices.chance(0.2) && { autoContinue: makeAutoContinue(choices) }),
    ...(choices.chance(0.2) && { maxLoops: choices.between(0, 3) }),
    ...(choices.chance(0.1) && { contextInjection: /** @type {const} */ ("everyRun") }),
    ...(choices.chance(0.1) && { inputs: makeInputs(choices) }),
    ...(choices.chance(0.05) && { onMaxLoops: choices.pick(/** @type {const} */ (["pause", "next"])) }),
  };
}

/** @param {import("./choices.mjs").Choices} choices @returns {NonNullable<Fields["inputs"]>} */
function makeInputs(choices) {
  const scope = { type: "choice", options: ["api", "web"], default: "api" };
  return choices.chance(0.5) ? { scope } : { scope, dry: { type: "flag" }, count: { type: "number", default: "3" } };
}

/** @param {import("./choices.mjs").Choices} choices */
function makeAutoContinue(choices) {
  if (choices.chance(0.2)) return false;
  const bound = (/** @type {string} */ field, /** @type {number} */ most) =>
    choices.chance(0.5) && { [field]: choices.between(0, most) };
  const bounds = { ...bound("maxPerPhase", 3), ...bound("maxIdle", 4) };
  // 64: without a bound ours has an error.
  return Object.keys(bounds).length > 0 ? bounds : { maxIdle: 3 };
}

/** @param {import("./choices.mjs").Choices} choices */
function makeTemplate(choices) {
  return choices
    .list(choices.between(0, 4), () => (choices.chance(0.7) ? `{${choices.pick(VARIABLES)}}` : choices.pick(WORDS)))
    .join(choices.pick([" ", "", "\n", "\n\n", "{", "$& "]));
}

/**
 * Returns the depth of nesting of a workflow; 1 if it nests none.
 * @param {Tree} tree
 * @param {string} key
 * @returns {number}
 */
export function depthOf(tree, key) {
  const { phases } = tree.find((workflow) => workflow.key === key) ?? { phases: [] };
  return 1 + Math.max(0, ...phases.map((entry) => (isPhase(entry) ? 0 : depthOf(tree, entry.subworkflow))));
}

/**
 * @template T
 * @param {readonly T[]} values
 * @param {import("./choices.mjs").Choices} choices
 */
function shuffled(values, choices) {
  const rest = [...values];
  return values.map(() => rest.splice(choices.between(0, rest.length - 1), 1)[0]);
}

/**
 * Returns the files of a tree for `writeWorkflows`. JSON is valid YAML.
 * @param {Tree} tree
 */
export function filesOf(tree) {
  /** @type {Record<string, string>} */
  const files = {};
  for (const { key, root, fields, phases } of tree) {
    const entries = phases.map((entry, index) => (isPhase(entry) ? `${index}.md` : entry));
    files[`${root}/${key}/workflow.yaml`] = JSON.stringify({ ...fields, phases: entries });
    for (const [index, entry] of phases.entries()) {
      if (!isPhase(entry)) continue;
      const { instructions, ...frontMatter } = entry;
      files[`${root}/${key}/${index}.md`] = `---\n${JSON.stringify(frontMatter)}\n---\n${instructions}\n`;
    }
  }
  return files;
}

/**
 * Returns the workflows of a tree that both packages load, in their order: the project's workflow where a key occurs
 * twice, and none that refers to a missing one.
 * @param {Tree} tree
 */
export function loadable(tree) {
  let loaded = oneOfEachKey(tree);
  for (;;) {
    const keys = new Set(loaded.map(({ key }) => key));
    const rest = loaded.filter(({ phases }) => phases.every((entry) => isPhase(entry) || keys.has(entry.subworkflow)));
    if (rest.length === loaded.length) return loaded;
    loaded = rest;
  }
}

/**
 * Returns the command names of the workflows that neither package loads.
 * @param {Tree} tree
 */
export function namesLeftOut(tree) {
  const loaded = loadable(tree);
  const leftOut = oneOfEachKey(tree).filter((workflow) => !loaded.includes(workflow));
  return leftOut.map(({ key, fields }) => fields.commandName ?? key);
}

/**
 * Returns the workflows in their order, with the project's where a key occurs twice.
 * @param {Tree} tree
 */
function oneOfEachKey(tree) {
  const ofRoot = (/** @type {string} */ root) =>
    tree.filter((workflow) => workflow.root === root).sort((a, b) => (a.key < b.key ? -1 : 1));
  const all = [...ofRoot("global"), ...ofRoot("project")];
  return [...new Map(all.map((workflow) => [workflow.key, workflow])).values()];
}

/**
 * Removes the workflows that refer to one that neither package loads: the reference keeps them (difference 33).
 * @param {Tree} tree
 */
export function withoutBrokenChains(tree) {
  const keys = new Set(tree.map(({ key }) => key));
  const loaded = new Set(loadable(tree).map(({ key }) => key));
  return tree.filter(
    ({ key, phases }) => loaded.has(key) || phases.some((entry) => !isPhase(entry) && !keys.has(entry.subworkflow)),
  );
}

/**
 * @param {Tree} tree
 * @returns {Generator<Tree>}
 */
export function* smallerTrees(tree) {
  for (const rest of without(tree)) yield withoutDangling(rest);
  for (const [at, workflow] of tree.entries()) {
    const instead = (/** @type {Partial<Workflow>} */ change) => tree.with(at, { ...workflow, ...change });
    for (const phases of without(workflow.phases)) if (phases.length > 0) yield instead({ phases });
    for (const [index, entry] of workflow.phases.entries()) {
      if (!isPhase(entry)) {
        const { subworkflow, ...more } = entry;
        if (Object.keys(more).length > 0) yield instead({ phases: workflow.phases.with(index, { subworkflow }) });
        continue;
      }
      for (const smaller of smallerPhases(entry)) yield instead({ phases: workflow.phases.with(index, smaller) });
    }
    if (workflow.root !== "global") yield instead({ root: "global" });
    for (const field of Object.keys(workflow.fields)) {
      if (field === "name" || field === "commandName" || field === "initialMessage") continue;
      const { [/** @type {keyof Fields} */ (field)]: _dropped, ...fields } = workflow.fields;
      yield instead({ fields: /** @type {Fields} */ (fields) });
    }
    const { initialMessage } = workflow.fields;
    if (initialMessage && initialMessage !== "Go")
      yield instead({ fields: { ...workflow.fields, initialMessage: "Go" } });
  }
}

/**
 * @param {Phase} phase
 * @returns {Generator<Phase>}
 */
function* smallerPhases(phase) {
  for (const field of /** @type {const} */ (["tools", "availableProfiles", "summary", "outcomes"])) {
    const { [field]: dropped, ...rest } = phase;
    if (dropped) yield rest;
  }
  const [plain] = phase.instructions.split("\n");
  if (plain !== phase.instructions) yield { ...phase, instructions: plain };
}

/**
 * Removes dangling references, and the workflows that are then empty.
 * @param {Tree} tree
 * @returns {Tree}
 */
function withoutDangling(tree) {
  const keys = new Set(tree.map(({ key }) => key));
  const rest = tree
    .map((workflow) => ({
      ...workflow,
      phases: workflow.phases.filter((entry) => isPhase(entry) || keys.has(entry.subworkflow)),
    }))
    .filter(({ phases }) => phases.length > 0);
  return rest.length === tree.length ? rest : withoutDangling(rest);
}
