// Evidence that is still true, in real pi: checks are bound to the files of a git work tree, and made again if some
// have changed.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { evidence } from "./harness/gates.mjs";
import { mappingOf } from "./harness/mapping.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { custom, ends, step, toolResults, workflow } from "./harness/workflows.mjs";

const TASK = "/workflow hello Add a route";
const QUIET = { autoContinue: false };
const next = step("next");
const bash = (/** @type {string} */ command) => ({ calls: [{ name: "bash", arguments: { command } }] });
/** Passes while no file has the word broken; counts outside of the work tree. */
const CHECK = { run: "echo run >> ../count && ! grep -q broken *.txt", label: "the tests" };
const FILES = { "a.txt": "whole\n", "b.txt": "whole\n" };

/**
 * Stages a run of plan, whose gate has a check, and build. The project is a git work tree with two files.
 *
 * @param {import("node:test").TestContext} t
 * @param {Parameters<typeof stage>[1]} script
 * @param {{ check?: object, build?: object, isGit?: boolean }} [options]
 */
async function staged(t, script, { check = { recheck: true }, build = {}, isGit = true } = {}) {
  const globalFiles = workflow(
    "hello",
    [
      { id: "plan", gate: [{ ...CHECK, ...check }] },
      { id: "build", ...build },
    ],
    QUIET,
  );
  const { model, sandbox } = await stage(t, script, { globalFiles, files: FILES });
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
      cwd: sandbox.project,
      stdio: "pipe",
    });
  if (isGit) {
    git("init", "--quiet");
    git("add", "--all");
    git("commit", "--quiet", "--message", "first");
  }
  const runs = () => readFileSync(join(sandbox.root, "count"), "utf8").length / 4;
  return { model, sandbox, git, runs };
}

/** @param {any[]} entries */
const end = (entries) => ends(entries)[0].content;

for (const version of VERSIONS) {
  suite(`pi ${version}: evidence`, { concurrency: 2 }, () => {
    test("a check is made again if the agent has changed files since, and only then", async (t) => {
      const changed = await staged(t, [next, bash("echo more >> a.txt; echo new > new.txt"), next, { text: "Over." }]);
      const rpc = await startRpc({ version, sandbox: changed.sandbox });
      await rpc.promptAndSettle(TASK);
      assert.match(
        toolResults(changed.model.requests[1])[0],
        /\n- once more, if files have changed since it passed: the tests\n/,
      );
      assert.match(toolResults(changed.model.lastRequest()).at(-1) ?? "", /→ DONE/);
      assert.equal(changed.runs(), 2);
      assert.match(
        end(await rpc.entries()),
        /- 🔹 Plan: ✓ the tests: exit status 0, \S+\n- 🔹 Build: ✓ the tests: exit status 0 \(made again: 2 files changed since \(a\.txt, new\.txt\)\), \S+$/,
      );
      assert.match(evidence(await rpc.entries())[0].tree, /^[0-9a-f]{40}$/);
      await rpc.close();

      const same = await staged(t, [
        next,
        bash("echo more >> a.txt; git checkout --quiet a.txt; touch b.txt; git commit --quiet --allow-empty -m x"),
        next,
        { text: "Over." },
      ]);
      const other = await startRpc({ version, sandbox: same.sandbox });
      await other.promptAndSettle(TASK);
      assert.equal(same.runs(), 1);
      assert.match(end(await other.entries()), /\*\*Gates:\*\*\n- 🔹 Plan: ✓ the tests: exit status 0, \S+$/);
      await other.close();
    });

    test("a gate without recheck, and without a question to come, starts no git", async (t) => {
      const { sandbox, runs } = await staged(t, [next, next, { text: "Over." }], {
        check: {},
        build: { gate: [{ run: "true" }] },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      const entries = await rpc.entries();
      assert.deepEqual([ends(entries).length, runs()], [1, 1]);
      assert.equal(evidence(entries)[0].tree, undefined);
      // It is made before git starts.
      assert.equal(existsSync(join(sandbox.agent, "extension-data", "project-states")), false);
      await rpc.close();
    });

    test("without recheck the end, the status and a question say which files have changed", LONG, async (t) => {
      const { sandbox, runs } = await staged(
        t,
        [next, bash("echo more >> a.txt"), { text: "I rest." }, next, { text: "Over." }],
        { check: {}, build: { gate: [{ approve: "Ship it?" }] } },
      );
      const rpc = await startRpc({ version, sandbox, onDialog: () => "Yes" });
      await rpc.promptAndSettle(TASK);
      await rpc.prompt("/workflow :status");
      const line = "the tests: exit status 0";
      const isShown = (/** @type {any[]} */ entries) =>
        custom(entries, "workflow:status").at(-1)?.content.includes(", 1 file changed since (a.txt)");
      for (let tries = 0; !isShown(await rpc.entries()); tries += 1) {
        assert.ok(tries < 100, JSON.stringify(custom(await rpc.entries(), "workflow:status")));
        await sleep(50);
      }
      await rpc.promptAndSettle("Go on");
      const entries = await rpc.entries();
      const [subject] = custom(entries, "workflow:approval");
      assert.ok(
        subject.content.startsWith(`**Files have changed since these checks:**\n- 🔹 Plan: ✓ ${line}`),
        subject.content,
      );
      assert.match(
        end(entries),
        /- 🔹 Plan: ✓ the tests: exit status 0, \S+, 1 file changed since \(a\.txt\)\n- 🔹 Build: ✓ Ship it\?: you said yes$/,
      );
      assert.deepEqual(evidence(entries)[0].changed, { count: 1, paths: ["a.txt"] });
      assert.equal(runs(), 1);
      await rpc.close();
    });

    test("without a git work tree a check is made again, and the status says why", async (t) => {
      const { sandbox, runs } = await staged(t, [next, { text: "I rest." }, next, { text: "Over." }], { isGit: false });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      await rpc.prompt("/workflow :status");
      for (let tries = 0; custom(await rpc.entries(), "workflow:status").length === 0 && tries < 100; tries += 1)
        await sleep(50);
      const [{ content }] = custom(await rpc.entries(), "workflow:status");
      assert.match(
        content,
        /Which files have changed since the checks is not known: the project is no git work tree\.$/,
      );
      await rpc.promptAndSettle("Go on");
      assert.equal(runs(), 2);
      assert.match(end(await rpc.entries()), /made again: not known which files have changed since\)/);
      await rpc.close();
    });

    test("print and JSON mode, with the session in the project", LONG, async (t) => {
      for (const mode of /** @type {const} */ (["text", "json"])) {
        const { sandbox, runs } = await staged(t, [next, next, { text: "Over." }]);
        const { code, stderr } = await runPrint({
          version,
          sandbox,
          prompt: TASK,
          mode,
          args: ["--session", "run.jsonl"],
        });
        assert.equal(code, 0, stderr);
        assert.equal(runs(), 1, mode);
        assert.match(readFileSync(join(sandbox.project, "run.jsonl"), "utf8"), /"tree":"[0-9a-f]{40}"/);
      }
    });

    test("git runs nothing that an agent has written, and sees what it hides", LONG, async (t) => {
      const attack = [
        'git config core.fsmonitor "touch $PWD/../ran"',
        'git config filter.x.clean "touch $PWD/../ran; echo whole"',
        'git config core.excludesFile "$PWD/.git/all" && git config core.worktree /',
        "echo '*' > .git/all && cp .git/all .git/info/exclude",
        "git update-index --assume-unchanged a.txt",
        "echo '*.txt filter=x' > .git/info/attributes && mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch ../ran' > .git/hooks/post-index-change && chmod +x .git/hooks/post-index-change",
        "echo more >> a.txt; rm -f ../ran",
      ];
      const { sandbox, runs } = await staged(t, [next, bash(attack.join("\n")), next, { text: "Over." }]);
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      assert.equal(runs(), 2);
      assert.match(end(await rpc.entries()), /made again: 1 file changed since \(a\.txt\)/);
      assert.equal(existsSync(join(sandbox.root, "ran")), false);
      await rpc.close();
    });

    test("a change through a mapping, which leaves the times of the file, is seen before DONE", LONG, async (t) => {
      /** @type {(text: string) => Promise<void>} */
      let write = async () => {};
      const { sandbox, runs } = await staged(t, async (_, index) => {
        if (index === 0) await write("whole");
        // The state after this second is not older than the file.
        if (index === 0) await sleep(1100);
        if (index === 1) await write("broken");
        if (index === 2) await write("whole\n");
        return [next, next, next, { text: "Over." }][index];
      });
      write = mappingOf(t, join(sandbox.project, "a.txt"));
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      assert.equal(runs(), 3);
      assert.match(end(await rpc.entries()), /exit status 0 \(made again: 1 file changed since \(a\.txt\)\)/);
      await rpc.close();
    });

    test("a kill while files are looked at, or a check is made again, loses nothing", LONG, async (t) => {
      for (const delay of [0, 20, 60, 150]) {
        const { sandbox, runs, model } = await staged(
          t,
          (request, index) =>
            index === 1
              ? bash("echo more >> a.txt")
              : /→ DONE/.test(messageText(/** @type {any} */ (request.messages.at(-1))))
                ? { text: "Over." }
                : next,
          { check: { recheck: true, run: `sleep 0.1; ${CHECK.run}` } },
        );
        const rpc = await startRpc({ version, sandbox });
        await rpc.prompt(TASK);
        await model.waitForRequests(3);
        await sleep(delay);
        await rpc.kill();
        const before = readSession(sandbox);
        if (ends(before).length > 0) continue;
        const again = await startRpc({ version, sandbox, args: ["--continue"] });
        await again.promptAndSettle("Go on");
        assert.match(end(await again.entries()), /made again: 1 file changed since \(a\.txt\)/);
        assert.ok(runs() >= 2 && runs() <= 3, String(runs()));
        await again.close();
      }
    });
  });
}
