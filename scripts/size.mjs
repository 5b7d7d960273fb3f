// Counts lines of code, of comments and of tests for each folder, and the bytes of the built component.
//
//   node scripts/size.mjs [FOLDER]   in another checkout
//
// Every line of a tracked file counts, also empty lines and data. In `src`, tests are the items behind `#[cfg(test)]` and
// the files of the modules that are declared so; a test may lie anywhere else only in `tests`.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "..");
const FOLDERS = ["src", "host-shim", "sandbox", "cli", "tests", "scripts", "fuzz", "docs", "workflows-examples"];
const CODE = new Set([".rs", ".js", ".mjs", ".cjs", ".wit"]);

/** The counts of a folder, in lines. @typedef {{ code: number, comments: number, tests: number, all: number }} Counts */

const tracked = execFileSync("git", ["-C", root, "ls-files"], { encoding: "utf8" }).split("\n");
const files = tracked.filter((file) => file !== "" && existsSync(join(root, file)));
const testFiles = new Set(files.filter((file) => file.startsWith("src/")).flatMap(testModules));

const rows = FOLDERS.map((folder) => {
  /** @type {Counts} */
  const counts = { code: 0, comments: 0, tests: 0, all: 0 };
  for (const file of files.filter((name) => name.startsWith(`${folder}/`))) count(file, counts);
  return { folder, ...counts, "without tests": counts.all - counts.tests };
});
console.table(Object.fromEntries(rows.map(({ folder, ...counts }) => [folder, counts])));
const component = join(root, "target/component/pi_workflows.wasm");
if (existsSync(component)) console.log(`${component}: ${statSync(component).size} bytes`);

/**
 * Adds the lines of a file.
 *
 * @param {string} file
 * @param {Counts} counts
 */
function count(file, counts) {
  const lines = linesOf(file);
  counts.all += lines.length;
  const inTests = file.startsWith("tests/") || isTestFile(file);
  const test = file.endsWith(".rs") && !inTests ? testLines(lines) : lines.map(() => inTests);
  lines.forEach((line, index) => {
    if (test[index] && file.startsWith("src/")) counts.tests += 1;
    else if (!CODE.has(extname(file))) return;
    else if (/^\s*(\/\/|\/\*|\*( |$|\/))/.test(line)) counts.comments += 1;
    else if (line.trim() !== "") counts.code += 1;
  });
}

/** @param {string} file @returns {string[]} */
function linesOf(file) {
  const text = readFileSync(join(root, file), "latin1");
  return text.split("\n").slice(0, text.endsWith("\n") ? -1 : undefined);
}

/** Tells for each line of a Rust file if it belongs to an item behind `#[cfg(test)]`. @param {string[]} lines */
function testLines(lines) {
  const tests = lines.map(() => false);
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent] = /^(\s*)#\[cfg\(test\)\]$/.exec(lines[at]) ?? [];
    if (indent === undefined) continue;
    // The item ends with the first line of its own column that closes it.
    let end = at;
    while (end < lines.length - 1 && !new RegExp(`^${indent}(\\S.*;|\\S.*\\}|\\})$`).test(lines[end])) end += 1;
    tests.fill(true, at, end + 1);
    at = end;
  }
  return tests;
}

/** Returns the files and folders of the modules that a file declares for tests. @param {string} file @returns {string[]} */
function testModules(file) {
  const folder = /\/(mod|lib)\.rs$/.test(file) ? dirname(file) : file.replace(/\.rs$/, "");
  const lines = linesOf(file);
  return lines.flatMap((line, index) => {
    const [, name] = /^(?:pub(?:\(\w+\))? )?mod (\w+);$/.exec(line) ?? [];
    return name && /^#\[cfg\((test|any\(test.*\))\)\]$/.test(lines[index - 1]) ? [`${folder}/${name}`] : [];
  });
}

/** @param {string} file */
function isTestFile(file) {
  return [...testFiles].some((module) => file === `${module}.rs` || file.startsWith(`${module}/`));
}
