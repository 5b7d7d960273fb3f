// The shape of the source: which file imports which, how large files and functions are, and what comments cite.
// docs/architecture.md says what may import what, and bounds.json how large the source may be: its numbers are changed by
// hand, downwards, or upwards with the reason in the commit.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import ts from "typescript";

import { circles, code, filesBelow, javaScript, read, rust, rustFiles } from "./imports.mjs";

const BOUNDS = JSON.parse(read("tests/tidy/bounds.json"));
const JS_FOLDERS = ["host-shim", "cli"];
const jsFiles = JS_FOLDERS.flatMap((folder) => filesBelow(folder, /\.[cm]?js$/)).filter(
  (file) => !/\/component\//.test(file),
);

test("no files of the source import each other in a circle", () => {
  assert.deepEqual(circles(rust()), []);
  assert.deepEqual(circles(javaScript(JS_FOLDERS)), []);
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

test("files, functions and the source as a whole stay small", () => {
  const longFiles = [...rustFiles(), ...jsFiles].filter((file) => linesOf(file) > BOUNDS.file);
  assert.deepEqual(longFiles, []);
  const longFunctions = jsFiles.flatMap((file) => functionsOf(file).filter(({ lines }) => lines > BOUNDS.function));
  assert.deepEqual(longFunctions, []);
  const sum = (/** @type {string[]} */ files) => files.reduce((lines, file) => lines + linesOf(file), 0);
  const loader = jsFiles.filter((file) => /^host-shim\/(?!sandbox\/)/.test(file));
  const wholeEngine = rustFiles().flatMap((file) => [...code(file).matchAll(/^impl Engine \{\n([\s\S]*?)^\}/gm)]);
  const found = {
    src: sum(rustFiles()),
    loader: sum(loader),
    sandbox: sum(jsFiles.filter((file) => file.startsWith("host-shim/sandbox/"))),
    cli: sum(jsFiles.filter((file) => file.startsWith("cli/"))),
    "functions of Engine": wholeEngine.flatMap(([, body]) => body.match(/^ {4}(pub(\([^)]*\))? )?fn /gm) ?? []).length,
  };
  for (const [name, number] of Object.entries(found))
    assert.ok(number <= BOUNDS[name], `${name}: ${number}, at most ${BOUNDS[name]} in tests/tidy/bounds.json`);
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
