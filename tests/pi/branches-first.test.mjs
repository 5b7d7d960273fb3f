// A run that begins with a parallel group: its branches work before the agent's first prompt; one that ends with a
// group; two groups.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { branchOf, childFiles, endsOf, panel, parentEntries, requestsOf, team } from "./harness/branches.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { contextPrompt, leave, notices, phaseFile, states, toolResults, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/scripted-model.mjs").ScriptedModel} ScriptedModel */

/** @param {string} id @param {string[]} branches @param {object} [fields] */
const group = (id, branches, fields) => ({
  id,
  phases: branches.map((name) => `${name}.md`),
  parallel: true,
  ...fields,
});

/**
 * Files of the workflow `w` with these entries and the phases that they name.
 *
 * @param {unknown[]} phases
 * @param {...string} ids
 */
const files = (phases, ...ids) => ({
  ...workflow("w", [ids[0]], { autoContinue: false, phases }),
  ...Object.fromEntries(ids.map((id) => [`w/${id}.md`, phaseFile({ id, write: [] })])),
});

const FIRST = files([group("team", ["one", "two"]), "last.md"], "one", "two", "last");

/** The requests in their order, each as the branch or the session that it is of. @param {ScriptedModel} model */
const order = (model) => model.requests.map((request) => branchOf(request) ?? "session");

for (const version of VERSIONS) {
  suite(`pi ${version}: a parallel group`, { concurrency: 2 }, () => {
    test("that comes first works before the agent's first prompt", async (t) => {
      const { model, sandbox } = await stage(t, team(), { globalFiles: FIRST });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow w The task");
      const entries = await rpc.entries();
      assert.deepEqual(endsOf(entries), { One: "done", Two: "done" }, notices(rpc).join("\n"));
      assert.deepEqual(order(model).slice(2), ["session", "session"]);
      assert.match(contextPrompt(model.requests[2]) ?? "", /One did it\.[^]*Two did it\./);
      assert.equal(states(entries).at(-1).active, false);
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.deepEqual(
        notices(rpc).filter((line) => line.startsWith("error")),
        [],
      );
      await rpc.close();
    });

    test("that is the whole run ends it, without a prompt for the agent", async (t) => {
      const { model, sandbox } = await stage(t, team(), {
        globalFiles: files([group("team", ["one", "two"])], "one", "two"),
      });
      const run = await runPrint({ version, sandbox, prompt: "/workflow w The task" });
      assert.deepEqual([run.code, run.stderr], [0, "Workflow The w: DONE.\n"]);
      assert.deepEqual(
        order(model).filter((name) => name === "session"),
        [],
      );
      assert.deepEqual(endsOf(parentEntries(sandbox)), { One: "done", Two: "done" });
    });

    test("whose rules the agent has changed accepts nothing by itself", async (t) => {
      const item = (/** @type {string} */ name) => ({
        id: `branch-${name}`,
        phases: [{ id: `${name}-list`, run: "touch command-ran" }, `${name}.md`],
      });
      const globalFiles = {
        ...workflow("w", ["do"], {
          autoContinue: false,
          phases: ["do.md", { id: "team", phases: [item("one"), item("two")], parallel: true }],
        }),
        ...Object.fromEntries(["one", "two"].map((id) => [`w/${id}.md`, phaseFile({ id, write: [] })])),
      };
      const write = (/** @type {string} */ path, /** @type {string} */ content) => ({
        name: "write",
        arguments: { path, content },
      });
      const { model, sandbox } = await stage(
        t,
        (request) => {
          if (branchOf(request) !== undefined) return { calls: [write("one/by-branch", "x")] };
          if (request.messages.some(({ role }) => role === "tool")) return leave("", { summary: "Did it." });
          // In place of `write: []`, and of what the branches' step runs.
          const folder = join(sandbox.agent, "workflows/w");
          const changed = globalFiles["w/workflow.yaml"].replaceAll("command-ran", "other-command-ran");
          return {
            calls: [
              ...["one", "two"].map((id) => write(join(folder, `${id}.md`), phaseFile({ id, write: [`${id}/`] }))),
              write(join(folder, "workflow.yaml"), changed),
            ],
          };
        },
        { globalFiles },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow w The task");
      assert.deepEqual(endsOf(await rpc.entries()), {
        "branch-one": "waits: its agent has stopped",
        "branch-two": "waits: its agent has stopped",
      });
      assert.ok(notices(rpc).some((text) => text.includes("its rules are no longer those")));
      for (const command of ["/workflow :resume", "/workflow :retry 1", "/workflow :resume +5"]) {
        await rpc.prompt(command);
        assert.equal(model.requests.filter((request) => branchOf(request) !== undefined).length, 0, command);
        for (const file of ["one/by-branch", "command-ran", "other-command-ran"])
          assert.equal(existsSync(join(sandbox.project, file)), false, `${command}: ${file}`);
      }
      assert.equal(states(await rpc.entries()).at(-1).active, true);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("of one entry is an agent in a session of its own, and the run goes on in the conversation", async (t) => {
      const { model, sandbox } = await stage(t, team(), { globalFiles: panel(["solo"]) });
      const run = await runPrint({ version, sandbox, prompt: "/workflow panel The task" });
      assert.deepEqual([run.code, run.stderr], [0, "Workflow The panel: DONE.\n"]);
      assert.deepEqual(endsOf(parentEntries(sandbox)), { Solo: "done" });
      assert.ok(
        requestsOf(model, "Solo")[0].messages.every(({ role }) => role !== "tool"),
        "a fresh conversation",
      );
      assert.ok(toolResults(model.lastRequest()).some((text) => text.includes("Solo did it.")));
    });

    test("of 64 items works on 16 at a time", LONG, async (t) => {
      const each = Array.from({ length: 64 }, (_, index) => `i${index}`);
      let [now, most] = [0, 0];
      const of = async () => {
        most = Math.max(most, (now += 1));
        await new Promise((resolve) => setTimeout(resolve, 300));
        now -= 1;
        return undefined;
      };
      const scripts = Object.fromEntries(each.map((item) => [item, of]));
      const { sandbox } = await stage(t, team(scripts), { globalFiles: panel(["solo"], { each, parallel: 16 }) });
      const run = await runPrint({ version, sandbox, prompt: "/workflow panel The task", timeoutMs: 300_000 });
      assert.deepEqual([run.code, run.stderr], [0, "Workflow The panel: DONE.\n"]);
      assert.equal(childFiles(sandbox).length, each.length);
      assert.ok(most > 4 && most <= 16, String(most));
    });
  });
}
