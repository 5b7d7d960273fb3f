// A parallel group that is disturbed: by aborts, kills, other sessions, controls of the user, failures of models, and
// budgets.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  branchOf,
  branchesOf,
  childFiles,
  endsOf,
  ends,
  headerOf,
  panel,
  parentEntries,
  parentFiles,
  requestsOf,
  team,
} from "./harness/branches.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { bash } from "./harness/limited.mjs";
import { parseJsonLines, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { notices, paths, states } from "./harness/workflows.mjs";

/** @typedef {import("./harness/rpc.mjs").Rpc} Rpc */
/** @typedef {import("./harness/branches.mjs").BranchScript} BranchScript */

/** A branch that works until it is told to end. */
function worker() {
  let isOver = false;
  /** @type {BranchScript} */
  const script = () => (isOver ? undefined : { calls: [bash("true")], delayMs: 40 });
  return { script, end: () => void (isOver = true) };
}

/** Waits until the lines of the branches match. @param {Rpc} rpc @param {RegExp} lines @param {number} [from] */
const shows = (rpc, lines, from) =>
  rpc.waitFor(
    ({ type, partialResult }) =>
      type === "tool_execution_update" && lines.test(partialResult?.content?.[0]?.text ?? ""),
    { from, what: String(lines), timeoutMs: 60_000 },
  );

/** A works, and B is done. */
const AT_WORK = /● A: .*bash true[^]*✓ B/;

/**
 * Asserts that there are no more requests.
 *
 * @param {import("./harness/scripted-model.mjs").ScriptedModel} model
 * @param {boolean} [isOfBranches] only those of branches
 */
async function assertQuiet(model, isOfBranches = false) {
  await sleep(150);
  const count = model.requests.length;
  await sleep(500);
  const more = model.requests.slice(count).map((request) => branchOf(request) ?? "the session");
  assert.deepEqual(
    more.filter((name) => !isOfBranches || name !== "the session"),
    [],
    "no request afterwards",
  );
}

/** The phases of the session, without repetitions. @param {any[]} entries */
const way = (entries) => paths(states(entries)).filter((path, index, all) => path !== all[index - 1]);
const WHOLE = ["panel:0", "panel:1", "panel:2"];

/**
 * Starts a run in which branch A works until it is told to end, and B is done.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {object} [options]
 * @param {object} [options.group]
 * @param {Record<string, unknown>} [options.fields]
 * @param {string[]} [options.args]
 * @param {Record<string, unknown>} [options.settings]
 */
async function atWork(t, version, { group, fields, args, settings } = {}) {
  const a = worker();
  const { model, sandbox } = await stage(t, team({ A: a.script }), {
    globalFiles: panel(["a", "b"], group, fields),
    files: TRAVEL,
    settings,
  });
  const start = (/** @type {string[]} */ ...more) =>
    startRpc({ version, sandbox, extension: withTravel(sandbox), args: more });
  const rpc = await start(...(args ?? []));
  const settled = rpc.waitForSettled();
  void rpc.prompt("/workflow panel The task").catch(() => {});
  await shows(rpc, AT_WORK);
  return { model, sandbox, rpc, settled, end: a.end, start };
}

/**
 * Has the user resume a run whose branch B has ended, and asserts that it does not begin again.
 *
 * @param {Rpc} rpc
 * @param {import("./harness/scripted-model.mjs").ScriptedModel} model
 * @param {() => void} end
 */
async function resumes(rpc, model, end) {
  const before = requestsOf(model, "B").length;
  end();
  await rpc.promptAndSettle("/workflow :resume");
  const entries = await rpc.entries();
  assert.deepEqual(endsOf(entries), { A: "done", B: "done" }, notices(rpc).join("\n"));
  assert.equal(states(entries).at(-1).active, false, notices(rpc).join("\n"));
  assert.equal(requestsOf(model, "B").length, before, "a branch that has ended does not begin again");
  assert.deepEqual(rpc.extensionErrors(), []);
  assert.deepEqual(model.faults, []);
}

for (const version of VERSIONS) {
  suite(`pi ${version}: disturbed branches`, { concurrency: 2 }, () => {
    test("an abort ends them, and only what has not ended goes on, in its session", LONG, async (t) => {
      const { model, sandbox, rpc, settled, end, start } = await atWork(t, version);
      await rpc.send({ type: "abort" });
      await settled;
      await assertQuiet(model);
      const entries = await rpc.entries();
      assert.deepEqual(endsOf(entries), { A: undefined, B: "done" });
      const { session } = branchesOf(entries).A;
      await resumes(rpc, model, end);
      assert.equal(branchesOf(await rpc.entries()).A.session, session);
      assert.equal(childFiles(sandbox).length, 2);
      await rpc.close();

      // A child's session is never the newest one, and can be opened.
      const [parent] = parentFiles(sandbox);
      for (const file of childFiles(sandbox)) assert.equal(headerOf(file).parentSession, parent);
      const newest = await start("--continue");
      assert.equal((await newest.state()).sessionFile, parent);
      await newest.close();
      const opened = await start("--session", session);
      assert.equal((await opened.state()).sessionFile, session);
      assert.match(JSON.stringify(await opened.entries()), /Do a for The task/);
      assert.deepEqual(opened.extensionErrors(), []);
    });

    test("a kill ends them, and only what has not ended goes on, in its session", async (t) => {
      const { model, sandbox, rpc, end, start } = await atWork(t, version);
      const { session } = branchesOf(parentEntries(sandbox)).A;
      await rpc.kill();
      await assertQuiet(model);
      const next = await start("--continue");
      await resumes(next, model, end);
      assert.equal(branchesOf(await next.entries()).A.session, session);
    });

    for (const [name, act] of /** @type {[string, (rpc: Rpc) => Promise<unknown>][]} */ ([
      ["a new session", (rpc) => rpc.send({ type: "new_session" })],
      [
        "a fork",
        async (rpc) => {
          const { messages } = (await rpc.send({ type: "get_fork_messages" })).data;
          return rpc.send({ type: "fork", entryId: messages[0].entryId });
        },
      ],
      // pi lets these wait for the end of the agent's run.
      ["a reload", (rpc) => Promise.all([rpc.prompt("/go-reload"), rpc.send({ type: "abort" })])],
      [
        "a move in the tree",
        async (rpc) => {
          const { id } = (await rpc.entries()).find(({ customType }) => customType === "workflow:state");
          return Promise.all([rpc.prompt(`/go-tree ${id}`), rpc.send({ type: "abort" })]);
        },
      ],
      ["a compaction", (rpc) => rpc.send({ type: "compact" })],
      ["the end of pi", (rpc) => rpc.close()],
    ])) {
      test(`${name} ends them, and none is orphaned`, LONG, async (t) => {
        const { model, sandbox, rpc, end, start } = await atWork(t, version, {
          settings: { compaction: { enabled: true, keepRecentTokens: 10, reserveTokens: 100 } },
        });
        const [parent] = parentFiles(sandbox);
        await act(rpc).catch(() => {});
        await assertQuiet(model);
        await rpc.close();
        await assertQuiet(model);
        const next = await start("--session", parent);
        assert.deepEqual(way(await next.entries()), WHOLE.slice(0, 2));
        await resumes(next, model, end);
      });
    }

    test("a branch whose provider hangs: the user stops it, and has it begin anew", LONG, async (t) => {
      let isOver = false;
      const { model, sandbox } = await stage(
        t,
        team({ A: () => (isOver ? undefined : { text: "I beg", hang: true }) }),
        { globalFiles: panel(["a", "b", "c"], { need: 2 }) },
      );
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      void rpc.prompt("/workflow panel The task");
      await shows(rpc, /✓ B[^]*✓ C/);
      await rpc.prompt("/workflow :stop nobody");
      assert.match(notices(rpc).at(-1) ?? "", /“nobody” is no branch/);
      await rpc.prompt("/workflow :stop B");
      assert.match(notices(rpc).at(-1) ?? "", /“B” is no branch with which that can be done now/);
      await rpc.prompt("/workflow :stop A");
      await settled;
      const entries = await rpc.entries();
      assert.deepEqual(endsOf(entries), { A: "the user stopped it", B: "done", C: "done" });
      assert.deepEqual(way(entries), WHOLE, "two are enough");
      await assertQuiet(model);
      isOver = true;
      assert.deepEqual(rpc.extensionErrors(), []);

      // One that has failed can begin anew while another works.
      const b = worker();
      let isBroken = true;
      const two = await stage(t, team({ A: () => (isBroken ? { status: 400, text: "no" } : undefined), B: b.script }), {
        globalFiles: panel(["a", "b"]),
      });
      const again = await startRpc({ version, sandbox: two.sandbox });
      const done = again.waitForSettled();
      void again.prompt("/workflow panel The task");
      await shows(again, /⏸ A: .*[^]*● B: .*bash true/);
      isBroken = false;
      await again.prompt("/workflow :retry A");
      await shows(again, /✓ A/);
      b.end();
      await done;
      assert.deepEqual(endsOf(await again.entries()), { A: "done", B: "done" });
      assert.deepEqual(way(await again.entries()), WHOLE);
    });

    for (const [control, path] of [
      [":skip", "panel:2"],
      [":cancel", undefined],
      [":pause", "panel:1"],
    ]) {
      test(`${control} while branches work ends them`, LONG, async (t) => {
        const { model, rpc, end } = await atWork(t, version);
        rpc.onDialog(() => true);
        await rpc.prompt("/workflow :next");
        assert.match(
          notices(rpc).at(-1) ?? "",
          /Its branches are being worked on; \/workflow :skip goes on without them\./,
        );
        await rpc.prompt(`/workflow ${control}`);
        await assertQuiet(model, true);
        const entries = await rpc.entries();
        assert.equal(endsOf(entries).B, control === ":cancel" ? endsOf(entries).B : "done");
        if (path) assert.equal(way(entries).at(-1), path);
        else assert.equal(states(entries).at(-1).cancelled, true);
        if (control === ":pause") await resumes(rpc, model, end);
        assert.deepEqual(rpc.extensionErrors(), []);
      });
    }

    test("in print and JSON mode, and without a session file", LONG, async (t) => {
      for (const mode of /** @type {("text" | "json")[]} */ (["text", "json"])) {
        for (const args of [[], ["--no-session"]]) {
          const { model, sandbox } = await stage(t, team(), { globalFiles: panel(["a", "b", "c"]) });
          const { code, stdout, stderr } = await runPrint({
            version,
            sandbox,
            mode,
            args,
            prompt: "/workflow panel The task",
          });
          assert.equal(code, 0, stderr);
          assert.equal(requestsOf(model).length, 3);
          if (mode === "json") {
            const records = parseJsonLines(stdout);
            assert.ok(records.some(({ type }) => type === "tool_execution_update"));
          } else assert.match(stdout, /I rest/);
          if (args.length > 0) assert.deepEqual([parentFiles(sandbox), childFiles(sandbox)], [[], []]);
          else assert.deepEqual(endsOf(parentEntries(sandbox)), { A: "done", B: "done", C: "done" });
          assert.deepEqual(model.faults, []);
        }
      }
    });

    test("a child that is done and does not rest is ended", LONG, async (t) => {
      const { model, sandbox } = await stage(
        t,
        team({ A: (_request, index) => (index === 0 ? ends("A") : { calls: [bash("true")] }) }),
        { globalFiles: panel(["a", "b"]) },
      );
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow panel The task");
      assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done" });
      assert.ok(requestsOf(model, "A").length < 60);
      await assertQuiet(model);
    });
  });
}
