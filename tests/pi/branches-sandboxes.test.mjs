// Confined commands of branches that run at the same time: none takes from another what it is held to.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { endsOf, panel, requestsOf, team, textIn } from "./harness/branches.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { bash } from "./harness/limited.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { toolResults } from "./harness/workflows.mjs";
import { visibleStage } from "./harness/world.mjs";

/** Reads a file as soon as there is something in it. @param {string} path */
const lurk = (path) =>
  bash(
    `end=$((SECONDS + 2)); while [ $SECONDS -lt $end ]; do grep -q secret ${path} 2>/dev/null && { cat ${path}; exit; }; sleep 0.02; done; echo saw nothing`,
  );

/** @param {() => boolean} done */
async function until(done) {
  for (let tries = 0; !done() && tries < 500; tries += 1) await sleep(10);
}

for (const version of VERSIONS) {
  suite(`pi ${version}: the sandboxes of branches`, { concurrency: 2 }, () => {
    test(
      "a branch that may write what is hidden from a command of another one replaces it after that command",
      { timeout: 60_000 },
      async (t) => {
        const script = team({
          A: [{ calls: [lurk("docs/secret")] }],
          B: async (_, index) => {
            if (index > 0) return undefined;
            await until(() => existsSync(join(sandbox.project, "docs/secret")));
            return { calls: [bash("echo the-secret > docs/x && mv docs/x docs/secret && echo moved")] };
          },
        });
        const globalFiles = panel([
          { id: "a", hide: ["docs/secret"] },
          { id: "b", write: ["docs/"] },
        ]);
        const { model, sandbox } = await visibleStage(t, script, { globalFiles, files: { "docs/plan.md": "plan" } });
        const rpc = await startRpc({ version, sandbox });
        await rpc.promptAndSettle("/workflow panel The task");
        const [a, b] = ["A", "B"].map((name) => toolResults(/** @type {any} */ (requestsOf(model, name).at(-1)))[0]);
        assert.match(a, /^saw nothing/);
        assert.match(b, /^moved/);
        assert.equal(textIn(sandbox, "docs/secret"), "the-secret\n");
        assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done" });
        assert.deepEqual([rpc.extensionErrors(), model.faults], [[], []]);
      },
    );

    test(
      "what is hidden and comes late stays hidden from the command of a branch when that of another one ends",
      { ...LONG, timeout: 60_000 },
      async (t) => {
        const script = team({
          // This one creates what covers the path, and removes what it created.
          A: [{ calls: [bash("sleep 0.6")] }],
          B: async (_, index) => {
            if (index > 0) return undefined;
            await until(() => existsSync(join(sandbox.project, "late.txt")));
            return { calls: [lurk("late.txt")] };
          },
        });
        const late = { hide: ["late.txt"] };
        const { model, sandbox } = await visibleStage(t, script, {
          globalFiles: panel([
            { id: "a", ...late },
            { id: "b", ...late },
          ]),
        });
        const rpc = await startRpc({ version, sandbox });
        const settled = rpc.promptAndSettle("/workflow panel The task");
        await until(() => requestsOf(model, "A").length > 1);
        writeFileSync(join(sandbox.project, "late.txt"), "the-secret\n");
        await settled;
        assert.match(toolResults(/** @type {any} */ (requestsOf(model, "B").at(-1)))[0], /^saw nothing/);
        assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done" });
        assert.deepEqual([rpc.extensionErrors(), model.faults], [[], []]);
      },
    );
  });
}
