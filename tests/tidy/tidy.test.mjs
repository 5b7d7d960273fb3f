// The shape of the source: which file imports which, how large files and functions are, and what comments cite.
// docs/architecture.md says what may import what, and bounds.json how large the source may be: its numbers are changed by
// hand, downwards, or upwards with the reason in the commit.
import assert from "node:assert/strict";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import ts from "typescript";

import { NAMES, circles, code, filesBelow, javaScript, namedBy, read, rust, rustFiles } from "./imports.mjs";

const BOUNDS = JSON.parse(read("tests/tidy/bounds.json"));
const JS_FOLDERS = ["sandbox", "host-shim", "cli", "packages/compare"];
const jsFiles = JS_FOLDERS.flatMap((folder) => filesBelow(folder, /\.(?:[cm]?js|ts)$/)).filter(
  (file) => !/\/(?:component|evals-examples|tests)\//.test(file),
);

test("no files of the source import each other in a circle", () => {
  assert.deepEqual(circles(rust()), []);
  assert.deepEqual(circles(javaScript(JS_FOLDERS)), []);
});

test("the files of src/run import each other in the order of the table at its head", () => {
  const rows = read("src/run/mod.rs").matchAll(/^\/\/! \| [^|]+ \| (`.*) \|$/gm);
  const order = [...rows].flatMap(([, row]) => [...row.matchAll(/`(\w+)`/g)].map(([, name]) => `src/run/${name}.rs`));
  for (const [file, imported] of rust()) {
    if (!file.startsWith("src/run/") || file === "src/run/mod.rs") continue;
    assert.ok(order.includes(file), `${file} is not in the table of src/run/mod.rs`);
    for (const other of imported)
      if (other.startsWith("src/run/"))
        assert.ok(order.slice(0, order.indexOf(file)).includes(other), `${file} imports ${other}, which comes later`);
  }
});

test("each module imports only those that docs/architecture.md names", () => {
  const [, table] = read("docs/architecture.md").split("### What imports what");
  const rows = table.split("\n##")[0].matchAll(/^\| `([^`]+)` \| (.*?) ?\|$/gm);
  const layers = new Map(
    [...rows].map(([, module, imports]) => [module, [...imports.matchAll(/`([^`]+)`/g)].map(([, name]) => name)]),
  );
  const moduleOf = (/** @type {string} */ file) =>
    [...layers.keys()].filter((module) => file.startsWith(module)).sort((a, b) => b.length - a.length)[0];
  for (const [file, imported] of [...rust(), ...javaScript(JS_FOLDERS)]) {
    const own = moduleOf(file);
    if (file === "src/lib.rs") continue;
    assert.ok(own, `${file} is in no module of the table`);
    for (const other of imported) {
      const may = [own, ...(layers.get(own) ?? [])].some((module) => other.startsWith(module));
      assert.ok(may || other === "src/lib.rs", `${file} imports ${other}, which the table does not name`);
    }
  }
});

test("packages are imported by their names only, and the sandbox imports nothing", () => {
  /** The names that the files of a folder may import. @type {Record<string, string[]>} */
  const may = {
    sandbox: [],
    "host-shim": ["#sandbox"],
    cli: ["#loader", "#sandbox"],
    "packages/compare": ["cli", "loader", "sandbox"].map((name) => `@pi-workflows/pi-workflows/${name}`),
  };
  assert.deepEqual(
    Object.values(may)
      .flat()
      .sort()
      .filter((name, at, all) => all[at - 1] !== name),
    Object.keys(NAMES).sort(),
  );
  for (const [folder, names] of Object.entries(may)) {
    const all = namedBy(folder);
    assert.ok(all.length > 20, folder);
    for (const [file, name] of all) {
      const path = name.startsWith(".") ? normalize(join(dirname(file), name)) : "";
      // The build makes the types of the interface.
      const isAllowed = path.startsWith(`${folder}/`) || path.startsWith("target/types/") || names.includes(name);
      assert.ok(isAllowed, `${file} imports ${name}`);
    }
  }
});

test("the sandbox has no word of the program that it serves", () => {
  const found = filesBelow("sandbox", /\.js$/).flatMap((file) =>
    read(file)
      .split("\n")
      .filter((line) =>
        /\b(?:pi|guest|component|manifest|workflow)s?\b/i.test(line.replace(/"pi-[\w-]*"|`pi-confined-/g, "")),
      )
      .map((line) => `${file}: ${line.trim()}`),
  );
  assert.deepEqual(found, []);
});

test("each place that leans on pi's insides for child agents is listed with a test for both versions of pi", () => {
  const folder = "host-shim/children";
  const rows = [...read(`${folder}/children.js`).matchAll(/^\/\/ {3}[a-z]\w*\.(\w+) +(\S+\.js) +([\w-]+): (.+)$/gm)];
  assert.ok(rows.length > 10, String(rows.length));
  for (const [row, name, file, test, title] of rows) {
    const tested = read(`tests/pi/${test}.test.mjs`);
    assert.ok(new RegExp(`\\b${name}\\b`).test(read(normalize(join(folder, file)))), row);
    assert.ok(tested.includes(title) && tested.includes("for (const version of VERSIONS)"), row);
  }
});

/**
 * @param {any} schema
 * @returns {string[]}
 */
const fieldsOf = (schema) =>
  typeof schema !== "object"
    ? []
    : Object.entries(schema ?? {}).flatMap(([key, value]) => [
        ...(key === "properties" ? Object.keys(value) : []),
        ...fieldsOf(value),
      ]);

test("files, functions and the source as a whole stay small", () => {
  const longFiles = [...rustFiles(), ...jsFiles].filter((file) => linesOf(file) > BOUNDS.file);
  assert.deepEqual(longFiles, []);
  const longFunctions = jsFiles.flatMap((file) => functionsOf(file).filter(({ lines }) => lines > BOUNDS.function));
  assert.deepEqual(longFunctions, []);
  const sum = (/** @type {string[]} */ files) => files.reduce((lines, file) => lines + linesOf(file), 0);
  const loader = jsFiles.filter((file) => /^host-shim\/(?!children\/)/.test(file));
  const wholeEngine = rustFiles().flatMap((file) => [...code(file).matchAll(/^impl Engine \{\n([\s\S]*?)^\}/gm)]);
  const found = {
    src: sum(rustFiles()),
    loader: sum(loader),
    "child agents": sum(jsFiles.filter((file) => file.startsWith("host-shim/children/"))),
    sandbox: sum(jsFiles.filter((file) => file.startsWith("sandbox/"))),
    cli: sum(jsFiles.filter((file) => file.startsWith("cli/"))),
    "functions of Engine": wholeEngine.flatMap(([, body]) => body.match(/^ {4}(pub(\([^)]*\))? )?fn /gm) ?? []).length,
    "names of fields": new Set(
      ["workflow", "phase"].flatMap((name) => fieldsOf(JSON.parse(read(`schemas/${name}.json`)))),
    ).size,
  };
  for (const [name, number] of Object.entries(found))
    assert.ok(number <= BOUNDS[name], `${name}: ${number}, at most ${BOUNDS[name]} in tests/tidy/bounds.json`);
});

/** The files that open or write files with Node's own functions, and which files these are. */
const OPENING = {
  "sandbox/untrusted-files.js": "at places that an agent can write",
  "sandbox/file-operations.js": "pi's own file tools, within the paths of a call",
  "sandbox/copies.js": "copies of a project, without links",
  "sandbox/bubblewrap.js": "a filter, in a folder of its own",
  "sandbox/exec.js": "a pipe of its own",
  "sandbox/hidden-paths.js": "the kernel's, below /proc",
  "sandbox/processes.js": "the kernel's, below /proc",
  "sandbox/session-folder.js": "an empty file of its own",
  "sandbox/listed-sockets.js": "the kernel's, below /proc",
  "host-shim/files.js": "a new file in an opened folder",
  "host-shim/folders.js": "a new file in an opened folder",
  "host-shim/manifest.js": "the package's own files",
  "host-shim/session.js": "pi's session, by its descriptor",
  "host-shim/store.js": "the store, in pi's agent folder",
  "cli/action.js": "the summary of the job, a file of the runner",
  "packages/compare/trial.js": "new files of a trial before its agent begins",
  "cli/headless/output.js": "the file that the caller names",
  "cli/headless/run.js": "the file that the caller names",
  "cli/new.js": "new files of the caller",
  "cli/command-line.js": "the package's own files",
  "cli/runs/html/page.js": "the package's own files",
};

test("only the files of a list open files by themselves: others get them from sandbox/untrusted-files.js", () => {
  const opens =
    /(?<![.#\w])(?:open|opendir|readFile|writeFile|appendFile|copyFile|cp|truncate)Sync\(|\bcreate(?:Read|Write)Stream\(|\bopenAsBlob\(|\b(?:promises|fs)\.(?:open|readFile|writeFile)\(|node:fs\/promises|import \* as \w+ from "node:fs"/;
  const found = jsFiles.filter((file) => opens.test(read(file)));
  assert.deepEqual(found.sort(), Object.keys(OPENING).sort());
});

/** The opens of files where an agent can write: none waits, for a pipe or a lease, and none truncates. */
const NOT_WAITING = {
  "sandbox/untrusted-files.js": [
    "O_PATH | (above ? O_NOFOLLOW : 0)",
    "flags", // with O_NONBLOCK, in the line above
    "O_RDONLY | O_NONBLOCK | flags",
    "O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode", // a new file
  ],
  "sandbox/file-operations.js": [
    "flags, 0o666", // with O_PATH, or of a new file
    "(flags & ~(O_CREAT | O_TRUNC)) | O_NONBLOCK",
    "(flags & ~(O_CREAT | O_TRUNC)) | creating | O_NOFOLLOW | O_NONBLOCK",
  ],
  "sandbox/copies.js": ["constants.O_RDONLY | NO_LINKS", '"wx", stat.mode & 0o777'],
};

test("no open at a place that an agent can write waits", () => {
  for (const [file, flags] of Object.entries(NOT_WAITING)) {
    const found = [...read(file).matchAll(/\bopenSync\([^,]+, (.*?)\)*(?:;|$)/gm)].map(([, flags]) => flags);
    const even = (/** @type {string} */ text) => text + ")".repeat(text.split("(").length - text.split(")").length);
    assert.deepEqual(found.map(even), flags, file);
  }
});

test("each section of the specification that a comment cites is there", () => {
  const headings = new Map();
  const sections = (/** @type {string} */ name) => {
    const text = read(join("node_modules/@harms-haus/pi-workflows/docs", `${name.replace(/ /g, "-")}.md`));
    const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title);
    headings.set(name, titles);
    return titles;
  };
  for (const file of rustFiles())
    for (const [, cited] of read(file)
      .replace(/\n\s*\/\/[/!] ?/g, " ")
      .matchAll(/Specification: ([^\n]*?)\.(?:\s|$)/g))
      for (const [, name, quoted] of cited.matchAll(/([a-z]+(?: [a-z]+)?),((?: and| ?"[^"]*"|,)+)/g))
        for (const [, section] of quoted.matchAll(/"([^"]*)"/g)) {
          const titles = headings.get(name) ?? sections(name);
          assert.ok(
            titles.some((/** @type {string} */ title) => title.includes(section)),
            `${file}: ${name}, "${section}"`,
          );
        }
});

/** The lines of a file without its tests. @param {string} file */
const linesOf = (file) =>
  read(file)
    .split(/^#\[cfg\(test\)\]\n(?:pub(?:\(\w+\))? )?mod tests \{/m)[0]
    .split("\n").length - 1;

/** The functions of a file, each with its lines less those of the functions in it. @param {string} file */
function functionsOf(file) {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const line = (/** @type {number} */ at) => source.getLineAndCharacterOfPosition(at).line;
  /** @type {{ file: string, name: string, lines: number }[]} */
  const found = [];
  /** Returns the lines of the functions in a node. @param {ts.Node} node @returns {number} */
  const visit = (node) => {
    let inner = 0;
    ts.forEachChild(node, (child) => void (inner += visit(child)));
    if (!ts.isFunctionLike(node)) return inner;
    const lines = line(node.end) - line(node.getStart());
    found.push({ file, name: node.name?.getText() ?? `line ${line(node.getStart()) + 1}`, lines: lines - inner + 1 });
    return lines;
  };
  visit(source);
  return found;
}
