// The copies of extensions that a branch has, where they lean on pi's insides: what a copy does holds in its branch only.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { endsOf, panel, requestsOf, team } from "./harness/branches.mjs";
import { VERSIONS } from "./harness/extent.mjs";
import { REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { notices } from "./harness/workflows.mjs";

/** An extension that registers a tool, whose description has its flag, and in a branch changes models. */
const EXTENSION = `const of = (id) => ({ baseUrl: "http://127.0.0.1:9/v1", apiKey: "key", api: "openai-completions", models: [{ id, name: "x", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 128000, maxTokens: 1000 }] });
export default (pi) => {
  pi.registerFlag("mark", { type: "string", description: "x" });
  pi.registerProvider("mine", of("of-session"));
  pi.registerCommand("models", { handler: async (_args, ctx) => ctx.ui.notify("models " + ["of-session", "of-copy"].map((id) => ctx.modelRegistry.find("mine", id) !== undefined)) });
  pi.on("session_start", (_event, ctx) => {
    pi.registerTool({ name: "flag", label: "flag", description: "mark " + pi.getFlag("mark"), parameters: { type: "object", properties: {} }, execute: async () => ({ content: [], details: {} }) });
    if (ctx.sessionManager.getHeader()?.parentSession === undefined) return;
    pi.unregisterProvider("mine");
    pi.registerProvider("mine", of("of-copy"));
  });
};`;

/** An extension that has pi load extensions for another folder: pi then forgets those of the session. */
const ELSEWHERE = `import { DefaultResourceLoader, SettingsManager, getAgentDir } from "@earendil-works/pi-coding-agent";
export default (pi) => pi.registerCommand("elsewhere", { handler: async (_args, ctx) => {
  const loader = new DefaultResourceLoader({ cwd: "/", agentDir: getAgentDir(), settingsManager: SettingsManager.inMemory(), additionalExtensionPaths: [], noSkills: true, noPromptTemplates: true, noThemes: true, noContextFiles: true });
  await loader.reload();
  ctx.ui.notify("forgotten");
} });`;

for (const version of VERSIONS) {
  suite(`pi ${version}: a copy of an extension`, () => {
    test("activates no tool that the session does not have, changes no model, and has the flags", async (t) => {
      const { model, sandbox } = await stage(t, team(), {
        globalFiles: panel(["a", "b"]),
      });
      const file = join(sandbox.project, "copied.ts");
      writeFileSync(file, EXTENSION);
      const rpc = await startRpc({ version, sandbox, extension: [REPO, file], args: ["--mark", "by-user"] });
      await rpc.promptAndSettle("/workflow panel The task");
      await rpc.send({ type: "prompt", message: "/models" });
      assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done" }, rpc.stderr());
      const own = model.toolNames(0).sort();
      assert.ok(own.includes("flag") && !own.includes("grep"), own.join());
      for (const request of requestsOf(model))
        assert.deepEqual(request.tools?.map(({ function: { name } }) => name).sort(), own);
      assert.match(JSON.stringify(requestsOf(model, "A")[0]?.tools), /mark by-user/);
      assert.ok(
        notices(rpc).some((notice) => notice.includes("models true,false")),
        notices(rpc).join("\n"),
      );
      await rpc.close();
    });

    test("is made of what pi has loaded for the session, or no branch begins", async (t) => {
      const { model, sandbox } = await stage(t, team(), { globalFiles: panel(["a", "b"]) });
      const file = join(sandbox.project, "elsewhere.ts");
      writeFileSync(file, ELSEWHERE);
      const rpc = await startRpc({ version, sandbox, extension: [REPO, file] });
      await rpc.send({ type: "prompt", message: "/elsewhere" });
      assert.ok(
        notices(rpc).some((notice) => notice.includes("forgotten")),
        rpc.stderr(),
      );
      await rpc.promptAndSettle("/workflow panel The task");
      const ends = endsOf(await rpc.entries());
      for (const name of ["A", "B"]) assert.match(ends[name], /pi does not hold the extensions of this session/);
      assert.equal(requestsOf(model).length, 0);
      await rpc.close();
    });
  });
}
