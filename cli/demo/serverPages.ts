import type { GetPool } from "../../exporter/sources/http/getPool.ts";
import { attemptFailure } from "../../exporter/sources/http/getResult.ts";
import type { SimulatedCluster } from "../../simulator/simulatedCluster.ts";

/**
 * Gets the pages of simulated servers by calling them. Their pods have addresses that exist in the simulated cluster alone: on the
 * network of whoever plays it, others may have them.
 */
export function createServerPages(cluster: Pick<SimulatedCluster, "serverPage" | "monotonic">): GetPool {
  return {
    async get({ url }, consume) {
      const page = cluster.serverPage(url);
      if (page !== null) return { ok: true, value: consume(Buffer.from(page)) };
      const failure = attemptFailure("refused", "nobody listens there");
      return { ...failure, skipped: false, failures: 1, retryAt: cluster.monotonic() };
    },
    retain() {},
    close: async () => {},
  };
}
