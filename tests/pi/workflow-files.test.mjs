// The workflow's own files: its folder as a value, and `scripts/`, which belongs to the rules of a run.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { endsOf, panel, team } from "./harness/branches.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { bash, write } from "./harness/limited.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { notices, states, step, toolResults, userTexts, workflow } from "./harness/workflows.mjs";
import { visibleStage } from "./harness/world.mjs";

/** @typedef {import("./harness/sandbox.mjs").Sandbox} Sandbox */

const REST = { text: "I rest." };
const DIR = { dir: "workflowDir" };
const SCAN = "grep -c TODO notes.txt\n";
const CHECK = 'test "$(cat notes.txt)" = done\n';

/** A doctor of a project: a script finds what is wrong, the agent repairs it, and another script looks again. */
const DOCTOR = {
  ...workflow("doctor", [
    {
      id: "repair",
      write: ["notes.txt", ".pi/workflows/"],
      gate: [{ run: 'sh "$dir/scripts/look/again.sh"', env: DIR }],
      instructions: "Repair what {workflowDir}/scripts/scan.sh found: {log.scan}",
    },
    "@report",
  ]),
  "doctor/scripts/scan.sh": SCAN,
  "doctor/scripts/look/again.sh": CHECK,
};
const withScan = (/** @type {Record<string, string>} */ files) => ({
  ...files,
  "doctor/workflow.yaml": files["doctor/workflow.yaml"].replace(
    "phases: [",
    'phases: [{"id":"scan","run":"sh \\"$dir/scripts/scan.sh\\"","env":{"dir":"workflowDir"}},',
  ),
});
/** The user's own workflow that is nested in it. */
const REPORT = {
  ...workflow("report", [{ id: "sum", gate: [{ run: 'sh "$dir/scripts/ok.sh"', env: DIR }] }], { show: "workflows" }),
  "report/scripts/ok.sh": "touch reported\n",
};
const scriptOf = (/** @type {Sandbox} */ { project }, path = "look/again.sh") =>
  join(project, ".pi/workflows/doctor/scripts", path);

for (const version of VERSIONS) {
  suite(`pi ${version}: scripts of a workflow`, { concurrency: 2 }, () => {
    test("run from its folder, and an agent in a phase with limits cannot change them", async (t) => {
      const path = ".pi/workflows/doctor/scripts/look/again.sh";
      const { model, sandbox } = await visibleStage(
        t,
        [
          {
            calls: [
              write(path, "true\n"),
              write(".pi/workflows/doctor/scripts/new.sh"),
              bash(`echo true > ${path}; rm -f ${path}; mv .pi/workflows/doctor .pi/workflows/other; ls ${path}`),
              bash("echo noted > .pi/workflows/doctor/notes.md && cat .pi/workflows/doctor/notes.md"),
            ],
          },
          step("next"),
          { calls: [write("notes.txt", "done\n")] },
          step("next"),
          step("next"),
        ],
        { projectFiles: withScan(DOCTOR), globalFiles: REPORT, files: { "notes.txt": "TODO\nTODO\n" } },
      );
      const args = ["--allow-workflow-commands"];
      const { stdout, stderr } = await runPrint({ version, sandbox, prompt: "/workflow doctor Heal", args });
      assert.match(stderr, /DONE\.$/m, stdout);
      const prompts = userTexts(model.requests[0]).join("\n") + JSON.stringify(model.requests[0]);
      const folder = join(sandbox.project, ".pi/workflows/doctor");
      assert.ok(prompts.includes(`Repair what ${folder}/scripts/scan.sh found: 2`), prompts);
      const [first, second, third, fourth] = toolResults(model.requests[1]);
      for (const refused of [first, second])
        assert.match(refused, /cannot be written in the Repair phase: a workflow's `scripts\/` is part of its rules/);
      assert.match(third, /Read-only file system|Device or resource busy/);
      assert.match(third, /again\.sh$|again\.sh\n/m);
      assert.match(fourth, /noted/);
      assert.equal(readFileSync(scriptOf(sandbox), "utf8"), CHECK);
      assert.match(toolResults(model.requests[2]).at(-1) ?? "", /exit status 1/);
    });

    test("hold the run when they have changed, before the next command of the run begins", async (t) => {
      const { sandbox } = await stage(
        t,
        (request, index) => {
          if (index === 0) return { calls: [bash("echo 'touch done' > .pi/workflows/free/scripts/check.sh")] };
          const last = request.messages.at(-1);
          return last?.role === "tool" && /is paused|→ DONE/.test(messageText(last)) ? REST : step("next");
        },
        {
          projectFiles: {
            ...workflow("free", [{ id: "do", gate: [{ run: 'sh "$dir/scripts/check.sh"', env: DIR }] }]),
            "free/scripts/check.sh": "true\n",
          },
        },
      );
      /** @type {string[]} */
      const asked = [];
      const rpc = await startRpc({
        version,
        sandbox,
        onDialog: ({ title, message, options }) => {
          asked.push(`${title}\n${message ?? ""}`);
          return options?.at(-1) ?? true;
        },
      });
      await rpc.promptAndSettle("/workflow free Go");
      assert.match(notices(rpc).at(-1) ?? "", /is paused: its rules are no longer those/);
      assert.deepEqual([asked.length, existsSync(join(sandbox.project, "done"))], [1, false]);
      assert.match(asked[0], /│ with \.pi\/workflows\/free\/scripts\/: 1 file, SHA-256\n│ ↪ [0-9a-f]{64}/);
      await rpc.promptAndSettle("/workflow :resume");
      assert.match(asked[1], /- free: scripts\/: 1 file, SHA-256 .*\n.*\+ free: scripts\/: 1 file/);
      // The consent was to the old files, so the gate asks anew.
      assert.match(asked[2] ?? "", /│ with \.pi\/workflows\/free\/scripts\/: 1 file/);
      assert.doesNotMatch(asked[2], /│ sh /);
      await rpc.close();
      assert.equal(states(readSession(sandbox)).at(-1).active, false);
    });

    test("hold a branch and its run when they change while the branch works", LONG, async (t) => {
      const gate = [{ run: 'sh "$dir/scripts/check.sh"', env: DIR }];
      /** @type {() => void} */
      let change = () => {};
      const { sandbox } = await stage(t, team({ A: async () => void change() }), {
        globalFiles: { ...panel([{ id: "a", gate }, "b"]), "panel/scripts/check.sh": "true\n" },
      });
      change = () => writeFileSync(join(sandbox.agent, "workflows/panel/scripts/check.sh"), "touch hijacked\n");
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow panel Go");
      assert.match(notices(rpc).at(-1) ?? "", /is paused: its rules are no longer those/);
      assert.match(endsOf(await rpc.entries()).A, /^waits: /);
      assert.equal(existsSync(join(sandbox.project, "hijacked")), false);
      await rpc.close();
    });
  });
}
