// `/workflow :new NAME`: asks for a new workflow in pi, and writes it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS, some } from "./harness/extent.mjs";
import { NODE, REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { contextPrompt, ends, nextUntilDone, notices, toolResults, userTexts, workflow } from "./harness/workflows.mjs";

const CLI = join(REPO, "cli/pi-workflows.js");
const TITLES = ["What is", "How does", "Which command", "Where is"];

/**
 * Answers the dialogs in order; a number is the index of an option, and after the last answer each dialog is cancelled.
 *
 * @param {import("./harness/rpc.mjs").Rpc} rpc
 * @param {(string | number)[]} answers
 */
function answering(rpc, answers) {
  /** @type {string[]} */
  const titles = [];
  rpc.onDialog(({ title, options }) => {
    titles.push(title);
    const answer = answers[titles.length - 1];
    return typeof answer === "number" ? options[answer] : answer;
  });
  return titles;
}

/** The files of workflows in a sandbox. @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
const written = ({ project, agent }) =>
  [join(project, ".pi"), join(agent, "workflows")].flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name !== "settings.yaml")
      : [],
  );

/**
 * Plays the agents of the templates, also of branches; the last phase of the panel has nothing to repair.
 * @param {import("./harness/scripted-model.mjs").ChatRequest} request
 */
function clean(request) {
  const isOver = request.messages.at(-1)?.role === "tool";
  if (userTexts(request).some((text) => text.startsWith("Work on “")) && isOver) return { text: "Reviewed." };
  const newest = (isOver ? toolResults(request).at(-1) : contextPrompt(request)) ?? "";
  const answer = nextUntilDone(request);
  if (!("calls" in answer)) return answer;
  const outcome = /\n\*\*Outcomes:\*\* /.test(newest) ? "clean" : undefined;
  return { calls: [{ name: "workflow_step", arguments: { action: "next", summary: "Found nothing.", outcome } }] };
}

for (const version of VERSIONS) {
  suite(`pi ${version}: /workflow :new`, { concurrency: 2 }, () => {
    test("writes what the command writes for the same answers, and it starts at once", async (t) => {
      const { model, sandbox } = await stage(t, clean);
      const rpc = await startRpc({ version, sandbox });
      const answers = ['Ship: a "change" # all', "check", "true # {it: 'passes'}"];
      for (const [name, place, folder] of /** @type {const} */ ([
        ["ship", 0, join(sandbox.project, ".pi/workflows")],
        ["own", 1, join(sandbox.agent, "workflows")],
      ])) {
        const titles = answering(rpc, [answers[0], 1, answers[2], place]);
        await rpc.prompt(`/workflow :new ${name}`);
        assert.deepEqual(
          titles.map((title, index) => title.startsWith(TITLES[index])),
          TITLES.map(() => true),
        );
        assert.match(notices(rpc).at(-1) ?? "", new RegExp(`^info: \\S+/${name}/workflow.yaml is written\\.\\n`));
        const options = ["description", "template", "gate"].flatMap((option, index) => [`--${option}`, answers[index]]);
        const dir = join(sandbox.root, `cli-${name}`);
        const command = (/** @type {string[]} */ ...words) =>
          execFileSync(NODE, [CLI, ...words], { cwd: sandbox.project, env: sandbox.env(), encoding: "utf8" });
        command("new", name, ...options, "--dir", dir);
        const file = `${name}/workflow.yaml`;
        assert.equal(readFileSync(join(folder, file), "utf8"), readFileSync(join(dir, file), "utf8"));
        assert.match(command("check", "--strict", dir), /no errors/);
      }
      // A command of the user's own workflow runs without a question.
      await rpc.promptAndSettle("/workflow own Fix it");
      assert.match(model.messagesText(0), /Fix it\n\nRead what it touches/);
      for (const [index, name] of ["look", "panel"].entries()) {
        answering(rpc, ["", index * 2, 0]);
        await rpc.prompt(`/workflow :new ${name}`);
        await rpc.promptAndSettle(`/workflow ${name} Fix it`);
      }
      assert.equal(ends(await rpc.entries()).length, 3);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("never writes over anything, nor outside of its folder", LONG, async (t) => {
      const { sandbox } = await stage(t, [], {
        globalFiles: workflow("hello", ["plan"]),
        projectFiles: { "bad/workflow.yaml": "x" },
      });
      const own = readFileSync(join(sandbox.agent, "workflows/hello/workflow.yaml"), "utf8");
      mkdirSync(join(sandbox.project, ".pi/workflows/notes"));
      symlinkSync("/nowhere", join(sandbox.project, ".pi/workflows/link"));
      const before = written(sandbox);
      const rpc = await startRpc({ version, sandbox, trust: true });
      const all = ["", 0, 0];
      for (const [name, why] of some([
        ["hello", /^error: There is a workflow "hello" already: /],
        ["bad", /^error: There is a workflow "bad" already: /],
        ["notes", /^error: No workflow is written: \.pi\/workflows\/notes: it is there already$/],
        ["link", /^error: No workflow is written: \.pi\/workflows\/link: it is there already$/],
        ["", /^error: A name is /],
        ["a b", /^error: A name is /],
        ["../x", /^error: A name is /],
        ["é", /^error: A name is /],
        ["x".repeat(201), /^error: A name is /],
      ])) {
        answering(rpc, all);
        await rpc.prompt(`/workflow :new ${name}`);
        assert.match(notices(rpc).at(-1) ?? "", /** @type {RegExp} */ (why));
      }
      assert.deepEqual(written(sandbox), before);
      assert.equal(readFileSync(join(sandbox.agent, "workflows/hello/workflow.yaml"), "utf8"), own);
      await rpc.close();
      // A link in the place of the project's folder, and of the user's own, which may lie elsewhere.
      const elsewhere = join(sandbox.root, "elsewhere");
      mkdirSync(elsewhere);
      for (const folder of [join(sandbox.project, ".pi"), join(sandbox.agent, "workflows")]) {
        rmSync(folder, { recursive: true });
        symlinkSync(elsewhere, folder);
      }
      const again = await startRpc({ version, sandbox, trust: true });
      answering(again, all);
      await again.prompt("/workflow :new ship");
      assert.match(notices(again).at(-1) ?? "", /^error: No workflow is written: \.pi: it is a link$/);
      assert.deepEqual(readdirSync(elsewhere), []);
      answering(again, ["", 0, 1]);
      await again.prompt("/workflow :new ship");
      assert.deepEqual(readdirSync(elsewhere), ["ship"]);
      await again.close();
    });
  });
}
