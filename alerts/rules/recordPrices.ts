import { aggregate, arithmeticOn, where, withLabelsOf } from "../../exporter/catalogue/promql.ts";
import { topkBy } from "../../exporter/catalogue/promqlSeries.ts";
import { maxOf, type Recordings, recorded, sumOf } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

const queueDomain = ["cluster", "queue", "domain"] as const;

/** The price of a GPU-hour where GPU time is lost: the highest one that is known there. */
export const priceRecordings = {
  "cluster_node_pool_currency:fairlead_price_per_gpu_hour:max": () =>
    maxOf("fairlead_price_per_gpu_hour", ["cluster", "node_pool", "currency"]),
  "cluster_pool_currency:fairlead_price_per_gpu_hour:max": () =>
    maxOf("fairlead_price_per_gpu_hour", ["cluster", "pool", "currency"]),
  "cluster_domain_currency:fairlead_price_per_gpu_hour:max": () =>
    aggregate(
      "max",
      withLabelsOf(
        maxOf("fairlead_domain_info", ["cluster", "domain", "pool"]),
        topkBy(1, recorded("cluster_pool_currency:fairlead_price_per_gpu_hour:max"), ["cluster", "pool"]),
        ["cluster", "pool"],
        ["currency"],
      ),
      ["cluster", "domain", "currency"],
    ),
  // A queue has the price of the domains in which its work waits for the scheduler.
  "cluster_queue_currency:fairlead_price_per_gpu_hour:max": () => {
    const waits = sumOf("fairlead_queue_waiting_gpus", queueDomain, { cause: "scheduler" });
    return aggregate(
      "max",
      withLabelsOf(
        arithmeticOn(waits, "/", where(waits, ">", 0), queueDomain),
        topkBy(1, recorded("cluster_domain_currency:fairlead_price_per_gpu_hour:max"), ["cluster", "domain"]),
        ["cluster", "domain"],
        ["currency"],
      ),
      ["cluster", "queue", "currency"],
    );
  },
} satisfies Partial<Recordings<RecordedName>>;
