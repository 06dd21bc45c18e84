/** Failures after which an address has to wait. */
const freeFailures = 5;
/** The first wait, seconds; each further failure doubles it. */
const firstSeconds = 0.5;
const longestSeconds = 5;
/** After this long without another failure the earlier ones are forgotten, seconds. */
const forgetSeconds = 60;
/** Addresses that are remembered; the one that failed longest ago goes first. */
const maxAddresses = 10_000;

/** Makes addresses that fail again and again wait. Times are seconds on a clock that is never set. */
export interface LoginBackOff {
  /** Seconds until the address may try again; 0 at once. */
  waitOf(address: string, now: number): number;
  failed(address: string, now: number): void;
}

export function createLoginBackOff(): LoginBackOff {
  const known = new Map<string, { readonly failures: number; readonly at: number }>();
  return {
    waitOf(address, now) {
      const { failures, at } = known.get(address) ?? { failures: 0, at: 0 };
      if (failures < freeFailures) return 0;
      const wait = Math.min(longestSeconds, firstSeconds * 2 ** (failures - freeFailures));
      return Math.max(0, at + wait - now);
    },
    failed(address, now) {
      const last = known.get(address);
      const failures = last === undefined || now - last.at > forgetSeconds ? 1 : last.failures + 1;
      known.delete(address);
      known.set(address, { failures, at: now });
      const [oldest] = known.keys();
      if (known.size > maxAddresses && oldest !== undefined) known.delete(oldest);
    },
  };
}
