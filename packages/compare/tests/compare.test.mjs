// `pi-workflows-compare` in real pi: tasks, endings, figures against a table worked out by hand, and what disturbs it.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { suite, test } from "node:test";
import { hiddenFolders } from "../hidden.js";
import { tasksIn } from "../tasks.js";
import { openWorkflows } from "../../../cli/workflows.js";
import { LONG, VERSIONS, variants } from "../../../tests/pi/harness/extent.mjs";
import { NODE, REPO, piCli } from "../../../tests/pi/harness/pi.mjs";
import { messageText } from "../../../tests/pi/harness/scripted-model.mjs";
import { leave, step, workflow } from "../../../tests/pi/harness/workflows.mjs";
import { withPi as withProgram } from "../../../tests/cli/with-pi.mjs";

const PROGRAM = join(REPO, "packages/compare/pi-workflows-compare.js");

/** @type {(...parameters: Parameters<typeof withProgram>) => ReturnType<typeof withProgram>} */
const withPi = (t, version, script, options) => withProgram(t, version, script, options, PROGRAM);

const OFF = { autoContinue: false };
const FLOWS = { ...workflow("careful", ["plan", "build"], OFF), ...workflow("hasty", ["build"], OFF) };

/** A check that wants the file done.txt with the word yes. */
const CHECK = '#!/bin/sh\necho "looking"\ngrep -q yes done.txt\n';

/**
 * Writes tasks into the project's folder `evals`.
 * @param {import("../../../tests/pi/harness/sandbox.mjs").Sandbox} sandbox
 * @param {Record<string, Record<string, string>>} tasks files by path
 */
function writeTasks(sandbox, tasks) {
  for (const [name, files] of Object.entries(tasks)) {
    for (const [path, text] of Object.entries({
      "task.md": `Task ${name}: say yes.\n`,
      "project/readme.txt": "A project.\n",
      check: CHECK,
      ...files,
    })) {
      const file = join(sandbox.root, "evals", name, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      if (path === "check" || path === "setup") chmodSync(file, 0o755);
    }
  }
  return join(sandbox.root, "evals");
}

/** @typedef {"solve" | "wrong" | "rest" | "loop" | "fail"} Play */

/** The task, the variant and the place of a request. @param {import("../../../tests/pi/harness/scripted-model.mjs").ChatRequest} request */
function about({ messages }) {
  const text = messages.map(messageText).join("\n");
  const [, task] = /Task ([\w-]+):/.exec(text) ?? [];
  const [, variant = "none"] = /Start The (\w+)/.exec(text) ?? [];
  return { task, variant, last: messages.at(-1), isFirst: !messages.some(({ role }) => role === "tool") };
}

/**
 * Plays each trial as a function says.
 * @param {(variant: string, task: string, number: number) => Play} play `number` counts the trials of a variant and
 *   task from 1
 * @returns {import("../../../tests/pi/harness/scripted-model.mjs").StepFunction}
 */
function player(play) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  return (request) => {
    const { task, variant, last, isFirst } = about(request);
    const key = `${variant} ${task}`;
    if (isFirst) counts.set(key, (counts.get(key) ?? 0) + 1);
    const how = play(variant, task, counts.get(key) ?? 0);
    const words = last ? messageText(last) : "";
    if (/→ DONE/.test(words)) return { text: "All done." };
    if (how === "loop") return { calls: [{ name: "bash", arguments: { command: `echo ${request.messages.length}` } }] };
    if (how === "fail") return { status: 401, text: "no key" };
    if (isFirst)
      return how === "rest"
        ? { text: "I rest." }
        : { calls: [{ name: "write", arguments: { path: "done.txt", content: how === "solve" ? "yes\n" : "no\n" } }] };
    return variant === "none" ? { text: "All done." } : step("next");
  };
}

/** @param {string} folder */
const readAnswer = (folder) => JSON.parse(readFileSync(join(folder, "comparison.json"), "utf8"));

/** The folders of trials. @param {string} folder */
const trialsOf = (folder) => readdirSync(folder).filter((name) => existsSync(join(folder, name, "trial.json")));

for (const version of VERSIONS) {
  suite(`pi ${version}: pi-workflows-compare`, { concurrency: 2 }, () => {
    test(
      "runs variants on tasks, goes on where it was, and tells which solves more",
      { ...LONG, timeout: 180_000 },
      async (t) => {
        const { startCommand, sandbox, model } = await withPi(
          t,
          version,
          player((variant, task) => (variant === "careful" || task === "a" ? "solve" : "wrong")),
          { globalFiles: FLOWS },
        );
        // Longer than a word of a command line may be.
        const long = `Task b: say yes.\n${"It is a long story. ".repeat(8_000)}\n`;
        const evals = writeTasks(sandbox, { a: {}, b: { "task.md": long } });
        const args = ["run", "careful", "none", "--tasks", evals, "--jobs", "2"];
        const first = await startCommand(args).ended;
        assert.equal(first.status, 0, first.stderr);
        assert.match(first.stderr, /^4 trials\nWhat they will cost is not known yet\.\n/);
        assert.match(first.stderr, /\n4 of 4 /);
        const results = `${evals}-results`;
        const { variants, tasks, pairs } = readAnswer(results);
        const figures = Object.fromEntries(
          variants.map((/** @type {any} */ { name, trials, solved, falseGreen }) => [
            name,
            [trials, solved, falseGreen],
          ]),
        );
        assert.deepEqual(figures, { careful: [2, 2, 0], none: [2, 1, 1] });
        assert.deepEqual(
          tasks.map((/** @type {any} */ { name }) => name),
          ["a", "b"],
        );
        assert.equal(
          pairs[0].text,
          "“careful” solved 1 task more often than “none” and no task less often: 1 pair cannot tell (p = 1); 6 tasks that differ, all one way, would.",
        );
        assert.match(first.stdout, /^ +solved +95 %/);
        assert.match(first.stdout, /\ncareful +2 of 2 /);
        assert.match(first.stderr, /\nThe results: .*comparison\.html\n\n$/);
        for (const { cells } of tasks) {
          for (const cell of cells)
            for (const { session, check } of cell.shown)
              for (const path of [session, check]) assert.ok(existsSync(join(results, path)), path);
        }
        const requests = model.requests.length;
        const again = await startCommand([...args, "--format", "json"]).ended;
        assert.equal(again.status, 0);
        assert.match(again.stderr, /^4 trials, 4 of them done before\nThe results: .*\n\n$/);
        assert.equal(model.requests.length, requests);
        assert.deepEqual(JSON.parse(again.stdout).variants, variants);
        // A changed workflow is another variant.
        writeFileSync(
          join(sandbox.agent, "workflows/careful/plan.md"),
          readFileSync(join(sandbox.agent, "workflows/careful/plan.md"), "utf8").replace("Do plan", "Now plan"),
        );
        const changed = await startCommand(args).ended;
        assert.match(changed.stderr, /^4 trials, 2 of them done before\n/);
        assert.deepEqual(
          readAnswer(results).variants.map((/** @type {any} */ { name }) => name.replace(/@\w+/, "@")),
          ["careful @", "none", "careful @"],
        );
      },
    );

    test("every end is a result", { ...LONG, timeout: 180_000 }, async (t) => {
      /** @type {Record<string, Play>} */
      const plays = {
        solved: "solve",
        "false-green": "wrong",
        paused: "rest",
        budget: "loop",
        late: "loop",
        error: "fail",
        hangs: "solve",
        "no-setup": "solve",
      };
      const tasks = {
        ...Object.fromEntries(Object.keys(plays).map((name) => [name, {}])),
        budget: { "task.md": "---\nbudget: turns=3\n---\nTask budget: say yes.\n" },
        late: { "task.md": "---\ntimeout: 4s\n---\nTask late: say yes.\n" },
        hangs: {
          "task.md": "---\ncheckTimeout: 1s\n---\nTask hangs: say yes.\n",
          check: "#!/bin/sh\nsleep 1000 &\nsleep 1000\n",
        },
        "no-setup": { setup: "#!/bin/sh\necho no; exit 3\n" },
      };
      const { startCommand, sandbox } = await withPi(
        t,
        version,
        player((_, task) => plays[task]),
        { globalFiles: FLOWS },
      );
      const evals = writeTasks(sandbox, tasks);
      const ended = await startCommand(["run", "careful", "none", "--tasks", evals, "--jobs", "2", "--yes"]).ended;
      assert.equal(ended.status, 0, ended.stderr);
      const results = `${evals}-results`;
      const ends = trialsOf(results).map((name) => JSON.parse(readFileSync(join(results, name, "trial.json"), "utf8")));
      const told = (/** @type {string} */ variant) =>
        Object.fromEntries(
          ends
            .filter((trial) => trial.variant === variant)
            .map(({ task, ending, solved }) => [task, `${ending}${solved ? ", solved" : ""}`]),
        );
      const common = {
        solved: "done, solved",
        "false-green": "done",
        budget: "budget",
        late: "timeout",
        error: "error",
        hangs: "done",
        "no-setup": "error",
      };
      assert.deepEqual(told("careful"), {
        ...common,
        paused: "paused",
        error: ends.find(({ task, variant }) => task === "error" && variant === "careful").ending,
      });
      assert.ok(["paused", "error"].includes(told("careful").error));
      // Without a workflow an agent that rests says that it is done.
      assert.deepEqual(told("none"), { ...common, paused: "done" });
      const of = (/** @type {string} */ task) => ends.find((trial) => trial.task === task);
      assert.deepEqual(of("hangs").check, { status: null, signal: "SIGKILL", late: true });
      assert.equal(of("no-setup").text, "setup ended with exit status 3");
      const { variants } = readAnswer(results);
      assert.deepEqual(
        variants.map((/** @type {any} */ { falseGreen }) => falseGreen),
        [2, 3],
      );
    });

    test(
      "no agent reads the tasks, the results or another trial, and a check can write and use the network",
      LONG,
      async (t) => {
        const ways = ["EVALS/a/check", "EVALS-results", "EVALS/../evals/a/secret.txt", "REPO/.git/secret.txt"];
        /** @type {string[]} */
        const seen = [];
        let evals = "";
        const script = (/** @type {import("../../../tests/pi/harness/scripted-model.mjs").ChatRequest} */ request) => {
          const { variant, last, isFirst } = about(request);
          seen.push(...request.messages.filter(({ role }) => role === "tool").map(messageText));
          if (/→ DONE/.test(last ? messageText(last) : "")) return { text: "All done." };
          const commands = ways.map(
            (way) =>
              `cat ${way.replace("EVALS", evals).replace("REPO", dirname(evals))}; ls -a ${way.replace("EVALS", evals).replace("REPO", dirname(evals))}`,
          );
          const look = `${commands.join("; ")}; cat $(dirname $(pwd))/../*/project/readme.txt; find ${dirname(dirname(evals))} -name secret.txt -exec cat {} + 2>/dev/null; echo yes > done.txt`;
          if (isFirst)
            return {
              calls: [
                { name: "bash", arguments: { command: look } },
                { name: "read", arguments: { path: join(evals, "a/secret.txt") } },
                { name: "ls", arguments: { path: evals } },
              ],
            };
          return variant === "none" ? { text: "All done." } : step("next");
        };
        const { startCommand, sandbox, model } = await withPi(t, version, script, {
          globalFiles: { ...FLOWS, "settings.yaml": "limits: { hide: [~/mine/] }\n" },
        });
        const address = new URL(model.baseUrl);
        const check = `#!/bin/sh\necho more > written.txt\n[ -f "$(dirname "$0")/secret.txt" ] && grep -q yes done.txt && node -e 'require("net").connect(${address.port}, "${address.hostname}").on("connect", () => process.exit(0)).on("error", () => process.exit(5))'\n`;
        evals = writeTasks(sandbox, {
          a: { "secret.txt": "THE SECRET\n", check },
          b: { "secret.txt": "THE SECRET\n", check },
        });
        execFileSync("git", ["init", "-q", dirname(evals)]);
        writeFileSync(join(dirname(evals), ".git/secret.txt"), "THE SECRET\n");
        mkdirSync(join(sandbox.home, "mine"));
        writeFileSync(join(sandbox.home, "mine/secret.txt"), "THE SECRET\n");
        const ended = await startCommand(["run", "hasty", "none", "--tasks", evals, "--jobs", "2"]).ended;
        assert.equal(ended.status, 0, ended.stderr);
        assert.ok(seen.length >= 12, String(seen.length));
        assert.doesNotMatch(seen.join("\n"), /SECRET|looking|trial\.json/);
        assert.deepEqual(
          readAnswer(`${evals}-results`).variants.map((/** @type {any} */ { solved }) => solved),
          [2, 2],
          readFileSync(join(`${evals}-results`, trialsOf(`${evals}-results`)[0], "check.txt"), "utf8"),
        );
      },
    );

    test("an agent changes neither its budget nor its results", { ...LONG, timeout: 120_000 }, async (t) => {
      let evals = "";
      let answers = 0;
      const { startCommand, sandbox } = await withPi(
        t,
        version,
        (request) => {
          const { task, isFirst } = about(request);
          answers += 1;
          const results = `${evals}-results/*`;
          const places = ["trial.json.new", "trial.json", "check.txt", "result.json", "report.html", "session"];
          const command =
            task === "spends"
              ? `for f in ../session/session.jsonl ${results}/session.jsonl; do : > $f; done`
              : `echo yes > done.txt; for d in ${results}; do for n in ${places.join(" ")}; do ln -s ${sandbox.root}/victim $d/$n; done; done; rm -rf ../session; ln -s ${sandbox.root}/mine ../session`;
          // The scripted model has no end of its own.
          if (answers > 30 || (task === "links" && !isFirst)) return { text: "All done." };
          return { calls: [{ name: "bash", arguments: { command } }] };
        },
        {},
      );
      writeFileSync(join(sandbox.root, "victim"), "untouched");
      mkdirSync(join(sandbox.root, "mine"));
      writeFileSync(join(sandbox.root, "mine/session.jsonl"), "mine");
      evals = writeTasks(sandbox, {
        links: {},
        spends: { "task.md": "---\nbudget: turns=3\n---\nTask spends: say yes.\n" },
      });
      const ended = await startCommand(["run", "none", "--tasks", evals]).ended;
      assert.equal(ended.status, 0, ended.stderr);
      assert.equal(readFileSync(join(sandbox.root, "victim"), "utf8"), "untouched");
      const results = `${evals}-results`;
      const trials = trialsOf(results).map((name) => ({
        ...JSON.parse(readFileSync(join(results, name, "trial.json"), "utf8")),
        has: readdirSync(join(results, name)).sort(),
        kept: existsSync(join(results, name, "session/session.jsonl")),
      }));
      assert.deepEqual(
        trials.map(({ task, ending, solved, unknown, kept }) => [task, ending, solved, unknown, kept]),
        [
          ["links", "done", true, undefined, false],
          ["spends", "budget", false, undefined, true],
        ],
        JSON.stringify(trials),
      );
      // The agent may have answered once more before it was ended.
      assert.ok(trials[1].turns >= 3 && trials[1].turns <= 5, String(trials[1].turns));
      assert.deepEqual(trials[0].has, ["check.txt", "log.txt", "result.json", "session", "trial.json"]);
    });

    test(
      "what a gate runs, and what an agent leaves behind, reaches no task and no other trial",
      { ...LONG, timeout: 180_000 },
      async (t) => {
        /** @type {string[]} */
        const seen = [];
        let [evals, commit] = ["", ""];
        const upstream = () => join(dirname(evals), "upstream");
        const script = (/** @type {import("../../../tests/pi/harness/scripted-model.mjs").ChatRequest} */ request) => {
          const results = request.messages.filter(({ role }) => role === "tool").map(messageText);
          seen.push(...results);
          const look = `cat ${evals}/*/* ${evals}-results/*/trial.json ${upstream()}/* /proc/1/cwd/../../*/*; ls -a .. ../.. /proc/1/cwd/../.. ${evals} ${evals}-results ${upstream()}/.git; (cd ../..; pwd; find . -name expected.txt)`;
          const forge = `setsid sh -c 'while sleep 0.02; do for f in ${tmpdir()}/pi-workflows-compare-*/*/checked/project ${tmpdir()}/pi-workflows-compare-*/repo-*; do echo yes > $f/done.txt; done; sed -i s/false/true/ ${evals}-results/*/trial.json; done' >/dev/null 2>&1 &`;
          const plan = [
            { name: "write", arguments: { path: "test.sh", content: `${look}\n${forge}\ntest -f ok\n` } },
            { name: "workflow_step", arguments: { action: "next" } },
            { name: "bash", arguments: { command: "touch ok" } },
            { name: "workflow_step", arguments: { action: "next" } },
          ][results.length];
          return plan && !/→ DONE/.test(results.at(-1) ?? "") ? { calls: [plan] } : { text: "All done." };
        };
        const gated = workflow("gated", [{ id: "build", gate: [{ run: "sh test.sh" }] }], OFF);
        const { startCommand, sandbox } = await withPi(t, version, script, { globalFiles: gated });
        const folder = join(sandbox.root, "upstream");
        mkdirSync(folder);
        const git = (/** @type {string[]} */ ...words) =>
          execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], {
            cwd: folder,
            encoding: "utf8",
          }).trim();
        git("init", "-q", "-b", "main");
        git("commit", "-q", "--allow-empty", "-m", "one");
        commit = git("rev-parse", "HEAD");
        writeFileSync(join(folder, "expected.txt"), "THE ANSWER\n");
        evals = writeTasks(sandbox, {
          a: { "expected.txt": "THE ANSWER\n" },
          b: {
            "expected.txt": "THE ANSWER\n",
            "task.md": `---\nrepo: ../../upstream\ncommit: ${commit}\n---\nTask b: say yes.\n`,
          },
        });
        rmSync(join(evals, "b/project"), { recursive: true });
        const ended = await startCommand(["run", "gated", "--tasks", evals, "--repeat", "2"]).ended;
        assert.equal(ended.status, 0, ended.stderr);
        assert.doesNotMatch(ended.stderr, /can read the tasks|cannot be hidden/);
        const [output] = seen.filter((text) => text.includes("test.sh") || text.includes("did not"));
        assert.ok(output, seen.join("\n"));
        assert.doesNotMatch(seen.join("\n"), /THE ANSWER|looking|\/expected\.txt|"solved"/);
        const trials = trialsOf(`${evals}-results`).map((name) =>
          JSON.parse(readFileSync(join(`${evals}-results`, name, "trial.json"), "utf8")),
        );
        assert.deepEqual(
          trials.map(({ ending, solved, hidden }) => [ending, solved, hidden]),
          Array(4).fill(["done", false, "from everything"]),
        );
        const left = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
          .split("\n")
          .filter((line) => line.includes(evals) && !line.startsWith("ps"));
        assert.deepEqual(left, []);
      },
    );

    test(
      "an agent that puts a link in the place of the project, or pipes and closed folders in it, has a result",
      LONG,
      async (t) => {
        const commands = {
          link: "cd ..; mv project p2; ln -s checked project",
          odd: 'echo yes > done.txt; mkfifo pipe; mkdir -p "$HOME/closed/a"; chmod 500 "$HOME/closed"',
        };
        const script = (/** @type {import("../../../tests/pi/harness/scripted-model.mjs").ChatRequest} */ request) => {
          const { task, isFirst } = about(request);
          return isFirst
            ? {
                calls: [
                  { name: "bash", arguments: { command: commands[/** @type {keyof typeof commands} */ (task)] } },
                ],
              }
            : { text: "All done." };
        };
        const { startCommand, sandbox } = await withPi(t, version, script, { globalFiles: FLOWS });
        const evals = writeTasks(sandbox, { link: { check: "#!/bin/sh\nexit 0\n" }, odd: {} });
        const [, cli] = piCli(version);
        const ended = await startCommand([
          "run",
          "none",
          "--tasks",
          evals,
          "--max-cost",
          "1",
          "--pi",
          relative(sandbox.project, cli),
        ]).ended;
        // The scripted model has no price.
        assert.equal(ended.status, 6, ended.stderr);
        assert.match(
          ended.stderr,
          /\n--max-cost cannot be kept: the cost of 1 trial is not known\. 1 trial is left\.\n/,
        );
        const rest = await startCommand(["run", "none", "--tasks", evals]).ended;
        assert.equal(rest.status, 0, rest.stderr);
        const results = `${evals}-results`;
        const read = () =>
          Object.fromEntries(
            trialsOf(results)
              .map((name) => JSON.parse(readFileSync(join(results, name, "trial.json"), "utf8")))
              .map(({ task, ending, solved, text }) => [task, [ending, solved, text]]),
          );
        assert.deepEqual(read(), {
          link: ["done", false, "the folder of the project is gone"],
          odd: ["done", true, "the agent has stopped"],
        });
        // A result that cannot be read is no result.
        const broken = trialsOf(results).find((name) => name.startsWith("odd")) ?? "";
        writeFileSync(join(results, broken, "trial.json"), "{");
        const again = await startCommand(["run", "none", "--tasks", evals]).ended;
        assert.match(again.stderr, /^2 trials, 1 of them done before\n/);
        assert.deepEqual(read().odd, ["done", true, "the agent has stopped"]);
      },
    );

    test("3 variants, 5 tasks and 4 repeats give the figures of a table", { ...LONG, timeout: 600_000 }, async (t) => {
      // The trials of each task that are solved, of 4.
      /** @type {Record<string, Record<string, number>>} */
      const table = {
        careful: { a: 4, b: 4, c: 3, d: 2, e: 4 },
        hasty: { a: 4, b: 1, c: 0, d: 2, e: 3 },
        none: { a: 2, b: 0, c: 0, d: 0, e: 1 },
      };
      const { startCommand, sandbox } = await withPi(
        t,
        version,
        player((variant, task, number) => (number <= table[variant][task] ? "solve" : "wrong")),
        { globalFiles: FLOWS },
      );
      const evals = writeTasks(sandbox, { a: {}, b: {}, c: {}, d: {}, e: {} });
      const args = ["run", "careful", "hasty", "none", "--tasks", evals, "--repeat", "4", "--yes"];
      const refused = await startCommand(args.slice(0, -1)).ended;
      assert.deepEqual(
        [refused.status, refused.stderr.split("\n").at(-2)],
        [2, "60 trials are started only with --yes."],
      );
      const parts = ["1/3", "2/3", "3/3"].map((shard) => ({ shard, folder: join(sandbox.root, `part-${shard[0]}`) }));
      // One after the other: the script counts the trials of a task.
      for (const { shard, folder } of parts) {
        const ended = await startCommand([...args, "--shard", shard, "--results", folder]).ended;
        assert.equal(ended.status, 0, ended.stderr);
      }
      assert.deepEqual(
        parts.map(({ folder }) => trialsOf(folder).length),
        [21, 21, 18],
      );
      const all = await startCommand(["read", parts[0].folder, parts[1].folder, parts[2].folder, "--format", "json"])
        .ended;
      const { variants, tasks, pairs, notes } = JSON.parse(all.stdout);
      const by = Object.fromEntries(variants.map((/** @type {any} */ variant) => [variant.name, variant]));
      const figures = (/** @type {string} */ name) => [by[name].trials, by[name].solved, by[name].falseGreen];
      const ends = parts.flatMap(({ folder }) =>
        trialsOf(folder).map((name) => readFileSync(join(folder, name, "trial.json"), "utf8")),
      );
      assert.deepEqual(
        ends.filter((trial) => JSON.parse(trial).ending !== "done"),
        [],
      );
      assert.deepEqual(["careful", "hasty", "none"].map(figures), [
        [20, 17, 3],
        [20, 10, 10],
        [20, 3, 17],
      ]);
      for (const [index, name] of ["a", "b", "c", "d", "e"].entries()) {
        const cells = Object.fromEntries(
          variants.map((/** @type {any} */ variant, /** @type {number} */ at) => [
            variant.name,
            tasks[index].cells[at].solved,
          ]),
        );
        assert.deepEqual(cells, { careful: table.careful[name], hasty: table.hasty[name], none: table.none[name] });
      }
      // Worked out by hand: of hasty the squares of 4-2, 1-2, 0-2, 2-2, 3-2 are 10; 5/4 of it by 400 is 0.03125, by the
      // variance of 20 independent trials, 0.0125, 2.5: 8 trials, by (1.96/2.776)² 3.988. Of p = 1/2 Wilson's interval
      // is 1/2 ∓ 1.96/2/√(3.988 + 3.841).
      const half = 1.95996 / 2 / Math.sqrt(3.9878 + 3.84146);
      by.hasty.interval.forEach((/** @type {number} */ bound, /** @type {number} */ at) =>
        assert.ok(Math.abs(bound - (0.5 + (at === 0 ? -half : half))) < 1e-3, String(by.hasty.interval)),
      );
      const text = (/** @type {string} */ one, /** @type {string} */ other) =>
        pairs.find((/** @type {any} */ pair) => [one, other].includes(pair.first) && [one, other].includes(pair.second))
          .text;
      assert.equal(
        text("careful", "hasty"),
        "“careful” solved 3 tasks more often than “hasty” and no task less often: 3 pairs cannot tell (p = 0.25); 6 tasks that differ, all one way, would.",
      );
      assert.equal(
        text("careful", "none"),
        "“careful” solved 5 tasks more often than “none” and no task less often: 5 pairs cannot tell (p = 0.063); 6 tasks that differ, all one way, would.",
      );
      assert.match(text("hasty", "none"), /^“hasty” solved 4 tasks more often than “none”.*\(p = 0\.13\)/);
      assert.match(notes.at(-1), /^3 pairs are compared/);
    });

    test(
      "bugfix solves its five tasks where its agent does, and an agent that only says so is a false green",
      { ...LONG, timeout: 300_000 },
      async (t) => {
        const examples = join(REPO, "packages/compare/evals-examples/bugfix");
        const tasks = Object.fromEntries(
          readdirSync(examples).map((name) => [
            readFileSync(join(examples, name, "task.md"), "utf8")
              .trim()
              .slice(0, 40),
            name,
          ]),
        );
        const script = (/** @type {import("../../../tests/pi/harness/scripted-model.mjs").ChatRequest} */ request) => {
          const text = request.messages.map(messageText).join("\n");
          const task = Object.entries(tasks).find(([words]) => text.includes(words))?.[1] ?? "";
          const last = request.messages.at(-1);
          const words = last ? messageText(last) : "";
          if (!/Bug Fix/.test(text) || /→ DONE/.test(words)) return { text: "It is repaired." };
          if (/Successfully wrote/.test(words) || /→ 🧪 Verify/.test(words)) return step("next");
          if (!/→ 🩹 Patch/.test(words)) return leave("small", { summary: "small: one line" });
          const solutions = join(REPO, "packages/compare/tests/eval-solutions", task);
          return {
            calls: readdirSync(solutions).map((name) => ({
              name: "write",
              arguments: { path: name, content: readFileSync(join(solutions, name), "utf8") },
            })),
          };
        };
        const { startCommand, sandbox, model } = await withPi(t, version, script, {});
        cpSync(join(REPO, "workflows-examples/bugfix"), join(sandbox.agent, "workflows/bugfix"), { recursive: true });
        cpSync(join(REPO, "workflows-examples/_shared"), join(sandbox.agent, "workflows/_shared"), { recursive: true });
        const results = join(sandbox.root, "results");
        const ended = await startCommand([
          "run",
          "bugfix",
          "none",
          "--tasks",
          examples,
          "--results",
          results,
          "--jobs",
          "2",
        ]).ended;
        assert.equal(ended.status, 0, ended.stderr);
        assert.deepEqual(model.faults, []);
        const { variants, pairs } = readAnswer(results);
        assert.deepEqual(
          variants.map((/** @type {any} */ { name, solved, falseGreen }) => [name, solved, falseGreen]),
          [
            ["bugfix", 5, 0],
            ["none", 0, 5],
          ],
          ended.stderr,
        );
        assert.match(pairs[0].text, /^“bugfix” solved 5 tasks more often than “none”.*\(p = 0\.063\)/);
      },
    );

    test("a kill at any moment loses no trial and counts none twice", { ...LONG, timeout: 600_000 }, async (t) => {
      const { startCommand, sandbox, model } = await withPi(
        t,
        version,
        player(() => "solve"),
        { globalFiles: FLOWS },
      );
      const evals = writeTasks(sandbox, { a: {}, b: {}, c: {} });
      const results = `${evals}-results`;
      const args = ["run", "careful", "none", "--tasks", evals, "--jobs", "2"];
      /** @type {Map<string, string>} */
      const kept = new Map();
      for (const [index, signal] of /** @type {const} */ ([
        "SIGKILL",
        "SIGINT",
        "SIGKILL",
        "SIGTERM",
        "SIGKILL",
      ]).entries()) {
        const { child, ended, output } = startCommand(args);
        const requests = model.requests.length;
        await model.waitForRequests(requests + 1 + index, { timeoutMs: 20_000 }).catch(() => {});
        child.kill(signal);
        const { status } = await ended;
        assert.ok(/** @type {unknown[]} */ ([signal, 130, 0]).includes(status), `${status} ${output.stderr}`);
        const now = existsSync(results) ? trialsOf(results) : [];
        for (const [name, text] of kept) assert.equal(readFileSync(join(results, name, "trial.json"), "utf8"), text);
        for (const name of now) kept.set(name, readFileSync(join(results, name, "trial.json"), "utf8"));
      }
      const last = await startCommand(args).ended;
      assert.equal(last.status, 0, last.stderr);
      const { variants } = readAnswer(results);
      assert.deepEqual(
        variants.map((/** @type {any} */ { trials, solved }) => [trials, solved]),
        [
          [3, 3],
          [3, 3],
        ],
      );
      assert.deepEqual(
        readdirSync(results)
          .filter((name) => !trialsOf(results).includes(name))
          .sort(),
        ["comparison.html", "comparison.json", "comparison.md"],
      );
      // What the killed ones had started is gone.
      const pids = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line.includes(results) && !line.startsWith("ps"));
      assert.deepEqual(pids, []);
    });

    test(
      "projects with links, of repositories with submodules, and large ones",
      { ...LONG, timeout: 300_000 },
      async (t) => {
        const { startCommand, sandbox } = await withPi(
          t,
          version,
          player(() => "solve"),
          { globalFiles: FLOWS },
        );
        const git = (/** @type {string} */ cwd, /** @type {string[]} */ ...words) =>
          execFileSync(
            "git",
            ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", ...words],
            { cwd, encoding: "utf8" },
          ).trim();
        // Without it git clones no submodule from a folder.
        writeFileSync(join(sandbox.home, ".gitconfig"), '[protocol "file"]\n\tallow = always\n');
        const library = join(sandbox.root, "library");
        mkdirSync(library);
        git(library, "init", "-q", "-b", "main");
        git(library, "commit", "-q", "--allow-empty", "-m", "one");
        const upstream = join(sandbox.root, "upstream");
        mkdirSync(upstream);
        git(upstream, "init", "-q", "-b", "main");
        git(upstream, "submodule", "--quiet", "add", library, "lib");
        writeFileSync(join(library, "solution.txt"), "later\n");
        git(library, "add", ".");
        git(library, "commit", "-qm", "two");
        writeFileSync(join(upstream, "readme.txt"), "1\n");
        git(upstream, "add", ".");
        git(upstream, "commit", "-qm", "one");
        const commit = git(upstream, "rev-parse", "HEAD");
        writeFileSync(join(upstream, "solution.txt"), "later\n");
        git(upstream, "add", ".");
        git(upstream, "commit", "-qm", "two");
        const looks = `${CHECK}[ "$(git rev-list --all --count)" = 1 ] && [ -z "$(git remote)" ] && [ -z "$(git log --all -- solution.txt)" ]\ncd lib && [ "$(git rev-list --all HEAD --count)" = 1 ] && [ -z "$(git remote)$(git for-each-ref)" ] && [ "$(git count-objects -v | sed -n "s/^in-pack: //p")" = 2 ]\n`;
        const evals = writeTasks(sandbox, {
          links: { check: `${CHECK}[ -L link ] && [ "$(readlink link)" = readme.txt ] && [ -L gone ]\n` },
          large: { check: `${CHECK}[ $(ls many | wc -l) = 50000 ]\n` },
          repo: { "task.md": `---\nrepo: ../../upstream\ncommit: ${commit}\n---\nTask repo: say yes.\n`, check: looks },
        });
        symlinkSync("readme.txt", join(evals, "links/project/link"));
        symlinkSync("/nowhere", join(evals, "links/project/gone"));
        mkdirSync(join(evals, "large/project/many"));
        for (let index = 0; index < 50_000; index += 1)
          writeFileSync(join(evals, "large/project/many", String(index)), "");
        rmSync(join(evals, "repo/project"), { recursive: true });
        const ended = await startCommand(["run", "none", "hasty", "--tasks", evals]).ended;
        assert.equal(ended.status, 0, ended.stderr);
        const { variants, tasks } = readAnswer(`${evals}-results`);
        assert.deepEqual(
          variants.map((/** @type {any} */ { solved }) => solved),
          [3, 3],
          JSON.stringify(tasks) + ended.stderr,
        );
      },
    );

    test(
      "errors one after the other end it, and a repository that cannot be fetched starts nothing",
      LONG,
      async (t) => {
        const { startCommand, sandbox, model } = await withPi(
          t,
          version,
          player(() => "fail"),
          { globalFiles: FLOWS },
        );
        const evals = writeTasks(sandbox, { a: {}, b: {}, c: {}, d: {}, e: {} });
        const ended = await startCommand(["run", "none", "--tasks", evals]).ended;
        assert.equal(ended.status, 1, ended.stderr);
        assert.match(ended.stderr, /\n3 trials one after the other ended with an error\. /);
        assert.equal(trialsOf(`${evals}-results`).length, 3);
        const requests = model.requests.length;
        rmSync(join(evals, "d/project"), { recursive: true });
        writeFileSync(join(evals, "d/task.md"), "---\nrepo: ./nowhere\ncommit: main\n---\nTask d: say yes.\n");
        const unfetched = await startCommand(["run", "none", "--tasks", evals]).ended;
        assert.deepEqual([unfetched.status, model.requests.length], [2, requests], unfetched.stderr);
        assert.match(unfetched.stderr, /\nd: the project cannot be fetched: fatal: /);
        assert.equal(trialsOf(`${evals}-results`).length, 3);
      },
    );

    test(
      "costs are told beforehand and bounded, two at once exclude each other, and workflows of packages and of the project run",
      LONG,
      async (t) => {
        const plays = player(() => "solve");
        /** @type {PromiseWithResolvers<void>} */
        const secondEnded = Promise.withResolvers();
        const slowly = async (
          /** @type {import("../../../tests/pi/harness/scripted-model.mjs").ChatRequest} */ request,
          /** @type {number} */ index,
        ) => {
          if (index === 0) await secondEnded.promise;
          return plays(request, index);
        };
        const prices = { cost: { input: 100, output: 100, cacheRead: 0, cacheWrite: 0 } };
        const { startCommand, sandbox, model } = await withPi(t, version, slowly, {
          globalFiles: FLOWS,
          modelConfig: prices,
          settings: { packages: ["../kit"] },
          projectFiles: workflow("ours", ["plan", { id: "build", gate: [{ run: "grep -q yes done.txt" }] }], OFF),
        });
        const kit = join(sandbox.root, "kit");
        for (const [path, text] of Object.entries({
          "package.json": JSON.stringify({
            name: "kit",
            version: "1.0.0",
            keywords: ["pi-package"],
            pi: { extensions: [] },
            "pi-workflows": { workflows: ["./workflows"] },
          }),
          ...Object.fromEntries(
            Object.entries(workflow("packed", ["plan"], OFF)).map(([path, text]) => [`workflows/${path}`, text]),
          ),
        })) {
          mkdirSync(dirname(join(kit, path)), { recursive: true });
          writeFileSync(join(kit, path), text);
        }
        const evals = writeTasks(sandbox, { a: {}, b: {}, c: {} });
        const args = ["run", "packed", "ours", "none", "--tasks", evals, "--approve", "--max-cost", "0.5"];
        const first = startCommand(args);
        await model.waitForRequests(1);
        const second = await startCommand(args).ended;
        secondEnded.resolve();
        assert.equal(second.status, 2);
        assert.match(second.stderr, /\nProcess \d+ works on these results\.\n$/);
        const ended = await first.ended;
        assert.equal(ended.status, 6, ended.stderr);
        assert.match(
          ended.stderr,
          /\n--max-cost is reached: \$0\.\d\d\. \d trials are left; with a higher one the same command goes on\.\n/,
        );
        const rest = await startCommand(args.with(-1, "100")).ended;
        assert.equal(rest.status, 0, rest.stderr);
        assert.match(
          rest.stderr,
          /^9 trials, \d of them done before\n(What they will cost is not known yet\.|By the trials that have ended, the others will cost about \$\d)/,
        );
        const { variants } = readAnswer(`${evals}-results`);
        assert.deepEqual(
          variants.map((/** @type {any} */ { name, trials, solved, unknownCost }) => [
            name,
            trials,
            solved,
            unknownCost,
          ]),
          [
            ["packed", 3, 3, 0],
            ["ours", 3, 3, 0],
            ["none", 3, 3, 0],
          ],
        );
      },
    );

    test("what is wrong is told before anything starts", async (t) => {
      const broken = workflow("broken", ["plan"], { tools: { blacklist: 7 } });
      const { startCommand, sandbox, model } = await withPi(
        t,
        version,
        player(() => "solve"),
        { globalFiles: { ...FLOWS, ...broken }, projectFiles: workflow("ours", ["plan"], OFF) },
      );
      const evals = writeTasks(sandbox, { a: {} });
      const told = async (/** @type {string[]} */ ...args) => {
        const { status, stderr } = await startCommand(["run", ...args]).ended;
        assert.equal(status, 2, `${args}: ${stderr}`);
        return stderr;
      };
      assert.match(await told("broken", "--tasks", evals), /"broken" has errors: pi-workflows check/);
      assert.match(await told("nothing", "--tasks", evals), /There is no workflow/i);
      assert.match(await told("none", "none", "--tasks", evals), /"none" is there twice/);
      assert.match(await told("ours", "--tasks", evals), /"ours" is a workflow of this project\. With --approve/);
      assert.match(await told("none"), /needs the names of workflows and --tasks DIR/);
      assert.match(await told("none", "--tasks", sandbox.project), /has no tasks/);
      assert.match(await told("none", "--tasks", evals, "--shard", "3/2"), /--shard takes/);
      assert.match(await told("none", "--tasks", evals, "--repeat", "0"), /--repeat takes a number from 1 to 1000/);
      assert.match(
        await told("none", "--tasks", evals, "--results", join(evals, "a/results")),
        /The results cannot be in the task "a"/,
      );
      rmSync(join(evals, "a/results"), { recursive: true });
      assert.match(await told("none", "--tasks", evals, "--max-cost", "much"), /--max-cost takes US dollars/);
      assert.match(await told("none", "--tasks", evals, "--pi", join(sandbox.root, "no-pi")), /There is no ".*no-pi"/);
      const unread = await startCommand(["read", join(sandbox.root, "nowhere")]).ended;
      assert.equal(unread.status, 2);
      assert.match(unread.stderr, /There is no folder/);
      writeFileSync(join(evals, "a/task.md"), "---\ntimeuot: 3m\n---\nDo it.\n");
      assert.match(await told("none", "--tasks", evals), /task\.md:2:1: error: unknown field `timeuot` in `task\.md`/);
      writeFileSync(join(evals, "a/task.md"), "/do it\n");
      assert.match(await told("none", "--tasks", evals), /The task "a" begins with "\/", which is a command/);
      writeFileSync(join(evals, "a/task.md"), "Do it.\n");
      chmodSync(join(evals, "a/check"), 0o644);
      assert.match(await told("none", "--tasks", evals), /check is not an executable file/);
      assert.equal(model.requests.length, 0);
      assert.ok(!existsSync(`${evals}-results`) || readdirSync(`${evals}-results`).length === 0);
    });
  });
}

test("the tasks for bugfix are solved by their solutions only, and new writes two of them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-evals-"));
  const examples = join(REPO, "packages/compare/evals-examples/bugfix");
  const names = readdirSync(examples);
  assert.equal(names.length, 5);
  for (const name of variants(names)) {
    for (const isSolved of [false, true]) {
      const project = join(folder, `${name}-${isSolved}`);
      cpSync(join(examples, name, "project"), project, { recursive: true });
      if (isSolved) cpSync(join(REPO, "packages/compare/tests/eval-solutions", name), project, { recursive: true });
      const { status, stdout } = spawnSync(join(examples, name, "check"), {
        cwd: project,
        encoding: "utf8",
        env: { ...process.env, PATH: `${dirname(NODE)}:${process.env.PATH}`, NODE_TEST_CONTEXT: undefined },
      });
      assert.equal(status, isSolved ? 0 : 1, `${name} ${stdout}`);
    }
  }
  const written = spawnSync(NODE, [PROGRAM, "new", "evals"], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.equal(written.status, 0, written.stderr);
  assert.deepEqual(readdirSync(join(folder, "evals")), ["csv-quotes", "leap-year"]);
  const tasks = tasksIn(join(folder, "evals"), openWorkflows([]));
  assert.deepEqual(
    tasks.map(({ name, timeout }) => [name, timeout]),
    [
      ["csv-quotes", 1_800_000],
      ["leap-year", 1_800_000],
    ],
  );
  rmSync(folder, { recursive: true });
});

test("the tasks are hidden in all work trees of their repository, with its history and that of tasks", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pi-workflows-hidden-")));
  const git = (/** @type {string} */ cwd, /** @type {string[]} */ ...words) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd });
  const [main, linked, upstream] = ["main", "linked", "upstream"].map((name) => join(folder, name));
  for (const path of [main, upstream]) {
    mkdirSync(path);
    git(path, "init", "-q");
  }
  mkdirSync(join(main, "evals/a"), { recursive: true });
  writeFileSync(join(main, "evals/a/task.md"), "Do it.\n");
  git(main, "add", ".");
  git(main, "commit", "-qm", "one");
  git(main, "worktree", "add", "-q", linked);
  const hidden = (/** @type {string} */ tree) =>
    hiddenFolders(
      join(tree, "evals"),
      [join(folder, "results"), join(main, "evals/a")],
      [upstream, "https://example.org/x.git"],
    ).sort();
  const all = [join(linked, "evals"), join(main, ".git"), join(main, "evals"), upstream];
  assert.deepEqual(hidden(main), all);
  assert.deepEqual(hidden(linked), all);
  rmSync(folder, { recursive: true });
});
