/**
 * The number of buckets for each octave of ended waits. Bucket 0 is below a second; bucket n ends at 2^(n / 4) s, and begins
 * where bucket n - 1 ends.
 */
const bucketsPerOctave = 4;

/** The last bucket, which contains all longer waits: 2^40 s. */
const lastBucket = 40 * bucketsPerOctave;

/** The bucket of a wait, in seconds. */
export function waitBucket(seconds: number): number {
  if (!(seconds >= 1)) return 0;
  return Math.min(lastBucket, 1 + Math.floor(Math.log2(seconds) * bucketsPerOctave));
}

/** Waits of one bucket. */
export interface BucketedWaits {
  readonly bucket: number;
  readonly waits: number;
  readonly seconds: number;
}

/**
 * The wait that a part `quantile` (0..1) of all waits does not exceed (nearest rank), in seconds. It is the mean of its bucket,
 * which is off by less than the width of a bucket, 19 %. `null` if there are no waits.
 */
export function waitQuantile(buckets: readonly BucketedWaits[], quantile: number): number | null {
  const total = buckets.reduce((sum, { waits }) => sum + waits, 0);
  const rank = Math.max(1, Math.ceil(quantile * total));
  let below = 0;
  for (const { waits, seconds } of [...buckets].sort((a, b) => a.bucket - b.bucket)) {
    below += waits;
    if (waits > 0 && below >= rank) return seconds / waits;
  }
  return null;
}
