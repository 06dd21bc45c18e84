const secondsPerHour = 3600;

/** GPU-seconds as GPU-hours, or node-seconds as node-hours. */
export const hoursOf = (seconds: number): number => seconds / secondsPerHour;

/** The value that a part `quantile` (0..1) of the weight does not exceed (nearest rank); `null` without any. */
export function weightedQuantile(
  values: readonly { readonly value: number; readonly weight: number }[],
  quantile: number,
): number | null {
  const sorted = values.filter(({ weight }) => weight > 0).sort((one, other) => one.value - other.value);
  const all = sorted.reduce((sum, { weight }) => sum + weight, 0);
  let below = 0;
  for (const { value, weight } of sorted) {
    below += weight;
    // Sums of weights are not exact: the last value is reached in any case.
    if (below >= quantile * all * (1 - 1e-12)) return value;
  }
  return sorted.at(-1)?.value ?? null;
}
