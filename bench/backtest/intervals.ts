/** A mean of values that were drawn, with its 95 % confidence interval: mean minus and plus `half`. */
export interface Estimate {
  readonly mean: number;
  readonly half: number;
}

const z = 1.959964;

/**
 * The mean of independent values and half of its 95 % confidence interval by Student's distribution, whose quantile is taken from
 * its expansion in 1/degrees of freedom (Abramowitz and Stegun, 26.7.5). One value has no interval: `half` is 0. Pure.
 */
export function estimate(values: readonly number[]): Estimate {
  const n = values.length;
  if (n === 0) return { mean: 0, half: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { mean: rounded(mean), half: 0 };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const free = n - 1;
  const t = z + (z ** 3 + z) / (4 * free) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * free ** 2);
  return { mean: rounded(mean), half: rounded(t * Math.sqrt(variance / n)) };
}

/** A number as digests have it: six digits after the point, so that they do not depend on the order of a sum. */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
