// The commands `/workflow NAME TASK` and `/cancel-workflow`.

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import {
  SHORT_COUNTDOWN,
  contextPrompt,
  countdownLines,
  custom,
  ends,
  nextUntilDone,
  notices,
  paths,
  shortCountdownIsOver,
  state,
  states,
  statusTexts,
  step,
  steps,
  userTexts,
  withoutIds,
  workflow,
} from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["plan", "build"]);
const ADA = workflow("ada", ["think"], { name: "Ada's way", commandName: "think-first" });
const REST = { text: "I rest." };

for (const version of VERSIONS) {
  suite(`pi ${version}: /workflow`, { concurrency: 2 }, () => {
    test("without a name lists the workflows; a start that fails shows the reason", async (t) => {
      const { model, sandbox } = await stage(t, [], {
        globalFiles: {
          ...HELLO,
          ...ADA,
          ...workflow("_hidden", ["x"], { show: "workflows", commandName: undefined, initialMessage: undefined }),
          ...workflow("hidden-too", ["x"], { show: "workflows" }),
        },
        projectFiles: workflow("local", ["a"], { name: "Local" }),
      });
      const rpc = await startRpc({ version, sandbox });
      const said = async (/** @type {string} */ line) => {
        const before = notices(rpc).length;
        const response = await rpc.prompt(line);
        assert.equal(response.success, true);
        return notices(rpc).slice(before);
      };
      const usage =
        "info: Usage: /workflow {name} {description}\n\nAvailable workflows:\n  think-first — Ada's way\n  hello — The hello\n  local — Local";
      assert.deepEqual(await said("/workflow"), [usage]);
      assert.deepEqual(await said("/workflow   \t "), [usage]);
      assert.deepEqual(await said("/workflow hello"), ["warning: Usage: /workflow hello {description}"]);
      assert.deepEqual(await said("/workflow hello  \n "), ["warning: Usage: /workflow hello {description}"]);
      assert.deepEqual(await said("/workflow nope"), ["warning: Usage: /workflow nope {description}"]);
      const unknown = (/** @type {string} */ name) => [
        `error: Unknown workflow: "${name}". Available: think-first, hello, local`,
      ];
      assert.deepEqual(await said("/workflow nope Do it"), unknown("nope"));
      assert.deepEqual(await said("/workflow Hello Do it"), [`${unknown("Hello")[0]}\nDid you mean "hello"?`]);
      assert.deepEqual(await said("/workflow ada Do it"), unknown("ada"));
      assert.deepEqual(await said("/workflow _hidden Do it"), unknown("_hidden"));
      assert.deepEqual(await said("/workflow hidden-too Do it"), [
        'error: "hidden-too" is a subworkflow that can only run as part of another workflow. It cannot be started directly.',
      ]);
      assert.deepEqual(await said("/cancel-workflow"), ["info: No active workflow to cancel."]);
      assert.deepEqual(states(await rpc.entries()), []);
      assert.equal(model.requests.length, 0);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("links lead anywhere in the user's own folder, and elsewhere what is passed over is told", async (t) => {
      const { sandbox, model } = await stage(t, () => REST, { projectFiles: workflow("local", ["a"]) });
      const dots = join(sandbox.root, "dots");
      const own = join(sandbox.agent, "workflows");
      for (const [path, text] of Object.entries({ ...workflow("folder", ["x"]), ...workflow("files", ["y"]) })) {
        mkdirSync(dirname(join(dots, path)), { recursive: true });
        writeFileSync(join(dots, path), text);
      }
      symlinkSync("..", join(dots, "folder/up"));
      mkdirSync(join(own, "files"), { recursive: true });
      symlinkSync(join(dots, "folder"), join(own, "folder"));
      for (const file of ["workflow.yaml", "y.md"]) symlinkSync(join(dots, "files", file), join(own, "files", file));
      symlinkSync(join(dots, "folder"), join(sandbox.project, ".pi/workflows/theirs"));
      const rpc = await startRpc({ version, sandbox, trust: true });
      await rpc.prompt("/workflow theirs Do it");
      assert.deepEqual(notices(rpc), [
        'error: Unknown workflow: "theirs". Available: files, folder, local\nNot read: .pi/workflows/theirs (a link that leads nowhere, or out of its folder: only workflows in your own folder can lie elsewhere)',
      ]);
      for (const name of ["folder", "files"]) {
        await rpc.promptAndSettle(`/workflow ${name} Do it`);
        await rpc.prompt("/workflow :cancel");
      }
      assert.match(model.messagesText(0), /Do x for Do it/);
      assert.match(model.messagesText(1), /Do y for Do it/);
      await rpc.close();
    });

    test("reports that there are no workflows", async (t) => {
      const { sandbox } = await stage(t, []);
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow");
      await rpc.prompt("/workflow hello Do it");
      assert.deepEqual(notices(rpc), [
        "info: Usage: /workflow {name} {description}\n\nAvailable workflows:\n  none yet; /workflow :new NAME writes one",
        'error: Unknown workflow: "hello". Available: (none)',
      ]);
    });

    test("takes events into account that occurred while its question was open", LONG, async (t) => {
      const { sandbox } = await stage(t, [REST, ...steps("next", "next"), { text: "Done." }, REST], {
        globalFiles: HELLO,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello One");
      /** @type {((answer: boolean) => void)[]} */
      const answers = [];
      rpc.onDialog(() => new Promise((resolve) => answers.push(resolve)));
      const second = rpc.prompt("/workflow hello Two");
      const third = rpc.prompt("/workflow hello Three");
      await rpc.waitFor(() => rpc.ui("confirm").length === 2, { what: "both questions" });
      assert.equal(answers.length, 2);
      // The run ends while the question is open.
      await rpc.promptAndSettle("Go on");
      const settled = rpc.waitForSettled();
      answers[1](true);
      await third;
      answers[0](false);
      await second;
      await settled;
      const entries = await rpc.entries();
      assert.deepEqual(
        states(entries).map(({ taskDescription, active }) => [taskDescription, active]),
        [
          ["One", true],
          ["One", true],
          ["One", false],
          ["One", false],
          ["Three", true],
        ],
      );
      assert.equal(ends(entries).length, 1);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("while the agent works sends the prompt when it has finished, with the context prompt", async (t) => {
      const { model, sandbox } = await stage(
        t,
        (request, index) => (index === 0 ? { text: "Thinking.", delayMs: 700 } : nextUntilDone(request)),
        { globalFiles: HELLO },
      );
      const rpc = await startRpc({ version, sandbox });
      const settled = rpc.waitForSettled();
      await rpc.prompt("What is up?");
      await model.waitForRequests(1);
      const response = await rpc.prompt("/workflow hello Add a route");
      assert.equal(response.success, true);
      assert.equal(model.requests.length, 1);
      await settled;
      await rpc.waitFor(() => model.requests.length >= 4, { what: "the run to go on" });
      assert.deepEqual(paths(states(await rpc.entries())), ["hello:0", "hello:1", "hello:1", "hello:1"]);
      assert.equal(userTexts(model.requests[1])[0], "What is up?");
      // The agent run already has a context prompt, so this message carries one.
      assert.match(
        userTexts(model.requests[1])[1],
        /^Start The hello: Add a route\n\n\[Workflow path: [^]*\n\*\*What to do in this phase:\*\*\nDo plan for Add a route\.\n/,
      );
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.deepEqual(countdownLines(rpc), []);
    });
  });

  suite(`pi ${version}: /cancel-workflow`, { concurrency: 4 }, () => {
    const CANCELLED = "❌ **Workflow Cancelled**\n\n**Task:** Add a route\n**Task ID:** TASK";

    test("ends a run at once with a message; the countdown stops and no agent run starts", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [step("next"), REST, bashCall("echo free")], {
        globalFiles: workflow("hello", ["plan", { id: "build", tools: { whitelist: [] } }], {
          completionMessage: "not for this",
        }),
        pace: SHORT_COUNTDOWN,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.equal(countdownLines(rpc).length, 1);
      await rpc.prompt("/cancel-workflow");
      const entries = await rpc.entries();
      const list = states(entries);
      assert.deepEqual(list.slice(2), [
        {
          ...state("hello", "Add a route"),
          currentPath: list[1].currentPath,
          globalStepCount: 1,
          active: false,
          cancelled: true,
          completionNotified: true,
        },
      ]);
      const [{ taskId }] = custom(entries, "workflow:state");
      const [complete] = ends(entries);
      assert.deepEqual(complete, { content: complete.content, taskId, cancelled: true, workflow: "The hello" });
      assert.equal(withoutIds(complete.content), CANCELLED);
      assert.deepEqual(notices(rpc), ["info: Workflow cancelled."]);
      assert.equal(statusTexts(rpc).at(-1), undefined);
      assert.equal(countdownLines(rpc).at(-1), undefined);
      await shortCountdownIsOver();
      assert.equal(countdownLines(rpc).length, 2);
      assert.equal(model.requests.length, 2, "the agent is not woken");

      await rpc.prompt("/cancel-workflow");
      assert.deepEqual(notices(rpc).slice(1), ["info: No active workflow to cancel."]);
      await rpc.promptAndSettle("Look");
      assert.match(model.messagesText(), /\nfree\n|\nfree$/m, "tools are free again");
      assert.doesNotMatch(model.messagesText(), /Workflow Cancelled/);
      assert.equal(contextPrompt(model.lastRequest()), contextPrompt(model.requests[0]), "no further context prompt");
    });

    test("ignores its arguments", async (t) => {
      const { sandbox } = await stage(t, [REST], { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello Add a route");
      await rpc.prompt("/cancel-workflow now please");
      assert.deepEqual(notices(rpc), ["info: Workflow cancelled."]);
    });
  });

  suite(`pi ${version}: completions`, () => {});
}

/** @param {string} command */
function bashCall(command) {
  return { calls: [{ name: "bash", arguments: { command } }] };
}
