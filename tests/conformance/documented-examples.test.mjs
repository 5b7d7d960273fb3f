// The workflows in the documentation of the reference mean the same to both packages: the same phases with the same
// prompts, the same refused tools, the same way to DONE.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PI_VERSIONS } from "../pi/harness/pi.mjs";
import { answer, run } from "./side-by-side/actions.mjs";
import { assertSame } from "./side-by-side/compare.mjs";
import { below, commandNames, documentedFiles, documentedFragments } from "./side-by-side/documented.mjs";
import { KNOWN } from "./side-by-side/known.mjs";
import { OURS, REFERENCE } from "./side-by-side/packages.mjs";
import { play } from "./side-by-side/play.mjs";
import { step, stop } from "./side-by-side/workflows.mjs";

const examples = documentedFiles("examples.md");
const global = Object.fromEntries(Object.entries(examples).filter(([path]) => !path.includes("/.pi/")));
const webapp = below(examples, "webapp/.pi/workflows/");
/** The documentation leaves it at that a project's `rpir` has phases of the same names. */
const project = { ...Object.fromEntries(Object.entries(global).filter(([path]) => path.startsWith("rpir/"))), ...webapp };
const bugfix = Object.fromEntries(
  Object.entries(documentedFiles("configuration-reference.md")).map(([name, text]) => [`bugfix/${name}`, text]),
);

const fragments = ["README.md", "docs/subworkflows.md", "skills/workflow-generation/SKILL.md"].map(documentedFragments);

/** Every tool of pi's own, called in a way that does no harm. */
const TOOLS = {
  calls: [
    { name: "read", arguments: { path: "gone.txt" } },
    { name: "bash", arguments: { command: "true" } },
    { name: "edit", arguments: { path: "gone.txt", edits: [{ oldText: "a", newText: "b" }] } },
    { name: "write", arguments: { path: "new.txt", content: "new" } },
  ],
};

/**
 * Goes through workflows phase by phase. In each phase a prompt shows the context prompt, and every tool is tried.
 *
 * @param {string} name
 * @param {{ global: Record<string, string>, project?: Record<string, string> }} files
 * @param {string[]} commands
 * @param {import("./side-by-side/compare.mjs").Difference[]} [differs] besides those of every run
 * @returns {import("./side-by-side/play.mjs").Scenario}
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

const SCENARIOS = [
  walk("the examples", { global }, commandNames(global), [
    { number: 2, reference: "(1/3 in current scope)", ours: "(1/2 in current scope)" },
    { number: 2, reference: "(2/3 in current scope)", ours: "(2/2 in current scope)" },
    14,
  ]),
  walk("the examples of a project", { global, project }, commandNames(project), [14, 53]),
  walk("the configuration reference", { global: bugfix }, commandNames(bugfix)),
  walk("the fragments of other pages", { global: Object.assign({}, ...fragments) }, fragments.flatMap(commandNames), [
    { number: 2, reference: "(1/4 in current scope)", ours: "(1/1 in current scope)" },
    14,
  ]),
];

test("the documentation has its workflows", () => {
  const names = ["audit", "fix", "hello", "iterate", "rpir", "rpir-dev", "rpir-improve"];
  assert.deepEqual(commandNames(global).sort(), names);
  assert.deepEqual(commandNames(project).sort(), ["hotfix", "rpir"]);
  assert.equal(commandNames(bugfix).length, 1);
  assert.deepEqual(fragments.flatMap(commandNames), ["my-workflow", "release", "my-command"]);
});

for (const version of PI_VERSIONS) {
  suite(`pi ${version}`, { concurrency: 3 }, () => {
    for (const scenario of SCENARIOS) {
      test(scenario.name, async () => {
        const [reference, ours] = await Promise.all([
          play(scenario, version, REFERENCE),
          play(scenario, version, OURS),
        ]);
        const both = { reference: reference.record, ours: ours.record };
        assert.ok(KNOWN[38](both) > 0);
        assertSame({ reference: withoutRepetition(both.reference), ours: withoutRepetition(both.ours) }, scenario.differs);
      });
    }
  });
}

/**
 * The instructions in the results of `next` are those of the next context prompt, but that the reference leaves their
 * variables as they are.
 *
 * @param {import("./side-by-side/play.mjs").PlayRecord} record
 */
function withoutRepetition(record) {
  const shorten = (/** @type {string} */ text) => text.replace(/(✓ [^]*?\*\*What to do in .*?:\*\*)[^]*/, "$1");
  return {
    ...record,
    requests: record.requests.map((request) => ({ ...request, messages: request.messages.map(shorten) })),
    sessions: record.sessions.map((entries) =>
      entries.map((entry) => (entry.type === "toolResult" ? { ...entry, text: shorten(entry.text) } : entry)),
    ),
  };
}
