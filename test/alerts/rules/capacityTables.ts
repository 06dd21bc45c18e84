import { recommendation, series, type WorldSeries } from "../world.ts";
import { type AlertTable, unnamed } from "./alertTable.ts";

const ofQueue = (cluster: string, domain: string) => ({
  cluster,
  scheduler: "kueue",
  kind: "ClusterQueue",
  queue: "search",
  domain,
  team: "search",
});

function domain(
  cluster: string,
  name: string,
  free: number,
  waiting: number,
  cause = "capacity",
): readonly WorldSeries[] {
  const pools = name.split("+");
  return [
    ...pools.flatMap((pool) => [
      series("fairlead_domain_info", { cluster, domain: name, pool }, 1),
      series("fairlead_pool_free_gpus", { cluster, pool, part: "whole" }, free / pools.length / 2),
      series("fairlead_pool_free_gpus", { cluster, pool, part: "shared" }, free / pools.length / 2),
    ]),
    series("fairlead_queue_waiting_gpus", { ...ofQueue(cluster, name), priority_class: "", cause }, waiting),
  ];
}

/** Demand, a third of which waits. */
function demand(cluster: string, name: string, values: string, capacity: number): readonly WorldSeries[] {
  return [
    series("fairlead_queue_allocated_gpus", ofQueue(cluster, name), values),
    series("fairlead_queue_pending_gpus", ofQueue(cluster, name), 4),
    series("fairlead_domain_capacity_gpus", { cluster, domain: name }, capacity),
  ];
}

function nodes(cluster: string, node_pool: string, notReady: number, gpus: number): readonly WorldSeries[] {
  return [
    series("fairlead_nodes", { cluster, node_pool, state: "not_ready" }, notReady),
    series("fairlead_nodes", { cluster, node_pool, state: "ready" }, 9),
    series(
      "fairlead_gpus",
      { cluster, pool: "A100", node_pool, state: "unavailable", capacity_type: "on-demand" },
      gpus,
    ),
  ];
}

const release = recommendation({
  cluster: "east",
  id: "idle-7",
  kind: "release_idle",
  title: "end ads/notebook-3: 4 A100 idle for 9 h",
  gpus: 4,
  from_team: "ads",
  pool: "A100",
  saving: [1680, "USD"],
});
const releaseAdvice = {
  text: "end ads/notebook-3: 4 A100 idle for 9 h (gains 4 GPUs)",
  id: "idle-7",
  saving: "1680 USD a week",
};
/** Whether there are GPUs enough. */
export const capacityTables: readonly AlertTable[] = [
  {
    alert: "GpuCapacityExhausted",
    severity: "warning",
    area: "capacity",
    action: "ticket",
    summary: "No GPU is free and work waits for GPUs.",
    step: "1m",
    firesAt: 60,
    quietAt: 59,
    world: [
      ...domain("east", "A100", 0, 8),
      ...domain("east", "H100+H200", 0.9, 1),
      ...domain("west", "A100", 0, 4),
      ...release,
    ],
    quiet: {
      "one GPU is free": domain("east", "A100+H100", 1, 8),
      "less than one GPU is waited for": domain("east", "A100", 0, 0.9),
      "it waits for another reason": domain("east", "A100", 0, 8, "quota"),
      "what is free is not known": [
        series("fairlead_queue_waiting_gpus", { ...ofQueue("east", "A100"), priority_class: "", cause: "capacity" }, 8),
      ],
    },
    arrivals: [
      {
        labels: { cluster: "east", domain: "A100" },
        ...unnamed("Work in east waits for 8 GPUs of A100, and none is free.", "pending?domain=A100&cause=capacity"),
        advice: releaseAdvice,
        dashboard: "fairlead-review?var-cluster=east&var-domain=A100",
      },
      {
        labels: { cluster: "east", domain: "H100+H200" },
        ...unnamed(
          "Work in east waits for 1 GPU of H100+H200, and none is free.",
          "pending?domain=H100%2BH200&cause=capacity",
        ),
        advice: releaseAdvice,
        dashboard: "fairlead-review?var-cluster=east&var-domain=H100%2BH200",
      },
      {
        labels: { cluster: "west", domain: "A100" },
        ...unnamed("Work in west waits for 4 GPUs of A100, and none is free.", "pending?domain=A100&cause=capacity"),
        advice: null,
        dashboard: "fairlead-review?var-cluster=west&var-domain=A100",
      },
    ],
  },
  {
    alert: "GpuCapacityForecast",
    severity: "info",
    area: "capacity",
    action: "digest",
    summary: "Demand for GPUs will pass what the cluster has if it goes on growing.",
    step: "1h",
    firesAt: 24 * 10,
    quietAt: 24 * 7,
    world: [
      // 24 more a day from 44 on: 284 after ten days, 788 in three weeks more; the 95th percentile of a day lags a little.
      ...demand("east", "A100", "40+1x#", 600),
      ...demand("east", "H100", "40+1x#", 700),
      ...demand("west", "A100", "40+1x#", 600),
      ...release,
    ],
    quiet: {
      "it does not grow": demand("east", "A100", "500+0x#", 600),
      "it will not pass what there is": demand("east", "A100", "40+0.5x#", 600),
      "it has passed it": demand("east", "A100", "40+1x#", 200),
      "too small a domain": demand("east", "A100", "1+0.02x#", 7),
      "what there is, is not known": demand("east", "A100", "40+1x#", 600).slice(0, 2),
    },
    arrivals: [
      {
        labels: { cluster: "east", domain: "A100" },
        description:
          "If demand for GPUs of A100 in east goes on growing as it did, it will be 786 GPUs, more than there are.",
        advice: releaseAdvice,
        dashboard: "fairlead-review?var-cluster=east&var-domain=A100",
      },
      {
        labels: { cluster: "east", domain: "H100" },
        description:
          "If demand for GPUs of H100 in east goes on growing as it did, it will be 786 GPUs, more than there are.",
        advice: releaseAdvice,
        dashboard: "fairlead-review?var-cluster=east&var-domain=H100",
      },
      {
        labels: { cluster: "west", domain: "A100" },
        description:
          "If demand for GPUs of A100 in west goes on growing as it did, it will be 786 GPUs, more than there are.",
        advice: null,
        dashboard: "fairlead-review?var-cluster=west&var-domain=A100",
      },
    ],
  },
  {
    alert: "GpuNodeLost",
    severity: "warning",
    area: "capacity",
    action: "ticket",
    summary: "Nodes with GPUs are not ready, and their GPUs cannot be used.",
    step: "1m",
    firesAt: 10,
    quietAt: 9,
    world: [...nodes("east", "train", 2, 16), ...nodes("east", "infer", 1, 1), ...nodes("west", "train", 1, 8)],
    quiet: {
      "all are ready": nodes("east", "train", 0, 8),
      "less than one GPU cannot be used": nodes("east", "train", 2, 0.5),
      "what cannot be used is not known": nodes("east", "train", 2, 8).slice(0, 2),
    },
    arrivals: [
      {
        labels: { cluster: "east", node_pool: "train" },
        ...unnamed("Nodes with GPUs of node pool train in east that are not ready: 2.", "nodes?nodePool=train"),
        advice: null,
        dashboard: "fairlead-fleet?var-cluster=east&var-node_pool=train",
      },
      {
        labels: { cluster: "east", node_pool: "infer" },
        ...unnamed("Nodes with GPUs of node pool infer in east that are not ready: 1.", "nodes?nodePool=infer"),
        advice: null,
        dashboard: "fairlead-fleet?var-cluster=east&var-node_pool=infer",
      },
      {
        labels: { cluster: "west", node_pool: "train" },
        ...unnamed("Nodes with GPUs of node pool train in west that are not ready: 1.", "nodes?nodePool=train"),
        advice: null,
        dashboard: "fairlead-fleet?var-cluster=west&var-node_pool=train",
      },
    ],
  },
];
