// A snapshot of the files that were read is unchanged as long as the same would be read again; then the definitions are
// reused.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileImports } from "../../host-shim/files.js";
import { instantiator, readManifest } from "../../host-shim/manifest.js";
import { workflow } from "../pi/harness/workflows.mjs";
import { loadInto, standIn } from "./pi-stand-in.mjs";

/** @typedef {import("node:test").TestContext} TestContext */

const MANIFEST_URL = new URL("../../package.json", import.meta.url);
const MANIFEST = readManifest(MANIFEST_URL);

/** Longer than the resolution of the clocks of file systems, in milliseconds. */
const TICK = 15;

/**
 * Creates a temporary folder.
 * @param {TestContext} t
 */
function folder(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-snapshot-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return {
    root,
    at: (/** @type {string} */ path) => join(root, path),
    write(/** @type {string} */ path, content = path) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
  };
}

/**
 * Advances the clock, so that every file is older than the margin of time stamps.
 *
 * @param {TestContext} t
 * @param {number} [age]
 */
function later(t, age = 10_000) {
  const now = Date.now;
  t.mock.method(Date, "now", () => now() + age);
}

/**
 * Rewrites a file with the same size and modification time.
 * @param {string} path
 * @param {string} [content]
 */
function rewrite(path, content = readFileSync(path, "utf8").toUpperCase()) {
  const { size, atime, mtime } = statSync(path);
  writeFileSync(path, content);
  utimesSync(path, atime, mtime);
  assert.equal(statSync(path).size, size);
}

/** @param {TestContext} t */
function recorded(t) {
  const place = folder(t);
  const state = { trusted: true, cwd: "project", agent: "agent" };
  const grants = /** @type {const} */ ([
    { name: "global", base: "agent", path: "things" },
    { name: "project", base: "project", path: "things" },
  ]);
  const files = fileImports([...grants], {
    agentDir: () => place.at(state.agent),
    cwd: () => place.at(state.cwd),
    configDirName: ".conf",
    isProjectTrusted: () => state.trusted,
  });
  for (const path of ["a.txt", "deep/b.txt", "deep/c.txt"]) place.write(`agent/things/${path}`);
  place.write("project/.conf/things/p.txt");
  place.write("other/.conf/things/p.txt");
  symlinkSync("deep", place.at("agent/things/link"));
  symlinkSync("deep/c.txt", place.at("agent/things/file"));
  const attempt = (/** @type {() => unknown} */ work) => {
    try {
      work();
    } catch {
      // The error is recorded as well.
    }
  };
  return {
    ...place,
    state,
    files,
    unchanged: files.unchanged,
    /** Records a snapshot of queries to all files. */
    read() {
      files.startSnapshot();
      files.roots();
      files.listDirectory("global", "");
      for (const path of ["a.txt", "link/b.txt", "file"]) files.readFile("global", path);
      for (const path of ["missing.txt", "missing/d.txt", "deep", "../out"])
        attempt(() => files.readFile("global", path));
      attempt(() => files.listDirectory("global", "nothing"));
      attempt(() => files.readFile("project", "p.txt"));
      files.finishSnapshot();
    },
  };
}

suite("a snapshot", () => {
  test("is unchanged while no file changes", (t) => {
    const { read, unchanged, files } = recorded(t);
    later(t);
    assert.equal(unchanged(), false, "there is no snapshot");
    read();
    assert.deepEqual([unchanged(), unchanged()], [true, true]);
    files.startSnapshot();
    assert.equal(unchanged(), false, "the snapshot is not finished");
    files.finishSnapshot();
    assert.equal(unchanged(), true, "an empty snapshot");
  });

  test("depends only on its own queries", (t) => {
    const { read, unchanged, files, write } = recorded(t);
    later(t);
    read();
    files.readFile("global", "deep/c.txt");
    write("agent/things/deep/new.txt");
    write("agent/things/deep/missing.txt");
    assert.equal(unchanged(), true);
  });

  test("is never unchanged if a file changed just before it was read", (t) => {
    const { read, unchanged, root } = recorded(t);
    read();
    assert.equal(unchanged(), false);
    later(t);
    assert.equal(unchanged(), false, "not even later");
    read();
    assert.equal(unchanged(), true);
    const future = new Date(Date.now() + 1e9);
    utimesSync(join(root, "agent/things/a.txt"), future, future);
    read();
    assert.equal(unchanged(), false, "a time in the future may occur again");
  });

  /** @type {Record<string, (place: ReturnType<typeof recorded>) => void>} */
  const changes = {
    "a file grew": ({ write }) => write("agent/things/a.txt", "longer than before"),
    "a file of the same size and time is written": ({ at }) => rewrite(at("agent/things/a.txt")),
    "another file of the same size and time takes its place": ({ at, write }) => {
      const { atime, mtime } = statSync(at("agent/things/a.txt"));
      write("outside/a.txt", "AGENT/THINGS/A.TXT");
      utimesSync(at("outside/a.txt"), atime, mtime);
      renameSync(at("outside/a.txt"), at("agent/things/a.txt"));
    },
    "a file is removed": ({ at }) => rmSync(at("agent/things/a.txt")),
    "a file is removed and written again": ({ at, write }) => {
      rmSync(at("agent/things/a.txt"));
      write("agent/things/a.txt");
    },
    "a file becomes a folder": ({ at }) => {
      rmSync(at("agent/things/a.txt"));
      mkdirSync(at("agent/things/a.txt"));
    },
    "a file may not be read any more": ({ at }) => chmodSync(at("agent/things/a.txt"), 0),
    "a file behind a folder's link changes": ({ at }) => rewrite(at("agent/things/deep/b.txt")),
    "a file behind a link changes": ({ at }) => rewrite(at("agent/things/deep/c.txt")),
    "a link leads elsewhere": ({ at, write }) => {
      write("agent/things/else/b.txt");
      rmSync(at("agent/things/link"));
      symlinkSync("else", at("agent/things/link"));
    },
    "a link's folder is another": ({ at, write }) => {
      renameSync(at("agent/things/deep"), at("old"));
      write("agent/things/deep/b.txt");
      write("agent/things/deep/c.txt");
    },
    "a missing file is there": ({ write }) => write("agent/things/missing.txt"),
    "a missing folder is there": ({ write }) => write("agent/things/missing/d.txt"),
    "something is added to a folder": ({ write }) => write("agent/things/new/a.txt"),
    "something in a folder has another kind": ({ at }) => {
      rmSync(at("agent/things/link"));
      writeFileSync(at("agent/things/link"), "");
    },
    "something is removed from a folder": ({ at }) => rmSync(at("agent/things/file")),
    "a root is gone": ({ at }) => rmSync(at("project/.conf/things"), { recursive: true }),
    "a root is another folder": ({ at, write }) => {
      renameSync(at("agent/things"), at("agent/old"));
      for (const path of ["a.txt", "deep/b.txt", "deep/c.txt"]) write(`agent/things/${path}`);
      symlinkSync("deep", at("agent/things/link"));
      symlinkSync("deep/c.txt", at("agent/things/file"));
    },
    "the project is not trusted any more": ({ state }) => void (state.trusted = false),
    "it is another project": ({ state }) => void (state.cwd = "other"),
    "it is another agent directory": ({ state, at }) => {
      state.agent = "agent2";
      symlinkSync("agent", at("agent2"));
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    test(`is changed when ${name}`, async (t) => {
      const place = recorded(t);
      later(t);
      place.read();
      assert.equal(place.unchanged(), true);
      await sleep(TICK);
      change(place);
      assert.equal(place.unchanged(), false);
    });
  }
});

suite("definitions", () => {
  /** Loads this package's component with some global workflows. @param {TestContext} t */
  function started(t) {
    const place = folder(t);
    const writeAll = (/** @type {Record<string, string>} */ files) => {
      for (const [path, text] of Object.entries(files)) place.write(`workflows/${path}`, text);
    };
    writeAll({
      ...workflow("one", ["a", "b"]),
      ...workflow("two", ["a", "@one"]),
      "settings.yaml": "builtin: false\n",
    });
    const reads = t.mock.fn();
    const instantiate = instantiator(MANIFEST_URL, MANIFEST);
    const pi = standIn();
    later(t);
    loadInto(
      pi,
      (/** @type {any} */ imports) => {
        const files = imports["pi:extension/files"];
        const readFile = (/** @type {string[]} */ ...path) => (reads(), files.readFile(...path));
        return instantiate({ ...imports, "pi:extension/files": { ...files, readFile } });
      },
      MANIFEST,
      place.root,
    );
    return {
      ...place,
      pi,
      writeAll,
      /** Returns the workflows that are offered, with descriptions, and the number of files that were read. */
      offered() {
        const before = reads.mock.callCount();
        const offered = pi.registered.get("command workflow").getArgumentCompletions("") ?? [];
        const texts = offered.map((/** @type {any} */ { value, description }) => `${value}: ${description}`);
        return [texts.filter((/** @type {string} */ text) => !text.startsWith(":")), reads.mock.callCount() - before];
      },
    };
  }

  test("are not read again while no file changes", async (t) => {
    const { offered, pi } = started(t);
    const [first, read] = offered();
    assert.deepEqual([first.length, read], [2, 0], "the session's start has read them");
    pi.emit("session_tree");
    assert.deepEqual(offered(), [first, 0]);
  });

  for (const [
    name,
    change,
    expected,
  ] of /** @type {[string, (place: ReturnType<typeof started>) => void, string[]][]} */ ([
    [
      "changed with its size and time kept",
      ({ at }) => rewrite(at("workflows/one/workflow.yaml"), workflowYaml("The One")),
      ["The One"],
    ],
    ["added", ({ writeAll }) => writeAll(workflow("three", ["a"])), ["The one", "The three", "The two"]],
    ["removed", ({ at }) => rmSync(at("workflows/two"), { recursive: true }), ["The one"]],
    ["a phase of it removed", ({ at }) => rmSync(at("workflows/one/b.md")), []],
    [
      "put in another's place",
      ({ at, write }) => {
        write("new.yaml", workflowYaml("The new"));
        const { atime, mtime } = statSync(at("workflows/one/workflow.yaml"));
        utimesSync(at("new.yaml"), atime, mtime);
        renameSync(at("new.yaml"), at("workflows/one/workflow.yaml"));
      },
      ["The new"],
    ],
  ])) {
    test(`a workflow is read again that was ${name}`, async (t) => {
      const place = started(t);
      await sleep(TICK);
      change(place);
      const [texts, read] = place.offered();
      assert.ok(read > 0);
      const names = texts.map((/** @type {string} */ text) => text.split(": ")[1]);
      for (const name of expected) assert.ok(names.includes(name), `${name} in ${names}`);
      if (name.includes("removed")) assert.deepEqual(names, expected);
      assert.deepEqual(place.offered(), [texts, 0]);
    });
  }

  test("a check reads the files, and the next completion reads them again", (t) => {
    const { offered, pi } = started(t);
    pi.command("workflow", ":check");
    assert.ok(offered()[1] > 0);
    assert.equal(offered()[1], 0);
  });

  /** @param {string} name */
  function workflowYaml(name) {
    return workflow("one", ["a", "b"], { name })["one/workflow.yaml"];
  }
});
