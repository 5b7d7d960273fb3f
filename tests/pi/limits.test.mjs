// The user's own limits: they hold in every session, without a run and in one.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { bash, edit, write } from "./harness/limited.mjs";
import { branchOf } from "./harness/branches.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { settingsWith } from "./harness/sandbox.mjs";
import { stage } from "./harness/stage.mjs";
import { underLimits } from "./harness/user-limits.mjs";
import { leave, phaseFile, statusTexts, toolResults, workflow } from "./harness/workflows.mjs";

const LIMITS = "write: [docs/]\nhide: [.env, ~/.aws/]\nnetwork: false\n";
const FILES = { "docs/x": "untouched\n", "src/x": "untouched\n", ".env": "SECRET\n" };
const read = (/** @type {string} */ path) => ({ name: "read", arguments: { path } });

for (const version of VERSIONS) {
  suite(
    `pi ${version}: the user's limits`,
    { skip: process.platform === "linux" ? false : "needs Linux", concurrency: 2 },
    () => {
      test("hold without a run, for commands and file tools", async (t) => {
        const { play, sandbox, rpc } = await underLimits(t, version, LIMITS, { files: FILES });
        const at = (/** @type {string} */ path) => join(sandbox.project, path);
        const results = await play(
          [bash("echo in > docs/new; echo out > src/new; cat .env; exec 3<>/dev/tcp/127.0.0.1/9; true")],
          [write("docs/y"), write("src/y"), edit("docs/x"), edit("src/x"), read(".env"), read("src/x")],
          [write(join(sandbox.agent, "settings.json")), { name: "other", arguments: {} }],
        );
        assert.equal(readFileSync(at("docs/new"), "utf8"), "in\n");
        assert.deepEqual(
          ["src/new", "src/y", "docs/y"].map((path) => existsSync(at(path))),
          [false, false, true],
        );
        const [command, , outside, inside, edited, hidden, visible, settings] = results;
        assert.doesNotMatch(command, /SECRET/);
        assert.match(
          command,
          /\[limits\] Commands run in a sandbox under the user's limits\. They can write docs\/, temporary files \(\$TMPDIR\) only and have no network and cannot read or write \.env, ~\/\.aws\/, hidden here\./,
        );
        assert.match(
          outside,
          /^\[limits\] "src\/y" cannot be written under the user's limits\. Writable: docs\/ \(`write` in .*settings\.yaml\)\.$/,
        );
        assert.doesNotMatch(inside, /limits/);
        assert.match(edited, /^\[limits\] "src\/x" cannot be written/);
        assert.match(hidden, /^\[limits\] "\.env" is hidden under the user's limits/);
        assert.match(visible, /untouched/);
        assert.match(settings, /^\[limits\] ".*settings\.json" cannot be written/);
        assert.equal(statusTexts(rpc).at(-1), "limits");
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      });

      test("keep pi's agent folder where everything else may be written", LONG, async (t) => {
        const { play, sandbox } = await underLimits(t, version, "network: true\n", { files: FILES });
        const agent = sandbox.agent;
        const results = await play(
          [
            bash(
              `echo free > src/new; echo 'write: [/]' > ${agent}/workflows/settings.yaml; rm ${agent}/workflows/settings.yaml; mv ${agent} ${agent}2; echo x >> ${agent}/settings.json; true`,
            ),
          ],
          [write(`${agent}/workflows/settings.yaml`), write(`${agent}/extensions/x.ts`), write("src/free")],
        );
        assert.equal(readFileSync(join(agent, "workflows/settings.yaml"), "utf8"), settingsWith("network: true\n"));
        assert.doesNotMatch(readFileSync(join(agent, "settings.json"), "utf8"), /x$/m);
        assert.equal(readFileSync(join(sandbox.project, "src/new"), "utf8"), "free\n");
        assert.equal(readFileSync(join(sandbox.project, "src/free"), "utf8"), "changed\n");
        for (const text of results.slice(1, 3)) assert.match(text, /is in pi's agent folder, which may not be written/);
        assert.match(results[0], /Read-only file system|Device or resource busy/);
        assert.match(results[0], /They cannot write pi's agent folder\./);
      });

      test("hold in print and JSON mode", LONG, async (t) => {
        for (const mode of /** @type {const} */ (["text", "json"])) {
          const { model, sandbox } = await stage(
            t,
            [{ calls: [write("src/y"), bash("touch src/z; touch docs/z")] }, { text: "Over." }],
            { globalFiles: { "settings.yaml": settingsWith(LIMITS) }, files: FILES },
          );
          const { code } = await runPrint({ version, sandbox, mode, prompt: "Go" });
          assert.equal(code, 0);
          const [refused, ran] = toolResults(model.lastRequest());
          assert.match(refused, /^\[limits\] "src\/y" cannot be written/);
          assert.match(ran, /Read-only file system/);
          assert.deepEqual(
            ["src/y", "src/z", "docs/z"].map((path) => existsSync(join(sandbox.project, path))),
            [false, false, true],
            ran,
          );
        }
      });

      test("hold in branches, also while those of the session are off", LONG, async (t) => {
        const group = { id: "both", phases: ["one.md", "two.md"], parallel: true };
        const globalFiles = {
          "settings.yaml": settingsWith(LIMITS),
          ...workflow("pair", ["do"], { phases: ["do.md", group], autoContinue: false }),
          ...Object.fromEntries(["one", "two"].map((id) => [`pair/${id}.md`, phaseFile({ id, write: [] })])),
        };
        const play = (/** @type {any} */ request) => {
          const done = toolResults(request).length;
          if (branchOf(request) === undefined)
            return done === 0
              ? { calls: [read(".env")] }
              : done === 1
                ? leave("", { summary: "Did it." })
                : { text: "Over." };
          return (
            [{ calls: [read(".env"), bash("cat .env; true")] }, undefined, leave("", { summary: "Looked." })][done] ?? {
              text: "Done.",
            }
          );
        };
        const { model, sandbox } = await stage(t, play, { globalFiles, files: FILES });
        const rpc = await startRpc({ version, sandbox });
        await rpc.prompt("/workflow :limits off");
        await rpc.promptAndSettle("/workflow pair Look");
        assert.match(toolResults(model.lastRequest())[0], /SECRET/);
        const ofBranches = model.requests.filter(
          (request) => branchOf(request) !== undefined && toolResults(request).length === 2,
        );
        assert.equal(ofBranches.length, 2);
        for (const request of ofBranches) {
          const [refused, ran] = toolResults(request);
          assert.match(refused, /^\[limits\] "\.env" is hidden/);
          assert.doesNotMatch(ran, /SECRET/);
        }
        await rpc.close();
      });
    },
  );
}
