// The statistics of comparisons, against published values and by simulation.
import assert from "node:assert/strict";
import { test } from "node:test";

import { designEffect, interval, pairsNeeded, quantileT, signTest, wilson } from "../statistics.js";
import { spread } from "../../../cli/runs/stats.js";

const near = (/** @type {number | undefined} */ found, /** @type {number} */ wanted, within = 5e-5) =>
  assert.ok(Math.abs((found ?? NaN) - wanted) <= within, `${found} is not ${wanted}`);

test("Wilson's interval is that of Newcombe (1998), table I", () => {
  for (const [solved, trials, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ]) {
    const [from, to] = wilson(solved / trials, trials);
    near(from, low);
    near(to, high);
  }
});

/** Pups that survived, of those alive at 4 days, by litter: Weil (1970). */
const LITTERS = {
  control: "13/13 12/12 9/9 9/9 8/8 8/8 12/13 11/12 9/10 9/10 8/9 11/13 4/5 5/7 7/10 7/10",
  treated: "12/12 11/11 10/10 9/9 10/11 9/10 9/10 8/9 8/9 4/5 7/9 4/7 5/10 3/6 3/10 0/7",
};
const clusters = (/** @type {string} */ text) =>
  text.split(" ").map((part) => ({ solved: Number(part.split("/")[0]), trials: Number(part.split("/")[1]) }));

test("the design effect is that of Rao and Scott (1992) for the litters of Weil", () => {
  near(designEffect(clusters(LITTERS.control)), 1.232495, 1e-6);
  near(designEffect(clusters(LITTERS.treated)), 3.952861, 1e-6);
  assert.equal(designEffect(clusters("3/3 3/3")), undefined);
  assert.equal(designEffect(clusters("1/3")), undefined);
});

test("Student's quantiles are those of the tables", () => {
  for (const [freedom, quantile] of [
    [1, 12.706],
    [4, 2.776],
    [30, 2.042],
    [40, 2.021],
    [60, 2],
    [120, 1.98],
  ])
    near(quantileT(freedom), quantile, 6e-4);
});

test("the sign test has the binomial's tails", () => {
  for (const [more, less, p] of [
    [3, 0, 0.25],
    [5, 0, 0.0625],
    [6, 0, 0.03125],
    [8, 1, 0.0390625],
    [7, 1, 0.0703125],
    [15, 4, 0.019211],
    [0, 0, 1],
    [4, 4, 1],
    [0, 6, 0.03125],
  ])
    near(signTest(more, less), p, 1e-6);
  // More than any double can hold as a count of ways.
  assert.ok(signTest(900, 900) === 1 && signTest(600, 400) < 1e-9);
  assert.deepEqual([0, 1, 2].map(pairsNeeded), [6, 9, 12]);
});

test("one task tells nothing about others, and tasks that all end alike do not tell for sure", () => {
  assert.equal(interval([{ solved: 3, trials: 4 }]), undefined);
  assert.equal(interval([]), undefined);
  const [low, high] = interval(clusters("4/4 4/4 4/4 4/4 4/4")) ?? [NaN, NaN];
  assert.ok(low > 0.3 && low < 0.5 && high === 1, String(low));
  const [none] = interval(clusters("0/4 0/4")) ?? [];
  near(none, 0, 1e-12);
});

test("the interval has the true share in about 95 % of simulated comparisons, however alike the trials of a task are", () => {
  let seed = 12345;
  const random = () => ((seed = (seed * 1664525 + 1013904223) % 4294967296), seed / 4294967296);
  for (const share of [0.2, 0.5, 0.8]) {
    for (const alike of [0, 0.5, 1]) {
      for (const [tasks, repeat] of [
        [5, 4],
        [12, 3],
        [40, 2],
      ]) {
        let inside = 0;
        const times = 1000;
        for (let time = 0; time < times; time += 1) {
          const results = Array.from({ length: tasks }, () => {
            const same = random() < share;
            const solved = Array.from({ length: repeat }, () => (random() < alike ? same : random() < share)).filter(
              Boolean,
            ).length;
            return { solved, trials: repeat };
          });
          const [low, high] = interval(results) ?? [1, 0];
          if (low <= share && share <= high) inside += 1;
        }
        assert.ok(
          inside / times > 0.925,
          `${inside / times} of share ${share}, alike ${alike}, ${tasks} tasks, ${repeat} trials`,
        );
      }
    }
  }
});

test("the spread of figures", () => {
  assert.deepEqual(spread([3, 1, 2, 10]), { least: 1, median: 2.5, greatest: 10, count: 4 });
  assert.equal(spread([]), undefined);
});
