// The file operations of `edit` and `write` within writable paths, on Linux and as elsewhere.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { fileOperations } from "../../sandbox/file-operations.js";

const SWAP = join(dirname(fileURLToPath(import.meta.url)), "../pi/harness/swap.py");

/** @param {import("node:test").TestContext} t */
function project(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "file-operations-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ["docs/d/x", "src/x"]) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), "untouched");
  }
  symlinkSync("../src", join(root, "docs/link"));
  return {
    root,
    at: (/** @type {string} */ path) => join(root, path),
    read: (/** @type {string} */ path) => readFileSync(join(root, path), "utf8"),
  };
}

/** @param {Promise<unknown>} promise @returns {Promise<string>} */
const reason = (promise) =>
  promise.then(
    () => "none",
    ({ message }) => message,
  );

for (const byDescriptor of process.platform === "linux" ? [true, false] : [false]) {
  suite(`file operations by ${byDescriptor ? "descriptor" : "name"}`, () => {
    test("read and write the listed paths", async (t) => {
      const { root, at, read } = project(t);
      const { access, readFile, writeFile, mkdir } = fileOperations(
        [at("docs/"), at("new/deep/file")],
        undefined,
        byDescriptor,
      );
      await access(at("docs/d/x"));
      assert.equal(String(await readFile(at("docs/d/x"))), "untouched");
      await writeFile(at("docs/d/x"), "short");
      await writeFile(at("docs/y"), "ü");
      await mkdir(at("docs/a/b/c"));
      await mkdir(at("docs/a/b/c"));
      await mkdir(at("new/deep"));
      await writeFile(at("new/deep/file"), "new");
      assert.deepEqual(["docs/d/x", "docs/y", "new/deep/file"].map(read), ["short", "ü", "new"]);
      assert.deepEqual(readdirSync(at("docs/a/b")), ["c"]);
      assert.match(await reason(writeFile(at("new/deep/other"), "")), /new\/deep\/other may not be written$/);
      assert.match(await reason(mkdir(at("new/other"))), /new\/other may not be created$/);
      assert.match(await reason(mkdir(at("other"))), /other may not be created$/);
      assert.deepEqual([readdirSync(root).sort(), readdirSync(at("new"))], [["docs", "new", "src"], ["deep"]]);
    });

    test("reach nothing else", async (t) => {
      const { at, read } = project(t);
      const { access, readFile, writeFile, mkdir } = fileOperations([at("docs/")], undefined, byDescriptor);
      symlinkSync("../src/x", at("docs/to-x"));
      symlinkSync("../src/none", at("docs/to-none"));
      for (const path of ["src/x", "docs/link/x", "docs/to-x", "docs/../src/x", "docs2"]) {
        for (const work of [access, readFile])
          assert.match(await reason(work(at(path))), /may not be written|ENOENT/, path);
        assert.match(await reason(writeFile(at(path), "changed")), /may not be written$/, path);
      }
      for (const path of ["docs/to-none", "docs/link/none", "src/none"])
        assert.match(await reason(writeFile(at(path), "changed")), /src\/none may not be written$/, path);
      for (const path of ["docs/link/folder", "src/a/b", "docs/link/a/b"])
        assert.match(await reason(mkdir(at(path))), /may not be created$/, path);
      assert.deepEqual([read("src/x"), readdirSync(at("src"))], ["untouched", ["x"]]);
    });

    test("refuse what is no file of its own", async (t) => {
      const { at, read } = project(t);
      const { access, readFile, writeFile } = fileOperations([at("docs/"), "/dev"], undefined, byDescriptor);
      linkSync(at("src/x"), at("docs/hard"));
      spawnSync("mkfifo", [at("docs/pipe")]);
      const server = createServer().listen(at("docs/socket"));
      t.after(() => server.close());
      await new Promise((resolve) => server.once("listening", resolve));
      for (const [path, expected] of /** @type {const} */ ([
        [at("docs/hard"), /has other names/],
        [at("docs/pipe"), /not a regular file/],
        [at("docs/socket"), /not a regular file/],
        ["/dev/null", /not a regular file/],
        ["/dev/tty", /not a regular file/],
      ])) {
        for (const work of [access, readFile, (/** @type {string} */ name) => writeFile(name, "changed")])
          assert.match(await reason(work(path)), expected, path);
      }
      assert.equal(read("src/x"), "untouched");
      unlinkSync(at("docs/hard"));
      await writeFile(at("docs/d/x"), "changed");
    });

    const noLeases = { skip: process.platform === "linux" ? false : "needs Linux" };
    test("wait for no lease that another process holds on a file", noLeases, async (t) => {
      const { at, read } = project(t);
      const { access, readFile, writeFile } = fileOperations([at("docs/")], undefined, byDescriptor);
      const holds =
        "import fcntl, sys, time; f = open(sys.argv[1], 'r+'); fcntl.fcntl(f, 1024, fcntl.F_WRLCK); print(1, flush=True); time.sleep(60)";
      const holder = spawn("python3", [
        "-c",
        `import signal; signal.signal(signal.SIGIO, signal.SIG_IGN); ${holds}`,
        at("docs/d/x"),
      ]);
      t.after(() => holder.kill("SIGKILL"));
      await once(holder.stdout, "data");
      const start = performance.now();
      for (const work of [access, readFile, (/** @type {string} */ path) => writeFile(path, "changed")])
        assert.equal(
          await reason(work(at("docs/d/x"))),
          `${at("docs/d/x")} cannot be opened: another process holds a lease on it`,
        );
      assert.ok(performance.now() - start < 2000);
      holder.kill("SIGKILL");
      await once(holder, "exit");
      assert.equal(read("docs/d/x"), "untouched");
      await writeFile(at("docs/d/x"), "new");
      assert.equal(read("docs/d/x"), "new");
    });

    test("read no file that is longer than a text can be", async (t) => {
      const { at } = project(t);
      truncateSync(at("docs/d/x"), 10 * 2 ** 30);
      const { readFile } = fileOperations([at("docs/")], undefined, byDescriptor);
      assert.match(await reason(readFile(at("docs/d/x"))), /too large/);
    });

    test("name the path in errors, and leave nothing open", async (t) => {
      const { root, at } = project(t);
      const { access, writeFile, mkdir } = fileOperations([at("docs/")], undefined, byDescriptor);
      const errors = [
        access(at("docs/none")),
        writeFile(at("docs/d"), ""),
        writeFile(at("docs/none/x"), ""),
        writeFile(at(`docs/${"n".repeat(300)}`), ""),
        writeFile(at("docs/d/x/below"), ""),
        mkdir(at("docs/d/x/below")),
        mkdir(at("docs/d/x")),
        writeFile("\0", ""),
      ];
      for (const message of await Promise.all(errors.map(reason)))
        assert.doesNotMatch(message, /none$|\/proc\/self/, message);
      assert.equal(
        await reason(access(at("docs/none"))),
        `ENOENT: no such file or directory, open '${at("docs/none")}'`,
      );
      assert.equal(
        await reason(writeFile(at("docs/d"), "")),
        `EISDIR: illegal operation on a directory, open '${at("docs/d")}'`,
      );
      if (existsSync("/proc/self/fd")) {
        const open = readdirSync("/proc/self/fd").map((name) => {
          try {
            return readlinkSync(`/proc/self/fd/${name}`);
          } catch {
            return "";
          }
        });
        assert.deepEqual(
          open.filter((path) => path.startsWith(root)),
          [],
        );
      }
    });

    test("check a new file once, before it is created, and one that appears meanwhile as any other", async (t) => {
      const { at, read } = project(t);
      const check = async (/** @type {string} */ place, /** @type {unknown} */ stat) => {
        await sleep(5);
        if (stat && place === at("docs/new")) throw new Error("interrupted");
        if (!stat && place === at("docs/placeholder")) writeFileSync(place, "");
      };
      const { writeFile } = fileOperations([at("docs/")], check, byDescriptor);
      await writeFile(at("docs/new"), "new");
      await writeFile(at("docs/placeholder"), "written");
      assert.deepEqual([read("docs/new"), read("docs/placeholder")], ["new", "written"]);
      await Promise.all(["one", "two"].map((text) => writeFile(at("docs/both"), text)));
      assert.match(read("docs/both"), /^(one|two)$/);
    });

    test("refuse a file that gets another name while it is checked", async (t) => {
      const { at, read } = project(t);
      let checks = byDescriptor ? 1 : 2;
      const check = async () => {
        if (--checks === 0) linkSync(at("docs/d/x"), at("src/other"));
      };
      const { writeFile } = fileOperations([at("docs/")], check, byDescriptor);
      assert.match(await reason(writeFile(at("docs/d/x"), "changed")), /has other names/);
      assert.equal(read("docs/d/x"), "untouched");
    });

    if (byDescriptor) {
      test("reach nothing else while names are swapped", async (t) => {
        const { at, read, root } = project(t);
        const { access, readFile, writeFile, mkdir } = fileOperations([at("docs/")], undefined, byDescriptor);
        writeFileSync(at("docs/d/y"), "untouched");
        writeFileSync(at("src/x"), "secret");
        symlinkSync("../../src/x", at("docs/d/to-x"));
        mkdirSync(at("docs/d/folder"));
        symlinkSync("../../src", at("docs/d/to-src"));
        const child = spawn(
          "python3",
          [SWAP, "docs/d", "docs/link", "docs/d/y", "docs/d/to-x", "docs/d/folder", "docs/d/to-src"],
          { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
        );
        await new Promise((resolve) => child.stdout.once("data", resolve));
        let done = 0;
        try {
          for (let n = 0; n < 3000; n += 1) {
            const works = [
              () => writeFile(at("docs/d/x"), "changed"),
              () => writeFile(at(`docs/d/new-${n}`), "changed"),
              () => mkdir(at(`docs/d/folder/a-${n}/b`)),
              () => writeFile(at("docs/d/y"), "changed"),
              () => access(at("docs/d/x")),
              () => mkdir(at(`docs/d/m-${n}`)),
              () => writeFile(at(`docs/d/folder/new-${n}`), "changed"),
            ];
            if ((await reason(works[n % works.length]())) === "none") done += 1;
            assert.notEqual(await readFile(at("docs/d/y")).then(String, () => ""), "secret");
          }
        } finally {
          child.kill("SIGKILL");
          await once(child, "close");
        }
        t.diagnostic(`${done} of 3000 were done`);
        assert.ok(done > 0);
        assert.deepEqual([read("src/x"), readdirSync(at("src"))], ["secret", ["x"]]);
      });
    }
  });
}
