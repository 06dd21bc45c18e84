import { filter, where } from "../../exporter/catalogue/promql.ts";
import { offset, predictLinear, roundTo } from "../../exporter/catalogue/promqlSeries.ts";
import type { AlertName } from "../alertList.ts";
import { secondsOf } from "../settingParts.ts";
import { type Conditions, recorded, subject } from "./recorded.ts";
import { valueInGpuHours, valueInGpus } from "./wording.ts";
import { worthWaking } from "./worthWaking.ts";

const domain = ["cluster", "domain"] as const;
const nodePool = ["cluster", "node_pool"] as const;

/** Alerts about whether there are enough GPUs, now and soon. */
export const capacityConditions = {
  GpuCapacityExhausted: {
    expression: (config) => {
      const { freeBelowGpus, minWaitingGpus } = config.alerts.GpuCapacityExhausted;
      return filter(
        where(
          subject("cluster_domain:fairlead_capacity_waiting_gpus:sum", "GpuCapacityExhausted", config),
          ">=",
          minWaitingGpus,
        ),
        "and",
        where(recorded("cluster_domain:fairlead_free_gpus:sum"), "<", freeBelowGpus),
        domain,
      );
    },
    description: `Work in {{ $labels.cluster }} waits for ${valueInGpus} of {{ $labels.domain }}, and none is free.`,
  },
  GpuCapacityForecast: {
    expression: (config) => {
      const { trendWindow, minHistory, ahead, minCapacityGpus } = config.alerts.GpuCapacityForecast;
      const demand = recorded("cluster_domain:fairlead_demand_gpus:p95");
      const capacity = where(recorded("cluster_domain:fairlead_domain_capacity_gpus:max"), ">=", minCapacityGpus);
      const forecast = roundTo(
        predictLinear(
          subject("cluster_domain:fairlead_demand_gpus:p95", "GpuCapacityForecast", config),
          trendWindow,
          secondsOf(ahead),
        ),
        1,
      );
      const notYet = filter(where(forecast, ">", capacity), "unless", where(demand, ">", capacity), domain);
      return filter(notYet, "and", offset(demand, minHistory), domain);
    },
    description: `If demand for GPUs of {{ $labels.domain }} in {{ $labels.cluster }} goes on growing as it did, it will be ${valueInGpus}, more than there are.`,
  },
  GpuNodeLost: {
    expression: (config) => {
      const { minNodes, minGpus } = config.alerts.GpuNodeLost;
      return filter(
        where(subject("cluster_node_pool:fairlead_not_ready_nodes:sum", "GpuNodeLost", config), ">=", minNodes),
        "and",
        where(recorded("cluster_node_pool:fairlead_unavailable_gpus:sum"), ">=", minGpus),
        nodePool,
      );
    },
    description:
      "Nodes with GPUs of node pool {{ $labels.node_pool }} in {{ $labels.cluster }} that are not ready: {{ $value | humanize }}.",
  },
  GpuNodeLostLong: {
    expression: (config) =>
      filter(
        worthWaking(
          subject("cluster_node_pool:fairlead_lost_gpu_hours:sum", "GpuNodeLostLong", config),
          recorded("cluster_node_pool_currency:fairlead_price_per_gpu_hour:max"),
          nodePool,
          config.alerts.GpuNodeLostLong,
        ),
        "and",
        where(recorded("cluster_node_pool:fairlead_lost_gpus:sum"), ">", 0),
        nodePool,
      ),
    description: ({ alerts: { GpuNodeLostLong } }) =>
      `Nodes with GPUs of node pool {{ $labels.node_pool }} in {{ $labels.cluster }} are not ready: that has cost ${valueInGpuHours(GpuNodeLostLong)}.`,
  },
  GpuDrainNow: {
    expression: (config) =>
      where(
        subject("cluster_node_pool:fairlead_drain_gpus:sum", "GpuDrainNow", config),
        ">=",
        config.alerts.GpuDrainNow.minGpus,
      ),
    description: `Drain GPUs of node pool {{ $labels.node_pool }} in {{ $labels.cluster }} now: work on ${valueInGpus} fails or is corrupted by a fault.`,
  },
  GpuLookToday: {
    expression: (config) =>
      where(
        subject("cluster_node_pool:fairlead_look_today_gpus:sum", "GpuLookToday", config),
        ">=",
        config.alerts.GpuLookToday.minGpus,
      ),
    description: `Look at GPUs of node pool {{ $labels.node_pool }} in {{ $labels.cluster }} today: ${valueInGpus} of ready nodes cannot be used.`,
  },
  GpuWatch: {
    expression: (config) =>
      where(
        subject("cluster_node_pool:fairlead_watch_gpus:sum", "GpuWatch", config),
        ">=",
        config.alerts.GpuWatch.minGpus,
      ),
    description: `Watch GPUs of node pool {{ $labels.node_pool }} in {{ $labels.cluster }}: ${valueInGpus} that work are slowed down or show signs of a fault.`,
  },
} satisfies Partial<Conditions<AlertName>>;
