// What crosses to a guest as JSON: any value of pi's, within the bounds of the interface.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { json } from "../../host-shim/json.js";

/** @param {number} depth @param {unknown} [inner] @returns {any} */
const list = (depth, inner = 0) => (depth === 0 ? inner : [list(depth - 1, inner)]);

suite("json", () => {
  test("is what JSON.stringify makes of nearly everything", () => {
    const long = Array.from({ length: 500 }, (_, index) => ({ [`k${index}`]: ["[[[", "\\\"", "\\", { a: [] }] }));
    for (const value of [null, 7, "x", { a: [1, null, "\u2028"] }, "\\ud800", "\\\\ud800", "😀\n", long, list(100), { toJSON: () => 1 }]) {
      assert.equal(json(value), JSON.stringify(value));
    }
  });

  test("of what has none is null", () => {
    /** @type {any} */
    const cycle = { a: 1 };
    cycle.cycle = cycle;
    const thrower = { toJSON: () => assert.fail() };
    for (const value of [undefined, () => 1, Symbol("x"), 7n, cycle, thrower, list(1000, cycle)]) assert.equal(json(value), "null");
  });

  test("has no half of a surrogate pair", () => {
    for (const [value, wanted] of [
      ["\ud800", "\ufffd"],
      ["\udc00a", "\ufffda"],
      ["\ud83d\ude00\ud83d", "😀\ufffd"],
      ["\\ud800\ud800", "\\ud800\ufffd"],
      ["\\\ud800", "\\\ufffd"],
      ["\ud7ff\ue000", "\ud7ff\ue000"],
      [{ "\udfff": ["\ud800"] }, { "\ufffd": ["\ufffd"] }],
    ]) {
      assert.deepEqual(JSON.parse(json(value)), wanted);
      assert.ok(json(value).isWellFormed() && !/\\ud[89a-f]/.test(json(value).replaceAll("\\\\", "")));
    }
  });

  test("is at most 100 deep, and keeps what is not", () => {
    assert.equal(json(list(101)), JSON.stringify(list(100, null)));
    for (const depth of [101, 128, 500, 3000]) {
      const { action, summary, deep } = JSON.parse(json({ action: "next", deep: list(depth), summary: "{[" }));
      assert.deepEqual([action, summary, deep], ["next", "{[", list(99, null)]);
    }
    // Brackets in a text are no nesting.
    const text = "[".repeat(500);
    assert.equal(json({ text }), JSON.stringify({ text }));
  });
});
