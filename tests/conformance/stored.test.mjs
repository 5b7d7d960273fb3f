// Sessions that the reference has written go on here, and its workflow files load. fixtures/ has them: sessions of
// 1.0.0 without ids and times of the entries, and workflows with every field of 1.0.0.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openWorkflows } from "../../cli/workflows.js";
import { VERSIONS } from "../pi/harness/extent.mjs";
import { OURS, REFERENCE } from "./packages.mjs";
import { play, run, writeAll } from "./play.mjs";
import { step, stop, use } from "./workflows.mjs";

const FIXTURES = fileURLToPath(new URL("fixtures", import.meta.url));
const WORKFLOWS = join(FIXTURES, "workflows");

const global = Object.fromEntries(
  readdirSync(WORKFLOWS, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(md|yaml)$/.test(path))
    .map((path) => [path, readFileSync(join(WORKFLOWS, path), "utf8")]),
);

/** @param {string} name @returns {any[]} */
const session = (name) =>
  readFileSync(join(FIXTURES, "sessions", `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** A session whose last state is of an older form. @param {string} name @param {(state: any) => object} older */
const older = (name, older) => {
  const entries = session(name);
  const last = entries.findLast(({ customType }) => customType === "workflow:state");
  last.data = older(last.data);
  return entries;
};

const REVIEW = "Release Pipeline > Code Review [2/3]";
const IN_REVIEW = {
  status: [`${REVIEW} > 🔍 Static Analysis [1/2]`, `${REVIEW} > 👀 Peer Review [2/2]`],
  bash: "bash has to wait in Static Analysis: read",
  next: "✓ Advanced: Static Analysis → 👀 Peer Review",
  end: [],
};
const NO_RUN = "No active workflow. Use /workflow {name} {description} to start one.";
const ENDED = { status: [], bash: "(no output)", phase: NO_RUN, next: NO_RUN };
const COMPLETE = "Release Pipeline: Add a route, 3 phases (wf-TASK-1)";

/** What the run shows: the status line, three results, and the messages at the end. */
const SESSIONS = {
  "in a nested phase": {
    session: session("in-a-nested-phase"),
    shows: { ...IN_REVIEW, phase: "**Phase:** 🔍 Static Analysis [1/2] (step 1)" },
  },
  "without a count of steps": {
    session: older("in-a-nested-phase", ({ globalStepCount: _count, ...state }) => state),
    shows: { ...IN_REVIEW, phase: "**Phase:** 🔍 Static Analysis [1/2] (step 1)" },
  },
  "with one index in the place of a path": {
    session: older("in-a-nested-phase", ({ currentPath: _path, globalStepCount: _count, ...state }) => ({
      ...state,
      currentPhaseIndex: 2,
    })),
    shows: {
      status: ["Release Pipeline > 👀 Peer Review [3/3]"],
      bash: "(no output)",
      phase: "**Phase:** 👀 Peer Review [3/3]",
      next: "✓ Advanced: Peer Review → DONE",
      end: [COMPLETE],
    },
  },
  "after a loop": {
    session: session("after-a-loop"),
    shows: { ...IN_REVIEW, phase: "**Phase:** 🔍 Static Analysis [1/2] (step 3)" },
  },
  "with a first cancel": {
    session: session("with-a-first-cancel"),
    shows: { ...IN_REVIEW, phase: "**Phase:** 🔍 Static Analysis [1/2] (step 1)" },
  },
  // The reference does not store that it has announced the end.
  completed: { session: session("completed"), shows: { ...ENDED, end: [COMPLETE, COMPLETE] } },
  cancelled: {
    session: session("cancelled"),
    shows: { ...ENDED, end: ["❌ **Workflow Cancelled**\n\n**Task:** Add a route\n**Task ID:** wf-TASK-1", COMPLETE] },
  },
};

for (const version of VERSIONS) {
  suite(`pi ${version}`, { concurrency: 3 }, () => {
    for (const [name, { session, shows }] of Object.entries(SESSIONS)) {
      test(`a session of 1.0.0: ${name}`, async () => {
        const model = [use("bash", { command: "true" }), step("status"), step("next"), stop];
        const played = await play({ global, session, model, actions: [run("Go on")] }, version, OURS);
        const [bash, status, next] = played.results.slice(-3);
        const phase = status.split("\n").find((line) => line.startsWith("**Phase:**")) ?? status;
        const [first] = next.split("\n");
        assert.deepEqual({ status: played.status, bash, phase, next: first, end: played.end }, shows);
      });
    }
  });
}

test("the workflows load without a diagnostic", () => {
  const { diagnostics } = openWorkflows([{ name: "global", path: WORKFLOWS }]).check({
    tools: ["read", "edit", "write"],
    moreTools: false,
  });
  // The reference has no other way to look only.
  const others = diagnostics.filter(({ message }) => !/refuses `edit` and `write`, but commands/.test(message));
  assert.deepEqual(others, []);
});

test("the workflows in the documentation of the reference load without an error", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const examples = documentedFiles("examples.md");
  const files = Object.fromEntries(Object.entries(examples).filter(([path]) => !path.includes("/.pi/")));
  const bugfix = Object.entries(documentedFiles("configuration-reference.md"));
  writeAll(folder, { ...files, ...Object.fromEntries(bugfix.map(([path, text]) => [`bugfix/${path}`, text])) });
  const { diagnostics } = openWorkflows([{ name: "global", path: folder }]).check({ tools: [], moreTools: true });
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error").map(({ text }) => text),
    [],
  );
  assert.equal(Object.keys(files).filter((path) => path.endsWith("workflow.yaml")).length, 8);
});

/**
 * Returns the files on a page of the documentation: each is a code block below a heading or a bold line that begins
 * with its path. The first block for a path counts.
 *
 * @param {string} page
 * @returns {Record<string, string>} texts by path
 */
function documentedFiles(page) {
  const text = readFileSync(join(REFERENCE, "docs", page), "utf8");
  const labelled =
    /^(?:### |\*\*\w+ )`([^`]+\.(?:yaml|md))`.*\n\n(?:(?!```|#).*\n\n)*```(?:yaml|markdown)\n([^]*?)^```$/gm;
  /** @type {Record<string, string>} */
  const files = {};
  for (const [, path, content] of text.matchAll(labelled))
    files[path.replace("~/.pi/agent/workflows/", "")] ??= content;
  return files;
}
