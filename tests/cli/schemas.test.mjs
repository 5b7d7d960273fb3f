// Checks the JSON Schemas with an independent validator (ajv) against the examples and the behaviour of the component.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";

import { openWorkflows } from "../../cli/workflows.js";
import { LONG } from "../pi/harness/extent.mjs";
import { REPO } from "../pi/harness/pi.mjs";

const schema = (/** @type {string} */ name) => JSON.parse(readFileSync(join(REPO, "schemas", name), "utf8"));
// Strict: reports errors instead of the default warnings.
const ajv = new Ajv({ strict: true, allErrors: true });
const KINDS = { workflow: schema("workflow.json"), phase: schema("phase.json") };
const validate = { workflow: ajv.compile(KINDS.workflow), phase: ajv.compile(KINDS.phase) };

const GOOD = {
  workflow: { name: "W", commandName: "w", initialMessage: "Go", phases: ["a.md"] },
  phase: { id: "a", name: "A", emoji: "*" },
};

/** Values of every kind, including all limits. @type {unknown[]} */
const VALUES = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  3600,
  3601,
  1_000_000,
  1_000_001,
  "",
  " ",
  "x",
  "two words",
  "user",
  "workflows",
  "optional",
  "required",
  "preferred",
  "off",
  [],
  ["x"],
  [["x"]],
  {},
  { x: 1 },
  ["a.md"],
  ["a.md", 7],
  [{ subworkflow: "s" }],
  [{ subworkflow: " " }],
  [{ subworkflow: "s", more: 1 }],
  [{}],
  { blacklist: ["x"] },
  { whitelist: ["x"] },
  { blacklist: ["x"], whitelist: ["x"] },
  { blacklist: "x" },
  { blacklist: null, whitelist: ["x"] },
  { blacklist: [], whitelist: [] },
  { whitelist: null },
  { greylist: [] },
  { allowed: ["read x"] },
  { refused: [] },
  { allowed: null },
  { allowed: "read x" },
  { allowed: [1] },
  { permitted: ["read x"] },
  { maxIdle: 3 },
  [{ run: "x" }],
  [{ run: "x", timeout: "10m", name: "y" }],
  [{ run: "x", timeout: 90 }],
  [{ run: "x", timeout: "soon" }],
  [{ run: "x", timeout: 0 }],
  [{ run: "x", contains: "y" }],
  [{ file: "a/*.md", contains: "y" }],
  [{ file: "a", timeout: 1 }],
  [{ run: null }],
  [{ run: "x", timeout: null, name: null }],
  [{ run: "x", contains: null }],
  [{ run: null, file: "x" }],
  [{ file: "a", contains: null }],
  [{ file: "x", timeout: null }],
  [{ file: "x" }],
  [{ file: " " }],
  [{ run: "x", file: "y" }],
  [{ run: "x", rum: "y" }],
  Array(51).fill({ run: "x" }),
  "pause",
  [{ phase: "a.md" }],
  [{ phase: " " }],
  [{ phase: "a.md", subworkflow: "s" }],
  [{ phase: "a.md", more: 1 }],
  [{ phase: "a.md", when: null }],
  [{ phase: "a.md", when: {} }],
  [{ phase: "a.md", when: "x" }],
  [{ phase: "a.md", when: { x: "y" } }],
  [{ phase: "a.md", with: {} }],
  [{ subworkflow: "s", with: {} }],
  [{ subworkflow: "s", with: null }],
  [{ subworkflow: "s", with: [] }],
  [{ subworkflow: "s", with: { x: [] } }],
  [{ when: {} }],
  { a: "next" },
  { a: "next", "b-1": "done", c: "loop" },
  { "a b": "next" },
  { a: null },
  { a: [] },
  { a: {} },
  { a: { to: "next" } },
  { a: { to: "next", max: 1 } },
  { a: { to: "next", max: 0 } },
  { a: { to: "next", max: "1" } },
  { a: { to: "loop", max: 2, then: "done" } },
  { a: { to: "next", then: "done" } },
  { a: { to: "done", max: 2 } },
  { a: { to: "next", max: 1, then: null } },
  { a: { max: 1 } },
  { a: { to: "next", text: "required" } },
  { ["a".repeat(60)]: "next" },
  { ["a".repeat(61)]: "next" },
  Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`a${n}`, "next"])),
  { a: { type: "text" } },
  { a: { type: "text", default: "x", description: "About" } },
  { a: { type: "number", default: 1 } },
  { a: { type: "flag", default: true } },
  { a: { type: "choice" } },
  { a: { type: "choice", options: ["x", 1, true] } },
  { a: { type: "choice", options: [] } },
  { a: { type: "choice", options: ["x"], default: "x" } },
  { a: { type: "text", options: ["x"] } },
  { a: { type: "text", options: null, default: null } },
  { a: { type: "word" } },
  { a: { type: "text", more: 1 } },
  { "a b": { type: "text" } },
  { a: { type: "choice", options: Array(51).fill("x") } },
  { a: { type: "text", default: [] } },
  { a: { default: "x" } },
  { a: { type: null } },
  { a: { type: "choice", options: "x" } },
];

test("all examples are valid", () => {
  const folder = join(REPO, "workflows-examples");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  let count = 0;
  for (const file of files) {
    const text = () => readFileSync(join(folder, file), "utf8");
    const kind = file.endsWith("workflow.yaml") ? "workflow" : "phase";
    const yaml = kind === "workflow" ? text() : file.endsWith(".md") && /^---\n([^]*?)\n---/.exec(text())?.[1];
    if (!yaml) continue;
    count += 1;
    assert.ok(validate[kind](parse(yaml)), `${file}: ${ajv.errorsText(validate[kind].errors)}`);
  }
  assert.ok(count > 25, `${count}`);
});

test("the component accepts exactly the values that the schemas accept", LONG, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-schemas-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const key of ["w", "s"]) mkdirSync(join(folder, key));
  const write = (/** @type {string} */ path, /** @type {object} */ fields) => {
    const text = JSON.stringify(fields);
    writeFileSync(join(folder, path), path.endsWith(".md") ? `---\n${text}\n---\nDo it.\n` : text);
  };
  write("s/workflow.yaml", {
    name: "S",
    show: "workflows",
    phases: ["a.md"],
    inputs: { x: { type: "list", default: [] } },
  });
  write("s/a.md", GOOD.phase);
  writeFileSync(join(folder, "w/x"), "---\nid: x\nname: X\nemoji: x\n---\nDo it.\n");
  const workflows = openWorkflows([{ name: "project", path: folder }]);
  // A schema does not know the ids of phases.
  const beyond =
    /names a file, unless there is a folder|(?: or|expected) the id of (?:an entry of|a phase or the key of a nested workflow of) the workflow "w", found /;
  /** Returns true if the component reports no diagnostic about these fields. */
  const sound = (/** @type {object} */ workflow, /** @type {object} */ phase) => {
    write("w/workflow.yaml", workflow);
    write("w/a.md", phase);
    const { diagnostics } = workflows.check({ tools: [], moreTools: true });
    return diagnostics.filter(({ message }) => !beyond.test(message)).length === 0;
  };
  /** @type {object[]} */
  const disagreements = [];
  const compare = (/** @type {"workflow" | "phase"} */ kind, /** @type {object} */ fields) => {
    const accepted = kind === "workflow" ? sound(fields, GOOD.phase) : sound(GOOD.workflow, fields);
    if (accepted !== validate[kind](fields)) disagreements.push({ kind, fields: JSON.stringify(fields), accepted });
  };
  for (const kind of /** @type {const} */ (["workflow", "phase"])) {
    for (const field of [...Object.keys(KINDS[kind].properties), "noSuchField"]) {
      const { [field]: _, ...without } = /** @type {Record<string, unknown>} */ (GOOD[kind]);
      compare(kind, without);
      // Without limits, `sandbox` has no effect, which is a warning.
      const good = field === "sandbox" ? { ...GOOD[kind], write: [] } : GOOD[kind];
      for (const value of VALUES) compare(kind, { ...good, [field]: value });
    }
  }
  for (const kind of /** @type {const} */ (["workflow", "phase"])) {
    for (const gate of [[{ run: "x" }], null]) {
      for (const gateAttempts of VALUES) compare(kind, { ...GOOD[kind], gate, gateAttempts });
    }
  }
  for (const onBudget of ["pause", "next", " ", 1, null, {}, ["next"]]) {
    for (const budget of [{ turns: 1 }, undefined])
      compare("phase", { ...GOOD.phase, ...(budget && { budget }), onBudget });
  }
  for (const each of [["x", 1, true], [], [""], ["x", null], [["x"]], "input.x", "x", 5, null]) {
    compare("workflow", {
      ...GOOD.workflow,
      inputs: { x: { type: "list", default: ["y"] } },
      phases: [{ phases: ["a.md"], each }],
    });
  }
  for (const group of [
    { id: "g" },
    { loopable: false },
    { maxLoops: 3 },
    { with: { x: 1 } },
    { phase: "a.md" },
    { budget: { turns: 3 } },
    { run: "x" },
    { phases: [] },
  ]) {
    compare("workflow", { ...GOOD.workflow, phases: [{ phases: ["a.md"], ...group }] });
  }
  compare("workflow", { ...GOOD.workflow, phases: [{ phases: [{ phases: ["a.md"] }] }] });
  compare("workflow", { ...GOOD.workflow, phases: [{ phase: "a.md", loopable: false }] });
  compare("workflow", { name: "W", show: "workflows", phases: ["a.md"] });
  compare("workflow", { name: "W", show: "user", phases: ["a.md"] });
  compare("workflow", { show: "workflows", phases: ["a.md"] });
  for (const type of ["list", "text", "number"])
    compare("workflow", { ...GOOD.workflow, inputs: { a: { type, default: [] } } });
  for (const other of [{ run: "x" }, { file: "x" }])
    compare("phase", { ...GOOD.phase, gate: [{ ...other, env: { task: "task" } }] });
  assert.deepEqual(disagreements, []);
});

test("every field has a description, and every optional field a default", () => {
  const check = (/** @type {any} */ schema) => {
    for (const [name, property] of Object.entries(schema.properties)) {
      assert.ok(property.description.endsWith("."), name);
      for (const inner of [property, ...(property.anyOf ?? [])]) if (inner.properties) check(inner);
      const said = "default" in property || / Default: /.test(property.description);
      const needed = [
        ...(schema.required ?? []),
        ...(schema.else?.required ?? []),
        "blacklist",
        "whitelist",
        "allowed",
        "refused",
      ];
      assert.equal(said, !needed.includes(name), name);
    }
  };
  check(KINDS.workflow);
  check(KINDS.phase);
});
