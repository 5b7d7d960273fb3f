// The branches of a parallel group each end once, whatever kills pi meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  branchOf,
  childFiles,
  endsOf,
  ends,
  headerOf,
  panel,
  parentEntries,
  parentFiles,
  team,
} from "./harness/branches.mjs";
import { LONG } from "./harness/extent.mjs";
import { bash } from "./harness/limited.mjs";
import { readSession } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { messageText } from "./harness/scripted-model.mjs";
import { stage } from "./harness/stage.mjs";
import { paths, states } from "./harness/workflows.mjs";

const KILLS = 50;
const STEPS = 5;

test(`killed ${KILLS} times, a run with two branches has each end once`, LONG, async (t) => {
  let kills = 0;
  let runs = 0;
  let inBranches = 0;
  while (kills < KILLS) {
    /** The requests of a branch that came after its end was stored. @type {string[]} */
    const again = [];
    /** @type {Set<string>} */
    let ended = new Set();
    const script = team(
      Object.fromEntries(
        ["A", "B"].map((name) => [
          name,
          (/** @type {import("./harness/scripted-model.mjs").ChatRequest} */ { messages }) => {
            // Those of its own session: one that goes on is not at its beginning.
            const done = messages.filter(({ role }) => role === "tool").length;
            const isOver = messages.some(
              (message) => message.role === "tool" && /→ (DONE|the end of)/.test(messageText(message)),
            );
            return {
              ...(isOver ? { text: "I am done." } : done < STEPS ? { calls: [bash("true")] } : ends(name)),
              delayMs: 25,
            };
          },
        ]),
      ),
    );
    const { model, sandbox } = await stage(
      t,
      (request, index) => {
        const name = branchOf(request);
        if (name !== undefined && ended.has(name)) again.push(name);
        return script(request, index);
      },
      { globalFiles: panel(["a", "b"]) },
    );
    for (let isDone = false; !isDone;) {
      const stored = parentFiles(sandbox).length > 0 ? parentEntries(sandbox) : [];
      const state = states(stored).at(-1);
      const at = state && paths([state])[0];
      ended = new Set(
        at === "panel:1"
          ? Object.entries(endsOf(stored)).flatMap(([name, end]) => (end === "done" ? [name] : []))
          : at === "panel:2"
            ? ["A", "B"]
            : [],
      );
      if (at === "panel:1") inBranches += 1;
      const rpc = await startRpc({ sandbox, args: ["--continue"] });
      const settled = rpc.waitForSettled().catch(() => undefined);
      void rpc
        .prompt(!state ? "/workflow panel it" : at === "panel:1" ? "/workflow :resume" : "Go on.")
        .catch(() => {});
      const isLast = kills >= KILLS;
      await (isLast ? settled : sleep(Math.random() * 900));
      await rpc.kill();
      if (!isLast) kills += 1;
      isDone = parentFiles(sandbox).length > 0 && states(parentEntries(sandbox)).at(-1)?.active === false;
    }
    runs += 1;
    const entries = parentEntries(sandbox);
    assert.deepEqual(again, [], "a branch that has ended does not begin again");
    assert.deepEqual(endsOf(entries), { A: "done", B: "done" });
    assert.deepEqual([...new Set(paths(states(entries)))], ["panel:0", "panel:1", "panel:2"]);
    const sessions = parentFiles(sandbox).map(
      (file) => `${file}: ${JSON.stringify(readSession(sandbox, file).slice(0, 3))}`,
    );
    assert.equal(sessions.length, 1, `a child is never the newest session: ${sessions.join("\n")}`);
    for (const file of childFiles(sandbox)) assert.equal(headerOf(file).parentSession, parentFiles(sandbox)[0]);
    assert.deepEqual(model.faults, []);
  }
  t.diagnostic(`${runs} runs, ${inBranches} starts at the branches`);
});
