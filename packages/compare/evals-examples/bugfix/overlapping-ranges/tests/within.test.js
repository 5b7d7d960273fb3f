import assert from "node:assert/strict";
import { test } from "node:test";

import { book, collide } from "../bookings.js";

const at = (start, end, room = 1) => ({ room, start, end });

test("one within the other, in both orders", () => {
  assert.equal(collide(at(8, 12), at(9, 10)), true);
  assert.equal(collide(at(9, 10), at(8, 12)), true);
  assert.equal(collide(at(8, 12), at(8, 12)), true);
  assert.throws(() => book([at(9, 10)], at(8, 12)));
});

test("neighbours and other rooms stay free", () => {
  assert.equal(collide(at(10, 12), at(8, 10)), false);
  assert.equal(collide(at(8, 12, 2), at(9, 10)), false);
  assert.equal(collide(at(1, 2), at(3, 4)), false);
});
