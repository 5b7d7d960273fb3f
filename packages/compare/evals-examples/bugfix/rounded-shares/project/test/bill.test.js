import assert from "node:assert/strict";
import { test } from "node:test";

import { split, splitByWeight } from "../bill.js";

test("an amount that can be divided", () => {
  assert.deepEqual(split(900, 3), [300, 300, 300]);
  assert.deepEqual(splitByWeight(400, [1, 3]), [100, 300]);
});
