// The state of the project's files, from real git repositories.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { projectState } from "../../host-shim/project-state.js";
import { LONG } from "../pi/harness/extent.mjs";
import { REPO } from "../pi/harness/pi.mjs";

const FOLDER = join(REPO, "target", "tmp");
mkdirSync(FOLDER, { recursive: true });

const AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always", "-c", "gc.auto=0"];

/** @param {string} cwd @param {string[]} args */
const git = (cwd, ...args) => execFileSync("git", [...AUTHOR, ...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** @param {string} root @param {Record<string, string>} files */
function write(root, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** The repository of the states. @param {string} agentDir */
function ownOf(agentDir) {
  const folder = join(agentDir, "extension-data", "project-states");
  return join(folder, readdirSync(folder).filter((name) => name !== ".gitignore")[0]);
}

/** @param {string} root @param {string} message */
function commit(root, message) {
  git(root, "add", "--all");
  git(root, "commit", "--quiet", "--message", message);
}

/**
 * Makes a repository with files, and a function that tells its state.
 *
 * @param {import("node:test").TestContext} t
 * @param {Record<string, string>} files
 * @param {string[]} [options] of `git init`
 */
function repository(t, files, options = []) {
  // Not in the system's folder for temporary files, of which a sandbox shows the work tree only.
  const parent = mkdtempSync(join(FOLDER, "project-state-"));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const [root, agentDir] = [join(parent, "project"), join(parent, "agent")];
  mkdirSync(root);
  git(root, "init", "--quiet", ...options);
  write(root, files);
  commit(root, "first");
  const place = { granted: true, cwd: root, agentDir, sessionFile: /** @type {string | undefined} */ (undefined) };
  /** @param {string[]} since @param {Partial<typeof place>} changes */
  const state = async (since = [], changes = {}) => {
    const answer = await projectState({ ...place, ...changes }, since, new AbortController().signal);
    assert.ok(answer.tag === "project-state");
    return answer.val;
  };
  /** @param {string[]} since @param {Partial<typeof place>} changes */
  const known = async (since = [], changes = {}) => {
    const known = await state(since, changes);
    assert.ok(known.tag === "ok", /** @type {any} */ (known).val);
    return known.val;
  };
  /** The paths that a change of the files changes. @param {() => void} change @param {Partial<typeof place>} changes */
  const after = async (change, changes = {}) => {
    const { id } = await known([], changes);
    change();
    const now = await known([id], changes);
    assert.equal(now.since.length, 1);
    assert.equal(now.since[0].count === 0n, now.id === id);
    return now.since[0].paths;
  };
  return { parent, root, agentDir, state, known, after };
}

test("the state is that of all files that git does not ignore, tracked or not", async (t) => {
  const { root, known, after, agentDir } = repository(t, { "a.txt": "a", "b/c.txt": "c", ".gitignore": "*.log\n" });
  const { id } = await known();
  assert.equal(id, git(root, "rev-parse", "HEAD^{tree}").trim());
  assert.deepEqual(await after(() => write(root, { "a.txt": "A" })), ["a.txt"]);
  assert.deepEqual(await after(() => write(root, { "new one/ü\n.txt": "n" })), ["new one/ü\n.txt"]);
  assert.deepEqual(await after(() => write(root, { "x.log": "ignored" })), []);
  assert.deepEqual(await after(() => commit(root, "all of it")), []);
  assert.deepEqual(await after(() => rmSync(join(root, "b"), { recursive: true })), ["b/c.txt"]);
  assert.deepEqual(await after(() => write(root, { b: "a file now" })), ["b"]);
  assert.deepEqual(await after(() => { rmSync(join(root, "b")); write(root, { "b/c.txt": "c" }); }), ["b", "b/c.txt"]);
  assert.deepEqual(await after(() => chmodSync(join(root, "a.txt"), 0o755)), ["a.txt"]);
  assert.deepEqual(await after(() => symlinkSync("/etc/passwd", join(root, "link"))), ["link"]);
  assert.deepEqual(await after(() => renameSync(join(root, "a.txt"), join(root, "z.txt"))), ["a.txt", "z.txt"]);
  git(root, "add", "--force", "x.log");
  assert.deepEqual(await after(() => appendFileSync(join(root, "x.log"), "tracked now")), ["x.log"]);
  assert.deepEqual(await after(() => rmSync(join(root, "x.log"))), ["x.log"]);
  assert.deepEqual(await after(() => write(root, { "x.log": "again" })), ["x.log"]);
  assert.deepEqual(await after(() => git(root, "checkout", "--quiet", "--orphan", "other")), []);
  const objects = git(ownOf(agentDir), "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)");
  assert.deepEqual([...new Set(objects.trim().split("\n"))], ["tree"], "no file is copied");
});

test("neither marks of the index nor times nor the configuration hide a change", async (t) => {
  const { parent, root, after } = repository(t, { "a.txt": "a", "b.txt": "b", ".gitattributes": "*.txt filter=same\n" });
  const ran = join(parent, "ran");
  for (const [name, value] of [["filter.same.clean", `touch ${ran}; echo same`], ["filter.same.required", "true"], ["core.fsmonitor", `touch ${ran}; true`], ["core.hooksPath", root], ["core.worktree", parent], ["core.excludesFile", join(root, "all")], ["core.attributesFile", join(root, "all")]]) git(root, "config", name, value);
  write(root, { all: "*\n" });
  assert.deepEqual(await after(() => write(root, { "a.txt": "A" })), ["a.txt"]);
  git(root, "-c", "core.worktree=", "--work-tree=.", "update-index", "--assume-unchanged", "a.txt");
  git(root, "-c", "core.worktree=", "--work-tree=.", "update-index", "--skip-worktree", "b.txt");
  assert.deepEqual(await after(() => write(root, { "a.txt": "B", "b.txt": "C" })), ["a.txt", "b.txt"]);
  const past = new Date("2001-01-01");
  utimesSync(join(root, "a.txt"), past, past);
  // git compares the times of changes in seconds.
  await setTimeout(1100);
  assert.deepEqual(await after(() => { write(root, { "a.txt": "D" }); utimesSync(join(root, "a.txt"), past, past); }), ["a.txt"]);
  rmSync(ran, { force: true });
  assert.deepEqual(await after(() => write(root, { "a.txt": "E" })), ["a.txt"]);
  assert.equal(existsSync(ran), false, "no program of the configuration ran");
});

test("work trees, folders in them, submodules, and repositories in repositories", async (t) => {
  const { parent, root, known, after } = repository(t, { "a.txt": "a" });
  const other = join(parent, "other");
  git(root, "worktree", "add", "--quiet", other);
  assert.equal((await known([], { cwd: other })).id, (await known()).id);
  assert.deepEqual(await after(() => write(other, { "b.txt": "b" }), { cwd: other }), ["b.txt"]);
  write(root, { "packages/one/a.js": "1" });
  assert.deepEqual(await after(() => write(root, { "b.txt": "b" }), { cwd: join(root, "packages/one") }), ["b.txt"]);
  git(root, "submodule", "--quiet", "add", other, "lib/sub");
  commit(root, "submodule");
  assert.deepEqual(await after(() => write(root, { "lib/sub/a.txt": "changed in the submodule" })), ["lib/sub"]);
  assert.deepEqual(await after(() => {}), []);
  const inner = join(root, "inner");
  git(root, "init", "--quiet", inner);
  write(inner, { "i.txt": "i" });
  assert.deepEqual(await after(() => write(inner, { "i.txt": "I" })), ["inner"]);
  assert.deepEqual(await after(() => { rmSync(join(inner, ".git"), { recursive: true }); }), ["inner", "inner/i.txt"]);
  assert.deepEqual(await after(() => rmSync(join(root, "lib"), { recursive: true })), ["lib/sub"]);
});

test("repositories with SHA-256, a split index, and without a commit", async (t) => {
  const hashed = repository(t, { "a.txt": "a" }, ["--object-format=sha256"]);
  assert.deepEqual(await hashed.after(() => write(hashed.root, { "a.txt": "A" })), ["a.txt"]);
  const split = repository(t, { "a.txt": "a" });
  git(split.root, "update-index", "--split-index");
  assert.deepEqual(await split.after(() => write(split.root, { "a.txt": "A" })), ["a.txt"]);
  const empty = repository(t, { "a.txt": "a" });
  rmSync(join(empty.root, ".git"), { recursive: true });
  git(empty.root, "init", "--quiet");
  assert.deepEqual(await empty.after(() => write(empty.root, { "b.txt": "A" })), ["b.txt"]);
  assert.deepEqual(await empty.after(() => ["a.txt", "b.txt"].forEach((name) => rmSync(join(empty.root, name)))), ["a.txt", "b.txt"]);
  const fresh = repository(t, { "a.txt": "a" });
  rmSync(join(fresh.root, "a.txt"));
  assert.deepEqual(await fresh.after(() => write(fresh.root, { "b.txt": "A" })), ["b.txt"]);
});

test("the files of the session are left out, and earlier states that are not known any more", async (t) => {
  const { root, agentDir, known, after } = repository(t, { "a.txt": "a" });
  const sessionFile = join(root, "pi [1]", "session.jsonl");
  write(root, { "pi [1]/session.jsonl": "{}" });
  const changes = { sessionFile };
  assert.deepEqual(await after(() => write(root, { "pi [1]/session.jsonl": "{}\n{}", "pi [1]/session.jsonl.process": "1", "pi [1]/session.children/c.jsonl": "2" }), changes), []);
  assert.deepEqual(await after(() => write(root, { "pi [1]/session.js": "code" }), changes), ["pi [1]/session.js"]);
  const child = join(root, "pi [1]", "session.children", "c.jsonl");
  assert.deepEqual(await after(() => appendFileSync(child, "more"), { sessionFile: child }), []);
  const { id } = await known();
  assert.deepEqual((await known(["0".repeat(40), "--output=x", "$(touch x)", id])).since, [{ since: id, count: 0n, paths: [] }]);
  rmSync(agentDir, { recursive: true });
  write(root, { "a.txt": "other" });
  assert.deepEqual((await known([id])).since, []);
});

test("what cannot be told has a reason, and what a killed git leaves is no obstacle", async (t) => {
  const { root, agentDir, state, known } = repository(t, { "a.txt": "a" });
  assert.deepEqual(await state([], { granted: false }), { tag: "err", val: "The manifest does not grant it." });
  assert.deepEqual(await state([], { cwd: tmpdir() }), { tag: "err", val: "the project is no git work tree" });
  const path = process.env.PATH;
  t.after(() => (process.env.PATH = path));
  const programs = join(agentDir, "bin");
  write(programs, { git: "#!/bin/sh\necho forged" });
  chmodSync(join(programs, "git"), 0o755);
  const { id } = await known();
  process.env.PATH = `${programs}:${path}`;
  assert.equal((await known()).id, id, "a program of that name elsewhere is not it");
  process.env.PATH = path;
  await known();
  const own = ownOf(agentDir);
  // Another process that works, or was killed.
  for (const name of readdirSync(own).filter((name) => /^index-/.test(name))) writeFileSync(join(own, `${name}.lock`), "");
  writeFileSync(join(own, "new-pi-project-state-x"), "half");
  write(root, { "a.txt": "A" });
  await known();
  rmSync(join(own, "objects"), { recursive: true });
  writeFileSync(join(own, "objects"), "no folder");
  assert.match(/** @type {any} */ (await state()).val, /^git failed: .*objects/);
  const ended = await projectState({ granted: true, cwd: root, agentDir, sessionFile: undefined }, [], AbortSignal.abort());
  assert.deepEqual(ended, { tag: "cancelled" });
});

test("many requests at once, and a repository of 50,000 files", LONG, async (t) => {
  const files = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`d${index % 20}/s${index % 500}/f${index}.txt`, `file ${index}\n`.repeat(20)]));
  const { root, known, after } = repository(t, files);
  const states = await Promise.all(Array.from({ length: 8 }, () => known()));
  assert.equal(new Set(states.map(({ id }) => id)).size, 1);
  assert.deepEqual(await after(() => write(root, { "d1/s1/new.txt": "n" })), ["d1/s1/new.txt"]);
  let best = Infinity;
  for (let round = 0; round < 5; round += 1) {
    const start = performance.now();
    await known([states[0].id]);
    best = Math.min(best, performance.now() - start);
  }
  t.diagnostic(`${Math.round(best)} ms for 50,000 files of which none has changed`);
});
