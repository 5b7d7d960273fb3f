// A run keeps the rules with which it started: it pauses when its files change, break or disappear.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { PI_VERSIONS, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, notices, states, statusTexts, step, storedResults, waiting, workflow } from "./harness/workflows.mjs";

/** @typedef {import("./harness/sandbox.mjs").Sandbox} Sandbox */

const REST = { text: "I rest." };
const TASK = "/workflow hello Add a route";
const FILES = {
  ...workflow("hello", [{ id: "plan", tools: { whitelist: ["read", "write"] }, write: [".pi/"] }, "@inner", "check"]),
  ...workflow("inner", ["build"], { show: "workflows" }),
};
const bash = { calls: [{ name: "bash", arguments: { command: "touch ran" } }] };
const write = (/** @type {string} */ path, /** @type {string} */ content) => ({
  calls: [{ name: "write", arguments: { path: `.pi/workflows/${path}`, content } }],
});
/** One call of each tool: the agent's run ends with them. */
const TRIES = {
  calls: [
    ...bash.calls,
    { name: "read", arguments: { path: "x" } },
    ...step("next", "loop", "cancel", "cancel", "status").calls,
  ],
};
const replaced = (/** @type {string} */ path, /** @type {string} */ from, /** @type {string} */ to) => {
  assert.ok(FILES[path].includes(from), path);
  return FILES[path].replace(from, to);
};
const RULES = "its rules are no longer those with which it was started";
const UNKNOWN = "the rules with which it was started are not known, for its stored state cannot be read in full";
const LATER = "a later version of this package stored it";
const UNREADABLE = "the files of the workflow “hello” cannot be read";
/** The reasons in the status line. @type {Record<string, string>} */
const BRIEF = {
  [RULES]: "its rules have changed",
  [UNREADABLE]: "its files cannot be read",
  [LATER]: "a later version stored it",
  [UNKNOWN]: "its rules are not known",
};

/**
 * Changes of files by an agent, and the reason for the pause after each.
 *
 * @type {Record<string, [path: string, text: string, why: string]>}
 */
const ATTACKS = {
  "broken YAML": ["hello/workflow.yaml", "name: [", UNREADABLE],
  "a tool list of its own": [
    "hello/plan.md",
    replaced("hello/plan.md", '"read","write"', '"read","write","bash"'),
    RULES,
  ],
  "a rule of a nested workflow": ["inner/workflow.yaml", `${FILES["inner/workflow.yaml"]}loopable: false\n`, RULES],
};

for (const version of VERSIONS) {
  suite(`pi ${version}: a run`, { concurrency: 2 }, () => {
    for (const [what, [path, text, why]] of Object.entries(ATTACKS)) {
      test(`pauses when an agent writes ${what}, in this process and in the next`, async (t) => {
        const { sandbox } = await stage(t, [write(path, text), REST, TRIES, TRIES], { projectFiles: FILES });
        const first = await startRpc({ version, sandbox });
        await first.promptAndSettle(TASK);
        assert.equal(statusTexts(first).at(-1), "The hello > 🔹 Plan [1/3]");
        await first.prompt("/workflow :check");
        assert.match(statusTexts(first).at(-1) ?? "", new RegExp(`^⏸ .*\\(paused: ${BRIEF[why]}\\)$`));
        assert.match(notices(first).at(-1) ?? "", new RegExp(`is paused: ${why}\\.`));
        const refused = async (/** @type {import("./harness/rpc.mjs").Rpc} */ rpc) => {
          await rpc.promptAndSettle("Go on");
          const results = storedResults(await rpc.entries()).slice(-7);
          assert.equal(results.length, 7);
          for (const result of results)
            assert.match(result, new RegExp(`The workflow is paused: ${why}\\. All tool calls are refused`));
          assert.equal(existsSync(join(sandbox.project, "ran")), false);
          const list = states(await rpc.entries());
          assert.deepEqual([list.length, list.at(-1).active], [1, true]);
        };
        await refused(first);
        await first.close();

        const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
        assert.match(statusTexts(rpc).at(-1) ?? "", new RegExp(`^⏸ .*\\(paused: ${BRIEF[why]}\\)$`));
        assert.match(notices(rpc).at(-1) ?? "", new RegExp(`is paused: ${why}\\.`));
        await refused(rpc);
        await rpc.prompt("/workflow :cancel");
        assert.equal(notices(rpc).at(-1), "info: Workflow cancelled.");
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      });
    }

    test("pauses when its folder or its whole root is gone, or its project is not trusted any more", async (t) => {
      const { sandbox } = await stage(t, () => REST, { projectFiles: FILES });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle(TASK);
      await first.close();
      const shown = async (/** @type {boolean | undefined} */ trust = undefined) => {
        const rpc = await startRpc({ version, sandbox, trust, args: ["--continue"] });
        const status = statusTexts(rpc).at(-1);
        await rpc.close();
        return status;
      };
      assert.equal(await shown(), waiting("The hello > 🔹 Plan [1/3]"));
      assert.equal(await shown(false), `⏸ hello (paused: ${BRIEF[UNREADABLE]})`);
      const root = join(sandbox.project, ".pi/workflows");
      renameSync(root, join(sandbox.root, "away"));
      assert.equal(await shown(), `⏸ hello (paused: ${BRIEF[UNREADABLE]})`);
      // The same files in the other root are other rules: global commands run without a question.
      mkdirSync(sandbox.agent, { recursive: true });
      rmSync(join(sandbox.agent, "workflows"), { recursive: true, force: true });
      renameSync(join(sandbox.root, "away"), join(sandbox.agent, "workflows"));
      assert.match((await shown()) ?? "", new RegExp(`\\(paused: ${BRIEF[RULES]}\\)$`));
    });

    test("reports the reason of a pause in print mode, with an exit status", async (t) => {
      const { sandbox } = await stage(t, () => REST, { projectFiles: FILES });
      const first = await startRpc({ version, sandbox });
      await first.promptAndSettle(TASK);
      await first.close();
      writeFileSync(join(sandbox.project, ".pi/workflows/hello/workflow.yaml"), "name: [");
      const { code, stderr } = await runPrint({ version, sandbox, prompt: "Go on", args: ["--continue"] });
      assert.equal(code, 1);
      assert.equal(stderr.trimEnd().split("\n").at(-1), `Workflow hello: paused: ${UNREADABLE}.`);
      assert.equal(custom(readSession(sandbox), "workflow:state").length, 1);
    });
  });
}

test("the status line shows a pause in the terminal", { timeout: 60_000 }, async (t) => {
  const { sandbox } = await stage(t, () => REST, {
    projectFiles: { ...FILES, ...workflow("hello", ["plan"], { autoContinue: false }) },
  });
  const tui = await startTui({ version: PI_VERSIONS[0], sandbox });
  await tui.submit(TASK);
  await tui.waitFor(/The hello > 🔹 Plan \[1\/1\]/);
  writeFileSync(join(sandbox.project, ".pi/workflows/hello/workflow.yaml"), "name: [");
  await tui.submit("/workflow :check");
  await tui.waitFor(/⏸ hello \(paused: its files cannot be read\)/);
  await tui.waitFor(/All tool calls are refused until the files are there again/);
});

/**
 * Writes a session with these state entries, each as JSON.
 * @param {Sandbox} sandbox
 * @param {string[]} list
 */
function writeSession(sandbox, list) {
  const timestamp = "2026-01-02T03:04:05.000Z";
  const header = { type: "session", version: 3, id: "0197000001970000", timestamp, cwd: sandbox.project };
  const id = (/** @type {number} */ index) => (index < 0 ? null : String(index).padStart(8, "0"));
  const entries = list.map((data, index) => {
    const entry = { type: "custom", customType: "workflow:state", id: id(index), parentId: id(index - 1), timestamp };
    return JSON.stringify(entry).replace("{", () => `{"data":${data},`);
  });
  const file = join(sandbox.root, "hostile.jsonl");
  writeFileSync(file, [JSON.stringify(header), ...entries].map((line) => `${line}\n`).join(""));
  return file;
}

/** Returns a stored run with additional fields. @param {Record<string, unknown>} [more] */
const state = (more) =>
  JSON.stringify({
    active: true,
    workflowKey: "hello",
    currentPath: [AT],
    globalStepCount: 0,
    taskId: "t",
    taskDescription: "d",
    startedAt: 5,
    ...more,
  });
const AT = { workflowKey: "hello", phaseIndex: 0 };
/** Returns a stored run with this progress, as JSON. @param {string} progress */
const withProgress = (progress) => state().replace("{", () => `{"progress":${progress},`);
const visits = (/** @type {number} */ count) =>
  withProgress(`{"visits":{${Array.from({ length: count }, (_, n) => `"hello:${n}":{"startedAt":1,"passes":1}`)}}}`);

/** Entries of a session, and the expected notice. @type {Record<string, () => [list: string[], told: RegExp]>} */
const HOSTILE = {
  "a path of ten thousand workflows": () => [
    [state({ currentPath: Array(10_000).fill(AT) })],
    /its `currentPath` has more than 101 items/,
  ],
  "three hundred thousand visits": () => [[state(), visits(300_000)], /an entry is longer than 4194304 bytes/],
  "six thousand visits": () => [[visits(6000)], /its `visits` has more than 5000 items/],
  "a hundred thousand entries without a workflow": () => [
    [state(), ...Array(100_000).fill("{}")],
    /the newest 10000 entries name no workflow/,
  ],
  "five megabytes of text": () => [
    [state(), state({ taskDescription: "x".repeat(5_000_000) })],
    /an entry is longer than 4194304 bytes/,
  ],
  "ten megabytes of text": () => [
    [state(), state({ taskDescription: "x".repeat(10_000_000) })],
    /an entry is longer than 4194304 bytes/,
  ],
  "three million line ends": () => [
    [state(), state({ taskDescription: "\n".repeat(3_000_000) })],
    /an entry is longer than 4194304 bytes/,
  ],
};

suite("a session that stores", { concurrency: 1 }, () => {
  for (const [what, make] of Object.entries(HOSTILE)) {
    test(
      `${what} opens in time with a run that is held until it is cancelled`,
      { timeout: 60_000, ...LONG },
      async (t) => {
        const { sandbox } = await stage(t, [bash, bash, REST], { globalFiles: FILES });
        const rpc = await startRpc({ version: PI_VERSIONS[0], sandbox });
        const [list, told] = make();
        const sessionPath = writeSession(sandbox, list);
        const begun = performance.now();
        await rpc.send({ type: "switch_session", sessionPath }, { timeoutMs: 20_000 });
        assert.equal(notices(rpc).length, 1, "the user is told once");
        await rpc.prompt("/workflow :skip");
        const took = performance.now() - begun;
        t.diagnostic(`${Math.round(took)} ms`);
        assert.ok(took < 15_000, `${took} ms`);
        assert.match(statusTexts(rpc).at(-1) ?? "", /^⏸ .*\(paused: its state cannot be read\)/);
        await rpc.promptAndSettle("Go on");
        assert.match(storedResults(await rpc.entries())[0], told);
        const [first, skipped, ...others] = notices(rpc);
        assert.match(first, told);
        assert.equal(skipped, first, "the control says why it does nothing");
        assert.deepEqual(others, [first], "and a message to the agent is answered with it, once");
        await rpc.prompt("/cancel-workflow");
        assert.equal(statusTexts(rpc).at(-1), undefined);
        await rpc.promptAndSettle("Go on");
        assert.equal(existsSync(join(sandbox.project, "ran")), true);
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      },
    );
  }

  for (const depth of [120, 500, 100_000]) {
    test(
      `${depth} nested lists in a run's progress has that run, paused`,
      { timeout: 60_000, ...(depth === 120 ? {} : LONG) },
      async (t) => {
        const deep = "[".repeat(depth) + "]".repeat(depth);
        const { sandbox } = await stage(t, () => TRIES, { globalFiles: FILES });
        const rpc = await startRpc({ version: PI_VERSIONS[0], sandbox });
        for (const [progress, why] of [
          [`{"version":${deep}}`, LATER],
          ...[
            deep,
            `{"visits":${deep}}`,
            `{"future":${deep}}`,
            `{"seal":${deep}}`,
            `{"paused":${deep},"version":1}`,
          ].map((text) => [text, UNKNOWN]),
        ]) {
          // The newest entry counts, not the sound one before it.
          const list = [state(), withProgress(progress)];
          await rpc.send({ type: "switch_session", sessionPath: writeSession(sandbox, list) });
          const held = `⏸ The hello > 🔹 Plan [1/3] (paused: ${BRIEF[why]})`;
          assert.equal(statusTexts(rpc).at(-1), held, progress.slice(0, 20));
          await rpc.promptAndSettle("Go on");
          // pi cannot hand over entries that are nested so deep; the file has the results.
          const lines = readFileSync(join(sandbox.root, "hostile.jsonl"), "utf8")
            .split("\n")
            .filter((line) => line.includes('"role":"toolResult"'));
          const results = storedResults(lines.map((line) => JSON.parse(line)));
          assert.equal(results.length, 7);
          for (const result of results)
            assert.ok(result.includes(`The workflow is paused: ${why}. All tool calls are refused`), result);
          assert.equal(existsSync(join(sandbox.project, "ran")), false);
          assert.equal(statusTexts(rpc).at(-1), held);
        }
        await rpc.prompt("/workflow :resume");
        assert.equal(statusTexts(rpc).at(-1), "The hello > 🔹 Plan [1/3]");
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      },
    );
  }
});
