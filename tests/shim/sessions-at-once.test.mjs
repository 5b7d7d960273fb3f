// Several sessions of one process, each with its own `Confinement`, at work at once: what one of them creates, ends and
// removes takes nothing from the limits of another one.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxSession } from "#sandbox";
import { Confinement } from "../../host-shim/confinement.js";
import { runningCommands } from "../../sandbox/running-commands.js";

/** @typedef {Partial<import("#sandbox").Limits>} Limits */

const OWN = join(realpathSync(tmpdir()), `pi-confined-${process.getuid?.() ?? 0}`);

/** A project with `docs/` and `src/main.rs`. @param {import("node:test").TestContext} t */
function project(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sessions-at-once-")));
  for (const folder of ["docs", "src"]) mkdirSync(join(root, folder));
  writeFileSync(join(root, "src/main.rs"), "main");
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

/** The calls that wait for another session. */
let waits = 0;
/** @type {(() => void) | undefined} */
let onWait;
const { changed } = runningCommands;
runningCommands.changed = async (...parameters) => {
  waits += 1;
  onWait?.();
  await changed.apply(runningCommands, parameters);
  waits -= 1;
};

/**
 * Returns the result of a call, or "waits" if the call waits for another session.
 * @template T
 * @param {Promise<T>} call
 */
const settled = (call) => Promise.race([call, new Promise((resolve) => (onWait = () => resolve("waits")))]);

let count = 0;

/**
 * A session of pi with a `Confinement`.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} root
 * @param {AbortSignal} [signal] of its agent
 */
function session(t, root, signal) {
  const id = `session ${(count += 1)} of ${process.pid}`;
  const pi = {
    on() {},
    getAllTools: () => [{ name: "grep", sourceInfo: { source: "builtin" } }],
  };
  const codingAgent = {
    getAgentDir: () => root,
  };
  const confinement = new Confinement(/** @type {any} */ (pi), /** @type {any} */ ({ codingAgent }), true);
  const context = { cwd: root, signal, isProjectTrusted: () => true, sessionManager: { getSessionId: () => id } };
  const absolute = (/** @type {string[]} */ paths = []) =>
    paths.map((path) => (path === "/" ? path : join(root, path)));
  const confine = (
    /** @type {string} */ toolName,
    /** @type {any} */ input,
    /** @type {Limits} */ { writable, hidden },
  ) => {
    // The ids of calls are those of models: two sessions may have the same.
    const event = { toolName, toolCallId: "call", input };
    const limits = { writable: absolute(writable), hidden: hidden ?? [], network: true, notice: "" };
    return { input, refused: confinement.confine(event, limits, /** @type {any} */ (context)) };
  };
  const end = () => confinement.ended("call");
  const over = () => confinement.end();
  t.after(over);
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 16);
  return {
    end,
    over,
    /** The folder with its process ids. */
    running: join(OWN, `${hash}.running`),
    /** Confines a search. @param {string} path @param {Limits} limits */
    grep: (path, limits) => confine("grep", { path }, limits).refused,
    /** Confines a command line, which is not run. @param {Limits} limits */
    begin: (limits, line = "true") => confine("bash", { command: line }, limits).refused,
    /** Runs a command line; `ended` has what it wrote. @param {string} line @param {Limits} limits */
    run: async (line, limits) => {
      const { input, refused } = confine("bash", { command: line }, limits);
      const reason = await refused;
      if (reason !== undefined) throw new Error(reason);
      return running(input.command, root);
    },
  };
}

/** @param {string} line @param {string} cwd */
function running(line, cwd) {
  const process = spawn("bash", ["-c", line], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [process.stdout, process.stderr]) stream.on("data", (data) => (output += data));
  const ended = new Promise((/** @type {(output: string) => void} */ resolve) =>
    process.on("close", () => resolve(output)),
  );
  const began = (async () => {
    for (let tries = 0; !output.includes("began"); tries += 1) {
      assert.ok(tries < 500, output);
      await sleep(10);
    }
  })();
  return { ended, began, kill: () => process.kill("SIGKILL") };
}

/** Reads a file as soon as there is something in it, or gives up after about a second. @param {string} path */
const LURK = (path) =>
  `echo began; for i in $(seq 60); do cat ${path} 2>/dev/null | grep -q secret && { cat ${path}; exit; }; sleep 0.02; done; echo nothing`;

suite("a path that does not exist", () => {
  for (const first of [true, false]) {
    test(`stays hidden from a command while one of another session ends, which began ${first ? "before" : "after"} it`, async (t) => {
      const root = project(t);
      const [a, b] = [session(t, root), session(t, root)];
      const limits = { writable: ["docs/"], hidden: ["late.txt"] };
      if (first) assert.equal(await b.begin(limits), undefined);
      const command = await a.run(LURK("late.txt"), limits);
      await command.began;
      if (!first) assert.equal(await b.begin(limits), undefined);
      b.end();
      b.over();
      writeFileSync(join(root, "late.txt"), "secret");
      assert.equal(await command.ended, "began\nnothing\n");
      a.end();
      assert.equal(readFileSync(join(root, "late.txt"), "utf8"), "secret");
    });
  }

  test("stays hidden from a command whose agent was aborted, until the command has ended", async (t) => {
    const root = project(t);
    const a = session(t, root);
    const command = await a.run(LURK("late.txt"), { hidden: ["late.txt"] });
    await command.began;
    a.end();
    assert.ok(existsSync(join(root, "late.txt")));
    writeFileSync(join(root, "other.txt"), "");
    command.kill();
    await command.ended;
    for (let tries = 0; existsSync(join(root, "late.txt")); tries += 1) {
      assert.ok(tries < 100, "it is removed");
      await sleep(20);
    }
  });

  test("is written by a command though one of another session ends that may write it too", async (t) => {
    const root = project(t);
    const [a, b] = [session(t, root), session(t, root)];
    assert.equal(await b.begin({ writable: ["new/sub/plan.md"] }), undefined);
    const command = await a.run("echo began; sleep 0.3; echo plan > new/sub/plan.md", {
      writable: ["new/sub/plan.md"],
    });
    await command.began;
    b.end();
    assert.equal(await command.ended, "began\n");
    a.end();
    assert.equal(readFileSync(join(root, "new/sub/plan.md"), "utf8"), "plan\n");
  });

  test("of several sessions goes with the last of them, with the folders above it", async (t) => {
    const root = project(t);
    const all = Array.from({ length: 4 }, () => session(t, root));
    for (const [index, one] of all.entries())
      assert.equal(await one.begin({ writable: [`new/${index % 2}/file`, "new/all/"] }), undefined);
    for (const one of all) {
      assert.ok(existsSync(join(root, "new/all")));
      one.end();
    }
    assert.equal(existsSync(join(root, "new")), false);
  });
});

test("a link that was removed in one session still tells another one what it led to", async (t) => {
  const root = project(t);
  writeFileSync(join(root, "keys.txt"), "secret");
  symlinkSync("keys.txt", join(root, "link.txt"));
  const limits = { hidden: ["link.txt"] };
  const a = session(t, root);
  assert.equal(await a.begin(limits), undefined);
  a.end();
  rmSync(join(root, "link.txt"));
  const b = session(t, root);
  const command = await b.run("echo began; cat keys.txt", limits);
  assert.match(await command.ended, /Permission denied/);
});

suite("a command that could uncover what is hidden from one of another session", () => {
  /** @type {[Limits, Limits][]} */
  const MEETING = [
    [{ hidden: ["docs/secret"] }, { writable: ["docs/"] }],
    [{ writable: ["docs/"] }, { hidden: ["docs/secret"] }],
    [{ hidden: ["docs/secret"] }, { writable: ["/"] }],
    [{ hidden: ["docs/a/b/"] }, { writable: ["docs/"], hidden: ["docs/a/c/"] }],
    [{ writable: ["docs/sub/"] }, { writable: ["docs/"] }],
  ];
  for (const [one, other] of MEETING) {
    test(`waits for it: ${JSON.stringify(one)} and ${JSON.stringify(other)}`, async (t) => {
      const root = project(t);
      const [a, b] = [session(t, root), session(t, root)];
      assert.equal(await a.begin(one), undefined);
      const waiting = b.begin(other);
      assert.equal(await settled(waiting), "waits");
      assert.equal(await Promise.race([waiting, sleep(100, "waits")]), "waits");
      a.end();
      assert.equal(await waiting, undefined);
    });
  }

  /** @type {[Limits, Limits][]} */
  const APART = [
    [
      { writable: ["docs/"], hidden: ["secret"] },
      { writable: ["src/"], hidden: ["secret"] },
    ],
    [{ hidden: ["docs/secret"] }, { writable: ["docs/"], hidden: ["docs/secret"] }],
    [{ hidden: ["docs/secret/"] }, { writable: ["docs/secret/inner/"] }],
    [{ hidden: ["docs/secret"] }, { writable: ["docs/secret"] }],
    [{ writable: ["docs/"] }, { writable: ["docs/"] }],
    [{}, { writable: ["/"] }],
  ];
  for (const [one, other] of APART) {
    test(`is no such one: ${JSON.stringify(one)} and ${JSON.stringify(other)}`, async (t) => {
      const root = project(t);
      const [a, b] = [session(t, root), session(t, root)];
      assert.equal(await a.begin(one), undefined);
      assert.equal(await b.begin(other), undefined);
    });
  }

  test("is refused if the other one does not end, and at once if its agent is aborted or its session ends", async (t) => {
    const root = project(t);
    const abort = new AbortController();
    const [a, b, c, d] = [session(t, root), session(t, root), session(t, root, abort.signal), session(t, root)];
    assert.equal(await a.begin({ hidden: ["docs/secret"] }), undefined);
    const [patient, aborted, over] = [b, c, d].map((one) => one.begin({ writable: ["docs/"] }));
    while (waits < 3) await sleep(1);
    const start = performance.now();
    abort.abort();
    d.over();
    assert.match(
      (await aborted) ?? "",
      /cannot be confined now: a command of another agent is running, and one of the two could replace .*docs\/secret/,
    );
    assert.match((await over) ?? "", /cannot be confined now/);
    assert.ok(performance.now() - start < 1000);
    assert.match((await patient) ?? "", /cannot be confined now/);
    a.end();
    assert.equal(existsSync(join(root, "docs/secret")), false);
    assert.equal(await b.begin({ writable: ["docs/"] }), undefined);
  });

  test("cannot: what it renames there is not read", async (t) => {
    const root = project(t);
    const [a, b] = [session(t, root), session(t, root)];
    const command = await a.run(LURK("docs/secret"), { hidden: ["docs/secret"] });
    await command.began;
    const other = b.run("echo secret > docs/x; mv docs/x docs/secret; echo began", { writable: ["docs/"] });
    assert.equal(await command.ended, "began\nnothing\n");
    a.end();
    await (
      await other
    ).ended;
    assert.equal(readFileSync(join(root, "docs/secret"), "utf8"), "secret\n");
  });
});

suite("a search", () => {
  test("waits for a command of another session that could change what it searches, and the other way around", async (t) => {
    const root = project(t);
    const [a, b, c] = [session(t, root), session(t, root), session(t, root)];
    assert.equal(await a.begin({ writable: ["docs/"] }), undefined);
    for (const path of ["docs", ".", "docs/sub"]) {
      const waiting = b.grep(path, { hidden: ["../secret/"] });
      assert.equal(await settled(waiting), "waits", path);
      b.over();
      assert.match((await waiting) ?? "", /search with "bash"/);
    }
    assert.equal(await b.grep("src", { hidden: ["secret/"] }), undefined);
    assert.equal(await c.begin({}), undefined);
    c.end();
    const waiting = c.begin({ writable: ["src/"] });
    assert.equal(await settled(waiting), "waits");
    b.end();
    assert.equal(await waiting, undefined);
  });

  test("is judged by what its path leads to while it is registered, and leaves nothing registered if it is refused", async (t) => {
    const root = project(t);
    const [a, b] = [session(t, root), session(t, root)];
    mkdirSync(join(root, "secret"));
    assert.equal(await b.begin({ writable: ["docs/"] }), undefined);
    const searching = a.grep("docs", { hidden: ["secret/"] });
    rmSync(join(root, "docs"), { recursive: true });
    symlinkSync("secret", join(root, "docs"));
    b.end();
    assert.match(String(await searching), /secret is hidden/);
    writeFileSync(join(root, "private"), "");
    linkSync(join(root, "private"), `${root}-private`);
    t.after(() => rmSync(`${root}-private`));
    assert.match(String(await a.grep("src", { hidden: ["src/main.rs"] })), /main.rs is hidden/);
    assert.match(String(await a.grep("src", { hidden: ["private"] })), /cannot be confined: .*has another name/);
    assert.equal(await settled(b.begin({ writable: ["src/"] })), undefined);
    b.end();
    const { search } = runningCommands;
    t.mock.method(runningCommands, "search", (/** @type {[object, string]} */ ...parameters) => {
      t.mock.restoreAll();
      rmSync(join(root, "src"), { recursive: true });
      symlinkSync("secret", join(root, "src"));
      return search.apply(runningCommands, parameters);
    });
    assert.match(String(await a.grep("src", { hidden: ["secret/"] })), /secret is hidden/);
  });

  test("and a command of one session exclude each other, as before", async (t) => {
    const root = project(t);
    const a = session(t, root);
    assert.equal(await a.grep("src", { hidden: ["secret/"] }), undefined);
    assert.match(String(await a.begin({ writable: ["docs/"] })), /a search by `grep` is running/);
    a.end();
    assert.equal(await a.begin({ writable: ["docs/"] }), undefined);
    assert.match(String(await a.grep("src", { hidden: ["secret/"] })), /A command is running/);
  });
});

test("a file with another name outside of a list is not pinned while another session could move the folder above it", async (t) => {
  const root = project(t);
  const [a, b, c] = [session(t, root), session(t, root), session(t, root)];
  assert.equal(await b.begin({ writable: ["docs/"] }), undefined);
  linkSync(join(root, "src/main.rs"), join(root, "docs/linked"));
  const waiting = a.run("echo began; echo x > docs/linked", { writable: ["docs/"] });
  assert.equal(await settled(waiting), "waits");
  // Elsewhere nothing can move it.
  assert.equal(await c.begin({ writable: ["other/"] }), undefined);
  b.end();
  assert.match(await (await waiting).ended, /Read-only file system/);
  assert.equal(readFileSync(join(root, "src/main.rs"), "utf8"), "main");
});

test("a command of a session that has ended is taken for one of another session until it has ended too", async (t) => {
  const root = project(t);
  const [a, b] = [session(t, root), session(t, root)];
  const command = await a.run(LURK("docs/secret"), { hidden: ["docs/secret"] });
  await command.began;
  // The instance of a guest was ended, but pi goes on.
  a.over();
  const waiting = [a, b].map((one) => one.begin({ writable: ["docs/"] }));
  writeFileSync(join(root, "docs/secret"), "secret");
  assert.equal(await command.ended, "began\nnothing\n");
  assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
  for (const one of [a, b]) one.over();
  assert.equal(existsSync(b.running), false);
});

test("nothing is left behind by a process that exits while a command runs", (t) => {
  const root = project(t);
  const { status, stderr } = spawnSync(
    process.execPath,
    [new URL("../sandbox/dying-host.mjs", import.meta.url).pathname, root, "touch began; sleep 5", "began", "exit"],
    { encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  assert.deepEqual(readdirSync(root).sort(), ["began", "docs", "src"]);
});

test("a killed process keeps no search of its session from running", async (t) => {
  const root = project(t);
  const host = new URL("../sandbox/dying-host.mjs", import.meta.url).pathname;
  spawnSync(process.execPath, [host, root, "touch began; sleep 5", "began"]);
  const hash = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const ids = join(OWN, `${hash}.running`);
  const left = readdirSync(ids, { recursive: true }).map((name) => join(ids, String(name)));
  // It was killed while the shell wrote.
  for (const path of left) if (lstatSync(path).isFile()) writeFileSync(path, "");
  assert.ok(left.length > 0);
  const one = new SandboxSession(() => ({ path: root, name: "the agent's folder" }));
  const limits = { writable: [], network: true, notice: "" };
  await one.command("call", "true", limits, { cwd: root, session: root });
  one.ended("call");
  assert.equal(one.search("call", [root]), true);
  one.end();
  assert.equal(existsSync(ids), false);
});

test("the stand-ins for what is hidden stay when a session ends", async (t) => {
  const root = project(t);
  writeFileSync(join(root, "secret"), "secret");
  const [a, b] = [session(t, root), session(t, root)];
  const limits = { hidden: ["secret"] };
  assert.equal(await a.begin(limits), undefined);
  const input = "cat secret; echo began";
  const command = await b.run("sleep 0.2; cat secret; echo began", limits);
  a.over();
  assert.doesNotMatch(await command.ended, /secret\n/);
  assert.ok(existsSync(b.running));
  b.end();
  assert.match(await (await b.run(input, limits)).ended, /Permission denied[^]*began/);
  b.over();
  assert.deepEqual(
    [a, b].map(({ running }) => existsSync(running)),
    [false, false],
  );
});

/** Numbers that look random, the same in each run. @param {number} seed */
function random(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("in many orders of beginning, ending and aborting, each command keeps what it rests on, and nothing is left behind", async (t) => {
  const PATHS = ["new/a", "new/b/", "new/deep/c", "late", "late-folder/", "docs/new/"];
  for (let seed = 1; seed <= 40; seed += 1) {
    const root = project(t);
    const pick = random(seed);
    const sessions = Array.from({ length: 4 }, () => session(t, root));
    /**
     * What each session's command rests on: the paths, each with its file.
     *
     * @type {Map<object, { path: string, ino: number }[]>}
     */
    const held = new Map();
    const some = () => PATHS.filter(() => pick(3) === 0);
    for (let step = 0; step < 40; step += 1) {
      const one = sessions[pick(sessions.length)];
      if (held.has(one)) {
        [one.end, one.over][pick(2)]();
        held.delete(one);
      } else {
        const hidden = some();
        const writable = some().filter((path) => !hidden.includes(path));
        const beginning = one.begin({ writable, hidden });
        const refused = await settled(beginning);
        if (refused === undefined)
          held.set(
            one,
            [...hidden, ...writable].map((path) => ({ path, ino: lstatSync(join(root, path)).ino })),
          );
        else {
          assert.equal(refused, "waits");
          one.over();
          await beginning;
        }
      }
      for (const { path, ino } of [...held.values()].flat())
        assert.equal(
          lstatSync(join(root, path), { throwIfNoEntry: false })?.ino,
          ino,
          `seed ${seed}, step ${step}: ${path}`,
        );
    }
    for (const one of sessions) one.over();
    assert.deepEqual(
      readdirSync(root, { recursive: true }).sort(),
      ["docs", "src", join("src", "main.rs")],
      `seed ${seed}`,
    );
  }
});
