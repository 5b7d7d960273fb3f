// The folders of a component: names, copies, links and other things in the way, and what is not granted.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";

import { OutputFile } from "#sandbox";
import { Calls } from "../../host-shim/calls.js";
import { createFile, folderImports } from "../../host-shim/folders.js";

const root = mkdtempSync(join(tmpdir(), "folders-test-"));
after(() => rmSync(root, { recursive: true }));
let projects = 0;

/** Creates a project, with a function that opens folders in it. */
function makeProject() {
  const cwd = join(root, `project-${(projects += 1)}`);
  mkdirSync(cwd);
  const state = { session: "s-1", trusted: true, cwd };
  const calls = new Calls(/** @type {any} */ ({}));
  calls.context = /** @type {any} */ ({
    get cwd() {
      return state.cwd;
    },
    isProjectTrusted: () => state.trusted,
    sessionManager: { getSessionId: () => state.session },
  });
  const folders = folderImports(calls, { path: "jobs" }, ".pi");
  const open = (/** @type {string} */ key, /** @type {string | undefined} */ copyOf = undefined) =>
    folders.open(key, copyOf);
  const create = (/** @type {string} */ stem) =>
    createFile(
      { context: /** @type {any} */ (calls.context), grant: { path: "jobs" }, configDirName: ".pi", key: "a" },
      stem,
    );
  const output = (/** @type {string} */ stem) => new OutputFile(() => create(stem));
  const write = (/** @type {string} */ key, /** @type {string} */ name, text = "text") =>
    folders.writeFile(key, name, text);
  return { cwd, state, open, write, jobs: join(cwd, ".pi/jobs"), calls, output };
}

/** Returns the message of the error that a function throws. @param {() => unknown} work */
function fault(work) {
  try {
    work();
  } catch (/** @type {any} */ error) {
    assert.equal(error.tag, "failed");
    return error.val;
  }
  return assert.fail("it went well");
}

suite("folders", () => {
  test("have names by session and key, and a .gitignore of their own", () => {
    const { cwd, jobs, open, state } = makeProject();
    const first = open("a");
    assert.match(first.name, /^[0-9a-f]{20}$/);
    assert.equal(first.path, `.pi/jobs/${first.name}`);
    assert.ok(statSync(join(cwd, first.path)).isDirectory());
    assert.equal(readFileSync(join(jobs, ".gitignore"), "utf8"), "*\n");
    writeFileSync(join(cwd, first.path, "kept"), "x");
    assert.deepEqual(open("a"), first);
    assert.deepEqual(readdirSync(join(cwd, first.path)), ["kept"]);
    const names = new Set([first.name]);
    for (const key of ["b", "../../etc", "/etc", "", "\0", "a\n", "a".repeat(100_000), "ключ"])
      names.add(open(key).name);
    state.session = "s-2";
    names.add(open("a").name);
    assert.equal(names.size, 10);
    assert.deepEqual(readdirSync(jobs).sort(), [".gitignore", ...names].sort());
    assert.deepEqual(readdirSync(cwd), [".pi"]);
    // A changed file stays.
    writeFileSync(join(jobs, ".gitignore"), "");
    open("c");
    assert.equal(readFileSync(join(jobs, ".gitignore"), "utf8"), "");
  });

  test("a repository does not see them", () => {
    const { cwd, open } = makeProject();
    execFileSync("git", ["init", "-q"], { cwd });
    writeFileSync(join(cwd, open("a").path, "report.md"), "x");
    assert.equal(execFileSync("git", ["status", "--porcelain", "-uall"], { cwd, encoding: "utf8" }), "");
  });

  test("a removed one is made anew", () => {
    const { cwd, open } = makeProject();
    const { path } = open("a");
    rmSync(join(cwd, ".pi"), { recursive: true });
    assert.deepEqual(open("a").path, path);
    assert.ok(existsSync(join(cwd, path)));
  });

  test("one that is made as a copy gets the files and folders of the other, no links and no pipes", () => {
    const { cwd, open, state } = makeProject();
    const first = open("a");
    const from = join(cwd, first.path);
    mkdirSync(join(from, "deep/er"), { recursive: true });
    writeFileSync(join(from, "deep/er/report.md"), "R");
    writeFileSync(join(from, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    writeFileSync(join(root, "outside"), "secret");
    symlinkSync(join(root, "outside"), join(from, "link"));
    symlinkSync(root, join(from, "deep/folder"));
    symlinkSync("nowhere", join(from, "broken"));
    execFileSync("mkfifo", [join(from, "pipe")]);
    state.session = "fork";
    const copy = open("a", first.name);
    assert.notEqual(copy.name, first.name);
    const to = join(cwd, copy.path);
    assert.deepEqual(readdirSync(to, { recursive: true }).sort(), ["deep", "deep/er", "deep/er/report.md", "run.sh"]);
    assert.equal(readFileSync(join(to, "deep/er/report.md"), "utf8"), "R");
    assert.ok(statSync(join(to, "run.sh")).mode & 0o100);
    // Each has its own from then on.
    writeFileSync(join(to, "deep/er/report.md"), "F");
    writeFileSync(join(from, "later"), "x");
    open("a", first.name);
    assert.equal(readFileSync(join(from, "deep/er/report.md"), "utf8"), "R");
    assert.equal(existsSync(join(to, "later")), false);
    // Without the other one, it is empty.
    state.session = "fork of another project";
    const alone = open("a", "00000000000000000000");
    assert.deepEqual(readdirSync(join(cwd, alone.path)), []);
  });

  test("a copy of a link is refused, and of too much", () => {
    const { cwd, jobs, open, state } = makeProject();
    open("a");
    symlinkSync(root, join(jobs, "11111111111111111111"));
    assert.match(
      fault(() => open("b", "11111111111111111111")),
      /^\.pi\/jobs\/1{20}: it is a link$/,
    );
    const first = open("c");
    for (let index = 0; index <= 10_000; index += 1) writeFileSync(join(cwd, first.path, `f${index}`), "");
    state.session = "s-2";
    assert.match(
      fault(() => open("c", first.name)),
      /has more than 10000 entries$/,
    );
    state.session = "s-1";
    assert.deepEqual(
      readdirSync(jobs).sort(),
      [".gitignore", "1".repeat(20), open("a").name, first.name].sort(),
      "nothing is left of it",
    );
  });

  test("names that this side does not make are refused", () => {
    const { cwd, open } = makeProject();
    mkdirSync(join(cwd, ".pi/etc"), { recursive: true });
    writeFileSync(join(cwd, ".pi/etc/x"), "");
    for (const name of [
      "../../etc",
      "../etc",
      "/etc",
      "..",
      ".",
      "",
      "0123456789abcdef012",
      "0123456789ABCDEF0123",
      "0123456789abcdef0123\n",
      "0123456789abcdef0123/..",
    ]) {
      assert.equal(
        fault(() => open("a", name)),
        "The name of the folder to copy is no such name.",
        JSON.stringify(name),
      );
    }
    assert.deepEqual(readdirSync(join(cwd, ".pi")), ["etc"]);
  });

  test("links and files in the way are refused, and nothing is made behind them", () => {
    const own = makeProject();
    const { name } = own.open("a");
    for (const [place, where] of /** @type {const} */ ([
      [".pi", ""],
      [".pi/jobs", ".pi"],
      [`.pi/jobs/${name}`, ".pi/jobs"],
    ])) {
      for (const what of ["a link", "a broken link", "a file"]) {
        const { cwd, open } = makeProject();
        const elsewhere = mkdtempSync(join(root, "elsewhere-"));
        if (where) mkdirSync(join(cwd, where), { recursive: true });
        if (what === "a file") writeFileSync(join(cwd, place), "mine");
        else symlinkSync(what === "a link" ? elsewhere : join(elsewhere, "nowhere"), join(cwd, place));
        assert.equal(
          fault(() => open("a")),
          `${place}: ${what === "a file" ? "it is not a folder" : "it is a link"}`,
        );
        assert.deepEqual(readdirSync(elsewhere), [], `${what} at ${place}`);
        assert.equal(lstatSync(join(cwd, place)).isSymbolicLink(), what !== "a file");
      }
    }
  });

  test("a link at the .gitignore is left, and so is what it leads to", () => {
    const { cwd, jobs, open } = makeProject();
    mkdirSync(jobs, { recursive: true });
    writeFileSync(join(cwd, "precious"), "mine");
    symlinkSync(join(cwd, "precious"), join(jobs, ".gitignore"));
    const { path } = open("a");
    assert.ok(existsSync(join(cwd, path)));
    assert.equal(readFileSync(join(cwd, "precious"), "utf8"), "mine");
    linkSync(join(cwd, "precious"), join(cwd, path, "hard"));
  });

  test("a working directory that is reached through a link is the project", () => {
    const { cwd, state, open } = makeProject();
    symlinkSync(cwd, join(root, "way"));
    state.cwd = join(root, "way");
    assert.ok(existsSync(join(cwd, open("a").path)));
  });

  test("are refused without a grant, and where the project is not trusted", () => {
    const { cwd, state, open, calls } = makeProject();
    state.trusted = false;
    assert.equal(
      fault(() => open("a")),
      "The project is not trusted.",
    );
    const { open: notGranted } = folderImports(calls, undefined, ".pi");
    assert.equal(
      fault(() => notGranted("a", undefined)),
      "The manifest does not grant it.",
    );
    assert.deepEqual(readdirSync(cwd), []);
  });

  test("a file is written in the place of what has its name, and nowhere else", () => {
    const { cwd, open, write, jobs, state } = makeProject();
    write("a", "task.md", "one");
    const { name } = open("a");
    const own = join(jobs, name);
    const file = join(own, "task.md");
    assert.equal(readFileSync(file, "utf8"), "one");
    const outside = join(cwd, "outside");
    for (const put of [
      () => symlinkSync(outside, file),
      () => linkSync(outside, file),
      () => execFileSync("mkfifo", [file]),
      () => symlinkSync("/nowhere", file),
    ]) {
      writeFileSync(outside, "of others");
      rmSync(file);
      put();
      write("a", "task.md", "two");
      assert.equal(readFileSync(file, "utf8"), "two");
      assert.ok(lstatSync(file).isFile() && readFileSync(outside, "utf8") === "of others");
    }
    assert.deepEqual(readdirSync(own), ["task.md"]);
    for (const wrong of ["", "..", "../a", "a/b", ".gitignore", "a\0b", "a".repeat(81)])
      assert.equal(
        fault(() => write("a", wrong)),
        "The name of the file is no such name.",
      );
    rmSync(file);
    mkdirSync(file);
    assert.match(
      fault(() => write("a", "task.md")),
      /^\.pi\/jobs\/[^/]*\/task\.md: /,
    );
    rmSync(own, { recursive: true });
    symlinkSync(cwd, own);
    assert.equal(
      fault(() => write("a", "task.md")),
      `.pi/jobs/${name}: it is a link`,
    );
    assert.ok(!existsSync(join(cwd, "task.md")));
    state.trusted = false;
    assert.equal(
      fault(() => write("b", "task.md")),
      "The project is not trusted.",
    );
  });

  test(
    "a project that cannot be written is named",
    { skip: process.platform !== "linux" || process.getuid?.() !== 0 },
    () => {
      const { cwd, open } = makeProject();
      // Also root cannot write there.
      execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "none", cwd]);
      try {
        assert.equal(
          fault(() => open("a")),
          ".pi: the file system is read-only",
        );
      } finally {
        execFileSync("umount", [cwd]);
      }
    },
  );
});

suite("files of output", () => {
  test("have a new name each, in the folder of the key", () => {
    const { cwd, open, output } = makeProject();
    const write = (/** @type {string} */ stem, /** @type {string} */ text) => {
      const file = output(stem);
      for (const part of text.split(/(?=x)/)) file.add(Buffer.from(part));
      return file.close(text.length);
    };
    const folder = `.pi/jobs/${open("a").name}`;
    assert.deepEqual(write("look", "one x\u00e9".normalize()), { tag: "ok", val: `${folder}/look-1.log` });
    assert.deepEqual(write("look", "two"), { tag: "ok", val: `${folder}/look-2.log` });
    writeFileSync(join(cwd, folder, "look-7.log"), "the agent's");
    writeFileSync(join(cwd, folder, "look-x.log"), "");
    symlinkSync(join(cwd, "outside"), join(cwd, folder, "look-8.log"));
    assert.deepEqual(write("look", "three"), { tag: "ok", val: `${folder}/look-9.log` });
    symlinkSync(join(cwd, "outside"), join(cwd, folder, "see-1.log"));
    assert.deepEqual(write("see", "x"), { tag: "ok", val: `${folder}/see-2.log` });
    assert.equal(readFileSync(join(cwd, folder, "look-1.log"), "utf8"), "one x\u00e9");
    assert.equal(readFileSync(join(cwd, folder, "look-7.log"), "utf8"), "the agent's");
    assert.equal(existsSync(join(cwd, "outside")), false);
    assert.equal(write("none", ""), undefined);
    assert.equal(existsSync(join(cwd, folder, "none-1.log")), false);
  });

  test("of several instances at once have a name each, in the folder of the session whose children they are", () => {
    const { cwd, open, calls, state } = makeProject();
    const folder = open("a").path;
    const session = /** @type {any} */ ({ getSessionId: () => "s-1" });
    // Each of them has a session of its own.
    state.session = "child";
    const files = Array.from(
      { length: 8 },
      () =>
        new OutputFile(() =>
          createFile(
            {
              context: /** @type {any} */ (calls.context),
              session,
              grant: { path: "jobs" },
              configDirName: ".pi",
              key: "a",
            },
            "look",
          ),
        ),
    );
    for (let round = 0; round < 3; round += 1) files.forEach((file, index) => file.add(Buffer.from(`${index}`)));
    const paths = files.map((file) => /** @type {any} */ (file.close(3)).val);
    assert.deepEqual(
      paths,
      files.map((_, index) => `${folder}/look-${index + 1}.log`),
    );
    assert.deepEqual(
      paths.map((path) => readFileSync(join(cwd, path), "utf8")),
      files.map((_, index) => `${index}`.repeat(3)),
    );
    assert.deepEqual(readdirSync(join(cwd, ".pi/jobs")).sort(), [".gitignore", folder.split("/").at(-1)].sort());
  });

  test("have at most 10 MB, and say how much more there was", () => {
    const { cwd, output } = makeProject();
    const file = output("much");
    const chunk = Buffer.alloc(3_000_000, "y");
    for (let count = 0; count < 5; count += 1) file.add(chunk);
    assert.equal(file.isFull, true);
    const closed = file.close(15_000_000);
    file.add(Buffer.from("late"));
    const text = readFileSync(join(cwd, closed?.val ?? ""), "utf8");
    assert.ok(text.length <= 10_000_000 && text.length > 9_999_000, String(text.length));
    assert.match(text.slice(-40), /^y+\n\[5000100 more bytes\]\n$/);
  });

  test("say why there is none: no trust, a wrong name, a link or a file in the way", () => {
    const { cwd, state, jobs, output } = makeProject();
    const why = (/** @type {string} */ stem) => {
      const file = output(stem);
      file.add(Buffer.from("x"));
      file.add(Buffer.from("y"));
      const closed = file.close(2);
      assert.equal(closed?.tag, "err", JSON.stringify(closed));
      return closed?.val;
    };
    for (const stem of ["", "../up", "a/b", ".hidden", "a".repeat(81), "a\0", "a\n", "ключ"])
      assert.match(why(stem) ?? "", /no such name/);
    state.trusted = false;
    assert.equal(why("look"), "The project is not trusted.");
    assert.equal(existsSync(join(cwd, ".pi")), false);
    state.trusted = true;
    mkdirSync(join(cwd, ".pi"));
    symlinkSync(cwd, jobs);
    assert.equal(why("look"), ".pi/jobs: it is a link");
    rmSync(jobs);
    writeFileSync(jobs, "");
    assert.equal(why("look"), ".pi/jobs: it is not a folder");
  });
});
