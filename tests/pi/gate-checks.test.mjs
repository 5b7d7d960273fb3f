// Gates: their checks, in every mode of pi and during other events.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { gated, lastPath, madeBy } from "./harness/gates.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { parseJsonLines, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { ends, pauses, states, step, toolResults, userTexts, workflow } from "./harness/workflows.mjs";

const REST = { text: "I rest." };
const next = step("next");
const TASK = "/workflow hello Add a route";
const write = (/** @type {string} */ path, content = "x") => ({ name: "write", arguments: { path, content } });

for (const version of VERSIONS) {
  suite(`pi ${version}: a gate without a user interface`, { concurrency: 2 }, () => {
    test("is checked in JSON mode, and its progress and evidence are records", async (t) => {
      const { sandbox } = await stage(t, [next, next, { text: "Over." }], {
        globalFiles: gated([{ run: "echo fine", name: "the tests" }], {}, { completionMessage: "Done.\n{evidence}" }),
      });
      const { code, stdout } = await runPrint({ version, sandbox, mode: "json", prompt: TASK });
      assert.equal(code, 0);
      const partial = parseJsonLines(stdout).filter(({ type }) => type === "tool_execution_update");
      assert.ok(partial.some((record) => JSON.stringify(record).includes("Gate 1/1: the tests")));
      const [{ content }] = ends(readSession(sandbox));
      assert.match(content, /^Done\.\n- 🔹 Plan: ✓ the tests: exit status 0, \d+m?s$/);
    });

    for (const [what, run, result] of [
      ["fails", "exit 3", "exit status 3"],
      ["hangs", "sleep 60", "it took too long and was stopped"],
    ]) {
      test(`ends the process in order where its command ${what}`, async (t) => {
        const gate = [{ run, name: "it", timeout: 0.4 }];
        const { model, sandbox } = await stage(t, [next, next, REST], {
          globalFiles: gated(gate, { gateAttempts: 2 }),
        });
        const { code, stderr } = await runPrint({ version, sandbox, prompt: TASK });
        assert.equal(code, 1);
        assert.match(stderr, /paused in 🔹 Plan: the gate was not passed in 2 attempts; last: it \([^\n]+\)\.\n$/);
        assert.ok(toolResults(model.lastRequest()).every((text) => text.includes(`it: ${result} after`)));
        assert.deepEqual([model.requests.length, lastPath(readSession(sandbox))], [3, "hello:0"]);
      });
    }
  });

  suite(`pi ${version}: while a gate is checked`, { concurrency: 2 }, () => {
    test("another call in the same answer waits for its result, and belongs to the phase that it leads to", async (t) => {
      const both = { calls: [...next.calls, write("aside")] };
      const plan = { id: "plan", gate: [{ run: "sleep 0.3; test -e aside" }] };
      const build = { id: "build", tools: { blacklist: ["write"] } };
      const { model, sandbox } = await stage(t, [both, both, REST], {
        globalFiles: workflow("hello", [plan, build], { autoContinue: false }),
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      const results = toolResults(model.requests[1]);
      assert.match(results[0], /^✗ The gate of Plan is not passed/);
      assert.match(results[1], /^Successfully wrote/);
      const [passed, refused] = toolResults(model.requests[2]).slice(2);
      assert.match(passed, /^✓ Advanced: Plan → 🔹 Build/);
      assert.match(refused, /"write" is blocked during the Build phase/);
      await rpc.close();
    });

    for (const [control, path, paused] of /** @type {[string, string, string | undefined][]} */ ([
      [":pause", "hello:1", "person"],
      [":skip", "hello:2", undefined],
      [":back", "hello:0", undefined],
      [":cancel", "hello:1", undefined],
    ])) {
      test(`the user's ${control} stops it`, async (t) => {
        const phases = ["a", { id: "b", gate: [{ run: "touch begun; sleep 60; touch late" }] }, "c"];
        const { model, sandbox } = await stage(t, [next, next, REST, REST], {
          globalFiles: workflow("hello", phases, { autoContinue: false }),
        });
        const rpc = await startRpc({ version, sandbox });
        const settled = rpc.waitForSettled();
        await rpc.prompt(TASK);
        await madeBy(sandbox, "begun");
        await rpc.prompt(`/workflow ${control}`);
        await settled;
        const entries = await rpc.entries();
        assert.deepEqual([lastPath(entries), pauses(entries).at(-1)?.kind], [path, paused]);
        assert.equal(pauses(entries).filter(Boolean).length, paused ? 1 : 0);
        assert.equal(states(entries).at(-1).active, control !== ":cancel");
        const [, result] = toolResults(model.lastRequest());
        // A run that is cancelled stops its agent.
        if (control === ":cancel") assert.equal(model.requests.length, 2);
        else
          assert.match(result, control === ":pause" ? /^The workflow is paused: you asked/ : /this call had no effect/);
        assert.equal(existsSync(join(sandbox.project, "late")), false);
        await rpc.close();
      });
    }
  });

  suite(`pi ${version}: files of a gate`, { concurrency: 2, ...LONG }, () => {
    test("must be in the project; their size and number are limited", async (t) => {
      const gates = [
        { file: "link.md" },
        { file: "large.md", contains: "x" },
        { file: "tree/**/*.md" },
        { file: "wide/**/*.md" },
        { file: "large.md" },
      ];
      const phases = gates.map((check, index) => ({ id: `p${index}`, gate: [check] }));
      const { model, sandbox } = await stage(t, () => REST, {
        globalFiles: workflow("hello", phases, { autoContinue: false }),
      });
      writeFileSync(join(sandbox.root, "secret.md"), "A plan.");
      symlinkSync(join(sandbox.root, "secret.md"), join(sandbox.project, "link.md"));
      writeFileSync(join(sandbox.project, "large.md"), "x".repeat(2 << 20));
      mkdirSync(join(sandbox.project, "tree/0"), { recursive: true });
      for (let file = 0; file < 1000; file += 1) writeFileSync(join(sandbox.project, `tree/0/${file}`), "");
      // A folder is searched once, however many links lead to it; searched again for each link, it would exceed the
      // limit.
      for (let folder = 1; folder <= 20; folder += 1) symlinkSync("0", join(sandbox.project, `tree/${folder}`));
      for (let folder = 0; folder < 20; folder += 1) {
        mkdirSync(join(sandbox.project, `wide/${folder}`), { recursive: true });
        for (let file = 0; file < 1000; file += 1) writeFileSync(join(sandbox.project, `wide/${folder}/${file}`), "");
      }
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      for (const why of [
        /link\.md: it lies outside the project\./,
        /large\.md: .*(large|MiB|bytes)/,
        /: no file matches tree\/\*\*\/\*\.md\. /,
        /more than 20000 files would have to be looked through\./,
      ]) {
        // 20,000 files take their time on a busy machine.
        await rpc.promptAndSettle("/workflow :next");
        assert.match(userTexts(model.lastRequest()).at(-2) ?? "", why);
        await rpc.promptAndSettle("/workflow :skip");
      }
      await rpc.prompt("/workflow :next");
      assert.equal(states(await rpc.entries()).at(-1).active, false);
      await rpc.close();
    });

    test("are checked with limited work", { timeout: 120_000 }, async (t) => {
      const a = (/** @type {number} */ count) => "a".repeat(count);
      const gates = [
        { file: "a.txt", contains: "(?:a{1,400})!" },
        { file: "a.txt", contains: "(?:a?){30}b{1,20}!" },
        { file: "half.txt", contains: "(?:a{1,15})!" },
        { file: `names/${"{a,aa,aaa}".repeat(4)}!` },
        { file: "names/*a*a*a*a*a*a*a*a*a*a*a*a{*a,*aa}{*a,*aa}{*a,*aa}!" },
        { file: "blank/**" },
        { file: "blank/**", contains: "(a|b)+c" },
      ];
      const phases = gates.map((check, index) => ({ id: `p${index}`, gate: [check] }));
      const { model, sandbox } = await stage(t, () => REST, {
        globalFiles: workflow("hello", phases, { autoContinue: false }),
      });
      writeFileSync(join(sandbox.project, "a.txt"), a(1 << 20));
      writeFileSync(join(sandbox.project, "half.txt"), a(1 << 19));
      for (const folder of ["names", "blank"]) mkdirSync(join(sandbox.project, folder));
      for (let file = 0; file < 3000; file += 1) writeFileSync(join(sandbox.project, "names", a(120) + file), "");
      for (let file = 0; file < 300; file += 1)
        writeFileSync(join(sandbox.project, "blank", `${file}`), " ".repeat(1 << 20));
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(TASK);
      for (const [index, { file }] of gates.entries()) {
        const begin = performance.now();
        await rpc.promptAndSettle("/workflow :next");
        const took = performance.now() - begin;
        t.diagnostic(`${JSON.stringify(gates[index])}: ${Math.round(took)} ms`);
        assert.ok(took < 6_000, `${file}: ${took} ms`);
        const why = userTexts(model.lastRequest()).at(-2) ?? "";
        assert.match(why, /is not passed: /);
        const refused = !/half|\*a/.test(file);
        assert.equal(
          why.includes("it is too much work: narrow `file` or `contains`, or check it by a command (`run`)."),
          refused,
          why,
        );
        if (index + 1 < gates.length) await rpc.promptAndSettle("/workflow :skip");
      }
      await rpc.close();
    });
  });
}
