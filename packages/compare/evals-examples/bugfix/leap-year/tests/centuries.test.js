import assert from "node:assert/strict";
import { test } from "node:test";

import { dayOfYear, daysInMonth, daysInYear } from "../calendar.js";

test("years of centuries are leap years only by 400", () => {
  for (const [year, days] of [
    [1900, 28],
    [2000, 29],
    [2100, 28],
    [2400, 29],
    [1600, 29],
    [1800, 28],
  ]) {
    assert.equal(daysInMonth(year, 2), days, String(year));
    assert.equal(daysInYear(year), 337 + days, String(year));
    assert.equal(dayOfYear(year, 12, 31), 337 + days, String(year));
  }
});
