// A project with ways out of a sandbox, and the world around it, which can tell which of them led out.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { getPriority } from "node:os";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { REPO, sessionFiles } from "./pi.mjs";
import { startRpc } from "./rpc.mjs";
import { settingsWith } from "./sandbox.mjs";
import { stage } from "./stage.mjs";
import { ATTACKED, step, toolResults, workflow } from "./workflows.mjs";

/**
 * The facts from which a way's effect follows. Paths are relative to the project.
 *
 * @typedef {object} Facts
 * @property {string} name the name of the way, as $N
 * @property {number | undefined} port
 * @property {string} unique a name of the way that is unique on this machine, as $U
 * @property {number} key a number of the way
 * @property {{ hits: (string | number)[], buffers: string[], typed: string }} state of the process outside
 * @property {(path: string) => boolean} exists
 * @property {(path: string) => string | undefined} read
 * @property {() => boolean} changed the folder of the way is not as it was
 * @property {import("node:child_process").ChildProcess} victim
 * @property {number} niceness of the process outside
 * @property {() => string} sessionText
 */

/** Folders that confined commands see as they are, other than those below /tmp. */
const VISIBLE = "/var/tmp";
/** The path of Python, preferably one that every user may run: the first on PATH may be a slow script. */
export const PYTHON = existsSync("/usr/bin/python3")
  ? "/usr/bin/python3"
  : spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).stdout.trim();
const SOCKET_NAMES = ["helper", "bus", "docker", "agent", "private", "perl", "ssh-add", "curl", "stdout"];
/** The number of calls in one message. */
const BATCH = 12;

/** Returns arguments of setpriv that run a program as another user. @param {number} user */
export const asUser = (user) => ["--reuid", String(user), "--regid", String(user), "--clear-groups", "--"];

/**
 * Like `stage`, in a folder that confined commands see.
 *
 * @param {Parameters<typeof stage>} parameters
 */
export async function visibleStage(...parameters) {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = VISIBLE;
  try {
    return await stage(...parameters);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/** @param {string} name */
const slug = (name) => name.replace(/\W+/g, "-");

/**
 * Lets the agent try these ways in a phase with these fields. An earlier phase without limits prepares them, and a
 * later one without limits follows. With a text, the ways are tried without a run, under limits of the user with this
 * text, which come into force when all is prepared. Returns the names of those that led out, and the output of each.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {Record<string, unknown> | string} limits
 * @param {readonly import("./ways-out.mjs").Way[]} ways
 * @param {number} [user] the id of the user who runs pi, if not that of the tests
 */
export async function tryWays(t, version, limits, ways, user) {
  const { calls, run, led } = await makeWorld(t, version, limits, ways, user);
  const alone = ways.filter(({ name }) => name.startsWith("renaming"));
  const together = ways.filter((way) => !alone.includes(way));
  const batches = [
    ...Array.from({ length: Math.ceil(together.length / BATCH) }, (_, n) => together.slice(n * BATCH, (n + 1) * BATCH)),
    ...alone.map((way) => [way]),
  ];
  const results = await run(batches.map((batch) => () => ({ calls: calls(batch) })));
  const output = Object.fromEntries(batches.flat().map(({ name }, index) => [name, results[index]]));
  return { out: await led(), output };
}

/**
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {Record<string, unknown> | string} limits
 * @param {readonly import("./ways-out.mjs").Way[]} ways
 * @param {number} [user] the id of the user who runs pi, if not that of the tests
 */
async function makeWorld(t, version, limits, ways, user) {
  const ofPhase = typeof limits === "string" ? {} : limits;
  const files = workflow("ways", ["open", { id: "limited", ...ofPhase }, "after"]);
  /** @type {(() => import("./scripted-model.mjs").Step)[]} */
  const script = [];
  const { model, sandbox } = await visibleStage(t, (_, index) => script[index]?.(), {
    globalFiles: files,
    pace: ATTACKED,
  });
  const { project, home } = sandbox;
  const outsideFolder = join(project, "outside");
  const unique = (/** @type {import("./ways-out.mjs").Way} */ { name }) => `${basename(sandbox.root)}-${slug(name)}`;
  const key = (/** @type {import("./ways-out.mjs").Way} */ { name }) => crc32(join(project, "src", slug(name))) >>> 1;

  for (const { name } of ways) {
    mkdirSync(join(project, "src", slug(name)), { recursive: true });
    writeFileSync(join(project, "src", slug(name), "f"), "untouched\n");
  }
  mkdirSync(join(home, ".ssh"));
  writeFileSync(join(home, ".ssh/id_ways"), "key");
  writeFileSync(
    join(home, ".gitconfig"),
    "[user]\nname = x\nemail = x@x\n[safe]\ndirectory = *\n[init]\ndefaultBranch = main\n",
  );
  mkdirSync(join(project, "docs/repository"), { recursive: true });
  mkdirSync(outsideFolder);
  const git = "cd docs/repository && git init -q && for i in 1 2; do echo $i > f; git add f; git commit -qm $i; done";
  execFileSync("bash", ["-c", git], { cwd: project, env: { ...process.env, HOME: home } });

  const sockets = SOCKET_NAMES.map((name) => join(outsideFolder, name));
  const outside = spawn(PYTHON, [join(REPO, "tests/pi/harness/outside.py")], {
    cwd: project,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const answers = createInterface({ input: outside.stdout })[Symbol.asyncIterator]();
  const ask = async (/** @type {object} */ question) => {
    outside.stdin.write(`${JSON.stringify(question)}\n`);
    return JSON.parse((await answers.next()).value ?? "{}");
  };
  const victim = spawn("sleep", ["600"], { stdio: "ignore" });
  const tmuxServer = join(outsideFolder, "tmux");
  execFileSync("tmux", ["-S", tmuxServer, "-f", "/dev/null", "new-session", "-d", "sleep 600"], { cwd: project });
  const tmuxPid = execFileSync("tmux", ["-S", tmuxServer, "display", "-p", "#{pid}"], { encoding: "utf8" });
  t.after(() => {
    outside.kill("SIGKILL");
    victim.kill("SIGKILL");
    process.kill(Number(tmuxPid), "SIGKILL");
    const left = ["", ".d", ".js", ".sh"].flatMap((suffix) => ways.map((way) => unique(way) + suffix));
    for (const folder of ["/tmp", "/var/tmp", "/dev/shm", "/etc/cron.d"])
      for (const name of left) rmSync(join(folder, name), { recursive: true, force: true });
    if (read("/proc/sys/kernel/core_pattern")?.includes("ways")) writeFileSync("/proc/sys/kernel/core_pattern", "core");
    for (const way of ways.filter(({ name }) => name.startsWith("System V")))
      spawnSync("ipcrm", ["-M", String(key(way))]);
  });
  const offer = await ask({ folder: outsideFolder, sockets, ports: ways.length });

  if (user !== undefined) execFileSync("chown", ["--recursive", "--no-dereference", `${user}:${user}`, sandbox.root]);
  const snapshots = new Map(ways.map((way) => [way, snapshot(join(project, "src", slug(way.name)))]));
  const rpc = await startRpc({
    version,
    sandbox,
    wrapper: user === undefined ? [] : ["setpriv", ...asUser(user)],
    env: {
      PYTHON,
      AGENT: sandbox.agent,
      V: String(offer.pid),
      VICTIM: String(victim.pid),
      OPENED: String(offer.opened),
      ABSTRACT: offer.abstract,
      TERMINAL: offer.terminal,
      SOCKETS: outsideFolder,
      TMUX_SERVER: tmuxServer,
      XDG_RUNTIME_DIR: outsideFolder,
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${outsideFolder}/bus`,
      DOCKER_HOST: `unix://${outsideFolder}/docker`,
      SSH_AUTH_SOCK: join(outsideFolder, "agent"),
      LATE: "sleep 1; echo changed > docs/alive-$N; echo changed > $A/f",
      ...Object.fromEntries(
        offer.buffers.map((/** @type {number} */ address, /** @type {number} */ n) => [`B${n}`, String(address)]),
      ),
    },
  });

  /** @param {import("./ways-out.mjs").Way} way @param {string} line */
  const withVariables = (way, line) => {
    const name = slug(way.name);
    const variables = {
      N: name,
      U: unique(way),
      D: `src/${name}`,
      A: join(project, "src", name),
      P: offer.ports[ways.indexOf(way)],
      PI: rpc.pid,
    };
    return `export ${Object.entries(variables)
      .map(([key, value]) => `${key}='${value}'`)
      .join(" ")}; ${line}`;
  };
  const prepared = () => ways.filter((way) => way.prepare).map((way) => `(${withVariables(way, way.prepare ?? ":")})`);
  const calls = (/** @type {readonly import("./ways-out.mjs").Way[]} */ batch) =>
    batch.map((way) => ({ name: "bash", arguments: { command: withVariables(way, way.run), timeout: 20 } }));

  /** @param {string} path */
  const read = (path) => {
    try {
      return readFileSync(resolve(project, path), "utf8");
    } catch {
      return undefined;
    }
  };

  return {
    calls,
    /**
     * Plays these messages of the model in the phase with limits. Returns the results of their calls.
     *
     * @param {typeof script} messages
     */
    async run(messages) {
      const first = { calls: [{ name: "bash", arguments: { command: `${prepared().join("\n")}\ntrue` } }] };
      if (typeof limits === "string") {
        script.push(
          () => first,
          () => ({ text: "Prepared." }),
          ...messages,
          () => ({ text: "Over." }),
        );
        await rpc.promptAndSettle("Prepare", { timeoutMs: 60_000 });
        writeFileSync(join(sandbox.agent, "workflows/settings.yaml"), settingsWith(limits));
        await rpc.prompt("/workflow :limits");
        await rpc.promptAndSettle("Get out", { timeoutMs: 120_000 });
        if (rpc.extensionErrors().length > 0) throw new Error(JSON.stringify(rpc.extensionErrors()));
        await sleep(1500);
        return toolResults(model.lastRequest()).slice(1);
      }
      script.push(
        () => first,
        () => step("next"),
        ...messages,
        () => step("next"),
        () => ({ calls: [{ name: "bash", arguments: { command: "sleep 1.5" } }] }),
        () => ({ text: "Over." }),
      );
      await rpc.promptAndSettle("/workflow ways Get out", { timeoutMs: 120_000 });
      if (rpc.extensionErrors().length > 0) throw new Error(JSON.stringify(rpc.extensionErrors()));
      const [, moved, ...results] = toolResults(model.lastRequest());
      if (!/Advanced: Open/.test(moved)) throw new Error(`not in the phase with limits: ${moved}`);
      return results;
    },
    /** Returns the names of the ways that led out. */
    async led() {
      const state = await ask({});
      const facts = {
        state,
        read,
        victim,
        exists: (/** @type {string} */ path) => existsSync(resolve(project, path)),
        niceness: getPriority(offer.pid),
        sessionText: () =>
          sessionFiles(sandbox)
            .map((file) => readFileSync(file, "utf8"))
            .join(),
      };
      return ways
        .filter((way, index) => {
          const changed = () => snapshots.get(way) !== snapshot(join(project, "src", slug(way.name)));
          return way.effect
            ? way.effect({
                ...facts,
                name: slug(way.name),
                port: offer.ports[index],
                unique: unique(way),
                key: key(way),
                changed,
              })
            : changed();
        })
        .map(({ name }) => name);
    },
  };
}

/** Returns a text that changes with everything in a folder. @param {string} folder @returns {string} */
function snapshot(folder) {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat) return "nothing";
  const own = `${stat.mode} ${stat.uid} ${stat.mtimeMs}`;
  if (stat.isSymbolicLink()) return `${own} ${readlinkSync(folder)}`;
  if (stat.isFile()) return `${own} ${stat.nlink} ${createHash("sha256").update(readFileSync(folder)).digest("hex")}`;
  if (!stat.isDirectory()) return own;
  return [
    own,
    ...readdirSync(folder)
      .sort()
      .map((name) => `${name} ${snapshot(join(folder, name))}`),
  ].join("\n");
}
