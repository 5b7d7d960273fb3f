// Moves of the user while a command of the agent runs: the command ends, and the agent goes on in the other phase or
// run.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { VERSIONS, variants } from "./harness/extent.mjs";
import { lastPath, madeBy } from "./harness/gates.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { pauses, userTexts, workflow } from "./harness/workflows.mjs";

const FILES = {
  ...workflow("hello", ["plan", "build", "check"], { autoContinue: false }),
  ...workflow("other", ["look"], { autoContinue: false }),
};
const NEXT = { calls: [{ name: "workflow_step", arguments: { action: "next" } }] };
const LATE = { calls: [{ name: "bash", arguments: { command: "touch begun; sleep 4; touch late" } }] };

for (const version of VERSIONS) {
  suite(`pi ${version}: a command that runs`, { concurrency: 2 }, () => {
    for (const [commands, path, told] of variants(
      /** @type {[string[], string, RegExp][]} */ ([
        [["/workflow :next"], "hello:2", /The user moved the workflow on: 🔹 Build → 🔹 Check\./],
        [["/workflow :back"], "hello:0", /The user moved the workflow back: 🔹 Build → 🔹 Plan\./],
        [["/workflow other Look at it"], "other:0", /Look at it/],
        [["/workflow :cancel", "/workflow other Look at it"], "other:0", /Look at it/],
      ]),
    )) {
      test(`is ended by ${commands.join(", ")}`, async (t) => {
        const { model, sandbox } = await stage(t, [NEXT, LATE, { text: "I rest." }], { globalFiles: FILES });
        const rpc = await startRpc({ version, sandbox });
        rpc.onDialog(() => true);
        const prompted = rpc.promptAndSettle("/workflow hello Add a route");
        await madeBy(sandbox, "begun");
        await Promise.all([prompted, ...commands.map((command) => rpc.prompt(command))]);
        await model.waitForRequests(3);
        await sleep(4500);
        assert.equal(existsSync(join(sandbox.project, "late")), false);
        assert.equal(model.requests.length, 3);
        assert.match(userTexts(model.lastRequest()).join("\n"), told);
        const entries = await rpc.entries();
        assert.equal(lastPath(entries), path);
        assert.equal(pauses(entries).at(-1), undefined);
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      });
    }

    for (const [commands, path, told] of variants(
      /** @type {[string[], string, RegExp][]} */ ([
        [["/workflow :next", "/workflow :back"], "hello:1", /The user moved the workflow back: 🔹 Check → 🔹 Build\./],
        [["/workflow :next", "/workflow :pause"], "hello:2", /The user moved the workflow on: 🔹 Build → 🔹 Check\./],
        [
          ["/workflow :next", "/workflow :pause", "/workflow :back"],
          "hello:1",
          /The user moved the workflow back: 🔹 Check → 🔹 Build\./,
        ],
      ]),
    )) {
      test(`tells the newest of several moves at once: ${commands.join(", ")}`, async (t) => {
        const { model, sandbox } = await stage(t, [NEXT, LATE, { text: "I rest." }, { text: "I rest." }], {
          globalFiles: FILES,
        });
        const rpc = await startRpc({ version, sandbox });
        const prompted = rpc.promptAndSettle("/workflow hello Add a route");
        await madeBy(sandbox, "begun");
        await Promise.all([prompted, ...commands.map((command) => rpc.prompt(command))]);
        // The agent may have gone on between two commands.
        while ((await rpc.state()).isStreaming) await sleep(50);
        await rpc.promptAndSettle("Go on");
        const moves =
          userTexts(model.lastRequest())
            .join("\n")
            .match(/The user moved.*/g) ?? [];
        assert.match(moves.at(-1) ?? "", told);
        assert.equal(new Set(moves).size, moves.length);
        assert.equal(lastPath(await rpc.entries()), path);
        assert.equal(existsSync(join(sandbox.project, "late")), false);
        await rpc.close();
      });
    }
  });
}
