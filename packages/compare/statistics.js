// The statistics of comparisons: an interval for a share of solved trials, and a test of paired differences.

/** The solved trials of one task, and all its trials. @typedef {{ solved: number, trials: number }} Cluster */

/** The 97.5 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/** The 97.5 % quantiles of Student's t distribution with 1 to 30 degrees of freedom. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/**
 * The 97.5 % quantile of Student's t distribution; above 30 degrees of freedom by the first terms of its expansion.
 * @param {number} freedom
 */
export const quantileT = (freedom) =>
  T[freedom - 1] ?? Z + (Z ** 3 + Z) / (4 * freedom) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * freedom ** 2);

/**
 * Wilson's score interval of 95 % for a share.
 * @param {number} share
 * @param {number} trials may be a fraction
 * @returns {[low: number, high: number]}
 */
export function wilson(share, trials) {
  const square = Z * Z;
  const middle = (share + square / (2 * trials)) / (1 + square / trials);
  const half = (Z / (1 + square / trials)) * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials * trials));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/**
 * The design effect of Rao and Scott (1992): the variance of the share divided by the variance for independent trials.
 * `undefined` if the effect cannot be estimated: for one task, or if all trials end alike.
 * @param {Cluster[]} tasks
 */
export function designEffect(tasks) {
  const count = tasks.length;
  const trials = sum(tasks, ({ trials }) => trials);
  const solved = sum(tasks, ({ solved }) => solved);
  const share = solved / trials;
  if (count < 2 || solved === 0 || solved === trials) return undefined;
  const variance = (count / (count - 1) / trials ** 2) * sum(tasks, (task) => (task.solved - task.trials * share) ** 2);
  return (variance * trials) / (share * (1 - share));
}

/**
 * An interval of 95 % for the share of solved trials in tasks like these: Wilson's, with the effective number of
 * trials. The effective number is the number of trials divided by the design effect, which counts as at least 1, or the
 * number of tasks where the effect cannot be estimated; it is less for few tasks, by the quantiles of Student's
 * distribution (Korn and Graubard, 1998). `undefined` for fewer than two tasks: one task tells nothing about others.
 * @param {Cluster[]} tasks
 * @returns {[low: number, high: number] | undefined}
 */
export function interval(tasks) {
  const known = tasks.filter(({ trials }) => trials > 0);
  if (known.length < 2) return undefined;
  const trials = sum(known, ({ trials }) => trials);
  const effect = designEffect(known);
  const independent = effect === undefined ? known.length : trials / Math.max(1, effect);
  return wilson(sum(known, ({ solved }) => solved) / trials, independent * (Z / quantileT(known.length - 1)) ** 2);
}

/**
 * The two-sided exact sign test: the probability of a split at least as uneven if both sides are equally good; 1
 * without a difference.
 * @param {number} more
 * @param {number} less
 */
export function signTest(more, less) {
  const all = more + less;
  // The logarithms of the binomial coefficients of 0 to the lesser side, divided by 2^all.
  let term = all * Math.log(0.5);
  let tail = 0;
  for (let index = 0; index <= Math.min(more, less); index += 1) {
    tail += Math.exp(term);
    term += Math.log((all - index) / (index + 1));
  }
  return Math.min(1, 2 * tail);
}

/** The level of significance. */
export const LEVEL = 0.05;

/**
 * The number of differing pairs that would be significant if `others` of them went the other way.
 * @param {number} others
 */
export function pairsNeeded(others) {
  let more = others;
  while (signTest(more, others) >= LEVEL) more += 1;
  return more + others;
}

/**
 * @template T
 * @param {T[]} items
 * @param {(item: T) => number} of
 */
const sum = (items, of) => items.reduce((all, item) => all + of(item), 0);
