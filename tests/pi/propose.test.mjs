// Workflows that the agent proposes: the user is asked, and what the user allows starts when the agent is at rest.

import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { REPO, readSession } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { custom, ends, notices, step, storedResults, workflow } from "./harness/workflows.mjs";

const TOOL = "workflow_propose";
const REST = { text: "I rest." };
const [LATER, START, OTHER, NEVER] = ["Not now", "Start it", "Start it with other values", "Never in this session"];

/** Fields of a workflow that is offered. */
const OFFERED = {
  whenToUse: "For faults that a test can show.",
  autoContinue: false,
  budget: { turns: "input.most" },
  inputs: {
    scope: { type: "choice", options: ["api", "web"], default: "api" },
    most: { type: "number", min: 1, max: 90, default: 20 },
  },
};

/** One answer of the model that proposes. @param {object} [more] other arguments */
const propose = (more = {}) => ({
  text: "This looks like work for a workflow.",
  calls: [{ name: TOOL, arguments: { workflow: "fix", task: "Repair the login", ...more } }],
});

/** Answers the dialogs in order; those behind the last answer are cancelled. @param {(string | undefined)[]} answers */
function answering(answers) {
  /** @type {any[]} */
  const dialogs = [];
  const onDialog = (/** @type {any} */ dialog) => answers[dialogs.push(dialog) - 1];
  return { dialogs, onDialog };
}

/**
 * Prompts the agent, and resolves when it has come to rest this number of times.
 *
 * @param {import("./harness/rpc.mjs").Rpc} rpc
 * @param {string} message
 * @param {number} times
 */
async function settles(rpc, message, times) {
  const from = rpc.records.length;
  await rpc.prompt(message);
  let count = 0;
  const is = (/** @type {any} */ { type }) => type === "agent_settled" && ++count === times;
  await rpc.waitFor(is, { from, what: `rest ${times} times` });
}

/** The answers to proposals that a session stores. @param {any[]} entries @returns {string[]} */
const stored = (entries) => custom(entries, "workflow:proposal").map(({ answer }) => answer);

for (const version of VERSIONS) {
  suite(`pi ${version}: workflow_propose`, { concurrency: 2 }, () => {
    test("shows the user everything, and the run starts when the agent is at rest", async (t) => {
      const script = [propose({ inputs: { most: 30 } }), step("next"), step("next"), REST, REST];
      const { model, sandbox } = await stage(t, script, { globalFiles: workflow("fix", ["test", "change"], OFFERED) });
      const { dialogs, onDialog } = answering([START]);
      const rpc = await startRpc({ version, sandbox, onDialog });
      await settles(rpc, "The login is broken", 2);
      const [{ title, options }] = dialogs;
      assert.deepEqual([dialogs.length, options], [1, [LATER, START, OTHER, NEVER]]);
      assert.match(title, /^Start "The fix"\?\nThe agent proposes "The fix" \(\/workflow fix, /);
      assert.match(title, /\nTask:\n│ Repair the login\nInput most, which sets a bound of the run:\n│ 30\n/);
      // The tool is there without a run only, and nothing else in the prompt tells of it.
      const [tools] = model.requests.map(({ tools }) => tools?.find(({ function: { name } }) => name === TOOL));
      assert.match(tools?.function.description ?? "", /\n- fix: For faults that a test can show\. Inputs: scope /);
      assert.ok((tools?.function.description.length ?? 0) <= 4000);
      assert.doesNotMatch(model.messagesText(0), /workflow_propose/);
      assert.deepEqual(
        model.requests.slice(0, 4).map((_, index) => model.toolNames(index).includes(TOOL)),
        [true, false, false, true],
      );
      const entries = await rpc.entries();
      assert.deepEqual(stored(entries), ["start", "started"]);
      const [first] = custom(entries, "workflow:state");
      assert.deepEqual([first.taskDescription, first.progress.proposed], ["Repair the login", true]);
      assert.deepEqual(first.progress.inputs, { most: "30", scope: "api" });
      assert.equal(ends(entries).length, 1);
      assert.match(storedResults(entries)[0], /^The user starts the workflow "fix"\./);
      await rpc.promptAndSettle("Thanks");
      assert.ok(model.toolNames(-1).includes(TOOL), "it is back");
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("a project's workflow needs the consent to its commands all the same", async (t) => {
      const gate = [{ run: "true" }];
      const { model, sandbox } = await stage(t, [propose(), REST], {
        projectFiles: workflow("fix", [{ id: "test", gate }], OFFERED),
      });
      const { dialogs, onDialog } = answering([START, "No"]);
      const rpc = await startRpc({ version, sandbox, trust: true, onDialog });
      await rpc.promptAndSettle("Go");
      assert.match(dialogs[0].title, /\nGate "Test" runs:\n│ true/);
      assert.match(dialogs[1].title, /^Start "The fix"\? Its gates run commands:/);
      assert.deepEqual([stored(await rpc.entries()), model.requests.length], [["later"], 2]);
      await rpc.close();
    });

    test("a start that a kill prevents is told once, and does not come", async (t) => {
      const { sandbox } = await stage(t, [propose(), REST], {
        globalFiles: workflow("fix", ["test"], OFFERED),
        files: { "slow.mjs": "export default (pi) => pi.on('turn_end', () => new Promise(() => {}));" },
      });
      const { onDialog } = answering([START]);
      const extension = [join(sandbox.project, "slow.mjs"), REPO];
      const first = await startRpc({ version, sandbox, extension, onDialog });
      await first.prompt("Go");
      await first.waitFor(({ type, toolName }) => type === "tool_execution_end" && toolName === TOOL);
      await first.kill();
      assert.deepEqual(stored(readSession(sandbox)), ["start"]);
      const second = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.match(notices(second).join("\n"), /The workflow "fix" that you let start is not started/);
      assert.deepEqual(custom(await second.entries(), "workflow:state"), []);
      await second.close();
      const third = await startRpc({ version, sandbox, args: ["--continue"] });
      assert.doesNotMatch(notices(third).join("\n"), /not started/);
      await third.close();
    });

    test("a tool that another extension has taken away stays away", LONG, async (t) => {
      const { model, sandbox } = await stage(t, () => REST, {
        globalFiles: workflow("fix", ["test"], OFFERED),
        files: {
          "other.mjs":
            "let is = false; export default (pi) => pi.on('before_agent_start', () => { if (!is) pi.setActiveTools(pi.getActiveTools().filter((name) => name !== 'workflow_propose')); is = true; });",
        },
      });
      const extension = [join(sandbox.project, "other.mjs"), REPO];
      const rpc = await startRpc({ version, sandbox, extension, onDialog: () => true });
      await rpc.promptAndSettle("Go");
      await rpc.promptAndSettle("/workflow fix it");
      await rpc.prompt("/cancel-workflow");
      await rpc.promptAndSettle("Go");
      assert.equal(model.requests.length, 3);
      assert.ok(model.requests.every((_, index) => !model.toolNames(index).includes(TOOL)));
      await rpc.close();
    });
  });
}
