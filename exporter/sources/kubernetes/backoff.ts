export interface BackoffLimits {
  readonly firstSeconds: number;
  readonly capSeconds: number;
}

/** Growing pauses between attempts that fail. */
export interface Backoff {
  /** Seconds to wait before the next attempt: doubles each time up to the cap, of which the upper half is random. */
  next(): number;
  /** Starts from the first pause again. */
  reset(): void;
}

/** `random` returns numbers in [0, 1), so that many clients that failed together do not come back together. */
export function createBackoff(limits: BackoffLimits, random: () => number): Backoff {
  let failures = 0;
  return {
    next: () => {
      const whole = Math.min(limits.capSeconds, limits.firstSeconds * 2 ** Math.min(failures, 30));
      failures += 1;
      return spread(whole, random);
    },
    reset: () => {
      failures = 0;
    },
  };
}

/** A pause between half of `seconds` and `seconds`. */
export function spread(seconds: number, random: () => number): number {
  return seconds * (0.5 + 0.5 * random());
}
