// Files and folders that are created for command lines, of several processes in one project: they stay as long as a process
// that lives rests on one, nothing stays after that, and git does not see the hidden ones.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs, {
  appendFileSync,
  chmodSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { SandboxSession, processes } from "#sandbox";
import { placeholders } from "../../sandbox/placeholders.js";
import { variants } from "../pi/harness/extent.mjs";

const HOST = new URL("sharing-host.mjs", import.meta.url).pathname;
const HIDDEN = [".env", "secrets/", "deep/er/key.pem"];
const WRITABLE = ["src/", "notes.md"];
const ROOT = realpathSync(mkdtempSync(join(tmpdir(), "placeholders-")));
process.env.TMPDIR = join(ROOT, "tmp");
mkdirSync(process.env.TMPDIR);
const LISTS = join(ROOT, "lists/placeholders");
placeholders.folder = LISTS;
const LINUX = { skip: process.platform === "linux" ? false : "needs Linux" };
process.once("exit", () => rmSync(ROOT, { recursive: true, force: true }));

/** @param {string} cwd @param {string[]} args */
const git = (cwd, ...args) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", ...args], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

/** A repository with one file. @param {string} [at] */
function project(at = mkdtempSync(join(ROOT, "project-"))) {
  mkdirSync(join(at, "src"), { recursive: true });
  writeFileSync(join(at, "src/main.rs"), "main\n");
  git(at, "init", "-q");
  git(at, "add", "-A");
  git(at, "commit", "-qm", "first");
  return at;
}

/** @param {string} folder @param {number} count @param {string[]} [hidden] @param {string[]} [writable] @param {string} [TMPDIR] with the usual lists */
function host(folder, count, hidden = HIDDEN, writable = WRITABLE, TMPDIR) {
  const args = [HOST, folder, String(count), JSON.stringify(hidden), JSON.stringify(writable)];
  if (TMPDIR === undefined) args.push(LISTS);
  const env = { ...globalThis.process.env, ...(TMPDIR && { TMPDIR }) };
  const process = spawn(globalThis.process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env });
  const closed = once(process, "close");
  let output = "";
  process.stdout.on("data", (data) => (output += data));
  /** The lines of the command lines, empty for those that went well. */
  const results = closed.then(() => output.split("\n").slice(0, -1));
  return { process, results, end: () => (process.stdin.end(), closed), kill: () => (process.kill("SIGKILL"), closed) };
}

/** A process that has begun a command line. @param {string} folder @param {string} [TMPDIR] */
async function holding(folder, hidden = HIDDEN, writable = WRITABLE, TMPDIR) {
  const started = host(folder, 0, hidden, writable, TMPDIR);
  await once(started.process.stdout, "data");
  return started;
}

/** Begins a session here, and a command line; returns their end. @param {string} folder @param {string[]} [hidden] @param {string[]} [writable] */
function here(folder, hidden = HIDDEN, writable = WRITABLE, prefix = () => "") {
  const session = new SandboxSession(
    () => ({ path: join(folder, "none"), name: "the agent's folder" }),
    () => ({
      prefix: prefix(),
    }),
  );
  session.begin(folder);
  const limits = { writable: writable.map((path) => join(folder, path)), hidden, network: true, notice: "" };
  const command = () => session.command("call", "true", limits, { cwd: folder, session: folder });
  return { session, command, end: () => (session.ended("call"), session.end()) };
}

/** @param {string} folder */
const start = (folder) => here(folder).session;
/** The names in a project, without those of the repository. @param {string} folder */
const left = (folder) => readdirSync(folder).filter((name) => ![".git", "src"].includes(name));
/** @param {string} folder */
const staged = (folder) => git(folder, "add", "-A", "-n").split("\n").filter(Boolean);
const EXCLUDE = ".git/info/exclude";

suite("processes in one project", LINUX, () => {
  for (const [sessions, count] of variants([
    [2, 12],
    [2, 100],
    [4, 100],
  ])) {
    test(`${sessions} with ${count} commands each, beside one that ends and one that is killed: none fails or reads`, async () => {
      const folder = project();
      const written = Array.from({ length: 12 }, (_, index) => `.secret-${index}`);
      const hosts = Array.from({ length: sessions + 2 }, (_, index) =>
        host(folder, index === 1 ? count / 3 : count, [...HIDDEN, ...written]),
      );
      let isOver = false;
      const writes = (async () => {
        for (const name of written) {
          await sleep(count * 5);
          writeFileSync(join(folder, name), "secret\n");
        }
      })();
      const kill = (async () => {
        while (!isOver && !existsSync(join(folder, ".env"))) await sleep(5);
        await sleep(count * 15);
        await hosts[0].kill();
      })();
      const results = await Promise.all(hosts.map(({ results }) => results));
      isOver = true;
      await Promise.all([writes, kill]);
      assert.deepEqual(results.flat().filter(Boolean), []);
      assert.equal(results.flat().length >= count * sessions, true);
      start(folder).end();
      assert.deepEqual(left(folder).sort(), written.sort());
      assert.deepEqual(readdirSync(LISTS), []);
    });
  }

  test("a placeholder stays until the last process that rests on it has ended, in any order, also by a kill", async () => {
    for (const end of /** @type {const} */ (["end", "kill"])) {
      const folder = project();
      const first = await holding(folder);
      const second = await holding(folder);
      await first[end]();
      start(folder).end();
      assert.deepEqual(left(folder), [".env", "deep", "notes.md", "secrets"]);
      await second.end();
      assert.deepEqual(left(folder), []);
    }
  });

  test("a placeholder stays for a process with another TMPDIR, and the lists are not visible to a command", async () => {
    const folder = project();
    const [one, other] = ["one", "other"].map((name) => join(ROOT, name));
    for (const path of [one, other]) mkdirSync(path);
    const first = await holding(folder, HIDDEN, WRITABLE, one);
    const second = await holding(folder, HIDDEN, WRITABLE, other);
    await first.end();
    assert.deepEqual(left(folder), [".env", "deep", "notes.md", "secrets"]);
    assert.deepEqual(staged(folder), ["add 'notes.md'"]);
    await second.end();
    assert.deepEqual(left(folder), []);
    const shared = join(realpathSync("/tmp"), `pi-confined-${process.getuid?.() ?? 0}`);
    const session = new SandboxSession(() => ({ path: join(folder, "none"), name: "the agent's folder" }));
    const limits = { writable: ["/"], hidden: [], network: true, notice: "" };
    const line = `ls -A ${shared}; touch ${shared}/made-${process.pid}`;
    const confined = await session.command("call", line, limits, { cwd: folder, session: folder });
    const { stdout, status } = spawnSync("bash", ["-c", confined], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    session.end();
    assert.deepEqual([stdout, status, existsSync(join(shared, `made-${process.pid}`))], ["", 0, false]);
  });

  test("a hidden name that is removed while the sandbox is built is covered, or the command does not begin", async (t) => {
    const folder = project();
    const together = placeholders.together.bind(placeholders);
    let gap = () => {};
    t.after(() => delete (/** @type {Partial<typeof placeholders>} */ (placeholders).together));
    placeholders.together = (work) => {
      try {
        return together(work);
      } finally {
        gap();
      }
    };
    const COVERED = /'--ro-bind' '[^ ]*\/hidden\.file' '[^ ]*\/\.env'/;
    const [file, away] = [join(folder, ".env"), join(ROOT, "away")];
    const begun = here(folder, [".env"], []);
    gap = () => {
      gap = () => {};
      rmSync(file);
    };
    assert.match(String(await begun.command()), COVERED);
    begun.session.ended("call");
    assert.deepEqual(left(folder), []);
    writeFileSync(file, "secret");
    gap = () => existsSync(away) || renameSync(file, away);
    await assert.rejects(begun.command, /\.env, which is hidden, was removed while the sandbox was built/);
    renameSync(away, file);
    const waits = begun.session.whenFree(begun.command);
    await sleep(100);
    gap = () => {};
    if (existsSync(away)) {
      rmSync(file, { force: true });
      renameSync(away, file);
    }
    assert.match(await waits, COVERED);
    begun.end();
    assert.equal(readFileSync(file, "utf8"), "secret");
  });

  test("what a killed process has left is removed at the next start, but nothing that was touched", async () => {
    const folder = project();
    const killed = await holding(folder);
    await killed.kill();
    assert.deepEqual(left(folder), [".env", "deep", "notes.md", "secrets"]);
    utimesSync(join(folder, "notes.md"), 1, 1);
    writeFileSync(join(folder, "secrets/new"), "");
    writeFileSync(join(folder, "other"), "");
    renameSync(join(folder, "other"), join(folder, ".env"));
    start(folder).end();
    assert.deepEqual(left(folder), [".env", "notes.md", "secrets"]);
    assert.doesNotMatch(readFileSync(join(folder, EXCLUDE), "utf8"), /env/);
    assert.deepEqual(readdirSync(LISTS), []);
  });

  test("a command whose placeholder is removed while its sandbox is built is built once more", async () => {
    const folder = project();
    let times = 0;
    const notes = join(folder, "notes.md");
    const begun = here(folder, [], WRITABLE, () => {
      if (existsSync(notes) && (times += 1) === 1) rmSync(notes);
      return "";
    });
    await begun.command();
    assert.equal(times, 2);
    assert.deepEqual(left(folder), ["notes.md"]);
    begun.end();
    assert.deepEqual(left(folder), []);
    const always = here(folder, [], WRITABLE, () => (rmSync(notes, { force: true }), ""));
    await assert.rejects(always.command, /notes\.md: it does not exist/);
  });
});

suite("a list", LINUX, () => {
  /** Writes the list of a process. @param {unknown} process @param {object[]} placeholders @param {string} [more] */
  const list = (process, placeholders, more = "") => {
    mkdirSync(LISTS, { recursive: true });
    writeFileSync(join(LISTS, "1-0.list"), `${JSON.stringify({ process, placeholders })}\n${more}`);
  };
  const DEAD = { ...processes.self(), start: "before" };
  const ELSEWHERE = { ...processes.self(), namespace: "elsewhere pid:[1]" };
  /** @param {string} path */
  const listed = (path, more = {}) => ({ path, directory: false, id: "", listed: Date.now(), hidden: true, ...more });
  /** The placeholder as one that was created. @param {string} path */
  const created = (path) => {
    const { dev, ino, mtimeNs } = statSync(path, { bigint: true });
    return listed(path, { id: `${dev}:${ino}`, created: String(mtimeNs) });
  };

  test("of a process that was killed between its listing and the creation, or while it wrote", () => {
    const folder = project();
    const [made, older, none] = ["made", "older", "none"].map((name) => join(folder, name));
    for (const path of [made, older]) writeFileSync(path, "");
    utimesSync(older, 1, 1);
    list(DEAD, [listed(made), listed(older), listed(none)], '{"process":');
    start(folder).end();
    assert.deepEqual(left(folder), ["older"]);
    for (const text of ["", '{"process":']) {
      writeFileSync(join(LISTS, "1-0.list"), text);
      start(folder).end();
      assert.deepEqual(readdirSync(LISTS), []);
    }
  });

  test("with a line that was written in part, on a full disk, has the placeholders of the lines around it", async () => {
    for (const torn of ['{"process":', '{"process":\n']) {
      const folder = project();
      const begun = here(folder);
      await begun.command();
      const [own] = readdirSync(LISTS);
      appendFileSync(join(LISTS, own), torn);
      if (!torn.endsWith("\n")) {
        const more = here(folder, [".more"], []);
        await more.command();
        more.end();
      }
      const other = await holding(folder);
      begun.end();
      assert.deepEqual(left(folder), [".env", "deep", "notes.md", "secrets"]);
      await other.end();
      assert.deepEqual(left(folder), []);
    }
  });

  test("without a line that can be read counts as one that has everything", async () => {
    const folder = project();
    const begun = here(folder);
    await begun.command();
    writeFileSync(join(LISTS, "1-0.list"), "not JSON\n");
    begun.end();
    assert.deepEqual(left(folder), [".env", "deep", "notes.md", "secrets"]);
    rmSync(join(LISTS, "1-0.list"));
  });

  test("is not unlocked by a process that no longer finds the lock", async (t) => {
    const folder = project();
    mkdirSync(LISTS, { recursive: true });
    const lock = join(LISTS, "1-0.lock");
    const { lstatSync, readlinkSync } = fs;
    const gone = () => Object.assign(new Error("ENOENT"), { code: "ENOENT" });
    let isFresh = false;
    /** The lock vanishes after the folder was read; later its process makes it again. */
    t.mock.method(fs, "readlinkSync", (/** @type {string} */ path) => {
      if (path !== lock || isFresh) return readlinkSync(path);
      unlinkSync(lock);
      throw gone();
    });
    t.mock.method(fs, "lstatSync", (/** @type {string} */ path, /** @type {any} */ options) => {
      if (path !== lock || isFresh) return lstatSync(path, options);
      symlinkSync(JSON.stringify(processes.self()), lock);
      isFresh = true;
      throw gone();
    });
    const removals = t.mock.method(fs, "rmSync");
    syncBuiltinESMExports();
    symlinkSync(JSON.stringify(processes.self()), lock);
    try {
      const begun = here(folder);
      await begun.command();
      begun.end();
    } finally {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.equal(
      removals.mock.calls.some(({ arguments: [path] }) => path === lock),
      false,
    );
    rmSync(lock, { force: true });
  });

  test("of a process of another namespace, which may live, keeps what is in it", async () => {
    const folder = project();
    for (const name of [".env", "notes.md"]) writeFileSync(join(folder, name), "");
    list(ELSEWHERE, [created(join(folder, ".env")), created(join(folder, "notes.md"))]);
    const begun = here(folder);
    await begun.command();
    begun.end();
    assert.deepEqual(left(folder), [".env", "notes.md"]);
    rmSync(join(LISTS, "1-0.list"));
  });

  test("is not changed while another process changes its own, unless that one was killed", async () => {
    const folder = project();
    const lock = join(LISTS, "1-0.lock");
    for (const [process, time] of /** @type {const} */ ([
      [DEAD, Date.now() / 1000],
      [ELSEWHERE, 1],
    ])) {
      symlinkSync(JSON.stringify(process), lock);
      lutimesSync(lock, time, time);
      const begun = here(folder);
      await begun.command();
      begun.end();
      assert.deepEqual(readdirSync(LISTS), []);
    }
    symlinkSync(JSON.stringify(ELSEWHERE), lock);
    const begun = here(folder);
    await assert.rejects(begun.command, /another process is changing its list/);
    const waits = begun.session.whenFree(begun.command);
    await sleep(300);
    rmSync(lock);
    await waits;
    assert.deepEqual(left(folder), [".env", "deep", "notes.md", "secrets"]);
    begun.end();
    assert.deepEqual(left(folder), []);
  });
});

suite("git", LINUX, () => {
  test("does not stage a hidden name while a command runs, and stages a writable one", async () => {
    const folder = project();
    const names = [...HIDDEN, "a b ", "[x]*?\\", "#no", "!no"];
    const running = await holding(folder, names);
    const hidden = names.filter((name) => !name.endsWith("/"));
    assert.equal(
      hidden.every((name) => existsSync(join(folder, name))),
      true,
    );
    start(folder).end();
    writeFileSync(join(folder, "notes.md"), "written\n");
    writeFileSync(join(folder, "x"), "");
    assert.deepEqual(staged(folder), ["add 'notes.md'", "add 'x'"]);
    git(folder, "add", "-A");
    await running.end();
    assert.deepEqual(left(folder), ["notes.md", "x"]);
  });

  test("sees a name that one process hides and another one may write", async () => {
    const folder = project();
    const hides = await holding(folder, ["notes.md", ".env"], []);
    assert.deepEqual(staged(folder), []);
    const writes = await holding(folder, [], ["notes.md"]);
    assert.deepEqual(staged(folder), ["add 'notes.md'"]);
    await writes.end();
    assert.deepEqual(staged(folder), []);
    await hides.end();
    assert.deepEqual(left(folder), []);
  });

  test("has its list of ignored files as it was afterwards", async () => {
    for (const before of [undefined, "", "a", "a\n", "# comment\n\n*.log\n\n", "\xff\n"]) {
      const folder = project();
      const exclude = join(folder, EXCLUDE);
      rmSync(join(folder, ".git/info"), { recursive: true, force: true });
      if (before !== undefined) {
        mkdirSync(join(folder, ".git/info"));
        writeFileSync(exclude, before, "latin1");
        chmodSync(exclude, 0o664);
      }
      const begun = here(folder);
      await begun.command();
      start(folder).end();
      assert.deepEqual(staged(folder), ["add 'notes.md'"]);
      if (before === "a\n") appendFileSync(exclude, "b\n");
      begun.end();
      assert.equal(
        existsSync(exclude) ? readFileSync(exclude, "latin1") : "",
        `${before ?? ""}${before === "a\n" ? "b\n" : ""}`,
      );
      if (before) assert.equal(statSync(exclude).mode & 0o777, 0o664);
    }
  });

  test("has lines that a killed process has left no longer after the next start, also if its list is lost", async () => {
    const folder = project();
    const before = readFileSync(join(folder, EXCLUDE), "utf8");
    await (await holding(folder)).kill();
    assert.notEqual(readFileSync(join(folder, EXCLUDE), "utf8"), before);
    rmSync(LISTS, { recursive: true });
    start(folder).end();
    assert.deepEqual(staged(folder), ["add 'notes.md'"]);
    writeFileSync(join(folder, ".env"), "written\n");
    rmSync(join(folder, "deep"), { recursive: true });
    start(folder).end();
    assert.equal(readFileSync(join(folder, EXCLUDE), "utf8"), before);
    assert.deepEqual(readdirSync(LISTS), []);
  });

  test("keeps an empty list of ignored files", () => {
    const folder = project();
    writeFileSync(join(folder, EXCLUDE), "");
    start(folder).end();
    assert.equal(readFileSync(join(folder, EXCLUDE), "utf8"), "");
  });

  test("has its list changed only while no other process changes its own, also if the lists are lost", async (t) => {
    const folder = project();
    await (await holding(folder)).kill();
    for (const name of left(folder)) rmSync(join(folder, name), { recursive: true });
    rmSync(LISTS, { recursive: true });
    const { ftruncateSync } = fs;
    /** @type {string[][]} */
    const locks = [];
    t.mock.method(fs, "ftruncateSync", (/** @type {number} */ file, /** @type {number} */ size) => {
      locks.push(existsSync(LISTS) ? readdirSync(LISTS) : []);
      ftruncateSync(file, size);
    });
    syncBuiltinESMExports();
    try {
      start(folder).end();
    } finally {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.match(locks.join(), /^[^,]+\.lock$/);
  });

  test("of a linked work tree and of a submodule", async () => {
    const folder = project();
    git(folder, "worktree", "add", "-q", join(folder, "../tree"));
    git(folder, "submodule", "add", "-q", project(), "inner");
    for (const [at, exclude] of [
      [join(folder, "../tree"), EXCLUDE],
      [join(folder, "inner"), ".git/modules/inner/info/exclude"],
    ]) {
      const begun = here(realpathSync(at), [".env"], []);
      await begun.command();
      assert.deepEqual(staged(at), []);
      assert.match(readFileSync(join(folder, exclude), "utf8"), /^\/\.env$/m);
      begun.end();
      assert.doesNotMatch(readFileSync(join(folder, exclude), "utf8"), /env/);
    }
    git(folder, "worktree", "remove", "--force", join(folder, "../tree"));
  });

  test("is written in its own folder only, whatever lies there later", async () => {
    const folder = project();
    const other = mkdtempSync(join(ROOT, "other-"));
    const [first, second] = [here(folder, [".env"], []), here(folder, [".key"], [])];
    await first.command();
    await second.command();
    renameSync(join(folder, ".git"), join(folder, "moved"));
    symlinkSync(other, join(folder, ".git"));
    second.end();
    first.end();
    assert.deepEqual(readdirSync(other), []);
  });

  test("is left alone where its folder does not name the work tree, its list is a link, or cannot be written", async () => {
    const [folder, other] = [project(), project()];
    const before = readFileSync(join(other, EXCLUDE), "utf8");
    const run = async (/** @type {string} */ at) => {
      const begun = here(at);
      await begun.command();
      assert.deepEqual(left(at), [".env", "deep", "notes.md", "secrets"]);
      begun.end();
    };
    rmSync(join(folder, EXCLUDE));
    symlinkSync(join(other, EXCLUDE), join(folder, EXCLUDE));
    await run(folder);
    rmSync(join(folder, ".git"), { recursive: true });
    writeFileSync(join(folder, ".git"), `gitdir: ${other}/.git\n`);
    await run(folder);
    assert.equal(readFileSync(join(other, EXCLUDE), "utf8"), before);
    rmSync(join(other, EXCLUDE));
    mkdirSync(join(other, EXCLUDE));
    await run(other);
  });
});
