import { series, type WorldSeries } from "../world.ts";
import type { AlertTable } from "./alertTable.ts";
import { unnamed } from "./alertTable.ts";

/** What one GPU of a pool and node pool costs per hour. */
function price(cluster: string, pool: string, value: number, currency = "USD"): readonly WorldSeries[] {
  const labels = { cluster, pool, node_pool: pool, instance_type: "i", capacity_type: "on-demand" };
  return [
    series(
      "fairlead_price_per_gpu_hour",
      { ...labels, currency, price_basis: "whole-instance", price_source: "table" },
      value,
    ),
    series("fairlead_domain_info", { cluster, domain: pool, pool }, 1),
  ];
}

/** A starved team of a domain: it is entitled to these GPUs and holds none. */
function starved(cluster: string, domain: string, gpus: number, startable = gpus): readonly WorldSeries[] {
  const queue = { cluster, scheduler: "kueue", kind: "ClusterQueue", queue: "q", domain, team: "search" };
  return [
    series("fairlead_team_entitled_gpus", { cluster, team: "search", domain }, gpus),
    series("fairlead_team_fairness_deviation_gpus", { cluster, team: "search", domain }, -gpus),
    series("fairlead_queue_actionable_shortfall_gpus", queue, startable),
  ];
}

function stuck(cluster: string, domain: string, gpus: number): WorldSeries {
  const queue = { cluster, scheduler: "kueue", kind: "ClusterQueue", queue: "q", domain, team: "search" };
  return series("fairlead_queue_waiting_gpus", { ...queue, priority_class: "", cause: "scheduler" }, gpus);
}

const blocked = (cluster: string, pool: string, gpus: number | string): WorldSeries =>
  series("fairlead_blocked_gpus", { cluster, pool, blocker: "spread" }, gpus);

function lost(cluster: string, pool: string, gpus: number, nodes: number | string = 1): readonly WorldSeries[] {
  return [
    series("fairlead_nodes", { cluster, node_pool: pool, state: "not_ready" }, nodes),
    series("fairlead_gpus", { cluster, pool, node_pool: pool, state: "unavailable", capacity_type: "on-demand" }, gpus),
  ];
}

const lostNode = (lost_node: string, gpus: number): WorldSeries =>
  series("fairlead_lost_node_gpus", { cluster: "east", node_pool: "H100", lost_node }, gpus);

const head = (cause: "scheduler" | "quota", workload: string, gpus: number): WorldSeries =>
  series(
    "fairlead_queue_head_gpus",
    { cluster: "east", queue: "q", team: "search", domain: "H100", cause, namespace: "search", workload },
    gpus,
  );

/**
 * 12 GPUs are one GPU-hour every five minutes: the 32nd sample is that of minute 155, and five minutes later there are 33. What is not
 * dear enough is never paged for: in four hours there are 49 samples.
 */
const paged = { severity: "critical", action: "page", step: "5m", firesAt: 32, quietAt: 31 } as const;

/** Of 12 GPUs that are lost, in worlds that are otherwise alike. */
const quietWorlds = (of: (pool: string, gpus: number) => readonly WorldSeries[]) => ({
  "one L4": [...of("L4", 1), ...price("east", "L4", 0.8)],
  "one L4 whose price nobody knows": of("L4", 1),
  "12 L4: many GPU-hours, and cheap ones": [...of("L4", 12), ...price("east", "L4", 0.8)],
  "7 H100: dear, and not many GPU-hours yet": [...of("H100", 7), ...price("east", "H100", 40)],
});

/** What is worth waking someone for. */
export const pageTables: readonly AlertTable[] = [
  {
    ...paged,
    alert: "GpuTeamStarvedLong",
    area: "fairness",
    summary: "A team misses much GPU time of its share while work that fits its share waits.",
    world: [
      ...starved("east", "H100", 12),
      ...price("east", "H100", 4),
      head("quota", "Job/train-9", 12),
      ...starved("west", "H100", 12),
    ],
    quiet: {
      ...quietWorlds((domain, gpus) => starved("east", domain, gpus)),
      "nothing that waits fits its share": [...starved("east", "H100", 12, 0), ...price("east", "H100", 4)],
    },
    arrivals: [
      {
        labels: { cluster: "east", team: "search", domain: "H100" },
        description:
          "Team search in east has missed 33 GPU-hours in the last 4h of its share of H100, and work of it waits that would start at once. First in line: search/train-9 (12 GPUs).",
        subject: "search/train-9 (12 GPUs)",
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=east&var-team=search&var-domain=H100",
      },
      {
        labels: { cluster: "west", team: "search", domain: "H100" },
        ...unnamed(
          "Team search in west has missed 33 GPU-hours in the last 4h of its share of H100, and work of it waits that would start at once.",
          "pending?team=search",
        ),
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=west&var-team=search&var-domain=H100",
      },
    ],
  },
  {
    ...paged,
    alert: "GpuQueueStuckLong",
    area: "fairness",
    summary: "Much GPU time of a queue is lost: its work fits and its quota allows it, and nothing of it starts.",
    world: [
      stuck("east", "H100", 12),
      ...price("east", "H100", 3, "EUR"),
      ...price("east", "H100", 4),
      head("quota", "Job/not-yet", 99),
      head("scheduler", "Job/train-9", 12),
    ],
    quiet: quietWorlds((domain, gpus) => [stuck("east", domain, gpus)]),
    arrivals: [
      {
        labels: { cluster: "east", queue: "q", team: "search" },
        description:
          "Work of queue q in east has missed 33 GPU-hours in the last 4h although it fits and its quota allows it: nothing of the queue starts. First in line: search/train-9 (12 GPUs).",
        subject: "search/train-9 (12 GPUs)",
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=east&var-queue=q&var-team=search",
      },
    ],
  },
  {
    ...paged,
    alert: "GpuJobUnplaceableLong",
    area: "fragmentation",
    summary: "Much GPU time is lost: enough GPUs are free for waiting work, but not on nodes where it could run.",
    world: [
      blocked("east", "H100", 12),
      ...price("east", "H100", 4),
      series(
        "fairlead_blocked_workload_gpus",
        { cluster: "east", pool: "H100", blocker: "spread", namespace: "vision", workload: "Job/eval-7" },
        12,
      ),
    ],
    quiet: {
      ...quietWorlds((pool, gpus) => [blocked("east", pool, gpus)]),
      "nothing is blocked any more": [blocked("east", "H100", "24+0x20 0+0x#"), ...price("east", "H100", 4)],
    },
    arrivals: [
      {
        labels: { cluster: "east", pool: "H100" },
        description:
          "Waiting work has missed 33 GPU-hours in the last 4h of H100 in east although enough GPUs are free: they are not where it could run. Blocked: vision/eval-7 (12 GPUs).",
        subject: "vision/eval-7 (12 GPUs)",
        advice: null,
        dashboard: "fairlead-waste?var-cluster=east&var-pool=H100",
      },
    ],
  },
  {
    ...paged,
    alert: "GpuNodeLostLong",
    area: "capacity",
    summary: "Much GPU time is lost on nodes that are not ready.",
    world: [
      ...lost("east", "H100", 12, 2),
      ...price("east", "H100", 4),
      lostNode("h100-03", 8),
      lostNode("h100-01", 4),
    ],
    quiet: {
      ...quietWorlds((pool, gpus) => lost("east", pool, gpus)),
      "they are ready again": [...lost("east", "H100", 24, "1+0x20 0+0x#"), ...price("east", "H100", 4)],
      "GPUs are unhealthy on nodes that are ready": [...lost("east", "H100", 12, 0), ...price("east", "H100", 4)],
    },
    arrivals: [
      {
        labels: { cluster: "east", node_pool: "H100" },
        description:
          "Nodes with GPUs of node pool H100 in east are not ready: that has cost 33 GPU-hours in the last 4h. Not ready: h100-03 (8 GPUs), h100-01 (4 GPUs).",
        subject: "h100-03 (8 GPUs), h100-01 (4 GPUs)",
        advice: null,
        dashboard: "fairlead-fleet?var-cluster=east&var-node_pool=H100",
      },
    ],
  },
];
