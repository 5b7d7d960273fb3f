// Random workflow files: the reference and ours load the same ones with the same meaning, except for the deliberate
// differences of `differences.mjs`.
//
//   FILES=30000 SEED=random node --test tests/conformance/files.test.mjs

import assert from "node:assert/strict";
import { test } from "node:test";

import { ALL } from "../pi/harness/extent.mjs";
import { DIFFERENCES } from "./differences.mjs";
import { explanationOf } from "./random/accounts.mjs";
import { Choices, countOfRun, seedOfRun } from "./random/choices.mjs";
import { because, explained, summary } from "./random/explained.mjs";
import { KINDS } from "./random/kinds-of-files.mjs";
import { compareFiles, findDifference, smallerFiles, textOf } from "./random/loading.mjs";
import { loadWorkflows } from "./random/reference.mjs";
import { shrink } from "./random/shrink.mjs";
import { makeFiles } from "./random/workflow-files.mjs";
import { beginWorld, projectDir } from "./random/world.mjs";

const FILES = countOfRun("FILES", ALL ? 3000 : 100);
const SEED = seedOfRun();
/** The number of kinds of differences that are reduced to a small example. */
const SHOWN = 3;

beginWorld();

/** The number of sets that contain a kind of file. @type {Map<string, number>} */
const met = new Map();

test(`both packages read ${FILES} sets of random files alike, from seed ${SEED}`, async (t) => {
  /** The seeds of unexplained differences, by kind. @type {Map<string, number[]>} */
  const found = new Map();
  for (let seed = SEED; seed < SEED + FILES; seed++) {
    const files = makeFiles(new Choices(seed));
    const { difference, accepted } = await compareFiles(files);
    const explanation = difference && (await explanationOf(difference, files, findDifference));
    if (typeof explanation === "number") because(explanation, false, true);
    if (typeof explanation === "string") found.set(explanation, [...(found.get(explanation) ?? []), seed]);
    if (accepted) meet("accepted by the reference");
    const own = Object.entries(files).filter(([path]) => path.startsWith("global/w/"));
    for (const [kind, pattern] of Object.entries(KINDS)) {
      if (own.some(([, text]) => pattern.test(text.toString()))) meet(kind);
    }
  }
  t.diagnostic(summary());
  const kinds = [...found].sort(([, a], [, b]) => b.length - a.length);
  const reports = [];
  for (const [kind, seeds] of kinds.slice(0, SHOWN)) reports.push(await report(kind, seeds));
  reports.push(...kinds.slice(SHOWN).map(([kind, seeds]) => heading(kind, seeds)));
  if (reports.length > 0) assert.fail(`The two disagree about files.\n\n${reports.join("\n\n")}`);
});

test("the random files contain every kind, valid and invalid", (t) => {
  const percent = (/** @type {string} */ kind) => (100 * (met.get(kind) ?? 0)) / FILES;
  const sound = percent("accepted by the reference");
  t.diagnostic(`${Math.round(sound)} % were accepted`);
  if (FILES < 1000) return;
  assert.ok(sound > 30 && sound < 70, `${sound} % were accepted`);
  for (const kind of Object.keys(KINDS)) assert.ok(percent(kind) >= 0.1, `${kind}: ${percent(kind)} %`);
});

test("the reference keeps a workflow that nests a broken one, ours does not", async () => {
  const yaml = (/** @type {string} */ name, /** @type {string} */ nested) =>
    `name: ${name}\ncommandName: ${name}\ninitialMessage: Go\nphases: [{subworkflow: ${nested}}]\n`;
  const files = { "global/outer/workflow.yaml": yaml("outer", "w"), "global/w/workflow.yaml": yaml("w", "nowhere") };
  assert.equal(await findDifference(files), undefined, "ours refuses both, the reference refuses w");
  assert.deepEqual(Object.keys(loadWorkflows(projectDir)), ["outer"]);
});

/**
 * The result of each line in `workflow.yaml`, by difference.
 *
 * @type {[number: number, line: string, what: string | RegExp][]}
 */
const EXAMPLES = [
  [44, 'sessionNamePrefix: "a"#b', "the reference refuses"],
  [44, "unknown: [a,\nb]", "the reference refuses"],
  [44, 'unknown: "a---\n---b"', "the reference refuses"],
  [45, "unknown: \u0007", "ours refuses"],
  [45, "unknown: !!int x", "ours refuses"],
  [45, 'unknown: "\\ud83d"', "ours refuses"],
  [45, 'unknown: "\\ud83d\\ude80"', "ours refuses"],
  [45, "unknown:\n  a: b\n\t# note", "ours refuses"],
  [45, "? [a]\n: b", "ours refuses"],
  [45, "&unknown : a", "ours refuses"],
  [
    46,
    "sessionNameMaxLength: 010",
    /sessionNames\n {2}reference: .*"Workflow: a task of …".*\n {2}ours: .*"Workflow: a task of more /,
  ],
  [46, "roleInstruction: 0b11", /reference: .*\\n0b11\\n.*\n {2}ours: .*You are working through/],
  [47, "roleInstruction: 'a\u0085b'", /reference: .*\\na\\u0085b\\n.*\n {2}ours: .*\\na b\\n/],
  [48, "roleInstruction: !important 12", "ours refuses"],
  [48, "gate: [{run: ! npm test}]", "ours refuses"],
];

for (const [number, line, expected] of EXAMPLES) {
  test(`difference ${number}: ${JSON.stringify(line)}`, async () => {
    const difference = await findDifference(filesWith(line, ""));
    const { what, details } = difference ?? { what: "no difference", details: [] };
    assert.equal(await knownDifference(filesWith(line, "")), number, [what, ...details].join("\n"));
    assert.match(typeof expected === "string" ? what : details.join("\n"), new RegExp(expected));
  });
}

test("difference 49: a list of profiles with more than names", async () => {
  const { details } = (await findDifference(filesWith("", "availableProfiles: [a, {b: c}]"))) ?? { details: [] };
  assert.match(
    details.join("\n"),
    /reference: .*phase:\*\* a, \[object Object\]\\n.*\n {2}ours: .*phase:\*\* \(none\)\\n/,
  );
});

for (const line of [
  "tools: {blocklist: [edit]}",
  "tools: {blacklist: [Edit]}",
  "Tools: {blacklist: [edit]}",
  "blacklist: [edit]",
]) {
  test(`difference 52: ${line}`, async () => {
    const difference = await findDifference(filesWith("", line));
    assert.equal(difference?.what, "ours refuses");
    assert.equal(await knownDifference(filesWith("", line)), 52);
  });
}

for (const [line, phaseLine] of [
  ["", "tools:"],
  ["", "tools: {}"],
  ["", "tools: {blacklist: ~}"],
  ["", "outcomes: ~"],
  ["show:", ""],
  ["loopable: ~", ""],
  ["inputs: ~", ""],
  ["budget: {}", ""],
]) {
  test(`difference 64: ${line}${phaseLine}`, async () => {
    assert.equal((await findDifference(filesWith(line, phaseLine)))?.what, "ours refuses");
    assert.equal(await knownDifference(filesWith(line, phaseLine)), 64);
  });
}

for (const [
  number,
  line,
  phaseLine,
  expected,
] of /** @type {[number: number, line: string, phaseLine: string, expected: string | RegExp][]} */ ([
  [
    60,
    "inputs: {scope: {type: choice, options: [api, web], default: api}}",
    "",
    /ours: .*\\n\*\*Inputs:\*\* scope: api\\n/,
  ],
  [60, "inputs: {scope: {type: list}}", "", "ours refuses"],
  [61, "", "outcomes: {ok: next}", /ours: .*\\n- `ok`: the next phase\\n/],
  [61, "", "outcomes: {ok: nowhere}", "ours refuses"],
  [61, "onMaxLoops: stop", "", "ours refuses"],
  [62, "phases: [{phase: p.md}]", "", "the reference refuses"],
  [62, "phases: [{phases: [p.md]}]", "", "the reference refuses"],
  [62, "phases: [{phases: [p.md], each: [one, two]}]", "", "the reference refuses"],
  [62, "phases: [p.md, {run: 'true'}]", "", "the reference refuses"],
  [62, "phases: [p.md, {ask: Is it right?, outcomes: {go: next}}]", "", "the reference refuses"],
])) {
  test(`difference ${number}: ${line}${phaseLine}`, async () => {
    const files = filesWith(line, phaseLine);
    if (line.startsWith("phases:"))
      files["global/w/workflow.yaml"] = files["global/w/workflow.yaml"].replace("phases: [p.md]\n", "");
    const { what, details } = (await findDifference(files)) ?? { what: "no difference", details: [] };
    assert.match(typeof expected === "string" ? what : details.join("\n"), new RegExp(expected));
    assert.equal(await knownDifference(files), number, [what, ...details].join("\n"));
  });
}

for (const id of ["next", "loop", "done", "stop"]) {
  test(`difference 67: ${id}`, async () => {
    const files = filesWith("", "");
    files["global/w/p.md"] = files["global/w/p.md"].replace("id: p", `id: ${id}`);
    assert.equal((await findDifference(files))?.what, "ours refuses");
    assert.equal(await knownDifference(files), 67);
  });
}

test("difference 62: the reference ignores conditions", async () => {
  const inner = {
    "global/inner/workflow.yaml": "name: I\nshow: workflows\nphases: [a.md]\n",
    "global/inner/a.md": "---\nid: a\nname: A\nemoji: A\n---\nDo it.\n",
  };
  const files = { ...filesWith("inputs: {dry: {type: flag}}", ""), ...inner };
  const path = "global/w/workflow.yaml";
  const conditional = files[path].replace("[p.md]", "[p.md, {subworkflow: inner, when: {input.dry: true}}]");
  await findDifference({ ...files, [path]: conditional });
  const { phases } = loadWorkflows(projectDir).w;
  assert.deepEqual(
    phases.map((/** @type {any} */ { id, workflowKey }) => id ?? workflowKey),
    ["p", "inner"],
  );
});

for (const [line, phaseLine] of [
  ["onMaxLoops: next", ""],
  ["onMaxLoops: pause\nmaxLoops: 2", ""],
]) {
  test(`both packages read alike: ${JSON.stringify(line || phaseLine)}`, async () => {
    assert.equal(await findDifference(filesWith(line, phaseLine)), undefined);
  });
}

test("every difference that occurs in files is declared, and each one about YAML occurs", () => {
  const declared = new Set(DIFFERENCES.map(({ number }) => number));
  assert.deepEqual(
    [...explained.keys()].filter((number) => !declared.has(number)),
    [],
  );
  if (FILES < 1000) return;
  for (const number of [44, 45, 46, 47, 49, 52, 60, 61, 62, 64])
    assert.ok(explained.has(number), `${number} was not met`);
});

/**
 * A valid workflow with an additional line.
 * @param {string} line of its `workflow.yaml`
 * @param {string} phaseLine of its phase file
 */
function filesWith(line, phaseLine) {
  return {
    "global/w/workflow.yaml": `name: W\ncommandName: w\ninitialMessage: Go\nphases: [p.md]\n${line}\n`,
    "global/w/p.md": `---\nid: p\nname: P\nemoji: P\n${phaseLine}\n---\nDo it.\n`,
    "global/outer/workflow.yaml": "name: O\ncommandName: outer\ninitialMessage: Go\nphases: [{subworkflow: w}]\n",
  };
}

/**
 * Returns the number of the difference between the two packages for these files, or a description; `undefined` if they
 * agree.
 * @param {import("./random/workflow-files.mjs").Files} files
 */
async function knownDifference(files) {
  const difference = await findDifference(files);
  return difference && explanationOf(difference, files, findDifference);
}

/** @param {string} kind */
function meet(kind) {
  met.set(kind, (met.get(kind) ?? 0) + 1);
}

/**
 * @param {string} kind
 * @param {number[]} seeds
 */
const heading = (kind, seeds) => `${seeds.length} times (SEED=${seeds[0]} FILES=1) ${kind}`;

/**
 * Formats a kind of difference with a shrunk example.
 * @param {string} kind
 * @param {number[]} seeds
 */
async function report(kind, seeds) {
  const isSuch = async (/** @type {import("./random/workflow-files.mjs").Files} */ files) =>
    (await knownDifference(files)) === kind;
  const small = await shrink(makeFiles(new Choices(seeds[0])), smallerFiles, isSuch);
  const difference = await findDifference(small);
  return [
    heading(kind, seeds),
    textOf(small),
    ...(difference?.printed.slice(0, 1) ?? []),
    ...(difference?.diagnostics.split("\n").slice(0, 1) ?? []),
    ...(difference?.details ?? []),
  ].join("\n");
}
