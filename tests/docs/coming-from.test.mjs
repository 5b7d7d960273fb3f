// The examples of docs/coming-from.md: each stands in a workflow where it says, and `check` reports nothing about it.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parse, stringify } from "yaml";

import { openWorkflows } from "../../cli/workflows.js";
import { REPO } from "../pi/harness/pi.mjs";

const PAGE = readFileSync(join(REPO, "docs/coming-from.md"), "utf8");
const PROGRAMS = ["Archon", "goose", "spec-kit", "BMAD", "superpowers", "Claude Code: commands, hooks and subagents"];

/** The rows of the tables. @type {{ program: string, there: string, where: string, example: string }[]} */
const ROWS = PAGE.split("\n## ")
  .slice(1)
  .flatMap((section) => {
    const [program, ...lines] = section.split("\n");
    const rows = lines.filter((line) => /^\| (?!there |---)/.test(line)).map((line) => line.slice(2, -2).split(" | "));
    return rows.map(([there, , where, example]) => ({ program, there, where, example: example.replace(/^`|`$/g, "") }));
  });

/** A phase file. @param {string} id @param {object} [fields] */
const phase = (id, fields = {}) => `---\n${stringify({ id, name: id, emoji: "*", ...fields })}---\nDo it.\n`;

/** The fields of a phase or a workflow in an example. @param {string} example */
const fieldsOf = (example) => parse(`{ ${example} }`);

/**
 * The files of a workflow with an example.
 *
 * @param {string} where
 * @param {string} example
 * @returns {Record<string, string>}
 */
function filesWith(where, example) {
  const own = where === "`workflow.yaml`" ? fieldsOf(example) : {};
  const entries = where === "entry" ? [parse(example)] : [];
  const implement = where === "phase file" ? fieldsOf(example) : {};
  const outputs = {
    size: { type: "choice", options: ["small", "large"] },
    tasks: { type: "list" },
    questions: { type: "list", max: 8 },
  };
  const phases = own.phases ?? ["triage.md", "plan.md", ...entries, "implement.md", "ship.md"];
  const workflow = { name: "W", commandName: "w", initialMessage: "Go", ...own, phases };
  /** @type {Record<string, string>} */
  const files = {
    "w/workflow.yaml": stringify(workflow),
    "w/triage.md": phase("triage", { outcomes: { small: "next", large: "next" } }),
    "w/plan.md": phase("plan", { outputs }),
    "w/implement.md": phase("implement", implement),
    ...Object.fromEntries(["specify", "design", "do", "check", "ship"].map((id) => [`w/${id}.md`, phase(id)])),
    ...Object.fromEntries(
      ["bugs", "docs"].map((id) => [
        `w/${id}.md`,
        phase(id, { write: [], outcomes: { clean: "next", issues: "next" } }),
      ]),
    ),
    "w/look.md": phase("look", { write: [] }),
    "security/workflow.yaml": stringify({
      name: "S",
      show: "workflows",
      phases: ["look.md"],
      inputs: { depth: { type: "number", default: 1 } },
    }),
    "security/look.md": phase("look"),
  };
  return files;
}

test("every program has rows, and every row an example", () => {
  assert.deepEqual([...new Set(ROWS.map(({ program }) => program))], PROGRAMS);
  for (const { there, where, example } of ROWS) {
    assert.ok(["`workflow.yaml`", "entry", "phase file"].includes(where) && example, `${there}: ${where} ${example}`);
  }
});

test("the examples are without errors and warnings, each in its place", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-coming-from-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [index, { there, where, example }] of ROWS.entries()) {
    const place = join(folder, String(index));
    for (const key of ["w", "security"]) mkdirSync(join(place, key), { recursive: true });
    for (const [path, text] of Object.entries(filesWith(where, example))) writeFileSync(join(place, path), text);
    const { diagnostics } = openWorkflows([{ name: "project", path: place }]).check({ tools: [], moreTools: true });
    assert.deepEqual(
      diagnostics.map(({ file, message }) => `${file}: ${message}`),
      [],
      `${there}: ${example}`,
    );
  }
});

test("an example with a mistake is reported", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-coming-from-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const key of ["w", "security"]) mkdirSync(join(folder, key), { recursive: true });
  for (const [path, text] of Object.entries(
    filesWith("entry", "{ phase: design.md, when: { output.plan.size: huge } }"),
  ))
    writeFileSync(join(folder, path), text);
  const { diagnostics } = openWorkflows([{ name: "project", path: folder }]).check({ tools: [], moreTools: true });
  assert.equal(diagnostics.length, 1);
});
