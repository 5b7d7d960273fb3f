// The outputs of a nested workflow: of several entries, two deep, of items, of branches, and over a kill.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { branchOf } from "./harness/branches.mjs";
import { LONG } from "./harness/extent.mjs";
import { lastPath } from "./harness/gates.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { leave, notices, toolResults, workflow } from "./harness/workflows.mjs";

const REST = { text: "I rest." };
const QUIET = { autoContinue: false };
const NESTED = { show: "workflows", commandName: undefined, initialMessage: undefined };
const FIELDS = { title: { type: "text" }, file: { type: "text", optional: true } };

/** A workflow that gives what the workflow in it finds, whether that is sound, and a note on each that is found. */
const HUNT = {
  ...workflow("hunt", [], {
    ...NESTED,
    outputs: { found: "output.deep.found", sound: "output.deep.sound", notes: "output.note.text" },
    phases: [
      { subworkflow: "look", id: "deep" },
      {
        when: { "output.deep.sound": false },
        each: "output.deep.found",
        phases: [{ id: "note", write: [], prompt: "Note {item.title}.", outputs: { text: { type: "text" } } }],
      },
    ],
  }),
  ...workflow("look", [], {
    ...NESTED,
    outputs: { found: "output.look.found", sound: "output.look.sound" },
    phases: [
      {
        id: "look",
        write: [],
        prompt: "Look.",
        outcomes: { seen: "next", dead: "stop" },
        outputs: { found: { type: "list", max: 3, fields: FIELDS }, sound: { type: "flag" } },
      },
    ],
  }),
};

/** @param {string[]} titles */
const found = (...titles) =>
  leave("seen", {
    summary: "Looked.",
    outputs: { found: titles.map((title) => ({ title })), sound: titles.length === 0 },
  });
/** @param {string} text */
const note = (text) => leave("", { outputs: { text }, summary: text });

suite("outputs of nested workflows", { concurrency: 2 }, () => {
  test("each entry has its own, in texts, conditions, commands and groups, also over a kill", async (t) => {
    const env = { one: "output.one.notes", two: "output.two.found", many: "output.many.found" };
    const files = {
      ...HUNT,
      ...workflow("w", [], {
        ...QUIET,
        phases: [
          { subworkflow: "hunt", id: "one", name: "one" },
          { subworkflow: "hunt", id: "two", name: "two" },
          { each: ["x", "y"], phases: [{ subworkflow: "hunt", id: "many" }] },
          { id: "sound", prompt: "Sound.", when: { "output.two.sound": true } },
          { id: "unsound", prompt: "Unsound.", when: { "output.one.sound": true } },
          { run: 'printf "%s|" "$one" "$two" "$many" > given', env },
          { each: "output.one.found", phases: [{ id: "fix", prompt: "Fix {item.title} in {item.file}." }] },
          {
            id: "last",
            prompt:
              "S {output.one.sound} N {output.one.notes} T {output.two.notes} M {output.many.sound} L {output.look.found}.",
          },
        ],
      }),
    };
    const hostile = "$(touch made) {description} \u001b[31m";
    const calls = [
      found("a", hostile),
      note("na"),
      REST, // killed in the second item of the first entry
      note("nb"),
      found(),
      found("c"),
      note("nc"),
      found(),
      ...["It is sound.", "Fixed a.", "Fixed it."].map((summary) => leave("", { summary })),
      REST,
    ];
    const { model, sandbox } = await stage(t, calls, { globalFiles: files });
    const first = await startRpc({ sandbox });
    await first.promptAndSettle("/workflow w The task");
    await first.kill();
    const rpc = await startRpc({ sandbox, args: ["--continue"] });
    await rpc.promptAndSettle("Go on.");
    const results = toolResults(model.lastRequest());
    assert.equal(lastPath(await rpc.entries()), "w:7", `${results.join("\n---\n")}\n${notices(rpc).join("\n")}`);
    assert.equal(readFileSync(join(sandbox.project, "given"), "utf8"), 'na\nnb||{"title":"c"}|');
    assert.ok(results.some((text) => text.includes("Sound.")) && !results.some((text) => text.includes("Unsound.")));
    assert.ok(results.some((text) => text.includes("Fix a in ") && text.includes("(none)")));
    assert.ok(results.some((text) => text.includes("Fix $(touch made) {description} ")));
    const expected = "S false N 1. na\n2. nb T (none) M 1. false\n2. true L {output.look.found}.";
    assert.ok(results.at(-1)?.includes(expected), results.join("\n---\n"));
    assert.throws(() => readFileSync(join(sandbox.project, "made")));
    assert.deepEqual(rpc.extensionErrors(), []);
  });

  test("branches give theirs, one that fails gives nothing, and none leads a branch beside it", LONG, async (t) => {
    const files = {
      ...HUNT,
      ...workflow("w", [], {
        ...QUIET,
        phases: [
          {
            parallel: 2,
            need: 1,
            phases: [
              { subworkflow: "hunt", id: "one", name: "one" },
              { subworkflow: "hunt", id: "two", name: "two" },
            ],
          },
          { each: ["output.one.found", "output.two.found"], phases: [{ id: "fix", prompt: "Fix {item.title}." }] },
          { id: "last", prompt: "One {output.one.notes} two {output.two.sound}." },
        ],
      }),
    };
    const { model, sandbox } = await stage(
      t,
      (request) => {
        const branch = branchOf(request);
        const last = request.messages.at(-1);
        const text = last ? messageText(last) : "";
        if (branch === "two") return last?.role === "tool" ? { text: "Done." } : leave("dead");
        if (branch !== undefined && last?.role !== "tool") return found("a");
        if (/Note a\./.test(text)) return note("na");
        if (branch !== undefined) return { text: "Done." };
        if (/→ DONE/.test(text)) return { text: "All done." };
        return leave("", { summary: "Did it." });
      },
      { globalFiles: files },
    );
    const rpc = await startRpc({ sandbox });
    await rpc.promptAndSettle("/workflow w The task");
    const results = toolResults(model.lastRequest());
    const last = results.at(-2) ?? "";
    assert.match(last, /One 1\. na two \(none\)\./, `${results.join("\n---\n")}\n${notices(rpc).join("\n")}`);
    assert.ok(last.includes("### Fix [1]") && !last.includes("### Fix [2]"), last);
    assert.deepEqual(rpc.extensionErrors(), []);
  });
});
