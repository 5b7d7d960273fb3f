// A run with many visits: each step stores what changed, and a session gives all of it back or the run is held.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, notices, statusTexts, step, storedResults, workflow } from "./harness/workflows.mjs";

/** The number of phases that the run has gone through. */
const VISITS = 200;
const LONG_RUN = workflow(
  "long",
  Array.from({ length: 300 }, (_, n) => `p${n}`),
  { autoContinue: false },
);
const REST = { text: "I rest." };
const bash = { calls: [{ name: "bash", arguments: { command: "touch ran" } }] };

/** The run in the phase `VISITS`, in one complete entry. */
function before() {
  const visit = (/** @type {number} */ n) => ({
    name: `P${n}`,
    startedAt: 1000 + n,
    endedAt: 1001 + n,
    passes: 1,
    usage: { turns: n + 1 },
  });
  const visits = Object.fromEntries(Array.from({ length: VISITS }, (_, n) => [`long:${n}`, visit(n)]));
  const current = { name: "P", startedAt: 1000 + VISITS, passes: 1 };
  return {
    active: true,
    workflowKey: "long",
    currentPath: [{ workflowKey: "long", phaseIndex: VISITS }],
    globalStepCount: VISITS,
    taskId: "wf-1-abcdef",
    taskDescription: "Add a route",
    startedAt: 1000,
    completionNotified: false,
    cancelled: false,
    progress: { visits: { ...visits, [`long:${VISITS}`]: current } },
  };
}

/** @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
function writeSession(sandbox) {
  const timestamp = "2026-01-02T03:04:05.000Z";
  const file = join(sandbox.root, "long.jsonl");
  const header = {
    type: "session",
    version: 3,
    id: "01970000-0000-7000-8000-000000000000",
    timestamp,
    cwd: sandbox.project,
  };
  const entry = {
    type: "custom",
    id: "00000001",
    parentId: null,
    timestamp,
    customType: "workflow:state",
    data: before(),
  };
  writeFileSync(file, [header, entry].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

/** @param {import("./harness/rpc.mjs").Rpc} rpc */
const stored = async (rpc) => custom(await rpc.entries(), "workflow:state");

/** @param {any} line */
const isState = ({ customType }) => customType === "workflow:state";
/** @param {any} line */
const isPart = (line) => isState(line) && line.data.progress.entry?.parts > 0;

/** The lines of a session file that are complete. @param {string} file @returns {any[]} */
function linesOf(file) {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.endsWith("}"));
  return lines.map((line) => JSON.parse(line));
}

/** @param {any[]} lines */
const written = (lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/**
 * Ways to break a stored run; `usable`: it can go on with what can be read.
 * @type {Record<string, { breakIn: (lines: any[]) => void, why: string, usable?: boolean, leavesFork?: boolean }>}
 */
const BROKEN = {
  malformed: { breakIn: (lines) => (lines.findLast(isState).data.currentPath = 7), why: "an entry is malformed" },
  oversized: {
    breakIn: (lines) => (lines.findLast(isState).data.big = "x".repeat(5 << 20)),
    why: "an entry is longer than 4194304 bytes",
  },
  "with a missing part": {
    breakIn: (lines) => (lines.filter(isPart).at(-2).customType = "other"),
    why: "an earlier entry that it continues is missing",
    usable: true,
  },
  "with entries lost after the end of one": {
    breakIn: (lines) => {
      const last = lines.findLast(isState);
      Object.assign(last.data, { active: false, cancelled: true });
      lines[lines.indexOf(last) + 1].parentId = "0000dead";
    },
    why: "entries of the session after its newest one are missing",
    // A fork has only what pi finds from its end.
    leavesFork: true,
  },
};

for (const version of VERSIONS) {
  suite(`pi ${version}: a held run`, { concurrency: 2 }, () => {
    for (const [name, { breakIn, why, usable = false, leavesFork }] of Object.entries(BROKEN)) {
      const isShort = name === "with a missing part";
      test(
        `${name} refuses tools in every mode and in a fork, until the user decides`,
        { timeout: 180_000, skip: isShort ? false : LONG.skip },
        async (t) => {
          let moves = 4;
          // After its moves the agent calls bash at each prompt.
          const { sandbox } = await stage(
            t,
            ({ messages }) => {
              if (moves > 0) return ((moves -= 1), step("next"));
              return messages.at(-1)?.role === "tool" ? REST : bash;
            },
            { globalFiles: LONG_RUN },
          );
          const hasRun = () => existsSync(join(sandbox.project, "ran"));
          const first = await startRpc({ version, sandbox });
          const file = writeSession(sandbox);
          await first.send({ type: "switch_session", sessionPath: file });
          await first.promptAndSettle("Go on");
          await first.close();
          assert.equal(hasRun(), false);
          const lines = linesOf(file);
          breakIn(lines);
          const broken = written(lines);

          for (const mode of variants(/** @type {const} */ (["text", "json"]))) {
            writeFileSync(file, broken);
            const { stderr } = await runPrint({ version, sandbox, mode, prompt: "Go on", args: ["--session", file] });
            assert.ok(stderr.includes(why), `${mode}: ${stderr}`);
            assert.equal(hasRun(), false, mode);
          }
          writeFileSync(file, broken);
          const tui = await startTui({ version, sandbox, rows: 80, args: ["--session", file] });
          // The screen breaks lines.
          const shows = (/** @type {string} */ text) => (/** @type {string} */ screen) =>
            screen.replaceAll(/\s+/g, " ").includes(text);
          await tui.waitFor(shows(why));
          await tui.submit("Go on");
          await tui.waitFor(shows("The workflow is paused"));
          assert.equal(hasRun(), false);
          await tui.close();

          for (const decision of variants([":resume", ":cancel"])) {
            writeFileSync(file, broken);
            const rpc = await startRpc({ version, sandbox, args: ["--session", file], onDialog: () => true });
            const isHeld = () => /^⏸ .*cannot be read/.test(statusTexts(rpc).at(-1) ?? "");
            assert.ok(isHeld(), `${decision}: ${statusTexts(rpc).at(-1)}`);
            await rpc.promptAndSettle("Go on");
            assert.equal(hasRun(), false, decision);
            assert.ok((storedResults(await rpc.entries()).at(-1) ?? "").includes(why));
            if (!leavesFork) {
              const { messages } = (await rpc.send({ type: "get_fork_messages" })).data;
              assert.equal((await rpc.send({ type: "fork", entryId: messages.at(-1).entryId })).success, true);
              assert.ok(isHeld(), "a fork");
              await rpc.promptAndSettle("Go on");
              assert.equal(hasRun(), false, "a fork");
            }
            const goesOn = usable || decision === ":cancel";
            if (goesOn && decision === ":resume") await rpc.promptAndSettle("/workflow :resume");
            else await rpc.prompt(`/workflow ${decision}`);
            assert.equal(isHeld(), !goesOn, decision);
            if (!hasRun()) await rpc.promptAndSettle("Go on");
            assert.equal(hasRun(), goesOn, decision);
            rmSync(join(sandbox.project, "ran"), { force: true });
            assert.deepEqual(rpc.extensionErrors(), []);
            await rpc.close();
          }
        },
      );
    }
  });

  suite(`pi ${version}: the file of a long run`, { concurrency: 2 }, () => {
    /** Starts pi again: the run is where its newest entry says, with all of its visits. */
    const readBack = async (
      /** @type {import("./harness/sandbox.mjs").Sandbox} */ sandbox,
      /** @type {string} */ file,
    ) => {
      const index = linesOf(file).findLast(isState).data.currentPath[0].phaseIndex;
      const rpc = await startRpc({ version, sandbox, args: ["--session", file] });
      assert.match(statusTexts(rpc).at(-1) ?? "", new RegExp(`P${index} \\[${index + 1}/300\\]`));
      assert.deepEqual(
        notices(rpc).filter((text) => text.includes("cannot be read")),
        [],
      );
      await rpc.prompt("/workflow :report");
      const { content } = custom(await rpc.entries(), "workflow:report").at(-1);
      assert.match(content, /P0\b[^]*P100\b/);
      return rpc;
    };

    test("that two processes open at once has the run of the one that works on it", { timeout: 120_000 }, async (t) => {
      let answers = 0;
      const { sandbox } = await stage(t, () => ((answers += 1) % 5 === 0 ? REST : { ...step("next"), delayMs: 5 }), {
        globalFiles: LONG_RUN,
      });
      const file = writeSession(sandbox);
      const both = await Promise.all([1, 2].map(() => startRpc({ version, sandbox, args: ["--session", file] })));
      const isHeld = (/** @type {import("./harness/rpc.mjs").Rpc} */ rpc) =>
        /another process works on it/.test(statusTexts(rpc).at(-1) ?? "");
      assert.equal(both.filter(isHeld).length, 1);
      for (let round = 0; round < 3; round += 1)
        await Promise.all(both.map((rpc) => (isHeld(rpc) ? rpc.prompt("Go on") : rpc.promptAndSettle("Go on"))));
      for (const rpc of both) {
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      }
      assert.ok(linesOf(file).filter(isPart).length > 4);
      await (await readBack(sandbox, file)).close();
    });

    test(
      "that SIGKILL leaves between two parts, or in one, has the run of the newest complete one",
      { timeout: 120_000, ...LONG },
      async (t) => {
        const { sandbox } = await stage(t, () => ({ ...step("next"), delayMs: 5 }), { globalFiles: LONG_RUN });
        const file = writeSession(sandbox);
        let rpc = await startRpc({ version, sandbox, args: ["--session", file] });
        for (let kill = 0; kill < 4; kill += 1) {
          const before = linesOf(file).filter(isPart).length;
          void rpc.prompt(kill === 0 ? "Go on" : "Go on again").catch(() => undefined);
          const deadline = Date.now() + 20_000;
          while (linesOf(file).filter(isPart).length < before + 2 + kill && Date.now() < deadline) await sleep(2);
          await rpc.kill();
          assert.ok(linesOf(file).filter(isPart).length > before);
          // In the middle of the newest part: nothing follows it.
          if (kill % 2 === 1) {
            const all = readFileSync(file, "utf8").trimEnd().split("\n");
            const last = all.findLastIndex((line) => line.includes('"workflow:state"'));
            writeFileSync(file, [...all.slice(0, last), (all[last] ?? "").slice(0, 300)].join("\n"));
          }
          rpc = await readBack(sandbox, file);
        }
        await rpc.close();
      },
    );
  });

  test(
    `pi ${version}: a run keeps its rules after a restart though a provider reports a model with a name of 1.2 MB`,
    LONG,
    async (t) => {
      const answeredBy = "m".repeat(1_200_000);
      const script = [
        { ...step("next"), answeredBy },
        { ...REST, answeredBy },
        { ...bash, answeredBy },
        { ...REST, answeredBy },
      ];
      const phases = [{ id: "p0" }, { id: "p1", tools: { whitelist: ["read"] } }, "p2"];
      const { sandbox } = await stage(t, [...script, bash, REST], {
        globalFiles: workflow("short", phases, { autoContinue: false }),
      });
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
    },
  );

  suite(`pi ${version}: a run with ${VISITS} visits`, { concurrency: 2 }, () => {
    test("stores with each step what changed, and has all of it after a restart and on another branch", async (t) => {
      const { sandbox } = await stage(t, [...Array(6).fill(step("next")), REST, step("next"), REST], {
        globalFiles: LONG_RUN,
        files: TRAVEL,
      });
      const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox) });
      const file = writeSession(sandbox);
      await rpc.send({ type: "switch_session", sessionPath: file });
      assert.match(statusTexts(rpc).at(-1) ?? "", /P200 \[201\/300\]/);
      await rpc.promptAndSettle("Go on");
      const list = (await stored(rpc)).slice(1);
      // The session has no entry of this run that a part could continue: the first one is complete.
      assert.equal(list[0].progress.entry.parts ?? 0, 0);
      assert.ok(list.length >= 6);
      for (const { progress } of list.slice(1)) {
        assert.ok(progress.entry.parts > 0);
        assert.ok(JSON.stringify(progress).length < 3000, JSON.stringify(progress));
        assert.ok(progress.seal.hash);
      }
      assert.deepEqual(
        list.map(({ progress }) => progress.entry.number),
        list.map((_, index) => index + 1),
      );
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
      assert.ok(newest.progress.entry.parts > 0);
      assert.match(statusTexts(rpc).at(-1) ?? "", new RegExp(`\\[${at + 1}/300\\]`));
      assert.deepEqual(
        notices(rpc).filter((text) => text.includes("⏸")),
        [],
      );
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
  });
}
