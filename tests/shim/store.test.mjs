// The store of a component: values, file, bounds, concurrent processes and damaged files.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { REPO } from "../pi/harness/pi.mjs";
import { storeImports } from "../../host-shim/store.js";

const root = mkdtempSync(join(tmpdir(), "store-test-"));
after(() => rmSync(root, { recursive: true }));
let agents = 0;

/** Creates a store in its own agent directory. */
function makeStore() {
  const agent = join(root, `agent-${(agents += 1)}`);
  /** @type {string[]} */
  const told = [];
  const store = storeImports(
    { name: "test" },
    () => agent,
    (words) => told.push(words),
  );
  const file = join(agent, "extension-data/test.json");
  /** Replaces the store's file. @param {string | Buffer} content */
  const put = (content) => {
    mkdirSync(join(agent, "extension-data"), { recursive: true });
    writeFileSync(file, content);
  };
  return { agent, store, told, file, put };
}

/** Returns the error that a function throws. @param {() => unknown} work */
function fault(work) {
  try {
    work();
  } catch (error) {
    return error;
  }
  return assert.fail("it went well");
}

suite("the store", () => {
  test("stores and removes values", () => {
    const { store, file, agent } = makeStore();
    assert.equal(store.get("a"), undefined);
    store.remove("a");
    assert.equal(existsSync(file), false);
    const pairs = [
      ["a", "1"],
      ["__proto__", "{}"],
      ["constructor", ""],
      ["ключ", "значение 👩‍👩‍👧"],
      ["\n", "\0\ud7ff"],
    ];
    for (const [key, value] of pairs) store.set(key, value);
    for (const [key, value] of pairs) assert.equal(store.get(key), value);
    store.set("a", "2");
    assert.equal(store.get("a"), "2");
    store.remove("a");
    assert.equal(store.get("a"), undefined);
    assert.equal(store.get("toString"), undefined);
    assert.deepEqual(readdirSync(join(agent, "extension-data")), ["test.json"], "nothing is left beside it");
  });

  test("of several instances in one process is one, and none loses what another one stores", () => {
    const { agent, file } = makeStore();
    const stores = Array.from({ length: 4 }, () => storeImports({ name: "test" }, () => agent, assert.fail));
    for (let round = 0; round < 20; round += 1) {
      stores.forEach((store, index) => store.set(`key-${index}-${round}`, "x"));
      for (const store of stores) assert.equal(store.get(`key-3-${round}`), "x");
      stores[round % 4].remove(`key-0-${round}`);
    }
    assert.equal(Object.keys(JSON.parse(readFileSync(file, "utf8"))).length, 60);
  });

  test("is readable only by the user", () => {
    const { store, file, agent } = makeStore();
    store.set("a", "1");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(join(agent, "extension-data")).mode & 0o777, 0o700);
  });

  test("does not write if no value changes", () => {
    const { store, file } = makeStore();
    store.set("a", "1");
    const { ino } = statSync(file);
    store.set("a", "1");
    store.remove("b");
    assert.equal(statSync(file).ino, ino);
  });

  test("has maximum sizes of keys and values", () => {
    const { store } = makeStore();
    store.set("k".repeat(256), "v".repeat(64 * 1024));
    for (const [key, value] of [
      ["", "v"],
      ["k".repeat(257), "v"],
      ["ü".repeat(129), "v"],
      ["k", "v".repeat(64 * 1024 + 1)],
      ["k", "ü".repeat(32 * 1024 + 1)],
    ]) {
      assert.deepEqual(
        fault(() => store.set(key, value)),
        { tag: "too-large" },
      );
    }
    assert.equal(store.get("k"), undefined);
  });

  test("holds a thousand keys", () => {
    const { store, put, file } = makeStore();
    put(JSON.stringify(Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`k${n}`, "v"]))));
    store.set("one more", "v");
    assert.deepEqual(
      fault(() => store.set("too many", "v")),
      { tag: "full" },
    );
    store.set("k0", "another value");
    assert.equal(Object.keys(JSON.parse(readFileSync(file, "utf8"))).length, 1000);
  });

  test("holds four mebibytes", () => {
    const { store } = makeStore();
    const value = "v".repeat(64 * 1024);
    for (let n = 0; n < 63; n += 1) store.set(`k${n}`, value);
    assert.deepEqual(
      fault(() => store.set("too much", value)),
      { tag: "full" },
    );
    assert.equal(store.get("too much"), undefined);
    assert.equal(store.get("k62"), value);
  });

  test("is refused without a grant", () => {
    const store = storeImports(
      undefined,
      () => root,
      () => {},
    );
    for (const work of [
      () => store.get("a"),
      () => store.set("a", "1"),
      () => store.set("", ""),
      () => store.remove("a"),
    ]) {
      assert.deepEqual(fault(work), { tag: "not-granted" });
    }
  });

  test("returns the message of the operating system", () => {
    const { store, agent } = makeStore();
    writeFileSync(agent, "a file in the directory's place");
    const error = /** @type {any} */ (fault(() => store.set("a", "1")));
    assert.equal(error.tag, "failed");
    assert.match(error.val, /ENOTDIR|EEXIST/);
  });
});

suite("a file that is not a store", () => {
  /** @type {[string, string | Buffer, string][]} */
  const CASES = [
    ["empty", "", "it is not valid JSON"],
    ["half written", '{"a": "1', "it is not valid JSON"],
    ["binary", Buffer.from([0xff, 0, 0xfe]), "it is not valid JSON"],
    ["a list", '["a"]', "it is not a JSON object of strings"],
    ["null", "null", "it is not a JSON object of strings"],
    ["of other values", '{"a": 1}', "it is not a JSON object of strings"],
    ["huge", Buffer.alloc(4 * 1024 * 1024 + 1, " "), "it is too large"],
  ];
  for (const [name, content, why] of CASES) {
    test(`${name}, is renamed and reported once`, () => {
      for (const first of /** @type {const} */ (["get", "set"])) {
        const { store, told, file, put } = makeStore();
        put(content);
        if (first === "get") assert.equal(store.get("a"), undefined);
        store.set("a", "2");
        assert.equal(store.get("a"), "2");
        assert.deepEqual(readFileSync(`${file}.broken`), Buffer.from(content));
        assert.deepEqual(told, [
          `${file} is broken: ${why}. It was renamed to ${file}.broken, and its values are lost.`,
        ]);
      }
    });
  }

  test("a directory or a pipe, is renamed without blocking", () => {
    for (const make of [
      (/** @type {string} */ file) => mkdirSync(file),
      (/** @type {string} */ file) => execFileSync("mkfifo", [file]),
    ]) {
      const { store, told, file, put } = makeStore();
      put("");
      rmSync(file);
      make(file);
      assert.equal(store.get("a"), undefined);
      store.set("a", "1");
      assert.equal(store.get("a"), "1");
      assert.equal(told.length, 1);
      assert.match(told[0], /it is not a file/);
    }
  });
});

suite("of several processes", () => {
  test("none loses values of another one", { timeout: 60_000 }, async () => {
    const { agent, store, file, told } = makeStore();
    const script = join(root, "writer.mjs");
    writeFileSync(
      script,
      `import { storeImports } from ${JSON.stringify(join(REPO, "host-shim/store.js"))};
      const [agent, name] = process.argv.slice(2);
      const store = storeImports({ name: "test" }, () => agent, (words) => console.log(words));
      for (let n = 0; n < 60; n += 1) {
        store.set(\`\${name} \${n}\`, "x".repeat(n * 10));
        if (n % 3 === 0) store.remove(\`\${name} \${n}\`);
        if (store.get("shared") === undefined) throw new Error("it is gone");
      }`,
    );
    store.set("shared", "value");
    const writers = ["a", "b", "c"].map((name) => {
      const child = spawn(process.execPath, [script, agent, name], { stdio: ["ignore", "pipe", "pipe"] });
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text) => (said += text));
      return new Promise((resolve) => child.on("close", (code) => resolve([code, said])));
    });
    assert.deepEqual(await Promise.all(writers), [
      [0, ""],
      [0, ""],
      [0, ""],
    ]);
    const keys = Object.keys(JSON.parse(readFileSync(file, "utf8")));
    assert.equal(keys.length, 1 + 3 * 40);
    assert.deepEqual(told, []);
    assert.deepEqual(readdirSync(join(agent, "extension-data")), ["test.json"]);
  });

  test("a stale lock is removed, a fresh one is awaited for a limited time", () => {
    const { store, file, put } = makeStore();
    put("{}");
    const lock = `${file}.lock`;
    writeFileSync(lock, "");
    const start = performance.now();
    const error = /** @type {any} */ (fault(() => store.set("a", "1")));
    assert.match(error.val, /test\.json\.lock is held by another process\.$/);
    assert.ok(performance.now() - start < 6000);
    assert.equal(store.get("a"), undefined, "reading needs no lock");
    const before = new Date(Date.now() - 60_000);
    utimesSync(lock, before, before);
    store.set("a", "1");
    assert.equal(store.get("a"), "1");
    assert.equal(existsSync(lock), false);
  });

  test("one that ended during a write leaves the old values", () => {
    const { store, file, put } = makeStore();
    put('{"a": "1"}');
    writeFileSync(`${file}.new`, '{"a": "ha');
    assert.equal(store.get("a"), "1");
    store.set("b", "2");
    assert.equal(store.get("a"), "1");
    assert.equal(existsSync(`${file}.new`), false);
  });
});
