// The folder of a run: its start, its gates, a resume, a fork, links in the way, forged names, and confined commands.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { lastPath, progress } from "./harness/gates.mjs";
import { bash, write } from "./harness/limited.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { step, toolResults, workflow } from "./harness/workflows.mjs";
import { visibleStage } from "./harness/world.mjs";

const REST = { text: "I rest." };
const next = step("next");
const TASK = "/workflow hello Add a route";
const QUIET = { autoContinue: false };
const NAME = /^[0-9a-f]{20}$/;
const report = { id: "plan", gate: [{ file: "{runDir}/report.md" }], instructions: "Write {runDir}/report.md." };
const FILES = workflow("hello", [report, "build"], QUIET);

/** The folders of runs in a project. @param {{ project: string }} sandbox */
const folders = ({ project }) => {
  const place = join(project, ".pi/workflow-runs");
  return existsSync(place) ? readdirSync(place).filter((name) => NAME.test(name)) : [];
};

/**
 * The folder that the agent was told in its newest request.
 *
 * @param {import("./harness/scripted-model.mjs").ChatRequest | undefined} request
 */
const told = (request) =>
  [...JSON.stringify(request).matchAll(/Write (\.pi\/workflow-runs\/[0-9a-f]{20})\/report\.md\./g)].at(-1)?.[1] ?? "";

/**
 * A model that writes the report where it was told, and goes on.
 *
 * @param {import("./harness/scripted-model.mjs").ChatRequest} request
 */
const dutiful = (request) => {
  const count = toolResults(request).length;
  if (count === 0) return { calls: [write(`${told(request)}/report.md`, "of this run\n")] };
  return count === 1 ? next : REST;
};

for (const version of VERSIONS) {
  suite(`pi ${version}: the folder of a run`, { concurrency: 2 }, () => {
    test("is made at the start, and a gate on it is not passed by another run's report", async (t) => {
      let script = dutiful;
      const { model, sandbox } = await stage(t, (request) => script(request), { globalFiles: FILES });
      const first = await runPrint({ version, sandbox, prompt: TASK });
      assert.equal(first.code, 1);
      assert.equal(lastPath(readSession(sandbox)), "hello:1");
      const [name] = folders(sandbox);
      assert.equal(progress(readSession(sandbox)).runDir, name);
      const place = join(sandbox.project, ".pi/workflow-runs");
      assert.equal(readFileSync(join(place, name, "report.md"), "utf8"), "of this run\n");
      assert.equal(readFileSync(join(place, ".gitignore"), "utf8"), "*\n");
      script = (request) => (toolResults(request).length === 0 ? next : REST);
      await runPrint({ version, sandbox, prompt: TASK });
      assert.match(
        toolResults(model.lastRequest())[0],
        new RegExp(`^✗ The gate of Plan is not passed: .*${told(model.lastRequest())}/report\\.md`),
      );
      assert.equal(folders(sandbox).length, 2);
      assert.notEqual(told(model.lastRequest()), `.pi/workflow-runs/${name}`);
    });

    test("of a fork is its own, a copy of the first one's", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, { globalFiles: FILES });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      const [first] = folders(sandbox);
      const inFirst = join(sandbox.project, ".pi/workflow-runs", first);
      mkdirSync(join(inFirst, "notes"));
      writeFileSync(join(inFirst, "notes/a.md"), "A");
      symlinkSync("/etc/hostname", join(inFirst, "link"));
      await rpc.promptAndSettle("More");
      const { messages } = (await rpc.send({ type: "get_fork_messages" })).data;
      assert.equal((await rpc.send({ type: "fork", entryId: messages.at(-1).entryId })).success, true);
      await rpc.promptAndSettle("In the fork");
      const second = folders(sandbox).find((name) => name !== first) ?? "";
      const inSecond = join(sandbox.project, ".pi/workflow-runs", second);
      assert.deepEqual(readdirSync(inSecond, { recursive: true }).sort(), ["notes", "notes/a.md"]);
      assert.equal(told(model.lastRequest()), `.pi/workflow-runs/${second}`);
      writeFileSync(join(inSecond, "report.md"), "of the fork");
      await rpc.promptAndSettle("/workflow :next");
      assert.equal(lastPath(await rpc.entries()), "hello:1");
      assert.equal(progress(await rpc.entries()).runDir, second);
      assert.equal(existsSync(join(inFirst, "report.md")), false);
      assert.equal(folders(sandbox).length, 2);
      await rpc.close();
    });

    test("is all that a phase can write that lists it", LONG, async (t) => {
      const limits = { write: ["{runDir}/"] };
      const calls = (/** @type {string} */ folder) => [
        bash(`echo yes > ${folder}/by-bash`),
        bash("echo no > .pi/by-bash"),
        bash("echo no > .pi/workflow-runs/by-bash"),
        bash("mkdir .pi/workflow-runs/00000000000000000000"),
        bash(`rm -rf ${folder} && ln -s /etc ${folder}`),
        bash("echo no > src"),
        write(`${folder}/by-write`, "yes\n"),
        write(".pi/by-write", "no\n"),
        write(".pi/workflow-runs/00000000000000000000/by-write", "no\n"),
        write(`${folder}/../by-write`, "no\n"),
      ];
      const { model, sandbox } = await visibleStage(
        t,
        (/** @type {any} */ request) => {
          const all = calls(told(request));
          const call = all[toolResults(request).length];
          return call ? { calls: [call] } : REST;
        },
        { globalFiles: workflow("hello", [{ ...report, ...limits }, "build"], QUIET) },
      );
      await runPrint({ version, sandbox, prompt: TASK });
      const results = toolResults(model.lastRequest());
      const place = join(sandbox.project, ".pi/workflow-runs");
      const [name] = folders(sandbox);
      assert.deepEqual(readdirSync(join(sandbox.project, ".pi")), ["workflow-runs"], results.join("\n"));
      assert.deepEqual(readdirSync(place).sort(), [".gitignore", name].sort());
      assert.deepEqual(readdirSync(sandbox.project), [".pi"]);
      assert.match(results[6], /^Successfully wrote/);
      for (const refused of [7, 8, 9]) assert.match(results[refused], /Writable: \.pi\/workflow-runs\/[0-9a-f]{20}\//);
      assert.deepEqual(readdirSync(join(place, name)), ["by-write"]);
    });
  });
}
