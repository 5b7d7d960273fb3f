// A phase with `context: fresh`: the model sees the task, the results, the evidence and the user's own messages, and
// nothing of the earlier work.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PI_VERSIONS, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { workflow } from "./harness/workflows.mjs";

/** @param {string} [summary] */
const next = (summary) => ({ calls: [{ name: "workflow_step", arguments: { action: "next", summary } }] });
const READ = { calls: [{ name: "read", arguments: { path: "big.txt" } }] };
const REST = { text: "I rest." };
const FRESH = { id: "review", context: "fresh" };
const QUIET = { autoContinue: false };
const FILES = { "big.txt": `the old work ${"x".repeat(2000)}` };

/** A PNG of one pixel. */
const IMAGE = {
  type: "image",
  mimeType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
};

/** The number of images in a request. */
const imagesOf = (/** @type {any} */ request) => JSON.stringify(request).split('"image_url":{').length - 1;

/** The messages of a request without the system prompt. */
const said = (/** @type {any} */ request) => request.messages.filter((/** @type {any} */ { role }) => role !== "system" && role !== "developer");

for (const version of PI_VERSIONS) {
  suite(`pi ${version}: a phase that starts fresh`, { concurrency: 2 }, () => {
    for (const mode of /** @type {const} */ (["text", "json"])) {
      test(`sees nothing of the earlier work after the agent's next (${mode})`, async (t) => {
        const { model, sandbox } = await stage(t, [READ, next("the results of build"), READ, next("fine")], {
          globalFiles: workflow("hello", ["build", FRESH], QUIET),
          files: FILES,
        });
        await runPrint({ version, sandbox, prompt: "/workflow hello The task", mode });
        assert.match(model.messagesText(1), /the old work/);
        const seen = model.messagesText(2);
        assert.doesNotMatch(seen, /the old work|Start The hello/);
        assert.match(seen, /starts with a fresh context/);
        assert.match(seen, /\*\*Task:\*\* The task/);
        assert.match(seen, /the results of build/);
        assert.match(seen, /Do review for The task/);
        assert.equal(said(model.requests[2]).length, 2);
        assert.match(model.messagesText(3), /the old work/);
        assert.equal(model.requests.length, 5);
      });
    }

    test("sees nothing of the earlier work after the user's next, at rest", async (t) => {
      const { model, sandbox } = await stage(t, [READ, REST, REST, READ, REST, REST], {
        globalFiles: workflow("hello", ["build", FRESH], QUIET),
        files: FILES,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello The task");
      await rpc.promptAndSettle("Mind the gap, please.");
      await rpc.promptAndSettle("/workflow :next");
      for (const request of [3, 4]) {
        const seen = model.messagesText(request);
        assert.doesNotMatch(seen, request === 3 ? /the old work|I rest/ : /I rest/);
        assert.match(seen, /starts with a fresh context/);
        assert.match(seen, /Mind the gap, please/);
        assert.match(seen, /The user moved the workflow on/);
        assert.match(seen, /Do review for The task/);
        assert.doesNotMatch(seen, /Start The hello/);
      }
      await rpc.promptAndSettle("And now?");
      assert.doesNotMatch(model.messagesText(-1), /Start The hello|Do build/);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });

    test("sees the images of the user's own messages, at rest and at work", async (t) => {
      const { model, sandbox } = await stage(t, [REST, REST, REST, REST, next("the results"), REST, REST], {
        globalFiles: workflow("hello", ["build", FRESH, { id: "again", context: "fresh" }], QUIET),
        modelConfig: { input: ["text", "image"] },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow hello The task");
      await rpc.promptAndSettle("It should look so.", { images: [IMAGE] });
      for (const round of [2, 5]) {
        await rpc.promptAndSettle(round === 2 ? "/workflow :next" : "Go on.");
        await rpc.promptAndSettle("Good?");
        for (const request of round === 2 ? [2, 3] : [5, 6]) {
          assert.match(model.messagesText(request), /It should look so\.\n  \(1 image, below\)/, `${request}`);
          assert.equal(imagesOf(model.requests[request]), 1, `${request}`);
        }
      }
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });
  });
}
