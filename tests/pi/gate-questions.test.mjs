// Gates: what they ask of the person, and what happens while nobody has answered yet.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gated, lastPath, progress } from "./harness/gates.mjs";
import { PI_VERSIONS, readSession } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { countdownLines, pauses, phaseFile, step, toolResults, userTexts, workflow } from "./harness/workflows.mjs";

const REST = { text: "I rest." };
const next = step("next");
const TASK = "/workflow hello Add a route";
const ONCE = "Yes, once";
const NOBODY = () => new Promise(() => {});
const isQuestion = (/** @type {any} */ { method }) => method === "select";
const RUN = [{ run: "echo run >> log" }];
const APPROVE = [{ approve: "Ship it?" }];
const QUIET = { autoContinue: false };

for (const version of PI_VERSIONS) {
  suite(`pi ${version}: an open question of a gate`, { concurrency: 2 }, () => {
    for (const [what, gate, yes] of /** @type {[string, object[], string][]} */ ([
      ["the consent to a command", RUN, ONCE],
      ["an approval", APPROVE, "Yes"],
    ])) {
      test(`about ${what} outlasts an abort and a kill: it is asked again`, async (t) => {
        const { sandbox } = await stage(t, [next, next, next, REST], { projectFiles: gated(gate) });
        const rpc = await startRpc({ version, sandbox, onDialog: NOBODY });
        const settled = rpc.waitForSettled();
        await rpc.prompt(TASK);
        await rpc.waitFor(isQuestion);
        await rpc.send({ type: "abort" });
        await settled;
        assert.deepEqual([lastPath(await rpc.entries()), pauses(await rpc.entries()).filter(Boolean).length], ["hello:0", 1]);

        const from = rpc.records.length;
        await rpc.prompt("Go on");
        await rpc.waitFor(isQuestion, { from });
        await rpc.kill();
        const { gateAttempts, visits } = progress(readSession(sandbox));
        assert.deepEqual([gateAttempts, visits["hello:0"].evidence], [undefined, undefined]);
        assert.equal(existsSync(join(sandbox.project, "log")), false);

        const again = await startRpc({ version, sandbox, args: ["--continue"], onDialog: () => yes });
        await again.promptAndSettle("Go on");
        assert.equal(lastPath(await again.entries()), "hello:1");
        await again.close();
      });
    }

    test("keeps the agent from going on by itself", async (t) => {
      const { model, sandbox } = await stage(t, () => REST, {
        globalFiles: gated(APPROVE, {}, { autoContinue: { delaySeconds: 1 } }),
      });
      const rpc = await startRpc({ version, sandbox, onDialog: NOBODY });
      await rpc.promptAndSettle(TASK);
      void rpc.prompt("/workflow :next");
      await rpc.waitFor(isQuestion);
      const shown = countdownLines(rpc).length;
      await sleep(1300);
      assert.deepEqual([model.requests.length, countdownLines(rpc).length], [1, shown]);
      assert.equal(countdownLines(rpc).at(-1), undefined);
      await rpc.close();
    });

    test("is closed by :pause, which is the only pause", async (t) => {
      const { model, sandbox } = await stage(t, [next, REST], { globalFiles: gated(APPROVE) });
      const rpc = await startRpc({ version, sandbox, onDialog: NOBODY });
      const settled = rpc.waitForSettled();
      await rpc.prompt(TASK);
      await rpc.waitFor(isQuestion);
      await rpc.prompt("/workflow :pause");
      await settled;
      assert.match(toolResults(model.lastRequest())[0], /^The workflow is paused: you asked for it\./);
      assert.deepEqual(pauses(await rpc.entries()).filter(Boolean), [{ kind: "person" }]);
      await rpc.close();
    });
  });

  suite(`pi ${version}: the answer to a gate`, { concurrency: 2 }, () => {
    test("may be no after a while, and why: the agent is told", async (t) => {
      const { model, sandbox } = await stage(t, [next, REST, REST], { globalFiles: gated(APPROVE) });
      const answers = ["Not yet", "No", "Name the risks"];
      const rpc = await startRpc({ version, sandbox, onDialog: () => answers.shift() });
      await rpc.promptAndSettle(TASK);
      await rpc.promptAndSettle("/workflow :resume");
      assert.match(userTexts(model.lastRequest()).at(-2) ?? "", /^✗ .* Ship it\?: the person said no: Name the risks\./);
      const { gateAttempts, paused } = progress(await rpc.entries());
      assert.deepEqual([gateAttempts, paused], [{ "hello:0": 1 }, undefined]);
      await rpc.close();
    });
  });

  suite(`pi ${version}: consent is asked for what is the project's`, { concurrency: 2 }, () => {
    const hidden = { show: "workflows" };
    const shared = { "_shared/look.md": phaseFile({ id: "look", gate: RUN }) };
    /** @type {[string, Record<string, Record<string, string>>, number][]} */
    const CASES = [
      [
        "a project's workflow in a global one",
        { globalFiles: workflow("hello", ["@inner"], QUIET), projectFiles: workflow("inner", [{ id: "b", gate: RUN }], hidden) },
        1,
      ],
      [
        "not for a global workflow in a project's",
        { projectFiles: workflow("hello", ["@inner"], QUIET), globalFiles: workflow("inner", [{ id: "b", gate: RUN }], hidden) },
        0,
      ],
      [
        "a phase that the project shares",
        { projectFiles: { ...workflow("hello", [], { ...QUIET, phases: ["../_shared/look.md"] }), ...shared } },
        1,
      ],
      ["a project's workflow in the place of a global one", { globalFiles: gated(RUN), projectFiles: gated(RUN) }, 1],
    ];
    for (const [what, files, questions] of CASES) {
      test(what, async (t) => {
        const { sandbox } = await stage(t, [next, REST], files);
        let asked = 0;
        const rpc = await startRpc({ version, sandbox, onDialog: () => ((asked += 1), ONCE) });
        await rpc.promptAndSettle(TASK);
        assert.equal(asked, questions);
        assert.equal(readFileSync(join(sandbox.project, "log"), "utf8"), "run\n");
        await rpc.close();
      });
    }
  });

  suite(`pi ${version}: a gate's questions in the terminal`, { concurrency: 2 }, () => {
    for (const [columns, rows] of [
      [110, 36],
      [40, 12],
    ]) {
      test(`of ${columns} by ${rows}`, async (t) => {
        const gate = [
          { run: "sleep 60 && echo a command line that is longer than a small terminal is wide", timeout: 0.3, label: "it" },
        ];
        const approval = [{ approve: "Ship this plan, with all its risks, to the people?" }];
        const phases = [{ id: "plan", gate, gateAttempts: 1 }, { id: "build", gate: approval }, "check"];
        const { model, sandbox } = await stage(t, () => REST, { projectFiles: workflow("hello", phases, QUIET) });
        const tui = await startTui({ version, sandbox, columns, rows });
        await tui.submit(TASK);
        await tui.waitFor("I rest.");
        await tui.submit("/workflow :next");
        // A small terminal has no room for all of it; what Enter alone would choose does no harm.
        const screen = await tui.waitFor(/Allow it\?|Yes, once/);
        if (rows > 20) assert.match(screen, /→ No\n {3}Yes, once\n[^]* {3}Yes, always/);
        await tui.press("Down", "Enter");
        await tui.waitFor(/paused in 🔹\s+Plan: the gate was not passed/);
        await tui.submit("/workflow :skip");
        await tui.waitFor(/Build \[2\/3\]/);
        await tui.submit("/workflow :next");
        await tui.waitFor(/→ Not yet/);
        await tui.press("Down", "Down", "Enter");
        await tui.waitFor("Why not?");
        await tui.type("Name the risks");
        await tui.press("Enter");
        await model.waitForRequests(3);
        assert.match(userTexts(model.lastRequest()).at(-2) ?? "", /the person said no: Name the risks\./);
        await tui.submit("/workflow :next");
        await tui.waitFor(/→ Not yet/);
        await tui.press("Enter");
        await tui.waitFor(/Your next message resumes it/);
        await tui.close();
      });
    }
  });
}
