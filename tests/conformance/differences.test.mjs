// The table in docs/differences.md is generated from differences.mjs.
//
//   UPDATE_DIFFERENCES=1 node --test tests/conformance/differences.test.mjs

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { REPO } from "../pi/harness/pi.mjs";
import { DIFFERENCES } from "./differences.mjs";

const PAGE = join(REPO, "docs/differences.md");

test("docs/differences.md has every difference", () => {
  const page = readFileSync(PAGE, "utf8");
  const marks = /(<!-- differences -->\n)[^]*?(<!-- end -->)/;
  assert.match(page, marks);
  const expected = page.replace(marks, (_, begin, end) => `${begin}\n${table()}\n${end}`);
  if (process.env.UPDATE_DIFFERENCES) return writeFileSync(PAGE, expected);
  assert.equal(page, expected, "run UPDATE_DIFFERENCES=1 node --test tests/conformance/differences.test.mjs");
});

test("the differences are in the order of their numbers", () => {
  const numbers = DIFFERENCES.map(({ number }) => number);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
});

/** The differences as a Markdown table. */
function table() {
  const rows = [
    ["", "the reference", "this package", "why"],
    ["---", "---", "---", "---"],
    ...DIFFERENCES.map(({ number, reference, ours, why }) => [String(number), reference, ours, why]),
  ];
  return rows
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`.replace("|  |", "| |"))
    .join("");
}
