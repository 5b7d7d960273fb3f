// The state of the project's files, from real git repositories.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { projectState } from "#sandbox";
import { LONG } from "../pi/harness/extent.mjs";
import { mappingOf } from "../pi/harness/mapping.mjs";
import { REPO } from "../pi/harness/pi.mjs";

const FOLDER = join(REPO, "target", "tmp");
mkdirSync(FOLDER, { recursive: true });

const AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always", "-c", "gc.auto=0"];

/** @param {string} cwd @param {string[]} args */
const git = (cwd, ...args) =>
  execFileSync("git", [...AUTHOR, ...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** @param {string} root @param {Record<string, string>} files */
function write(root, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** The folder of the trees. @param {string} data */
function ownOf(data) {
  const folder = join(data, "project-states");
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
 * @param {string} [folder]
 */
function repository(t, files, options = [], folder = FOLDER) {
  const parent = mkdtempSync(join(folder, "project-state-"));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const [root, data] = [join(parent, "project"), join(parent, "data")];
  mkdirSync(root);
  git(root, "init", "--quiet", ...options);
  write(root, files);
  commit(root, "first");
  const place = { cwd: root, data, leftOut: /** @type {string[]} */ ([]) };
  /** @param {string[]} since @param {Partial<typeof place>} changes */
  const known = (since = [], changes = {}) =>
    projectState({ ...place, ...changes }, since, new AbortController().signal);
  /** The reason why the state cannot be told. @param {string[]} since @param {Partial<typeof place>} changes */
  const why = async (since = [], changes = {}) => {
    const reason = known(since, changes).then(
      () => assert.fail("it is told"),
      (error) => error.message,
    );
    return /** @type {string} */ (await reason);
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
  return { parent, root, data, why, known, after };
}

test("the state is that of all files that git does not ignore, tracked or not", async (t) => {
  const { root, known, after, data } = repository(t, { "a.txt": "a", "b/c.txt": "c", ".gitignore": "*.log\n" });
  const { id } = await known();
  assert.equal(id, git(root, "rev-parse", "HEAD^{tree}").trim());
  assert.deepEqual(await after(() => write(root, { "a.txt": "A" })), ["a.txt"]);
  assert.deepEqual(await after(() => write(root, { "new one/ü\n.txt": "n" })), ["new one/ü\n.txt"]);
  assert.deepEqual(await after(() => write(root, { "x.log": "ignored" })), []);
  assert.deepEqual(await after(() => rmSync(join(root, "b"), { recursive: true })), ["b/c.txt"]);
  assert.deepEqual(await after(() => write(root, { b: "a file now" })), ["b"]);
  assert.deepEqual(await after(() => chmodSync(join(root, "a.txt"), 0o755)), ["a.txt"]);
  assert.deepEqual(await after(() => symlinkSync("/etc/passwd", join(root, "link"))), ["link"]);
  assert.deepEqual(await after(() => renameSync(join(root, "a.txt"), join(root, "z.txt"))), ["a.txt", "z.txt"]);
  git(root, "add", "--force", "x.log");
  assert.deepEqual(await after(() => appendFileSync(join(root, "x.log"), "tracked now")), ["x.log"]);
  assert.deepEqual(await after(() => rmSync(join(root, "x.log"))), ["x.log"]);
  const env = { ...process.env, GIT_OBJECT_DIRECTORY: ownOf(data) };
  const objects = execFileSync("git", ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  assert.deepEqual([...new Set(objects.trim().split("\n"))], ["tree"], "no file is copied");
});

test("neither marks of the index nor times nor the configuration hide a change", async (t) => {
  const { parent, root, known, after } = repository(t, {
    "a.txt": "a",
    "b.txt": "b",
    ".gitattributes": "*.txt filter=same\n",
  });
  const ran = join(parent, "ran");
  for (const [name, value] of [
    ["filter.same.clean", `touch ${ran}; echo same`],
    ["filter.same.required", "true"],
    ["core.fsmonitor", `touch ${ran}; true`],
    ["core.hooksPath", root],
    ["core.worktree", parent],
    ["core.excludesFile", join(root, "all")],
    ["core.attributesFile", join(root, "all")],
  ])
    git(root, "config", name, value);
  write(root, { all: "*\n" });
  assert.deepEqual(await after(() => write(root, { "a.txt": "A" })), ["a.txt"]);
  git(root, "-c", "core.worktree=", "--work-tree=.", "update-index", "--assume-unchanged", "a.txt");
  git(root, "-c", "core.worktree=", "--work-tree=.", "update-index", "--skip-worktree", "b.txt");
  assert.deepEqual(await after(() => write(root, { "a.txt": "B", "b.txt": "C" })), ["a.txt", "b.txt"]);
  rmSync(ran, { force: true });
  assert.deepEqual(await after(() => write(root, { "a.txt": "E" })), ["a.txt"]);
  assert.equal(existsSync(ran), false, "no program of the configuration ran");
});

test("a change that leaves size and times of a file as they were counts", LONG, async (t) => {
  const { root, known } = repository(t, { "a.txt": "A", "b.txt": "b", "sub/c.txt": "c" });
  git(root, "init", "--quiet", "sub");
  const past = new Date("2001-01-01");
  const restored = (/** @type {string} */ path, /** @type {string} */ text) => {
    write(root, { [path]: text });
    utimesSync(join(root, path), past, past);
  };
  // A page of a shared mapping that was written before, and is dirty: a further write changes no time.
  const mapped = mappingOf(t, join(root, "b.txt"));
  await mapped("B");
  for (const path of ["a.txt", "sub/c.txt"]) restored(path, "0");
  // The next second begins: an index is never older than the files that it tells of.
  await setTimeout(1100 - (Date.now() % 1000));
  for (let round = 1; round <= 3; round += 1) {
    // All within one second: neither the time of a file nor that of its change differs.
    await setTimeout(1005 - (Date.now() % 1000));
    for (const path of ["a.txt", "sub/c.txt"]) restored(path, String(round));
    await mapped(String(round));
    const { id } = await known();
    for (const path of ["a.txt", "sub/c.txt"]) restored(path, String(round + 3));
    await mapped(String(round + 3));
    assert.deepEqual((await known([id])).since, [{ since: id, count: 3n, paths: ["a.txt", "b.txt", "sub"] }]);
  }
});

test("a work tree with more than 512 MiB is too large for the rest of the process", async (t) => {
  const small = repository(t, { "a.txt": "a", "inner/b.txt": "b" });
  const reason = "its files have more than 512 MiB";
  // Of a repository in it too; what git leaves out does not count, nor what a link leads to.
  write(small.root, { ".gitignore": "*.log\n", "x.log": "" });
  truncateSync(join(small.root, "x.log"), 2 ** 40);
  symlinkSync(join(small.root, "x.log"), join(small.root, "link"));
  await small.known();
  git(small.root, "init", "--quiet", "inner");
  truncateSync(join(small.root, "inner/b.txt"), 300 * 2 ** 20);
  truncateSync(join(small.root, "a.txt"), 213 * 2 ** 20);
  assert.equal(await small.why(), reason);
  truncateSync(join(small.root, "a.txt"), 0);
  assert.equal(await small.why(), reason);
  const tracked = repository(t, { "a.txt": "a", "x.log": "x" });
  write(tracked.root, { ".gitignore": "*.log\n" });
  truncateSync(join(tracked.root, "x.log"), 10 * 2 ** 30);
  const start = performance.now();
  assert.equal(await tracked.why(), reason);
  assert.ok(performance.now() - start < 4000);
});

test("no remote of the configuration is asked for what is missing, which would run a program", async (t) => {
  const { root, data, known } = repository(t, { "a.txt": "a", "x/f": "" });
  const inner = join(root, "inner");
  git(root, "init", "--quiet", inner);
  write(inner, { "x/f": "" });
  git(inner, "add", "--all");
  const { id } = await known();
  // It can write only where the states are.
  const ran = join(ownOf(data), "ran");
  for (const at of [root, inner]) {
    git(at, "update-index", "--add", "--cacheinfo", `100644,${"12".repeat(20)},x/.gitignore`);
    git(at, "update-index", "--skip-worktree", "x/.gitignore");
    for (const [name, value] of [
      ["core.repositoryFormatVersion", "1"],
      ["extensions.partialClone", "evil"],
      ["remote.evil.promisor", "true"],
      ["remote.evil.partialclonefilter", "blob:none"],
      ["remote.evil.url", root],
      ["remote.evil.uploadpack", `touch ${ran}; git-upload-pack`],
    ])
      git(at, "config", name, value);
  }
  write(root, { "a.txt": "A" });
  assert.deepEqual((await known([id])).since, [{ since: id, count: 1n, paths: ["a.txt"] }]);
  assert.equal(existsSync(ran), false, "no program of the configuration ran");
});

test("each byte of a file counts, whatever the attributes of the project and of the user", async (t) => {
  const { parent, root, after } = repository(t, {
    "a.txt": "a\n",
    "b.txt": "$Id: 1 $\n",
    "c.txt": "c\n",
    "d.txt": "d",
    "e.txt": "$Id: 1 $\n",
  });
  git(root, "config", "core.autocrlf", "input");
  write(root, {
    ".gitattributes":
      "[attr]text filter=x\n[attr]binary text ident\n[attr]mine text=auto eol=crlf ident\n*.txt mine\na.txt text=auto\nb.txt ident\nc.txt binary\nd.txt working-tree-encoding=UTF-16LE\n",
  });
  write(parent, { "user/git/attributes": "e.txt ident\n" });
  const user = process.env.XDG_CONFIG_HOME;
  t.after(() => (user === undefined ? delete process.env.XDG_CONFIG_HOME : (process.env.XDG_CONFIG_HOME = user)));
  process.env.XDG_CONFIG_HOME = join(parent, "user");
  const files = { "a.txt": "a\r\n", "b.txt": "$Id: 2 $\n", "c.txt": "c\r\n", "d.txt": "d\0", "e.txt": "$Id: 2 $\n" };
  assert.deepEqual(await after(() => write(root, files)), Object.keys(files));
  write(root, { ".gitattributes": "* text=auto\n" });
  assert.deepEqual(await after(() => write(root, { "a.txt": "a\n", "c.txt": "c\n" })), ["a.txt", "c.txt"]);
});

test("names that git takes on some systems only count, and what it never takes has a reason", async (t) => {
  const { root, why, after } = repository(t, { "a.txt": "a" });
  assert.deepEqual(await after(() => write(root, { "git~1/t.sh": "1", "x\\y": "1", ".g\u200cit/z": "1" })), [
    ".g\u200cit/z",
    "git~1/t.sh",
    "x\\y",
  ]);
  assert.deepEqual(await after(() => write(root, { "git~1/t.sh": "2" })), ["git~1/t.sh"]);
  const reasons = {
    ".GIT/y": "git takes no file of this name: .GIT/y",
    "\n/.GIT/y": "git takes no file of this name: ",
  };
  for (const [path, reason] of Object.entries(reasons)) {
    write(root, { [path]: "y" });
    assert.equal(await why(), reason);
    rmSync(join(root, path), { recursive: true });
    if (dirname(path) !== ".") rmSync(join(root, dirname(path)), { recursive: true });
  }
  git(root, "init", "--quiet", "x\ny");
  write(root, { "x\ny/i": "1" });
  assert.equal(await why(), 'a repository in the project has a special name: "x\\ny"');
  rmSync(join(root, "x\ny"), { recursive: true });
  write(root, { ".gitignore": "*.log\n", "l\n.log": "1" });
  git(root, "add", "--force", "l\n.log");
  assert.equal(await why(), 'a file that is tracked and ignored has a special name: "l\\n.log"');
});

test("nothing that is stored hides a change", async (t) => {
  const { root, data, known, after } = repository(t, { "a.txt": "a", "b.txt": "b" });
  const stored = (/** @type {string} */ id) => join(ownOf(data), id.slice(0, 2), id.slice(2));
  await known();
  const config = join(ownOf(data), "config");
  assert.deepEqual(
    await after(() => {
      writeFileSync(config, `[core]\nfsmonitor = touch ${config}.ran\n`);
      write(root, { "b.txt": "B" });
    }),
    ["b.txt"],
  );
  assert.equal(existsSync(`${config}.ran`), false);
  const { id } = await known();
  write(root, { "b.txt": "b" });
  const now = await known([id]);
  assert.deepEqual(now.since, [{ since: id, count: 1n, paths: ["b.txt"] }]);
  chmodSync(stored(id), 0o644);
  copyFileSync(stored(now.id), stored(id));
  assert.deepEqual((await known([id])).since, [], "the tree that is stored is not the earlier one");
  writeFileSync(stored(id), "no tree");
  assert.deepEqual((await known([id])).since, []);
});

test("files that git tracks although it ignores them", LONG, async (t) => {
  const { parent, root, after } = repository(t, { "a.txt": "a", "one/x.log": "x", "dist/y": "y", "dist/z": "z" });
  const other = repository(t, { "s.txt": "s" });
  for (const path of ["dist/sub", "dist/empty"]) git(root, "submodule", "--quiet", "add", other.root, path);
  write(root, { ".gitignore": "dist\n*.log\n" });
  commit(root, "ignored");
  git(root, "submodule", "--quiet", "deinit", "--force", "dist/empty");
  assert.deepEqual(await after(() => write(root, { "dist/y": "Y", "dist/new": "ignored" })), ["dist/y"]);
  assert.deepEqual(await after(() => write(root, { "dist/sub/s.txt": "S" })), ["dist/sub"]);
  assert.deepEqual(
    await after(() => {
      rmSync(join(root, "dist/z"));
      write(root, { "dist/z/in": "ignored" });
    }),
    ["dist/z"],
  );
  assert.deepEqual(
    await after(() => {
      rmSync(join(root, "dist/y"));
      symlinkSync("z", join(root, "dist/y"));
    }),
    ["dist/y"],
  );
  // What is only in the index says nothing.
  const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], {
    cwd: root,
    input: "!x.log\n",
    encoding: "utf8",
  }).trim();
  git(root, "update-index", "--add", "--cacheinfo", `100644,${blob},one/.gitignore`);
  git(root, "update-index", "--skip-worktree", "one/.gitignore");
  for (const text of ["X", "Y"]) assert.deepEqual(await after(() => write(root, { "one/x.log": text })), ["one/x.log"]);
  renameSync(join(root, "dist"), join(parent, "dist"));
  symlinkSync("../dist", join(root, "dist"));
  assert.deepEqual(await after(() => write(root, { "a.txt": "A" })), ["a.txt"]);
});

test("a link takes the place of a folder, and a folder that of a link", async (t) => {
  const { root, after } = repository(t, { "src/x.js": "x" });
  const [src, real] = [join(root, "src"), join(root, "real")];
  assert.deepEqual(
    await after(() => {
      renameSync(src, real);
      symlinkSync("real", src);
    }),
    ["real/x.js", "src", "src/x.js"],
  );
  assert.deepEqual(await after(() => write(root, { "real/x.js": "X" })), ["real/x.js"]);
  assert.deepEqual(
    await after(() => {
      rmSync(src);
      renameSync(real, src);
    }),
    ["real/x.js", "src", "src/x.js"],
  );
});

test("work trees, folders in them, submodules, and repositories in repositories", LONG, async (t) => {
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
  assert.deepEqual(
    await after(() => {
      rmSync(join(inner, ".git"), { recursive: true });
    }),
    ["inner", "inner/i.txt"],
  );
  assert.deepEqual(await after(() => rmSync(join(root, "lib"), { recursive: true })), ["lib/sub"]);
  // In the folder for temporary files, which the sandbox replaces.
  const temporary = repository(t, { "a.txt": "a" }, [], tmpdir());
  const cwd = join(temporary.parent, "other");
  git(temporary.root, "worktree", "add", "--quiet", cwd);
  assert.deepEqual(await temporary.after(() => write(cwd, { "b.txt": "b" }), { cwd }), ["b.txt"]);
});

test("repositories with SHA-256, a split index, and without a commit", LONG, async (t) => {
  const hashed = repository(t, { "a.txt": "a" }, ["--object-format=sha256"]);
  assert.deepEqual(await hashed.after(() => write(hashed.root, { "a.txt": "A" })), ["a.txt"]);
  const split = repository(t, { "a.txt": "a" });
  git(split.root, "update-index", "--split-index");
  assert.deepEqual(await split.after(() => write(split.root, { "a.txt": "A" })), ["a.txt"]);
  for (const { root, parent, after } of [hashed, split]) {
    git(root, "worktree", "add", "--quiet", join(parent, "other"));
    for (const cwd of [root, join(parent, "other")]) {
      write(cwd, { ".gitignore": "*.log\n", "x.log": "x" });
      git(cwd, "add", "--force", "x.log");
      assert.deepEqual(await after(() => write(cwd, { "x.log": "X", "y.log": "y" }), { cwd }), ["x.log"]);
    }
  }
  git(hashed.root, "init", "--quiet", "--object-format=sha1", "inner");
  assert.deepEqual(await hashed.after(() => write(hashed.root, { "inner/a.txt": "a" })), ["inner"]);
  git(split.root, "init", "--quiet", "--object-format=sha256", "inner");
  assert.deepEqual(await split.after(() => write(split.root, { "inner/a.txt": "a" })), ["inner"]);
  const empty = repository(t, { "a.txt": "a" });
  rmSync(join(empty.root, ".git"), { recursive: true });
  git(empty.root, "init", "--quiet");
  assert.deepEqual(await empty.after(() => write(empty.root, { "b.txt": "A" })), ["b.txt"]);
});

test("files that change all the time are left out, and earlier states that are not known any more", async (t) => {
  const { root, data, known, after } = repository(t, { "a.txt": "a" });
  write(root, { "a [1]/s.jsonl": "{}" });
  const changes = { leftOut: ["s.jsonl", "s.children/"].map((name) => join(root, "a [1]", name)) };
  changes.leftOut.push("/elsewhere/x", join(root, "a\nb"));
  assert.deepEqual(
    await after(
      () =>
        write(root, {
          "a [1]/s.jsonl": "{}\n{}",
          "a [1]/s.children/c.jsonl": "2",
        }),
      changes,
    ),
    [],
  );
  assert.deepEqual(await after(() => write(root, { "a [1]/s.js": "code" }), changes), ["a [1]/s.js"]);
  const child = join(root, "a [1]/s.children/c.jsonl");
  assert.deepEqual(await after(() => appendFileSync(child, "more"), changes), []);
  const { id } = await known();
  assert.deepEqual((await known(["0".repeat(40), "--output=x", "$(touch x)", id])).since, [
    { since: id, count: 0n, paths: [] },
  ]);
  rmSync(data, { recursive: true });
  write(root, { "a.txt": "other" });
  assert.deepEqual((await known([id])).since, []);
});

test("what cannot be told has a reason, and what a killed git leaves is no obstacle", async (t) => {
  const { root, data, why, known } = repository(t, { "a.txt": "a" });
  assert.equal(await why([], { cwd: tmpdir() }), "the project is no git work tree");
  const path = process.env.PATH;
  t.after(() => (process.env.PATH = path));
  const programs = join(data, "bin");
  write(programs, { git: "#!/bin/sh\necho forged" });
  chmodSync(join(programs, "git"), 0o755);
  const { id } = await known();
  process.env.PATH = `${programs}:${path}`;
  assert.equal((await known()).id, id, "a program of that name elsewhere is not it");
  process.env.PATH = path;
  await known();
  const own = ownOf(data);
  // Another process that works, or was killed.
  mkdirSync(join(own, "00"), { recursive: true });
  writeFileSync(join(own, "00", "tmp_obj_x"), "half");
  write(root, { "a.txt": "A" });
  await known();
  rmSync(own, { recursive: true });
  writeFileSync(own, "no folder");
  assert.match(await why(), /: it is not a folder$/);
  rmSync(own);
  renameSync(join(root, ".git"), join(root, "moved"));
  mkdirSync(join(root, ".git"));
  assert.equal(await why(), `${root}/.git is no repository`);
  await assert.rejects(projectState({ cwd: root, data, leftOut: [] }, [], AbortSignal.abort()));
});

test("many requests at once, and a repository of 50,000 files", LONG, async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, index) => [
      `d${index % 20}/s${index % 500}/f${index}.txt`,
      `file ${index}\n`.repeat(20),
    ]),
  );
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
  t.diagnostic(`${Math.round(best)} ms for 50,000 files`);
});
