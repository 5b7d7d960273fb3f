// A phase with `context: fresh` after moves in the session: resume, crash, tree, fork, reload, compaction, and the
// reference.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { QUIET, READ, REST, REVIEW, assertFresh, close, next, said, startFresh, text } from "./harness/fresh.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { REPO, readSession, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { custom, step, workflow } from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["build", REVIEW, { id: "again", context: "fresh" }], QUIET);
/** Compacts nearly the whole conversation. */
const COMPACTION = { compaction: { enabled: true, keepRecentTokens: 10, reserveTokens: 100 } };

/** Returns the lines of the newest session file. @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
function lines(sandbox) {
  const file = sessionFiles(sandbox).at(-1) ?? "";
  return readFileSync(file, "utf8").split("\n").filter(Boolean);
}

for (const version of VERSIONS) {
  suite(`pi ${version}: a fresh context`, { concurrency: 2 }, () => {
    test("after a crash at each entry of the move, and a move in the tree to each", async (t) => {
      const { model, sandbox, play, requests, start } = await startFresh(t, version, { globalFiles: HELLO });
      const first = await start();
      play(READ, REST, REST, next("the results of build"), { hang: true });
      await first.promptAndSettle("/workflow hello The task");
      await first.promptAndSettle("Mind the gap, please.");
      const hung = model.waitForRequests(5);
      void first.prompt("Go on");
      await hung;
      assertFresh(requests.at(-1), "review");
      await first.kill();

      const all = lines(sandbox);
      const parsed = all.map((line) => JSON.parse(line));
      const moved = parsed.findIndex(
        ({ customType, data }) => customType === "workflow:state" && data.currentPath[0].phaseIndex === 1,
      );
      assert.deepEqual(
        parsed.slice(moved).map(({ type, customType, message }) => customType ?? message?.role ?? type),
        ["workflow:state", "toolResult", "compaction", "workflow:state", "workflow:fresh", "workflow:context"],
      );
      const rpc = await start("--continue");
      for (let end = moved + 1; end <= all.length; end++) {
        const file = join(sandbox.root, `killed-${end}.jsonl`);
        writeFileSync(file, `${all.slice(0, end).join("\n")}\n`);
        assert.equal((await rpc.send({ type: "switch_session", sessionPath: file })).success, true);
        await rpc.promptAndSettle("What now?");
        assertFresh(requests.at(-1), "review");
        assert.match(text(requests.at(-1)), /the results of build/);
        assert.match(text(requests.at(-1)), /Mind the gap, please\.[^]*Go on[^]*What now\?/);
        await rpc.promptAndSettle("More");
        assert.doesNotMatch(text(requests.at(-1)), /the old work/);
        const copies = text(requests.at(-1)).split("What to do in this phase").length - 1;
        assert.equal(copies, end < all.length ? 1 : 2, "a resume gives the context prompt again");
      }
      for (const { id } of parsed.slice(moved)) {
        await rpc.prompt(`/go-tree ${id}`);
        await rpc.promptAndSettle("What now?");
        assertFresh(requests.at(-1), "review");
        assert.match(text(requests.at(-1)), /Mind the gap, please\.[^]*Go on/);
      }
      // Before the move, all of the earlier work is there.
      await rpc.prompt(`/go-tree ${parsed[moved - 3].id}`);
      await rpc.promptAndSettle("What now?");
      assert.match(text(requests.at(-1)), /Start The hello[^]*the old work/);
      await close(rpc, model);
    });

    test("after a crash in the first turn, a resume, a reload and a fork", LONG, async (t) => {
      const { model, sandbox, play, requests, start } = await startFresh(t, version, { globalFiles: HELLO });
      const first = await start();
      play(READ, REST, { hang: true });
      await first.promptAndSettle("/workflow hello The task");
      const hung = model.waitForRequests(3);
      void first.prompt("/workflow :next");
      await hung;
      await first.kill();
      assert.equal(custom(readSession(sandbox), "workflow:state").at(-1).progress.freshStart, true);

      const rpc = await start("--continue");
      await rpc.promptAndSettle("What now?");
      assertFresh(requests.at(-1), "review");
      assert.equal(said(requests.at(-1)).length, 1);
      assert.equal(custom(await rpc.entries(), "workflow:state").at(-1).progress.freshStart, undefined);
      play(READ, REST);
      await rpc.promptAndSettle("Look again");
      assert.match(text(requests.at(-1)), /the old work/, "its own");
      await rpc.prompt("/go-reload");
      await rpc.promptAndSettle("After the reload");
      assert.doesNotMatch(text(requests.at(-1)), /Start The hello/);
      assert.match(text(requests.at(-1)), /What now[^]*Look again[^]*the old work/, "nothing more is left out");

      const { messages } = (await rpc.send({ type: "get_fork_messages" })).data;
      const fork = async (/** @type {string} */ message) => {
        const { entryId } = messages.find((/** @type {{ text: string }} */ found) => found.text === message);
        assert.equal((await rpc.send({ type: "fork", entryId })).success, true);
      };
      await fork("Look again");
      await rpc.promptAndSettle("In the fork");
      assert.doesNotMatch(text(requests.at(-1)), /Start The hello|Look again|the old work/);
      assert.match(text(requests.at(-1)), /What now[^]*In the fork/);
      // A second fresh phase.
      await rpc.promptAndSettle("/workflow :next");
      assertFresh(requests.at(-1), "again");
      assert.match(text(requests.at(-1)), /What now\?[^]*In the fork/);
      await close(rpc, model);
    });

    test("after compactions of pi and of the user", LONG, async (t) => {
      const { model, play, requests, start } = await startFresh(t, version, {
        globalFiles: HELLO,
        settings: COMPACTION,
        modelConfig: { contextWindow: 8000 },
      });
      const rpc = await start();
      // pi compacts after this turn: its usage is at the limit.
      play(READ, { ...REST, usage: { prompt: 7950 } });
      await rpc.promptAndSettle("/workflow hello The task");
      await rpc.promptAndSettle("Mind the gap, please.");
      assert.ok(rpc.records.some(({ type }) => type === "compaction_end"));
      play({ ...READ, usage: { prompt: 7950 } }, REST);
      await rpc.promptAndSettle("/workflow :next");
      assertFresh(requests.at(-2), "review");
      assert.doesNotMatch(text(requests.at(-2)), /A summary/);
      assert.match(text(requests.at(-1)), /Do review for The task/, "given again if pi has compacted it");

      await rpc.promptAndSettle("More");
      assert.equal((await rpc.send({ type: "compact" })).success, true);
      await rpc.promptAndSettle("Go on");
      assert.match(text(requests.at(-1)), /A summary[^]*Do review for The task/);

      // The requests for a summary within the phase show nothing from before it.
      const began = model.requests.indexOf(requests.at(-4) ?? assert.fail());
      const summaries = model.requests.slice(began).filter(({ tools }) => !tools?.length);
      assert.ok(summaries.length > 0);
      for (const request of summaries) assert.doesNotMatch(text(request), /Start The hello|Do build/);

      // The user compacts in the first turn, which pi aborts.
      await rpc.promptAndSettle("/workflow :back");
      play(READ, REST);
      await rpc.promptAndSettle("Build");
      const count = model.requests.length;
      play({ hang: true });
      const settled = rpc.waitForSettled();
      void rpc.prompt("/workflow :next");
      await model.waitForRequests(count + 1);
      await rpc.send({ type: "compact" });
      await settled;
      assert.equal((await rpc.state()).isCompacting, false);
      const [summarized] = model.requests.slice(count + 1);
      assert.match(text(summarized), /Mind the gap, please/);
      assert.doesNotMatch(text(summarized), /the old work|I rest/);
      await rpc.promptAndSettle("Go on");
      assert.match(text(requests.at(-1)), /A summary[^]*Do review for The task/);

      // The move in the turn at which pi compacts, and a compaction right before it.
      await rpc.promptAndSettle("More");
      assert.equal((await rpc.send({ type: "compact" })).success, true);
      play({ ...next("the review"), usage: { prompt: 7950 } }, REST);
      await rpc.promptAndSettle("Go on");
      assertFresh(requests.at(-1), "again");
      assert.doesNotMatch(text(requests.at(-1)), /A summary/);
      assert.match(text(requests.at(-1)), /Mind the gap, please/);
      await close(rpc, model);
    });

    test("in a session that the reference continues and hands back", LONG, async (t) => {
      const { model, sandbox, play, requests, start } = await startFresh(t, version, { globalFiles: HELLO });
      const reference = join(REPO, "node_modules/@harms-haus/pi-workflows");
      const ours = await start();
      play(READ, REST);
      await ours.promptAndSettle("/workflow hello The task");
      await ours.prompt("/workflow :pause");
      const paused = ours.waitFor(({ method, message }) => method === "notify" && /Build → /.test(message));
      await ours.prompt("/workflow :next");
      await paused;
      await ours.close();

      const before = model.requests.length;
      const theirs = await startRpc({ version, sandbox, extension: reference, args: ["--continue"] });
      play(step("next"), REST);
      await theirs.promptAndSettle("Go on");
      await theirs.close();
      assert.equal(custom(readSession(sandbox), "workflow:state").at(-1).currentPath[0].phaseIndex, 2);

      // The reference sends messages of the user in a row.
      model.requests.splice(before, model.requests.length - before);
      const again = await start("--continue");
      await again.promptAndSettle("What now?");
      assertFresh(requests.at(-1), "again");
      await close(again, model);
    });
  });
}
