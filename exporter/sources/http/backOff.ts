/** Pauses after failures in a row, in seconds. */
export interface BackOffSettings {
  /** Pause after the first failure. With one scrape interval, a single failure costs no further cycle. */
  readonly firstSeconds: number;
  /** Longest pause: a few cycles, so that a target which recovers is back soon. */
  readonly maxSeconds: number;
}

/** Growing pauses between attempts that fail. */
export interface BackOff {
  /** Number of seconds to wait before the next attempt. */
  next(): number;
  /** Starts again from the first pause. */
  reset(): void;
}

/** Creates pauses that double after each failure up to the longest; the upper half of each is random. `random` is in [0, 1). */
export function createBackOff({ firstSeconds, maxSeconds }: BackOffSettings, random: () => number): BackOff {
  let failures = 0;
  return {
    next() {
      failures += 1;
      return spread(Math.min(maxSeconds, firstSeconds * 2 ** Math.min(failures - 1, 30)), random);
    },
    reset() {
      failures = 0;
    },
  };
}

/** A random pause between half of `seconds` and `seconds`, so that targets that failed together are not retried together. */
export function spread(seconds: number, random: () => number): number {
  return seconds * (0.5 + 0.5 * random());
}
