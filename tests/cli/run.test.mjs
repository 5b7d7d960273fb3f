// `pi-workflows run`: a run in a real pi without its terminal interface, by its exit statuses, signals and files.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { LONG, VERSIONS, variants } from "../pi/harness/extent.mjs";
import { sessionFiles } from "../pi/harness/pi.mjs";
import { asks as ask, leave, nextUntilDone, step, steps, workflow } from "../pi/harness/workflows.mjs";
import { withPi } from "./with-pi.mjs";

const REST = { text: "I rest." };
const OFF = { autoContinue: false };
const HELLO = workflow("hello", ["plan", "build"], OFF);

/** An extension with a tool that ignores the end of its call. */
const HANG = `export default (pi) => pi.registerTool({
  name: "hang", label: "hang", description: "x", parameters: { type: "object", properties: {} },
  execute: () => new Promise(() => setInterval(() => {}, 1000)),
});`;

for (const version of VERSIONS) {
  suite(`pi ${version}: pi-workflows run`, { concurrency: 2 }, () => {
    test("ends with 0 at DONE, and writes the result and the summary", async (t) => {
      const { run, sandbox, model } = await withPi(t, version, nextUntilDone, { globalFiles: HELLO });
      const ended = await run(
        "hello",
        "Add a route",
        "--result",
        "result.json",
        "--summary",
        "summary.md",
        "--session",
        "own.jsonl",
      );
      assert.deepEqual([ended.status, ended.stdout], [0, ""], ended.stderr);
      // pi may be faster than the look at its session.
      assert.match(ended.stderr, /^((Plan|Build) · \d turns? · |Workflow The hello: DONE)/);
      assert.match(ended.stderr, /\ndone · 3 turns · \S+ tokens · cost unknown · \d+s\n$/);
      const result = JSON.parse(readFileSync(join(sandbox.project, "result.json"), "utf8"));
      assert.deepEqual(result.end, { status: 0, outcome: "done", text: "done" });
      assert.equal(result.outcome, "done");
      assert.equal(result.session.file, join(sandbox.project, "own.jsonl"));
      assert.match(readFileSync(join(sandbox.project, "summary.md"), "utf8"), /^# Run of hello\n/);
      assert.equal(model.requests.length, 3);
      assert.deepEqual(
        readdirSync(sandbox.project).filter((name) => name.includes(".new")),
        [],
      );
    });

    test("a run that pauses ends with 3, and --continue goes on", async (t) => {
      const { run, sandbox } = await withPi(t, version, [REST, ...steps("next", "next"), REST], { globalFiles: HELLO });
      const paused = await run("hello", "Do it");
      assert.equal(paused.status, 3, paused.stderr);
      assert.match(paused.stderr, /\nwaits in Plan: its agent has stopped, and nothing goes on by itself · 1 turn · /);
      const [session] = sessionFiles(sandbox);
      assert.match(paused.stderr, new RegExp(`To go on: pi-workflows run --continue --session ${session}`));
      const over = await run("--continue");
      assert.equal(over.status, 0, over.stderr);
      assert.equal(sessionFiles(sandbox).length, 1);
      const again = await run("--continue");
      assert.deepEqual([again.status, again.stderr], [2, "No run of this project is unfinished.\n"]);
    });

    test("a limit of the model ends with 7 and its end, and --wait waits for it", LONG, async (t) => {
      const limit = (/** @type {string} */ when) => ({ status: 429, text: `Rate limit. Please try again in ${when}.` });
      const script = [limit("2h"), limit("1s"), limit("1s"), ...steps("next", "next"), REST];
      const { run, sandbox } = await withPi(t, version, script, { globalFiles: HELLO });
      const ended = await run("hello", "Do it", "--result", "r.json");
      assert.equal(ended.status, 7, ended.stderr);
      const result = JSON.parse(readFileSync(join(sandbox.project, "r.json"), "utf8"));
      const { outcome, quotaUntil, text } = result.end;
      assert.equal(outcome, "quota");
      assert.ok(Math.abs(quotaUntil - Date.now() - 7_200_000) < 60_000, `${quotaUntil}`);
      assert.match(text, /^paused in Plan: a limit of the model is reached, until 20.*: 429.*Rate limit/);
      assert.equal(result.quota.until, quotaUntil);
      assert.match(ended.stderr, /\nTo go on: pi-workflows run --continue --session /);
      const waited = await run("--continue", "--wait", "1h", "--budget", "time=1m", "--result", "r.json");
      assert.equal(waited.status, 0, waited.stderr);
      assert.match(waited.stderr, /it goes on by itself at /);
      assert.equal(JSON.parse(readFileSync(join(sandbox.project, "r.json"), "utf8")).quota.waits, 2);
      const wrong = await run("hello", "Do it", "--wait", "soon");
      assert.deepEqual([wrong.status, wrong.stderr.split(":")[0]], [2, "--wait"]);
    });

    test("a run whose agent is silent twice ends with 8, and goes on", async (t) => {
      const silent = { text: "Hm.", hang: /** @type {const} */ ("alive") };
      const { run, sandbox } = await withPi(t, version, [silent, silent, ...steps("next", "next"), REST], {
        globalFiles: HELLO,
      });
      const ended = await run("hello", "Do it", "--silence", "2s", "--events", "events.jsonl", "--result", "r.json");
      assert.equal(ended.status, 8, ended.stderr);
      assert.match(ended.stderr, /\npaused in Plan: nothing new came of the agent for 2s, 2 times in this phase · /);
      assert.match(ended.stderr, /\nTo go on: pi-workflows run --continue --session \S+ --silence 2s\n$/);
      const lines = readFileSync(join(sandbox.project, "events.jsonl"), "utf8").trim().split("\n");
      const events = lines
        .map((line) => JSON.parse(line))
        .filter(({ type }) => ["limit", "paused", "exit"].includes(type));
      assert.deepEqual(
        events.map(({ type, times, reason, status }) => [type, times ?? reason ?? status]),
        [
          ["limit", 1],
          ["limit", 2],
          ["paused", "silent"],
          ["exit", 8],
        ],
      );
      assert.equal((await run("--continue")).status, 0);
      const wrong = await run("hello", "Do it", "--silence", "soon");
      assert.deepEqual([wrong.status, wrong.stderr.split(":")[0]], [2, "--silence"]);
    });

    test("a wait for a limit by the settings takes no time of the budget", LONG, async (t) => {
      const limit = { status: 429, text: "Rate limit. Please try again in 12s." };
      const { run } = await withPi(t, version, [limit, ...steps("next", "next"), REST], {
        globalFiles: { ...HELLO, "settings.yaml": "wait: 6h\n" },
      });
      const ended = await run("hello", "Do it", "--budget", "time=5s");
      assert.equal(ended.status, 0, ended.stderr);
    });

    test("changed rules are accepted by their seal alone, and a budget gets more by an option alone", async (t) => {
      const work = { calls: [{ name: "write", arguments: { path: "new.txt", content: "x" } }] };
      const { run, sandbox } = await withPi(t, version, [work, REST, REST, work, step("next"), REST], {
        globalFiles: workflow("hello", [{ id: "plan", write: [] }], { ...OFF, budget: { turns: 2 } }),
      });
      const paused = await run("hello", "Do it", "--session", "a.jsonl");
      assert.equal(paused.status, 6, paused.stderr);
      assert.match(paused.stderr, /\nTo go on: pi-workflows run --continue --session \S+a\.jsonl --more=AMOUNT\n$/);
      // The agent could have written it.
      const phase = join(sandbox.agent, "workflows/hello/plan.md");
      writeFileSync(phase, readFileSync(phase, "utf8").replace("write: []", "write: [./]"));
      const again = (/** @type {string[]} */ ...options) =>
        run("--continue", "--session", "a.jsonl", "--result", "r.json", ...options);
      for (const options of [[], ["--accept-rules=1:0"], ["--more=5"], ["/workflow :resume"], ["Go on."]]) {
        const held = await again(...options);
        assert.equal(held.status, 3, `${options}: ${held.stderr}`);
        const { seal } = JSON.parse(readFileSync(join(sandbox.project, "r.json"), "utf8")).end;
        assert.match(
          held.stderr,
          new RegExp(`\\npaused in Plan: its rules have changed · .*\\n.* --accept-rules=${seal}\\n$`),
        );
        assert.match(seal, /^\d+:[0-9a-f]{64}$/);
        assert.equal(existsSync(join(sandbox.project, "new.txt")), false);
      }
      const { seal } = JSON.parse(readFileSync(join(sandbox.project, "r.json"), "utf8")).end;
      const over = await again(`--accept-rules=${seal}`, "--more=5");
      assert.equal(over.status, 0, over.stderr);
      assert.equal(existsSync(join(sandbox.project, "new.txt")), true);
      const wrong = await run("hello", "Do it", "--more=5");
      assert.deepEqual([wrong.status, wrong.stderr], [2, "--more needs --continue.\n"]);
    });

    test("a budget of the command line ends with 6, and one that cannot be read starts nothing", LONG, async (t) => {
      const work = { calls: [{ name: "bash", arguments: { command: "true" } }] };
      const { run, model, sandbox } = await withPi(t, version, () => work, { globalFiles: HELLO });
      const ended = await run("hello", "Do it", "--budget", "turns=2,time=1h");
      assert.equal(ended.status, 6, ended.stderr);
      assert.match(ended.stderr, /\npaused in Plan: the budget of “the command line” is used up: [23] of 2 turns · /);
      const requests = model.requests.length;
      assert.ok(requests <= 4, String(requests));
      const again = await run("--continue", "--budget", "turns=2");
      assert.equal(again.status, 6, again.stderr);
      const wrong = await run("hello", "Do it", "--budget", "cost=cheap", "--session", "new.jsonl");
      assert.deepEqual(
        [wrong.status, wrong.stderr],
        [
          2,
          "--budget: expected amounts of `cost`, `time` and `turns`, each once, such as `cost=2,time=30m`, found `cost=cheap`.\n",
        ],
      );
      assert.equal(sessionFiles(sandbox).length, 1);
    });

    test("a cost that is not known needs another bound", LONG, async (t) => {
      const script = (/** @type {any} */ _, /** @type {number} */ index) => (index % 2 === 0 ? step("next") : REST);
      const { run, model, sandbox } = await withPi(t, version, script, {
        globalFiles: workflow("hello", ["plan"], { ...OFF, budget: { cost: 1 } }),
      });
      const none = await run("hello", "Do it");
      assert.equal(none.status, 1, none.stderr);
      assert.match(
        none.stderr,
        /`cost` alone bounds the run, and pi has no price for scripted\/scripted\. .*--budget turns=40/,
      );
      assert.deepEqual([model.requests.length, sessionFiles(sandbox).length], [0, 0]);
      const { status, stderr } = await run("hello", "Do it", "--budget=turns=9");
      assert.deepEqual([status, /`cost` does not count answers of scripted\/scripted/.test(stderr)], [0, true], stderr);
    });

    test("a stop by an outcome ends with 4, a question with 3 and why", LONG, async (t) => {
      const ends = workflow("ends", [{ id: "look", outcomes: { bad: "stop", good: "next" } }], OFF);
      const stopped = await withPi(t, version, [leave("bad"), REST], { globalFiles: ends });
      const end = await stopped.run("ends", "Do it", "--quiet");
      assert.deepEqual([end.status, end.stdout], [4, ""]);
      assert.match(end.stderr, /^stopped by an outcome of a phase · 2 turns · \S+ tokens · cost unknown · \d+s\n$/);
      const asks = workflow("asks", ["look", ask("Ship it?")], OFF);
      const asking = await withPi(t, version, [step("next"), REST], { globalFiles: asks });
      const result = join(asking.sandbox.project, "r.json");
      const paused = await asking.run("asks", "Do it", "--result", result);
      assert.equal(paused.status, 3, paused.stderr);
      assert.match(paused.stderr, /\npaused in ship: it waits for your answer to “Ship it\?” · /);
      const { end: told, outcome, pause } = JSON.parse(readFileSync(result, "utf8"));
      assert.deepEqual(
        [told.status, told.outcome, outcome, pause],
        [3, "paused", "paused", "it waits for your answer to “Ship it?”"],
      );
    });

    test("inputs are checked before pi starts, and reach the run", LONG, async (t) => {
      const files = workflow("typed", [{ id: "look", instructions: "Look at {input.scope}, {input.deep}." }], {
        ...OFF,
        inputs: { scope: { type: "text" }, deep: { type: "flag" } },
      });
      const { run, model } = await withPi(t, version, nextUntilDone, { globalFiles: { ...files, ...HELLO } });
      const ended = await run(
        "typed",
        "--input",
        '{"scope": "the \\"src\\" \\\\ folder"}',
        "deep=true",
        "scope=x is the task",
      );
      assert.equal(ended.status, 0, ended.stderr);
      assert.match(model.messagesText(0), /Look at the "src" \\ folder, true\./);
      assert.match(model.messagesText(0), /Start The typed: scope=x is the task/);
      for (const [args, message] of variants(
        [
          [["typed", "--input", "scop=x", "Do it"], /scop/],
          [["typed", "deep=perhaps", "Do it"], /deep/],
          [["hello", "--input", "x=1", "Do it"], /x/],
          [["nothing", "x=1", "Do it"], /nothing/],
          [["hello", "one", "two"], /^"one" is one word too many\. Put the task in quotes/],
          [["-"], /^pi-workflows run - needs a TASK\.$/],
          [["typed", "scope=src", ""], /^The task is empty\.$/],
          [["typed", "--input", '{"scope": "a", "deep": null}', "Do it"], /^--input: "deep" is no text, number, true/],
          [["typed", "--input", "{scope}", "Do it"], /^--input: no JSON object: /],
          [[], /^pi-workflows run needs a NAME\.$/],
          [["", "x"], /^pi-workflows run needs a NAME\.$/],
          [["hello", " "], /^The task is empty\.$/],
          [[":status", "x"], /is no name of a workflow/],
          [["hello", "x", "--result", "no/such/folder.json"], /^There is no folder no\/such\.$/],
          [["hello", "x", "--result", "."], /is a folder/],
          [["--continue", "--session", "none.jsonl"], /^There is no session "none\.jsonl"\.$/],
          [["--continue", "--input", "x=1"], /takes no --input/],
        ],
        4,
      )) {
        const { status, stderr } = await run(.../** @type {string[]} */ (args));
        assert.deepEqual([status, stderr.split("\n").length], [2, 2], `${args}: ${stderr}`);
        assert.match(stderr.trim(), /** @type {RegExp} */ (message));
      }
      assert.equal(model.requests.length, 2);
    });

    test("a workflow with a default task needs none, and another one says so", LONG, async (t) => {
      const files = { ...HELLO, ...workflow("all", ["look"], { ...OFF, defaultTask: "the whole" }) };
      const { run, model } = await withPi(t, version, nextUntilDone, { globalFiles: files });
      const ended = await run("all");
      assert.equal(ended.status, 0, ended.stderr);
      assert.match(model.messagesText(0), /Start The all: the whole/);
      const refused = await run("hello");
      assert.equal(refused.status, 1, refused.stderr);
      assert.match(refused.stderr, /Usage: \/workflow hello \{description\}/);
    });

    test("a text of somebody else is the task, whole, and sets nothing", async (t) => {
      const files = {
        ...workflow("flow", [{ id: "look", write: ["docs/{input.dir}/"] }], {
          ...OFF,
          inputs: {
            deploy: { type: "flag", default: false },
            dir: { type: "text", default: "a" },
            rounds: { type: "number", min: 1, max: 90, default: 3 },
          },
          budget: { turns: "input.rounds" },
        }),
        ...HELLO,
      };
      const { run, sandbox } = await withPi(t, version, () => REST, { globalFiles: files });
      const texts = [
        "deploy=true dir=other rounds=50 please fix the login",
        "--allow-commands",
        "foo=bar is parsed wrongly",
        "-- dir=other x",
        "--",
        "dir=other",
        "dir='it's x",
        "The first line\ndir=other\n/workflow :cancel",
        ":cancel",
        "/workflow :next",
        "@/etc/hostname",
        "-p",
        "--session=other.jsonl",
        '$(date) `date` "x" \\',
        "{description} {input.dir} {{x}}",
        '{"dir": "other"}',
        "\u202edir=other",
        "!ls",
        "é".repeat(9000),
      ];
      for (const [index, text] of variants(texts, 2).entries()) {
        for (const name of index % 2 === 0 ? ["flow", "hello"] : ["flow"]) {
          const options = ["--session", `${index}-${name}.jsonl`, "--result", "r.json"];
          const words = text.startsWith("-") ? ["--", text] : [text];
          const ended = await run(...options, name, ...(name === "flow" ? ["rounds=4"] : []), ...words);
          assert.equal(ended.status, 3, `${text}: ${ended.stderr}`);
          const { task, inputs } = JSON.parse(readFileSync(join(sandbox.project, "r.json"), "utf8"));
          assert.equal(task, text);
          const values = Object.values(inputs ?? {}).map((/** @type {any} */ input) => input.value ?? input);
          assert.deepEqual(values, name === "flow" ? ["false", "a", "4"] : [], text);
        }
      }
      assert.ok(!existsSync(join(sandbox.project, "other.jsonl")));
    });

    test("a long task lies in the folder of the run: the agent gets its beginning, a command the whole", async (t) => {
      const count = { run: 'printf %s "$task" | cksum > sum', id: "count", env: { task: "task" } };
      const files = workflow("flow", [{ id: "plan", instructions: "Do {description}" }], {
        ...OFF,
        inputs: { dir: { type: "text", default: "a" } },
        phases: ["plan.md", count],
      });
      const script = (/** @type {any} */ _, /** @type {number} */ index) => (index === 1 ? step("next") : REST);
      const { run, start, sandbox, model } = await withPi(t, version, script, { globalFiles: { ...files, ...HELLO } });
      const file = (/** @type {string} */ name) => join(sandbox.project, name);
      const task = `dir=other --approve\n${"/workflow :cancel é\n".repeat(4000)}THE END`;
      writeFileSync(file("body.md"), `\ufeff${task}\r\n`);
      const paused = await run("flow", "dir=b", "--task-file", "body.md", "--session", "a.jsonl", "--result", "r.json");
      assert.equal(paused.status, 3, paused.stderr);
      const [name] = readdirSync(file(".pi/workflow-runs")).filter((entry) => !entry.startsWith("."));
      const whole = file(`.pi/workflow-runs/${name}/task.md`);
      assert.equal(readFileSync(whole, "utf8"), task);
      const seen = model.messagesText(0);
      assert.match(
        seen,
        new RegExp(`Do dir=other --approve\n/work[^]*The whole task is in \\.pi/workflow-runs/${name}/task\\.md`),
      );
      assert.ok(!seen.includes("THE END") && seen.length < 40_000, String(seen.length));
      assert.ok(JSON.parse(readFileSync(file("r.json"), "utf8")).task.startsWith(task.slice(0, 3000)));
      // The agent puts a link to another file there.
      writeFileSync(file("other.md"), "of mine");
      rmSync(whole);
      symlinkSync(file("other.md"), whole);
      const over = await run("--continue", "--session", "a.jsonl");
      assert.equal(over.status, 0, over.stderr);
      assert.equal(readFileSync(whole, "utf8"), task);
      assert.equal(readFileSync(file("other.md"), "utf8"), "of mine");
      const sum = execFileSync("cksum", { input: task, encoding: "utf8" });
      assert.equal(readFileSync(file("sum"), "utf8"), sum);
      // In the background, from a pipe.
      const requests = () => model.requests.length;
      const before = requests();
      const detached = await start(["flow", "--task-file=-", "--detach", "--session=d.jsonl"], {}, task).ended;
      assert.equal(detached.status, 0, detached.stderr);
      await model.waitForRequests(before + 1);
      // Not every version of pi writes the file with the first entry.
      const isStored = () => existsSync(file("d.jsonl")) && readFileSync(file("d.jsonl"), "utf8").includes("THE END");
      for (let tries = 0; tries < 400 && !isStored(); tries += 1) await sleep(50);
      assert.ok(isStored());
      const all = requests();
      writeFileSync(file("empty"), " \n");
      writeFileSync(file("latin"), Buffer.from([0x61, 0xe9, 0x62]));
      for (const [args, message, input] of variants(
        /** @type {[string[], RegExp, string?][]} */ ([
          [["flow", "--task-file", "empty"], /^The task in "empty" is empty\.$/],
          [["flow", "--task-file=-"], /^The task in "-" is empty\.$/, ""],
          [["-", "--task-file=empty"], /^The task in "empty" is empty\.$/],
          [["flow", ""], /^The task is empty\.$/],
          [["flow", "--task-file", "none"], /^none: no such file or directory$/],
          [["flow", "--task-file", "."], /illegal operation on a directory/],
          [["flow", "--task-file", "latin"], /^latin is not UTF-8\.$/],
          [["flow", "--task-file", "/dev/zero"], /^\/dev\/zero has more than 1048576 bytes\.$/],
          [["flow", "a word", "--task-file", "body.md"], /^"a word" is one word too many/],
          [["--continue", "--task-file", "body.md", "--session", "a.jsonl"], /^--continue takes no --task-file\.$/],
        ]),
        3,
      )) {
        const ended = await start(args, {}, input).ended;
        assert.deepEqual([ended.status, ended.stderr.split("\n").length], [2, 2], `${args}: ${ended.stderr}`);
        assert.match(ended.stderr.trim(), message);
      }
      rmSync(file(".pi/workflow-runs"), { recursive: true });
      symlinkSync("/tmp", file(".pi/workflow-runs"));
      const stopped = await run("hello", "--task-file", "body.md");
      assert.equal(stopped.status, 1, stopped.stderr);
      assert.match(stopped.stderr, /the folder of the run cannot be made: \.pi\/workflow-runs: it is a link/);
      assert.equal(requests(), all);
    });

    test("a tool that ignores its end holds up no run whose time is over", LONG, async (t) => {
      const { run, sandbox } = await withPi(t, version, [{ calls: [{ name: "hang", arguments: {} }] }], {
        globalFiles: workflow("hello", ["plan"], { ...OFF, budget: { time: "2s" } }),
      });
      mkdirSync(join(sandbox.agent, "extensions"));
      writeFileSync(join(sandbox.agent, "extensions/hang.js"), HANG);
      const ended = await run("hello", "Do it");
      assert.equal(ended.status, 6, ended.stderr);
      assert.match(ended.stderr, /\npaused in Plan: the budget of “The hello” is used up: \S+ of 2s at work · /);
    });

    test("a step that a command begins takes no time of the budget", LONG, async (t) => {
      const { run } = await withPi(t, version, nextUntilDone, {
        globalFiles: workflow("hello", ["plan"], {
          ...OFF,
          phases: [{ run: "sleep 8", id: "slow" }, "plan.md"],
        }),
      });
      const ended = await run("hello", "Do it", "--budget", "time=2s");
      assert.equal(ended.status, 0, ended.stderr);
    });

    test("a model that does not answer ends at the time of the budget", LONG, async (t) => {
      for (const name of ["hello", "-"]) {
        const hangs = (/** @type {any} */ request, /** @type {number} */ index) =>
          index === (name === "-" ? 0 : 1) ? { text: "Thinking", hang: true } : nextUntilDone(request);
        const { run } = await withPi(t, version, hangs, { globalFiles: HELLO });
        const ended = await run(name, "Do it", "--budget", "time=1s", "--session", "a.jsonl");
        assert.equal(ended.status, 6, ended.stderr);
        const plain = name === "-";
        const ends = plain
          ? "the budget is used up: its time is over, and the agent has not answered"
          : "is used up: 1s of 1s at work";
        assert.ok(ended.stderr.includes(ends), ended.stderr);
        if (plain) continue;
        const over = await run("--continue", "--session", "a.jsonl");
        assert.equal(over.status, 0, over.stderr);
      }
    });

    test("a signal ends pi, keeps the session, and says how to go on", LONG, async (t) => {
      const script = (/** @type {any} */ request, /** @type {number} */ index) =>
        index === 1 ? { text: "Thinking", hang: true } : nextUntilDone(request);
      for (const [signal, status] of variants(
        /** @type {const} */ ([
          ["SIGTERM", 143],
          ["SIGINT", 130],
        ]),
      )) {
        const { run, start, model, sandbox } = await withPi(t, version, script, { globalFiles: HELLO });
        const started = start(["hello", "Do it", "--result", "r.json"]);
        await model.waitForRequests(2);
        started.child.kill(signal);
        const ended = await started.ended;
        assert.equal(ended.status, status, ended.stderr);
        const [session] = sessionFiles(sandbox);
        assert.match(
          ended.stderr,
          new RegExp(`interrupted by ${signal} · .*\nTo go on: pi-workflows run --continue --session ${session}\n$`),
        );
        assert.equal(JSON.parse(readFileSync(join(sandbox.project, "r.json"), "utf8")).end.outcome, "interrupted");
        const bounded = await run("--continue", "--budget", "turns=1");
        assert.equal(bounded.status, 6, bounded.stderr);
        assert.match(
          bounded.stderr,
          /\npaused in Build: the budget of “the command line” is used up: \d of 1 turns · /,
        );
        const over = await run("--continue");
        assert.equal(over.status, 0, over.stderr);
      }
    });

    test("a pi that is missing, old, broken, or dies, is told in a line", async (t) => {
      const { start, program, sandbox, bin } = await withPi(t, version, nextUntilDone, { globalFiles: HELLO });
      const versioned = (/** @type {string} */ rest) => `[ "$1" = --version ] && echo 1.5.2 && exit 0\n${rest}`;
      for (const [script, message] of variants(
        [
          ["echo 0.80.0", /^".*" is version 0\.80\.0; 0\.87\.1 or later is needed\.$/],
          ["echo hello", /does not tell its version: it is not pi, or it is broken\.$/],
          ["exit 3", /does not tell its version, and ends with status 3/],
          [versioned("echo boom >&2; exit 7"), /^boom\npi ended with exit status 7 before the run was over: boom$/],
          [versioned("kill -9 $$"), /^pi ended by SIGKILL before the run was over\.$/],
          [versioned("exit 0"), /^no run was started\.$/],
          [versioned("echo '{\"type\":\"session\"}'; echo not json; echo 'null'; exit 1"), /^no run was started\.$/],
        ],
        4,
      )) {
        const { status, stderr } = await start([
          "hello",
          "Do it",
          "--pi",
          program("other", String(script)),
          "--result",
          "r.json",
        ]).ended;
        assert.equal(status, 1, stderr);
        assert.match(stderr.trim(), /** @type {RegExp} */ (message));
        assert.equal(JSON.parse(readFileSync(join(sandbox.project, "r.json"), "utf8")).end.status, 1);
      }
      const missing = await start(["hello", "Do it"], { PATH: "/nowhere" }).ended;
      assert.deepEqual([missing.status, missing.stderr], [1, "There is no command pi here; --pi PATH names one.\n"]);
      const named = await start(["hello", "Do it", "--pi", join(bin, "none")]).ended;
      assert.deepEqual([named.status, named.stderr], [1, `There is no "${join(bin, "none")}".\n`]);
      assert.deepEqual(sessionFiles(sandbox), []);
    });

    test("the first line of pi that tells an error is the reason", async (t) => {
      const { start, program } = await withPi(t, version, nextUntilDone, { globalFiles: HELLO });
      const before = ["Warning: old", "No models available. See:", "  models.md", "Installing x"];
      for (const [lines, reason] of [
        [[...before, "told", "TypeError: why", "Error: late"], "TypeError: why"],
        [[...before, "why", "last"], "why"],
        [before, "Installing x"],
      ]) {
        const tells = `printf '%s\\n' ${[lines]
          .flat()
          .map((line) => `'${line}'`)
          .join(" ")} >&2`;
        const other = program("other", `[ "$1" = --version ] && echo 1.6.0 && exit 0\n${tells}\nexit 1`);
        const { stderr } = await start(["hello", "Do it", "--quiet", "--pi", other]).ended;
        assert.equal(stderr, `no run was started: ${reason}\n`);
      }
    });

    test("--detach goes on in the background, and runs shows it as running, lost or ended", LONG, async (t) => {
      const script = (/** @type {any} */ request, /** @type {number} */ index) =>
        index === 1 ? { text: "Thinking", hang: true } : nextUntilDone(request);
      const { run, runs, startCommand, model } = await withPi(t, version, script, { globalFiles: HELLO });
      const started = await run("hello", "Do it", "--detach");
      assert.equal(started.status, 0, started.stderr);
      const [, pid, session] =
        /^process (\d+)\nsession (.*)\nlog +\S+\.log\n"pi-workflows runs" shows it\.\n$/.exec(started.stdout) ?? [];
      await model.waitForRequests(2);
      const shown = async () =>
        JSON.parse((await runs("--format", "json")).stdout).runs.map((/** @type {any} */ run) => [
          run.outcome,
          run.pid,
        ]);
      assert.deepEqual(await shown(), [["running", Number(pid)]]);
      assert.match((await runs()).stdout, new RegExp(`running \\(${pid}\\)`));
      const other = await run("--continue", "--session", session);
      assert.deepEqual([other.status, other.stderr], [2, `Process ${pid} works on this session.\n`]);
      process.kill(Number(pid), "SIGKILL");
      while (existsSync(`/proc/${pid}/fd/0`)) await sleep(20);
      assert.deepEqual(await shown(), [["lost", undefined]]);
      const report = await startCommand(["report"]).ended;
      assert.deepEqual(
        [report.status, report.stderr],
        [0, `The process that worked on this run has ended: pi-workflows run --continue --session ${session}\n`],
      );
      // pi itself hangs: it is ended before another one goes on.
      const { pi } = JSON.parse(readFileSync(`${session}.process`, "utf8"));
      assert.ok(existsSync(`/proc/${pi.pid}/fd/0`));
      const over = await run("--continue");
      assert.equal(over.status, 0, over.stderr);
      assert.ok(!existsSync(`/proc/${pi.pid}/fd/0`) && !existsSync(`${session}.process`));
      assert.deepEqual(await shown(), [["done", undefined]]);
      assert.deepEqual((await runs("--watch")).stderr, "--watch needs a terminal.\n");
    });

    test("in a terminal it shows a live line, and questions and waits are answered there", LONG, async (t) => {
      const asks = workflow("asks", ["look", ask("Ship it?"), { id: "talk", interactive: true }], OFF);
      const { terminal } = await withPi(t, version, [step("next"), { text: "What now?" }, step("next"), REST], {
        globalFiles: asks,
      });
      const screen = await terminal(["asks", "Do it"]);
      await screen.waitFor(/│ Ship it\?\n\s*1 {2}Not yet\n\s*2 {2}yes\n1 to 2, or nothing for no answer:/);
      await screen.type("7\n");
      await screen.waitFor(/answer: 7\n[^]*Ship it[^]*no answer:/);
      await screen.type("yes\n");
      await screen.waitFor("The run waits for your message (nothing ends this command):");
      // A command that does not prompt the agent: the run still waits.
      await screen.type("/workflow :panel\n");
      await screen.waitFor(/:panel\n[^]*The run waits for your message/);
      await screen.type("Go on\n");
      await screen.waitFor(/\ndone · 4 turns · /);
      assert.match(await screen.waitFor(/status \d+/), /status 0/);
    });

    test("new asks in a terminal", async (t) => {
      const { terminal, sandbox } = await withPi(t, version, []);
      const ended = await terminal(["ship"], "new");
      await ended.waitFor("What is the workflow for?\n>");
      await ended.press("C-d");
      assert.match(await ended.waitFor(/status \d+/), /No workflow is written\.\nstatus 2/);
      const screen = await terminal(["ship"], "new");
      await screen.waitFor("What is the workflow for?\n>");
      await screen.type("Ship it\n");
      await screen.waitFor(/1 {2}look: [^]*3 {2}panel: /);
      await screen.type("perhaps\n");
      await screen.waitFor(/"perhaps" is none of: [^]*How does it work\?/);
      await screen.type("2\n");
      await screen.waitFor("Which command");
      await screen.type("make test\n");
      await screen.waitFor(/1 {2}\.pi\/workflows\/ship\n/);
      await screen.type("\n");
      assert.match(await screen.waitFor(/status \d+/), /status 0/);
      const yaml = readFileSync(join(sandbox.project, ".pi/workflows/ship/workflow.yaml"), "utf8");
      assert.match(yaml, /^description: "Ship it"\n[^]*\n {6}- run: "make test"\n/);
      // The project's place is taken: the user's own is left.
      const again = await terminal(["ship"], "new");
      for (const title of ["What is", "How does"]) {
        await again.waitFor(title);
        await again.type("\n");
      }
      assert.match(await again.waitFor(/status \d+/), /agent\/workflows\/ship\/workflow\.yaml[^]*status 0/);
      const never = await terminal(["ship"], "new");
      assert.match(await never.waitFor(/status \d+/), /ship is there already\.\nstatus 2/);
    });

    test("in a terminal Ctrl+C and no answer end it, with how to go on", LONG, async (t) => {
      const asks = workflow("asks", ["look", ask("Ship it?"), { id: "talk", interactive: true }], OFF);
      const script = [step("next"), { text: "What now?" }, REST];
      const first = await withPi(t, version, script, { globalFiles: asks });
      const asked = await first.terminal(["asks", "Do it"]);
      await asked.waitFor("no answer:");
      // The question stays while the run is looked at again.
      await sleep(2200);
      await asked.waitFor(/2 {2}yes\n1 to 2, or nothing for no answer:\s*$/);
      await asked.press("C-c");
      assert.match(
        await asked.waitFor(/status \d+/),
        /interrupted by SIGINT · [^]*To go on: pi-workflows run --continue [^]*status 130/,
      );
      const second = await withPi(t, version, script, { globalFiles: asks });
      const waits = await second.terminal(["asks", "Do it"]);
      await waits.waitFor("no answer:");
      await waits.type("2\n");
      await waits.waitFor("(nothing ends this command):");
      await waits.type("\n");
      assert.match(await waits.waitFor(/status \d+/), /waits in Talk: [^]*To go on: [^]*status 3/);
    });

    test("a pi without a model, an unknown workflow, and a project without trust start nothing", LONG, async (t) => {
      const { run } = await withPi(t, version, nextUntilDone, {
        globalFiles: HELLO,
        projectFiles: workflow("ours", ["look"], OFF),
      });
      const unknown = await run("nothing", "Do it");
      assert.equal(unknown.status, 1, unknown.stderr);
      assert.match(
        unknown.stderr,
        /^Unknown workflow: "nothing".*\nno run was started\.\n$/,
        "the reason is told once",
      );
      const quiet = await run("nothing", "Do it", "--quiet");
      assert.match(quiet.stderr, /^no run was started: Unknown workflow: "nothing".*\n$/);
      const model = await run("hello", "Do it", "--model", "nobody/nothing");
      assert.equal(model.status, 1, model.stderr);
      assert.match(model.stderr, /nobody\/nothing/);
      const trusted = await run("ours", "Do it", "--approve");
      assert.equal(trusted.status, 0, trusted.stderr);
    });

    test("a model that fails ends with 1 and the reason", async (t) => {
      const { run, sandbox } = await withPi(
        t,
        version,
        (_, index) => (index === 0 ? { status: 401, text: "no such key" } : undefined),
        { globalFiles: HELLO },
      );
      // Into a pipe, which stays one.
      const pipe = join(sandbox.root, "pipe");
      execFileSync("mkfifo", [pipe]);
      const read = promisify(execFile)("cat", [pipe]);
      const failed = await run("hello", "Do it", "--result", pipe);
      assert.equal(failed.status, 1, failed.stderr);
      assert.match(failed.stderr, /\npaused in Plan: the model failed: .*401.*no such key.* · 1 turn · /);
      const { end } = JSON.parse((await read).stdout);
      assert.deepEqual([end.status, end.outcome], [1, "paused"]);
    });

    test("a pi that a script starts is ended with it", LONG, async (t) => {
      const { start, program, model, sandbox } = await withPi(
        t,
        version,
        (_, index) => (index === 0 ? step("next") : { text: "Thinking", hang: true }),
        { globalFiles: HELLO },
      );
      const started = start([
        "hello",
        "Do it",
        "--session",
        "a.jsonl",
        "--pi",
        program("script", '"$(dirname "$0")/pi" "$@"\nexit $?'),
        "--approve",
        "--budget",
        "turns=9",
      ]);
      await model.waitForRequests(2);
      started.child.kill("SIGINT");
      const ended = await started.ended;
      assert.equal(ended.status, 130, ended.stderr);
      // The options of the process are told again.
      assert.match(
        ended.stderr,
        /\nTo go on: pi-workflows run --continue --session \S+a\.jsonl --approve --budget turns=9 --pi \S+script\n$/,
      );
      const left = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line.includes(sandbox.project));
      assert.deepEqual(left, []);
    });

    test("of two that go on with a run at the same time one does", LONG, async (t) => {
      const { run, start, sandbox, model } = await withPi(t, version, [REST, ...steps("next", "next"), REST], {
        globalFiles: HELLO,
      });
      assert.equal((await run("hello", "Do it", "--session", "a.jsonl", "--result", "r.json")).status, 3);
      writeFileSync(join(sandbox.project, "target.json"), "");
      rmSync(join(sandbox.project, "r.json"));
      symlinkSync("target.json", join(sandbox.project, "r.json"));
      const ends = await Promise.all(
        [1, 2].map(() => start(["--continue", "--session", "a.jsonl", "--result", "r.json"]).ended),
      );
      assert.deepEqual(ends.map(({ status }) => status).sort(), [0, 2], ends.map(({ stderr }) => stderr).join("\n"));
      assert.match(
        ends.find(({ status }) => status === 2)?.stderr ?? "",
        /^(Process \d+|Another process) works on this session\.\n$/,
      );
      assert.equal(model.requests.length, 4);
      assert.deepEqual(
        readdirSync(sandbox.project).filter((name) => name.endsWith(".process")),
        [],
      );
      // A link is replaced: an agent may have put it there.
      assert.ok(lstatSync(join(sandbox.project, "r.json")).isFile());
      assert.equal(JSON.parse(readFileSync(join(sandbox.project, "r.json"), "utf8")).end.outcome, "done");
      assert.equal(readFileSync(join(sandbox.project, "target.json"), "utf8"), "");
    });

    test("a terminal that is closed during a question ends it, with the result", LONG, async (t) => {
      const asks = workflow("asks", ["look", ask("Ship it?")], OFF);
      const { terminal, sandbox } = await withPi(t, version, [step("next"), REST], { globalFiles: asks });
      const screen = await terminal(["asks", "Do it", "--result", join(sandbox.project, "r.json")]);
      await screen.waitFor("no answer:");
      await screen.close();
      for (const end = Date.now() + 15_000; !existsSync(join(sandbox.project, "r.json")); await sleep(50))
        assert.ok(Date.now() < end, "there is no result");
      assert.equal(JSON.parse(readFileSync(join(sandbox.project, "r.json"), "utf8")).end.outcome, "interrupted");
    });

    test("commands of a project need --allow-commands", async (t) => {
      const ours = workflow("ours", [{ id: "look", gate: [{ run: "touch ran" }] }], OFF);
      const { run, sandbox } = await withPi(t, version, nextUntilDone, { projectFiles: ours });
      const ran = () => existsSync(join(sandbox.project, "ran"));
      const refused = await run("ours", "Do it", "--approve", "--session", "a.jsonl");
      assert.deepEqual([refused.status, ran()], [3, false], refused.stderr);
      assert.match(refused.stderr, /paused in Look: it runs commands of this project that you have not allowed/);
      const allowed = await run("--continue", "--session", "a.jsonl", "--approve", "--allow-commands");
      assert.deepEqual([allowed.status, ran()], [0, true], allowed.stderr);
    });

    test("a session with another run, and one at work, are told", LONG, async (t) => {
      const { run, start, model } = await withPi(
        t,
        version,
        (request, index) => (index === 1 ? { text: "Thinking", hang: true } : nextUntilDone(request)),
        { globalFiles: HELLO },
      );
      const first = start(["hello", "One", "--session", "a.jsonl"]);
      await model.waitForRequests(2);
      const second = await run("hello", "Two", "--session", "a.jsonl");
      assert.equal(second.status, 2);
      assert.match(second.stderr, /^Process \d+ works on this session\.\n$/);
      first.child.kill("SIGTERM");
      assert.equal((await first.ended).status, 143);
      const third = await run("hello", "Two", "--session", "a.jsonl");
      assert.deepEqual(
        [third.status, third.stderr],
        [2, "The session has a run that has not ended: --continue goes on with it.\n"],
      );
      const over = await run("--continue", "--session", "a.jsonl");
      assert.equal(over.status, 0, over.stderr);
      const next = await run("hello", "Two", "--session", "a.jsonl");
      assert.equal(next.status, 0, next.stderr);
    });

    test("a pi that hangs at its start is stopped", LONG, async (t) => {
      const { run, program } = await withPi(t, version, nextUntilDone, { globalFiles: HELLO });
      const hangs = await run(
        "hello",
        "Do it",
        "--pi",
        program("other", '[ "$1" = --version ] && echo 1.5.2 && exit 0\nexec sleep 100'),
      );
      assert.deepEqual([hangs.status, hangs.stderr], [1, "pi did not start within 30 seconds, and was stopped.\n"]);
      const silent = await run("hello", "Do it", "--pi", program("other", "exec sleep 100"));
      assert.equal(silent.status, 1);
      assert.match(silent.stderr, /does not tell its version within 30 seconds\.\n$/);
    });
  });
}
