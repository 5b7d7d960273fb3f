/** Splits an amount of cents among people, as evenly as possible. Returns the share of each in cents. */
export function split(cents, people) {
  return splitByWeight(cents, Array.from({ length: people }, () => 1));
}

/** Splits an amount by weights; the shares are in the order of the weights. */
export function splitByWeight(cents, weights) {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  let [before, given] = [0, 0];
  return weights.map((weight) => {
    before += weight;
    const share = Math.round((cents * before) / sum) - given;
    given += share;
    return share;
  });
}
