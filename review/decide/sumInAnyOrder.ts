/** Adds up amounts so that the sum does not depend on their order, as sums of floating point otherwise do. */
export const sumInAnyOrder = (amounts: readonly number[]): number =>
  amounts.toSorted((one, other) => one - other).reduce((sum, amount) => sum + amount, 0);
