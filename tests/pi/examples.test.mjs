// The example workflows, copied as the README describes.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { demoAgent } from "../../scripts/demo/agent.mjs";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import {
  contextPrompt,
  ends,
  leave,
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

/** The workflows with a loop, and the phase that leads back once, by `loop` or an outcome. */
const LOOPS = /** @type {Record<string, string>} */ ({ "until-clean": "Review", rpir: "Review", bugfix: "Verify" });

/** The outcomes of phases at their first and later visits. */
const OUTCOMES = /** @type {Record<string, string[]>} */ ({
  Triage: ["large"],
  Review: ["issues", "clean"],
  Check: ["done"],
});

/** The questions of gates and entries. */
const GATES = /** @type {Record<string, number>} */ ({ bugfix: 1, "pull-request": 2, release: 1 });

/**
 * @param {string} folder below the examples
 * @returns {Record<string, string>}
 */
function copy(folder) {
  const names = readdirSync(join(FOLDER, folder), { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
  const paths = names.map(({ parentPath, name }) => join(parentPath, name).slice(FOLDER.length + 1));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(FOLDER, path), "utf8")]));
}

/**
 * Calls `next` until DONE, but `loop` at the first visit of a phase without outcomes.
 *
 * @param {string | undefined} phase
 * @param {typeof OUTCOMES} [outcomes]
 */
function goingRound(phase, outcomes = OUTCOMES) {
  let looped = false;
  /** @type {Record<string, number>} */
  const visits = {};
  return (/** @type {import("./harness/scripted-model.mjs").ChatRequest} */ request) => {
    // A phase that starts fresh sees its own prompt only.
    const prompts = [...toolResults(request), contextPrompt(request) ?? ""];
    const newest =
      (request.messages.at(-1)?.role === "tool" ? toolResults(request).at(-1) : contextPrompt(request)) ?? "";
    const [, name = ""] = /\[Workflow path: .*▸ \S+ (.*)\]\n/.exec(newest) ?? [];
    if (/\n\*\*Outcomes:\*\* /.test(newest)) {
      const visit = (visits[name] = (visits[name] ?? 0) + 1);
      return handingOver(leave(outcomes[name][visit - 1] ?? outcomes[name].at(-1)));
    }
    const there =
      !looped &&
      phase &&
      prompts.some((text) => new RegExp(`▸ \\S+ ${phase}\\]\n`).test(text) && !text.includes("**Outcomes:**"));
    if (!there) return handingOver(nextUntilDone(request), newest.includes("\n**Outputs:** "));
    looped = true;
    return step("loop");
  };
}

/**
 * Gives each call a summary, which some phases require, and the outputs of the phases that have them.
 * @param {ReturnType<typeof nextUntilDone>} answer
 * @param {boolean} [hasOutputs]
 */
function handingOver(answer, hasOutputs = false) {
  if (!("calls" in answer)) return answer;
  const outputs = hasOutputs ? { outputs: { tasks: ["The only task"] } } : {};
  return {
    calls: answer.calls.map((call) => ({
      ...call,
      arguments: { ...call.arguments, summary: "Found out.", ...outputs },
    })),
  };
}

/**
 * Plays the agents of branches too: each ends with `clean`, but the first ones of these names with `issues`.
 * @param {ReturnType<typeof goingRound>} own of the session itself
 * @param {string[]} [withIssues]
 */
function withBranches(own, withIssues = []) {
  return (/** @type {import("./harness/scripted-model.mjs").ChatRequest} */ request) => {
    const branch = userTexts(request)
      .map((text) => /^Work on “([^”]+)”, a branch of the workflow/.exec(text)?.[1])
      .find(Boolean);
    if (branch === undefined) return own(request);
    if (request.messages.at(-1)?.role === "tool") return { text: "My review is done." };
    const at = withIssues.indexOf(branch);
    if (at >= 0) withIssues.splice(at, 1);
    return handingOver(leave(at >= 0 ? "issues" : "clean"));
  };
}

/**
 * Places without the number of branches that have ended, and without repetitions.
 * @param {(string | undefined)[]} places
 */
const withoutCounts = (places) =>
  places.map((place) => place?.replace(/ \(\d+ of \d+\)$/, "")).filter((place, index, all) => place !== all[index - 1]);

for (const version of VERSIONS) {
  suite(`pi ${version}: the example`, { concurrency: 2 }, () => {
    for (const name of variants(EXAMPLES, 2)) {
      test(`${name} loads without a diagnostic and runs to DONE`, async (t) => {
        const [, needsShared] = new RegExp(`^\\| \\[\`${name}\`\\].*\\| (yes|no) \\|$`, "m").exec(README) ?? [];
        assert.ok(needsShared, "the README says whether it needs `_shared`");
        const projectFiles = { ...copy(name), ...(needsShared === "yes" ? copy("_shared") : {}) };
        // The tests of the project, which a gate runs.
        const files = { "package.json": JSON.stringify({ scripts: { test: "touch tested" } }) };
        const { model, sandbox } = await stage(t, withBranches(goingRound(LOOPS[name])), { projectFiles, files });
        /** @type {string[]} */
        const asked = [];
        const onDialog = (/** @type {any} */ { title, options }) => (
          asked.push(title),
          options.find((/** @type {string} */ option) => option.startsWith("Yes"))
        );
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
        const visited = withoutCounts(statusTexts(rpc).slice(1, -1).map(leaf));
        const entries = await rpc.entries();
        const results = entries.flatMap(({ message }) =>
          message?.role === "toolResult" ? [message.content[0].text] : [],
        );
        const loop = results.findIndex((text) => /^(🔄 Looped|✓ Went back)/.test(text));
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
        for (const text of [...said, ends(entries)[0].content, (await rpc.state()).sessionName]) {
          assert.doesNotMatch(text, TEMPLATE);
        }
        assert.deepEqual(rpc.extensionErrors(), []);
        assert.equal(asked.length, GATES[name] ?? 0);
        assert.equal(readdirSync(sandbox.project).includes("tested"), ["bugfix", "pull-request"].includes(name));
      });
    }

    test("panel goes back as long as one reviewer has issues, and stops after the third time", LONG, async (t) => {
      for (const [rounds, end] of variants(
        /** @type {const} */ ([
          [1, "Complete"],
          [4, "was stopped"],
        ]),
      )) {
        const withIssues = Array(rounds).fill("Tests");
        const agent = withBranches((request) => handingOver(nextUntilDone(request)), withIssues);
        const { sandbox } = await stage(t, agent, { projectFiles: copy("panel") });
        const rpc = await startRpc({ version, sandbox });
        // Twelve sessions of branches, one round after another.
        await rpc.promptAndSettle("/workflow panel Let the export take a file name");
        const visited = withoutCounts(
          statusTexts(rpc)
            .slice(1, -1)
            .map((text) => text?.replace(/^.* > | \[.*$/g, "")),
        );
        const round = ["⚒️ Implement", "🔀 Reviews"];
        const all = Array.from({ length: Math.min(rounds + 1, 4) }, () => round).flat();
        assert.deepEqual(visited, rounds === 4 ? all : [...all, "🎁 Hand over"]);
        assert.match(ends(await rpc.entries())[0].content, new RegExp(end));
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      }
    });

    test("bugfix takes small bugs past the reproduction", LONG, async (t) => {
      const files = { "package.json": JSON.stringify({ scripts: { test: "touch tested" } }) };
      const outcomes = { Triage: ["small"] };
      const { model, sandbox } = await stage(t, goingRound(undefined, outcomes), {
        projectFiles: copy("bugfix"),
        files,
      });
      const onDialog = (/** @type {any} */ { options }) =>
        options.find((/** @type {string} */ option) => option.startsWith("Yes"));
      const rpc = await startRpc({ version, sandbox, onDialog });
      await rpc.promptAndSettle("/workflow bugfix A typo in a message");
      const visited = statusTexts(rpc)
        .slice(1, -1)
        .map((text) => text?.replace(/^.* > | \[.*$/g, ""));
      assert.deepEqual(visited, ["🚦 Triage", "🩹 Patch", "🧪 Verify"]);
      const [patch] = toolResults(model.requests[1]);
      assert.match(
        patch,
        /^✓ Advanced with `small`: Triage → 🩹 Patch\nPassed over: Reproduce \(outcome\.triage is small, not large\)\n/,
      );
      assert.match(patch, /\n {2}2\. 🪤 Reproduce \(passed over: outcome\.triage is small, not large\)\n/);
      assert.equal(states(await rpc.entries()).at(-1).active, false);
    });

    test("pull-request goes back with failed tests and with the user's wishes, and can be dropped", async (t) => {
      const files = {
        "package.json": JSON.stringify({ scripts: { test: "echo x >> ran; test $(wc -l < ran) -ge 2" } }),
      };
      const { model, sandbox } = await stage(t, (request) => handingOver(nextUntilDone(request)), {
        projectFiles: copy("pull-request"),
        files,
      });
      const answers = ["Change the description", "Say why.", "Change the code", "Use less memory.", "Drop it"];
      const onDialog = (/** @type {any} */ { options, title }) =>
        /^Start /.test(title) ? options[1] : answers.shift();
      const rpc = await startRpc({ version, sandbox, onDialog });
      await rpc.promptAndSettle("/workflow pull-request Add a route");
      const visited = statusTexts(rpc)
        .slice(1, -1)
        .map((text) => text?.replace(/^.* > | \[.*$/g, ""));
      const round = ["🔨 Change", "⚙️ The project's tests"];
      const described = ["📝 Describe", "❓ Open it?"];
      assert.deepEqual(visited, [...round, ...round, ...described, ...described, ...round, ...described]);
      const texts = model.requests.flatMap(toolResults);
      assert.ok(
        texts.some((text) => /### ❓ Open it\?\nSay why\.\n/.test(text)),
        "the user's wish goes along",
      );
      assert.equal(readFileSync(join(sandbox.project, "ran"), "utf8"), "x\nx\nx\n");
      assert.deepEqual([states(await rpc.entries()).at(-1).active, answers], [false, []]);
      assert.match(ends(await rpc.entries())[0].content, /has ended \(drop\)/);
      await rpc.close();
    });

    for (const name of variants(["bugfix", "until-clean"])) {
      test(`${name} is played to DONE by the model of the demo`, async (t) => {
        const projectFiles = { ...copy(name), ...copy("_shared") };
        const files = { "README.md": "# Demo\n", "package.json": JSON.stringify({ scripts: { test: "true" } }) };
        const { sandbox } = await stage(t, demoAgent({ paceMs: 0 }), { projectFiles, files });
        const onDialog = (/** @type {any} */ { options }) =>
          options.find((/** @type {string} */ option) => option.startsWith("Yes"));
        const rpc = await startRpc({ version, sandbox, onDialog });
        await rpc.promptAndSettle(`/workflow ${name} Add a greeting`);
        assert.equal(states(await rpc.entries()).at(-1).active, false);
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
