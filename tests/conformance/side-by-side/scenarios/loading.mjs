// Loading workflows: every rule that rejects one, and files that are accepted.

import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { command, files, run } from "../actions.mjs";
import { hidden, phaseFile, stop, workflow } from "../workflows.mjs";

const GOOD = workflow("good", ["a"]);

/** Lists the workflows that can be started. */
const ask = [command("/workflow"), command("/workflow ? Do it")];

/**
 * Valid workflows with some fields changed.
 * @param {Record<string, Record<string, unknown>>} changes by key
 * @returns {Record<string, string>}
 */
const withFields = (changes) =>
  Object.assign({}, GOOD, ...Object.entries(changes).map(([key, fields]) => workflow(key, ["a"], fields)));

/**
 * Workflows with one valid phase, some of whose front matter is changed.
 * @param {Record<string, Record<string, unknown>>} changes by key
 * @returns {Record<string, string>}
 */
const withPhase = (changes) =>
  Object.assign({}, GOOD, ...Object.entries(changes).map(([key, phase]) => workflow(key, [{ id: "a", ...phase }])));

/**
 * Workflows with these phase files.
 * @param {Record<string, string>} texts by key
 * @returns {Record<string, string>}
 */
const withPhaseText = (texts) =>
  Object.assign(
    {},
    GOOD,
    ...Object.entries(texts).map(([key, text]) => ({ ...workflow(key, ["a"]), [`${key}/1.md`]: text })),
  );

/**
 * Workflows with these entries of `phases`, beside a file `a.md`.
 * @param {Record<string, unknown>} entries by key
 * @returns {Record<string, string>}
 */
const withEntries = (entries) =>
  Object.assign(
    {},
    GOOD,
    ...Object.entries(entries).map(([key, phases]) => ({
      [`${key}/workflow.yaml`]: `name: ${key}\ncommandName: ${key}\ninitialMessage: Go\nphases: ${JSON.stringify(phases)}\n`,
      [`${key}/a.md`]: phaseFile("a"),
    })),
  );

/**
 * Workflows whose `workflow.yaml` is a valid beginning followed by these texts.
 * @param {Record<string, string>} texts by key
 * @returns {Record<string, string>}
 */
const withYaml = (texts) =>
  Object.assign(
    {},
    GOOD,
    ...Object.entries(texts).map(([key, text]) => ({
      [`${key}/workflow.yaml`]: `name: ${key}\ncommandName: ${key}\ninitialMessage: Go\n${text}`,
      [`${key}/a.md`]: phaseFile("a"),
    })),
  );

/**
 * Returns actions that replace all workflow files with these and list the workflows that can be started.
 * @param {Record<string, string>} global
 */
const load = (global) => [files({ global: { "": undefined, ...global } }), ...ask];

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "fields of workflow.yaml",
    actions: [
      ...load({
        ...withFields({
          "no-name": { name: undefined },
          "no-command": { commandName: undefined },
          "no-message": { initialMessage: undefined },
        }),
        ...hidden("hidden-no-name", ["a"], { name: undefined }),
        ...hidden("hidden-fine", ["a"]),
        "no-phases/workflow.yaml": "name: N\ncommandName: n\ninitialMessage: Go\n",
      }),
      ...load(
        withFields({
          "empty-name": { name: "" },
          "blank-name": { name: " \t" },
          "empty-command": { commandName: "" },
          "empty-message": { initialMessage: "" },
          "blank-message": { initialMessage: "\n " },
        }),
      ),
      ...load(
        withFields({
          "number-name": { name: 7 },
          "list-command": { commandName: ["x"] },
          "true-message": { initialMessage: true },
          "null-name": { name: null },
        }),
      ),
      ...load(
        withFields({
          space: { commandName: "two words" },
          umlaut: { commandName: "grün" },
          slash: { commandName: "a/b" },
          fine: { commandName: "Fine_1-2" },
          digits: { commandName: "123" },
        }),
      ),
    ],
    differs: [9, { number: 23, reference: "Available: good, ", ours: "Available: good" }],
  },
  {
    name: "phases of workflow.yaml",
    actions: [
      ...load(
        withEntries({
          none: [],
          text: "a.md",
          number: ["a.md", 7],
          nothing: [null],
          list: [["a.md"]],
          other: [{ workflow: "good" }],
          blank: [{ subworkflow: " " }],
          typed: [{ subworkflow: 7 }],
        }),
      ),
      ...load({
        ...withEntries({
          gone: ["a.md", "b.md"],
          up: ["../../outside.md"],
          absolute: ["/etc/hostname"],
          folder: ["."],
          root: [".."],
          shared: ["../_shared/x.md", "./a.md", "sub/../a2.md", "sub/b.md"],
        }),
        "_shared/x.md": phaseFile("x"),
        "shared/a2.md": phaseFile("a2"),
        "shared/sub/b.md": phaseFile("b"),
      }),
    ],
    differs: [9],
  },
  {
    name: "phase files",
    actions: [
      ...load(
        withPhaseText({
          none: "Do it.\n",
          unclosed: "---\nid: a\nname: A\nemoji: 1\nDo it.\n",
          empty: "---\n---\nDo it.\n",
          scalar: "---\njust text\n---\nDo it.\n",
          invalid: "---\nid: [\n---\nDo it.\n",
          twice: "---\nid: a\nid: b\nname: A\nemoji: x\n---\nDo it.\n",
        }),
      ),
      ...load(
        withPhase({
          "no-id": { id: undefined },
          "empty-name": { name: "" },
          "blank-id": { id: " " },
          "blank-emoji": { emoji: " " },
          "number-emoji": { emoji: 1 },
          "no-text": { text: " \n" },
        }),
      ),
      ...load({
        ...GOOD,
        ...workflow("ids", ["a", "b", "a"]),
        ...workflow("lists", [{ id: "a", tools: { whitelist: ["read"], blacklist: ["bash"] } }]),
        ...workflow("empty", [{ id: "a", tools: { whitelist: [], blacklist: [] } }]),
        ...workflow("twice", ["a", "@good", "@good"]),
      }),
    ],
    differs: [9],
  },
  {
    name: "show, loopable and tools of another type",
    global: {
      ...withFields({
        show: { show: "never" },
        "show-list": { show: ["workflows"] },
        loop: { loopable: "no" },
        "loop-number": { loopable: 0 },
        "show-user": { show: "user" },
      }),
      ...withPhase({ list: { tools: ["read"] }, text: { tools: "read" }, inner: { tools: { whitelist: "read" } } }),
    },
    actions: ask,
    differs: [
      { number: 21, at: "screen[0]", ours: "notify warning: 7 workflows have errors: /workflow :check" },
      { number: 21, at: "checked[0..]", ours: Array(7).fill(/: `(show|loopable|tools|tools.whitelist)`: expected /) },
      {
        number: 21,
        reference:
          "  good — Good\n  inner — Inner\n  list — List\n  loop — Loop\n  loop-number — Loop-number\n  show — Show\n  show-list — Show-list\n  show-user — Show-user\n  text — Text",
        ours: "  good — Good\n  show-user — Show-user",
      },
      {
        number: 21,
        reference: "good, inner, list, loop, loop-number, show, show-list, show-user, text",
        ours: "good, show-user",
      },
    ],
  },
  {
    name: "rules without a value",
    global: {
      ...withFields({ show: { show: null }, loop: { loopable: null } }),
      ...withPhase({
        tools: { tools: null },
        none: { tools: {} },
        list: { tools: { whitelist: null } },
        empty: { tools: { blacklist: [] } },
      }),
    },
    actions: ask,
    differs: [
      { number: 64, at: "screen[0]", ours: "notify warning: 5 workflows have errors: /workflow :check" },
      {
        number: 64,
        at: "checked[0..]",
        ours: Array(5).fill(/: `(show|loopable|tools|tools.whitelist)` has no value$/),
      },
      {
        number: 64,
        reference:
          "  empty — Empty\n  good — Good\n  list — List\n  loop — Loop\n  none — None\n  show — Show\n  tools — Tools",
        ours: "  empty — Empty\n  good — Good",
      },
      {
        number: 64,
        reference: "Available: empty, good, list, loop, none, show, tools",
        ours: "Available: empty, good",
      },
    ],
  },
  {
    name: "rules with a misspelt field",
    global: {
      ...withPhase({
        beside: { blacklist: ["bash"] },
        case: { tools: { blacklist: ["Edit"] } },
        key: { tools: { blocklist: ["bash"] } },
        spelling: { Tools: { blacklist: ["bash"] } },
      }),
      ...withFields({ place: { tools: { blacklist: ["bash"] } } }),
    },
    actions: ask,
    differs: [
      { number: 52, at: "screen[0]", ours: "notify warning: 5 workflows have errors: /workflow :check" },
      {
        number: 52,
        at: "checked[0..]",
        ours: [
          /\/beside\/1\.md: .*`blacklist`$/,
          /`Edit`/,
          /\/key\/1\.md: .*`blocklist` in `tools`$/,
          /\/place\/workflow\.yaml: .*`tools`$/,
          /`Tools`$/,
        ],
      },
      {
        number: 52,
        reference:
          "  beside — Beside\n  case — Case\n  good — Good\n  key — Key\n  place — Place\n  spelling — Spelling",
        ours: "  good — Good",
      },
      { number: 52, reference: "Available: beside, case, good, key, place, spelling", ours: "Available: good" },
    ],
  },
  {
    name: "optional fields of another type have no effect",
    global: withFields({
      odd: {
        roleInstruction: 7,
        advanceReminder: ["x"],
        blockReasonTemplate: true,
        completionMessage: {},
        notDoneReminder: 1.5,
        sessionNamePrefix: 3,
        sessionNameMaxLength: "50",
      },
      ...{ unknown: { color: "red", version: 2 } },
    }),
    model: [stop],
    actions: [...ask, run(`/workflow odd ${"x".repeat(60)}`)],
    differs: [{ number: 9, at: "checked[0..]", ours: Array(7).fill(/; it has no effect$/) }, 14, 18, 22, 25, 39],
  },
  {
    name: "a negative length of session names",
    global: withFields({ negative: { sessionNameMaxLength: -3 } }),
    model: [stop],
    actions: [run("/workflow negative 1234567")],
    differs: [
      { number: 32, reference: "Workflow: 1234…", ours: "Workflow: 1234567" },
      {
        number: 32,
        at: "checked[0]",
        ours: /`sessionNameMaxLength`: expected a number from 0, found `-3`; it has no effect$/,
      },
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "not YAML, or no mapping",
    global: {
      ...GOOD,
      "broken/workflow.yaml": "name: [\n",
      "tab/workflow.yaml": "name: x\n\tcommandName: y\n",
      "text/workflow.yaml": "just text\n",
      "empty/workflow.yaml": "",
      "comment/workflow.yaml": "# nothing\n",
      "list/workflow.yaml": "- name: x\n",
      "twice/workflow.yaml": "name: x\nname: y\n",
      "two/workflow.yaml": "name: x\n---\nname: y\n",
    },
    actions: ask,
    differs: [9],
  },
  {
    name: "YAML in other styles",
    global: {
      ...withYaml({
        flow: "phases: [a.md, {subworkflow: good}]\n",
        anchors: "notDoneReminder: &x Go on\ncompletionMessage: *x\nphases: &p\n  - a.md\n",
        folded: "roleInstruction: >-\n  One\n  two\n\n  three\nphases:\n- a.md\n",
        quoted: "'phases': [\"a.md\"] # a comment\n",
        windows: "phases:\r\n  - a.md\r\n",
        marks: "phases: [a.md]\n...\n",
        tagged: "phases: !!seq [!!str a.md]\n",
      }),
      "bom/workflow.yaml": "\ufeffname: bom\ncommandName: bom\ninitialMessage: Go\nphases: [a.md]\n",
      "bom/a.md": `\ufeff${phaseFile("a").replaceAll("\n", "\r\n")}`,
    },
    actions: ask,
    differs: [],
  },
  {
    name: "scalars of YAML 1.1 are text",
    global: {
      ...withYaml({
        yes: "phases: [a.md]\nroleInstruction: yes\nadvanceReminder: off\n",
        sexagesimal: "phases: [a.md]\ncompletionMessage: 1:30\nblockReasonTemplate: 2026-01-01\n",
      }),
      "on/workflow.yaml": "name: on\ncommandName: no\ninitialMessage: y\nphases: [a.md]\n",
      "on/a.md": "---\nid: off\nname: 1e\nemoji: ~~\n---\nDo it.\n",
    },
    model: [stop, stop, stop],
    actions: [
      ...ask,
      run("/workflow yes One"),
      command("/cancel-workflow"),
      run("/workflow sexagesimal Two"),
      command("/cancel-workflow"),
      run("/workflow no Three"),
    ],
    differs: [3, 5, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "references and cycles",
    actions: [
      ...load({
        ...GOOD,
        ...workflow("a", ["x", "@gone"]),
        ...workflow("b", ["@broken"]),
        ...workflow("fine", ["@good"]),
        ...workflow("broken", ["a"], { name: "" }),
      }),
      ...load({
        ...GOOD,
        ...workflow("self", ["a", "@self"]),
        ...workflow("one", ["@two"]),
        ...workflow("two", ["@three"]),
        ...workflow("three", ["x", "@one"]),
        ...workflow("into", ["@one"]),
      }),
      ...load({
        ...workflow("top", ["@left", "@right"]),
        ...workflow("left", ["@bottom"]),
        ...workflow("right", ["@bottom"]),
        ...workflow("bottom", ["a"]),
      }),
    ],
    differs: [9],
  },
  {
    name: "references that lead to nothing over others",
    global: { ...GOOD, ...workflow("a", ["x", "@b"]), ...workflow("b", ["y", "@c"]), ...workflow("c", ["@gone"]) },
    actions: ask,
    differs: [
      {
        number: 33,
        at: "printed[0..]",
        reference: Array(3).fill(/Workflow "c" references non-existent subworkflow "gone"/),
      },
      { number: 33, at: "screen[0]", ours: "notify warning: 3 workflows have errors: /workflow :check" },
      { number: 33, at: "checked[0..]", ours: [/\/c\/.*"gone"/, /\/b\/.*"c"/, /\/a\/.*"b"/] },
      { number: 33, reference: "workflows:\n  a — A\n  b — B\n", ours: "workflows:\n" },
      { number: 33, reference: "Available: a, b, good", ours: "Available: good" },
    ],
  },
  {
    name: "names in another case, and backslashes",
    global: {
      ...withEntries({ back: ["sub\\x.md"], windows: ["..\\_shared\\y.md"] }),
      ...workflow("case", ["@GOOD"]),
      "back/sub/x.md": phaseFile("x"),
      "_shared/y.md": phaseFile("y"),
    },
    actions: ask,
    differs: [
      { number: 19, at: "printed[0..]", reference: Array(9).fill(/back|windows|case/) },
      {
        number: 19,
        reference: "workflows:\n  good — Good",
        ours: "workflows:\n  back — back\n  case — Case\n  good — Good\n  windows — windows",
      },
      { number: 19, reference: "Available: good", ours: "Available: back, case, good, windows" },
    ],
  },
  {
    name: "links",
    global: { ...GOOD, ...hidden("inner", ["a"]), "_shared/x.md": phaseFile("x") },
    files: { "outside.md": phaseFile("outside") },
    actions: [
      async (stage) => {
        const { sandbox } = stage;
        const uses = workflow("uses", ["@twin"]);
        await files({ global: { ...withEntries({ linked: ["link.md"], away: ["out.md"] }), ...uses } })(stage);
        const folder = join(sandbox.agent, "workflows");
        symlinkSync("../_shared/x.md", join(folder, "linked/link.md"));
        symlinkSync(join(sandbox.project, "outside.md"), join(folder, "away/out.md"));
        symlinkSync("inner", join(folder, "twin"));
      },
      command("/workflow"),
    ],
    differs: [
      { number: 34, at: "printed[1]", reference: /"uses" references non-existent subworkflow "twin"/ },
      { number: 34, reference: "  linked — linked", ours: "  linked — linked\n  uses — Uses" },
      9,
    ],
  },
];
