// Times, what they say together, and tables of them.

/**
 * Times of one thing, in milliseconds, or figures of another unit.
 * @typedef {object} Sample
 * @property {string} name
 * @property {number[]} values
 */

/** @param {() => unknown} work */
export function time(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/**
 * Takes turns, so that what else the machine does falls on all alike.
 *
 * @param {number} rounds
 * @param {Record<string, () => number | Promise<number>>} sides each gives one figure
 * @returns {Promise<Record<string, number[]>>}
 */
export async function inTurns(rounds, sides) {
  /** @type {Record<string, number[]>} */
  const values = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, side] of Object.entries(sides)) values[name].push(await side());
  }
  return values;
}

/**
 * @param {number[]} values
 * @param {number} part from 0 to 1
 */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

/** @param {number[]} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * The median, and between which values half of them lie.
 *
 * @param {number[]} values
 * @param {number} [digits]
 */
export function spread(values, digits = 1) {
  const [low, high] = [0.25, 0.75].map((part) => quantile(values, part).toFixed(digits));
  return `${median(values).toFixed(digits)} (${low}–${high})`;
}

/**
 * A Markdown table.
 *
 * @param {string[]} head
 * @param {string[][]} rows
 */
export function table(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column ? "---:" : "---"))), ...rows.map(line)].join("\n");
}

/**
 * Prints what was promised, and whether it is kept.
 *
 * @param {[words: string, figure: number, limit: number][]} promises the figure must not exceed the limit
 */
export function verdict(promises) {
  let kept = true;
  for (const [words, figure, limit] of promises) {
    const holds = figure <= limit;
    kept &&= holds;
    console.log(`${holds ? "kept" : "NOT KEPT"}: ${words} (${figure.toFixed(2)}, at most ${limit.toFixed(2)})`);
  }
  return kept;
}
