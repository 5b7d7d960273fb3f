// A run keeps the rules with which it started: it pauses when its files change, break or disappear.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { VERSIONS, variants } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { notices, states, statusTexts, step, storedResults, waiting, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/sandbox.mjs").Sandbox} Sandbox */

const REST = { text: "I rest." };
const TASK = "/workflow hello Add a route";
const FILES = {
  ...workflow("hello", [{ id: "plan", tools: { whitelist: ["read", "write"] }, write: [".pi/"] }, "@inner", "check"]),
  ...workflow("inner", ["build"], { show: "workflows" }),
};
const bash = { calls: [{ name: "bash", arguments: { command: "touch ran" } }] };
const write = (/** @type {string} */ path, /** @type {string} */ content) => ({
  calls: [{ name: "write", arguments: { path: `.pi/workflows/${path}`, content } }],
});
/** One call of each tool: the agent's run ends with them. */
const TRIES = {
  calls: [
    ...bash.calls,
    { name: "read", arguments: { path: "x" } },
    ...step("next", "loop", "cancel", "cancel", "status").calls,
  ],
};
const replaced = (/** @type {string} */ path, /** @type {string} */ from, /** @type {string} */ to) => {
  assert.ok(FILES[path].includes(from), path);
  return FILES[path].replace(from, to);
};
const RULES = "its rules are no longer those with which it was started";
const UNREADABLE = "the files of the workflow “hello” cannot be read";
/** The reasons in the status line. @type {Record<string, string>} */
const BRIEF = {
  [RULES]: "its rules have changed",
  [UNREADABLE]: "its files cannot be read",
};

/**
 * Changes of files by an agent, and the reason for the pause after each.
 *
 * @type {Record<string, [path: string, text: string, why: string]>}
 */
const ATTACKS = {
  "broken YAML": ["hello/workflow.yaml", "name: [", UNREADABLE],
  "a tool list of its own": [
    "hello/plan.md",
    replaced("hello/plan.md", '"read","write"', '"read","write","bash"'),
    RULES,
  ],
  "a rule of a nested workflow": ["inner/workflow.yaml", `${FILES["inner/workflow.yaml"]}loopable: false\n`, RULES],
};

for (const version of VERSIONS) {
  suite(`pi ${version}: a run`, { concurrency: 2 }, () => {
    for (const [what, [path, text, why]] of variants(Object.entries(ATTACKS))) {
      test(`pauses when an agent writes ${what}, in this process and in the next`, async (t) => {
        const { sandbox } = await stage(t, [write(path, text), REST, TRIES, TRIES], { projectFiles: FILES });
        const first = await startRpc({ version, sandbox });
        await first.promptAndSettle(TASK);
        assert.equal(statusTexts(first).at(-1), "The hello > 🔹 Plan [1/3]");
        await first.prompt("/workflow :check");
        assert.match(statusTexts(first).at(-1) ?? "", new RegExp(`^⏸ .*\\(paused: ${BRIEF[why]}\\)$`));
        assert.match(notices(first).at(-1) ?? "", new RegExp(`is paused: ${why}\\.`));
        const refused = async (/** @type {import("./harness/rpc.mjs").Rpc} */ rpc) => {
          await rpc.promptAndSettle("Go on");
          const results = storedResults(await rpc.entries()).slice(-7);
          assert.equal(results.length, 7);
          for (const result of results)
            assert.match(result, new RegExp(`The workflow is paused: ${why}\\. All tool calls are refused`));
          assert.equal(existsSync(join(sandbox.project, "ran")), false);
          const list = states(await rpc.entries());
          assert.deepEqual([list.length, list.at(-1).active], [1, true]);
        };
        await refused(first);
        await first.close();

        const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
        assert.match(statusTexts(rpc).at(-1) ?? "", new RegExp(`^⏸ .*\\(paused: ${BRIEF[why]}\\)$`));
        assert.match(notices(rpc).at(-1) ?? "", new RegExp(`is paused: ${why}\\.`));
        await refused(rpc);
        await rpc.prompt("/workflow :cancel");
        assert.equal(notices(rpc).at(-1), "info: Workflow cancelled.");
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      });
    }

    test("pauses when its folder or its whole root is gone, or its project is not trusted any more", async (t) => {
      const { sandbox } = await stage(t, () => REST, { projectFiles: FILES });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle(TASK);
      await first.close();
      const shown = async (/** @type {boolean | undefined} */ trust = undefined) => {
        const rpc = await startRpc({ version, sandbox, trust, args: ["--continue"] });
        const status = statusTexts(rpc).at(-1);
        await rpc.close();
        return status;
      };
      assert.equal(await shown(), waiting("The hello > 🔹 Plan [1/3]"));
      assert.equal(await shown(false), `⏸ hello (paused: ${BRIEF[UNREADABLE]})`);
      const root = join(sandbox.project, ".pi/workflows");
      renameSync(root, join(sandbox.root, "away"));
      assert.equal(await shown(), `⏸ hello (paused: ${BRIEF[UNREADABLE]})`);
      // The same files in the other root are other rules: global commands run without a question.
      mkdirSync(sandbox.agent, { recursive: true });
      rmSync(join(sandbox.agent, "workflows"), { recursive: true, force: true });
      renameSync(join(sandbox.root, "away"), join(sandbox.agent, "workflows"));
      assert.match((await shown()) ?? "", new RegExp(`\\(paused: ${BRIEF[RULES]}\\)$`));
    });
  });
}
