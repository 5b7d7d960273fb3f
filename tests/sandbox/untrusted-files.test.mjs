// Files at places that an agent can write, on Linux and as elsewhere.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
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
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import {
  createFile,
  inFolder,
  makeFolder,
  openFile,
  openPlace,
  readFile,
  replaceFile,
} from "../../sandbox/untrusted-files.js";

const LIMIT = 1000;
const KINDS = process.platform === "linux" ? [true, false] : [false];

/** @param {import("node:test").TestContext} t */
function place(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "untrusted-files-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "a/b"), { recursive: true });
  writeFileSync(join(root, "outside"), "outside");
  return root;
}

/** Things that an agent can put at a place, and the error of reading them. @type {[string, string, (path: string) => void][]} */
const REPLACED = [
  ["a pipe", "ENXIO", (path) => execFileSync("mkfifo", [path])],
  ["a link", "ELOOP", (path) => symlinkSync("../../outside", path)],
  ["a link to a device", "ELOOP", (path) => symlinkSync("/dev/zero", path)],
  ["a link to nothing", "ELOOP", (path) => symlinkSync("nothing", path)],
  ["a second name", "EMLINK", (path) => linkSync(join(path, "../../../outside"), path)],
  ["a folder", "EISDIR", (path) => mkdirSync(path)],
  [
    "a sparse file of 10 GB",
    "EFBIG",
    (path) => {
      writeFileSync(path, "");
      truncateSync(path, 10 * 2 ** 30);
    },
  ],
  ["nothing", "ENOENT", () => {}],
];

for (const byDescriptor of KINDS)
  suite(byDescriptor ? "by descriptor" : "by name", () => {
    const options = { byDescriptor };

    test("reads a regular file, through links on the way to the root only", (t) => {
      const root = place(t);
      writeFileSync(join(root, "a/b/file"), "text");
      symlinkSync(".", join(root, "link"));
      assert.equal(String(readFile(root, "a/b/file", LIMIT, options)), "text");
      assert.equal(String(readFile("/", join(root, "a/b/file"), LIMIT, options)), "text");
      assert.equal(String(readFile(join(root, "link/a"), "b/file", LIMIT, options)), "text");
      assert.throws(() => readFile(root, "link/a/b/file", LIMIT, options), { code: "ELOOP" });
      assert.throws(() => readFile(root, "a/b/file/x", LIMIT, options), { code: "ENOTDIR" });
      assert.throws(() => readFile(root, "a/../a/b/file", LIMIT, options), /not a path below/);
      writeFileSync(join(root, "a/b/file"), "x".repeat(LIMIT + 1));
      assert.throws(() => readFile(root, "a/b/file", LIMIT, options), { code: "EFBIG" });
    });

    for (const [what, code, make] of REPLACED)
      test(`does not read ${what}, and replaces it`, (t) => {
        const root = place(t);
        const file = join(root, "a/b/file");
        make(file);
        const message = new RegExp(`^${file}: `);
        assert.throws(() => readFile(root, "a/b/file", LIMIT, options), { code, message });
        if (code !== "EFBIG") assert.throws(() => openFile(root, "a/b/file", options), { code });
        if (code !== "ENOENT")
          assert.throws(() => createFile(root, "a/b/file", 0o600, options), { code: "EEXIST", message });
        if (code === "EISDIR") assert.throws(() => replaceFile(root, "a/b/file", "new", 0o600, options), { code });
        else {
          replaceFile(root, "a/b/file", "new", 0o600, options);
          assert.equal(String(readFile(root, "a/b/file", LIMIT, options)), "new");
          assert.equal(lstatSync(file).mode & 0o777, 0o600);
        }
        assert.deepEqual(readdirSync(join(root, "a/b")), ["file"]);
        assert.equal(readFileSync(join(root, "outside"), "utf8"), "outside");
      });

    test("a link in a parent leads nowhere", (t) => {
      const root = place(t);
      mkdirSync(join(root, "other"));
      writeFileSync(join(root, "other/file"), "other");
      rmSync(join(root, "a/b"), { recursive: true });
      symlinkSync("../other", join(root, "a/b"));
      const code = "ELOOP";
      assert.throws(() => readFile(root, "a/b/file", LIMIT, options), { code });
      assert.throws(() => replaceFile(root, "a/b/file", "new", 0o600, options), { code });
      assert.throws(() => createFile(root, "a/b/new", 0o600, options), { code });
      assert.throws(() => makeFolder(root, "a/b/c", 0o700, options), { code });
      assert.throws(() => inFolder(root, "a/b", () => {}, options), { code });
      assert.deepEqual(readdirSync(join(root, "other")), ["file"]);
      assert.equal(readFileSync(join(root, "other/file"), "utf8"), "other");
    });

    test("creates files and folders", (t) => {
      const root = place(t);
      makeFolder(root, "a/c/d", 0o700, options);
      makeFolder(root, "a/c/d", 0o700, options);
      const descriptor = createFile(root, "a/c/d/new", 0o600, options);
      writeFileSync(descriptor, "text");
      closeSync(descriptor);
      assert.equal(readFileSync(join(root, "a/c/d/new"), "utf8"), "text");
      assert.equal(lstatSync(join(root, "a/c")).mode & 0o777, 0o700);
      assert.throws(() => makeFolder(root, "outside/x", 0o700, options), { code: "ENOTDIR" });
      assert.throws(() => makeFolder(root, "outside", 0o700, options), { code: "ENOTDIR" });
    });

    test("a folder that is exchanged meanwhile", (t) => {
      const root = place(t);
      const exchange = () => {
        renameSync(join(root, "a"), join(root, "gone"));
        mkdirSync(join(root, "a/b"), { recursive: true });
        writeFileSync(join(root, "a/b/file"), "exchanged");
      };
      const look = () =>
        inFolder(
          root,
          "a/b",
          (folder) => {
            exchange();
            return existsSync(folder.at("file"));
          },
          options,
        );
      if (byDescriptor) assert.equal(look(), false);
      else assert.throws(look, { code: "ESTALE" });
    });

    test("leaves no descriptor open", { skip: process.platform !== "linux" }, (t) => {
      const root = place(t);
      writeFileSync(join(root, "file"), "text");
      const open = () => readdirSync("/proc/self/fd").length;
      const before = open();
      for (const [at, [, , make]] of REPLACED.entries()) {
        const path = `a/b/${at}`;
        make(join(root, path));
        for (const work of [
          () => readFile(root, path, LIMIT, options),
          () => replaceFile(root, path, "new", 0o600, options),
          () => readFile(root, `${path}/below`, LIMIT, options),
          () => makeFolder(root, `${path}/below`, 0o700, options),
        ])
          try {
            work();
          } catch {
            // Expected.
          }
      }
      assert.equal(open(), before);
    });
  });

test("opens a place of any kind without an effect", { skip: process.platform !== "linux" }, (t) => {
  const root = place(t);
  for (const [what, code, make] of REPLACED.filter(([, code]) => code !== "ENOENT")) {
    make(join(root, "a/b/place"));
    const opened = openPlace("/", join(root, "a/b/place"));
    assert.ok(opened.descriptor !== undefined, what);
    assert.equal(fstatSync(opened.descriptor).isSymbolicLink(), code === "ELOOP", what);
    opened.close();
    rmSync(join(root, "a/b/place"), { recursive: true });
  }
});
