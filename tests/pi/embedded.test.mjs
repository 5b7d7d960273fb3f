// pi in other programs than its bundle: in a program that embeds it by its SDK, under Node, and compiled into one file.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { LONG, VERSIONS } from "./harness/extent.mjs";
import { model } from "./harness/obedient.mjs";
import { BUN, NODE, PI_VERSIONS, REPO, readSession, runPrint, sdkOf, sessionFiles } from "./harness/pi.mjs";
import { stage } from "./harness/stage.mjs";
import { ends, workflow } from "./harness/workflows.mjs";

/** `npm test` has only the version that npm installs with the other packages. */
const EMBEDDED = VERSIONS.length > 1 ? VERSIONS : PI_VERSIONS.slice(-1);

const run = promisify(execFile);

/** A scripted model that does the task of `goal`, and reviews it with a command of its own. */
const goal = () =>
  model(
    { Review: { outcome: "clean" } },
    {
      Work: [{ name: "bash", arguments: { command: "touch ok" } }],
      Review: [{ name: "bash", arguments: { command: "touch evil; ls" } }],
    },
  );

/** @param {any[]} entries @param {{ requests: unknown[] }} played @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
function isDone(entries, { requests }, sandbox) {
  assert.match(ends(entries).at(-1)?.content ?? "", /Goal Complete/);
  // The phase of the review may write nothing: its command is confined.
  assert.deepEqual(
    ["ok", "evil"].map((name) => existsSync(join(sandbox.project, name))),
    [true, false],
  );
  assert.match(JSON.stringify(requests.at(-2)), /Read-only file system/);
}

for (const version of EMBEDDED) {
  suite(`a program that embeds pi ${version}`, () => {
    /** @param {import("./harness/sandbox.mjs").Sandbox} sandbox @param {string[]} parameters */
    const embed = async ({ project, env }, ...parameters) => {
      const host = [join(REPO, "tests/pi/harness/sdk-host.mjs"), ...parameters];
      const { stdout, stderr } = await run(NODE, host, { cwd: project, env: env() });
      return { .../** @type {{ told: string[], entries: any[] }} */ (JSON.parse(stdout)), stderr };
    };

    for (const store of ["files", "memory"]) {
      test(`goal comes to DONE, with the session in ${store}`, async (t) => {
        const { model: played, sandbox } = await stage(t, goal(), { builtin: true });
        const command = '/workflow goal check="test -f ok"';
        const { entries, told, stderr } = await embed(sandbox, "Make it so", command, sdkOf(version), REPO, store);
        isDone(entries, played, sandbox);
        assert.deepEqual([told[0], stderr], ["Rules of this run: read-only in review; 1 gate; a budget.", ""]);
        assert.equal(sessionFiles(sandbox).length, store === "files" ? 1 : 0);
      });
    }

    test("the rules of a stored run hold, also where the program tells extensions of no start", async (t) => {
      const files = workflow("look", [{ id: "look", write: [] }]);
      /** @type {import("./harness/scripted-model.mjs").Step[]} */
      const script = [];
      const { sandbox } = await stage(t, () => script.shift(), {
        projectFiles: files,
        pace: { delay_seconds: 0, max_repeats: 0 },
      });
      const first = await embed(sandbox, "at it", "/workflow look", sdkOf(version), REPO, "files");
      assert.ok(first.entries.some(({ customType }) => customType === "workflow:state"));
      script.push({ calls: [{ name: "bash", arguments: { command: "touch evil" } }] });
      const { entries } = await embed(sandbox, "on", "go", sdkOf(version), REPO, "unbound");
      assert.match(JSON.stringify(entries), /Read-only file system/);
      assert.equal(existsSync(join(sandbox.project, "evil")), false);
    });

    test("a run with child agents comes to DONE", LONG, async (t) => {
      const findings = { outputs: { findings: ["a.js:1: wrong, I read it"] } };
      const script = model({ Errors: findings, Tests: findings, Design: findings });
      const { model: played, sandbox } = await stage(t, script, { builtin: true });
      const git = (/** @type {string[]} */ ...args) =>
        run("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd: sandbox.project });
      await git("init", "-q");
      for (const text of ["1\n", "2\n"]) {
        writeFileSync(join(sandbox.project, "a.js"), text);
        await git("add", "a.js");
        await git("commit", "-qm", text);
      }
      const { entries, told } = await embed(sandbox, "Is it right?", "/workflow review", sdkOf(version), REPO, "files");
      assert.match(ends(entries).at(-1)?.content ?? "", /a\.js:1: wrong/, told.join("\n"));
      assert.ok(played.requests.length > 3);
    });
  });
}

for (const version of VERSIONS) {
  test(`pi ${version} gives the package itself, not another pi that is installed beside the package`, async (t) => {
    const { sandbox } = await stage(t, [], { builtin: true });
    const home = join(sandbox.root, "package");
    for (const name of ["package.json", "host-shim", "sandbox", "workflows"])
      cpSync(join(REPO, name), join(home, name), { recursive: true });
    for (const name of ["pi-coding-agent", "pi-tui"]) {
      const folder = join(home, "node_modules/@earendil-works", name);
      mkdirSync(folder, { recursive: true });
      const file = JSON.stringify(join(sandbox.root, "loaded"));
      writeFileSync(join(folder, "index.js"), `require("node:fs").writeFileSync(${file}, "");`);
    }
    const { stdout, stderr } = await runPrint({ version, sandbox, extension: home, prompt: "/workflow" });
    assert.match(stdout + stderr, /^ {2}goal — Goal$/m);
    assert.equal(existsSync(join(sandbox.root, "loaded")), false);
  });

  const without = existsSync(BUN) ? false : "npm could not install bun";
  test(`goal comes to DONE in a compiled pi ${version}`, { skip: LONG.skip || without }, async (t) => {
    const globalFiles = { "settings.yaml": 'onEvent: [/bin/sh, -c, "cat > told"]\n' };
    const { model: played, sandbox } = await stage(t, goal(), { builtin: true, globalFiles });
    const home = sdkOf(version);
    const program = join(sandbox.root, "compiled/pi");
    const flags = ["--compile", "--no-compile-autoload-bunfig", "--no-compile-autoload-dotenv"];
    await run(BUN, ["build", ...flags, join(home, "dist/bun/cli.js"), "--outfile", program], { cwd: sandbox.root });
    copyFileSync(join(home, "package.json"), join(program, "../package.json"));
    cpSync(join(home, "dist/modes/interactive/theme"), join(program, "../theme"), { recursive: true });
    assert.equal((await run(program, ["--version"], { env: sandbox.env() })).stdout.trim(), version);
    const prompt = '/workflow goal check="test -f ok" Make it so';
    const child = run(program, ["--offline", "-e", REPO, "--allow-workflow-value=test -f ok", "-p", prompt], {
      cwd: sandbox.project,
      env: sandbox.env(),
    });
    child.child.stdin?.end();
    const { stderr } = await child;
    isDone(readSession(sandbox), played, sandbox);
    assert.match(stderr, /Rules of this run: read-only in review/);
    assert.doesNotMatch(stderr, /of your settings/);
    const told = () => (existsSync(join(sandbox.home, "told")) ? readFileSync(join(sandbox.home, "told"), "utf8") : "");
    for (const end = Date.now() + 5000; told() === "" && Date.now() < end;) await sleep(50);
    assert.match(told(), /"type":"ended"/);
  });
}
