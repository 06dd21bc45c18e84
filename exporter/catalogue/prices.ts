import { priceBases, priceSources, unpricedReasons } from "../model/prices.ts";
import { capacityTypeLabels } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

/** What GPUs cost by each source, and which GPUs have no known price. */
export const pricesMetrics = {
  fairlead_price_per_gpu_hour: {
    unit: "cost_per_hour",
    help: "What one physical GPU costs per hour, by where the price comes from and what it contains; no series where it is unknown.",
    formula:
      "price of the node / its physical GPUs, or the price of one GPU; where nodes with the same labels have several prices, their mean weighted by GPUs",
    example: "a node of 8 GPUs for 55.04 an hour, by the table: 6.88 with price_basis whole-instance.",
    labels: [
      "cluster",
      "pool",
      "node_pool",
      "instance_type",
      "capacity_type",
      "currency",
      "price_basis",
      "price_source",
    ],
    values: { capacity_type: capacityTypeLabels, price_basis: priceBases, price_source: priceSources },
  },
  fairlead_price_age_seconds: {
    unit: "seconds",
    help: "Age of the oldest price in use: since when it holds or when it was last checked.",
    formula: "now - min(date of the price) over the nodes that have one, never below 0",
    example: "two prices in use, of 10 and of 124 days ago: 124 x 86400 = 10713600.",
    labels: ["cluster", "price_source", "currency"],
    values: { price_source: priceSources },
  },
  fairlead_stale_price_gpus: {
    unit: "gpus",
    help: "Physical GPUs whose price is older than `prices.staleDays`.",
    formula: "sum of the physical GPUs of nodes whose price has a date before now - staleDays",
    example: "3 nodes of 8 GPUs at prices of 10, 70 and 90 days ago, with the default of 60 days: 16.",
    labels: ["cluster", "pool"],
  },
  fairlead_unpriced_gpus: {
    unit: "gpus",
    help: "Physical GPUs whose price is not known, by the reason; no series where all have a price.",
    formula: "sum of the physical GPUs of nodes without a price",
    example:
      "2 spot nodes of 8 GPUs, for which there is an on-demand price only: 16 with reason no-price-for-capacity-type.",
    labels: ["cluster", "pool", "node_pool", "capacity_type", "reason"],
    values: { capacity_type: capacityTypeLabels, reason: unpricedReasons },
  },
} as const satisfies MetricArea;
