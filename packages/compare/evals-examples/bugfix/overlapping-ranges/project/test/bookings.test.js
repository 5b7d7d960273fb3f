import assert from "node:assert/strict";
import { test } from "node:test";

import { book, collide } from "../bookings.js";

const at = (start, end, room = 1) => ({ room, start, end });

test("bookings that share an hour collide", () => {
  assert.equal(collide(at(9, 11), at(10, 12)), true);
  assert.equal(collide(at(9, 10), at(10, 12)), false);
  assert.equal(collide(at(9, 11, 2), at(10, 12)), false);
});

test("a free time is booked", () => {
  assert.equal(book([at(9, 10)], at(10, 11)).length, 2);
});
