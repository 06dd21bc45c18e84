/** Sum of amounts that is the same in whatever order they come: sums of floating point are not. */
export const sumInAnyOrder = (amounts: readonly number[]): number =>
  amounts.toSorted((one, other) => one - other).reduce((sum, amount) => sum + amount, 0);
