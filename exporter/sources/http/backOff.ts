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

/**
 * The run after one more failure: the pause doubles up to the cap, and of it the upper half is random, so that
 * targets which failed together do not come back together. `random` returns numbers in [0, 1).
 */
export function afterFailure(
  run: FailureRun | undefined,
  now: number,
  settings: BackOffSettings,
  random: () => number,
): FailureRun {
  const failures = (run?.failures ?? 0) + 1;
  const pause = Math.min(settings.maxSeconds, settings.firstSeconds * 2 ** Math.min(failures - 1, 30));
  return { failures, retryAt: now + pause * (0.5 + 0.5 * random()) };
}
