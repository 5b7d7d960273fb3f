// The grant of files: the folders that a manifest names can be read, and nothing else.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { registerHooks } from "node:module";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileImports } from "../../host-shim/files.js";
import { isBelow } from "#sandbox";
import { LONG } from "../pi/harness/extent.mjs";

/** @typedef {import("node:test").TestContext} TestContext */

const LIMIT = 1024 * 1024;
const AGENT = { name: "global", base: /** @type {const} */ ("agent"), path: "things" };
const PROJECT = { name: "project", base: /** @type {const} */ ("project"), path: "things" };

/**
 * Creates a temporary folder with `agent/things`, `project/.conf/things` and `outside`, and the imports for it.
 *
 * @param {TestContext} t
 * @param {{ trusted?: () => boolean, grants?: import("../../host-shim/files.js").Grant[], within?: string,
 *   cwd?: string }} [options]
 */
function grant(t, { trusted = () => true, grants = [AGENT, PROJECT], within = "", cwd = "project" } = {}) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "pi-files-")));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const root = join(home, within);
  for (const folder of ["agent/things", "project/.conf/things", "outside"]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  const files = fileImports(grants, {
    agentDir: () => join(root, "agent"),
    cwd: () => join(root, cwd),
    configDirName: ".conf",
    isProjectTrusted: trusted,
  });
  return {
    root,
    roots: files.roots,
    withheld: files.withheldRoots,
    above: files.rootAbove,
    read: (/** @type {string} */ path, name = "global") => Buffer.from(files.readFile(name, path)).toString(),
    list: (/** @type {string} */ path, name = "global") => files.listDirectory(name, path),
    create: (/** @type {string} */ path, name = "global") => {
      const [directory, file, ...more] = path.split("|");
      return files.create(name, [directory, ...more].join("/"), file, "new");
    },
    /** Writes a file below the temporary folder. @param {string} path @param {string | Buffer} [content] */
    write(path, content = path) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    /** Creates a symbolic link below the temporary folder. @param {string} path @param {string} target */
    link(path, target) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      symlinkSync(target, join(root, path));
    },
  };
}

/**
 * @param {() => unknown} work
 * @param {string} tag
 */
function refused(work, tag) {
  assert.throws(work, (/** @type {any} */ error) => {
    assert.equal(error.tag, tag, `refused as ${error.tag ?? error}: ${error.val ?? ""}`);
    return true;
  });
}

/**
 * Runs a function without the rights of root, who can read every file.
 *
 * @param {() => void} work
 */
function asNobody(work) {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.("nobody");
  try {
    work();
  } finally {
    if (root) process.seteuid?.(0);
  }
}

test("a name is found in each of its forms in Unicode, and listed in the composed one", (t) => {
  const { read, list, write } = grant(t);
  const [composed, decomposed] = ["prüfen.md", "prüfen.md".normalize("NFD")];
  for (const [folder, there] of Object.entries({ ä: decomposed, ["ö".normalize("NFD")]: composed })) {
    write(`agent/things/${folder}/${there}`, "here");
    for (const form of ["NFC", "NFD"])
      for (const name of [composed, decomposed]) assert.equal(read(`${folder.normalize(form)}/${name}`), "here");
    assert.deepEqual(list(folder.normalize("NFD")), [{ name: composed, kind: "file" }]);
  }
  assert.deepEqual(
    list("").map(({ name }) => name),
    ["ä", "ö"],
  );
  write(`agent/things/both/${composed}`, "composed");
  write(`agent/things/both/${decomposed}`, "decomposed");
  for (const name of [composed, decomposed])
    assert.equal(read(`both/${name}`), name === composed ? "composed" : "decomposed");
  assert.equal(new Set(list("both").map(({ name }) => name)).size, 2);
  refused(() => read("both/ü".normalize("NFD")), "not-found");
});

suite("reading", () => {
  test("files and folders below a root", (t) => {
    const { read, list, write } = grant(t);
    write("agent/things/a.txt", "A");
    write("agent/things/deep/er/b.txt", "Ä €\n");
    write("agent/things/..odd", "O");
    write("agent/things/... three", "T");
    write("project/.conf/things/a.txt", "P");
    assert.equal(read("a.txt"), "A");
    assert.equal(read("deep/er/b.txt"), "Ä €\n");
    assert.equal(read("..odd"), "O");
    assert.equal(read("... three"), "T");
    assert.equal(read("a.txt", "project"), "P");
    assert.deepEqual(list("deep"), [{ name: "er", kind: "directory" }]);
    assert.deepEqual(list("deep/er"), [{ name: "b.txt", kind: "file" }]);
  });

  test("bytes are returned unchanged", (t) => {
    const { write, root } = grant(t);
    const bytes = Buffer.from([0, 255, 128, 10, 13]);
    write("agent/things/bytes", bytes);
    const files = fileImports([AGENT], {
      agentDir: () => join(root, "agent"),
      cwd: () => root,
      configDirName: ".conf",
      isProjectTrusted: () => true,
    });
    assert.deepEqual([...files.readFile("global", "bytes")], [...bytes]);
  });

  test("a list is sorted by UTF-16 code unit", (t) => {
    const { list, write } = grant(t);
    // U+1F600 is D83D DE00 and sorts before U+FF5E, but not in UTF-8.
    const names = ["B", "_", "a", "b", "ä", "\u{1f600}", "\uff5e"];
    for (const name of [...names].reverse()) write(`agent/things/${name}`, "");
    assert.deepEqual(
      list("").map(({ name }) => name),
      names,
    );
    assert.deepEqual(names, [...names].sort());
  });

  test("a file of the maximum size is read, a larger one is not", (t) => {
    const { read, write } = grant(t);
    write("agent/things/full", Buffer.alloc(LIMIT, "x"));
    write("agent/things/over", Buffer.alloc(LIMIT + 1, "x"));
    assert.equal(read("full").length, LIMIT);
    assert.throws(() => read("over"), { tag: "too-large", val: BigInt(LIMIT + 1) });
  });

  test("a file that does not exist", (t) => {
    const { read, list, write } = grant(t);
    write("agent/things/a.txt");
    refused(() => read("b.txt"), "not-found");
    refused(() => read("no/b.txt"), "not-found");
    refused(() => read("a.txt/b.txt"), "not-found");
    refused(() => list("no"), "not-found");
    refused(() => list("a.txt/no"), "not-found");
  });

  test("a folder is not a file", (t) => {
    const { read, write } = grant(t);
    write("agent/things/folder/a.txt");
    refused(() => read("folder"), "wrong-kind");
    refused(() => read(""), "wrong-kind");
  });

  test("a file is not a folder, neither below a root nor as a root", (t) => {
    const { list, write } = grant(t, { grants: [AGENT, { ...AGENT, name: "file", path: "file" }] });
    write("agent/things/folder/a.txt");
    write("agent/file");
    refused(() => list("folder/a.txt"), "wrong-kind");
    refused(() => list("", "file"), "wrong-kind");
  });

  test("a file without permission to read it", { skip: process.platform === "win32" }, (t) => {
    const { read, list, write, root } = grant(t);
    chmodSync(root, 0o755);
    chmodSync(write("agent/things/secret"), 0);
    mkdirSync(join(root, "agent/things/closed"), 0);
    asNobody(() => {
      refused(() => read("secret"), "failed");
      refused(() => list("closed"), "failed");
      refused(() => read("closed/a.txt"), "failed");
    });
    chmodSync(join(root, "agent/things/closed"), 0o755);
  });
});

suite("paths", () => {
  for (const path of [
    "..",
    "../outside/secret.txt",
    "a/../../outside/secret.txt",
    "a/../a.txt",
    "a/..",
    ".",
    "./a.txt",
    "a/./a.txt",
    "/",
    "/etc/passwd",
    "a//a.txt",
    "a/",
    "/a.txt",
    "a.txt\0",
    "\0",
    "../things/a.txt",
    "../things-evil/a.txt",
  ]) {
    test(`${JSON.stringify(path)} is refused`, (t) => {
      const { read, list, write } = grant(t);
      write("agent/things/a.txt");
      write("agent/things/a/a.txt");
      write("agent/things-evil/a.txt");
      write("outside/secret.txt");
      refused(() => read(path), "outside-root");
      refused(() => list(path), "outside-root");
    });
  }

  test(
    "a backslash is part of a name on systems where it is no separator",
    { skip: process.platform === "win32" },
    (t) => {
      const { read, list, write } = grant(t);
      write("agent/things/a\\b", "one name");
      assert.equal(read("a\\b"), "one name");
      assert.deepEqual(list(""), [{ name: "a\\b", kind: "file" }]);
      refused(() => read("..\\..\\outside"), "not-found");
    },
  );
});

suite("links", () => {
  test("that stay within the root are followed", (t) => {
    const { read, list, write, link } = grant(t);
    write("agent/things/real/a.txt", "A");
    link("agent/things/file", "real/a.txt");
    link("agent/things/folder", "real");
    link("agent/things/up/and/down", "../../real/a.txt");
    assert.equal(read("file"), "A");
    assert.equal(read("folder/a.txt"), "A");
    assert.equal(read("up/and/down"), "A");
    assert.deepEqual(list(""), [
      { name: "file", kind: "file", target: "real/a.txt" },
      { name: "folder", kind: "directory", target: "real" },
      { name: "real", kind: "directory" },
      { name: "up", kind: "directory" },
    ]);
    assert.deepEqual(list("folder"), [{ name: "a.txt", kind: "file" }]);
    assert.deepEqual(list("up/and"), [{ name: "down", kind: "file", target: "real/a.txt" }]);
  });

  test("have their target in the listing of their directory", (t) => {
    const { list, link, write } = grant(t);
    write("agent/things/deep/er/a.txt");
    link("agent/things/here", ".");
    link("agent/things/deep/up", "../here/deep/er");
    link("agent/things/deep/top", "..");
    const targets = (/** @type {string} */ path) => list(path).map(({ name, target }) => [name, target]);
    assert.deepEqual(targets(""), [
      ["deep", undefined],
      ["here", ""],
    ]);
    for (const path of ["deep", "here/deep", "here/here/deep/top/deep"]) {
      assert.deepEqual(
        targets(path),
        [
          ["er", undefined],
          ["top", ""],
          ["up", "deep/er"],
        ],
        path,
      );
    }
  });

  test("in the user's own folder lead anywhere, and their targets tell them apart", (t) => {
    const { read, list, write, link, root } = grant(t);
    write("outside/dots/flow/a.txt", "A");
    link("agent/things/flow", join(root, "outside/dots/flow"));
    link("agent/things/again", "flow");
    link("agent/things/file", "../../outside/dots/flow/a.txt");
    link("agent/things/by/file/a.txt", join(root, "outside/dots/flow/a.txt"));
    link("outside/dots/flow/loop", "..");
    link("outside/dots/flow/back", join(root, "agent/things"));
    link("outside/dots/flow/up.txt", "../flow/a.txt");
    for (const path of ["flow/a.txt", "again/a.txt", "by/file/a.txt", "flow/loop/flow/a.txt", "flow/up.txt"])
      assert.equal(read(path), "A", path);
    const targets = (/** @type {string} */ path) => list(path).map(({ name, target }) => [name, target]);
    const flow = join(root, "outside/dots/flow");
    assert.deepEqual(targets(""), [
      ["again", flow],
      ["by", undefined],
      ["file", undefined],
      ["flow", flow],
    ]);
    assert.deepEqual(targets("flow/loop/flow"), [
      ["a.txt", undefined],
      ["back", ""],
      ["loop", dirname(flow)],
      ["up.txt", join(flow, "a.txt")],
    ]);
    // An agent's change of the target would hold at once.
    refused(() => read("file"), "outside-root");
    assert.equal(list("").find(({ name }) => name === "file")?.kind, "other");
    // The interface still takes no path that leads upwards.
    refused(() => read("../models.json"), "outside-root");
  });

  test("that lead out of the root are not followed, to a file or to a folder, directly or through another link", (t) => {
    const { list: listed, read: readIn, write, link, root } = grant(t);
    const read = (/** @type {string} */ path) => readIn(path, "project");
    const list = (/** @type {string} */ path) => listed(path, "project");
    const secret = write("outside/secret.txt");
    write("project/.conf/things-evil/a.txt");
    link("project/.conf/things/file", secret);
    link("project/.conf/things/relative", "../../../outside/secret.txt");
    link("project/.conf/things/folder", join(root, "outside"));
    link("project/.conf/things/neighbour", "../things-evil");
    link("project/.conf/things/above", "..");
    link("project/.conf/things/second", "file");
    write("project/.conf/models.json");
    for (const path of ["file", "relative", "folder/secret.txt", "neighbour/a.txt", "above/models.json", "second"]) {
      refused(() => read(path), "outside-root");
    }
    for (const path of ["folder", "neighbour", "above"]) refused(() => list(path), "outside-root");
    assert.deepEqual(
      list("").map(({ kind }) => kind),
      Array(6).fill("other"),
    );
  });

  test("to another root lead out of the root", (t) => {
    const { read, write, link } = grant(t);
    link("project/.conf/things/own", write("agent/things/a.txt"));
    refused(() => read("own", "project"), "outside-root");
  });

  test("that are broken", (t) => {
    const { read, list, link } = grant(t);
    link("agent/things/dangling", "no/such/file");
    link("agent/things/self", "self");
    link("agent/things/one", "two");
    link("agent/things/two", "one");
    link("agent/things/tower/again", "..");
    refused(() => read("dangling"), "failed");
    refused(() => read("self"), "failed");
    refused(() => read("one/a.txt"), "failed");
    refused(() => list("self"), "failed");
    assert.deepEqual(
      list("").map(({ name, kind }) => `${name} ${kind}`),
      ["dangling other", "one other", "self other", "tower directory", "two other"],
    );
    // A link to a parent folder: every path through it is finite.
    assert.deepEqual(list(`tower${"/again/tower".repeat(20)}`), [{ name: "again", kind: "directory", target: "" }]);
  });

  test("the root itself may be one", (t) => {
    const { read, list, write, link, roots, root } = grant(t, { grants: [{ ...AGENT, path: "linked" }] });
    write("outside/a.txt", "A");
    write("outside/folder/b.txt", "B");
    link("agent/linked", join(root, "outside"));
    link("outside/within", "folder/b.txt");
    link("outside/without", "../agent/things");
    assert.deepEqual(
      roots().map(({ name }) => name),
      ["global"],
    );
    assert.equal(read("a.txt"), "A");
    assert.equal(read("within"), "B");
    assert.deepEqual(list("without"), []);
    assert.equal(list("").length, 4);
  });
});

suite("neither a file nor a folder", { skip: process.platform === "win32" }, () => {
  test("a pipe does not block", { timeout: 5_000 }, (t) => {
    const { read, list, root } = grant(t);
    execFileSync("mkfifo", [join(root, "agent/things/pipe")]);
    refused(() => read("pipe"), "wrong-kind");
    assert.deepEqual(list(""), [{ name: "pipe", kind: "other" }]);
  });

  test("a socket", async (t) => {
    const { read, list, root } = grant(t);
    const server = createServer();
    await new Promise((resolve) => server.listen(join(root, "agent/things/socket"), () => resolve(undefined)));
    t.after(() => server.close());
    refused(() => read("socket"), "wrong-kind");
    assert.deepEqual(list(""), [{ name: "socket", kind: "other" }]);
  });

  test("a device behind a link", { timeout: 5_000 }, (t) => {
    const { read, list, link } = grant(t);
    link("agent/things/zero", "/dev/zero");
    link("agent/things/null", "/dev/null");
    refused(() => read("zero"), "outside-root");
    link("agent/things/in/null", "/dev/null");
    refused(() => read("in/null"), "wrong-kind");
    assert.deepEqual(
      list("").map(({ kind }) => kind),
      ["directory", "other", "other"],
    );
  });

  test("a root that is a device, a file or missing", (t) => {
    const { read, write, link, roots } = grant(t, {
      grants: ["zero", "file", "nothing"].map((path) => ({ ...AGENT, name: path, path })),
    });
    link("agent/zero", "/dev/zero");
    write("agent/file");
    assert.deepEqual(roots(), []);
    refused(() => read("", "zero"), "wrong-kind");
    refused(() => read("a", "file"), "not-found");
    refused(() => read("a", "nothing"), "not-found");
  });
});

suite("a file that changes while it is read", () => {
  test("is read to its end, up to the maximum size", { timeout: 20_000 }, async (t) => {
    const { read, root } = grant(t);
    const churn = spawn("bash", ["-c", "while :; do head -c 3000000 /dev/zero > f; head -c 100 /dev/zero > f; done"], {
      cwd: join(root, "agent/things"),
    });
    t.after(() => churn.kill("SIGKILL"));
    const lengths = new Set();
    // On a busy machine the other process starts late.
    const deadline = Date.now() + 10_000;
    for (let n = 0; n < 2000 || (!lengths.has(true) && Date.now() < deadline); n += 1) {
      try {
        lengths.add(read("f").length <= LIMIT);
      } catch (/** @type {any} */ error) {
        lengths.add(error.tag);
      }
    }
    assert.deepEqual(
      [...lengths].filter((found) => found !== true && found !== "too-large" && found !== "not-found"),
      [],
    );
    assert.ok(lengths.has(true));
  });

  test("may have content although its size is 0", { skip: process.platform !== "linux" }, () => {
    const files = fileImports([{ name: "proc", base: "cwd", path: "." }], {
      agentDir: () => "/",
      cwd: () => "/proc/self",
      configDirName: ".conf",
      isProjectTrusted: () => true,
    });
    assert.match(files.readFile("proc", "status").toString(), /^Name:/);
  });
});

suite("the working directory", () => {
  const TREE = { name: "tree", base: /** @type {const} */ ("cwd"), path: "." };

  test("is granted while the project is trusted", (t) => {
    let trusted = true;
    const { read, roots, write, root } = grant(t, { trusted: () => trusted, grants: [TREE] });
    write("project/src/a", "A");
    assert.equal(read("src/a", "tree"), "A");
    assert.deepEqual(roots(), [{ name: "tree", path: ".", location: `${root}/project` }]);
    trusted = false;
    refused(() => read("src/a", "tree"), "no-such-root");
    assert.deepEqual(roots(), []);
  });

  test("is omitted from the roots if the manifest marks it as unlisted", (t) => {
    const { read, roots, write } = grant(t, { grants: [AGENT, { ...TREE, listed: false }] });
    write("project/src/a", "A");
    assert.equal(read("src/a", "tree"), "A");
    assert.deepEqual(
      roots().map(({ name }) => name),
      ["global"],
    );
  });
});

suite("roots", () => {
  test("are those that exist, in the manifest's order, as a user would write them", (t) => {
    const { roots, root } = grant(t, { grants: [PROJECT, { ...AGENT, name: "missing", path: "missing" }, AGENT] });
    assert.deepEqual(roots(), [
      { name: "project", path: ".conf/things", location: `${root}/project/.conf/things` },
      { name: "global", path: `${root}/agent/things`, location: `${root}/agent/things` },
    ]);
  });

  test("in the user's home are written with a tilde", () => {
    const files = fileImports([{ name: "home", base: "agent", path: "." }], {
      agentDir: homedir,
      cwd: () => join(homedir(), "no", "such", "project"),
      configDirName: ".conf",
      isProjectTrusted: () => false,
    });
    assert.deepEqual(files.roots(), [{ name: "home", path: "~/", location: homedir() }]);
  });

  test("are withheld where they exist and the project is not trusted", (t) => {
    let trusted = false;
    const unlisted = /** @type {const} */ ({ name: "unlisted", base: "project", path: "things", listed: false });
    const { withheld, root } = grant(t, { trusted: () => trusted, grants: [AGENT, PROJECT, unlisted] });
    assert.deepEqual(withheld(), [{ name: "project", path: ".conf/things", location: `${root}/project/.conf/things` }]);
    rmSync(join(root, "project/.conf/things"), { recursive: true });
    writeFileSync(join(root, "project/.conf/things"), "a file");
    assert.deepEqual(withheld(), []);
    rmSync(join(root, "project/.conf/things"));
    symlinkSync("nothing", join(root, "project/.conf/things"));
    assert.deepEqual(withheld(), []);
    rmSync(join(root, "project/.conf/things"));
    mkdirSync(join(root, "project/.conf/things"));
    trusted = true;
    assert.deepEqual(withheld(), []);
  });

  test("of the project in a folder above are told up to the top of the work tree, and not in the user's home", (t) => {
    const { above, root } = grant(t, { grants: [AGENT, PROJECT], cwd: "top/a/b/c" });
    mkdirSync(join(root, "top/a/b/c"), { recursive: true });
    mkdirSync(join(root, ".conf/things"), { recursive: true });
    mkdirSync(join(root, "top/.conf/things"), { recursive: true });
    assert.equal(above(), undefined, "no repository");
    mkdirSync(join(root, "top/.git"));
    assert.equal(above(), "../../../.conf/things");
    mkdirSync(join(root, "top/a/.conf"));
    writeFileSync(join(root, "top/a/.conf/things"), "a file");
    assert.equal(above(), "../../../.conf/things");
    rmSync(join(root, "top/a/.conf/things"));
    mkdirSync(join(root, "top/a/.conf/things"));
    assert.equal(above(), "../../.conf/things", "the nearest");
    rmSync(join(root, "top/a/.conf/things"), { recursive: true });
    mkdirSync(join(root, "top/a/b/.git"));
    assert.equal(above(), undefined, "the top is nearer");
    rmSync(join(root, "top/a/b/.git"), { recursive: true });
    const { HOME } = process.env;
    t.after(() => void (process.env.HOME = HOME));
    for (const home of ["top", "top/a"]) {
      process.env.HOME = join(root, home);
      assert.equal(above(), undefined, home);
    }
  });

  test("of the project are included only while it is trusted", (t) => {
    let trusted = true;
    const { roots, read, list, write } = grant(t, { trusted: () => trusted });
    write("project/.conf/things/a.txt", "P");
    assert.deepEqual(
      roots().map(({ name }) => name),
      ["global", "project"],
    );
    assert.equal(read("a.txt", "project"), "P");
    trusted = false;
    assert.deepEqual(
      roots().map(({ name }) => name),
      ["global"],
    );
    refused(() => read("a.txt", "project"), "no-such-root");
    refused(() => list("", "project"), "no-such-root");
  });

  test("of the project lie below its configuration directory", (t) => {
    const { read, list, write } = grant(t);
    write("project/things/a.txt", "not this");
    write("project/.conf/things/b.txt", "this");
    refused(() => read("a.txt", "project"), "not-found");
    assert.deepEqual(list("", "project"), [{ name: "b.txt", kind: "file" }]);
  });

  test("do not include others", (t) => {
    const { read, list } = grant(t);
    for (const name of ["", "other", "Global", "__proto__", "toString", "agent", "..", "/"]) {
      refused(() => read("a.txt", name), "no-such-root");
      refused(() => list("", name), "no-such-root");
    }
  });

  test("are empty without a grant", (t) => {
    const { roots, read, list } = grant(t, { grants: [] });
    assert.deepEqual(roots(), []);
    refused(() => read("a.txt"), "no-such-root");
    refused(() => list(""), "no-such-root");
  });
});

suite("a root of the project", () => {
  const TREE = { name: "tree", base: /** @type {const} */ ("cwd"), path: "." };
  const BELOW = { name: "below", base: /** @type {const} */ ("cwd"), path: "src" };

  for (const [what, link, target] of /** @type {[string, string, string][]} */ ([
    ["leads to a neighbour", "project/.conf/things", "../../outside"],
    ["leads to the folder above the project", "project/.conf/things", "../.."],
    ["leads to the root of all", "project/.conf/things", "/"],
    ["leads there by a second link", "project/.conf/things", "../second"],
    ["leads to a folder whose name begins as the project's", "project/.conf/things", "../../project-evil"],
    ["lies in a linked configuration directory", "project/.conf", "../outside"],
  ])) {
    test(`that ${what} is not read`, { skip: process.platform === "win32" }, (t) => {
      const place = grant(t);
      for (const folder of ["outside", "outside/things", "project-evil"]) place.write(`${folder}/a.txt`);
      place.link("project/second", "../outside");
      rmSync(join(place.root, link), { recursive: true });
      place.link(link, target);
      assert.deepEqual(
        place.roots().map(({ name }) => name),
        ["global", "project"],
      );
      for (const call of [
        () => place.list("", "project"),
        () => place.list("outside", "project"),
        () => place.read("a.txt", "project"),
        () => place.read("outside/a.txt", "project"),
      ]) {
        assert.throws(call, { tag: "outside-project", val: ".conf/things" });
      }
      place.write("agent/things/a.txt", "A");
      assert.equal(place.read("a.txt"), "A");
    });
  }

  test("may be a link that stays in the project", (t) => {
    const place = grant(t, { grants: [PROJECT, BELOW] });
    place.write("project/shared/things/a.txt", "S");
    rmSync(join(place.root, "project/.conf"), { recursive: true });
    place.link("project/.conf", "shared");
    assert.equal(place.read("a.txt", "project"), "S");
    place.link("project/src", "shared/things");
    assert.equal(place.read("a.txt", "below"), "S");
    rmSync(join(place.root, "project/src"));
    place.link("project/src", "../outside");
    assert.throws(() => place.list("", "below"), { tag: "outside-project", val: "src" });
    rmSync(join(place.root, "project/.conf"));
    mkdirSync(join(place.root, "project/.conf"));
    place.link("project/.conf/things", "..");
    place.write("project/a.txt", "here");
    assert.equal(place.read("a.txt", "project"), "here");
  });

  test("may lie in a project whose own directory is reached by a link", (t) => {
    const { root, write, link } = grant(t);
    write("project/.conf/things/a.txt", "P");
    write("project/src/b.txt", "B");
    link("way/to", "../project");
    const files = fileImports([PROJECT, TREE], {
      agentDir: () => join(root, "agent"),
      cwd: () => join(root, "way/to"),
      configDirName: ".conf",
      isProjectTrusted: () => true,
    });
    assert.equal(files.readFile("project", "a.txt").toString(), "P");
    assert.equal(files.readFile("tree", "src/b.txt").toString(), "B");
    assert.deepEqual(
      files.roots().map(({ path }) => path),
      [".conf/things", "."],
    );
  });

  test("is resolved again by the next snapshot", (t) => {
    const { root, write, link } = grant(t);
    write("project/.conf/things/a.txt", "P");
    write("project/kept/a.txt", "K");
    write("outside/a.txt", "O");
    const files = fileImports([PROJECT], {
      agentDir: () => join(root, "agent"),
      cwd: () => join(root, "project"),
      configDirName: ".conf",
      isProjectTrusted: () => true,
    });
    const things = join(root, "project/.conf/things");
    rmSync(things, { recursive: true });
    link("project/.conf/things", "../kept");
    const now = Date.now;
    t.mock.method(Date, "now", () => now() + 10_000);
    files.startSnapshot();
    files.listDirectory("project", "");
    assert.equal(files.readFile("project", "a.txt").toString(), "K");
    files.finishSnapshot();
    assert.equal(files.unchanged(), true);
    rmSync(things);
    link("project/.conf/things", "../../outside");
    assert.equal(files.unchanged(), false);
    files.startSnapshot();
    refused(() => files.listDirectory("project", ""), "outside-project");
    refused(() => files.readFile("project", "a.txt"), "outside-project");
    files.finishSnapshot();
    assert.equal(files.unchanged(), true);
    rmSync(things);
    link("project/.conf/things", "../kept");
    assert.equal(files.unchanged(), false);
  });
});

suite("a folder with too many entries", () => {
  test("is not listed", { timeout: 60_000, ...LONG }, (t) => {
    const { root, list, write } = grant(t);
    write("agent/things/few/a.txt");
    for (const [folder, count] of /** @type {const} */ ([
      ["most", 50_000],
      ["more", 50_001],
    ])) {
      mkdirSync(join(root, "agent/things", folder));
      for (let n = 0; n < count; n += 1) closeSync(openSync(join(root, "agent/things", folder, `f${n}`), "w"));
    }
    assert.equal(list("most").length, 50_000);
    assert.throws(() => list("more"), { tag: "too-many", val: 50_000 });
    assert.equal(list("few").length, 1);
  });
});

suite("a session that no longer exists", () => {
  /** The error that pi throws for an invalidated context. */
  const STALE = "This extension ctx is stale after session replacement or reload. Do not use a captured pi.";

  test("fails with stale", (t) => {
    const { roots, read, list } = grant(t, {
      trusted: () => {
        throw { tag: "stale" };
      },
    });
    refused(() => read("a.txt", "project"), "stale");
    refused(() => list("", "project"), "stale");
    refused(roots, "stale");
  });

  for (const within of ["stale-branch", "what is stale", "a context is stale", STALE.slice(0, 60)]) {
    test(
      `is not assumed because of a path like ${JSON.stringify(within)}`,
      { skip: process.platform === "win32" },
      (t) => {
        const { root, roots, read, list, write, link } = grant(t, { within });
        write("agent/things/a.txt", "A");
        write("project/.conf/things/a.txt", "P");
        link("agent/things/round is stale", "round is stale");
        chmodSync(write(`agent/things/${within}`), 0);
        assert.deepEqual(
          roots().map(({ name }) => name),
          ["global", "project"],
        );
        assert.equal(read("a.txt"), "A");
        assert.equal(read("a.txt", "project"), "P");
        for (const name of ["global", "project"]) {
          refused(() => read("b.txt", name), "not-found");
          refused(() => list("no", name), "not-found");
          refused(() => read("a.txt/is stale", name), "not-found");
        }
        refused(() => read("round is stale"), "failed");
        refused(() => list("round is stale"), "failed");
        chmodSync(join(root, ".."), 0o755);
        for (const folder of [root, join(root, "agent"), join(root, "agent/things")]) chmodSync(folder, 0o755);
        asNobody(() => refused(() => read(within), "failed"));
      },
    );
  }
});

suite("isBelow", () => {
  for (const [root, path, within] of /** @type {[string, string, boolean][]} */ ([
    ["/a/root", "/a/root", true],
    ["/a/root", "/a/root/b", true],
    ["/a/root", "/a/root/..foo", true],
    ["/a/root", "/a/root/..foo/b", true],
    ["/a/root", "/a/root/...", true],
    ["/a/root", "/a/root-evil", false],
    ["/a/root", "/a/root-evil/b", false],
    ["/a/root", "/a/roo", false],
    ["/a/root", "/a", false],
    ["/a/root", "/", false],
    ["/a/root", "/a/..foo", false],
    ["/a/root", "/a/Root/b", false],
    ["/", "/etc/passwd", true],
  ])) {
    test(`${path} ${within ? "is" : "is not"} within ${root}`, { skip: process.platform === "win32" }, () => {
      assert.equal(isBelow(path, root), within);
    });
  }
});

suite("on Windows", async () => {
  const win = await windowsFiles();

  for (const [root, path, within] of /** @type {[string, string, boolean][]} */ ([
    ["C:\\pi\\root", "C:\\pi\\root", true],
    ["C:\\pi\\root", "C:\\pi\\root\\a", true],
    ["C:\\pi\\root", "c:\\PI\\Root\\A", true],
    ["C:\\pi\\root", "C:\\pi\\root\\..foo", true],
    ["C:\\pi\\root", "C:\\pi\\root-evil", false],
    ["C:\\pi\\root", "C:\\pi", false],
    ["C:\\pi\\root", "D:\\pi\\root\\a", false],
    ["C:\\pi\\root", "\\\\server\\share\\pi\\root\\a", false],
    ["\\\\server\\share\\root", "\\\\server\\share\\root\\a", true],
    ["\\\\server\\share\\root", "\\\\server\\other\\root\\a", false],
  ])) {
    test(`${path} ${within ? "is" : "is not"} within ${root}`, () => assert.equal(win.isBelow(path, root), within));
  }

  for (const path of ["a\\b", "..\\a", "a/..\\b", "C:", "C:/a", "C:a", "a:stream", "\\\\server\\share\\a", "a/C:\\b"]) {
    test(`${JSON.stringify(path)} is refused`, () => {
      const files = win.fileImports([AGENT], {
        agentDir: () => "C:\\pi",
        cwd: () => "C:\\project",
        configDirName: ".conf",
        isProjectTrusted: () => true,
      });
      refused(() => files.readFile("global", path), "outside-root");
      refused(() => files.listDirectory("global", path), "outside-root");
    });
  }
});

/**
 * files.js and `isBelow` as they are on Windows: with the functions of `path.win32`.
 *
 * @returns {Promise<typeof import("../../host-shim/files.js") & { isBelow: typeof isBelow }>}
 */
async function windowsFiles() {
  const names = "basename, dirname, isAbsolute, join, parse, relative, resolve, sep";
  const path = `import { win32 } from "node:path"; export const { ${names} } = win32;`;
  const source = (/** @type {string} */ name) => new URL(`../../${name}?windows`, import.meta.url).href;
  const sandbox = `export { isBelow, namesLike } from "${source("sandbox/write-target.js")}"; export { folderAbove } from "${source("sandbox/git-folders.js")}"; export { messageOf } from "${source("sandbox/plain.js")}"; export * as untrusted from "${source("sandbox/untrusted-files.js")}";`;
  /** @type {Record<string, string>} */
  const others = {
    "node:path": `data:text/javascript,${encodeURIComponent(path)}`,
    "#sandbox": `data:text/javascript,${encodeURIComponent(sandbox)}`,
  };
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      Object.hasOwn(others, specifier) && context.parentURL?.endsWith("?windows")
        ? { url: others[specifier], shortCircuit: true }
        : next(specifier, context),
  });
  try {
    return { ...(await import(source("host-shim/files.js"))), ...(await import(source("sandbox/write-target.js"))) };
  } finally {
    hooks.deregister();
  }
}

suite("creating", { skip: process.platform === "win32" }, () => {
  const creates = /** @type {const} */ ({ creates: true });
  const grants = [
    { ...AGENT, ...creates },
    { ...PROJECT, ...creates },
  ];

  test("makes a folder with a file, and the root if it is missing", (t) => {
    const { create, read, root, list } = grant(t, { grants });
    assert.equal(create("a|x.txt", "project"), ".conf/things/a/x.txt");
    assert.equal(read("a/x.txt", "project"), "new");
    for (const folder of ["agent/things", "project/.conf"]) rmSync(join(root, folder), { recursive: true });
    for (const name of ["global", "project"]) {
      assert.match(create("b|x.txt", name), /things\/b\/x\.txt$/);
      assert.deepEqual(list("", name), [{ name: "b", kind: "directory" }]);
    }
  });

  test("changes nothing that exists, and leaves nothing behind", (t) => {
    const { create, write, link, root } = grant(t, { grants });
    write("project/.conf/things/there/x.txt", "old");
    write("project/.conf/things/file", "old");
    link("project/.conf/things/link", "../../../outside");
    link("project/.conf/things/dangling", "/nowhere/x");
    for (const name of ["there", "file", "link", "dangling"]) refused(() => create(`${name}|y`, "project"), "failed");
    assert.deepEqual(readdirSync(join(root, "project/.conf/things")), ["dangling", "file", "link", "there"]);
    refused(() => create(`a|${"x".repeat(300)}`, "project"), "failed");
    assert.ok(!existsSync(join(root, "project/.conf/things/a")));
    chmodSync(join(root, "agent/things"), 0o555);
    chmodSync(root, 0o755);
    asNobody(() => refused(() => create("a|x"), "failed"));
    assert.deepEqual(readdirSync(join(root, "outside")), []);
  });

  test("is complete or not there: what a killed process left is neither read nor in the way", (t) => {
    const { create, write, list, root } = grant(t, { grants });
    const left = `.${"0a".repeat(12)}.new`;
    for (const name of [left, ".other.new", "0a.new"]) write(`agent/things/${name}/x.txt`, "begun");
    create("a|x.txt");
    assert.deepEqual(
      list("").map(({ name }) => name),
      [".other.new", "0a.new", "a"],
    );
    assert.deepEqual(readdirSync(join(root, "agent/things")).sort(), [left, ".other.new", "0a.new", "a"].sort());
  });

  test("takes only names, in a root that is granted for it", (t) => {
    const { create, root } = grant(t, { grants: [{ ...AGENT, ...creates }, PROJECT] });
    for (const path of ["..|x", ".|x", "|x", "a|..", "a|", "a|x|b", "a\0|x", "a|b/c"])
      refused(() => create(path), "outside-root");
    refused(() => create("a|x", "project"), "failed");
    refused(() => create("a|x", "none"), "no-such-root");
    const untrusted = grant(t, { grants, trusted: () => false });
    refused(() => untrusted.create("a|x", "project"), "no-such-root");
    assert.deepEqual(
      [root, untrusted.root].map((root) => existsSync(join(root, "project/.conf/things/a"))),
      [false, false],
    );
  });

  test("follows links of the user's own, and none in the project", (t) => {
    const { create, link, root } = grant(t, { grants });
    for (const folder of ["agent/things", "project/.conf"]) rmSync(join(root, folder), { recursive: true });
    link("agent/things", "../outside");
    assert.match(create("a|x"), /agent\/things\/a\/x$/);
    assert.ok(existsSync(join(root, "outside/a/x")));
    link("project/.conf", "../outside");
    refused(() => create("b|x", "project"), "failed");
    rmSync(join(root, "project/.conf"));
    link("project/.conf/things", "../../outside");
    refused(() => create("b|x", "project"), "outside-project");
    // A link that stays in the project is where the root is read.
    rmSync(join(root, "project/.conf/things"));
    mkdirSync(join(root, "project/kept"));
    link("project/.conf/things", "../kept");
    create("b|x", "project");
    assert.ok(existsSync(join(root, "project/kept/b/x")));
    assert.deepEqual(readdirSync(join(root, "outside")), ["a"]);
  });
});
