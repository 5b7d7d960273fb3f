// Gates: the checks before a phase is left.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { evidence, gated, lastPath } from "./harness/gates.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { readSession } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, ends, statusTexts, step, toolResults, waiting } from "./harness/workflows.mjs";

const REST = { text: "I rest." };
const next = step("next");

for (const version of VERSIONS) {
  suite(`pi ${version}: a command of a gate`, { concurrency: 2 }, () => {
    test("opens the gate when it succeeds, and the evidence is stored", async (t) => {
      const { model, sandbox } = await stage(t, [next, next, { text: "Over." }], {
        globalFiles: gated([{ run: "pwd > where && echo fine", name: "the tests" }]),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.match(toolResults(model.requests[1])[0], /^✓ Advanced: Plan → 🔹 Build\n/);
      assert.equal(readFileSync(join(sandbox.project, "where"), "utf8").trim(), sandbox.project);
      const [check] = evidence(await rpc.entries());
      assert.deepEqual(
        { ...check, durationMs: 0 },
        {
          name: "the tests",
          passed: true,
          result: "exit status 0",
          durationMs: 0,
          attempt: 1,
        },
      );
      const [{ content }] = ends(await rpc.entries());
      assert.match(content, /\n\n\*\*Gates:\*\*\n- 🔹 Plan: ✓ the tests: exit status 0, \d+m?s$/);
      const partial = rpc.records.filter(({ type }) => type === "tool_execution_update");
      assert.ok(partial.some((record) => JSON.stringify(record).includes("Gate 1/1: the tests")));
      await rpc.close();
    });

    test("ends with a reload and a kill; the run stays in its phase, without a result of the gate", LONG, async (t) => {
      const { sandbox } = await stage(t, () => next, {
        globalFiles: gated([{ run: "echo $$ >> begun; sleep 60; touch late" }]),
        files: TRAVEL,
      });
      const begun = () => {
        const file = join(sandbox.project, "begun");
        return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
      };
      const whenBegun = async (/** @type {number} */ count) => {
        while (begun().length < count) await sleep(20);
      };
      const gone = (/** @type {string} */ pid) =>
        !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
      const extension = withTravel(sandbox);
      const rpc = await startRpc({ version, sandbox, extension });
      await rpc.prompt("/workflow hello Add a route");
      await whenBegun(1);
      await rpc.prompt("/go-reload").catch(() => {});
      await rpc.send({ type: "abort" });
      const entries = await rpc.entries();
      assert.equal(lastPath(entries), "hello:0");
      assert.equal(custom(entries, "workflow:state").at(-1).progress.gateAttempts, undefined);
      for (let tries = 0; !gone(begun()[0]); tries += 1) {
        assert.ok(tries < 100, "the command is still there");
        await sleep(50);
      }

      void rpc.prompt("Go on");
      await whenBegun(2);
      await rpc.kill();
      assert.equal(lastPath(readSession(sandbox)), "hello:0");
      const again = await startRpc({ version, sandbox, extension, args: ["--continue"] });
      assert.equal(statusTexts(again).at(-1), waiting("The hello > 🔹 Plan [1/2]"));
      assert.equal(existsSync(join(sandbox.project, "late")), false);
      await again.close();
    });

    test("cannot be bypassed by two calls in one answer, another tool call, or a message of the agent", async (t) => {
      const both = {
        calls: [...next.calls, { name: "write", arguments: { path: "sneak", content: "x" } }, ...next.calls],
      };
      const { model, sandbox } = await stage(t, [both, { text: "Approved: yes. The gate is passed." }, REST], {
        globalFiles: gated([{ run: "sleep 0.3; echo run >> log; false" }], { tools: { blacklist: ["write"] } }),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const results = toolResults(model.requests[1]);
      assert.match(results[0], /^✗ The gate of Plan is not passed/);
      assert.match(results[2], /A gate was checked in this answer already/);
      assert.equal(existsSync(join(sandbox.project, "sneak")), false);
      assert.equal(readFileSync(join(sandbox.project, "log"), "utf8"), "run\n");
      assert.equal(lastPath(await rpc.entries()), "hello:0");
      await rpc.close();
    });

    test("ends with a move in the tree, which restores the run of that entry", async (t) => {
      const globalFiles = gated([{ run: "touch begun; sleep 60; touch late" }]);
      const { sandbox } = await stage(t, [REST, REST, REST], { globalFiles, files: TRAVEL });
      const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox) });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const { id } = (await rpc.entries()).find(({ message }) => message?.role === "assistant");
      await rpc.promptAndSettle("More");
      void rpc.prompt("/workflow :next");
      while (!existsSync(join(sandbox.project, "begun"))) await sleep(20);
      await rpc.prompt(`/go-tree ${id}`);
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Plan [1/2]"));
      const gone = (/** @type {any} */ { method, widgetLines }) => method === "setWidget" && !widgetLines;
      await rpc.waitFor(gone, { from: rpc.records.findLastIndex(({ widgetLines }) => widgetLines) });
      await rpc.prompt("/workflow :skip");
      assert.equal(lastPath(await rpc.entries()), "hello:1");
      assert.equal(existsSync(join(sandbox.project, "late")), false);
      await rpc.close();
    });
  });

  suite(`pi ${version}: commands of a project's workflow`, { concurrency: 2 }, () => {
    const COMMAND = "echo run >> log";
    const files = (/** @type {string} */ command) => gated([{ run: command }]);
    const CHOICES = ["No", "Yes, for this run", "Yes, for this session", "Yes, always in this folder"];

    test("are remembered outside the project while they stay byte for byte the same", LONG, async (t) => {
      const { sandbox } = await stage(t, (_, index) => (index % 2 ? REST : next), { projectFiles: files(COMMAND) });
      /** @type {string[]} */
      const asked = [];
      const session = async () => {
        asked.length = 0;
        const onDialog = (/** @type {any} */ { title }) => (asked.push(title), CHOICES[3]);
        const rpc = await startRpc({ version, sandbox, onDialog });
        await rpc.promptAndSettle("/workflow hello Add a route");
        const path = lastPath(await rpc.entries());
        await rpc.close();
        return [asked.length, path];
      };
      assert.deepEqual(await session(), [1, "hello:1"]);
      assert.deepEqual(await session(), [0, "hello:1"]);
      sandbox.writeFiles({ ".pi/workflows/hello/plan.md": files(`${COMMAND} `)["hello/plan.md"] });
      assert.deepEqual(await session(), [1, "hello:1"]);
      const inProject = readdirSync(sandbox.project, { recursive: true, encoding: "utf8" });
      assert.ok(!inProject.some((name) => /store|allowed/.test(name)), inProject.join());
    });

    test("are asked for again where another folder takes the project's path", LONG, async (t) => {
      const { sandbox } = await stage(t, (_, index) => (index % 2 ? REST : next), { projectFiles: files(COMMAND) });
      let asked = 0;
      const session = async () => {
        asked = 0;
        const rpc = await startRpc({ version, sandbox, onDialog: () => ((asked += 1), CHOICES[3]) });
        await rpc.promptAndSettle("/workflow hello Add a route");
        await rpc.close();
        return asked;
      };
      const other = `${sandbox.project}-other`;
      cpSync(sandbox.project, other, { recursive: true });
      assert.deepEqual([await session(), await session()], [1, 0]);
      // The same files byte for byte, in another folder with the same path.
      renameSync(sandbox.project, `${sandbox.project}-first`);
      renameSync(other, sandbox.project);
      assert.deepEqual([await session(), await session()], [1, 0]);
      // Answers are kept per folder.
      renameSync(sandbox.project, other);
      renameSync(`${sandbox.project}-first`, sandbox.project);
      assert.equal(await session(), 0);
      // A second copy is a new folder.
      rmSync(sandbox.project, { recursive: true });
      cpSync(other, sandbox.project, { recursive: true });
      assert.equal(await session(), 1);
      // Another work tree of the repository may hold another branch.
      const tree = `${sandbox.project}-tree`;
      const git = (/** @type {string[]} */ ...args) =>
        execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd: sandbox.project });
      git("init", "-q");
      git("add", ".");
      git("commit", "-qm", "x");
      git("worktree", "add", "-q", tree);
      assert.equal(await session(), 0);
      sandbox.project = tree;
      assert.deepEqual([await session(), await session()], [1, 0]);
    });
  });

  suite(`pi ${version}: a gate in the terminal`, { concurrency: 2 }, () => {
    test("shows what runs, and Escape stops it", async (t) => {
      const { sandbox } = await stage(t, [next, next, REST], {
        globalFiles: gated([{ run: "test -e good || sleep 60", name: "the tests" }]),
      });
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow hello Add a route");
      await tui.waitFor("Gate 1/1: the tests");
      await tui.press("Escape");
      await tui.waitFor("paused: you stopped the agent");
      writeFileSync(join(sandbox.project, "good"), "");
      await tui.submit("Go on");
      await tui.waitFor("The hello > 🔹 Build [2/2]");
      await tui.close();
    });

    test("runs for :next, which Escape stops too", LONG, async (t) => {
      const { sandbox } = await stage(t, () => REST, {
        globalFiles: gated([{ run: "test -e good || sleep 60", name: "the tests" }]),
      });
      const tui = await startTui({ version, sandbox });
      await tui.submit("/workflow hello Add a route");
      await tui.waitFor("I rest.");
      await tui.submit("/workflow :next");
      await tui.waitFor("Gate 1/1: the tests");
      await tui.press("Escape");
      await tui.waitFor("The gate was interrupted: the tests was stopped.");
      writeFileSync(join(sandbox.project, "good"), "");
      await tui.submit("/workflow :next");
      await tui.waitFor("The hello > 🔹 Build [2/2]");
      await tui.close();
    });
  });
}
