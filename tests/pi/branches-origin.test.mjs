// A branch is made of what its session was made of: nothing that came to the disk later reaches it, and what the
// session has in memory holds in it.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { branchOf, endsOf, panel, requestsOf, team, textIn } from "./harness/branches.mjs";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { bash, write } from "./harness/limited.mjs";
import { REPO, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { leave, notices, phaseFile, toolResults, workflow } from "./harness/workflows.mjs";
import { visibleStage } from "./harness/world.mjs";

/** @typedef {import("./harness/sandbox.mjs").Sandbox} Sandbox */
/** @typedef {import("./harness/scripted-model.mjs").ChatRequest} ChatRequest */
/** @typedef {import("./harness/scripted-model.mjs").Step} Step */

/**
 * A file that pi reads for a session, as it is at first and later. `$S` is the folder of signs, where code that runs
 * leaves a file; `$P` the project, `$A` pi's agent folder.
 *
 * @typedef {object} Brought
 * @property {string} path
 * @property {string} [first] its text at the start of pi
 * @property {string} later
 */

/** An extension that leaves a sign when it is loaded, and registers a tool. @param {string} name */
const extension = (name) =>
  `import { appendFileSync } from "node:fs"; export default (pi) => { appendFileSync("$S/${name}", "x"); pi.registerTool({ name: "${name.replaceAll("-", "_")}", label: "x", description: "${name}", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [], details: {} }) }); };`;

/** An extension with a tool that tells of its session. @param {string} name */
const facts = (name) =>
  `export default (pi) => pi.registerTool({ name: "facts", label: "facts", description: "${name}", parameters: { type: "object", properties: {} }, execute: async (_id, _input, _signal, _update, ctx) => ({ content: [{ type: "text", text: JSON.stringify({ by: "${name}", commands: pi.getCommands().map((command) => command.name), model: ctx.model.name, found: ctx.modelRegistry.find("scripted", "scripted")?.name, trusted: ctx.isProjectTrusted() }) }], details: {} }) });`;

/** @param {string} name */
const skill = (name) => `---\nname: ${name.toLowerCase()}\ndescription: ${name}.\n---\nx`;

/** @type {Brought[]} */
const FILES = [
  { path: "$P/.pi/extensions/facts.js", first: facts("FIRST-facts"), later: facts("LATER-facts") },
  { path: "$P/.pi/extensions/tool.js", first: extension("FIRST-tool"), later: extension("LATER-tool") },
  { path: "$P/.pi/extensions/new.js", later: extension("LATER-new") },
  { path: "$P/.pi/extensions/folder/index.js", later: extension("LATER-folder") },
  { path: "$P/.pi/extensions/moved.js/index.js", later: extension("LATER-moved") },
  { path: "$A/extensions/global.js", first: extension("FIRST-global"), later: extension("LATER-global") },
  { path: "$P/pack/index.js", later: extension("LATER-package") },
  {
    path: "$P/pack/package.json",
    later: `{ "name": "pack", "version": "1.0.0", "pi": { "extensions": ["./index.js"] } }`,
  },
  { path: "$P/other/named.js", later: extension("LATER-named") },
  { path: "$P/../shell", later: `#!/bin/bash\necho x >> $S/shell\nexec bash "$@"` },
  { path: "$P/other/npm", later: `#!/bin/bash\necho x >> $S/npm\nexit 1` },
  {
    path: "$P/.pi/settings.json",
    first: JSON.stringify({ shellCommandPrefix: "export PREFIX=FIRST-prefix" }),
    later: JSON.stringify({
      shellCommandPrefix: "echo x >> $S/prefix; export PREFIX=LATER-prefix",
      shellPath: "$P/../shell",
      npmCommand: ["$P/other/npm"],
      packages: ["../pack", "npm:no-such-package-of-pi-workflows"],
      extensions: ["../other/named.js"],
      skills: ["../other/skills"],
      prompts: ["../other/prompts"],
      defaultModel: "LATER-model",
      defaultTools: ["+grep"],
    }),
  },
  { path: "$P/other/skills/named/SKILL.md", later: skill("LATER-skill-of-settings") },
  { path: "$P/other/prompts/LATER-prompt-of-settings.md", later: "x" },
  { path: "$P/AGENTS.md", first: "FIRST-agents", later: "LATER-agents" },
  { path: "$A/AGENTS.md", first: "FIRST-agents-of-user", later: "LATER-agents-of-user" },
  { path: "$P/../CLAUDE.md", first: "FIRST-claude-above", later: "LATER-claude-above" },
  { path: "$P/.pi/SYSTEM.md", first: "FIRST-system", later: "LATER-system" },
  { path: "$P/.pi/APPEND_SYSTEM.md", later: "LATER-append" },
  { path: "$P/.pi/skills/one/SKILL.md", first: skill("FIRST-skill"), later: skill("LATER-skill") },
  { path: "$P/.agents/skills/two/SKILL.md", later: skill("LATER-skill-of-agents") },
  { path: "$P/.pi/prompts/FIRST-prompt.md", first: "x", later: "y" },
  { path: "$P/.pi/prompts/LATER-prompt.md", later: "x" },
  { path: "$P/.pi/themes/LATER-theme.json", later: "{}" },
  {
    path: "$P/.pi/mcp.json",
    later: JSON.stringify({ mcpServers: { later: { command: "bash", args: ["-c", "echo x >> $S/mcp"] } } }),
  },
];

/** A file of the session whose place is taken by a folder. */
const MOVED = { path: "$P/.pi/extensions/moved.js", text: extension("FIRST-moved") };

/**
 * A guard with a state that it has in the session only, as pi's example of a plan mode. It takes down each of its calls
 * and the session of it.
 */
const GUARD = `export default (pi) => {
  let isOn = false;
  const note = (name, ctx) => (globalThis.noted ??= []).push(name + " " + (ctx.sessionManager.getHeader().parentSession ? "branch" : "session"));
  pi.registerCommand("guard", { handler: async (args) => {
    isOn = args !== "off";
    if (args === "late") pi.on("tool_call", ({ input }) => input.command?.includes("of-late") ? { block: true, reason: "refused late" } : undefined);
  } });
  pi.on("tool_call", async ({ toolName, input }, ctx) => {
    if (!isOn || toolName !== "bash") return;
    note("first", ctx);
    if (input.command.includes("throws")) throw new Error("the guard broke");
    if (input.command.includes("hangs")) return new Promise(() => {});
    if (input.command.includes("asks") && !(await ctx.ui.confirm("Run it?", input.command))) return { block: true, reason: "refused by the user" };
    if (input.command.includes("touch")) return { block: true, reason: "refused by the guard" };
    if (input.command.includes("changed")) input.command = "echo by-the-guard";
  });
  pi.on("tool_result", ({ toolName, content }) => isOn && toolName === "bash" ? { content: [...content, { type: "text", text: "seen" }] } : undefined);
};`;

/** A second one, behind the first one. */
const SECOND = `export default (pi) => {
  pi.registerCommand("noted", { handler: async (_args, ctx) => ctx.ui.notify(JSON.stringify(globalThis.noted)) });
  pi.on("tool_call", ({ toolName }, ctx) => { if (toolName === "bash") (globalThis.noted ??= []).push("second " + (ctx.sessionManager.getHeader().parentSession ? "branch" : "session")); });
  pi.on("tool_result", ({ content }) => content.at(-1)?.text === "seen" ? { content: [...content, { type: "text", text: "twice" }] } : undefined);
};`;

/** An extension that reloads the session. */
const AGAIN = `export default (pi) => pi.registerCommand("again", { handler: async (_args, ctx) => ctx.reload() });`;

/** What of these files is in the system prompt and among the tools of a request, and in the results of its calls. @param {ChatRequest | undefined} request @param {string[]} results */
function seen(request, results) {
  const prompt = request?.messages.filter(({ role }) => role === "system" || role === "developer");
  const text = JSON.stringify([prompt, request?.tools, results]).replaceAll(/\\+n/g, " ").toLowerCase();
  return [...new Set(text.match(/\b(first|later)-[\w-]+/g))].sort();
}

for (const version of VERSIONS) {
  suite(`pi ${version}: the origin of branches`, { concurrency: 2 }, () => {
    test(`is that of the session: ${FILES.length} files that are made, changed and taken away`, async (t) => {
      const look = { calls: [{ name: "facts", arguments: {} }, bash("echo $PREFIX")] };
      /** @type {Step[]} */
      const queue = [];
      const looks = (/** @type {ChatRequest} */ request) => (toolResults(request).length === 0 ? look : undefined);
      const play = team({ A: looks, B: looks });
      const { model, sandbox } = await visibleStage(
        t,
        (request, index) => (branchOf(request) === undefined ? queue.shift() : undefined) ?? play(request, index),
        {
          globalFiles: {
            ...panel(["a", "b"].map((id) => ({ id, tools: { whitelist: ["bash", "facts"] } }))),
          },
        },
      );
      const signs = join(sandbox.root, "signs");
      mkdirSync(signs);
      const filled = (/** @type {string} */ text) =>
        text.replaceAll("$S", signs).replaceAll("$P", sandbox.project).replaceAll("$A", sandbox.agent);
      const put = (/** @type {string} */ path, /** @type {string} */ content) => {
        mkdirSync(dirname(filled(path)), { recursive: true });
        writeFileSync(filled(path), filled(content));
      };
      for (const { path, first } of FILES) if (first !== undefined) put(path, first);
      put(MOVED.path, MOVED.text);
      put("$S/../again.js", AGAIN);
      const left = () => readdirSync(signs).sort();
      const rpc = await startRpc({ version, sandbox, trust: true, extension: [REPO, join(sandbox.root, "again.js")] });

      /** Plays a run with a group; the session does this first. @param {...Step} steps */
      const run = async (...steps) => {
        const before = model.requests.length;
        queue.push(look, ...steps, leave("", { summary: "Did it." }));
        await rpc.promptAndSettle("/workflow panel The task");
        const requests = model.requests.slice(before);
        const of = (/** @type {string | undefined} */ name) => {
          const own = requests.filter((request) => branchOf(request) === name);
          const results = toolResults(own[name === undefined ? 1 : own.length - 1]).filter((result) =>
            /^\{"by"|prefix/i.test(result),
          );
          return seen(own[0], results.slice(-2));
        };
        assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done" }, `${notices(rpc).join("\n")}`);
        return { session: of(undefined), A: of("A"), B: of("B") };
      };
      const first = await run();
      assert.equal(first.session.length, 11, String(first.session));
      assert.deepEqual([first.A, first.B], [first.session, first.session]);
      assert.deepEqual(
        first.session.filter((name) => name.startsWith("later")),
        [],
      );
      const told = () => notices(rpc).filter((notice) => notice.includes("Changed on disk"));
      assert.deepEqual(told(), []);

      // Made and changed by the tool and by commands.
      const before = left();
      const later = FILES.map(({ path, later }) => ({ path: filled(path), content: filled(later) }));
      await run({ calls: [bash(`rm ${filled(MOVED.path)}; mkdir -p ${filled("$P/.pi/extensions/moved.js")}`)] });
      const byCommand = (/** @type {{ path: string, content: string }} */ { path, content }) =>
        bash(
          `mkdir -p '${dirname(path)}'; printf %s '${content.replaceAll("'", `'\\''`)}' > '${path}'; chmod +x '${path}'`,
        );
      const made = await run(
        {
          calls: later.map(({ path, content }, index) =>
            index % 2 ? write(path, content) : byCommand({ path, content }),
          ),
        },
        { calls: [bash(`chmod +x other/* ../shell`)] },
      );
      for (const { path, content } of later) assert.equal(readFileSync(path, "utf8"), content);
      assert.deepEqual([made.A, made.B], [first.session, first.session]);
      assert.deepEqual(made.session, first.session);
      assert.deepEqual(left(), before, "nothing of it has run");
      assert.equal(told().length, 1, told().join("\n"));

      // Taken away.
      const gone = await run({ calls: [bash(`rm -rf .pi .agents AGENTS.md other pack`)] });
      assert.deepEqual([gone.A, gone.B], [first.session, first.session]);
      assert.deepEqual(left(), before);
      assert.equal(told().length, 1, "the user was told");

      // After a reload it is what the session has.
      for (const { path, later } of FILES) put(path, later);
      await run({ calls: [bash(`chmod +x other/* ../shell`)] });
      await rpc.prompt("/again");
      const again = await run();
      assert.ok(again.session.filter((name) => name.startsWith("later")).length > 12, String(again.session));
      assert.deepEqual([again.A, again.B], [again.session, again.session]);

      assert.deepEqual(rpc.extensionErrors(), []);
      assert.deepEqual(model.faults, []);
    });

    test("are the guards of its session, with their state, once each and in their order", LONG, async (t) => {
      let isLate = () => {};
      const late = new Promise((resolve) => (isLate = () => resolve(undefined)));
      const lines = ["touch made", "echo changed", "echo throws", "echo asks"];
      const script = {
        A: [{ calls: lines.map((line) => bash(line)) }],
        B: async (/** @type {ChatRequest} */ _request, /** @type {number} */ index) => {
          if (index > 0) return undefined;
          await rpc.prompt("/guard late");
          isLate();
          return { calls: [bash("echo of-late")] };
        },
      };
      const play = team(script);
      const own = { calls: [bash("touch made")] };
      const { model, sandbox } = await visibleStage(t, (request, index) => (index === 0 ? own : play(request, index)), {
        globalFiles: panel(["a", "b"]),
        files: { "guard.js": GUARD, "second.js": SECOND },
      });
      const extensions = ["guard.js", "second.js"].map((name) => join(sandbox.project, name));
      /** @type {string[]} */
      const asked = [];
      const onDialog = (/** @type {any} */ { title }) => (asked.push(title), false);
      const rpc = await startRpc({ version, sandbox, onDialog, extension: [extensions[0], REPO, extensions[1]] });
      await rpc.prompt("/guard on");
      await rpc.promptAndSettle("Touch it");
      await rpc.promptAndSettle("/workflow panel The task");
      await late;
      const results = toolResults(requestsOf(model, "A")[1]);
      const expected = [
        /^refused by the guard/,
        /^by-the-guard\s+seen\s+twice$/,
        /the guard broke/,
        /^refused by the user/,
      ];
      for (const [index, pattern] of expected.entries())
        assert.match(results[index].trim(), pattern, results.join("\n"));
      assert.match(toolResults(requestsOf(model, "B")[1])[0], /^refused late/);
      assert.equal(textIn(sandbox, "made"), undefined);
      assert.equal(asked.length, 1);
      assert.equal(asked[0], 'Branch "A": Run it?');
      await rpc.prompt("/noted");
      const noted = JSON.parse(rpc.ui("notify").at(-1).message);
      assert.deepEqual(noted.sort(), ["first session", ...Array(5).fill("first branch"), "second branch"].sort());
      assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done" });
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("are the consents of its session; one that is given in a branch holds there only", async (t) => {
      const projectFiles = panel(
        ["a", "b", "c"].map((id) => ({ id, gate: [{ run: "echo all" }] })),
        { parallel: 2 },
      );
      const { sandbox } = await stage(t, team(), { projectFiles });
      /** @type {string[]} */
      const asked = [];
      let answer = "Yes, for this run";
      const onDialog = (/** @type {any} */ { title }) => (asked.push(title), answer);
      const rpc = await startRpc({ version, sandbox, onDialog });
      await rpc.promptAndSettle("/workflow panel The task");
      const all = { A: "done", B: "done", C: "done" };
      assert.deepEqual(endsOf(await rpc.entries()), all, notices(rpc).join("\n"));
      assert.equal(asked.length, 1, "before the run starts");
      await rpc.close();

      // Nobody can be asked at the start: the branches wait, and then ask themselves.
      await runPrint({ version, sandbox, prompt: "/workflow panel The task" });
      const again = await startRpc({ version, sandbox, onDialog, args: ["--continue"] });
      answer = "Yes, for this session";
      await again.promptAndSettle("/workflow :resume");
      assert.deepEqual(endsOf(await again.entries()), all, notices(again).join("\n"));
      assert.equal(asked.length, 4, asked.join("\n"));
      // Nor does the session have their consent.
      answer = "No";
      await again.prompt("/workflow panel The task");
      assert.equal(asked.length, 5);
    });

    test("holds no one up whose guard hangs, and a reload in the middle of a group", LONG, async (t) => {
      const script = team({
        A: (_request, index) => [{ calls: [bash("echo hangs")] }, { text: "I think.", hang: true }][index],
      });
      const { model, sandbox } = await visibleStage(t, script, {
        globalFiles: {
          ...workflow("w", [], {
            autoContinue: false,
            phases: [{ id: "team", phases: ["a.md", "b.md"], parallel: true }],
          }),
          ...Object.fromEntries(["a", "b"].map((id) => [`w/${id}.md`, phaseFile({ id, write: [] })])),
        },
        files: { "guard.js": GUARD, "again.js": AGAIN },
      });
      const extension = [join(sandbox.project, "guard.js"), join(sandbox.project, "again.js"), REPO];
      const rpc = await startRpc({ version, sandbox, extension });
      /** Enters a line, until the model has this number of requests. @param {string} line @param {number} requests */
      const enter = async (line, requests) => {
        void rpc.prompt(line).catch(() => {});
        await model.waitForRequests(requests);
        await sleep(500);
      };
      await rpc.prompt("/guard on");
      await enter("/workflow w The task", 2);
      await rpc.prompt("/workflow :pause");
      assert.deepEqual(endsOf(await rpc.entries()), { A: undefined, B: "done" }, notices(rpc).join("\n"));
      await rpc.prompt("/guard off");
      await enter("/workflow :resume", 3);
      await rpc.prompt("/again");
      await rpc.send({ type: "prompt", message: "/workflow :resume" }, { timeoutMs: 30_000 });
      assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done" }, notices(rpc).join("\n"));
      assert.deepEqual(model.faults, []);
    });
  });
}
