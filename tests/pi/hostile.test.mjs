// Hostile files, tasks and names in real pi: everything else loads in time, and no control sequence reaches the
// terminal.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { startTui } from "./harness/tui.mjs";
import { custom, phaseFile, statusTexts, step, toolResults, waiting, workflow } from "./harness/workflows.mjs";

/** Control sequences: terminal title, red, cursor up, and the same as C1 control characters. */
const EVIL = "\u001b]0;pwned\u0007\u001b[31m\u001b[9A\u009b31m\u009d0;pwned\u009c";
const COMMANDS = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const HEAD = "name: Bad\ncommandName: bad\ninitialMessage: go\n";
const A = phaseFile({ id: "a" });
const HELLO = workflow("hello", ["plan", "build"], { autoContinue: false });

/**
 * Hostile inputs, and the expected message to the user.
 *
 * @type {Record<string, { put: (folder: string) => unknown, told: RegExp }>}
 */
const FILES = {
  pipe: { put: (folder) => execFileSync("mkfifo", [join(folder, "workflow.yaml")]), told: /it is not a plain file/ },
  device: {
    put: (folder) => symlinkSync("/dev/zero", join(folder, "workflow.yaml")),
    told: /it is not a plain file/,
  },
  socket: {
    put: (folder) => {
      const server = createServer().listen(join(folder, "workflow.yaml")).unref();
      return () => server.close();
    },
    told: /it is not a plain file/,
  },
  "phase-is-a-pipe": {
    put: (folder) => {
      writeFileSync(join(folder, "workflow.yaml"), `${HEAD}phases: [a.md]\n`);
      execFileSync("mkfifo", [join(folder, "a.md")]);
    },
    told: /cannot read the phase file `a\.md`: it is not a plain file/,
  },
  "twenty-megabytes": {
    put: (folder) => writeFileSync(join(folder, "workflow.yaml"), "#".repeat(20_000_000)),
    told: /it is too large \(20000000 bytes\)/,
  },
  "large-phase": {
    put: (folder) => {
      writeFileSync(join(folder, "workflow.yaml"), `${HEAD}phases: [a.md]\n`);
      writeFileSync(join(folder, "a.md"), A + "x".repeat(5_000_000));
    },
    told: /cannot read the phase file `a\.md`: it is too large/,
  },
  aliases: {
    put: (folder) => {
      const levels = Array.from({ length: 30 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n},`.repeat(9)}]`);
      writeFileSync(join(folder, "workflow.yaml"), `${HEAD}l0: &l0 [x]\n${levels.join("\n")}\nphases: *l30\n`);
    },
    told: /not valid YAML/,
  },
  brackets: {
    put: (folder) => writeFileSync(join(folder, "workflow.yaml"), `name: ${"[".repeat(100_000)}`),
    told: /64 KiB|brackets are open/,
  },
  "not-text": {
    put: (folder) => writeFileSync(join(folder, "workflow.yaml"), Buffer.from([0xff, 0xfe, 0, 1, 0xc3])),
    told: /UTF-8|not valid YAML/,
  },
  "latin-1": {
    put: (folder) => {
      const text = `${HEAD}phases: [{ prompt: Look. }]\nhide: [pr\xfcfung/]\n`;
      writeFileSync(join(folder, "workflow.yaml"), Buffer.from(text, "latin1"));
    },
    told: /pr\ufffdfung.* is not valid UTF-8/,
  },
  "ten-thousand-phases": {
    put: (folder) => {
      writeFileSync(join(folder, "workflow.yaml"), `${HEAD}phases: [${"a.md,".repeat(10_000)}]\n`);
      writeFileSync(join(folder, "a.md"), A);
    },
    told: /at most 1000|1000 entries/,
  },
  loop: { put: (folder) => symlinkSync("workflow.yaml", join(folder, "workflow.yaml")), told: /./ },
  [`name-${EVIL.replaceAll("/", "")}`]: {
    put: (folder) => writeFileSync(join(folder, "workflow.yaml"), `name: "${EVIL}"\n`),
    told: /name-\S*pwned/,
  },
};

/**
 * Like `workflow`, with escapes for characters that YAML does not allow.
 *
 * @param {Parameters<typeof workflow>} parameters
 */
function written(...parameters) {
  const files = Object.entries(workflow(...parameters));
  const escaped = (/** @type {string} */ c) => `\\u00${c.charCodeAt(0).toString(16)}`;
  return Object.fromEntries(files.map(([name, text]) => [name, text.replaceAll(/[\x7f-\x9f]/g, escaped)]));
}

/** Returns the output of extensions that contains control sequences. @param {import("./harness/rpc.mjs").Rpc} rpc */
function commandsIn(rpc) {
  const shown = rpc.records
    .filter(({ type }) => type === "extension_ui_request")
    .map((record) => JSON.stringify(record));
  assert.ok(shown.length > 3);
  return shown.filter((json) => /\\u00[01]|[\x7f-\x9f]/.test(json));
}

for (const version of VERSIONS) {
  suite(`pi ${version}: hostile files`, { concurrency: 2 }, () => {
    test("have a diagnostic each, and the others load in time", { timeout: 60_000 }, async (t) => {
      const { sandbox } = await stage(t, [step("next"), { text: "I rest." }], { globalFiles: HELLO });
      const root = join(sandbox.agent, "workflows");
      for (const [name, { put }] of Object.entries(FILES)) {
        mkdirSync(join(root, name));
        const close = put(join(root, name));
        if (typeof close === "function") t.after(/** @type {() => void} */ (close));
      }
      symlinkSync(root, join(root, "round"));
      const begin = performance.now();
      const rpc = await startRpc({ version, sandbox });
      await rpc.prompt("/workflow :check");
      const took = performance.now() - begin;
      t.diagnostic(`${Math.round(took)} ms`);
      assert.ok(took < 15_000, `${took} ms`);
      const [{ content }] = custom(await rpc.entries(), "workflow:check");
      assert.doesNotMatch(content, COMMANDS);
      for (const [name, { told }] of Object.entries(FILES)) {
        if (name === "loop") continue;
        const start = name.replaceAll(/[\0-\x1f\x7f-\x9f]/g, "\ufffd");
        const line = content
          .split("\n")
          .find((/** @type {string} */ line) => line.includes(`/${start}/`) && /: error: /.test(line));
        assert.ok(line, `nothing about ${name} in:\n${content}`);
        if (!line.includes("pwned")) assert.match(content.slice(content.indexOf(line)), told, name);
      }
      assert.ok(peak(rpc) < 600, `${peak(rpc)} MiB`);
      await rpc.promptAndSettle("/workflow hello Add a route");
      assert.equal(statusTexts(rpc).at(-1), waiting("The hello > 🔹 Build [2/2]"));
      assert.deepEqual(commandsIn(rpc), []);
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.doesNotMatch(rpc.stderr(), /\S/);
    });
  });

  suite(`pi ${version}: hostile texts`, { concurrency: 2 }, () => {
    const flow = written(
      "flow",
      [{ id: "plan", name: `Plan${EVIL}`, emoji: `*${EVIL}`, instructions: `Do ${EVIL}.` }, "build"],
      {
        name: `Flow${EVIL}`,
        description: EVIL,
        autoContinue: false,
        completionMessage: `Done${EVIL}`,
        blockReasonTemplate: EVIL,
      },
    );

    test("are shown as text, from any source", async (t) => {
      const summary = {
        calls: [{ name: "workflow_step", arguments: { action: "next", summary: EVIL + "x".repeat(1_000_000) } }],
      };
      const { model, sandbox } = await stage(t, [summary, { text: "I rest." }], {
        globalFiles: flow,
        modelConfig: { contextWindow: 2_000_000 },
      });
      const rpc = await startRpc({ version, sandbox, onDialog: () => true });
      await rpc.promptAndSettle(`/workflow flow Task ${EVIL} {description} {previousSummary}`);
      assert.match(toolResults(model.lastRequest())[0], /^✓ Advanced: /);
      assert.ok(toolResults(model.lastRequest())[0].length < 20_000);
      for (const control of [":status", ":panel", ":graph", ":report", ":check", ":back", ":skip", ":pause", ":resume"])
        await rpc.prompt(`/workflow ${control}`);
      await rpc.prompt("/workflow flow Another");
      await rpc.prompt("/workflow");
      await rpc.prompt(`/workflow ${EVIL} x`);
      await rpc.prompt(`/workflow :${EVIL}`);
      assert.deepEqual(commandsIn(rpc), []);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();

      const printed = await runPrint({ version, sandbox, prompt: `/workflow ${EVIL} x`, args: ["--continue"] });
      assert.doesNotMatch(printed.stderr, COMMANDS);
    });

    test("do not control the terminal", LONG, async (t) => {
      const { sandbox } = await stage(t, [step("next"), { text: "I rest." }, step("next"), { text: "Over." }], {
        globalFiles: flow,
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle(`/workflow flow Task ${EVIL} ends`);
      await rpc.close();
      const tui = await startTui({ version, sandbox, args: ["--continue"] });
      for (const control of [":status", ":panel", ":graph", ":report"]) await tui.submit(`/workflow ${control}`);
      await tui.submit("Go on");
      const screen = await tui.waitFor("Over.");
      assert.match(screen, /Done/);
      assert.match(await tui.title(), /^π/);
      assert.doesNotMatch(screen, /\u001b|\u009b/);
    });
  });
}

/**
 * Returns the peak memory of a process, in MiB.
 * @param {import("./harness/rpc.mjs").Rpc} rpc
 */
function peak(rpc) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${rpc.pid}/status`, "utf8"))?.[1]) / 1024;
}
