// The example workflows, copied as the README describes.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import {
  contextPrompt,
  ends,
  nextUntilDone,
  notices,
  states,
  statusTexts,
  step,
  toolResults,
  userTexts,
  workflow,
} from "./harness/workflows.mjs";

const FOLDER = join(REPO, "workflows-examples");
const README = readFileSync(join(FOLDER, "README.md"), "utf8");
const TEMPLATE =
  /\{(workflowName|workflowKey|description|taskDescription|taskId|phaseId|phaseName|phaseEmoji|phaseInstructions|phaseCount|previousPhaseName|nextPhaseName|blockedToolsList|allowedTools|toolName|breadcrumbPath|globalStepCount|previousSummary|summary\.[\w-]+|firstPhase\w+)\}/;

/** The folders of the workflows that a user starts. */
const EXAMPLES = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith("_"))
  .map(({ name }) => name);

/** The workflows with a loop, and the phase in which the model calls `loop` once. */
const LOOPS = /** @type {Record<string, string>} */ ({ "until-clean": "Review", rpir: "Review", bugfix: "Verify" });

/** The questions of the gates. */
const GATES = /** @type {Record<string, number>} */ ({ bugfix: 1, release: 1 });

/**
 * @param {string} folder below the examples
 * @returns {Record<string, string>}
 */
function copy(folder) {
  const names = readdirSync(join(FOLDER, folder), { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
  const paths = names.map(({ parentPath, name }) => join(parentPath, name).slice(FOLDER.length + 1));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(FOLDER, path), "utf8")]));
}

/** Calls `next` until DONE, but `loop` at the first visit of a phase. @param {string | undefined} phase */
function goingRound(phase) {
  let looped = false;
  return (/** @type {import("./harness/scripted-model.mjs").ChatRequest} */ request) => {
    // A phase that starts fresh sees its own prompt only.
    const prompts = [...toolResults(request), contextPrompt(request) ?? ""];
    const there = !looped && phase && prompts.some((text) => new RegExp(`▸ \\S+ ${phase}\\]\n`).test(text));
    if (!there) return handingOver(nextUntilDone(request));
    looped = true;
    return step("loop");
  };
}

/** Gives each call a summary, which some phases require. @param {ReturnType<typeof nextUntilDone>} answer */
function handingOver(answer) {
  if (!("calls" in answer)) return answer;
  return { calls: answer.calls.map((call) => ({ ...call, arguments: { ...call.arguments, summary: "Found out." } })) };
}

for (const version of VERSIONS) {
  suite(`pi ${version}: the example`, { concurrency: 2 }, () => {
    for (const name of EXAMPLES) {
      test(`${name} loads without a diagnostic and runs to DONE`, async (t) => {
        const [, needsShared] = new RegExp(`^\\| \\[\`${name}\`\\].*\\| (yes|no) \\|$`, "m").exec(README) ?? [];
        assert.ok(needsShared, "the README says whether it needs `_shared`");
        const projectFiles = { ...copy(name), ...(needsShared === "yes" ? copy("_shared") : {}) };
        // The tests of the project, which a gate runs.
        const files = { "package.json": JSON.stringify({ scripts: { test: "touch tested" } }) };
        const { model, sandbox } = await stage(t, goingRound(LOOPS[name]), { projectFiles, files });
        /** @type {string[]} */
        const asked = [];
        const onDialog = (/** @type {any} */ { title, options }) => (asked.push(title), options.find((/** @type {string} */ option) => option.startsWith("Yes")));
        const rpc = await startRpc({ version, sandbox, onDialog });
        assert.deepEqual(notices(rpc), []);
        await rpc.promptAndSettle(`/workflow ${name} Let the export take a file name`);

        const [root, list] = [
          ...(contextPrompt(model.requests[0]) ?? "").matchAll(/▸ (.*)\]\n|\n\*\*All steps:\*\*\n([^]*?)\n\n/g),
        ];
        const all = list[2]
          .split("\n")
          .map((line) => line.replace(/^[▸ ] \d+\. (.* > )?/, "").replace(" (current)", ""));
        assert.equal(root[1], all[0]);
        const leaf = (/** @type {string | undefined} */ text) =>
          text
            ?.split(" > ")
            .at(-1)
            ?.replace(/ \[.*$/, "");
        const visited = statusTexts(rpc).slice(1, -1).map(leaf);
        const entries = await rpc.entries();
        const results = entries.flatMap(({ message }) => (message?.role === "toolResult" ? [message.content[0].text] : []));
        const loop = results.findIndex((text) => text.startsWith("🔄 Looped"));
        if (LOOPS[name]) {
          assert.ok(loop > 0, "it goes round");
          // The loop leads back to an earlier phase.
          const back = all.indexOf(visited[loop + 1] ?? "");
          assert.ok(back >= 0 && back < loop);
          assert.deepEqual(visited, [...all.slice(0, loop + 1), ...all.slice(back)]);
        } else {
          assert.deepEqual(visited, all);
        }
        const end = states(entries).at(-1);
        assert.deepEqual([end.active, end.cancelled, end.completionNotified], [false, false, true]);
        const said = model.requests.flatMap((request) => [...userTexts(request), ...toolResults(request)]);
        for (const text of [
          ...said,
          ends(entries)[0].content,
          (await rpc.state()).sessionName,
        ]) {
          assert.doesNotMatch(text, TEMPLATE);
        }
        assert.deepEqual(rpc.extensionErrors(), []);
        assert.equal(asked.length, GATES[name] ?? 0);
        assert.equal(readdirSync(sandbox.project).includes("tested"), name === "bugfix");
      });
    }

    test("folder as a whole loads the workflows that the README lists", async (t) => {
      const { sandbox } = await stage(t, [], { globalFiles: copy("."), projectFiles: workflow("quick", ["mine"]) });
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow");
      const [usage, ...more] = notices(rpc);
      assert.deepEqual(more, []);
      const offered = usage
        .split("\n")
        .slice(3)
        .map((line) => line.trim().split(" ")[0]);
      const listed = [...README.matchAll(/^\| \[`([\w-]+)`\]/gm)].map(([, name]) => name);
      assert.deepEqual(offered.sort(), listed.sort());
      assert.deepEqual(offered, EXAMPLES);
    });

    test("audit refuses bash with its own reason", async (t) => {
      const script = [{ calls: [{ name: "bash", arguments: { command: "echo >> touched" } }] }, { text: "I rest." }];
      const { model, sandbox } = await stage(t, script, { projectFiles: copy("audit") });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow audit The exporter");
      const [result] = (model.lastRequest()?.messages ?? []).filter(({ role }) => role === "tool").map(messageText);
      assert.match(result, /"bash"/);
      assert.match(result, /read, grep, find, ls/);
      assert.ok(!readdirSync(sandbox.project).includes("touched"));
    });
  });
}
