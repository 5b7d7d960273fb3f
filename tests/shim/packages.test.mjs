// The grant of packages: the folders of installed pi packages whose `package.json` has a field can be read, and nothing
// else.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import * as codingAgent from "@earendil-works/pi-coding-agent";
import { fileImports } from "../../host-shim/files.js";
import { installedPackages } from "../../host-shim/packages.js";

/** @typedef {import("node:test").TestContext} TestContext */
/** @typedef {{ trusted: boolean, cwd: string }} State */

const GRANT = { name: "package", base: /** @type {const} */ ("packages"), field: ["kit", "things"] };
const THINGS = { kit: { things: ["./things"] } };
const CONFIG = codingAgent.CONFIG_DIR_NAME;

/**
 * Makes a temporary folder with `agent` and `project`, and the imports for it.
 *
 * @param {TestContext} t
 * @param {import("../../host-shim/packages.js").PackageSource} [source]
 */
function grant(t, source = codingAgent) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "pi-packages-")));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const state = { trusted: true, cwd: join(home, "project") };
  const bases = {
    agentDir: () => join(home, "agent"),
    cwd: () => state.cwd,
    configDirName: CONFIG,
    isProjectTrusted: () => state.trusted,
  };
  const packages = installedPackages(source, bases);
  const files = fileImports([GRANT], bases, packages);
  /** Writes a file below the temporary folder. @param {string} path @param {unknown} content */
  const write = (path, content) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  };
  return {
    home,
    state,
    files,
    packages,
    write,
    /**
     * Lists packages in the settings of the user or of the project.
     *
     * @param {"user" | "project"} scope
     * @param {unknown} packages
     */
    settings: (scope, packages) =>
      write(scope === "user" ? "agent/settings.json" : `project/${CONFIG}/settings.json`, { packages }),
    /** Makes a package. @param {string} path @param {unknown} [manifest] */
    package(path, manifest = { name: path.split("/").at(-1), ...THINGS }) {
      write(`${path}/package.json`, manifest);
      write(`${path}/things/a.txt`, `a of ${path}`);
    },
    read: (/** @type {string} */ root, /** @type {string} */ path) =>
      Buffer.from(files.readFile(`package:${join(home, root)}`, path)).toString(),
    /** The packages, with their folders below the temporary one. */
    roots: () =>
      files
        .roots()
        .map(({ name, installed }) => [name.replace(`package:${home}/`, ""), installed?.name, installed?.scope]),
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

suite("installed packages", () => {
  test("packages with the field become roots, those of the user first", (t) => {
    const { roots, read, files, settings, home, ...made } = grant(t);
    made.package("kits/one");
    made.package(`project/${CONFIG}/npm/node_modules/@acme/two`, { name: "@acme/two", ...THINGS });
    made.package("agent/npm/node_modules/three", { name: "three", ...THINGS });
    made.package("kits/without", { name: "without", kit: {} });
    settings("user", ["../kits/one", { source: "npm:three", extensions: [] }, "../kits/without", "npm:@acme/absent"]);
    settings("project", ["npm:@acme/two@1.0.0", "../../kits/missing"]);
    assert.deepEqual(roots(), [
      ["kits/one", "one", "user"],
      ["agent/npm/node_modules/three", "three", "user"],
      [`project/${CONFIG}/npm/node_modules/@acme/two`, "@acme/two", "project"],
    ]);
    assert.equal(files.roots()[0].installed?.value, '["./things"]');
    assert.equal(files.roots()[0].path, `${home}/kits/one`);
    assert.equal(read("kits/one", "things/a.txt"), "a of kits/one");
    assert.deepEqual(files.listDirectory(`package:${home}/kits/one`, ""), [
      { name: "package.json", kind: "file" },
      { name: "things", kind: "directory" },
    ]);
  });

  test("a package of the project is granted only while the project is trusted", (t) => {
    const { roots, read, settings, state, home, ...made } = grant(t);
    made.package("project/tools/kit");
    made.package("kits/users");
    settings("project", ["../tools/kit"]);
    settings("user", ["../kits/users"]);
    state.trusted = false;
    assert.deepEqual(roots(), [["kits/users", "users", "user"]]);
    refused(() => read("project/tools/kit", "package.json"), "no-such-root");
    state.trusted = true;
    refused(() => read("project/tools/kit", "package.json"), "no-such-root");
    assert.deepEqual(roots(), [
      ["kits/users", "users", "user"],
      ["project/tools/kit", "kit", "project"],
    ]);
    assert.equal(read("project/tools/kit", "things/a.txt"), "a of project/tools/kit");
    // Without another call of `roots`.
    state.trusted = false;
    refused(() => read("project/tools/kit", "package.json"), "no-such-root");
    state.trusted = true;
    state.cwd = join(home, "agent");
    refused(() => read("project/tools/kit", "package.json"), "no-such-root");
    assert.equal(read("kits/users", "things/a.txt"), "a of kits/users");
  });

  test("only files of the package can be read", (t) => {
    const { roots, read, settings, write, files, home, ...made } = grant(t);
    made.package("kits/one");
    made.package("kits/two", { name: "two" });
    write("kits/secret.txt", "secret");
    symlinkSync(join(home, "kits/secret.txt"), join(home, "kits/one/things/link.txt"));
    symlinkSync(join(home, "kits/one/package.json"), join(home, "kits/one/things/own.json"));
    symlinkSync(join(home, "kits/one"), join(home, "kits/linked"));
    settings("user", ["../kits/one", "../kits/linked", "../kits/two"]);
    assert.deepEqual(roots(), [["kits/one", "one", "user"]], "one folder by two ways");
    for (const path of ["../secret.txt", "things/../../secret.txt", "things/link.txt", join(home, "kits/secret.txt")]) {
      refused(() => read("kits/one", path), "outside-root");
    }
    assert.match(read("kits/one", "things/own.json"), /"name":"one"/);
    assert.deepEqual(
      files.listDirectory(`package:${home}/kits/one`, "things").filter(({ name }) => name === "link.txt"),
      [{ name: "link.txt", kind: "other" }],
    );
    refused(() => read("kits/two", "package.json"), "no-such-root");
    refused(() => read("kits/linked", "package.json"), "no-such-root");
    refused(() => files.readFile("package", "package.json"), "no-such-root");
  });

  test("a linked folder of a package is its own root", (t) => {
    const { roots, read, settings, home, ...made } = grant(t);
    made.package("kits/one");
    mkdirSync(join(home, "agent/npm/node_modules"), { recursive: true });
    symlinkSync(join(home, "kits/one"), join(home, "agent/npm/node_modules/one"));
    settings("user", ["npm:one"]);
    assert.deepEqual(roots(), [["agent/npm/node_modules/one", "one", "user"]]);
    assert.equal(read("agent/npm/node_modules/one", "things/a.txt"), "a of kits/one");
  });

  test("without a valid name the folder's name is used", (t) => {
    const { roots, settings, ...made } = grant(t);
    const names = [
      "",
      "../up",
      "a b",
      "/x",
      "@scope",
      "@a/b/c",
      ".hidden",
      7,
      null,
      "x".repeat(215),
      "@acme/kit",
      "Kit_1.2~x",
    ];
    for (const [index, name] of names.entries()) made.package(`kits/k ${index}`, { name, ...THINGS });
    made.package("kits/a:1/é\n@", THINGS);
    settings("user", [...names.map((_, index) => `../kits/k ${index}`), "../kits/a:1/é\n@"]);
    assert.deepEqual(
      roots().map(([, name]) => name),
      [...names.slice(0, 10).map((_, index) => `k-${index}`), "@acme/kit", "Kit_1.2~x", "---"],
    );
  });

  test("two packages of one name are two roots", (t) => {
    const { roots, settings, ...made } = grant(t);
    made.package("kits/one", { name: "kit", ...THINGS });
    made.package("kits/two", { name: "kit", ...THINGS });
    settings("user", ["../kits/one"]);
    settings("project", ["../../kits/two", "../../kits/one"]);
    assert.deepEqual(roots(), [
      ["kits/one", "kit", "user"],
      ["kits/two", "kit", "project"],
    ]);
  });

  test("bad settings, bad manifests and a host without packages are no packages", (t) => {
    const { roots, files, settings, write, ...made } = grant(t);
    assert.deepEqual(roots(), []);
    made.package("kits/one");
    for (const packages of [
      null,
      "x",
      7,
      {},
      [null, 7, {}, [], { source: 7 }, "", "git:", "npm:", "\0", "https://", "-", "git:x@"],
      ["../kits"],
    ]) {
      settings("user", packages);
      assert.deepEqual(roots(), [], JSON.stringify(packages));
    }
    for (const text of ["", "{", "[]", "null", "7", "\ufeff{}", '{"packages":', "\0"]) {
      write("agent/settings.json", text);
      assert.deepEqual(roots(), [], text);
    }
    settings("user", [7, "../kits/one"]);
    assert.deepEqual(roots().length, 1);
    for (const text of [
      "",
      "{",
      "[]",
      "null",
      "7",
      '{"kit":7}',
      '{"kit":null}',
      '{"kit":["things"]}',
      `{"kit":${"[".repeat(100_000)}`,
    ]) {
      write("kits/one/package.json", text);
      assert.deepEqual(roots(), [], text.slice(0, 40));
    }
    write("kits/one/package.json", " ".repeat(1024 * 1024 + 1));
    assert.deepEqual(roots(), []);
    for (const value of [null, 7, "x", {}, [["a"]]]) {
      write("kits/one/package.json", { kit: { things: value } });
      assert.equal(files.roots()[0].installed?.value, JSON.stringify(value));
    }
    for (const source of [
      {},
      { ...codingAgent, DefaultPackageManager: undefined },
      {
        ...codingAgent,
        DefaultPackageManager: /** @type {any} */ (
          class {
            constructor() {
              throw new Error("no");
            }
          }
        ),
      },
    ]) {
      const other = grant(t, source);
      other.package("kits/one");
      other.settings("user", ["../kits/one"]);
      assert.deepEqual(other.roots(), []);
    }
  });

  test("an inherited field is none", (t) => {
    const { roots, settings, ...made } = grant(t);
    made.package("kits/one", { name: "one", kit: JSON.parse('{"__proto__":{"things":[]}}') });
    settings("user", ["../kits/one"]);
    assert.deepEqual(roots(), []);
  });

  test("a snapshot notices packages that come, change and go", (t) => {
    const { files, settings, write, home, ...made } = grant(t);
    made.package("kits/one");
    made.package("kits/two");
    settings("user", ["../kits/one"]);
    const record = () => {
      files.startSnapshot();
      const names = files.roots().map(({ name }) => name);
      for (const name of names) files.listDirectory(name, "things");
      files.finishSnapshot();
      return names.length;
    };
    assert.equal(record(), 1);
    assert.equal(files.unchanged(), true);
    settings("user", ["../kits/one", "../kits/two"]);
    assert.equal(files.unchanged(), false, "another package");
    assert.equal(record(), 2);
    assert.equal(files.unchanged(), true);
    write("kits/two/things/b.txt", "b");
    assert.equal(files.unchanged(), false, "a new file");
    assert.equal(record(), 2);
    made.package("kits/two", { name: "other", ...THINGS });
    assert.equal(files.unchanged(), false, "another name");
    assert.equal(record(), 2);
    rmSync(join(home, "kits/two"), { recursive: true });
    assert.equal(files.unchanged(), false, "a package is gone");
  });

  test("pi's settings are not locked or changed, and pi is asked once for each of their contents", (t) => {
    let asked = 0;
    class Counting extends codingAgent.DefaultPackageManager {
      /** @param {string} source @param {"user" | "project"} scope */
      getInstalledPath(source, scope) {
        asked += 1;
        return super.getInstalledPath(source, scope);
      }
    }
    const { roots, settings, write, ...made } = grant(t, { ...codingAgent, DefaultPackageManager: Counting });
    made.package("kits/one");
    settings("user", ["../kits/one"]);
    // A lock of another process.
    write("agent/settings.json.lock/x", "");
    for (let count = 0; count < 3; count += 1) assert.equal(roots().length, 1);
    assert.equal(asked, 1);
    settings("user", ["../kits/one", "../kits/two"]);
    assert.equal(roots().length, 1);
    assert.equal(asked, 3);
  });
});
