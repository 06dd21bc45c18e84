/** Pauses after failures in a row, in seconds. */
export interface BackOffSettings {
  /** Pause after the first failure. One scrape interval means that a single failure costs no further cycle. */
  readonly firstSeconds: number;
  /** Longest pause: a few cycles, so that a target which recovers is back soon. */
  readonly maxSeconds: number;
}

/** Growing pauses between attempts that fail. */
export interface BackOff {
  /** Seconds to wait before the next attempt. */
  next(): number;
  /** Starts from the first pause again. */
  reset(): void;
}

/** Pauses that double after each failure up to the longest; the upper half of each is random. `random` is in [0, 1). */
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

/** A pause between half of `seconds` and `seconds`, so that many that failed together do not come back together. */
export function spread(seconds: number, random: () => number): number {
  return seconds * (0.5 + 0.5 * random());
}
