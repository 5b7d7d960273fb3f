// One process works on a run: pi and `pi-workflows run`, and two pi, on one session.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { withPi } from "../cli/with-pi.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { readSession } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { paths, states, statusTexts, step, workflow } from "./harness/workflows.mjs";

const HANG = { text: "Thinking", hang: true };
const MAY_WORK = "A process of another host or container may work on this session. If it works no more: --take-over.\n";
const REST = { text: "I rest." };
const PHASES = ["p1", "p2", "p3", "p4"];
const FLOW = workflow("flow", PHASES, { autoContinue: false, name: "Flow" });

for (const version of VERSIONS) {
  suite(`pi ${version}: one process works on a run`, { concurrency: 2 }, () => {
    /** @param {import("node:test").TestContext} t */
    async function scene(t) {
      /** The next answers of the model. @type {import("./harness/scripted-model.mjs").Step[]} */
      const answers = [];
      const { sandbox, model, run, start, startCommand } = await withPi(t, version, () => answers.shift() ?? REST, {
        globalFiles: FLOW,
      });
      /** `pi-workflows run` as process 1 of a namespace, whose other processes end with it. @param {string[]} args */
      const contained = (args) =>
        startCommand(["run", ...args], {}, undefined, ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]);
      const file = join(sandbox.project, "s.jsonl");
      const note = `${file}.process`;
      const open = () => startRpc({ sandbox, version, args: ["--session", file] });
      const visited = () => [...new Set(paths(states(readSession(sandbox, file)).filter(({ active }) => active)))];
      /** @param {number} pid */
      const gone = async (pid) => {
        process.kill(pid, "SIGKILL");
        while (existsSync(`/proc/${pid}/fd/0`)) await sleep(20);
      };
      /**
       * Checks that a run is held and told, that no message starts an agent, and that nothing is stored.
       * @param {Awaited<ReturnType<typeof startRpc>>} rpc
       * @param {RegExp} words
       */
      const isHeld = async (rpc, words) => {
        const [size, requests, from] = [statSync(file).size, model.requests.length, rpc.records.length];
        await rpc.prompt("Go on.");
        for (const command of [":resume", ":next", ":cancel", ":status"]) await rpc.prompt(`/workflow ${command}`);
        const told = rpc.records.slice(from).filter(({ method }) => method === "notify");
        assert.ok(told.length >= 4 && told.every(({ message }) => words.test(message)), JSON.stringify(told));
        assert.deepEqual([statSync(file).size, model.requests.length], [size, requests]);
      };
      return { sandbox, model, run, start, contained, answers, file, note, open, visited, gone, isHeld };
    }

    test("pi leaves a run alone that pi-workflows run works on, and goes on when it is opened again", async (t) => {
      const { sandbox, model, start, answers, file, note, open, visited, gone, isHeld } = await scene(t);
      answers.push(step("next"), HANG);
      const { child } = start(["flow", "Do it", "--session", file]);
      await model.waitForRequests(2);
      const rpc = await open();
      const works = new RegExp(`another process \\(${child.pid}\\) works on it`);
      assert.equal(statusTexts(rpc).at(-1), "⏸ Flow > 🔹 P2 [2/4] (paused: another process works on it)");
      await isHeld(rpc, works);
      await gone(/** @type {number} */ (child.pid));
      // Its pi hangs, and works on.
      const { pi } = JSON.parse(readFileSync(note, "utf8"));
      await isHeld(rpc, new RegExp(`another process \\(${pi.pid}\\) works on it`));
      await gone(pi.pid);
      await isHeld(rpc, /another process has worked on it since this session was opened/);
      answers.push(step("next"), step("next"), step("next"), REST);
      const opened = await rpc.send({ type: "switch_session", sessionPath: file });
      assert.ok(opened.success, JSON.stringify(opened));
      await rpc.promptAndSettle("Go on.");
      assert.deepEqual(
        visited(),
        PHASES.map((_, index) => `flow:${index}`),
      );
      assert.equal(states(readSession(sandbox, file)).at(-1)?.active, false);
      assert.ok(!existsSync(note), "nothing is left to go on with");
    });

    test("pi-workflows run leaves a run alone that pi works on, and goes on after it", async (t) => {
      const { sandbox, model, run, answers, file, note, open, visited, isHeld } = await scene(t);
      const rpc = await open();
      answers.push(step("next"), HANG);
      await rpc.prompt("/workflow flow Do it");
      await model.waitForRequests(2);
      const refused = await run("--continue", "--session", file);
      assert.deepEqual([refused.status, refused.stderr], [2, `Process ${rpc.pid} works on this session.\n`]);
      const settled = rpc.waitForSettled();
      await rpc.send({ type: "abort" });
      await settled;
      assert.ok(JSON.parse(readFileSync(note, "utf8")).ended, "a pause");
      answers.push(step("next"), REST);
      assert.equal((await run("--continue", "--session", file)).status, 3);
      await isHeld(rpc, /another process has worked on it since this session was opened/);
      const pause = () => run("--continue", "--session", file, "/workflow :pause");
      assert.equal((await pause()).status, 3);
      const text = readFileSync(note, "utf8");
      const late = await open();
      const none = await run("--continue", "--session", file, "--pi", join(sandbox.project, "none"));
      assert.equal(none.status, 1, none.stderr);
      assert.equal(readFileSync(note, "utf8"), text, "it has not worked");
      assert.equal((await pause()).status, 3);
      await isHeld(late, /another process has worked on it since this session was opened/);
      await late.close();
      answers.push(step("next"), HANG);
      const other = await open();
      const from = model.requests.length;
      await other.prompt("Go on.");
      await model.waitForRequests(from + 2);
      await other.kill();
      answers.push(step("next"), REST);
      const over = await run("--continue", "--session", file);
      assert.equal(over.status, 0, over.stderr);
      assert.deepEqual(
        visited(),
        PHASES.map((_, index) => `flow:${index}`),
      );
    });

    test("killed in each phase, a run goes from one program to the other", LONG, async (t) => {
      const { model, start, run, answers, file, note, open, visited, gone } = await scene(t);
      let requests = 0;
      const hangs = async () => {
        requests += 2;
        await model.waitForRequests(requests);
      };
      answers.push(step("next"), HANG);
      let rpc = await open();
      await rpc.prompt("/workflow flow Do it");
      await hangs();
      await rpc.kill();
      answers.push(step("next"), HANG);
      const { child } = start(["--continue", "--session", file]);
      await hangs();
      const { pi } = JSON.parse(readFileSync(note, "utf8"));
      await gone(/** @type {number} */ (child.pid));
      await gone(pi.pid);
      answers.push(step("next"), HANG);
      rpc = await open();
      await rpc.prompt("Go on.");
      await hangs();
      await rpc.kill();
      answers.push(step("next"), REST);
      assert.equal((await run("--continue", "--session", file)).status, 0);
      assert.deepEqual(
        visited(),
        PHASES.map((_, index) => `flow:${index}`),
      );
      assert.equal(model.requests.length, requests + 2, "no phase was worked on twice");
    });

    test("process 1 of a container works, and is unknown to others when the container is gone", async (t) => {
      if (process.platform !== "linux" || process.getuid?.() !== 0) return t.skip("needs root on Linux");
      const { sandbox, model, run, answers, file, note, contained } = await scene(t);
      answers.push(step("next"), HANG);
      const first = contained(["flow", "Do it", "--session", file]);
      await model.waitForRequests(2);
      assert.equal(JSON.parse(readFileSync(note, "utf8")).pid, 1);
      first.child.kill("SIGKILL");
      await first.ended;
      const refused = await run("--continue", "--session", file);
      assert.deepEqual([refused.status, refused.stderr], [2, MAY_WORK]);
      const again = await contained(["--continue", "--session", file]).ended;
      assert.deepEqual([again.status, again.stderr], [2, MAY_WORK]);
      answers.push(step("next"), step("next"), step("next"), REST);
      const over = await contained(["--continue", "--session", file, "--take-over"]).ended;
      assert.equal(over.status, 0, over.stderr);
      assert.equal(states(readSession(sandbox, file)).at(-1)?.active, false);
    });

    test("of two pi on one session one works, and a process that nobody sees needs a yes", async (t) => {
      const { model, run, answers, file, note, open, isHeld } = await scene(t);
      const first = await open();
      answers.push(step("next"), HANG);
      await first.prompt("/workflow flow Do it");
      await model.waitForRequests(2);
      const second = await open();
      await isHeld(second, new RegExp(`another process \\(${first.pid}\\) works on it`));
      await first.kill();
      await second.close();
      const own = JSON.parse(readFileSync(note, "utf8"));
      writeFileSync(note, JSON.stringify({ ...own, namespace: "another host" }));
      const third = await open();
      await isHeld(third, /a process of another host or container \(\d+\) may work on it/);
      await third.close();
      const refused = await run("--continue", "--session", file);
      assert.deepEqual([refused.status, refused.stderr], [2, MAY_WORK]);
      const fourth = await open();
      fourth.onDialog(() => true);
      answers.push(step("next"), HANG);
      const from = model.requests.length;
      await fourth.prompt("/workflow :resume");
      await model.waitForRequests(from + 2);
      assert.equal(JSON.parse(readFileSync(note, "utf8")).pid, fourth.pid);
      await fourth.kill();
      writeFileSync(note, JSON.stringify({ ...own, namespace: "another host" }));
      answers.push(step("next"), step("next"), REST);
      const over = await run("--continue", "--session", file, "--take-over");
      assert.equal(over.status, 0, over.stderr);
    });
  });
}
