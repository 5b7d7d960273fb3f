/** Splits an amount of cents among people, as evenly as possible. Returns the share of each in cents. */
export function split(cents, people) {
  return Array.from({ length: people }, () => Math.round(cents / people));
}

/** Splits an amount by weights; the shares are in the order of the weights. */
export function splitByWeight(cents, weights) {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => Math.round((cents * weight) / sum));
}
