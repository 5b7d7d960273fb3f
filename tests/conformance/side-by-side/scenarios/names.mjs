// Names of workflows, and the files that define them.

import { answer, command, files, run } from "../actions.mjs";
import { hidden, phaseFile, stop, workflow } from "../workflows.mjs";

const ask = [command("/workflow"), command("/workflow nothing Do it")];

const SOME = {
  ...workflow("b-user", ["a"], { name: "The B", commandName: "b" }),
  ...workflow("a-user", ["a"], { name: "The A", commandName: "z_9-Z" }),
  ...hidden("c-hidden", ["a"]),
};

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "no workflows at all",
    actions: ask,
    differs: [],
  },
  {
    name: "the list, and an unknown name",
    global: SOME,
    actions: [
      ...ask,
      command("/workflow   "),
      command("/workflow b"),
      command("/workflow b   \n "),
      command("/workflow B Do it"),
    ],
    differs: [
      { number: 23, reference: "Available: z_9-Z, b, ", ours: "Available: z_9-Z, b" },
      {
        number: 23,
        reference: 'workflow: "B". Available: z_9-Z, b',
        ours: 'workflow: "B". Available: z_9-Z, b\nDid you mean "b"?',
      },
    ],
  },
  {
    name: "names that begin with a colon",
    global: workflow("w", ["a"]),
    actions: [command("/workflow :status"), command("/workflow :next now")],
    differs: [
      {
        number: 28,
        at: "screen[1..]",
        reference: [
          "notify warning: Usage: /workflow :status {description}",
          'notify error: Unknown workflow: ":next". Available: w',
        ],
        ours: ["notify info: No active workflow.", "notify info: No active workflow."],
      },
    ],
  },
  {
    name: "hidden workflows by name",
    global: {
      ...SOME,
      ...hidden("named", ["a"], { commandName: "named" }),
      ...hidden("odd", ["a"], { commandName: "not a name!", initialMessage: " " }),
    },
    actions: [command("/workflow named Do it"), command("/workflow c-hidden Do it"), command("/workflow")],
    differs: [{ number: 23, reference: "Available: z_9-Z, b, , named, not a name!", ours: "Available: z_9-Z, b" }],
  },
  {
    name: "two of one command name",
    global: { ...workflow("one", ["a"], { commandName: "same" }), ...workflow("two", ["b"], { commandName: "same" }) },
    model: [stop],
    actions: [command("/workflow"), run("/workflow same Which one")],
    differs: [{ number: 23, reference: "  same — One\n  same — Two", ours: "  same — One" }, 9, 14, 18, 22, 25, 39],
  },
  {
    name: "a hidden one of the same command name as another",
    global: { ...hidden("one", ["a"], { commandName: "same" }), ...workflow("two", ["b"], { commandName: "same" }) },
    actions: [command("/workflow same Which one"), command("/workflow")],
    differs: [{ number: 23, reference: "workflows:\n  same — Two", ours: "workflows:\n" }, 9],
  },
  {
    name: "a project's workflow instead of a global one, and one more",
    global: { ...workflow("w", ["a"], { name: "Global" }), ...workflow("x", ["@w"]) },
    project: { ...workflow("w", ["b"], { name: "Project" }), ...workflow("y", ["@w", "c"]) },
    model: [stop, stop, stop],
    actions: [
      answer("Yes"),
      command("/workflow"),
      run("/workflow w One"),
      command("/cancel-workflow"),
      run("/workflow x Two"),
      command("/cancel-workflow"),
      run("/workflow y Three"),
    ],
    differs: [
      { number: 2, reference: "(1/2 in current scope)", ours: "(1/1 in current scope)" },
      3,
      5,
      14,
      59,
      17,
      18,
      22,
      25,
      39,
      53,
    ],
  },
  {
    name: "a project's and a global one of the same command name",
    global: workflow("one", ["a"], { name: "Global", commandName: "same" }),
    project: workflow("two", ["a"], { name: "Project", commandName: "same" }),
    actions: [command("/workflow")],
    differs: [
      { number: 63, reference: "  same — Global\n  same — Project", ours: "  same — Project" },
      { number: 63, at: "checked[0]", ours: /duplicate command name "same" of "one" and "two" .*; "two" is used/ },
      {
        number: 63,
        at: "printed[0..]",
        reference: [/"one" and "two"\. The first one found will be used/, /The first one found will be used/],
      },
    ],
  },
  {
    name: "a project's workflow with an error in the place of a global one",
    global: workflow("w", ["a"], { name: "Global" }),
    project: { "w/workflow.yaml": "name: [" },
    actions: ask,
    differs: [9],
  },
  {
    name: "a project's workflow with a blank field in the place of a global one",
    global: workflow("w", ["a"], { name: "Global" }),
    project: workflow("w", [{ id: "a", text: " " }], { name: "Project" }),
    actions: ask,
    differs: [
      9,
      { number: 31, reference: "Available workflows:\n", ours: "Available workflows:\n  w — Global" },
      { number: 31, reference: "Available: (none)", ours: "Available: w" },
    ],
  },
  {
    name: "a project that is not trusted",
    global: workflow("w", ["a"], { name: "Global" }),
    project: { ...workflow("w", ["b"], { name: "Project" }), ...workflow("y", ["c"]) },
    trust: false,
    actions: ask,
    differs: [
      {
        number: 10,
        reference: "  w — Project\n  y — Y",
        ours: "  w — Global\n.pi/workflows is not read: pi does not trust this project. To trust it: start pi with --approve.",
      },
      {
        number: 10,
        reference: "Available: w, y",
        ours: "Available: w\n.pi/workflows is not read: pi does not trust this project. To trust it: start pi with --approve.",
      },
    ],
  },
  {
    name: "files that change while pi runs",
    global: SOME,
    model: [stop],
    actions: [
      files({ global: { ...workflow("new", ["a"]), "a-user": undefined } }),
      command("/workflow"),
      files({ global: workflow("newer", ["a"]) }),
      run("/workflow newer Do it"),
      files({ global: { newer: undefined } }),
      command("/workflow newer Do it"),
    ],
    differs: [
      { number: 23, reference: "Available: b, , new", ours: "Available: b, new" },
      {
        number: 54,
        at: "screen[7..]",
        ours: [
          "status workflow: ⏸ newer (paused: its files cannot be read)",
          /^notify warning: ⏸ newer is paused: the files of the workflow “newer” cannot be read\./,
        ],
      },
      5,
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "folders and files that are no workflows",
    global: {
      ...workflow("w", ["a"]),
      "readme.md": "No workflow.\n",
      "empty/notes.md": "No workflow either.\n",
      "yml/workflow.yml": "name: Other ending\n",
      "upper/WORKFLOW.YAML": "name: Other case\n",
      "_shared/phase.md": phaseFile("shared"),
      ".dot/workflow.yaml": workflow("dot", ["@w"])["dot/workflow.yaml"],
    },
    actions: ask,
    differs: [
      { number: 52, at: "screen[0]", ours: "notify warning: 2 workflows have errors: /workflow :check" },
      {
        number: 52,
        at: "checked[0..]",
        ours: [/\/WORKFLOW\.YAML: .* named `workflow\.yaml`$/, /\/workflow\.yml: .* named `workflow\.yaml`$/],
      },
    ],
  },
  {
    name: "workflows in library folders",
    global: {
      ...workflow("w", ["a", "@review"]),
      ...prefix("_shared", hidden("review", ["b"])),
      ...prefix("team/tools", workflow("deep", ["c"])),
      ...prefix("team", workflow("w", ["never"])),
    },
    actions: [...ask, command("/workflow")],
    differs: [
      { number: 16, at: "checked[0]", ours: /duplicate workflow "w"/ },
      { number: 16, at: "printed[0..]", reference: Array(4).fill(/"w" references non-existent subworkflow "review"/) },
      { number: 16, reference: "Available workflows:\n", ours: "Available workflows:\n  w — W\n  deep — Deep" },
      { number: 16, reference: "Available: (none)", ours: "Available: w, deep" },
    ],
  },
  {
    name: "folders whose names mean something to JavaScript",
    global: {
      ...workflow("constructor", ["a"]),
      ...workflow("toString", ["a"]),
      ...workflow("9", ["a"], { commandName: "nine" }),
      ...workflow("10", ["a"], { commandName: "ten" }),
      "x/workflow.yaml": workflow("x", ["@__proto__"])["x/workflow.yaml"],
      // A literal key of this name would set the object's prototype.
      ...Object.fromEntries(
        Object.entries(workflow("proto", ["a"])).map(([path, text]) => [path.replace("proto", "__proto__"), text]),
      ),
    },
    actions: ask,
    differs: [
      {
        number: 12,
        reference: "workflows:\n  nine — 9\n  ten — 10\n",
        ours: "workflows:\n  ten — 10\n  nine — 9\n  proto — Proto\n",
      },
      { number: 12, reference: "Available: nine, ten, ", ours: "Available: ten, nine, proto, " },
    ],
  },
];

/**
 * @param {string} folder
 * @param {Record<string, string>} files
 */
function prefix(folder, files) {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}
