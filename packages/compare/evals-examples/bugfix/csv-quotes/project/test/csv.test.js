import assert from "node:assert/strict";
import { test } from "node:test";

import { parse, parseLine } from "../csv.js";

test("fields are split at commas, without white space around them", () => {
  assert.deepEqual(parseLine("a, b ,c"), ["a", "b", "c"]);
  assert.deepEqual(parseLine("a,,c"), ["a", "", "c"]);
});

test("records have the names of the headings", () => {
  assert.deepEqual(parse("x,y\n1,2\n3,4\n"), [
    { x: "1", y: "2" },
    { x: "3", y: "4" },
  ]);
});
