// Workflows of installed pi packages.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { NODE, REPO, piCli } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { ends, nextUntilDone, notices, path, paths, states, step, userTexts, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/sandbox.mjs").Sandbox} Sandbox */

/**
 * Writes a package with these files of workflows below the root of a sandbox.
 *
 * @param {Sandbox} sandbox
 * @param {string} folder
 * @param {string} name
 * @param {Record<string, string>} workflows
 */
function writePackage(sandbox, folder, name, workflows) {
  const manifest = { name, version: "1.0.0", pi: { extensions: [] }, "pi-workflows": { workflows: ["./workflows"] } };
  const files = {
    "package.json": JSON.stringify(manifest),
    ...Object.fromEntries(Object.entries(workflows).map(([file, text]) => [`workflows/${file}`, text])),
  };
  for (const [file, text] of Object.entries(files)) {
    const target = join(sandbox.root, folder, file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  return join(sandbox.root, folder);
}

/**
 * Runs pi's own command for packages.
 *
 * @param {string} version
 * @param {Sandbox} sandbox
 * @param {...string} parameters
 */
function pi(version, sandbox, ...parameters) {
  const [node, cli] = piCli(version);
  execFileSync(node, [cli, ...parameters], { cwd: sandbox.project, env: sandbox.env(), stdio: "pipe" });
}

/**
 * Installs the tarball of a package as pi does from a registry.
 *
 * @param {Sandbox} sandbox
 * @param {string} folder
 * @param {string} name
 */
function installTarball(sandbox, folder, name) {
  const npm = (/** @type {string[]} */ ...parameters) =>
    execFileSync("npm", [...parameters, "--loglevel=error", "--offline"], { cwd: sandbox.root, encoding: "utf8" });
  const [{ filename }] = JSON.parse(npm("pack", folder, "--json", "--pack-destination", sandbox.root));
  const prefix = join(sandbox.agent, "npm");
  mkdirSync(prefix, { recursive: true });
  npm("install", join(sandbox.root, filename), "--prefix", prefix, "--legacy-peer-deps", "--no-audit", "--no-fund");
  const file = join(sandbox.agent, "settings.json");
  const settings = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...settings, packages: [...(settings.packages ?? []), `npm:${name}`] }));
}

/** @param {any} rpc */
const errors = (rpc) => assert.deepEqual(rpc.extensionErrors(), []);

for (const version of VERSIONS) {
  suite(`pi ${version}: a package`, { concurrency: 2 }, () => {
    test("in the user's settings: its workflow runs to DONE, and its gate asks", async (t) => {
      const { model, sandbox } = await stage(t, nextUntilDone, { globalFiles: workflow("review", ["plan"]) });
      const gate = [{ run: "echo fine > made", name: "the tests" }];
      const kit = writePackage(sandbox, "kit", "@acme/kit", {
        ...workflow("review", [{ id: "look", gate }, { id: "@part" }], { autoContinue: false }),
        ...workflow("part", ["last"], { show: "workflows", autoContinue: false }),
      });
      pi(version, sandbox, "install", kit);
      /** @type {string[]} */
      const asked = [];
      const onDialog = (/** @type {any} */ { title }) => (asked.push(title), "Yes, for this run");
      const rpc = await startRpc({ version, sandbox, onDialog });
      await rpc.promptAndSettle("/workflow @acme/kit/review The task");
      errors(rpc);
      assert.deepEqual(asked, [
        'Start "The review"? Its gates run commands:\nGate "Look" of the package "@acme/kit" runs:\n│ echo fine > made',
      ]);
      assert.ok(existsSync(join(sandbox.project, "made")));
      const all = states(await rpc.entries());
      assert.deepEqual(all[0].currentPath, path(["@acme/kit/review", 0]));
      assert.ok(paths(all).includes("@acme/kit/review:1 @acme/kit/part:0"), paths(all).join());
      assert.equal(ends(await rpc.entries()).length, 1);
      assert.ok(userTexts(model.requests[0]).includes("Start The review: The task"));
      await rpc.prompt("/workflow :report");
      const report = (await rpc.entries()).find(({ customType }) => customType === "workflow:report").data.content;
      assert.match(report, /^# Run of @acme\/kit\/review\n[^]*@acme\/kit\/part > Last/);
      // The name alone means the user's own.
      await rpc.promptAndSettle("/workflow review Another");
      assert.equal(states(await rpc.entries()).at(-1).workflowKey, "review");
      assert.equal(asked.length, 1);
      await rpc.close();
    });

    test("a run of a package goes on after a restart, and is held when the package is gone", LONG, async (t) => {
      const { sandbox } = await stage(t, [{ text: "I rest." }, step("next"), { text: "Over." }], {});
      const kit = writePackage(
        sandbox,
        "kit",
        "@acme/kit",
        workflow("ship", ["plan", "build"], { autoContinue: false }),
      );
      pi(version, sandbox, "install", kit);
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow ship It");
      await first.close();
      const second = await startRpc({ version, sandbox, args: ["--continue"] });
      await second.promptAndSettle("go on");
      assert.deepEqual(states(await second.entries()).at(-1).currentPath, path(["@acme/kit/ship", 1]));
      await second.close();
      pi(version, sandbox, "remove", kit);
      const third = await startRpc({ version, sandbox, args: ["--continue"] });
      await third.waitFor(
        (/** @type {any} */ record) => record.method === "notify" && /paused|waits/i.test(JSON.stringify(record)),
      );
      assert.match(notices(third).join("\n"), /@acme\/kit\/ship/);
      await third.close();
    });

    for (const [trust, name] of /** @type {const} */ ([
      [true, "trusted"],
      [false, "not trusted"],
    ])) {
      test(`in the settings of a project that is ${name}`, async (t) => {
        const { model, sandbox } = await stage(t, nextUntilDone, {
          files: { ".pi/settings.json": JSON.stringify({ packages: ["../tools/kit"] }) },
        });
        writePackage(sandbox, "project/tools/kit", "kit", workflow("ship", ["plan"], { autoContinue: false }));
        const rpc = await startRpc({ version, sandbox, trust });
        if (trust) {
          await rpc.promptAndSettle("/workflow kit/ship It");
          assert.equal(states(await rpc.entries()).at(-1).workflowKey, "kit/ship");
          assert.equal(ends(await rpc.entries()).length, 1);
        } else {
          await rpc.send({ type: "prompt", message: "/workflow kit/ship It" });
          await rpc.waitFor(
            (/** @type {any} */ record) => record.method === "notify" && /Unknown workflow/.test(record.message),
          );
          assert.equal(model.requests.length, 0);
        }
        errors(rpc);
        await rpc.close();
      });
    }

    test("as a tarball in pi's folder for npm", LONG, async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, {});
      const folder = writePackage(
        sandbox,
        "source",
        "@acme/packed",
        workflow("ship", ["plan", "build"], { autoContinue: false }),
      );
      installTarball(sandbox, folder, "@acme/packed");
      rmSync(folder, { recursive: true });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow @acme/packed/ship It");
      errors(rpc);
      assert.equal(ends(await rpc.entries()).length, 1);
      assert.equal(states(await rpc.entries()).at(-1).workflowKey, "@acme/packed/ship");
      await rpc.close();
    });

    test("that `new --package` has made, packed and installed", LONG, async (t) => {
      const handOver = { calls: [{ name: "workflow_step", arguments: { action: "next", summary: "Done." } }] };
      const { sandbox } = await stage(t, [handOver, handOver], {});
      const cli = join(REPO, "cli/pi-workflows.js");
      execFileSync(NODE, [cli, "new", "--package", "@acme/fresh"], { cwd: sandbox.root, env: sandbox.env() });
      const folder = join(sandbox.root, "fresh");
      const bin = join(sandbox.root, "bin");
      mkdirSync(bin);
      writeFileSync(join(bin, "pi-workflows"), `#!/bin/sh\nexec "${NODE}" "${cli}" "$@"\n`, { mode: 0o755 });
      const env = sandbox.env();
      execFileSync(NODE, ["--test"], { cwd: folder, env: { ...env, PATH: `${bin}:${env.PATH}` }, stdio: "pipe" });
      installTarball(sandbox, folder, "@acme/fresh");
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow fresh It");
      errors(rpc);
      assert.equal(ends(await rpc.entries()).length, 1);
      assert.equal(states(await rpc.entries()).at(-1).workflowKey, "@acme/fresh/fresh");
      await rpc.close();
    });

    test("that is the example: its workflow runs to DONE", async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, {
        files: { "package.json": '{ "scripts": { "test": "true" } }' },
      });
      pi(version, sandbox, "install", join(REPO, "package-example"));
      const rpc = await startRpc({ version, sandbox, onDialog: () => "Yes, for this run" });
      await rpc.promptAndSettle("/workflow review-branch the branch fix-dates");
      errors(rpc);
      const [{ content }] = ends(await rpc.entries());
      assert.match(content, /Run: ✓ the tests: exit status 0/);
      assert.equal(states(await rpc.entries()).at(-1).workflowKey, "review-kit/review-branch");
      await rpc.close();
    });

    test("that is installed while pi runs is seen at the next command", async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, {});
      const rpc = await startRpc({ version, sandbox });
      await rpc.send({ type: "prompt", message: "/workflow ship It" });
      await rpc.waitFor(
        (/** @type {any} */ record) => record.method === "notify" && /Unknown workflow/.test(record.message),
      );
      pi(
        version,
        sandbox,
        "install",
        writePackage(sandbox, "kit", "kit", workflow("ship", ["plan"], { autoContinue: false })),
      );
      await rpc.promptAndSettle("/workflow ship It");
      assert.equal(states(await rpc.entries()).at(-1).workflowKey, "kit/ship");
      await rpc.close();
    });
  });
}
