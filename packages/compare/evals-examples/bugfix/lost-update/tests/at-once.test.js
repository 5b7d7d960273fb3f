import assert from "node:assert/strict";
import { test } from "node:test";

import { setTimeout as sleep } from "node:timers/promises";
import { Shop } from "../shop.js";

function slow(stock, fails = () => false) {
  let atWork = 0;
  let most = 0;
  const wait = async () => {
    atWork += 1;
    most = Math.max(most, atWork);
    await sleep(5);
    atWork -= 1;
  };
  return {
    most: () => most,
    get: async (article) => (await wait(), stock[article] ?? 0),
    set: async (article, pieces) => {
      await wait();
      if (fails()) throw new Error("The store is away.");
      stock[article] = pieces;
    },
  };
}

test("orders at once reduce the stock once each", async () => {
  const stock = { pen: 5 };
  const shop = new Shop(slow(stock));
  assert.deepEqual(await Promise.all([1, 2, 3].map((pieces) => shop.order("pen", pieces))), [true, true, false]);
  assert.equal(stock.pen, 2);
});

test("after an order that failed the next one goes on", async () => {
  const stock = { pen: 5 };
  let times = 0;
  const shop = new Shop(slow(stock, () => (times += 1) === 1));
  const [first, second] = await Promise.allSettled([shop.order("pen", 1), shop.order("pen", 2)]);
  assert.equal(first.status, "rejected");
  assert.deepEqual(second, { status: "fulfilled", value: true });
  assert.equal(stock.pen, 3);
});

test("different articles do not wait for each other", async () => {
  const store = slow({ pen: 5, ink: 5 });
  const shop = new Shop(store);
  await Promise.all([shop.order("pen", 1), shop.order("ink", 1)]);
  assert.equal(store.most(), 2);
});
