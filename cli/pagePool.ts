import { createGetPool, type GetPool } from "../exporter/sources/http/getPool.ts";

/** What differs between the targets that are asked for pages. */
export interface PageLimits {
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
  readonly concurrency: number;
  readonly accept: string;
}

/** The `accept` header for pages of metrics, as Prometheus sends it. */
export const acceptedPage = "text/plain;version=0.0.4";

/**
 * Asks each target once per interval (seconds), on the clock `steady`. Targets that fail are asked less often, and targets that
 * are gone are forgotten.
 */
export function pagePool(limits: PageLimits, interval: number, steady: () => number): GetPool {
  return createGetPool({
    ...limits,
    backOff: { firstSeconds: interval, maxSeconds: 4 * interval },
    keepAliveSeconds: 3 * interval,
    now: steady,
    random: Math.random,
  });
}
