/** Pauses after failures in a row, in seconds. */
export interface BackOffSettings {
  /** Pause after the first failure. One scrape interval means that a single failure costs no further cycle. */
  readonly firstSeconds: number;
  /** Longest pause: a few cycles, so that a target which recovers is back soon. */
  readonly maxSeconds: number;
}

/** Failures in a row of one target. */
export interface FailureRun {
  readonly failures: number;
  /** No attempt before this moment (seconds on the pool's clock). */
  readonly retryAt: number;
}

/** The run after one more failure. `random` returns numbers in [0, 1). */
export function afterFailure(
  run: FailureRun | undefined,
  now: number,
  settings: BackOffSettings,
  random: () => number,
): FailureRun {
  const failures = (run?.failures ?? 0) + 1;
  return { failures, retryAt: now + pauseAfter(failures, settings, random) };
}

/** Growing pauses between attempts that fail. */
export interface BackOff {
  /** Seconds to wait before the next attempt. */
  next(): number;
  /** Starts from the first pause again. */
  reset(): void;
}

/** Counts the failures of one client. `random` returns numbers in [0, 1). */
export function createBackOff(settings: BackOffSettings, random: () => number): BackOff {
  let failures = 0;
  return {
    next() {
      failures += 1;
      return pauseAfter(failures, settings, random);
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

/** Seconds to wait after this many failures in a row: doubles each time up to the longest, and its upper half is random. */
function pauseAfter(failures: number, { firstSeconds, maxSeconds }: BackOffSettings, random: () => number): number {
  return spread(Math.min(maxSeconds, firstSeconds * 2 ** Math.min(failures - 1, 30)), random);
}
