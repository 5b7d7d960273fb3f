// The items of a list are worked off once each and in order, whatever happens to the process and the session meanwhile.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { progress } from "./harness/gates.mjs";
import { readSession, sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { TRAVEL, withTravel } from "./harness/travel.mjs";
import { leave, paths, phaseFile, states, statusTexts, workflow } from "./harness/workflows.mjs";

/** Some are equal, and some look like something else. */
const TASKS = ["same", "same", "{task}"];
const KILLS = 30;

/** A plan that gives a list, and a group that does something, asks the user, and checks, for each item of it. */
const FILES = {
  ...workflow("list", [{ id: "plan", outputs: { tasks: { type: "list" } } }], {
    autoContinue: false,
    phases: [
      "plan.md",
      {
        id: "work",
        name: "Work",
        each: "output.plan.tasks",
        phases: [
          "do.md",
          {
            phases: [{ ask: "Keep {item} ({itemNumber}/{itemCount})?", id: "keep", outcomes: { keep: "next" } }],
            id: "asks",
          },
          "check.md",
        ],
      },
      "last.md",
    ],
  }),
  "list/do.md": phaseFile({ id: "do", instructions: "Do {item} ({itemNumber} of {itemCount})." }),
  "list/check.md": phaseFile({ id: "check" }),
  "list/last.md": phaseFile({ id: "last" }),
};
const WHOLE = [
  "list:0",
  ...TASKS.flatMap((_, item) => [
    `list:1 list//1@${item}:0`,
    `list:1 list//1@${item}:1 list//1.1:0`,
    `list:1 list//1@${item}:2`,
  ]),
  "list:2",
];
const plan = leave("", { outputs: { tasks: TASKS }, summary: "Planned." });
const next = leave("", { summary: "Done." });
const REST = { text: "I rest." };
const HANG = { hang: true };

/** The paths of the run, without repetitions. @param {any[]} entries */
const way = (entries) =>
  paths(states(entries).filter(({ active }) => active)).filter((path, index, all) => path !== all[index - 1]);

/** The entries from the first one to the newest. @param {any[]} entries */
function branch(entries) {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const found = [];
  for (let entry = entries.at(-1); entry; entry = byId.get(entry.parentId)) found.unshift(entry);
  return found;
}

for (const version of VERSIONS) {
  suite(`pi ${version}: the items of a list`, { concurrency: 2 }, () => {
    test("are each visited once over kills in a phase, in a dialog and in a later phase of an item", async (t) => {
      const calls = [
        plan,
        HANG, // killed in the first phase of the first item
        next, // killed in the dialog
        next,
        next,
        next,
        next,
        HANG, // killed in the last phase of the last item
        next,
        next,
        REST,
      ];
      const { model, sandbox } = await stage(t, calls, { globalFiles: FILES });
      /** @type {string[]} */
      const asked = [];
      const onDialog = (/** @type {any} */ { title }) => {
        asked.push(/Keep (.*)\?/.exec(title)?.[1] ?? title);
        return asked.length === 1 ? new Promise(() => {}) : "keep";
      };
      const start = (/** @type {string[]} */ ...args) => startRpc({ version, sandbox, onDialog, args });

      const first = await start();
      const hung = model.waitForRequests(2);
      void first.prompt("/workflow list The task");
      await hung;
      await first.kill();

      const second = await start("--continue");
      assert.match(statusTexts(second).at(-1) ?? "", /list > Work \[1\/3\] > 🔹 Do/);
      const dialog = second.waitFor(({ method }) => method === "select");
      void second.prompt("Go on.");
      await dialog;
      await second.kill();

      const third = await start("--continue");
      assert.match(statusTexts(third).at(-1) ?? "", /Work \[1\/3\] > .*❓ keep/);
      assert.equal(asked.length, 1, "it is not asked again by itself");
      const lastPhase = model.waitForRequests(8);
      await third.prompt("/workflow :resume");
      await lastPhase;
      await third.kill();

      const rpc = await start("--continue");
      assert.match(statusTexts(rpc).at(-1) ?? "", /Work \[3\/3\] > 🔹 Check/);
      await rpc.promptAndSettle("Go on.");
      const entries = await rpc.entries();
      assert.deepEqual(way(entries), WHOLE);
      assert.equal(states(entries).at(-1).active, false);
      assert.deepEqual(asked, ["“same” (“1”/“3”)", "“same” (“1”/“3”)", "“same” (“2”/“3”)", "“{task}” (“3”/“3”)"]);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("are each visited once over a compaction, a fork and a move in the tree", LONG, async (t) => {
      const item = [next, next];
      const calls = [
        plan,
        ...item,
        REST, // at rest in the second item
        ...item,
        REST, // at rest in the third
        ...item,
        ...item,
        REST, // the fork, from the second item on
        ...item,
        ...item,
        REST, // from the second item on again
      ];
      const script = (/** @type {import("./harness/scripted-model.mjs").ChatRequest} */ { tools }) =>
        tools?.length ? (calls.shift() ?? REST) : { text: "A summary." };
      const settings = { compaction: { enabled: true, keepRecentTokens: 10, reserveTokens: 100 } };
      const { sandbox } = await stage(t, script, { globalFiles: FILES, files: TRAVEL, settings });
      const rpc = await startRpc({ version, sandbox, extension: withTravel(sandbox), onDialog: () => "keep" });
      await rpc.promptAndSettle("/workflow list The task");
      assert.equal(way(await rpc.entries()).at(-1), "list:1 list//1@1:0");
      assert.equal((await rpc.send({ type: "compact" })).success, true);
      await rpc.promptAndSettle("Go on.");
      assert.deepEqual(way(await rpc.entries()), WHOLE.slice(0, 8));

      const { messages } = (await rpc.send({ type: "get_fork_messages" })).data;
      const { entryId } = messages.find((/** @type {{ text: string }} */ { text }) => text === "Go on.");
      assert.equal((await rpc.send({ type: "fork", entryId })).success, true);
      assert.match(statusTexts(rpc).at(-1) ?? "", /Work \[2\/3\] > 🔹 Do/);
      await rpc.promptAndSettle("In the fork.");
      assert.deepEqual(way(await rpc.entries()), WHOLE);

      const isSecond = (/** @type {any} */ { customType, data }) =>
        customType === "workflow:state" && paths([data])[0] === "list:1 list//1@1:0";
      await rpc.prompt(`/go-tree ${(await rpc.entries()).find(isSecond).id}`);
      assert.match(statusTexts(rpc).at(-1) ?? "", /Work \[2\/3\] > 🔹 Do/);
      await rpc.promptAndSettle("Again.");
      const entries = branch(await rpc.entries());
      assert.deepEqual(way(entries), WHOLE);
      assert.equal(progress(entries).outcomes["list:1/list//1@2:1/list//1.1:0"], "keep");
      assert.deepEqual(rpc.extensionErrors(), []);
    });
  });
}

test(`are each visited once over ${KILLS} kills at any time`, LONG, async (t) => {
  let kills = 0;
  while (kills < KILLS) {
    const isAtPlan = (/** @type {string} */ text) =>
      text.lastIndexOf("Do plan for") > Math.max(text.lastIndexOf("Do same"), text.lastIndexOf("Do {task}"));
    const { sandbox } = await stage(
      t,
      (request) => ({ ...(isAtPlan(JSON.stringify(request.messages)) ? plan : next), delayMs: 30 }),
      { globalFiles: FILES },
    );
    for (let done = false; !done;) {
      const hasSession = sessionFiles(sandbox).length > 0;
      const stored = hasSession ? states(readSession(sandbox)).at(-1) : undefined;
      const isPaused = stored !== undefined && progress(readSession(sandbox))?.paused !== undefined;
      const onDialog = async () => (await sleep(Math.random() * 60), "keep");
      const rpc = await startRpc({ sandbox, onDialog, args: ["--continue"] });
      const isAsked = stored && paths([stored])[0].includes("//1.1");
      const settled = rpc.waitForSettled().catch(() => undefined);
      void rpc
        .prompt(stored ? (isPaused || isAsked ? "/workflow :resume" : "Go on.") : "/workflow list it")
        .catch(() => {});
      const last = kills >= KILLS;
      await (last ? settled : sleep(Math.random() * 600));
      await rpc.kill();
      if (!last) kills += 1;
      done = sessionFiles(sandbox).length > 0 && states(readSession(sandbox)).at(-1)?.active === false;
    }
    assert.deepEqual(way(readSession(sandbox)), WHOLE);
  }
});
