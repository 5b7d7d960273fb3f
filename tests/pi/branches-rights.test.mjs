// A branch of a parallel group has the rights of its phase and of its parent's session, and no others.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { basename, dirname, join, resolve } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { branchesOf, childFiles, endsOf, panel, parentFiles, requestsOf, team, textIn } from "./harness/branches.mjs";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { bash, edit, write } from "./harness/limited.mjs";
import { REPO, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { asks, leave, notices, paths, states, toolResults } from "./harness/workflows.mjs";
import { visibleStage } from "./harness/world.mjs";

/** @typedef {import("./harness/sandbox.mjs").Sandbox} Sandbox */
/** @typedef {import("./harness/limited.mjs").Call} Call */

/**
 * A way to get round the rules: calls of a branch that may write `a/` only.
 * @typedef {object} Way
 * @property {string} name
 * @property {(at: Place) => Call[]} calls
 * @property {(at: Place) => unknown} led returns something true if it led out
 */
/**
 * @typedef {{ sandbox: Sandbox, parent: string, own: string, sibling: string, pid: number, url: string, hits: string[] }} Place
 */

/** @param {string} file */
const text = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");

/** @param {Place} at */
const workflows = ({ sandbox }) => join(sandbox.agent, "workflows/panel");

/**
 * A file that must not be changed, by a command and by the tools.
 *
 * @param {string} name
 * @param {(at: Place) => string} file
 * @returns {Way[]}
 */
const unwritable = (name, file) => {
  // In a session file are the calls too, but on one line with others.
  const led = (/** @type {Place} */ at) => /^changed$/m.test(text(resolve(at.sandbox.project, file(at))));
  return [
    { name: `${name}: a command`, calls: (at) => [bash(`echo changed >> '${file(at)}'`)], led },
    { name: `${name}: the tool write`, calls: (at) => [write(file(at))], led },
    {
      name: `${name}: a link`,
      calls: (at) => [bash(`ln -sfn '${file(at)}' a/link; echo changed >> a/link`), write("a/link")],
      led,
    },
  ];
};

/** @type {Way[]} */
const WAYS = [
  ...unwritable("a file of another branch", () => "b/file"),
  ...unwritable("the session of the parent", ({ parent }) => parent),
  ...unwritable("the session of the branch", ({ own }) => own),
  ...unwritable("the session of another branch", ({ sibling }) => sibling),
  ...unwritable("the workflow", (at) => join(workflows(at), "a.md")),
  ...unwritable("the settings of the user", ({ sandbox }) => join(sandbox.agent, "settings.json")),
  ...unwritable("the models of the user", ({ sandbox }) => join(sandbox.agent, "models.json")),
  ...unwritable("a workflow of the project", () => ".pi/workflows/panel/workflow.yaml"),
  ...unwritable("an extension of the project", () => ".pi/extensions/new.ts"),
  ...unwritable("the folders of runs", ({ sandbox }) => join(sandbox.agent, "workflow-runs/new")),
  {
    name: "edit of another branch's file",
    calls: () => [edit("b/file")],
    led: ({ sandbox }) => textIn(sandbox, "b/file")?.includes("changed"),
  },
  {
    name: "a hidden file: a command",
    calls: () => [bash("grep -q the-secret hidden.txt && touch a/read-it")],
    led: ({ sandbox }) => existsSync(join(sandbox.project, "a/read-it")),
  },
  {
    name: "the network",
    calls: ({ url }) => [
      bash(
        `curl -s -m 2 ${url}/network; exec 3<>/dev/tcp/${new URL(url).host.replace(":", "/")} && echo -e 'GET /tcp HTTP/1.0\\r\\n\\r' >&3`,
      ),
    ],
    led: ({ hits }) => hits.length > 0,
  },
  {
    name: "the process of pi",
    calls: ({ pid }) => [bash(`kill -9 ${pid}; kill -9 $PPID; echo changed > /proc/${pid}/cwd/b/file`)],
    led: ({ pid }) => !existsSync(`/proc/${pid}`),
  },
  {
    name: "the descriptors of pi",
    calls: ({ pid }) => [bash(`for f in /proc/${pid}/fd/*; do echo changed >> $f; done; true`)],
    led: ({ parent }) => /^changed$/m.test(text(parent)),
  },
  {
    name: "the temporary files of another branch",
    calls: () => [bash("cat /tmp/of-the-other && touch a/read-temporary")],
    led: ({ sandbox }) => existsSync(join(sandbox.project, "a/read-temporary")),
  },
];

/** What a branch may. @type {Way[]} */
const CONTROLS = [
  {
    name: "its folder",
    calls: () => [bash("echo mine > a/mine")],
    led: ({ sandbox }) => textIn(sandbox, "a/mine") === "mine\n",
  },
  {
    name: "its folder by the tool",
    calls: () => [write("a/tool", "mine\n")],
    led: ({ sandbox }) => textIn(sandbox, "a/tool") === "mine\n",
  },
];

/** An extension that acts in children only, with `act` in the place of this word. @param {string} act */
const inChildren = (act) => `export default (pi) => {
  const isChild = (ctx) => ctx.sessionManager.getHeader()?.parentSession !== undefined;
  ${act}
};`;

/** An extension whose guard refuses a command. @param {string} name */
const guard = (name) => `export default (pi) => {
  pi.on("tool_call", ({ toolName, input }) => toolName === "bash" && input.command.includes("${name}") ? { block: true, reason: "refused by ${name}" } : undefined);
};`;

for (const version of VERSIONS) {
  suite(`pi ${version}: the rights of branches`, { concurrency: 2 }, () => {
    test(`${WAYS.length} ways round the rules of a phase lead nowhere`, { timeout: 120_000 }, async (t) => {
      /** @type {string[]} */
      const hits = [];
      const server = createServer((request, response) => (hits.push(request.url ?? ""), response.end())).listen(
        0,
        "127.0.0.1",
      );
      t.after(() => server.close());
      await new Promise((resolve) => server.once("listening", resolve));
      const url = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
      const all = [...CONTROLS, ...WAYS];
      /** @type {Place} */
      let at;
      let isOver = () => {};
      const over = new Promise((resolve) => (isOver = () => resolve(undefined)));
      const script = team({
        A: async (request, index) => {
          if (index === 0) return { calls: [bash("true")] };
          if (index === 1) {
            // The other one has begun to write, and both have session files.
            for (
              let tries = 0;
              !(textIn(sandbox, "b/file") && childFiles(sandbox).length === 2) && tries < 200;
              tries += 1
            )
              await sleep(20);
            const [one, two] = childFiles(sandbox);
            const parent = parentFiles(sandbox)[0];
            const isOwn = text(one).includes("Work on “A”");
            at = { sandbox, parent, own: isOwn ? one : two, sibling: isOwn ? two : one, pid: rpc.pid, url, hits };
          }
          const way = all[index - 1];
          if (way) return { calls: way.calls(at) };
          isOver();
          return undefined;
        },
        B: async (_request, index) => {
          if (index === 0)
            return {
              calls: [
                bash("echo untouched > b/file; echo other > /tmp/of-the-other"),
                bash("sleep 0.2; echo more >> b/other"),
              ],
            };
          if (index === 1) await over;
          return undefined;
        },
      });
      const files = {
        "b/.keep": "",
        "a/.keep": "",
        "hidden.txt": "the-secret",
        ".pi/workflows/.keep": "",
        ".pi/extensions/.keep": "",
      };
      const limits = { hide: ["hidden.txt"], network: false };
      const { model, sandbox } = await visibleStage(t, script, {
        globalFiles: panel([
          { id: "a", ...limits, write: ["a/"] },
          { id: "b", write: ["b/"] },
        ]),
        files,
      });
      const rpc = await startRpc({ version, sandbox, trust: true });
      const before = {
        settings: text(join(sandbox.agent, "settings.json")),
        models: text(join(sandbox.agent, "models.json")),
      };
      await rpc.promptAndSettle("/workflow panel The task", { timeoutMs: 110_000 });
      assert.deepEqual(model.faults, []);
      const led = (/** @type {Way[]} */ ways) => ways.filter((way) => way.led(at)).map(({ name }) => name);
      assert.deepEqual(
        led(CONTROLS),
        CONTROLS.map(({ name }) => name),
        notices(rpc).join("\n"),
      );
      assert.deepEqual(led(WAYS), []);
      assert.deepEqual(
        { settings: text(join(sandbox.agent, "settings.json")), models: text(join(sandbox.agent, "models.json")) },
        before,
      );
      assert.equal(textIn(sandbox, "b/other"), "more\n");
      assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done" });
      t.diagnostic(`${WAYS.length} ways`);
    });

    test("has the tools of the session and of its phase, and no others", LONG, async (t) => {
      const files = panel([{ id: "a", tools: { blacklist: ["grep", "edit"] } }, "b"]);
      /** @param {string[]} args */
      const toolsWith = async (...args) => {
        const call = {
          calls: [
            bash("touch ran"),
            { name: "edit", arguments: { path: "x", edits: [] } },
            { name: "grep", arguments: { pattern: "x" } },
          ],
        };
        const { model, sandbox } = await stage(t, team({ A: [call], B: [{ calls: [bash("touch ran")] }] }), {
          globalFiles: files,
        });
        const rpc = await startRpc({ version, sandbox, args });
        await rpc.promptAndSettle("/workflow panel The task");
        const toolsOf = (/** @type {string} */ name) =>
          requestsOf(model, name)[0]
            ?.tools?.map(({ function: { name } }) => name)
            .sort();
        const told = toolResults(requestsOf(model, "A")[1]).map((result) => result.slice(0, 200));
        await rpc.close();
        return {
          A: toolsOf("A"),
          B: toolsOf("B"),
          told,
          ran: existsSync(join(sandbox.project, "ran")),
          own: model.toolNames(0).sort(),
        };
      };
      const plain = await toolsWith();
      assert.deepEqual(plain.B, plain.own);
      assert.match(plain.told[1], /edit|not found/i);
      const reading = await toolsWith("--tools", "read,workflow_step");
      assert.deepEqual(reading.own, ["read", "workflow_step"]);
      assert.deepEqual([reading.A, reading.B], [reading.own, reading.own]);
      assert.match(reading.told[0], /not found/);
      assert.equal(reading.ran, false);
      const excluding = await toolsWith("--exclude-tools", "bash");
      assert.deepEqual(excluding.B, excluding.own);
      assert.ok(!excluding.own.includes("bash"));
      assert.match(excluding.told[0], /not found/);
    });

    test(
      "has no workflows, settings, extensions and context files of a project that is not trusted",
      LONG,
      async (t) => {
        const files = {
          ".pi/extensions/evil.ts": `import { writeFileSync } from "node:fs"; export default (pi) => { writeFileSync("loaded", "x"); pi.registerTool({ name: "evil", label: "evil", description: "x", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [], details: {} }) }); };`,
          ".pi/settings.json": JSON.stringify({ defaultModel: "evil", extensions: ["../other.ts"] }),
          ".pi/SYSTEM.md": "EVIL SYSTEM PROMPT",
          ".pi/skills/evil/SKILL.md": "---\nname: evil-skill\ndescription: An evil skill.\n---\nx",
          "other.ts": `import { writeFileSync } from "node:fs"; export default () => writeFileSync("loaded", "x");`,
        };
        const run = async (/** @type {boolean} */ trust) => {
          const { model, sandbox } = await stage(t, team(), {
            globalFiles: panel(["a", "b"]),
            projectFiles: panel(["evil", "bad", "worse"], {}, { name: "Evil" }),
            files,
          });
          const rpc = await startRpc({ version, sandbox, trust, onDialog: () => "Yes" });
          await rpc.promptAndSettle("/workflow panel The task");
          await rpc.close();
          const requests = requestsOf(model);
          return {
            requests,
            text: JSON.stringify(requests).includes("EVIL SYSTEM PROMPT"),
            skill: JSON.stringify(requests).includes("evil-skill"),
            loaded: existsSync(join(sandbox.project, "loaded")),
            tools: requests[0]?.tools?.map(({ function: { name } }) => name) ?? [],
          };
        };
        const untrusted = await run(false);
        assert.equal(untrusted.requests.length, 2);
        assert.deepEqual(
          [untrusted.text, untrusted.skill, untrusted.loaded, untrusted.tools.includes("evil")],
          [false, false, false, false],
        );
        // The project's workflow has three branches.
        const trusted = await run(true);
        assert.equal(trusted.requests.length, 3);
        assert.deepEqual(
          [trusted.text, trusted.skill, trusted.loaded, trusted.tools.includes("evil")],
          [true, true, true, true],
        );
      },
    );

    test("is under the guards of other extensions, wherever they come from", LONG, async (t) => {
      const names = ["by-flag", "by-folder", "by-settings", "by-project"];
      const files = {
        "by-flag.ts": guard("by-flag"),
        "by-settings.ts": guard("by-settings"),
        ".pi/extensions/by-project.ts": guard("by-project"),
      };
      const calls = { calls: names.map((name) => bash(`echo ${name} > a/${name}`)) };
      const { model, sandbox } = await visibleStage(t, team({ A: [calls] }), {
        globalFiles: panel([{ id: "a", write: ["a/"] }, "b"]),
        files: { ...files, "a/.keep": "" },
      });
      mkdirSync(join(sandbox.agent, "extensions"));
      writeFileSync(join(sandbox.agent, "extensions/by-folder.ts"), guard("by-folder"));
      const settings = join(sandbox.agent, "settings.json");
      writeFileSync(
        settings,
        JSON.stringify({ ...JSON.parse(text(settings)), extensions: [join(sandbox.project, "by-settings.ts")] }),
      );
      const rpc = await startRpc({ version, sandbox, trust: true, extension: [REPO, "./by-flag.ts"] });
      await rpc.promptAndSettle("/workflow panel The task");
      const results = toolResults(requestsOf(model, "A")[1]);
      assert.deepEqual(
        results.map((result) => /refused by [\w-]+/.exec(result)?.[0]),
        names.map((name) => `refused by ${name}`),
        results.join("\n"),
      );
      assert.deepEqual(
        names.filter((name) => existsSync(join(sandbox.project, "a", name))),
        [],
      );
    });

    test("does not begin without an extension of the session", LONG, async (t) => {
      const once = `export default () => { if ((globalThis.loadedOnce = (globalThis.loadedOnce ?? 0) + 1) > 1) throw new Error("only once"); };`;
      // Processes of an extension that was loaded before the failing extension end as well.
      const counted = `import { appendFileSync } from "node:fs";
        const log = (word) => appendFileSync("log", word);
        export default (pi) => { log("+"); pi.on("session_shutdown", (event, ctx) => { log("-"); ctx.ui.notify("end"); }); };`;
      const files = { "counted.ts": counted, "once.ts": once };
      const { model, sandbox } = await stage(t, team(), { globalFiles: panel(["a", "b"]), files });
      const extension = [REPO, ...Object.keys(files).map((name) => join(sandbox.project, name))];
      const rpc = await startRpc({ version, sandbox, extension });
      await rpc.promptAndSettle("/workflow panel The task");
      const found = endsOf(await rpc.entries());
      for (const name of ["A", "B"])
        assert.match(
          found[name],
          /could not be started: These extensions, whose rules hold in this session, cannot be loaded for a child: .*once\.ts \(.*only once/,
        );
      assert.equal(requestsOf(model).length, 0);
      assert.match(text(join(sandbox.project, "log")), /^\+(\+\+--|\+-\+-)$/);
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("has one copy of an extension, which ends with it: 16 branches, 4 at a time", LONG, async (t) => {
      const counted = `import { appendFileSync } from "node:fs";
        export default (pi) => {
          pi.on("session_start", () => appendFileSync("log", "+"));
          pi.on("session_shutdown", () => appendFileSync("log", "-"));
        };`;
      const names = Array.from({ length: 16 }, (_, index) => `b${index}`);
      const { sandbox } = await stage(t, team(), {
        globalFiles: panel(names, { parallel: 4 }),
        files: { "counted.ts": counted },
      });
      const rpc = await startRpc({ version, sandbox, extension: [REPO, join(sandbox.project, "counted.ts")] });
      await rpc.promptAndSettle("/workflow panel The task");
      const log = text(join(sandbox.project, "log"));
      assert.deepEqual([log.split("+").length - 1, log.split("-").length - 1], [17, 16]);
      let open = 0;
      const most = Math.max(...[...log].map((sign) => (open += sign === "+" ? 1 : -1)));
      assert.ok(most <= 5, log);
      await rpc.close();
    });

    for (const where of variants(["session_start", "session_shutdown", "before_agent_start", "factory"])) {
      test(`ends with Escape where an extension hangs: ${where}`, async (t) => {
        const hangs = `export default async (pi) => {
          globalThis.copies = (globalThis.copies ?? -1) + 1;
          const isOfChild = globalThis.copies > 0;
          const hang = (place) => (isOfChild && place === "${where}" ? new Promise(() => {}) : undefined);
          await hang("factory");
          for (const name of ["session_start", "session_shutdown", "before_agent_start"]) pi.on(name, () => hang(name));
        };`;
        const { sandbox } = await stage(t, team(), { globalFiles: panel(["a", "b"]), files: { "hangs.ts": hangs } });
        const rpc = await startRpc({ version, sandbox, extension: [REPO, join(sandbox.project, "hangs.ts")] });
        const settled = rpc.waitForSettled();
        await rpc.prompt("/workflow panel The task");
        await rpc.waitFor(({ type }) => type === "tool_execution_start");
        await sleep(1000);
        await rpc.send({ type: "abort" });
        await settled;
        assert.deepEqual(rpc.extensionErrors(), []);
        await rpc.close();
      });
    }

    test("sees nothing of the user interface but dialogs and notices with its name", LONG, async (t) => {
      const act = inChildren(`pi.on("tool_call", async (event, ctx) => {
        if (!isChild(ctx) || event.toolName !== "read") return;
        ctx.ui.setTitle("child"); ctx.ui.setStatus("x", "child"); ctx.ui.setWidget("x", ["child"]); ctx.ui.setEditorText("child"); ctx.ui.pasteToEditor?.("child");
        ctx.ui.setFooter?.(() => {}); ctx.ui.setHeader?.(() => {}); ctx.ui.setWorkingMessage?.("child"); ctx.ui.setTheme?.("light");
        ctx.ui.notify("hello"); await ctx.ui.custom?.(() => {}); await ctx.ui.editor?.("child", "x");
                const yes = await ctx.ui.confirm("Sure?", "about it"); const one = await ctx.ui.select("Which?", ["left", "right"]); const said = await ctx.ui.input("What?");
        ctx.shutdown();
        return { block: true, reason: JSON.stringify([yes, one, said]) };
      });`);
      const read = { calls: [{ name: "read", arguments: { path: "x" } }] };
      const { model, sandbox } = await stage(t, team({ A: [read], B: [read] }), {
        globalFiles: panel(["a", "b"]),
        files: { "act.ts": act },
      });
      /** @type {string[]} */
      const asked = [];
      let open = 0;
      let most = 0;
      const onDialog = async (/** @type {any} */ { method, title }) => {
        asked.push(title);
        most = Math.max(most, ++open);
        await sleep(30);
        open -= 1;
        return method === "confirm" ? true : method === "select" ? "right" : "typed";
      };
      const rpc = await startRpc({ version, sandbox, onDialog, extension: [REPO, join(sandbox.project, "act.ts")] });
      await rpc.promptAndSettle("/workflow panel The task");
      const titles = ["A", "B"].flatMap((name) =>
        ["Sure?", "What?", "Which?"].map((title) => `Branch "${name}": ${title}`),
      );
      assert.deepEqual([...asked].sort(), titles);
      assert.equal(most, 1, "one dialog after another");
      assert.deepEqual(toolResults(requestsOf(model, "A")[1]), ['[true,"right","typed"]']);
      const others = rpc
        .ui(undefined)
        .filter(({ method }) => !["notify", "confirm", "select", "input"].includes(method));
      assert.deepEqual(
        others.filter((record) => JSON.stringify(record).includes("child")),
        [],
      );
      assert.deepEqual(
        notices(rpc)
          .filter((notice) => notice.includes("hello"))
          .sort(),
        ['undefined: Branch "A": hello', 'undefined: Branch "B": hello'],
      );
      assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done" });
      assert.deepEqual(rpc.extensionErrors(), []);
    });

    test("cannot move, cancel or end the run of its parent, or begin another", async (t) => {
      const call = (/** @type {object} */ input) => ({ calls: [{ name: "workflow_step", arguments: input }] });
      const script = {
        A: [call({ action: "cancel" }), call({ action: "cancel" }), { text: "Cancelled." }],
        B: [
          call({ action: "loop" }),
          call({ action: "back" }),
          call({ action: "start", workflow: "panel" }),
          { text: "/workflow :cancel", ...leave("nowhere", { summary: "B did it." }) },
        ],
        C: [{ calls: ["one", "two", "three"].flatMap((summary) => leave("", { summary }).calls) }],
      };
      const { model, sandbox } = await stage(t, team(script), { globalFiles: panel(["a", "b", "c"], { need: 2 }) });
      const rpc = await startRpc({ version, sandbox, onDialog: () => true });
      await rpc.promptAndSettle("/workflow panel The task");
      const entries = await rpc.entries();
      assert.deepEqual(endsOf(entries), { A: "it was cancelled", B: "done", C: "done" }, notices(rpc).join("\n"));
      assert.deepEqual(states(entries).at(-1).active, false);
      assert.equal(states(entries).at(-1).cancelled, false);
      assert.deepEqual(
        paths(states(entries)).filter((path, index, all) => path !== all[index - 1]),
        ["panel:0", "panel:1", "panel:2"],
      );
      const told = toolResults(requestsOf(model, "B").at(-1));
      assert.match(told[0], /^⚠️/);
      assert.match(told[1], /Validation failed/);
      assert.match(told[2], /Validation failed/);
      for (const file of childFiles(sandbox)) assert.deepEqual(Object.keys(branchesOf(readSession(sandbox, file))), []);
    });

    test("asks in the interface of its parent, with its name, one question after another", LONG, async (t) => {
      const branch = (/** @type {string} */ id) => ({
        ...{ id: `ask-${id}`, name: id.toUpperCase() },
        phases: [`${id}.md`, asks(`Is ${id} right?`, { id: `ship-${id}` })],
      });
      const group = { id: "team", parallel: true, phases: [branch("a"), branch("b")] };
      const files = panel(["a", "b"], {}, { phases: ["do.md", group, "last.md"] });
      /** @type {string[]} */
      const asked = [];
      let open = 0;
      const onDialog = async (/** @type {any} */ { title, method, options }) => {
        most = Math.max(most, ++open);
        asked.push(title);
        await sleep(50);
        open -= 1;
        return method === "confirm" ? true : options.find((/** @type {string} */ option) => /^yes/i.test(option));
      };
      let most = 0;
      const { sandbox } = await stage(t, team(), { globalFiles: files });
      const rpc = await startRpc({ version, sandbox, onDialog });
      await rpc.promptAndSettle("/workflow panel The task");
      assert.equal(most, 1, "one dialog after another");
      assert.deepEqual(
        asked.map((title) => /^Branch "([AB])": Question of /.exec(title)?.[1]).sort(),
        ["A", "B"],
        asked.join("\n"),
      );
      assert.deepEqual(endsOf(await rpc.entries()), { A: "yes", B: "yes" });

      // Without an interface it waits, and the run pauses.
      const printed = await stage(t, team(), { globalFiles: files });
      const { code } = await runPrint({ version, sandbox: printed.sandbox, prompt: "/workflow panel The task" });
      const found = endsOf(readSession(printed.sandbox, parentFiles(printed.sandbox)[0]));
      for (const name of ["A", "B"]) assert.match(found[name], /^waits: /, `exit code ${code}`);
    });

    test("uses the models of its session, and the start says which one cannot be used", LONG, async (t) => {
      const other = (/** @type {string} */ url) =>
        `export default (pi) => pi.registerProvider("other", { baseUrl: "${url}", apiKey: "other-key", api: "openai-completions", models: [{ id: "of-extension", name: "x", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 128000, maxTokens: 1000 }] });`;
      const { model, sandbox } = await stage(t, team(), {
        globalFiles: panel([{ id: "a", model: "other/of-extension" }, { id: "b", model: "keyless/keyless" }, "c"], {
          need: 2,
        }),
      });
      writeFileSync(join(sandbox.project, "other.ts"), other(model.baseUrl));
      const file = join(sandbox.agent, "models.json");
      const { providers } = JSON.parse(text(file));
      const keyless = {
        ...providers.scripted,
        apiKey: "$NO_SUCH_KEY_HERE",
        models: [{ ...providers.scripted.models[0], id: "keyless" }],
      };
      // The session's own model has its key from the command line.
      writeFileSync(
        file,
        JSON.stringify({ providers: { scripted: { ...providers.scripted, apiKey: "$NO_SUCH_KEY_EITHER" }, keyless } }),
      );
      const rpc = await startRpc({
        version,
        sandbox,
        extension: [REPO, join(sandbox.project, "other.ts")],
        args: ["--model", "scripted/scripted", "--api-key", "by-flag"],
      });
      await rpc.promptAndSettle("/workflow panel The task");
      assert.deepEqual(endsOf(await rpc.entries()), { A: "done", B: "done", C: "done" });
      assert.equal(requestsOf(model, "A")[0].model, "of-extension");
      assert.equal(requestsOf(model, "B")[0].model, "scripted");
      assert.match(notices(rpc).join("\n"), /warning: Branch "B": .*there is no key for `keyless\/keyless`/);
      assert.ok(!model.requests.some((request) => request.model === "keyless"));
    });

    test("has no influence on the exit code of pi, whatever becomes of it", LONG, async (t) => {
      const script = team({ A: () => ({ calls: [bash("true")] }) });
      const { sandbox, model } = await stage(t, script, {
        globalFiles: panel([{ id: "a", budget: { turns: 2 } }, "b"], { need: 1 }),
      });
      const { code, stderr } = await runPrint({ version, sandbox, prompt: "/workflow panel The task" });
      assert.equal(code, 0, stderr);
      assert.deepEqual(endsOf(readSession(sandbox, parentFiles(sandbox)[0])), {
        A: "its budget is used up, or not known",
        B: "done",
      });
      assert.deepEqual(model.faults, []);
    });

    test("goes on in no session that is not its own", LONG, async (t) => {
      for (const forge of [
        // A session elsewhere, a link in the folder of children, a session of another parent, and a pipe.
        (/** @type {string} */ _own, /** @type {string} */ foreign) => foreign,
        (/** @type {string} */ own, /** @type {string} */ foreign) => (
          symlinkSync(foreign, join(dirname(own), "link.jsonl")),
          join(dirname(own), "link.jsonl")
        ),
        (/** @type {string} */ own, /** @type {string} */ foreign) => (
          writeFileSync(join(dirname(own), "copy.jsonl"), text(foreign)),
          join(dirname(own), "copy.jsonl")
        ),
        (/** @type {string} */ own) => (
          execFileSync("mkfifo", [join(dirname(own), "pipe.jsonl")]),
          join(dirname(own), "pipe.jsonl")
        ),
        (/** @type {string} */ own, /** @type {string} */ foreign) =>
          join(dirname(own), "..", basename(dirname(own)), "..", basename(dirname(foreign)), basename(foreign)),
        () => "/dev/zero",
        () => "",
      ]) {
        const { model, sandbox } = await stage(
          t,
          team({ A: (_request, index) => [{ calls: [bash("true")] }, { hang: true }][index] }),
          { globalFiles: panel(["a", "b"]) },
        );
        const first = await startRpc({ version, sandbox });
        void first.prompt("/workflow panel The task");
        await first.waitFor(
          ({ type, partialResult }) =>
            type === "tool_execution_update" && /A: .*bash true[^]*✓ B/.test(partialResult?.content?.[0]?.text),
        );
        await first.kill();
        const [parent] = parentFiles(sandbox);
        const own = branchesOf(readSession(sandbox, parent)).A.session;
        const foreign = join(sandbox.root, "foreign.jsonl");
        writeFileSync(
          foreign,
          `${JSON.stringify({ type: "session", version: 3, id: "foreign", timestamp: new Date().toISOString(), cwd: sandbox.project, parentSession: "/elsewhere.jsonl" })}\n`,
        );
        const before = text(foreign);
        const forged = forge(own, foreign);
        writeFileSync(parent, text(parent).replaceAll(JSON.stringify(own), JSON.stringify(forged)));
        const rpc = await startRpc({ version, sandbox, args: ["--continue"] });
        await rpc.promptAndSettle("/workflow :resume");
        const entries = await rpc.entries();
        assert.deepEqual(endsOf(entries), { A: "done", B: "done" }, `${forged}: ${notices(rpc).join("\n")}`);
        assert.equal(text(foreign), before, forged);
        assert.notEqual(branchesOf(entries).A.session, forged);
        assert.equal(dirname(branchesOf(entries).A.session), dirname(own));
        assert.equal(requestsOf(model, "B").length, 1, "a branch that has ended does not begin again");
        assert.match(JSON.stringify(requestsOf(model, "A").at(-1)), /Do a for The task/);
        await rpc.close();
      }
    });
  });
}
