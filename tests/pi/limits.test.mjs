// The user's own limits, `limits.yaml`: they hold in every session, without a run and in one.

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { bash, edit, write } from "./harness/limited.mjs";
import { branchOf } from "./harness/branches.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { underLimits, writeLimits } from "./harness/user-limits.mjs";
import { custom, leave, notices, phaseFile, statusTexts, toolResults, workflow } from "./harness/workflows.mjs";

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
          /^\[limits\] "src\/y" cannot be written under the user's limits\. Writable: docs\/ \(`write` in .*limits\.yaml\)\.$/,
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

      test("keep pi's agent folder where everything else may be written", async (t) => {
        const { play, sandbox } = await underLimits(t, version, "network: true\n", { files: FILES });
        const agent = sandbox.agent;
        const results = await play(
          [
            bash(
              `echo free > src/new; echo 'write: [/]' > ${agent}/workflows/limits.yaml; rm ${agent}/workflows/limits.yaml; mv ${agent} ${agent}2; echo x >> ${agent}/settings.json; true`,
            ),
          ],
          [write(`${agent}/workflows/limits.yaml`), write(`${agent}/extensions/x.ts`), write("src/free")],
        );
        assert.equal(readFileSync(join(agent, "workflows/limits.yaml"), "utf8"), "network: true\n");
        assert.doesNotMatch(readFileSync(join(agent, "settings.json"), "utf8"), /x$/m);
        assert.equal(readFileSync(join(sandbox.project, "src/new"), "utf8"), "free\n");
        assert.equal(readFileSync(join(sandbox.project, "src/free"), "utf8"), "changed\n");
        for (const text of results.slice(1, 3)) assert.match(text, /is in pi's agent folder, which may not be written/);
        assert.match(results[0], /Read-only file system|Device or resource busy/);
        assert.match(results[0], /They cannot write pi's agent folder\./);
      });

      test("and the rules of a phase hold both", async (t) => {
        const phases = [
          { id: "plan", write: ["docs/a/", "src/"], hide: ["docs/a/secret"], sandbox: /** @type {const} */ ("off") },
          "after",
        ];
        const globalFiles = workflow("wide", phases, { autoContinue: false });
        const { playIn, rpc, sandbox } = await underLimits(t, version, LIMITS, {
          globalFiles,
          files: { ...FILES, "docs/a/secret": "SECRET\n" },
        });
        const at = (/** @type {string} */ path) => existsSync(join(sandbox.project, path));
        const results = await playIn(
          rpc,
          "/workflow wide Look",
          [bash("touch docs/new docs/a/new src/new; cat docs/a/secret .env; true")],
          [write("docs/a/y"), write("docs/y"), write("src/y"), read("docs/a/secret"), read(".env")],
        );
        assert.deepEqual(["docs/new", "src/new", "docs/y", "src/y"].map(at), [true, false, false, false]);
        // With `sandbox: off` the phase holds commands to `hide` only, the limits hold them to `docs/`.
        assert.equal(at("docs/a/y"), true);
        assert.doesNotMatch(results[0], /SECRET/);
        assert.match(results[2], /^\[workflow\] "docs\/y"/);
        assert.match(results[3], /^\[limits\] "src\/y"/);
        assert.match(results[4], /^\[workflow\] "docs\/a\/secret" is hidden/);
        assert.match(results[5], /^\[limits\] "\.env" is hidden/);
        assert.match(statusTexts(rpc).at(-1) ?? "", / · limits$/);
      });

      test("are switched off and on by the user, for this session", async (t) => {
        const { play, rpc, sandbox } = await underLimits(t, version, LIMITS, { files: FILES });
        const touch = async (/** @type {string} */ name) => {
          await play([bash(`touch src/${name}`)]);
          return existsSync(join(sandbox.project, "src", name));
        };
        assert.equal(await touch("one"), false);
        await rpc.prompt("/workflow :limits off");
        assert.equal(statusTexts(rpc).at(-1), "limits off");
        assert.equal(await touch("two"), true);
        await rpc.prompt("/workflow :limits on");
        assert.equal(await touch("three"), false);
        await rpc.prompt("/workflow :limits off");
        const entries = await rpc.entries();
        assert.deepEqual(
          custom(entries, "workflow:limits-switch").map(({ limits }) => limits),
          ["off", "on", "off"],
        );
        await rpc.close();
        // Another process does not take it over.
        const again = await startRpc({ version, sandbox, args: ["--continue"] });
        assert.equal(statusTexts(again).at(-1), "limits");
        await again.prompt("/workflow :limits");
        const shown = custom(await again.entries(), "workflow:limits").at(-1).content;
        assert.match(
          shown,
          /^Limits: on, by .*limits\.yaml\n- writable: docs\/; never pi's agent folder\n- hidden: \.env, ~\/\.aws\/\n- network of commands: none/,
        );
        await again.close();
      });

      test("that are not known refuse everything, until they are", async (t) => {
        const { play, rpc, sandbox } = await underLimits(t, version, "wirte: [docs/]\n", { files: FILES });
        await rpc.prompt("/workflow :status");
        assert.match(
          notices(rpc)[0] ?? "",
          /^error: Every tool call is refused: the user's limits are not known: .*limits\.yaml:1:1: `wirte` is not a limit\. Correct the file, or use \/workflow :limits off for this session\.$/,
        );
        const calls = [bash("touch docs/z"), read("src/x"), write("docs/z")];
        for (const text of await play(calls))
          assert.match(text, /^\[limits\] Every tool call is refused: the user's limits are not known/);
        const file = join(sandbox.agent, "workflows/limits.yaml");
        rmSync(file);
        symlinkSync("nowhere.yaml", file);
        for (const text of await play(calls)) assert.match(text, /cannot be read: it is a link that leads nowhere/);
        rmSync(file);
        writeLimits(sandbox, "write: [docs/]\n");
        assert.match((await play([read("src/x")]))[0], /untouched/);
        assert.match(
          notices(rpc).at(-1) ?? "",
          /^info: Your limits have changed: writable: docs\/; never pi's agent folder; commands: in a sandbox/,
        );
        rmSync(file);
        await play([bash("touch src/free")]);
        assert.equal(existsSync(join(sandbox.project, "src/free")), true);
        assert.equal(statusTexts(rpc).at(-1), undefined);
        await rpc.close();
      });

      test("hold in print and JSON mode", async (t) => {
        for (const mode of /** @type {const} */ (["text", "json"])) {
          const { model, sandbox } = await stage(
            t,
            [{ calls: [write("src/y"), bash("touch src/z; touch docs/z")] }, { text: "Over." }],
            { globalFiles: { "limits.yaml": LIMITS }, files: FILES },
          );
          const { code } = await runPrint({ version, sandbox, mode, prompt: "Go" });
          assert.equal(code, 0);
          const [refused, ran] = toolResults(model.lastRequest());
          assert.match(refused, /^\[limits\] "src\/y" cannot be written/);
          assert.match(ran, /Read-only file system/);
          assert.deepEqual(
            ["src/y", "src/z", "docs/z"].map((path) => existsSync(join(sandbox.project, path))),
            [false, false, true],
          );
        }
      });

      test("hold in branches, also while those of the session are off", async (t) => {
        const group = { id: "both", phases: ["one.md", "two.md"], parallel: true };
        const globalFiles = {
          "limits.yaml": LIMITS,
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
        await rpc.promptAndSettle("/workflow pair Look", { timeoutMs: 60_000 });
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
