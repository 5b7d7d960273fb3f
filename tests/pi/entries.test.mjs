// Entries without the model: commands that the run runs itself, and questions to the user.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { lastPath } from "./harness/gates.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { contextPrompt, custom, notices, states, step, toolResults, workflow } from "./harness/workflows.mjs";

const next = step("next");
const REST = { text: "I rest." };

/**
 * The files of a workflow with these entries and the phases `plan` and `build`.
 *
 * @param {unknown[]} phases
 * @param {object} [fields]
 */
const files = (phases, fields = {}) => workflow("hello", ["plan", "build"], { autoContinue: false, ...fields, phases });

for (const version of VERSIONS) {
  suite(`pi ${version}: a step without the model`, { concurrency: 2 }, () => {
    test("runs between two phases, in the call that comes to it", async (t) => {
      const { model, sandbox } = await stage(t, [next, next, { text: "Over." }], {
        globalFiles: files(["plan.md", { run: "pwd > where && echo found it", id: "look" }, "build.md"]),
      });
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello Add a route" });
      assert.deepEqual(run, { code: 0, stdout: "Over.\n", stderr: "Workflow The hello: DONE.\n" });
      assert.equal(readFileSync(join(sandbox.project, "where"), "utf8").trim(), sandbox.project);
      const [result] = toolResults(model.requests[1]);
      assert.match(result, /^✓ Advanced: Plan → ⚙️ look\n[^]*✓ Advanced with `ok`: look → 🔹 Build\n/);
      assert.match(result, /### ⚙️ look\nfound it\n/);
      assert.equal(model.requests.length, 3);
    });

    test("is run by bash, without a model where the workflow has steps only", async (t) => {
      const { model, sandbox } = await stage(t, [], {
        globalFiles: workflow("hello", [], { phases: [{ run: "[[ a == a ]] && echo $0 > shell" }, { run: "true" }] }),
      });
      const run = await runPrint({ version, sandbox, prompt: "/workflow hello Go" });
      assert.deepEqual([run.code, run.stderr], [0, "Workflow The hello: DONE.\n"]);
      assert.match(readFileSync(join(sandbox.project, "shell"), "utf8"), /bash$/m);
      assert.equal(model.requests.length, 0);
    });

    test("pauses when it fails, and runs again with :resume, also of another process", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [next, REST, REST, next, { text: "Over." }], {
        globalFiles: files(["plan.md", { run: "echo x >> ran; test -f ready", id: "look" }, "build.md"]),
      });
      const first = await runPrint({ version, sandbox, prompt: "/workflow hello Add a route" });
      assert.equal(first.code, 1);
      assert.equal(
        first.stderr,
        "Workflow The hello: paused in ⚙️ look: “look” has not ended: it failed, exit status 1.\n",
      );
      const chat = await runPrint({ version, sandbox, prompt: "What now?", args: ["--continue"] });
      assert.equal(chat.code, 1);
      assert.match(contextPrompt(model.lastRequest()) ?? "", /which it does without you/);
      const again = await runPrint({ version, sandbox, prompt: "/workflow :resume", args: ["--continue"] });
      assert.equal(again.code, 1);
      assert.equal(readFileSync(join(sandbox.project, "ran"), "utf8"), "x\nx\n");
      writeFileSync(join(sandbox.project, "ready"), "");
      const last = await runPrint({ version, sandbox, prompt: "/workflow :resume", args: ["--continue"] });
      assert.deepEqual(last, { code: 0, stdout: "Over.\n", stderr: "Workflow The hello: DONE.\n" });
    });

    test("has its whole output in a new file of the run's folder each time", async (t) => {
      const script = [next, next, REST];
      const entry = {
        run: "seq 20000; echo end; echo x >> ran; test $(wc -l < ran) -ge 2",
        id: "look",
        outcomes: { failed: "look" },
      };
      const { model, sandbox } = await stage(t, script, { globalFiles: files(["plan.md", entry, "build.md"]) });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      const runs = join(sandbox.project, ".pi/workflow-runs");
      const [folder, ...others] = readdirSync(runs).filter((name) => name !== ".gitignore");
      assert.deepEqual([others, readdirSync(join(runs, folder)).sort()], [[], ["look-1.log", "look-2.log"]]);
      for (const number of [1, 2]) {
        const text = readFileSync(join(runs, folder, `look-${number}.log`), "utf8");
        assert.ok(text.startsWith("1\n2\n3\n") && text.endsWith("\n20000\nend\n") && text.split("\n").length === 20002);
      }
      const path = `.pi/workflow-runs/${folder}/look-2.log`;
      const told = new RegExp(`… \\((\\d+) bytes before; all of it: ${path}\\)\n(\\d[^]*\nend)`);
      const [, missing, kept] = told.exec(toolResults(model.requests[1])[0]) ?? [];
      const whole = readFileSync(join(sandbox.project, path), "utf8").trimEnd();
      assert.ok(
        whole.endsWith(kept) && Number(missing) === whole.length - kept.length,
        `${missing} of ${whole.length}`,
      );
      assert.match(
        JSON.stringify(
          custom(await rpc.entries(), "workflow:complete").concat(custom(await rpc.entries(), "workflow:state")),
        ),
        new RegExp(`"file":"${path}"`),
      );
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("is stopped by Escape with its children, and the run pauses", LONG, async (t) => {
      const { sandbox } = await stage(t, [next, REST], {
        globalFiles: files([
          "plan.md",
          { run: "touch begun; (sleep 1.5; touch late) & sleep 60", id: "look" },
          "build.md",
        ]),
      });
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      void rpc.prompt("/workflow hello Add a route");
      while (!existsSync(join(sandbox.project, "begun"))) await sleep(50);
      await rpc.send({ type: "abort" });
      await settled;
      await sleep(2000);
      assert.equal(existsSync(join(sandbox.project, "late")), false);
      assert.equal(lastPath(await rpc.entries()), "hello:1");
      assert.ok(notices(rpc).some((text) => /“look” has not ended/.test(text)));
      await rpc.close();
    });
  });

  suite(`pi ${version}: a question to the user`, { concurrency: 2 }, () => {
    const ASK = {
      ask: "Is the plan of {description} right?",
      id: "ok",
      outcomes: { go: "next", change: { to: "plan", text: "required", name: "Change it" }, drop: "done" },
    };

    test("is asked in a dialog, and its text goes to later phases, also to fresh ones", async (t) => {
      const plan = { calls: [{ name: "workflow_step", arguments: { action: "next", summary: "Use files." } }] };
      const { model, sandbox } = await stage(t, [plan, plan, { text: "Over." }], {
        globalFiles: {
          ...files(["plan.md", ASK, "build.md"]),
          "hello/build.md": "---\nid: build\nname: Build\nemoji: x\ncontext: fresh\n---\nBuild it.\n",
        },
      });
      /** @type {any[]} */
      const asked = [];
      const answers = ["Change it", "use sqlite", "go"];
      const rpc = await startRpc({
        version,
        sandbox,
        onDialog: (request) => {
          asked.push(request);
          return answers[asked.length - 1];
        },
      });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.deepEqual(asked[0].options, ["Not yet", "go", "Change it", "drop"]);
      assert.match(asked[0].title, /Is the plan of “Add a route” right\?/);
      assert.equal(asked[1].method, "input");
      assert.match(toolResults(model.requests[1])[0], /### ❓ ok\nuse sqlite\n/);
      assert.equal(lastPath(await rpc.entries()), "hello:2");
      assert.ok(
        JSON.stringify(model.lastRequest().messages).includes("### ❓ ok\\ngo"),
        "the fresh phase has the answer",
      );
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("offers only the answers whose conditions hold, by dialog and by command", async (t) => {
      const pick = {
        ask: "And now?",
        id: "pick",
        outcomes: {
          fix: { to: "next", when: { "outcome.look": "failed" } },
          ship: { to: "done", when: { "outcome.look": "ok" }, name: "Ship it" },
          stop: "stop",
        },
      };
      const look = { run: "test -f ready", id: "look", outcomes: { failed: "next" } };
      const { sandbox } = await stage(t, [next, REST], { globalFiles: files(["plan.md", look, pick, "build.md"]) });
      /** @type {string[][]} */
      const asked = [];
      const rpc = await startRpc({
        version,
        sandbox,
        onDialog: (request) => {
          asked.push(request.options ?? []);
          return "Not yet";
        },
      });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.prompt("/workflow :answer ship");
      await rpc.prompt("/workflow :next ship");
      const offered =
        "warning: “And now?” is asked. Answer with one of these:\n/workflow :answer fix\n/workflow :answer stop";
      assert.deepEqual(notices(rpc).slice(-2), [offered, offered]);
      assert.equal(lastPath(await rpc.entries()), "hello:2");
      writeFileSync(join(sandbox.project, "ready"), "");
      await rpc.prompt("/workflow :back");
      while (asked.length < 2) await sleep(50);
      assert.deepEqual(asked, [
        ["Not yet", "fix", "stop"],
        ["Not yet", "Ship it", "stop"],
      ]);
      await rpc.prompt("/workflow :answer ship");
      while (states(await rpc.entries()).at(-1).active) await sleep(50);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("pauses without an interface, and is answered by :answer alone", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [next, REST, REST, { text: "Changed." }], {
        globalFiles: files(["plan.md", ASK, "build.md"]),
      });
      const first = await runPrint({ version, sandbox, prompt: "/workflow hello Add a route" });
      assert.equal(first.code, 1);
      assert.equal(
        first.stderr,
        "Workflow The hello: paused in ❓ ok: it waits for your answer to “Is the plan of “Add a route” right?”.\n",
      );
      const chat = await runPrint({ version, sandbox, prompt: "Yes, go!", args: ["--continue"] });
      assert.match(chat.stderr, /paused in ❓ ok/);
      const wrong = await runPrint({ version, sandbox, prompt: "/workflow :answer change", args: ["--continue"] });
      assert.equal(wrong.code, 1);
      assert.match(wrong.stderr, /The answer `change` needs a text: \/workflow :answer change TEXT/);
      const requests = model.requests.length;
      const last = await runPrint({
        version,
        sandbox,
        prompt: "/workflow :answer change use sqlite",
        args: ["--continue"],
      });
      assert.match(contextPrompt(model.requests[requests]) ?? "", /### ❓ ok\nuse sqlite\n/);
      assert.match(last.stderr, /in 🔹 Plan/);
    });
  });
}
