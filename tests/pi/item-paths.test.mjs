// Branches that write where no other does: an item narrows what its branch may write.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { branchOf, requestsOf } from "./harness/branches.mjs";
import { VERSIONS } from "./harness/extent.mjs";
import { lastPath } from "./harness/gates.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { leave, notices, toolResults, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/scripted-model.mjs").ChatRequest} ChatRequest */

const FILES = workflow("w", [], {
  autoContinue: false,
  phases: [
    {
      id: "plan",
      prompt: "Plan.",
      outputs: { parts: { type: "list", max: 4, fields: { folder: { type: "text" } } } },
    },
    {
      parallel: 2,
      each: "output.plan.parts",
      phases: [{ id: "do", write: ["src/{item.folder}/"], prompt: "Do {item.folder}." }],
    },
    { id: "last", prompt: "Last." },
  ],
});

/** @param {string[]} folders */
const plan = (...folders) =>
  leave("", { summary: "Planned.", outputs: { parts: folders.map((folder) => ({ folder })) } });
const write = (/** @type {string} */ path) => ({ name: "write", arguments: { path, content: "x" } });

for (const version of VERSIONS) {
  suite(`pi ${version}: paths of items`, { concurrency: 2 }, () => {
    test("each branch writes in its own folder, and nowhere else", async (t) => {
      const play = (/** @type {ChatRequest} */ request) => {
        const text = request.messages.map(messageText).join("\n");
        const results = toolResults(request);
        if (branchOf(request) === undefined) {
          if (/→ DONE/.test(results.at(-1) ?? "")) return { text: "All done." };
          return results.length === 0 ? plan("api", "web/ui") : leave("", { summary: "Did it." });
        }
        const [own, other] = text.includes("Do api.") ? ["api", "web/ui"] : ["web/ui", "api"];
        if (results.length === 0) {
          const command = `echo x > src/${other}/by-command; echo x > src/by-command; mkdir -p src/${own}; echo x > src/${own}/by-command`;
          const bash = { name: "bash", arguments: { command } };
          const paths = [`src/${own}/a`, `src/${other}/b`, "src/c", `src/${own}/../d`];
          return { calls: [...paths.map(write), bash] };
        }
        return /→ DONE|branch/.test(results.at(-1) ?? "") && results.length > 5
          ? { text: "Done." }
          : leave("", { summary: `Did ${own}.` });
      };
      const { model, sandbox } = await stage(t, play, { globalFiles: FILES });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow w The task");
      assert.equal(lastPath(await rpc.entries()), "w:2", notices(rpc).join("\n"));
      const exists = (/** @type {string} */ path) => existsSync(join(sandbox.project, "src", path));
      const told = requestsOf(model).map((request) => request.messages.map(messageText).join("\n"));
      assert.ok(exists("api/a") && exists("web/ui/a"), told.join("\n---\n"));
      assert.ok(exists("api/by-command") && exists("web/ui/by-command"), told.join("\n---\n"));
      for (const path of ["api/b", "web/ui/b", "c", "d", "by-command"]) assert.ok(!exists(path), path);
      assert.equal(readFileSync(join(sandbox.project, "src/api/by-command"), "utf8"), "x\n");
      assert.ok(told.some((text) => text.includes("**Writable in this phase:** src/web/ui/.")));
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("two items whose folders meet, and one that is no name, pause the run before an agent starts", async (t) => {
      const calls = [plan("api", "web", "api/ui"), { text: "I wait." }, plan("api", "../web"), { text: "I wait." }];
      const { model, sandbox } = await stage(t, calls, { globalFiles: FILES });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow w The task");
      assert.match(
        notices(rpc).join("\n"),
        /\{"folder":"api"\} and \{"folder":"api\/ui"\} meet in `src\/api\/` and `src\/api\/ui\/`/,
      );
      await rpc.promptAndSettle("/workflow :back");
      assert.match(
        notices(rpc).join("\n"),
        /\{"folder":"\.\.\/web"\}: the value of `\{item\.folder\}` has a component `\.\.`, in `src\/\{item\.folder\}\/`/,
      );
      assert.equal(requestsOf(model).length, 0);
      assert.ok(!existsSync(join(sandbox.project, "src")));
      assert.deepEqual(rpc.extensionErrors(), []);
    });
  });
}
