// The model and the thinking level of a phase: `model` of its front matter, of entries and of workflows, and the user's
// aliases.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { notices, step, workflow } from "./harness/workflows.mjs";

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };
const NEXT = step("next");
const SETTINGS = "builtin: false\nmodels:\n  strong: [openai/gpt-5.2, one/big:high]\n  fast: two/x/small:y\n";

/**
 * Starts a model server, which pi knows as four models of two providers; the user's is `one/user` at the level `low`.
 * `openai` has no key.
 *
 * @param {import("node:test").TestContext} t
 * @param {Parameters<typeof stage>[1]} script
 * @param {Parameters<typeof workflow>[1]} phases
 * @param {Parameters<typeof workflow>[2]} [fields]
 * @param {Record<string, string>} [more] other files
 */
async function stageModels(t, script, phases, fields, more) {
  const globalFiles = { ...workflow("hello", phases, { ...QUIET, ...fields }), "settings.yaml": SETTINGS, ...more };
  const settings = { defaultProvider: "one", defaultModel: "user", defaultThinkingLevel: "low" };
  const { model, sandbox } = await stage(t, script, { globalFiles, settings });
  const provider = (/** @type {string[]} */ ...ids) => ({
    baseUrl: model.baseUrl,
    api: "openai-completions",
    apiKey: "scripted",
    models: ids.map((id) => ({ id, reasoning: true, contextWindow: 128_000, maxTokens: 16_384 })),
  });
  writeFileSync(
    join(sandbox.agent, "models.json"),
    JSON.stringify({ providers: { one: provider("user", "big"), two: provider("x/small:y", "other") } }),
  );
  /** The models of the requests so far, each with its level. */
  const used = () => model.requests.map((/** @type {any} */ request) => `${request.model} ${request.reasoning_effort}`);
  return { model, sandbox, used };
}

/** @param {any} state */
const modelOf = ({ model, thinkingLevel }) => `${model.provider}/${model.id} ${thinkingLevel}`;

for (const version of VERSIONS) {
  suite(`pi ${version}: the model of a phase`, { concurrency: 2 }, () => {
    test("is set with the next request, and the end of the run gives back the user's", async (t) => {
      const phases = [
        { id: "plan", model: "strong" },
        { id: "check", model: ":minimal" },
        "write",
        { id: "test", model: ["two/none", "fast:medium"] },
      ];
      const { sandbox, used } = await stageModels(t, [NEXT, NEXT, NEXT, NEXT, REST, REST], phases);
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Look");
      assert.deepEqual(used(), ["big high", "user minimal", "user low", "x/small:y medium", "user low"]);
      assert.equal(modelOf(await rpc.state()), "one/user low");
      await rpc.promptAndSettle("Go on");
      assert.equal(used().at(-1), "user low");
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.deepEqual(
        notices(rpc).filter((text) => /error|no model/.test(text)),
        [],
      );
      await rpc.close();
    });

    test("outlives a crash, and so does the user's", LONG, async (t) => {
      const script = [REST, { hang: true }, REST, NEXT, REST];
      const { model, sandbox, used } = await stageModels(t, script, [{ id: "plan", model: "strong" }, "write"]);
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow hello Look");
      void first.prompt("Go on");
      await model.waitForRequests(2);
      await first.kill();
      const second = await startRpc({ version, sandbox, args: ["--continue"] });
      await second.promptAndSettle("Still there?");
      await second.promptAndSettle("Go on");
      assert.deepEqual(used(), ["big high", "big high", "big high", "big high", "user low"]);
      assert.equal(modelOf(await second.state()), "one/user low");
      await second.close();
      const third = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.equal(modelOf(await third.state()), "one/user low");
      await third.close();
    });

    test("is that of the branch, and stays over a reload", async (t) => {
      const { sandbox, used } = await stageModels(
        t,
        [REST, NEXT, REST, REST, REST, REST, REST],
        [
          { id: "plan", model: "strong" },
          { id: "write", model: "fast:high" },
        ],
      );
      writeFileSync(join(sandbox.project, "travel.ts"), TRAVEL["travel.ts"]);
      const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox) });
      await rpc.promptAndSettle("Hello");
      const atFirst = (await rpc.entries()).at(-1).id;
      await rpc.promptAndSettle("/workflow hello Look");
      await rpc.prompt("/go-reload");
      await rpc.promptAndSettle("Go on");
      const entries = await rpc.entries();
      const planning = entries.find(({ type, customType }) => type === "custom" && customType === "workflow:state").id;
      assert.deepEqual(used(), ["user low", "big high", "x/small:y high", "x/small:y high"]);
      await rpc.prompt(`/go-tree ${planning}`);
      await rpc.promptAndSettle("Plan again");
      await rpc.prompt(`/go-tree ${atFirst}`);
      await rpc.promptAndSettle("Another day");
      assert.deepEqual(used().slice(4), ["big high", "user low"]);
      await rpc.prompt(`/go-tree ${planning}`);
      await rpc.prompt("/cancel-workflow");
      assert.equal(modelOf(await rpc.state()), "one/user low");
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });
  });
}
