// A run with many visits: each step stores what changed, and a session gives all of it back or the run is held.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { VERSIONS } from "./harness/extent.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { custom, notices, statusTexts, step, storedResults, workflow } from "./harness/workflows.mjs";

/** The number of phases that the run has gone through. */
const VISITS = 200;
const LONG_RUN = workflow("long", Array.from({ length: 300 }, (_, n) => `p${n}`), { autoContinue: false });
const REST = { text: "I rest." };
const bash = { calls: [{ name: "bash", arguments: { command: "touch ran" } }] };
const MISSING = "its stored state cannot be read in full: an earlier entry that it continues is missing";

/** The run in the phase `VISITS`, as an earlier version stored it: complete. */
function before() {
  const visit = (/** @type {number} */ n) => ({ name: `P${n}`, startedAt: 1000 + n, endedAt: 1001 + n, passes: 1, usage: { turns: n + 1 } });
  const visits = Object.fromEntries(Array.from({ length: VISITS }, (_, n) => [`long:${n}`, visit(n)]));
  const current = { name: "P", startedAt: 1000 + VISITS, passes: 1 };
  return {
    active: true, workflowKey: "long", currentPath: [{ workflowKey: "long", phaseIndex: VISITS }], globalStepCount: VISITS, taskId: "wf-1-abcdef",
    taskDescription: "Add a route", startedAt: 1000, completionNotified: false, cancelled: false, progress: { visits: { ...visits, [`long:${VISITS}`]: current } },
  };
}

/** @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
function writeSession(sandbox) {
  const timestamp = "2026-01-02T03:04:05.000Z";
  const file = join(sandbox.root, "long.jsonl");
  const header = { type: "session", version: 3, id: "01970000-0000-7000-8000-000000000000", timestamp, cwd: sandbox.project };
  const entry = { type: "custom", id: "00000001", parentId: null, timestamp, customType: "workflow:state", data: before() };
  writeFileSync(file, [header, entry].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

/** @param {import("./harness/rpc.mjs").Rpc} rpc */
const stored = async (rpc) => custom(await rpc.entries(), "workflow:state");

for (const version of VERSIONS) {
  test(`pi ${version}: a run keeps its rules after a restart though a provider reports a model with a name of 1.2 MB`, async (t) => {
    const answeredBy = "m".repeat(1_200_000);
    const script = [{ ...step("next"), answeredBy }, { ...REST, answeredBy }, { ...bash, answeredBy }, { ...REST, answeredBy }];
    const phases = [{ id: "p0" }, { id: "p1", tools: { whitelist: ["read"] } }, "p2"];
    const { sandbox } = await stage(t, [...script, bash, REST], { globalFiles: workflow("short", phases, { autoContinue: false }) });
    const rpc = await startRpc({ version, sandbox });
    await rpc.promptAndSettle("/workflow short Add a route");
    // Stores what the answers took.
    await rpc.prompt("/workflow :pause");
    await rpc.promptAndSettle("/workflow :resume");
    const states = await stored(rpc);
    for (const state of states) assert.ok(JSON.stringify(state).length < 8000);
    assert.ok(JSON.stringify(states.at(-1)).includes("scripted/mmm"));
    await rpc.close();
    const again = await startRpc({ version, sandbox, args: ["--continue"] });
    assert.match(statusTexts(again).at(-1) ?? "", /P1 \[2\/3\]/);
    await again.promptAndSettle("Go on");
    assert.match(storedResults(await again.entries()).at(-1) ?? "", /bash/);
    assert.equal(existsSync(join(sandbox.project, "ran")), false);
    assert.deepEqual([...rpc.extensionErrors(), ...again.extensionErrors()], []);
    await again.close();
  });

  suite(`pi ${version}: a run with ${VISITS} visits`, { concurrency: 2 }, () => {
    test("stores with each step what changed, and has all of it after a restart and on another branch", async (t) => {
      const { sandbox } = await stage(t, [...Array(6).fill(step("next")), REST, step("next"), REST], { globalFiles: LONG_RUN, files: TRAVEL });
      const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox) });
      const file = writeSession(sandbox);
      await rpc.send({ type: "switch_session", sessionPath: file });
      assert.match(statusTexts(rpc).at(-1) ?? "", /P200 \[201\/300\]/);
      await rpc.promptAndSettle("Go on");
      const list = (await stored(rpc)).slice(1);
      // An entry of another version is not continued: the first one is complete.
      assert.equal(list[0].progress.version, 1);
      assert.ok(list.length >= 6);
      for (const { progress } of list.slice(1)) {
        assert.equal(progress.version, 2);
        assert.ok(JSON.stringify(progress).length < 3000, JSON.stringify(progress));
        assert.ok(progress.seal.hash);
      }
      assert.deepEqual(list.map(({ progress }) => progress.entry.number), list.map((_, index) => index + 1));
      await rpc.prompt("/workflow :report");
      const [{ content }] = custom(await rpc.entries(), "workflow:report");
      await rpc.prompt("/go-reload");
      await rpc.prompt("/workflow :report");
      const visits = (/** @type {string} */ report) => /Repeated visits.*|.*P0 .*|.*P199 .*/g.exec(report)?.[0];
      assert.equal(visits(custom(await rpc.entries(), "workflow:report")[1].content), visits(content));
      assert.match(content, /\| 1 \| .*\n/);

      // Back to the third step: another branch.
      const entries = await rpc.entries();
      const third = entries.filter((/** @type {any} */ { customType }) => customType === "workflow:state")[3];
      await rpc.prompt(`/go-tree ${third.id}`);
      const at = third.data.currentPath[0].phaseIndex + 1;
      assert.match(statusTexts(rpc).at(-1) ?? "", new RegExp(`\\[${at}/300\\]`));
      await rpc.promptAndSettle("Go on");
      const newest = (await stored(rpc)).at(-1);
      assert.equal(newest.progress.version, 2);
      assert.match(statusTexts(rpc).at(-1) ?? "", new RegExp(`\\[${at + 1}/300\\]`));
      assert.deepEqual(notices(rpc).filter((text) => text.includes("⏸")), []);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
      // Another process, and a copy of the file.
      const copy = join(sandbox.root, "copy.jsonl");
      copyFileSync(file, copy);
      for (const path of [file, copy]) {
        const again = await startRpc({ version, sandbox });
        await again.send({ type: "switch_session", sessionPath: path });
        assert.match(statusTexts(again).at(-1) ?? "", new RegExp(`P${at} \\[${at + 1}/300\\]`));
        await again.close();
      }
    });

    test("is held in every mode when a part is missing, until the user resumes or cancels", async (t) => {
      // The agent's run ends with a call that is refused.
      const { sandbox } = await stage(t, [...Array(4).fill(step("next")), REST, bash, REST, bash], { globalFiles: LONG_RUN });
      const first = await startRpc({ version, sandbox });
      const file = writeSession(sandbox);
      await first.send({ type: "switch_session", sessionPath: file });
      await first.promptAndSettle("Go on");
      await first.close();
      // The entry stays in the tree, its data does not.
      const lines = readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
      const parts = lines.filter(({ data }) => data?.progress?.version === 2);
      parts[parts.length - 2].customType = "other";
      const broken = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      for (const decision of [":resume", ":cancel"]) {
        writeFileSync(file, broken);
        const rpc = await startRpc({ version, sandbox, onDialog: () => true });
        await rpc.send({ type: "switch_session", sessionPath: file });
        assert.match(statusTexts(rpc).at(-1) ?? "", /^⏸ .*\(paused: its state cannot be read\)/);
        assert.match(notices(rpc)[0], new RegExp(`${MISSING}\\.\n/workflow :resume goes on with what can be read`));
        if (decision === ":resume") {
          await rpc.promptAndSettle("Go on");
          assert.match(storedResults(await rpc.entries()).at(-1) ?? "", new RegExp(`The workflow is paused: ${MISSING}`));
          assert.equal(existsSync(join(sandbox.project, "ran")), false);
        }
        await rpc.prompt(`/workflow ${decision}`);
        const newest = (await stored(rpc)).at(-1);
        assert.equal(newest.active, decision === ":resume");
        assert.equal(newest.progress.version, 1);
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      }
      writeFileSync(file, broken);
      const printed = await runPrint({ version, sandbox, prompt: "Go on", args: ["--session", file] });
      assert.match(printed.stderr, new RegExp(MISSING));
      assert.equal(existsSync(join(sandbox.project, "ran")), false);
    });
  });
}
