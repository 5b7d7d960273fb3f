// The workflows of the package: each to DONE, and what may become their command.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { model, phaseOf } from "./harness/obedient.mjs";
import { readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { ends } from "./harness/workflows.mjs";

const FOR_THIS_RUN = "Yes, for this run";

const touch = (/** @type {string} */ command) => ({ name: "bash", arguments: { command } });

/** Answers each dialog by the beginning of its title. @param {[string, string][]} answers @param {string[]} [asked] */
const answering =
  (answers, asked = []) =>
  (/** @type {any} */ { title }) => {
    asked.push(title);
    return answers.find(([begin]) => title.startsWith(begin))?.[1];
  };

const git = (/** @type {import("./harness/sandbox.mjs").Sandbox} */ { project }, /** @type {string[]} */ ...args) =>
  execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd: project, stdio: "pipe" });

for (const version of VERSIONS) {
  suite(`pi ${version}: the workflows of the package`, { concurrency: 2 }, () => {
    test("goal works until the reviewer finds nothing and the command passes after that", async (t) => {
      const script = model(
        { Review: { outcome: "findings" } },
        { Work: [touch("echo x >> tries"), touch("touch ok"), null, null, touch("touch ok")] },
      );
      let reviews = 0;
      const { model: played, sandbox } = await stage(
        t,
        (request) => {
          const answer = script(request);
          const call = /** @type {any} */ (answer.calls?.[0].arguments);
          if (call?.outcome !== "findings") return answer;
          if (++reviews > 1) call.outcome = "clean";
          // Somebody else breaks it during the second review.
          if (reviews === 2) rmSync(join(sandbox.project, "ok"));
          return answer;
        },
        { builtin: true },
      );
      const asked = /** @type {string[]} */ ([]);
      const rpc = await startRpc({ version, sandbox, onDialog: answering([["Step", FOR_THIS_RUN]], asked) });
      await rpc.promptAndSettle('/workflow goal check="test -f ok" Make it so');
      assert.deepEqual(asked.length, 1, asked.join("\n\n"));
      assert.match(
        asked[0],
        /^Step "The check before the work" runs:\n│ test -f ok\n│ # a value of the run\nAllow it\?$/,
      );
      const entries = await rpc.entries();
      assert.match(ends(entries).at(-1)?.content ?? "", /Goal/);
      assert.equal(reviews, 3);
      // The reviewer starts fresh: it sees nothing of the work.
      const review = played.requests.find((request) => phaseOf(request) === "Review");
      assert.doesNotMatch(JSON.stringify(review?.messages), /echo x >> tries/);
    });

    test(
      "without `check` goal finds one, and asks; no value of a project becomes a command without a yes",
      LONG,
      async (t) => {
        const { sandbox } = await stage(t, model({ Review: { outcome: "clean" } }), {
          builtin: true,
          files: { Makefile: "test:\n\t@true\n" },
        });
        const asked = /** @type {string[]} */ ([]);
        const answers = /** @type {[string, string][]} */ ([
          ["Question of", "Yes, use it"],
          ["Step", FOR_THIS_RUN],
        ]);
        const rpc = await startRpc({ version, sandbox, onDialog: answering(answers, asked) });
        await rpc.promptAndSettle("/workflow goal Make it so");
        assert.equal(asked.length, 2, asked.join("\n\n"));
        assert.match(asked[0], /“make test”/);
        assert.match(asked[1], /│ make test\n│ # a value of the run/);
        assert.equal(ends(await rpc.entries()).length, 1);
      },
    );

    test("in print mode `check` must be given and allowed", async (t) => {
      const { model: played, sandbox } = await stage(t, model({ Review: { outcome: "clean" } }), { builtin: true });
      const without = await runPrint({ version, sandbox, prompt: "/workflow goal Make it so" });
      assert.equal(without.code, 1);
      assert.match(without.stderr, /Start again with check="COMMAND"/);
      const unknown = await runPrint({ version, sandbox, prompt: '/workflow goal check="nmp test" Make it so' });
      assert.match(unknown.stderr, /There is no command "nmp" here/);
      assert.equal(played.requests.length, 0);
      const prompt = '/workflow goal check="touch ran" Make it so';
      const refused = await runPrint({ version, sandbox, prompt });
      assert.equal(refused.code, 1, refused.stderr);
      assert.match(
        refused.stderr,
        /paused in .*: it runs a command that you have not allowed \(see --allow-workflow-value\)/,
      );
      assert.equal(existsSync(join(sandbox.project, "ran")), false);
      const args = ["--allow-workflow-value=touch ran"];
      const done = await runPrint({ version, sandbox, prompt, args });
      assert.deepEqual([done.code, existsSync(join(sandbox.project, "ran"))], [0, true], done.stderr);
    });

    test("fix needs a suite that fails first", LONG, async (t) => {
      const work = { "A test that shows it": [touch("true"), null, touch("touch test")], Change: [touch("touch ok")] };
      const { model: played, sandbox } = await stage(t, model({}, work), { builtin: true });
      const rpc = await startRpc({ version, sandbox, onDialog: answering([["Step", FOR_THIS_RUN]]) });
      await rpc.promptAndSettle('/workflow fix check="test ! -f test || test -f ok" The page is blank');
      assert.equal(ends(await rpc.entries()).length, 1);
      const shows = played.requests.filter((request) => phaseOf(request) === "A test that shows it");
      assert.ok(shows.length >= 4, "the suite passed once, and the phase came again");
    });

    test("review looks with three agents, changes nothing, and refuses what is no commit", LONG, async (t) => {
      const findings = { outputs: { findings: ["a.js:1: wrong, I read it"] } };
      const work = { Errors: [{ name: "write", arguments: { path: "evil", content: "x" } }] };
      const script = model({ Errors: findings, Tests: findings, Design: findings }, work);
      const { model: played, sandbox } = await stage(t, script, { builtin: true, files: { "a.js": "1\n" } });
      git(sandbox, "init", "-q");
      git(sandbox, "add", "a.js");
      git(sandbox, "commit", "-qm", "one");
      writeFileSync(join(sandbox.project, "a.js"), "2\n");
      const run = (/** @type {string} */ of) =>
        runPrint({ version, sandbox, prompt: `/workflow review of=${of} Is it right?` });
      for (const [of, why] of [
        ["--output=evil", /no commit: write of=refs\/heads\/--output=evil/],
        ["nowhere", /no commit nowhere here/],
      ]) {
        const stopped = await run(String(of));
        assert.equal(stopped.code, 1);
        assert.match(stopped.stdout + stopped.stderr, /** @type {RegExp} */ (why));
      }
      assert.equal(played.requests.length, 0);
      writeFileSync(join(sandbox.project, "new file.js"), "3\n");
      git(sandbox, "commit", "-qam", "two");
      const done = await run("HEAD");
      assert.equal(done.code, 0, done.stderr);
      assert.equal(existsSync(join(sandbox.project, "evil")), false);
      // Each reviewer has the change in its prompt, and none has the summary of another.
      for (const reviewer of ["Errors", "Tests", "Design"]) {
        const first = played.requests.find((request) => phaseOf(request) === reviewer);
        const told = JSON.stringify(first?.messages);
        assert.match(
          told,
          /Paths begin at `\.`, your folder\.[^]*\\nnot tracked, to be read: new file\.js\\n/,
          reviewer,
        );
        assert.match(told, /Look above all at this: Is it right\?/);
        assert.doesNotMatch(told, /Left (Errors|Tests|Design)\./);
      }
      const list = played.requests.find((request) => phaseOf(request) === "One list");
      assert.match(JSON.stringify(list?.messages), /Errors: .*a\.js:1: wrong/);
      const withoutTask = await runPrint({ version, sandbox, prompt: "/workflow review" });
      assert.equal(withoutTask.code, 0, withoutTask.stderr);
      const last = played.requests.findLast((request) => phaseOf(request) === "Errors");
      assert.match(JSON.stringify(last?.messages), /Look above all at this: the change as a whole/);
      assert.match(JSON.stringify(last?.messages), /\\ndiff --git a\/a\.js b\/a\.js\\n/);
    });

    test("plan waits for the approval, and works each task off", LONG, async (t) => {
      const script = model({ Plan: { outputs: { tasks: ["one", "two"] } } });
      const { model: played, sandbox } = await stage(t, script, { builtin: true });
      const asked = /** @type {string[]} */ ([]);
      const rpc = await startRpc({
        version,
        sandbox,
        onDialog: answering([["Question of", "Yes, work it off"]], asked),
      });
      await rpc.promptAndSettle("/workflow plan A new page");
      assert.equal(asked.length, 1);
      assert.equal(ends(await rpc.entries()).length, 1);
      const tasks = played.requests.filter((request) => phaseOf(request) === "Do");
      assert.deepEqual([tasks.length >= 2, /Task 2 of 2: two/.test(JSON.stringify(tasks))], [true, true]);
    });

    test("a command that always passes is done at once, and one that never ends fails", LONG, async (t) => {
      const copy = readFileSync(new URL("../../workflows/goal/workflow.yaml", import.meta.url), "utf8");
      const { sandbox } = await stage(t, model({ Review: { outcome: "clean" } }), {
        builtin: true,
        globalFiles: {
          "goal/workflow.yaml": copy
            .replaceAll("timeout: 30m", "timeout: 1s")
            .replace("gateAttempts: 8", "gateAttempts: 2"),
        },
      });
      const run = (/** @type {string} */ check) =>
        runPrint({
          version,
          sandbox,
          prompt: `/workflow goal check="${check}" Make it so`,
          args: [`--allow-workflow-value=${check}`],
        });
      const passes = await run("true");
      assert.equal(passes.code, 0, passes.stderr);
      assert.match(passes.stderr, /The check passes already: it cannot show that the task is done\./);
      const [{ content }] = ends(readSession(sandbox));
      assert.match(content, /The check passes already[^\n]*it cannot show that the task is done\./);
      const hangs = await run("sleep 1000");
      assert.equal(hangs.code, 1);
      assert.match(hangs.stderr, /paused in 🔨 Work: .*The check/);
    });
  });
}
