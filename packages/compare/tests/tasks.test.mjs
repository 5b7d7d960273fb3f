// The rules of a `task.md`, and the limits of a trial.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { readTask } from "../tasks.js";
import { makeAgentFolder, trialSettings } from "../trial.js";
import { openWorkflows } from "../../../cli/workflows.js";
import { inWords } from "../../../cli/words.js";

const readers = openWorkflows([]);
const task = (/** @type {string} */ text) => readTask("task.md", text, readers);
const plain = {
  text: "Do it",
  inputs: [],
  timeout: 1_800_000,
  checkTimeout: 600_000,
  budget: undefined,
  repo: undefined,
};

test("a task is its text and its fields", () => {
  for (const text of ["Do it\n", "---\n---\nDo it", "---\n# nothing\n---\nDo it"]) assert.deepEqual(task(text), plain);
  const yaml = "repo: https://example.org/x.git\ncommit: 1234567\ninputs:\n  zone: UTC\n  files: [a, 2]\ntimeout: 90\n";
  assert.deepEqual(task(`---\n${yaml}checkTimeout: 1h 30m\nbudget: cost=2\n---\nDo it`), {
    ...plain,
    inputs: Object.entries({ zone: ["UTC"], files: ["a", "2"] }).flatMap(([name, all]) =>
      all.map((one) => [name, one]),
    ),
    timeout: 90_000,
    checkTimeout: 5_400_000,
    budget: "cost=2",
    repo: ["https://example.org/x.git", "1234567"],
  });
});

test("a number without quotes is the text of the file, and data has a place", () => {
  const numbers = ["3.10", "1234567890123456789", "+49301", "1e3", "0x1F", "True"];
  const yaml = `title: x\nmetadata: { timeout: 1 }\nx-owner: [a]\ninputs:\n  all: [${numbers.join(", ")}]\n`;
  assert.deepEqual(task(`---\n${yaml}---\nDo it`), { ...plain, inputs: numbers.map((one) => ["all", one]) });
  const { repo } = task("---\nrepo: /x\ncommit: 12345e7\n---\nDo it");
  assert.deepEqual(repo, ["/x", "12345e7"]);
  assert.throws(() => task("---\ninputs: { a: 1 }\nowner_: x\n---\nDo it"), /2:1|3:1.*unknown field `owner_`/);
});

test("what is not understood in a task is an error with its place", () => {
  for (const [yaml, wanted] of [
    ["timeuot: 5m", "2:1: error: unknown field `timeuot` in `task.md`"],
    ["constructor: 5m", "2:1: error: unknown field `constructor`"],
    ["# later\ntimeout: soon", "3:1: error: `timeout`: expected a duration"],
    ["timeout: 2d", "2:1: error: `timeout`: expected a duration"],
    ["timeout: 0", "2:1: error: `timeout`: expected a duration"],
    ["timeout: 1m,turns=2", "2:1: error: `timeout`: expected a duration"],
    ["checkTimeout: [30m]", "2:1: error: `checkTimeout`: expected a duration"],
    ["timeout:", "2:1: error: `timeout` has no value"],
    ["inputs: {}", "2:1: error: `inputs` has no value"],
    ["budget: money", "2:1: error: `budget`: expected amounts"],
    ["repo: x", "2:1: error: `repo`: expected a `commit` beside it"],
    ["repo: [x]", "2:1: error: `repo`: expected a text"],
    ["commit: x", "2:1: error: missing field `repo`"],
    ["inputs: [1]", "2:1: error: `inputs`: expected a mapping"],
    ["inputs: { a: { b: 1 } }", "2:11: error: `inputs.a`: expected a text"],
    ["- 1", "2:1: error: expected a mapping"],
    ["timeout: 1m\ntimeout: 2m", "3:1: error: "],
    ["a: [", ""],
  ]) {
    const told = (/** @type {unknown} */ error) => inWords(error).startsWith(`task.md:${wanted}`);
    assert.throws(() => task(`---\n${yaml}\n---\nDo it`), told, yaml);
  }
  const oneOfTwo = (/** @type {unknown} */ error) => !inWords(error).includes("missing field");
  assert.throws(() => task("---\nrepo: [x]\ncommit: y\n---\nDo it"), oneOfTwo);
  for (const text of ["---\ntimeout: 1m\n---\n \n", "", "---\ntimeout: 1m\nDo it"])
    assert.throws(() => task(text), text);
});

test("the schema of tasks has the fields that are read", () => {
  const { properties } = JSON.parse(readFileSync(new URL("../../../schemas/task.json", import.meta.url), "utf8"));
  assert.throws(
    () => task("---\nother: 1\n---\nDo it"),
    (error) => inWords(error).endsWith(`; it has ${Object.keys(properties).join(", ")}`),
  );
});

test("the settings of a trial hide more, and those that cannot be read are an error", () => {
  const settings = (/** @type {string | undefined} */ text) =>
    trialSettings(text, ["/evals/"], "/home/u", readers.readYaml);
  const limits = "tools: { blacklist: [bash] }, hide: [.env, ~/.aws/], write: [src/], network: false";
  assert.deepEqual(JSON.parse(settings(`limits: { ${limits} }\nbuiltin: false\nonEvent: [tell]\n`)), {
    limits: {
      tools: { blacklist: ["bash"] },
      hide: [".env", "/home/u/.aws/", "/evals/"],
      write: ["src/"],
      network: false,
    },
    builtin: false,
  });
  assert.equal(settings(undefined), '{"limits":{"hide":["/evals/"]}}');
  assert.equal(settings("\u{feff}limits: { hide: [a] }"), '{"limits":{"hide":["a","/evals/"]}}');
  for (const text of ["[", "- a", "", "limits: 7", "limits: { hide: .env }", "limits: { hide: }", "wait: 6h\nwait: 7h"])
    assert.throws(() => settings(text), text);
});

test("files at the top of a project are no settings of a trial, and those of the user refuse as in a session", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agent-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (/** @type {string} */ path) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), "a: b\n");
  };
  for (const path of ["settings.yml", "limits.yaml", "shared.md", "w/workflow.yaml"]) write(`project/${path}`);
  for (const path of ["limits.yml", "settings.yaml"]) write(`own/workflows/${path}`);
  const grants = ["own/workflows", "project"].map((path) => ({ name: path, path: join(folder, path) }));
  const agent = join(folder, "agent");
  makeAgentFolder(agent, join(folder, "own"), grants, []);
  assert.deepEqual(readdirSync(join(agent, "workflows")).sort(), ["limits.yml", "shared.md", "w"]);
  assert.deepEqual(readdirSync(join(agent, "workflows/w")), ["workflow.yaml"]);
});
