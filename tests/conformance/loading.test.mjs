// Files that the reference loads, load here: drawn files, beside the loader of the reference.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { ALL } from "../pi/harness/extent.mjs";
import { NODE, REPO } from "../pi/harness/pi.mjs";
import { REFERENCE } from "./packages.mjs";

/** pi loads the reference by this package. */
const { createJiti } = createRequire(join(REPO, "node_modules/@earendil-works/pi-coding-agent/dist/index.js"))("jiti");

/** Number of workflows that are drawn. */
const COUNT = ALL ? 1000 : 100;

/** Values of each field of a `workflow.yaml`, as YAML; the first is the one of most files. */
const WORKFLOW = {
  name: [
    "Flow",
    '"Flow: one"',
    "Flüsse",
    "'it''s'",
    "a # b",
    "a\n  b",
    "!!str 12",
    "&a Flow",
    "yes",
    "2024-01-01",
    "~x",
  ],
  commandName: ["COMMAND"],
  initialMessage: [
    "Begin with {firstPhaseName}",
    "|\n  Begin.\n\n  Do it: {description}",
    '"{description} # {taskId}"',
    "Fix {x}",
  ],
  show: [undefined, "workflows", "user"],
  loopable: [undefined, "true", "false", "True", "FALSE"],
  sessionNamePrefix: [undefined, '"F:"', "Flow", "3", "''"],
  sessionNameMaxLength: [undefined, "20", "0", "-4", "2.5", '"20"', "1e9"],
  roleInstruction: [
    undefined,
    "Be careful.",
    "|\n  Be careful.\n  Very.",
    '"{phaseName} of {nextPhaseName}"',
    "''",
    "7",
  ],
  advanceReminder: [undefined, "Call {toolName}.", "[a]"],
  blockReasonTemplate: [undefined, "No {toolName} in {phaseName}", ">-\n  No\n  way"],
  completionMessage: [undefined, "Done with {phaseCount}.", '"{unknown}"'],
  notDoneReminder: [undefined, '"Go on: {phaseInstructions}"', "false"],
};

/** Values of each field of the front matter of a phase. */
const PHASE = {
  id: ["ID"],
  name: ["Look", '"Look: twice"', "🔎 Look", ">-\n  Look\n  here", "on", "'12'", "a:b", '"x" # y', "x".repeat(300)],
  emoji: ["🔎", '"*"', "x", "🧑‍💻", '"1"'],
  tools: [
    undefined,
    "\n  blacklist: [edit, write]",
    "\n  blacklist:\n    - edit\n    - bash",
    "\n  whitelist: [read]",
    "{ whitelist: [read, grep, find, ls] }",
    "{ blacklist: [] }",
    "{ whitelist: [workflow_step] }",
    "\n    blacklist: [ edit , 'write', \"bash\" ]",
    "\n  whitelist: []",
    "{ blacklist: &b [edit] }",
    "{ whitelist: [my_tool, mcp.server, a:b, delegate_to_subagents] }",
    "\n  # none\n  blacklist:\n  - edit\n  - write",
    "{ blacklist: [1] }",
    "{ blacklist: [edit, edit] }",
  ],
  availableProfiles: [undefined, "[]", "[explore, review]", "\n  - explore", "null"],
};

// prettier-ignore
const IDS = [
  "end", "done", "next", "loop", "stop", "plan", "do-it", "a.b", "Größe", "next step", "1st", "all", "none", "pause",
  "DONE", "'12'", "a/b", "x".repeat(100), "workflow", "item", "task",
];

const BODIES = [
  "Do it.",
  "# Do\n\n- one\n- two\n\n---\n\nMore.",
  "Write `{x}`, {{y}}, ${z} and $ARGUMENTS.\n\n```yaml\nid: a\nwrite: []\n```",
  "Model: the newest.\n\noutput: JSON",
  "  indented\n\ttab",
  "| a | b |\n| - | - |",
  "1. Read {description}\r\n2. Write",
  "{",
  "x".repeat(20000),
  "---",
  "```\nid: x\n```",
  "@file and !`ls`",
  "<!-- x -->",
  "id: x is the id",
];

/** Returns a function that draws the same numbers for the same seed. @param {number} seed */
function random(seed) {
  return (/** @type {number} */ below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

/**
 * Returns the files of a drawn workflow.
 *
 * @param {number} seed
 * @returns {Record<string, string>}
 */
function draw(seed) {
  const below = random(seed);
  const pick = (/** @type {(string | undefined)[]} */ values) => values[below(3) === 0 ? below(values.length) : 0];
  const key = `w${seed}`;
  const fields = (/** @type {Record<string, (string | undefined)[]>} */ of, /** @type {string} */ own) => {
    const given = Object.entries(of).map(([field, values]) => [field, pick(values)]);
    const lines = given.flatMap(([field, value]) =>
      value === undefined ? [] : [`${field}:${value[0] === "\n" ? "" : " "}${value}`],
    );
    if (below(4) === 0) lines.reverse();
    if (below(5) === 0) lines.splice(below(lines.length), 0, "# a comment", "");
    if (below(9) === 0) lines.push("author: Somebody", "version: 1.0", "tags: [a, b]");
    return lines.join("\n").replace("COMMAND", own).replace("ID", own) + "\n";
  };
  /** @type {Record<string, string>} */
  const files = {};
  const ids = IDS.filter(() => below(4) === 0).concat("last");
  const entries = ids.map((id, index) => {
    const name = below(4) === 0 ? `phases/${index}.md` : `${index}.md`;
    const text = `---\n${fields(PHASE, id)}---${below(3) === 0 ? "" : "\n"}\n${BODIES[below(BODIES.length)]}\n`;
    files[`${key}/${name}`] = below(6) === 0 ? text.replaceAll(/\r?\n/g, "\r\n") : text;
    return name;
  });
  if (seed > 1 && below(5) === 0) entries.push(`{ subworkflow: w${1 + below(seed - 1)} }`);
  if (below(6) === 0) entries[0] = `./${entries[0]}`;
  if (below(8) === 0) entries[0] = `"${entries[0]}"`;
  const list = below(2) === 0 ? `\n${entries.map((entry) => `  - ${entry}`).join("\n")}` : ` [${entries.join(", ")}]`;
  files[`${key}/workflow.yaml`] = `${fields(WORKFLOW, key)}phases:${list}\n`;
  return files;
}

test("drawn files that the reference loads, load here", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "pi-workflows-loading-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [home, project] = [join(root, "home"), join(root, "project")];
  const drawn = Array.from({ length: COUNT }, (_, index) => draw(index + 1));
  for (const [path, text] of drawn.flatMap((files) => Object.entries(files))) {
    const file = join(project, ".pi/workflows", path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  }
  mkdirSync(home);
  /** @type {any} */
  const reference = await createJiti(import.meta.url).import(join(REFERENCE, "src/config/index.ts"));
  process.env.PI_CODING_AGENT_DIR = home;
  const loaded = Object.keys(reference.loadWorkflows(project));
  assert.equal(loaded.length, COUNT);

  const parameters = [join(REPO, "cli/pi-workflows.js"), "check", "--format", "json"];
  const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home };
  const { stdout, stderr } = spawnSync(NODE, parameters, { cwd: project, env, encoding: "utf8", maxBuffer: 1e9 });
  assert.equal(stderr, "");
  const errors = JSON.parse(stdout).diagnostics.filter((/** @type {any} */ one) => one.severity === "error");
  const ofLoaded = errors.filter((/** @type {any} */ error) => loaded.includes(error.file.split("/")[2]));
  assert.deepEqual(ofLoaded, []);
});
