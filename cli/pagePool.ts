import { createGetPool, type GetPool } from "../exporter/sources/http/getPool.ts";

/** What differs between those who are asked for pages. */
export interface PageLimits {
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
  readonly concurrency: number;
  readonly accept: string;
}

/** Pages of metrics, as Prometheus asks for them. */
export const acceptedPage = "text/plain;version=0.0.4";

/** Asks once in each interval (seconds), on the clock `steady`: who fails is asked less often, and who is gone is forgotten. */
export function pagePool(limits: PageLimits, interval: number, steady: () => number): GetPool {
  return createGetPool({
    ...limits,
    backOff: { firstSeconds: interval, maxSeconds: 4 * interval },
    keepAliveSeconds: 3 * interval,
    now: steady,
    random: Math.random,
  });
}
