// A phase with `context: fresh`, entered in each way: the model sees the task, the results, the evidence and the user's
// own messages, and nothing of the earlier work.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { VERSIONS, variants } from "./harness/extent.mjs";
import {
  FILES,
  QUIET,
  READ,
  REST,
  REVIEW,
  assertFresh,
  assertWellFormed,
  call,
  close,
  next,
  said,
  startFresh,
  text,
} from "./harness/fresh.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, toolResults, workflow } from "./harness/workflows.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Sets pi's clock back by the hours in a file. */
const CLOCK = `const { readFileSync } = require("node:fs");
const Real = Date;
const now = () => Real.now() - 3600000 * Number(readFileSync(process.env.HOURS_BACK, "utf8"));
globalThis.Date = class extends Real {
  constructor(...parts) {
    if (parts.length === 0) super(now());
    else super(...parts);
  }
  static now = now;
};`;

/** The number of images in a request. @param {object | undefined} request */
const imagesOf = (request) => JSON.stringify(request).split('"image_url":{').length - 1;

const WORKFLOWS = {
  ...workflow("hello", ["build", REVIEW], QUIET),
  ...workflow("all", ["build", "review", { id: "share", context: "shared" }], { ...QUIET, context: "fresh" }),
  ...workflow("first", [{ id: "plan", context: "fresh" }, "build"], QUIET),
  ...workflow("outer", ["build", "@inner"], { ...QUIET, context: "fresh" }),
  ...workflow("inner", ["review"], { show: "workflows" }),
};

for (const version of VERSIONS) {
  suite(`pi ${version}: a phase that starts fresh`, { concurrency: 2 }, () => {
    for (const mode of variants(/** @type {const} */ (["print", "json"]))) {
      test(`sees nothing of the earlier work after the agent's next (${mode})`, async (t) => {
        const { model, sandbox } = await stage(
          t,
          [READ, { calls: [call({ action: "next" })] }, next("the results of build"), READ, next("fine")],
          {
            globalFiles: WORKFLOWS,
            files: FILES,
          },
        );
        await runPrint({
          version,
          sandbox,
          prompt: "/workflow hello The task",
          mode: mode === "print" ? "text" : mode,
        });
        assert.match(text(model.requests[1]), /the old work/);
        assert.match(
          toolResults(model.requests[2]).at(-1) ?? "",
          /^⚠️ The phase 🔹 Build cannot be left without a summary/,
        );
        assertFresh(model.requests[3], "review");
        assert.match(text(model.requests[3]), /the results of build/);
        assert.equal(said(model.requests[3]).length, 1);
        assert.match(text(model.requests[4]), /the old work/, "the phase sees its own work");
        assert.equal(model.requests.length, 6);
        assertWellFormed(model);
      });
    }

    test("without a user interface, from run to run of pi", async (t) => {
      const { model, sandbox } = await stage(t, [READ, REST, READ, REST], { globalFiles: WORKFLOWS, files: FILES });
      await runPrint({ version, sandbox, prompt: "/workflow first The task" });
      assert.match(text(model.requests[0]), /Plan starts with a fresh context[^]*Do plan for The task/);
      assert.match(text(model.requests[1]), /the old work/);
      await runPrint({ version, sandbox, prompt: "/workflow :skip", args: ["--continue"] });
      assert.match(text(model.requests[2]), /the old work/, "a shared phase");
      await runPrint({ version, sandbox, prompt: "/workflow :back", args: ["--continue"] });
      assertFresh(model.requests[4], "plan");
      assertWellFormed(model);
    });

    test("shows in the transcript that it starts fresh, at work and at rest", async (t) => {
      const files = { ...workflow("hello", ["build", REVIEW, { id: "again", context: "fresh" }], QUIET) };
      const { model, sandbox } = await stage(t, [next(), REST, { text: "Again done." }], {
        globalFiles: files,
        files: FILES,
      });
      const tui = await startTui({ version, sandbox });
      await tui.type("/workflow hello The task");
      await tui.press("Enter");
      await tui.waitFor("I rest.");
      await tui.waitFor(/🌱 🔹 Review starts fresh: the task, 1 result$/m);
      await tui.submit("/workflow :next");
      await tui.waitFor("Again done.");
      await tui.waitFor(/🌱 🔹 Again starts fresh: the task, 1 result$/m);
      assertFresh(model.requests[2], "again");
    });

    for (const hours of variants([-3, 3])) {
      test(`keeps what the user says, and nothing from before the run, if the clock goes ${hours > 0 ? "back" : "forth"}`, async (t) => {
        const { sandbox, requests, play, model } = await startFresh(t, version, {
          globalFiles: WORKFLOWS,
          files: { "clock.cjs": CLOCK, hours: "0" },
        });
        const [clock, file] = ["clock.cjs", "hours"].map((name) => join(sandbox.project, name));
        const rpc = await startRpc({ version, sandbox, env: { NODE_OPTIONS: `--require ${clock}`, HOURS_BACK: file } });
        play(REST, REST, REST, REST);
        if (hours > 0) await rpc.promptAndSettle("Before the run");
        writeFileSync(file, `${-hours / 3}`);
        if (hours < 0) await rpc.promptAndSettle("Before the run");
        await rpc.promptAndSettle("/workflow hello The task");
        await rpc.promptAndSettle("Mind the gap");
        writeFileSync(file, String(hours));
        await rpc.promptAndSettle("And the edge");
        play(next("done"));
        await rpc.promptAndSettle("Go on");
        const [request] = requests.slice(-1);
        assertFresh(request, "review");
        assert.match(text(request), /messages since the run began:\*\*\n\n- Mind the gap\n- And the edge\n- Go on\n/);
        assert.doesNotMatch(text(request), /Before the run/);
        const entries = await rpc.entries();
        const times = entries.map(({ timestamp }) => Date.parse(timestamp));
        assert.ok(
          times.some((time, index) => Math.abs(time - (times[index - 1] ?? time)) > 3_600_000),
          "the clock was set",
        );
        await rpc.prompt("/workflow :status");
        await rpc.prompt("/workflow :report");
        const shown =
          custom(await rpc.entries(), "workflow:report").at(-1).content +
          custom(await rpc.entries(), "workflow:status").at(-1).content;
        assert.doesNotMatch(shown, /\s-\d+[smh]|NaN|Invalid/);
        await close(rpc, model);
      });
    }

    test("keeps what the user says and shows", async (t) => {
      const { model, requests, play, start } = await startFresh(t, version, {
        globalFiles: {
          ...workflow("hello", ["build", REVIEW, { id: "again", context: "fresh" }], {
            ...QUIET,
            initialMessage: "Start it:\u0007 \r\n{description}\n\n",
          }),
        },
        modelConfig: { input: ["text", "image"] },
      });
      const rpc = await start();
      play(READ, REST, REST, REST, REST, REST);
      await rpc.promptAndSettle("/workflow hello The task");
      const image = { type: "image", data: PNG, mimeType: "image/png" };
      for (const [message, images] of /** @type {const} */ ([
        ["First\nof two lines", []],
        [`Old ${"o".repeat(9000)}`, []],
        [`New ${"n".repeat(5000)}`, [image, image]],
      ])) {
        const settled = rpc.waitForSettled();
        await rpc.prompt(message, { images });
        await settled;
      }
      await rpc.promptAndSettle("Look", {});
      play(next("done"));
      await rpc.promptAndSettle("Go on");
      const [request] = requests.slice(-1);
      assertFresh(request, "review");
      const seen = text(request);
      const expected =
        /\(1 earlier not shown\)\n- Old o+… \(cut\)\n- New n{5000}\n {2}\(2 images, below\)\n- Look\n- Go on/;
      assert.ok(expected.test(seen), seen.replace(/o{50,}|n{50,}/g, "…"));
      assert.doesNotMatch(seen, /First|Start it/);
      assert.ok(seen.length < 16_000);
      assert.equal(seen.split("What to do in this phase").length, 2);
      assert.equal(imagesOf(request), 2);
      await rpc.promptAndSettle("And more");
      assert.equal(imagesOf(requests.at(-1)), 2);
      // At rest the images come with the view, and stay behind the turn.
      await rpc.promptAndSettle("/workflow :next");
      await rpc.promptAndSettle("And more again");
      assertFresh(requests.at(-2), "again");
      for (const request of requests.slice(-2)) assert.equal(imagesOf(request), 2);
      assertWellFormed(model);
      await close(rpc, model);
    });
  });
}
