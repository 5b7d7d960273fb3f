// Workflows of one file: phases that are entries with `prompt`.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { branchOf } from "./harness/branches.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { ends, paths, states, statusTexts, storedResults } from "./harness/workflows.mjs";

/** @typedef {import("./harness/scripted-model.mjs").ChatRequest} ChatRequest */

const FILES = {
  "tidy/workflow.yaml": `phases:
  - id: look
    name: Look Around
    tools: { blacklist: [edit] }
    write: []
    prompt: |
      Look at {description}.
  - id: both
    parallel: true
    phases:
      - { id: left, write: [left/], prompt: "Tidy the left of {description}." }
      - { id: right, write: [right/], prompt: "Tidy the right of {description}." }
  - subworkflow: inner
  - prompt: End with {summary.look}.
`,
  "inner/workflow.yaml": "show: workflows\nphases: [{ id: within, prompt: Look within. }]\n",
};
const EDIT = { calls: [{ name: "edit", arguments: { path: "a.md", edits: [] } }] };
const BASH = { calls: [{ name: "bash", arguments: { command: "echo it > file" } }] };
const next = (/** @type {string} */ summary) => ({
  calls: [{ name: "workflow_step", arguments: { action: "next", summary } }],
});

/** The instructions that a model was told in its requests, each once. @param {ChatRequest[]} requests */
const instructions = (requests) => {
  const texts = requests.flatMap(({ messages }) => messages.map(messageText)).join("\n");
  return [...new Set([...texts.matchAll(/this phase:\*\*\n([^\n]*)/g)].map(([, text]) => text))].sort();
};

/** Goes on until the run, or its branch, is at its end. @param {ChatRequest} request */
const play = (request) => {
  const last = request.messages.at(-1);
  const isOver = branchOf(request) ? last?.role === "tool" : /→ DONE/.test(last ? messageText(last) : "");
  return isOver ? { text: "All done." } : next("Seen.");
};

suite("a workflow of one file", { concurrency: 2 }, () => {
  test("is played to its end, with branches and a nested one, and killed in between", async (t) => {
    let asked = 0;
    const script = (/** @type {ChatRequest} */ request) => {
      asked += 1;
      if (asked < 3) return [EDIT, BASH][asked - 1];
      return asked === 3 ? { hang: true } : play(request);
    };
    const { model, sandbox } = await stage(t, script, { projectFiles: FILES });
    const first = await startRpc({ sandbox });
    void first.prompt("/workflow tidy the desk");
    await model.waitForRequests(3);
    assert.equal(statusTexts(first).at(-1), "Tidy > Look Around [1/4]");
    await first.kill();

    const rpc = await startRpc({ sandbox, args: ["--continue"] });
    await rpc.promptAndSettle("Go on");
    const entries = await rpc.entries();
    const results = storedResults(entries);
    assert.match(results[0], /"edit".*(refused|blocked)/i);
    assert.match(results[1], /Read-only file system|Permission denied|cannot/i);
    const expected = ["End with Seen..", "Look at the desk.", "Look within."];
    assert.deepEqual(instructions(model.requests), [
      ...expected,
      "Tidy the left of the desk.",
      "Tidy the right of the desk.",
    ]);
    assert.equal(ends(entries).length, 1);
    assert.deepEqual(
      paths(states(entries))
        .filter((path, index, all) => path !== all[index - 1])
        .slice(0, 4),
      ["tidy:0", "tidy:1", "tidy:2 inner:0", "tidy:3"],
    );
    assert.deepEqual(rpc.extensionErrors(), []);
    await rpc.close();
  });
});
