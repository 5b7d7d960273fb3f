// Workflow files: which ones load, and the diagnostics of the others.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import {
  contextPrompt,
  custom,
  nextUntilDone,
  notices,
  paths,
  phaseFile,
  states,
  statusTexts,
  workflow,
} from "./harness/workflows.mjs";

const HELLO = workflow("hello", ["a"]);
const A = phaseFile({ id: "a" });
const HEAD = 'name: Bad\ncommandName: bad\ninitialMessage: "Go: {description}"\n';
const YAML = `${HEAD}phases:\n  - a.md\n`;
/** 2 MB of instructions. */
const HUGE = A + "x".repeat(2 * 1024 * 1024);

/**
 * Files with errors in the project's workflows folder, and their diagnostics. `loads`: the command names of the
 * workflows that load, besides `hello`, which always loads.
 *
 * @typedef {object} Case
 * @property {Record<string, string | Buffer>} files
 * @property {(folder: string) => void} [prepare] creates links, folders and the like
 * @property {string[]} notice the lines with places and messages, in any order; paths begin below the workflows folder
 * @property {string[]} [loads]
 */

/** @type {Record<string, Case>} */
const CASES = {
  "a phase file that is not there": {
    files: { "bad/workflow.yaml": `${HEAD}phases: [a.md, b.md]\n`, "bad/a.md": A },
    notice: ["bad/workflow.yaml:4:16: cannot read the phase file `b.md`: there is no such file"],
  },
  "paths out of the workflows folder": {
    files: {
      "bad/workflow.yaml": `${HEAD}phases:\n  - ../../outside.md\n  - /etc/hostname\n  - C:\\a.md\n  - \\\\server\\a.md\n  - link.md\n  - folder/a.md\n`,
      "../outside.md": A,
    },
    prepare(folder) {
      symlinkSync("../../outside.md", join(folder, "bad/link.md"));
      mkdirSync(join(folder, "../elsewhere"));
      writeFileSync(join(folder, "../elsewhere/a.md"), A);
      symlinkSync("../../elsewhere", join(folder, "bad/folder"));
    },
    notice: [
      "bad/workflow.yaml:5:5: the phase file `../../outside.md` is outside the workflows folder",
      "bad/workflow.yaml:6:5: the phase file `/etc/hostname` is outside the workflows folder",
      "bad/workflow.yaml:7:5: the phase file `C:\\a.md` is outside the workflows folder",
      "bad/workflow.yaml:8:5: the phase file `\\\\server\\a.md` is outside the workflows folder",
      "bad/workflow.yaml:9:5: the phase file `link.md` is outside the workflows folder",
      "bad/workflow.yaml:10:5: the phase file `folder/a.md` is outside the workflows folder",
    ],
  },
  "a workflow's folder or file that is a link out of the workflows folder": {
    files: { "../elsewhere/bad/workflow.yaml": YAML, "../elsewhere/bad/a.md": A, "bad2/a.md": A },
    prepare(folder) {
      symlinkSync("../elsewhere/bad", join(folder, "bad"));
      symlinkSync("../../elsewhere/bad/workflow.yaml", join(folder, "bad2/workflow.yaml"));
    },
    notice: [
      "bad2/workflow.yaml: cannot be read: it lies outside the workflows folder",
      "bad: skipped: neither a file nor a folder, or a link that leads nowhere or out of the workflows folder",
    ],
  },
  "what is no file, and what is too large": {
    files: { "bad/workflow.yaml": `${HEAD}phases:\n  - pipe.md\n  - folder.md\n  - huge.md\n`, "bad/huge.md": HUGE },
    prepare(folder) {
      execFileSync("mkfifo", [join(folder, "bad/pipe.md")]);
      mkdirSync(join(folder, "bad/folder.md"));
    },
    notice: [
      "bad/workflow.yaml:5:5: cannot read the phase file `pipe.md`: it is not a plain file",
      "bad/workflow.yaml:6:5: cannot read the phase file `folder.md`: it is not a plain file",
      "bad/workflow.yaml:7:5: cannot read the phase file `huge.md`: it is too large (2097217 bytes)",
    ],
  },
  "a workflow.yaml that is no file, or too large": {
    files: { "huge/workflow.yaml": HUGE, "pipe/a.md": A, "folder/workflow.yaml/a.md": A },
    prepare: (folder) => void execFileSync("mkfifo", [join(folder, "pipe/workflow.yaml")]),
    notice: [
      "folder/workflow.yaml: cannot be read: it is not a plain file",
      "huge/workflow.yaml: cannot be read: it is too large (2097217 bytes)",
      "pipe/workflow.yaml: cannot be read: it is not a plain file",
    ],
  },
  "YAML that blows up": {
    files: {
      "bomb/workflow.yaml": `a: &a [x, x, x, x, x, x, x, x, x]\n${[..."bcdefghij"].map((key, index) => `${key}: &${key} [${Array(9).fill(`*${"abcdefghij"[index]}`)}]\n`).join("")}`,
      "deep/workflow.yaml": `name:\n${"- ".repeat(1000)}\n`,
    },
    notice: [
      "bomb/workflow.yaml: not valid YAML: repetition limit exceeded",
      "deep/workflow.yaml:2:255: not valid YAML: recursion limit exceeded",
    ],
  },
  "bytes that are not UTF-8, which are replaced": {
    files: {
      "bad/workflow.yaml": Buffer.concat([Buffer.from("# \xff\xfe\n", "latin1"), Buffer.from(YAML)]),
      "bad/a.md": Buffer.concat([Buffer.from(A), Buffer.from("caf\xe9\n", "latin1")]),
    },
    notice: [
      "bad/workflow.yaml: not valid UTF-8; the invalid bytes were replaced",
      "bad/a.md: not valid UTF-8; the invalid bytes were replaced",
    ],
    loads: ["bad"],
  },
  "a folder's name twice; the upper one is used": {
    files: Object.fromEntries([
      ...Object.entries(workflow("one", ["a"])),
      ...Object.entries(workflow("one", ["a"], { commandName: "other" })).map(([path, text]) => [
        `_shared/${path}`,
        text,
      ]),
    ]),
    notice: ['_shared/one: duplicate workflow "one"; the one in .pi/workflows/one is used'],
    loads: ["one"],
  },
};

/** @param {string} folder @param {Record<string, string | Buffer>} files */
function write(folder, files) {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/**
 * Replaces the project's workflows with the files of a case.
 *
 * @param {import("./harness/sandbox.mjs").Sandbox} sandbox
 * @param {Case} invalid
 */
function put(sandbox, { files, prepare }) {
  const folder = join(sandbox.project, ".pi/workflows");
  rmSync(dirname(folder), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  write(folder, files);
  prepare?.(folder);
}

/** Returns the panel of `/workflow :check`. @param {import("./harness/rpc.mjs").Rpc} rpc @returns {Promise<string>} */
async function check(rpc) {
  await rpc.prompt("/workflow :check");
  return custom(await rpc.entries(), "workflow:check").at(-1).content;
}

/**
 * Returns the lines of the panel with a place and a message; paths begin below the workflows folder.
 *
 * @param {string} panel
 */
function diagnosticLines(panel) {
  const lines = panel.split("\n").filter((line) => SEVERITY.test(line));
  return lines.map((line) => line.replace(/^\.pi\/workflows\//, "").replace(SEVERITY, ": "));
}

/** Returns the expected notice for the errors in the panel; `undefined` if there are none. @param {string} panel */
function noticeOf(panel) {
  const errors = panel.split("\n").filter((line) => / error: /.test(line) && SEVERITY.test(line));
  const files = new Set(errors.map((line) => line.replace(/(:\d+:\d+)?: error: .*$/, "")));
  const leftOut = Number(/ (\d+) workflows? (is|are) left out\.$/.exec(panel)?.[1] ?? 0);
  if (errors.length === 0) return undefined;
  if (errors.length === 1) return `error: ${errors[0].replace(SEVERITY, ": ")}: /workflow :check`;
  if (files.size === 1) return `error: ${[...files][0]}: ${errors.length} errors: /workflow :check`;
  if (leftOut === 0) return `error: ${errors.length} errors in workflow files: /workflow :check`;
  return `error: ${leftOut === 1 ? "1 workflow has" : `${leftOut} workflows have`} errors: /workflow :check`;
}

const SEVERITY = /: (error|warning): /;

/** @param {string} line */
const withoutPlace = (line) => line.replace(/:\d+:\d+: /, ": ");

for (const version of VERSIONS) {
  suite(`pi ${version}: diagnostics in workflow files`, { concurrency: 2 }, () => {
    test("are all shown in one panel, and valid workflows start", async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, { globalFiles: HELLO });
      const rpc = await startRpc({ version, sandbox });
      for (const [name, invalid] of Object.entries(CASES)) {
        const { notice, loads = [] } = invalid;
        put(sandbox, invalid);
        const from = notices(rpc).length;
        await rpc.prompt("/workflow");
        const [usage = "", told, ...more] = notices(rpc).slice(from).reverse();
        assert.deepEqual(more, [], name);
        const panel = await check(rpc);
        assert.equal(told, noticeOf(panel), name);
        // A later test checks the diagnostics without a span.
        const found = diagnosticLines(panel);
        const lines = found.map((line) => (notice.includes(line) ? line : withoutPlace(line)));
        assert.deepEqual(lines.sort(), [...notice].sort(), name);
        const offered = usage
          .split("\n")
          .slice(3)
          .map((line) => line.trim().split(" ")[0]);
        assert.deepEqual([...new Set(offered)].sort(), ["hello", ...new Set(loads)].sort(), name);
        if (loads[0]) {
          await rpc.promptAndSettle(`/workflow ${loads[0]} Do it`);
          assert.equal(states(await rpc.entries()).at(-1).completionNotified, true, name);
        }
      }
      await rpc.promptAndSettle("/workflow hello Do it");
      assert.equal(states(await rpc.entries()).at(-1).completionNotified, true);
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.equal(rpc.stderr(), "");
    });

    test("are announced once when a session starts, and again when they change", async (t) => {
      const { sandbox } = await stage(t, [], {
        globalFiles: { ...HELLO, "bad/workflow.yaml": `${HEAD}phases: [a.md]\n`, "bad/a.md": "write: []\nDo it.\n" },
        projectFiles: { "worse/workflow.yaml": "name: [\n" },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.waitFor(({ method }) => method === "notify");
      assert.deepEqual(notices(rpc), ["error: 2 workflows have errors: /workflow :check"]);
      const [worse, bad] = diagnosticLines(await check(rpc)).reverse();
      assert.equal(worse, "worse/workflow.yaml:1:8: not valid YAML: did not find expected node content");
      assert.ok(bad.startsWith(`${sandbox.agent}/workflows/bad/a.md:1:1: \`write\` is not read`), bad);
      const told = async () => {
        const from = notices(rpc).length;
        await rpc.prompt("/workflow");
        return notices(rpc).slice(from, -1);
      };
      assert.deepEqual(await told(), []);
      const files = Object.fromEntries(Array.from("abcdefghij", (name) => [`${name}/workflow.yaml`, "7\n"]));
      put(sandbox, { files, notice: [] });
      assert.deepEqual(await told(), ["error: 11 workflows have errors: /workflow :check"]);
      put(sandbox, { files: {}, notice: [] });
      assert.deepEqual(await told(), [`error: ${bad}: /workflow :check`]);
      put(sandbox, { files: { "a/workflow.yaml": "phases: 7\nshow: 7\nname: 7\nloopable: 7\n" }, notice: [] });
      rmSync(join(sandbox.agent, "workflows/bad/a.md"));
      assert.deepEqual(await told(), ["error: 2 workflows have errors: /workflow :check"]);
      rmSync(join(sandbox.agent, "workflows/bad"), { recursive: true });
      assert.deepEqual(await told(), ["error: .pi/workflows/a/workflow.yaml: 4 errors: /workflow :check"]);
      put(sandbox, { files: {}, notice: [] });
      assert.deepEqual(await told(), []);
      put(sandbox, { files: { "a/workflow.yaml": "7\n" }, notice: [] });
      assert.equal((await told()).length, 1);
      put(sandbox, { files: {}, notice: [] });
      assert.deepEqual(await told(), []);
      put(sandbox, { files: { "a/workflow.yaml": "7\n" }, notice: [] });
      assert.equal((await told()).length, 1, "the same diagnostic again, after it was gone");
    });

    test("name unknown tools, profiles and summaries", LONG, async (t) => {
      const lists = "tools: {blacklist: [edti]}\navailableProfiles: [scout, the planer, own]\n";
      const { sandbox } = await stage(t, [], {
        globalFiles: {
          "w/workflow.yaml": `${HEAD}phases: [look.md]\n`,
          "w/look.md": `---\nid: look\nname: Look\nemoji: '*'\n${lists}---\nDo {summary.lok}.\n`,
        },
      });
      write(join(sandbox.agent, "agents"), { "scout.md": "Scout.", "p.md": "---\nname: the planner\n---\nPlan." });
      write(join(sandbox.project, ".pi/agents"), { "own.md": "---\nname: Own\n---\nDo." });
      const lines = diagnosticLines(await check(await startRpc({ version, sandbox })));
      assert.deepEqual(
        lines.map((line) => line.replace(/^.*look\.md/, "")),
        [
          ":5:21: unknown tool `edti`",
          ":6:28: unknown subagent profile `the planer`",
          ":8:4: unknown variable `{summary.lok}`: no phase has the id `lok`; it is not replaced",
        ],
      );
    });
  });

  suite(`pi ${version}: workflows`, { concurrency: 2 }, () => {
    test("of the project replace global ones of the same folder name", async (t) => {
      const { model, sandbox } = await stage(t, nextUntilDone, {
        globalFiles: {
          ...workflow("shared", ["a"], { name: "Global" }),
          ...workflow("fallback", ["a"], { name: "Global fallback" }),
          ...workflow("only-global", ["@shared"]),
        },
        projectFiles: {
          ...workflow("shared", ["b"], { name: "Project" }),
          ...workflow("only-project", ["@only-global"]),
          "fallback/workflow.yaml": "7\n",
        },
      });
      const rpc = await startRpc({ version, sandbox, onDialog: () => "Yes" });
      await rpc.waitFor(({ method }) => method === "notify", { what: "the notice of one diagnostic" });
      assert.equal(notices(rpc).length, 1, "one diagnostic");
      await rpc.prompt("/workflow");
      assert.deepEqual(notices(rpc)[1].split("\n").slice(3), [
        "  fallback — Global fallback",
        "  only-global — The only-global",
        "  shared — Project",
        "  only-project — The only-project",
      ]);
      await rpc.promptAndSettle("/workflow only-project Do it");
      assert.equal(paths(states(await rpc.entries()))[0], "only-project:0 only-global:0 shared:0");
      assert.match(
        contextPrompt(model.requests[0]) ?? "",
        /^\[Workflow path: The only-project > The only-global > Project ▸ 🔹 B\]/,
      );
      const questions = rpc.ui("select").map(({ title }) => title);
      assert.deepEqual(questions, [`This project's "shared" replaces yours. It is part of "only-project". Start it?`]);
    });

    test("of the project are read only where pi trusts it", LONG, async (t) => {
      const { model, sandbox } = await stage(t, [{ text: "I rest." }, { text: "I rest." }], {
        globalFiles: workflow("shared", ["a"], { name: "Global" }),
        projectFiles: {
          ...workflow("shared", ["b"], { name: "Project" }),
          ...workflow("local", ["a"]),
          "bad/workflow.yaml": "7\n",
        },
      });
      for (const [trust, shared] of /** @type {const} */ ([
        [true, "Project"],
        [undefined, "Project"],
        [false, "Global"],
      ])) {
        const rpc = await startRpc({ version, sandbox, trust });
        await rpc.prompt("/workflow");
        const told = notices(rpc);
        assert.deepEqual(
          told.at(-1)?.split("\n").slice(3),
          [
            `  shared — ${shared}`,
            trust === false
              ? ".pi/workflows is not read: pi does not trust this project. To trust it: start pi with --approve."
              : "  local — The local",
          ],
          `trust: ${trust}`,
        );
        assert.equal(told.length, trust === false ? 1 : 2, "nor is anything said of diagnostics in it");
        await rpc.close();
      }
      // A run of a workflow whose project is no longer trusted.
      const first = await startRpc({ version, sandbox, trust: true });
      await first.promptAndSettle("/workflow local Do it");
      await first.close();
      const rpc = await startRpc({ version, sandbox, trust: false, args: ["--continue"] });
      const reason = "the files of the workflow “local” cannot be read";
      assert.deepEqual(statusTexts(rpc), ["⏸ local (paused: its files cannot be read)"]);
      assert.match(
        notices(rpc)[0],
        new RegExp(`^warning: ⏸ local is paused: ${reason}\\.\nAll tool calls are refused until`),
      );
      await rpc.promptAndSettle("Go on");
      assert.equal(contextPrompt(model.requests[1]), contextPrompt(model.requests[0]), "no further context prompt");
    });

    test("may be a list of files with only text", async (t) => {
      const { sandbox } = await stage(t, nextUntilDone, {
        projectFiles: {
          "fix-it/workflow.yaml": "phases: [look-at-it.md, do.md]\n",
          "fix-it/look-at-it.md": "Look at it.\n",
          "fix-it/do.md": "Do it.\n",
        },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("/workflow fix-it the clock");
      assert.equal(states(await rpc.entries()).at(-1).completionNotified, true);
      const told = statusTexts(rpc).flatMap((text) => text?.split(" (")[0] ?? []);
      assert.deepEqual([...new Set(told)].slice(0, 2), ["Fix It > Look At It [1/2]", "Fix It > Do [2/2]"]);
    });

    test("may lie in library folders, in folders of any name, behind links within the root", LONG, async (t) => {
      const inFolder = (/** @type {string} */ folder, /** @type {Record<string, string>} */ files) =>
        Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
      const odd = ["__proto__", "constructor", "toString", "hasOwnProperty"];
      const { sandbox } = await stage(t, nextUntilDone, {
        globalFiles: {
          ...inFolder("_shared", workflow("review", ["check"], { show: "workflows" })),
          ...inFolder("_shared/more/and more", workflow("Deep-One", ["dig"], { show: "workflows" })),
          "_shared/hand-over.md": phaseFile({ id: "hand-over" }),
          ...workflow("main", ["@review", "@deep-one", "@__proto__", "a"]),
          ...Object.assign({}, ...odd.map((key, index) => workflow(key, ["a"], { commandName: `odd-${index}` }))),
          // Windows line ends.
          "win/workflow.yaml": `${HEAD.replace("commandName: bad", "commandName: win").replaceAll("\n", "\r\n")}phases:\r\n  - ..\\_shared\\hand-over.md\r\n  - .\\sub\\a.md\r\n`,
          "win/sub/a.md": `\ufeff${A.replaceAll("\n", "\r\n")}`,
        },
      });
      const folder = join(sandbox.agent, "workflows");
      symlinkSync("main", join(folder, "zz-link"));
      const rpc = await startRpc({ version, sandbox });
      assert.deepEqual(notices(rpc), []);
      const duplicates = diagnosticLines(await check(rpc)).filter((line) => line.includes("duplicate command name"));
      assert.deepEqual(
        duplicates.map((text) => text.replaceAll(folder, "")),
        [
          '/zz-link/workflow.yaml:2:14: duplicate command name "main" of "zz-link" and "main" (/main/workflow.yaml); "main" is used',
        ],
      );
      await rpc.promptAndSettle("/workflow main Do it");
      assert.deepEqual(paths(states(await rpc.entries())).slice(0, 4), [
        "main:0 review:0",
        "main:1 Deep-One:0",
        "main:2 __proto__:0",
        "main:3",
      ]);
      for (const name of ["odd-0", "odd-1", "odd-2", "odd-3", "win"])
        await rpc.promptAndSettle(`/workflow ${name} Do it`);
      const ends = states(await rpc.entries()).filter(({ completionNotified }) => completionNotified);
      assert.deepEqual(
        ends.map(({ workflowKey }) => workflowKey),
        ["main", ...odd, "win"],
      );
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("that are nested too deep have a diagnostic", async (t) => {
      const folder = Array.from("abcdefghijkl").join("/");
      const { sandbox } = await stage(t, [], {
        globalFiles: HELLO,
        projectFiles: Object.fromEntries(Object.entries(HELLO).map(([path, text]) => [`${folder}/${path}`, text])),
      });
      const rpc = await startRpc({ version, sandbox });
      const [deep] = diagnosticLines(await check(rpc));
      assert.match(deep, /^a\/b\/[a-z/]+: the folders below this one are not searched: they are too deep$/);
    });
  });
}
