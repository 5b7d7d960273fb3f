import assert from "node:assert/strict";
import { test } from "node:test";

import { parse, parseLine } from "../csv.js";

test("a comma in quotes belongs to its field", () => {
  assert.deepEqual(parseLine('a,"b,c",d'), ["a", "b,c", "d"]);
  assert.deepEqual(parseLine('"a,b"'), ["a,b"]);
  assert.deepEqual(parseLine('"",x'), ["", "x"]);
});

test("two quotes within quotes are one", () => {
  assert.deepEqual(parseLine('"say ""yes""",b'), ['say "yes"', "b"]);
});

test("white space within quotes stays", () => {
  assert.deepEqual(parseLine('" a ",b'), [" a ", "b"]);
});

test("headings in quotes", () => {
  assert.deepEqual(parse('"x,y",z\n1,2\n'), [{ "x,y": "1", z: "2" }]);
});
