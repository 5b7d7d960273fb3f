// Values of a run in every place that names them: what the items and branches of a group gave, records, logs of steps,
// and inputs that are left out.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { branchOf } from "./harness/branches.mjs";
import { VERSIONS } from "./harness/extent.mjs";
import { lastPath, progress } from "./harness/gates.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { leave, notices, phaseFile, toolResults, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/scripted-model.mjs").ChatRequest} ChatRequest */

const QUIET = { autoContinue: false };
const REST = { text: "I rest." };
const FOUND = { found: { type: "list", max: 2 }, ok: { type: "flag" }, why: { type: "text", optional: true } };

/** The fields of a record. */
const FIELDS = {
  title: { type: "text", max: 3000 },
  size: { type: "choice", options: ["small", "large"] },
  files: { type: "list", max: 2, optional: true },
  n: { type: "number", optional: true },
  ok: { type: "flag", optional: true },
};

/** Every value of the items, as a command gets it. */
const ENV = {
  found: "output.do.found",
  ok: "output.do.ok",
  why: "output.do.why",
  out: "outcome.do",
  sum: "summary.do",
  log: "log.print",
  note: "input.note",
};
const TEXT =
  "F {output.do.found} O {output.do.ok} W {output.do.why} U {outcome.do} S {summary.do} N {input.note} L {log.print}.";

/** A plan, a step that prints much, a group for each task, and everything that comes of it. @param {object} group */
const fan = (group) => ({
  ...workflow("fan", [{ id: "plan", outputs: { tasks: { type: "list", max: 4 } } }], {
    ...QUIET,
    inputs: { note: { type: "text", optional: true }, extra: { type: "list", max: 4, default: ["extra"] } },
    phases: [
      "plan.md",
      { run: "for i in $(seq 1 9000); do echo line $i; done", id: "print" },
      { id: "work", each: "output.plan.tasks", phases: ["do.md"], ...group },
      { run: 'printf "%s|" "$found" "$ok" "$why" "$out" "$sum" "$note" > given; printf %s "$log" > log', env: ENV },
      { id: "good", phase: "good.md", when: { "output.do.ok": true, "outcome.do": "good" } },
      { subworkflow: "part", with: { all: "{output.do.found}" } },
      { id: "fixes", each: ["output.do.found", "input.extra"], phases: ["fix.md"] },
      "last.md",
    ],
  }),
  "fan/do.md": phaseFile({
    id: "do",
    write: [],
    outputs: FOUND,
    outcomes: { good: "next", bad: "next", dead: "stop" },
    instructions: "Do {item}, own {output.do.found}.",
  }),
  "fan/good.md": phaseFile({ id: "good" }),
  "fan/fix.md": phaseFile({
    id: "fix",
    instructions: "Fix {item} ({itemNumber}/{itemCount}).",
    gate: [
      {
        run: 'echo "$n/$c $i" >> fixed',
        env: { n: "itemNumber", c: "itemCount", i: "item" },
      },
    ],
  }),
  "fan/last.md": phaseFile({ id: "last", instructions: TEXT }),
  ...workflow("part", [{ id: "part", results: "none", instructions: "All: {input.all}" }], {
    show: "workflows",
    commandName: undefined,
    initialMessage: undefined,
    inputs: { all: { type: "list", max: 8 } },
  }),
});

/** @param {string} text */
const next = (text) => leave("", { summary: text });
const plan = (/** @type {string[]} */ ...tasks) => leave("", { outputs: { tasks }, summary: "Planned." });
/** @param {string} outcome @param {string[]} found @param {object} [more] */
const did = (outcome, found, more = {}) =>
  leave(outcome, { outputs: { found, ok: outcome === "good", ...more }, summary: `It is ${outcome}.` });

/** A plan that gives records, and a group for each of them and of those that the run is started with. */
const RECORDS = {
  ...workflow("rec", [{ id: "plan", outputs: { tasks: { type: "list", max: 5, fields: FIELDS } } }], {
    ...QUIET,
    inputs: { more: { type: "list", max: 5, fields: FIELDS, default: [{ title: "default", size: "large" }] } },
    phases: [
      "plan.md",
      {
        id: "work",
        each: ["output.plan.tasks", "input.more"],
        phases: [
          { phase: "large.md", when: { "item.size": "large" } },
          {
            run: 'printf "%s/%s/%s/%s;" "$title" "$files" "$n" "$ok" >> seen; echo "$item" >> items',
            id: "note",
            env: { title: "item.title", files: "item.files", n: "item.n", ok: "item.ok", item: "item" },
          },
          { subworkflow: "one", with: { title: "{item.title}" } },
        ],
      },
      { run: 'echo "$all" > all', id: "all", env: { all: "output.plan.tasks" } },
      "last.md",
    ],
  }),
  "rec/large.md": phaseFile({ id: "large", instructions: "Large: {item.title}, {item.files}, {item.n}, {item.no}." }),
  "rec/last.md": phaseFile({ id: "last", instructions: "All:\n{output.plan.tasks}" }),
  ...workflow("one", [{ id: "one", instructions: "One: {input.title}" }], {
    show: "workflows",
    commandName: undefined,
    initialMessage: undefined,
    inputs: { title: { type: "text", max: 3000 } },
  }),
};

const CLI = fileURLToPath(new URL("../../cli/pi-workflows.js", import.meta.url));

for (const version of VERSIONS) {
  suite(`pi ${version}: values`, { concurrency: 2 }, () => {
    test("what items gave is a list behind their group, in texts, commands, conditions, nested workflows and groups, also over a kill", async (t) => {
      const hostile = "$(touch made) {description}";
      const calls = [
        plan("one", "two", "three"),
        did("good", ["a", hostile], { why: "two\nlines" }),
        REST, // killed between two items
        did("good", []),
        did("bad", ["b"], { why: "c" }),
        next("Part."),
        ...["a", "hostile", "b", "extra"].map(next),
        REST,
      ];
      const { model, sandbox } = await stage(t, calls, { globalFiles: fan({}) });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle("/workflow fan The task");
      await first.kill();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("Go on.");
      const results = toolResults(model.lastRequest());
      assert.ok(
        results.some((text) => text.includes("Do two, own (none).")),
        results.join("\n---\n"),
      );
      assert.equal(lastPath(await rpc.entries()), "fan:7", results.join("\n---\n"));
      const read = (/** @type {string} */ name) => readFileSync(join(sandbox.project, name), "utf8");
      assert.equal(
        read("given"),
        `a\n${hostile}\nb|true\ntrue\nfalse|two lines\nc|good\ngood\nbad|It is good.\n\nIt is good.\n\nIt is bad.||`,
      );
      assert.ok(results.some((text) => text.includes(`All: 1. a\n2. ${hostile}\n3. b`)));
      assert.equal(read("fixed"), `1/4 a\n2/4 ${hostile}\n3/4 b\n4/4 extra\n`);
      const log = read("log");
      assert.ok(
        log.endsWith("line 8999\nline 9000") && log.length <= 20_000 && log.length > 19_000,
        String(log.length),
      );
      const end = results.at(-1) ?? "";
      assert.ok(
        end.includes(`F 1. a\n2. ${hostile}\n3. b O 1. true\n2. true\n3. false W 1. two lines\n2. c U 1. good\n`),
        end,
      );
      assert.match(end, /N \(none\) L … \(\d+ bytes before; all of it: [^\n]+\.log\)\n/);
      assert.ok(end.includes(`\n${log}.`), "the log");
      assert.throws(() => read("made"));
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("a group without items gives an empty list, and its groups are passed over", async (t) => {
      const { model, sandbox } = await stage(t, [plan(), next("Part."), next("extra"), REST], { globalFiles: fan({}) });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow fan note=here The task");
      const end = toolResults(model.lastRequest()).at(-1) ?? "";
      assert.ok(end.includes("F (none) O (none) W (none) U (none) S (none) N here L … ("), end);
      assert.equal(readFileSync(join(sandbox.project, "given"), "utf8"), "|||||here|");
      assert.equal(readFileSync(join(sandbox.project, "fixed"), "utf8"), "1/1 extra\n");
    });

    test("branches give theirs in the order of the items, and one that failed gives nothing", async (t) => {
      /** @type {Record<string, any>} */
      const given = { one: did("good", ["a"]), two: did("dead", ["lost"]), three: did("good", ["b"]) };
      const play = (/** @type {ChatRequest} */ request) => {
        const branch = branchOf(request);
        const last = request.messages.at(-1);
        if (branch !== undefined) return last?.role === "tool" ? { text: "Done." } : given[branch];
        const text = last ? messageText(last) : "";
        if (/→ DONE/.test(text)) return { text: "All done." };
        return /Do plan/.test(text) ? plan("one", "two", "three") : next("Did it.");
      };
      const files = fan({ parallel: 3, need: 2 });
      const { model, sandbox } = await stage(t, play, { globalFiles: files });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow fan The task");
      assert.equal(lastPath(await rpc.entries()), "fan:7", notices(rpc).join("\n"));
      const given1 = readFileSync(join(sandbox.project, "given"), "utf8");
      assert.equal(given1, "a\nb|true\ntrue||good\ngood|It is good.\n\nIt is good.||");
      const { passedOver, outputs } = progress(await rpc.entries());
      assert.equal(passedOver?.["fan:4"], undefined, "all branches that ended said good");
      assert.deepEqual(
        Object.keys(outputs ?? {}).filter((key) => key.includes("//2@1")),
        [],
      );
      assert.ok(model.requests.length > 0);
    });

    test("records are checked by item and field, and their fields reach texts, conditions, commands and nested workflows, also over a kill", async (t) => {
      const giving = (/** @type {unknown} */ tasks) => leave("", { outputs: { tasks }, summary: "Planned." });
      const long = `${"long ".repeat(400)}$(touch made) {description}`;
      const tasks = [
        { title: "a\nb", size: "small", files: ["x", "y z"], n: 2.5, ok: false },
        { title: long, size: "large" },
      ];
      const calls = [
        giving([{ title: "a", size: "larg" }]),
        giving([tasks[0], { size: "small" }]),
        giving([{ ...tasks[0], __proto: 1 }]),
        giving(JSON.stringify([{ n: 2.5, ...tasks[0], ok: "false" }, tasks[1]])),
        next("One of the first."), // killed in `large` of the second
        REST,
        next("Large."),
        next("One of the second."),
        next("One of the third."),
        REST,
      ];
      const { model, sandbox } = await stage(t, calls, { globalFiles: RECORDS });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle(`/workflow rec more='[{"title": "given", "size": "small"}]' The task`);
      await first.kill();
      const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
      await rpc.promptAndSettle("Go on.");
      const results = toolResults(model.lastRequest());
      assert.match(results[0], /\n- wrong: `tasks`: item 1: `size` must be `small` or `large`, found `"larg"`\n/);
      assert.match(results[1], /\n- wrong: `tasks`: item 2 lacks `title`, a text of 1 to 3000 characters\n/);
      assert.match(results[2], /\n- wrong: `tasks`: item 1 has `__proto`, which is no field\n/);
      assert.ok(results[2].includes('"outputs": {"tasks": [{"title": "<title>", "size": "small"}]}'), results[2]);
      const read = (/** @type {string} */ name) => readFileSync(join(sandbox.project, name), "utf8");
      assert.equal(read("seen"), `a\nb/x\ny z/2.5/false;${long}///;given///;`);
      const lines = tasks.map((task) => JSON.stringify(task));
      assert.equal(read("items"), `${[...lines, '{"title":"given","size":"small"}'].join("\n")}\n`);
      assert.equal(read("all"), `${lines.join("\n")}\n`);
      assert.ok(
        results.some((text) => text.includes("One: a\nb\n")),
        results.join("\n---\n"),
      );
      assert.ok(results.at(-1)?.includes(`All:\n1. ${lines[0]}\n2. ${lines[1]}\n`), results.join("\n---\n"));
      const requests = JSON.stringify(model.requests.map(({ messages }) => messages.map(messageText)));
      assert.ok(requests.includes(`Large: ${JSON.stringify(long).slice(1, -1)}, (none), (none), {item.no}.`));
      assert.throws(() => read("made"));
      const told = execFileSync(process.execPath, [CLI, "report", "--format", "json"], {
        cwd: sandbox.project,
        env: sandbox.env(),
        encoding: "utf8",
      });
      assert.deepEqual(JSON.parse(told).phases[0].outputs, { tasks });
      assert.deepEqual(rpc.extensionErrors(), []);
    });
  });
}
