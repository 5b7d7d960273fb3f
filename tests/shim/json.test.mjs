// Any value of pi is converted to JSON within the bounds of the interface.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { json } from "../../host-shim/json.js";

/** @param {number} depth @param {unknown} [inner] @returns {any} */
const list = (depth, inner = 0) => (depth === 0 ? inner : [list(depth - 1, inner)]);

suite("json", () => {
  test("equals JSON.stringify for ordinary values", () => {
    const long = Array.from({ length: 500 }, (_, index) => ({ [`k${index}`]: ["[[[", '\\"', "\\", { a: [] }] }));
    for (const value of [
      null,
      7,
      "x",
      { a: [1, null, "\u2028"] },
      "\\ud800",
      "\\\\ud800",
      "😀\n",
      long,
      list(100),
      { toJSON: () => 1 },
    ]) {
      assert.equal(json(value), JSON.stringify(value));
    }
  });

  test("is null for values without JSON", () => {
    /** @type {any} */
    const cycle = { a: 1 };
    cycle.cycle = cycle;
    const thrower = { toJSON: () => assert.fail() };
    for (const value of [undefined, () => 1, Symbol("x"), 7n, cycle, thrower, list(98, cycle)])
      assert.equal(json(value), "null");
  });

  test("contains no unpaired surrogate", () => {
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

  test("is at most 100 deep, and complete up to there", () => {
    assert.equal(json(list(101)), JSON.stringify(list(100, null)));
    for (const depth of [101, 128, 500, 3000]) {
      assert.deepEqual(JSON.parse(json([{ a: {}, b: list(depth) }, {}, list(3)])), [
        { a: {}, b: list(98, null) },
        {},
        list(3),
      ]);
      const { action, summary, deep } = JSON.parse(json({ action: "next", deep: list(depth), summary: "{[" }));
      assert.deepEqual([action, summary, deep], ["next", "{[", list(99, null)]);
    }
    // Deeper than JSON.stringify supports, and a value that occurs in several places.
    const deep = JSON.parse("[".repeat(200_000) + "]".repeat(200_000));
    assert.equal(json(deep), JSON.stringify(list(100, null)));
    const both = { a: [{}] };
    assert.equal(json([both, [both], both]), JSON.stringify([both, [both], both]));
    // Brackets in a string are not nesting.
    const text = "[".repeat(500);
    assert.equal(json({ text }), JSON.stringify({ text }));
  });

  test("of a very long string is complete", () => {
    /** @param {number} calls @param {unknown} value @returns {string} */
    const deeper = (calls, value) => (calls === 0 ? json(value) : deeper(calls - 1, value));
    for (const text of ["x".repeat(9_000_000), '\n"'.repeat(3_000_000)])
      assert.equal(deeper(1000, [text]), JSON.stringify([text]));
  });

  test("that would be too long is replaced by spaces", () => {
    for (const value of ["\n".repeat(10), Array(11).fill(0), { abcdefghijkl: 1, b: undefined }, list(30)]) {
      const { length } = JSON.stringify(value);
      assert.equal(json(value, length), JSON.stringify(value));
      assert.equal(json(value, length - 1), " ".repeat(length - 1));
    }
    assert.equal(json({ a: undefined, abcdefghijklmnopqrstuvwxyz: undefined }, 2), "{}");
    assert.equal(json([undefined, () => 1], 11), "[null,null]");
  });
});
