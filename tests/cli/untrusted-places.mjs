// Opens one place where an agent can write, as the shim or the command line does, with each of the things that an agent
// can put there. Prints what came of it as JSON. Run by untrusted-places.test.mjs, which ends it if it hangs.

import { spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Results, trialsIn } from "../../packages/compare/results.js";
import { hiddenFolders } from "../../packages/compare/hidden.js";
import { runScript } from "../../packages/compare/script.js";
import { digestOf, tasksIn } from "../../packages/compare/tasks.js";
import { makeAgentFolder } from "../../packages/compare/trial.js";
import { outputTo } from "../../cli/headless/output.js";
import { listedPackages } from "../../cli/packages.js";
import { forgetProcess, noteProcess, processOf, takeForProcess } from "../../cli/runs/process.js";
import { newSessionFile, openSession } from "../../cli/runs/sessions.js";
import { isChildOf } from "../../host-shim/children/session.js";
import { fileImports } from "../../host-shim/files.js";
import { createFile, folderImports } from "../../host-shim/folders.js";
import { Origin } from "../../host-shim/children/origin.js";
import { projectSettings } from "../../host-shim/packages.js";
import { commonGitFolder, processes, untrusted, workTreeAt } from "#sandbox";
import { writeFile } from "../../host-shim/session.js";
import { storeImports } from "../../host-shim/store.js";
import { Calls } from "../../host-shim/calls.js";

/** Replacements that an agent can put in the place of a file. @type {Record<string, (path: string, victim: string) => void>} */
export const KINDS = {
  "a pipe": (path) => void spawnSync("mkfifo", [path]),
  "a link": (path, victim) => symlinkSync(victim, path),
  "a link in a parent": (path, victim) => {
    const folder = dirname(path);
    renameSync(folder, `${folder}.moved`);
    symlinkSync(dirname(victim), folder);
  },
  "a second name": (path, victim) => linkSync(victim, path),
  "a device": (path) => {
    const { status } = spawnSync("mknod", [path, "c", "1", "5"], { stdio: "ignore" });
    if (status !== 0) symlinkSync("/dev/zero", path);
  },
  "a folder": (path) => mkdirSync(path),
  "a sparse file of 10 GB": (path) => {
    writeFileSync(path, "");
    truncateSync(path, 10 * 2 ** 30);
  },
};

const TRIAL = {
  ...{ variant: "VICTIM", definition: "d", task: "t", taskDigest: "e", model: "", text: "", hidden: "no" },
  ...{ number: 1, ending: "done", solved: true, startedAt: 1, ms: 1, turns: 1, tokens: 1, cost: 1, unpriced: 0 },
};
const SESSION = { type: "session", id: "VICTIM", cwd: "/", timestamp: "2026-01-01T00:00:00.000Z" };

/** @typedef {{ root: string, path: string, agent: string }} Kit */

/**
 * The places where an agent can write and that are opened outside of its sandbox: `content` is what is there otherwise,
 * `use` opens it, and returns what it read. What `may` names is not refused: see the reason.
 * @typedef {object} Spot
 * @property {string} path below the folder of the project, or of pi's agent folder if it begins with `agent:`
 * @property {string | ((root: string) => string)} [content] if absent, nothing is there
 * @property {(kit: Kit) => unknown} use
 * @property {(root: string) => void} [around] makes what is beside it
 * @property {true} [inPi] pi is loaded before; its loading is not part of the time
 * @property {string[]} [may] what is not refused
 * @property {string} [why]
 */

/** The folder of the place is the root of its path, which the user names, or which was found without links. */
const ROOT = "a link in a parent";

const context = (/** @type {string} */ cwd) =>
  /** @type {any} */ ({
    cwd,
    isProjectTrusted: () => true,
    sessionManager: { getSessionId: () => "session" },
  });
const RUN = { grant: { path: "runs" }, configDirName: ".pi", key: "run" };
const folderOf = (/** @type {string} */ cwd) =>
  createFile({ ...RUN, context: context(cwd) }, "probe").path.split("/")[2];

/** @param {string} root @param {string} agent */
const workflows = (root, agent) =>
  fileImports(
    [
      { name: "project", base: "project", path: "workflows" },
      { name: "agents", base: "project", path: "agents" },
    ],
    { agentDir: () => agent, cwd: () => root, configDirName: ".pi", isProjectTrusted: () => true },
  );

const readYaml = (/** @type {string} */ _file, /** @type {string} */ text) => ({ json: "{}", body: text, places: [] });
const readBounds = () => ({ timeMs: 1 });

/** @type {Record<string, Spot>} */
export const PLACES = {
  "a work tree's .git": {
    path: ".git",
    content: "gitdir: VICTIM\n",
    use: ({ root }) => (mkdirSync(join(root, "VICTIM"), { recursive: true }), workTreeAt(root)?.folder),
    may: [ROOT, "a link"],
    why: "it may be a link; what it names is only hidden or made read-only",
  },
  "commondir of git": {
    path: ".git/commondir",
    content: "../VICTIM\n",
    use: ({ root }) => (mkdirSync(join(root, "VICTIM"), { recursive: true }), commonGitFolder(join(root, ".git"))),
    may: [ROOT],
  },
  "gitdir of a linked work tree": {
    path: ".git/worktrees/x/gitdir",
    content: (root) => `${root}/VICTIM/.git\n`,
    use: ({ root }) => {
      for (const name of ["VICTIM/tasks", "tasks"]) mkdirSync(join(root, name), { recursive: true });
      for (const name of ["HEAD", "config"]) writeFileSync(join(root, ".git", name), "");
      return hiddenFolders(join(root, "tasks"), [], []);
    },
  },
  "settings of a project": {
    path: ".pi/settings.json",
    content: '{"packages":["VICTIM"]}',
    use: ({ root }) => projectSettings(root, ".pi"),
  },
  "settings of a project, for the command line": {
    path: ".pi/settings.json",
    content: '{"sessionDir":"/VICTIM"}',
    use: async () => [newSessionFile("id", true), await listedPackages("/nowhere")],
  },
  "settings of a project, as a child begins": {
    path: ".pi/settings.json",
    content: '{"packages":["VICTIM"]}',
    inPi: true,
    use: async ({ root, agent }) => {
      const pi = await import("@earendil-works/pi-coding-agent");
      const session = {
        resourceLoader: { getExtensions: () => ({ extensions: [] }), getSkills: () => ({ skills: [] }) },
        sessionManager: { getCwd: () => root },
        settingsManager: pi.SettingsManager.inMemory(),
      };
      const codingAgent = { ...pi, getAgentDir: () => agent };
      const origin = new Origin(/** @type {any} */ ({ codingAgent }), /** @type {any} */ (session));
      return origin.toTell()?.includes("settings.json") ? "VICTIM" : "";
    },
  },
  "workflow.yaml": {
    path: ".pi/workflows/x/workflow.yaml",
    content: "VICTIM",
    use: ({ root, agent }) => String(workflows(root, agent).readFile("project", "x/workflow.yaml")),
    may: ["a second name"],
    why: "package managers store the same file once",
  },
  "a subagent's profile": {
    path: ".pi/agents/x.md",
    content: "VICTIM",
    use: ({ root, agent }) => String(workflows(root, agent).readFile("agents", "x.md")),
    may: ["a second name"],
    why: "package managers store the same file once",
  },
  "a workflow that a trial gets": {
    path: ".pi/workflows/x/workflow.yaml",
    content: "VICTIM",
    use: ({ root, agent }) => {
      const made = mkdtempSync(join(agent, "made-"));
      makeAgentFolder(made, agent, [{ name: "project", path: join(root, ".pi/workflows"), within: root }], []);
      return readFileSync(join(made, "workflows/x/workflow.yaml"), "utf8");
    },
    may: ["a second name"],
    why: "package managers store the same file once",
  },
  "the output of a step": {
    path: ".pi/runs/RUN/step-1.log",
    use: ({ root }) => {
      const { descriptor } = createFile({ ...RUN, context: context(root) }, "step");
      writeSync(descriptor, "output");
    },
  },
  ".gitignore of the folders of runs": {
    path: ".pi/runs/.gitignore",
    use: ({ root }) => void createFile({ ...RUN, context: context(root) }, "step"),
  },
  "the text of a task in the folder of its run": {
    path: ".pi/runs/RUN/task.md",
    use: ({ root }) => {
      const calls = new Calls(/** @type {any} */ ({}));
      calls.context = context(root);
      folderImports(calls, RUN.grant, ".pi").writeFile("run", "task.md", "text");
    },
  },
  "a file that a new run gets": {
    path: ".pi/runs/RUN/file",
    content: "VICTIM",
    use: ({ root }) => {
      const calls = new Calls(/** @type {any} */ ({}));
      calls.context = context(root);
      const { path } = folderImports(calls, RUN.grant, ".pi").open("other", folderOf(root));
      return readFileSync(join(root, path, "file"), "utf8");
    },
    may: ["a second name"],
    why: "who has a second name of a file has its content",
  },
  "the session of a child": {
    path: "sessions/s.children/c.jsonl",
    content: (root) => `${JSON.stringify({ type: "session", parentSession: `${root}/sessions/s.jsonl`, VICTIM: 1 })}\n`,
    use: ({ root, path }) =>
      isChildOf(join(root, "sessions/s.jsonl"), join(root, "sessions/s.children"), path) ? "VICTIM" : "",
  },
  "a session that pi has not written": {
    path: "sessions/s.jsonl",
    may: [ROOT],
    use: ({ path }) =>
      writeFile(
        /** @type {any} */ ({
          getSessionFile: () => path,
          getLeafId: () => null,
          getHeader: () => ({}),
          getEntries: () => [],
          setSessionFile: () => {},
          resetLeaf: () => {},
        }),
      ),
  },
  "a session, for the command line": {
    path: "sessions/s.jsonl",
    content: `${JSON.stringify(SESSION)}\n`,
    use: ({ path }) => openSession(path, ({ header }) => header),
    may: ["a link", "a link in a parent", "a second name"],
    why: "sessions are files of the user; only what pi writes there is read of them",
  },
  "the process of a session": {
    path: "sessions/s.jsonl.process",
    may: [ROOT],
    content: JSON.stringify({ ...processes.self(), VICTIM: 1 }),
    use: ({ path }) => {
      const session = path.replace(/\.process$/, "");
      const found = processOf(session)?.isAlive ? "VICTIM" : "";
      takeForProcess(session, "it", true);
      noteProcess(session, {});
      forgetProcess(session);
      return found;
    },
  },
  "the log of a run in the background": {
    path: "sessions/s.jsonl.log",
    may: [ROOT],
    use: ({ path }) => untrusted.appendFile(dirname(path), basename(path), "log"),
  },
  "--result": { path: "out/result.json", use: ({ path, agent }) => later(path, agent, false) },
  "--summary": { path: "out/summary.md", use: ({ path, agent }) => later(path, agent, true) },
  "a trial": {
    path: "results/a/trial.json",
    content: JSON.stringify(TRIAL),
    use: ({ root }) => trialsIn([join(root, "results")]),
  },
  "a trial that ends": {
    path: "results/a/trial.json",
    use: ({ root }) => new Results(join(root, "results")).end(join(root, "results/a"), /** @type {any} */ (TRIAL)),
  },
  "the mark of a trial that has begun": {
    path: "results/a/begun",
    content: "/nowhere",
    use: async ({ root }) => {
      const results = new Results(join(root, "results"));
      await results.take();
      results.release();
    },
  },
  "the output of a check": {
    path: "results/a/check.txt",
    may: [ROOT],
    use: ({ root, path }) =>
      runScript("echo output", {
        cwd: root,
        env: process.env,
        output: path,
        time: 5000,
        signal: new AbortController().signal,
      }),
  },
  "the answer of a comparison": {
    path: "results/comparison.md",
    may: [ROOT],
    use: ({ path }) => untrusted.replaceFile(dirname(path), basename(path), "answer"),
  },
  "task.md": {
    path: "tasks/t/task.md",
    content: "VICTIM",
    around: (root) => {
      mkdirSync(join(root, "tasks/t/project"));
      writeFileSync(join(root, "tasks/t/check"), "", { mode: 0o755 });
    },
    use: ({ root }) => tasksIn(join(root, "tasks"), /** @type {any} */ ({ readYaml, readBounds })),
  },
  "a file of a task": {
    path: "tasks/t/project/file",
    content: "",
    use: ({ root }) => void digestOf(join(root, "tasks/t")),
  },
  "the remembered answers": {
    path: "agent:extension-data/x.json",
    content: '{"key":"VICTIM"}',
    use: ({ agent }) => {
      const store = storeImports(
        { name: "x" },
        () => agent,
        () => {},
      );
      const value = store.get("key");
      store.set("key", "new");
      return value;
    },
    may: ["a link", "a link in a parent", "a second name"],
    why: "files of the user in pi's agent folder may be links",
  },
};

/** The agent works between the begin of a command and its end. @param {string} path @param {string} agent @param {boolean} appends */
function later(path, agent, appends) {
  const hidden = join(agent, "meanwhile");
  const folder = dirname(path);
  renameSync(folder, hidden);
  mkdirSync(folder);
  const write = outputTo(path, appends);
  rmSync(folder, { recursive: true });
  renameSync(hidden, folder);
  write("report");
}

/** @param {Spot} spot @param {string} kind */
async function look({ path: below, content: given, around, inPi, use }, kind) {
  if (inPi) await import("@earendil-works/pi-coding-agent");
  const base = realpathSync(mkdtempSync(join(tmpdir(), "untrusted-places-")));
  try {
    const [root, agent, outside] = ["project", "agent", "outside"].map((name) => join(base, name));
    for (const folder of [root, agent, outside]) mkdirSync(folder);
    process.chdir(root);
    const content = typeof given === "function" ? given(root) : given;
    const named = below.includes("RUN") ? below.replace("RUN", folderOf(root)) : below;
    const path = named.startsWith("agent:") ? join(agent, named.slice(6)) : join(root, named);
    mkdirSync(dirname(path), { recursive: true });
    around?.(root);
    const victim = join(outside, basename(path));
    writeFileSync(victim, content ?? "untouched");
    if (kind === "nothing odd") {
      if (content !== undefined) writeFileSync(path, content);
    } else KINDS[kind](path, victim);
    const before = process.resourceUsage().maxRSS;
    const started = performance.now();
    let result;
    try {
      result = JSON.stringify(await use({ root, path, agent })) ?? "";
    } catch (error) {
      result = `threw ${error instanceof Error ? error.message : JSON.stringify(error, (_, value) => (typeof value === "bigint" ? Number(value) : value))}`;
    }
    return {
      read: !result.startsWith("threw") && result.includes("VICTIM"),
      result: result.slice(0, 300),
      ms: performance.now() - started,
      kb: process.resourceUsage().maxRSS - before,
      isTouched:
        readdirSync(outside).join() !== basename(path) || readFileSync(victim, "utf8") !== (content ?? "untouched"),
    };
  } finally {
    process.chdir(tmpdir());
    rmSync(base, { recursive: true, force: true });
  }
}

if (process.argv[2] !== undefined) {
  for (const kind of ["nothing odd", ...Object.keys(KINDS)])
    process.stdout.write(`${JSON.stringify([kind, await look(PLACES[process.argv[2]], kind)])}\n`);
}
