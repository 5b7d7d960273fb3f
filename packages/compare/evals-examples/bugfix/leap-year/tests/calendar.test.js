import assert from "node:assert/strict";
import { test } from "node:test";

import { dayOfYear, daysInMonth, daysInYear } from "../calendar.js";

test("months of common and leap years", () => {
  assert.equal(daysInMonth(2023, 2), 28);
  assert.equal(daysInMonth(2024, 2), 29);
  assert.equal(daysInMonth(2024, 12), 31);
});

test("the day of the year", () => {
  assert.equal(dayOfYear(2023, 3, 1), 60);
  assert.equal(dayOfYear(2024, 3, 1), 61);
  assert.equal(daysInYear(2024), 366);
});
