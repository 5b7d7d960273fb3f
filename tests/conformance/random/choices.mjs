// A pseudorandom generator: the same seed gives the same choices.

/**
 * @template T
 * @typedef {readonly (readonly [weight: number, value: T])[]} Weighted
 */

export class Choices {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    // Scrambles the seed, so that consecutive seeds give unrelated sequences.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  }

  /** Returns the next number in [0, 1) (mulberry32). */
  #next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /**
   * Returns an integer from `least` to `most`, both included.
   * @param {number} least
   * @param {number} most
   */
  between(least, most) {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  /** @param {number} probability */
  chance(probability) {
    return this.#next() < probability;
  }

  /**
   * @template T
   * @param {readonly T[]} values at least one
   * @returns {T}
   */
  pick(values) {
    return values[this.between(0, values.length - 1)];
  }

  /**
   * @template T
   * @param {Weighted<T>} values at least one
   * @returns {T}
   */
  weighted(values) {
    let rest = this.#next() * values.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of values) {
      rest -= weight;
      if (rest < 0) return value;
    }
    return values[values.length - 1][1];
  }

  /**
   * Selects each value with this probability and keeps the order.
   * @template T
   * @param {readonly T[]} values
   * @param {number} probability
   */
  some(values, probability) {
    return values.filter(() => this.chance(probability));
  }

  /**
   * @template T
   * @param {number} length
   * @param {(index: number) => T} make
   */
  list(length, make) {
    return Array.from({ length }, (_, index) => make(index));
  }
}

/** Returns the seed from `SEED`: a number, or `random` for a new seed each time; 1 by default. */
export function seedOfRun() {
  const { SEED = "1" } = process.env;
  return SEED === "random" ? Date.now() % 2 ** 31 : Number(SEED);
}

/**
 * Returns the number of cases: the value of the environment variable, or the default.
 * @param {string} variable
 * @param {number} usual
 */
export function countOfRun(variable, usual) {
  return Number(process.env[variable] ?? usual);
}
