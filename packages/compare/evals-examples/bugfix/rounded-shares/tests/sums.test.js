import assert from "node:assert/strict";
import { test } from "node:test";

import { split, splitByWeight } from "../bill.js";

const sum = (shares) => shares.reduce((all, share) => all + share, 0);

test("the shares add up to the bill and differ by at most a cent", () => {
  for (let cents = 0; cents <= 200; cents += 1) {
    for (let people = 1; people <= 7; people += 1) {
      const shares = split(cents, people);
      assert.equal(shares.length, people);
      assert.equal(sum(shares), cents, `${cents} among ${people}`);
      assert.ok(Math.max(...shares) - Math.min(...shares) <= 1, `${cents} among ${people}`);
    }
  }
});

test("shares by weight add up, each less than a cent from its exact value", () => {
  for (const weights of [[1, 1, 1], [1, 2, 4], [5, 3, 3, 3], [1], [0, 1, 1]]) {
    const all = sum(weights);
    for (let cents = 0; cents <= 200; cents += 7) {
      const shares = splitByWeight(cents, weights);
      assert.equal(sum(shares), cents, `${cents} by ${weights}`);
      shares.forEach((share, index) =>
        assert.ok(Math.abs(share - (cents * weights[index]) / all) < 1, `${cents} by ${weights}`),
      );
    }
  }
});
