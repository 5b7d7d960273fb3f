// The README's table of differences is that of differences.mjs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { REPO } from "../pi/harness/pi.mjs";
import { DIFFERENCES } from "./differences.mjs";

const HEADING = /^## Differences to the reference$/m;

test("the README has the differences, row by row", () => {
  const readme = readFileSync(join(REPO, "README.md"), "utf8");
  const section = readme.split(HEADING)[1]?.split(/^## /m)[0] ?? "";
  const [, , ...rows] = section.split("\n").filter((line) => line.startsWith("|"));
  assert.deepEqual(
    rows.map(cells),
    DIFFERENCES.map(({ number, reference, ours, why }) => [String(number), reference, ours, why]),
  );
});

test("the differences are in the order of their numbers", () => {
  const numbers = DIFFERENCES.map(({ number }) => number);
  assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
});

/**
 * The cells of a row; a bar in one is written `\\|`.
 * @param {string} row
 */
function cells(row) {
  const inner = row.trim().replace(/^\||\|$/g, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}
