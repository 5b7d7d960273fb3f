// Rules that are mistyped: their workflow does not start. What holds in a run is told when it starts.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { allNotices, isOfRules, nextUntilDone, phaseFile, states, workflow } from "./harness/workflows.mjs";

const A = phaseFile({ id: "a" });
const HEAD = "name: Flow\ninitialMessage: Go\nphases: [a.md]\n";
/** Lines of a phase file; each is an error. */
const MISTYPED = [
  "wirte: []",
  "netwrok: false",
  "sandbx: required",
  "tolls: { whitelist: [read] }",
  "hde: [.env]",
  "gat: [{ run: make }]",
  "budgte: { turns: 3 }",
  "readonly: true",
  "read-only: true",
  "permissions: { edit: deny }",
  "mode: plan",
  "internet: false",
  "wri\u200bte: []",
  "writ\u0435: []",
  "write\u00a0: []",
  "x-base: &b { write: [docs/] }\n<<: *b",
  'hide: ["$HOME/.aws/"]',
  "hide: ['%USERPROFILE%\\.aws\\']",
  "hide: [“.env”]",
  `hide: ["'.env'"]`,
  'hide: [" .env"]',
  'tools: { blacklist: ["edit,write"] }',
  'tools: { blacklist: ["!edit"] }',
  "tools: { blacklist: [“edit”] }",
];
/** Lines of one that loads. */
const SOUND = ["author: me\nlicense: MIT\ndate: today\nbase: main", 'write: ["routes/$postId.tsx"]'];

const RULES =
  "Rules of this run: read-only except docs/ in 2 of 3 phases; no network in review; some tools only in review; 1 gate.";

for (const version of VERSIONS) {
  suite(`pi ${version}: mistyped rules`, { concurrency: 2 }, () => {
    test("leave their workflow out", async (t) => {
      /** @type {Record<string, string>} */
      const projectFiles = {};
      for (const [index, lines] of [...MISTYPED, ...SOUND].entries()) {
        projectFiles[`w${index}/workflow.yaml`] = `commandName: w${index}\n${HEAD}`;
        projectFiles[`w${index}/a.md`] = A.replace("---\n", `---\n${lines}\n`);
      }
      const head = "commandName: latin\nname: Latin\ninitialMessage: Go\nphases: [a.md]\nhide: [";
      projectFiles["latin/workflow.yaml"] = "";
      projectFiles["latin/a.md"] = A;
      const { sandbox } = await stage(t, [], { projectFiles });
      writeFileSync(
        join(sandbox.project, ".pi/workflows/latin/workflow.yaml"),
        Buffer.from(`${head}pr\xfcfung/]\n`, "latin1"),
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.waitFor(({ method }) => method === "notify");
      assert.deepEqual(allNotices(rpc), [`error: ${MISTYPED.length + 1} workflows have errors: /workflow :check`]);
      await rpc.prompt("/workflow");
      const usage = allNotices(rpc).at(-1) ?? "";
      const started = SOUND.map((_, index) => `w${MISTYPED.length + index}`);
      assert.deepEqual(
        [...usage.matchAll(/^ {2}(\w+) —/gm)].map(([, name]) => name),
        started,
      );
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("are not all that is told: a run says what holds, and which tools there are not", async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, {
        globalFiles: {
          ...workflow("plain", ["a"]),
          ...workflow("strict", [
            { id: "plan", write: ["docs/"] },
            { id: "review", write: ["docs/"], network: false, tools: { blacklist: ["edi", "bash"] } },
            { id: "last", sandbox: "preferred", gate: [{ run: "true" }] },
          ]),
        },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow plain Do it");
      assert.deepEqual(allNotices(rpc).filter(isOfRules), []);
      await rpc.promptAndSettle("/workflow strict Do it");
      assert.equal(states(await rpc.entries()).at(-1).workflowKey, "strict");
      const told = allNotices(rpc).filter((notice) => isOfRules(notice) || notice.includes("No tool"));
      assert.deepEqual(told, [
        "warning: No tool has a name that the workflow lists: `edi` (did you mean `edit`?).",
        `info: ${RULES}`,
      ]);
      const { rules } = await runPrint({ version, sandbox, prompt: "/workflow strict Do it" });
      assert.equal(rules, `${RULES}\n`);
      assert.deepEqual(rpc.extensionErrors(), []);
    });
  });
}
