// The workflows in the documentation of the reference, from their start to DONE.

import { answer, run } from "../actions.mjs";
import { below, commandNames, documentedFiles, documentedFragments } from "../documented.mjs";
import { step, stop } from "../workflows.mjs";

const examples = documentedFiles("examples.md");
const global = Object.fromEntries(Object.entries(examples).filter(([path]) => !path.includes("/.pi/")));
const webapp = below(examples, "webapp/.pi/workflows/");
/** The documentation does not show the phases of a project's `rpir`; those of the global one have the same names. */
const project = {
  ...Object.fromEntries(Object.entries(global).filter(([path]) => path.startsWith("rpir/"))),
  ...webapp,
};
const bugfix = Object.fromEntries(
  Object.entries(documentedFiles("configuration-reference.md")).map(([name, text]) => [`bugfix/${name}`, text]),
);

const fragments = ["README.md", "docs/subworkflows.md", "skills/workflow-generation/SKILL.md"].map(documentedFragments);

/** The command names of the workflows in the documentation. */
export const COMMANDS = {
  global: commandNames(global),
  project: commandNames(project),
  bugfix: commandNames(bugfix),
  fragments: fragments.flatMap(commandNames),
};

/** One harmless call of each built-in tool of pi. */
const TOOLS = {
  calls: [
    { name: "read", arguments: { path: "gone.txt" } },
    { name: "bash", arguments: { command: "true" } },
    { name: "edit", arguments: { path: "gone.txt", edits: [{ oldText: "a", newText: "b" }] } },
    { name: "write", arguments: { path: "new.txt", content: "new" } },
  ],
};

/**
 * Goes through workflows phase by phase. In each phase a prompt shows the context prompt, and the model calls each
 * tool.
 *
 * @param {string} name
 * @param {{ global: Record<string, string>, project?: Record<string, string> }} files
 * @param {string[]} commands
 * @param {import("../compare.mjs").Difference[]} [differs] in addition to those of every run
 * @returns {import("../play.mjs").Scenario}
 */
function walk(name, files, commands, differs = []) {
  return {
    name,
    ...files,
    model: ({ messages }) => {
      const last = messages.findLastIndex(({ role }) => role === "user");
      return [TOOLS, step("next"), stop][messages.slice(last).filter(({ role }) => role === "assistant").length];
    },
    actions: commands.map((command) => async (stage) => {
      await answer("Yes")(stage);
      const isActive = async () =>
        (await stage.rpc.entries()).findLast((entry) => entry.customType === "workflow:state").data.active;
      await run(`/workflow ${command} Add a route`)(stage);
      while (await isActive()) await run("Go on")(stage);
    }),
    differs: [...differs, 3, 5, 17, 18, 22, 25, 39],
  };
}

/** @type {import("../play.mjs").Scenario[]} */
export default [
  walk("the examples", { global }, COMMANDS.global, [
    { number: 2, reference: "(1/3 in current scope)", ours: "(1/2 in current scope)" },
    { number: 2, reference: "(2/3 in current scope)", ours: "(2/2 in current scope)" },
    14,
    59,
  ]),
  walk("the examples of a project", { global, project }, COMMANDS.project, [14, 53, 59]),
  walk("the configuration reference", { global: bugfix }, COMMANDS.bugfix),
  walk("the fragments of other pages", { global: Object.assign({}, ...fragments) }, COMMANDS.fragments, [
    { number: 2, reference: "(1/4 in current scope)", ours: "(1/1 in current scope)" },
    14,
    59,
  ]),
];
