/** A quantile of a histogram. */
export interface Quantile {
  readonly value: number;
  /** Whether the quantile is above all bounds but the last; `value` is the largest of these bounds then. */
  readonly isAtLeast: boolean;
}

/**
 * The value that a part `quantile` (0..1) of what was observed does not exceed, computed like Prometheus' `histogram_quantile`:
 * values are evenly spread within each bucket, and the first bucket begins at 0. `counts` maps each upper bound to its
 * cumulative count; the last bound is infinite. `null` if nothing was observed, or if the counts are not a histogram.
 */
export function histogramQuantile(quantile: number, counts: ReadonlyMap<number, number>): Quantile | null {
  const buckets = [...counts].sort(([one], [other]) => one - other);
  if (buckets.length < 2 || buckets.at(-1)?.[0] !== Number.POSITIVE_INFINITY) return null;
  // Counts that fall from one bound to the next come from reads at different moments; the larger one counts.
  let most = 0;
  const cumulative = buckets.map(([, count]) => {
    most = Math.max(most, count);
    return most;
  });
  if (!(most > 0)) return null;
  const rank = quantile * most;
  const last = buckets.length - 1;
  const found = cumulative.findIndex((count, i) => i === last || count >= rank);
  const bound = (i: number): number => buckets[i]?.[0] ?? 0;
  if (found === last) return { value: bound(last - 1), isAtLeast: true };
  const [begin, below] = found === 0 ? [0, 0] : [bound(found - 1), cumulative[found - 1] ?? 0];
  if (found === 0 && bound(0) <= 0) return { value: bound(0), isAtLeast: false };
  const inBucket = (cumulative[found] ?? 0) - below;
  const part = inBucket > 0 ? (rank - below) / inBucket : 0;
  return { value: begin + (bound(found) - begin) * part, isAtLeast: false };
}
