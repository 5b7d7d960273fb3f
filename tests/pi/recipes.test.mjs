// The recipes of docs/recipes.md: each loads without a diagnostic, goes the ways that its text names, and runs in pi.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { parse } from "yaml";

import { openWorkflows } from "../../cli/workflows.js";
import { demoAgent } from "../../scripts/demo/agent.mjs";
import { VERSIONS } from "./harness/extent.mjs";
import { REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { states, toolResults } from "./harness/workflows.mjs";

const PAGE = readFileSync(join(REPO, "docs/recipes.md"), "utf8");
const WORKFLOWS = ".pi/workflows/";
const LIMITS = "~/.pi/agent/workflows/settings.yaml";
/** The recipes without a workflow. */
const OF_SETTINGS = ["Told outside of pi", "Limits for every session"];

/** The recipes: the files of each, by path, and the line that starts it in pi. */
const RECIPES = PAGE.split("\n## ")
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    files: Object.fromEntries(
      [...section.matchAll(/^`(\S+)`:\n\n```\w+\n([^]*?)^```$/gm)].map(([, path, text]) => [path, text]),
    ),
    start: /^In pi: `(\/workflow [^`]+)`/m.exec(section)?.[1] ?? "",
  }));

/** The files of all recipes. @type {Record<string, string>} */
const FILES = Object.assign({}, ...RECIPES.map(({ files }) => files));

/** The files of workflows, by their paths in a folder of workflows. */
const OF_WORKFLOWS = Object.fromEntries(
  Object.entries(FILES).flatMap(([path, text]) =>
    path.startsWith(WORKFLOWS) ? [[path.slice(WORKFLOWS.length), text]] : [],
  ),
);

/** A project in which the commands of the recipes succeed. */
const PROJECT = {
  "package.json":
    '{ "private": true, "scripts": { "test": "test -f package.json", "lint": "test -f package.json" } }\n',
  "CHANGELOG.md": "- The first entry.\n",
};

/** A text of the session that shows what each recipe is for. @type {Record<string, RegExp>} */
const SHOWN = {
  "Look only": /greeting\.txt\\+" cannot be written in the Explain phase/,
  "A gate": /✓ npm test: exit status 0[^]*✓ CHANGELOG\.md/,
  "A reviewer who sees nothing old": /Review starts fresh: the task(?!, )/,
  "A list of tasks": /Do task 2 of 2, and no other: Read the greeting once more/,
  "Several reviewers at once": /"end":\{[^}]*"clean"[^]*"end":\{[^}]*"clean"/,
  "A question to the user": /"verdict"[^]*"go"/,
  "Until a command succeeds": /"tests"[^]*"ok"/,
  "Values for commands": /"api"/,
  CI: /✓ npm run lint: exit status 0/,
};

test("each recipe is a whole workflow, loads without a diagnostic, and can be started as the page says", (t) => {
  assert.deepEqual(
    RECIPES.map(({ title }) => title).filter((title) => !OF_SETTINGS.includes(title)),
    Object.keys(SHOWN),
  );
  const paths = RECIPES.flatMap(({ files }) => Object.keys(files));
  assert.equal(new Set(paths).size, paths.length, "a file of two recipes");
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-recipes-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries({ ...OF_WORKFLOWS, "settings.yaml": FILES[LIMITS] })) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const workflows = openWorkflows([{ name: "global", path: folder }]);
  const { diagnostics } = workflows.check({ tools: [], moreTools: true });
  assert.deepEqual(
    diagnostics.map(({ text }) => text),
    [],
  );
  for (const { title, files, start } of RECIPES.filter(({ title }) => title in SHOWN)) {
    const [, name, input, task] = /^\/workflow (\S+) (?:(\w+=\w+) )?(.+)$/.exec(start) ?? [];
    const inputs = input ? [/** @type {[string, string]} */ (input.split("="))] : [];
    assert.ok(files[`${WORKFLOWS}${name}/workflow.yaml`], title);
    assert.match(
      workflows.runThrough(name, task, inputs, [], [], []),
      /━━ What the user is shown at the end ━━/,
      title,
    );
  }
  const played = (/** @type {string} */ name, /** @type {[string, string[]][]} */ ...outcomes) =>
    workflows.runThrough(name, "a task", [], outcomes, [], []);
  assert.match(played("reviewed", ["review", ["issues", "clean"]]), /Findings of the review[^]*Findings of the review/);
  assert.match(played("judged", ["bugs", ["issues", "clean"]]), /reviews: issues[^]*reviews: clean/);
  assert.match(played("judged", ["bugs", ["issues"]]), /Judged was stopped in [^]*: issues/);
  assert.match(played("planned", ["verdict", ["change", "go"]]), /What the user said of the plan before[^]*Do what/);
  assert.match(played("planned", ["verdict", ["drop"]]), /Planned was stopped in [^]*: drop/);
});

test("the job of the recipe for CI has inputs of the action", () => {
  const job = parse(FILES[".github/workflows/warnings.yaml"]).jobs.warnings;
  const uses = job.steps.find((/** @type {any} */ step) => /pi-workflows@/.test(step.uses));
  const { inputs } = parse(readFileSync(join(REPO, "action.yml"), "utf8"));
  assert.deepEqual(
    Object.keys(uses.with).filter((name) => !(name in inputs)),
    [],
  );
  assert.ok(FILES[`${WORKFLOWS}${uses.with.workflow}/workflow.yaml`]);
});

test("the program that is told of runs tells a desktop, a terminal, ntfy and Slack", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-tell-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  /** @type {string[]} */
  const got = [];
  const server = createServer(async (request, response) => {
    got.push(`${request.url} ${request.headers["content-type"]} ${await text(request)}`);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  t.after(() => server.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const write = (/** @type {string} */ name, /** @type {string} */ content) =>
    writeFileSync(join(folder, name), content, { mode: 0o755 });
  write("tell", FILES["~/bin/tell"].replaceAll(/https:\/\/[^/\s]+/g, `http://127.0.0.1:${port}`));
  for (const name of ["notify-send", "osascript"])
    write(name, `#!/bin/sh\nfor last; do :; done\nprintf '${name} %s\\n' "$last" >> "${folder}/shown"\n`);
  write("tty", "");
  write("ps", `#!/bin/sh\n[ "$*" = "-o tty= -p ${process.pid}" ] && echo ..${folder}/tty\n`);
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const program = spawn(join(folder, "tell"), { env, stdio: ["pipe", "inherit", "inherit"] });
  program.stdin.end('{"time":1,"run":"wf-1","entry":"hello:0","type":"waiting"}\n');
  assert.deepEqual(await once(program, "exit"), [0, null]);
  const read = (/** @type {string} */ name) => readFileSync(join(folder, name), "utf8");
  assert.equal(read("shown"), "notify-send pi: waiting at hello:0\nosascript pi: waiting at hello:0\n");
  assert.equal(read("tty"), "\x1b]9;pi: waiting at hello:0\x07");
  assert.equal(got[0], "/TOPIC application/x-www-form-urlencoded pi: waiting at hello:0");
  assert.match(got[1], /^\/services\/T\/B\/X application\/json \{\s*"text": "pi: waiting at hello:0"\s*\}$/);
});

for (const version of VERSIONS) {
  suite(`pi ${version}: the recipes`, () => {
    test("run to DONE in pi", async (t) => {
      const { sandbox } = await stage(t, demoAgent({ paceMs: 0 }), { globalFiles: OF_WORKFLOWS, files: PROJECT });
      /** @type {string[]} */
      const asked = [];
      const onDialog = (/** @type {any} */ { title, options }) => {
        asked.push(title);
        return options?.find((/** @type {string} */ of) => /^(Yes|go)\b/i.test(of));
      };
      const rpc = await startRpc({ version, sandbox, onDialog });
      for (const { title, start } of RECIPES.filter(({ title }) => title in SHOWN)) {
        const before = (await rpc.entries()).length;
        await rpc.promptAndSettle(start);
        const entries = (await rpc.entries()).slice(before);
        const { workflowKey, active, cancelled, completionNotified } = states(entries).at(-1);
        const ended = [false, false, true];
        assert.deepEqual([active, cancelled, completionNotified], ended, `${title}: ${workflowKey}`);
        assert.ok(SHOWN[title].test(JSON.stringify(entries)), title);
      }
      assert.deepEqual(rpc.extensionErrors(), []);
      assert.match(asked.join("\n"), /Is this the right plan\?/);
      const changelog = readFileSync(join(sandbox.project, "CHANGELOG.md"), "utf8");
      assert.equal(changelog, `${PROJECT["CHANGELOG.md"]}- Done as the phase asks. (api)\n`);
    });

    test("the limits hold in a session without a run", async (t) => {
      const write = (/** @type {string} */ path) => ({ name: "write", arguments: { path, content: "x\n" } });
      const calls = [write("src/a.ts"), write("package.json")];
      const { model, sandbox } = await stage(t, [{ calls }, { text: "Done." }], {
        globalFiles: { "settings.yaml": FILES[LIMITS] },
        files: { ...PROJECT, "src/b.ts": "" },
      });
      const rpc = await startRpc({ version, sandbox });
      await rpc.promptAndSettle("Write both.");
      const [allowed, refused] = toolResults(model.requests[1]);
      assert.match(allowed, /Successfully wrote/);
      assert.match(refused, /"package\.json" cannot be written/);
    });
  });
}
