import assert from "node:assert/strict";
import { test } from "node:test";

import { Shop } from "../shop.js";

function storeOf(stock) {
  return {
    get: async (article) => stock[article] ?? 0,
    set: async (article, pieces) => void (stock[article] = pieces),
  };
}

test("an order reduces the stock", async () => {
  const stock = { pen: 3 };
  assert.equal(await new Shop(storeOf(stock)).order("pen", 2), true);
  assert.equal(stock.pen, 1);
});

test("an order above the stock is refused", async () => {
  const stock = { pen: 1 };
  assert.equal(await new Shop(storeOf(stock)).order("pen", 2), false);
  assert.equal(stock.pen, 1);
});
