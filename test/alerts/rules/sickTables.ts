import { series, type WorldSeries } from "../world.ts";
import type { AlertTable } from "./alertTable.ts";
import { unnamed } from "./alertTable.ts";

type Tier = "drain" | "today" | "watch";

/** GPUs of a node pool in a tier, and one of them by name. */
function sick(cluster: string, node_pool: string, tier: Tier, gpus: number, cause = "ecc"): readonly WorldSeries[] {
  return [
    series("fairlead_sick_gpus", { cluster, node_pool, tier }, gpus),
    series(
      "fairlead_sick_gpu_gpus",
      { cluster, node_pool, sick_node: `${node_pool}-01`, gpu: "GPU-5f", tier, cause },
      Math.min(1, gpus),
    ),
  ];
}

const others: Readonly<Record<Tier, readonly Tier[]>> = {
  drain: ["today", "watch"],
  today: ["drain", "watch"],
  watch: ["drain", "today"],
};

function table(
  tier: Tier,
  fixed: Pick<AlertTable, "alert" | "severity" | "action" | "summary" | "step" | "firesAt" | "quietAt">,
  described: (gpus: string, pool: string, cluster: string) => string,
): AlertTable {
  const labels = { cluster: "east", node_pool: "train" };
  return {
    ...fixed,
    area: "capacity",
    world: [
      ...sick("east", "train", tier, 2),
      ...sick("west", "infer", tier, 1).slice(0, 1),
      ...sick("west", "train", tier, 0).slice(0, 1),
    ],
    quiet: {
      "less than one GPU": sick("east", "train", tier, 0.5),
      "none is": sick("east", "train", tier, 0).slice(0, 1),
      "GPUs are in the other tiers": others[tier].flatMap((other) => sick("east", "train", other, 8)),
      "only a name is known": sick("east", "train", tier, 1).slice(1),
    },
    arrivals: [
      {
        labels,
        description: `${described("2 GPUs", "train", "east")} Which: GPU-5f of node train-01, ecc (1 GPU).`,
        subject: "GPU-5f of node train-01, ecc (1 GPU)",
        advice: null,
        dashboard: "fairlead-fleet?var-cluster=east&var-node_pool=train",
      },
      {
        labels: { cluster: "west", node_pool: "infer" },
        ...unnamed(described("1 GPU", "infer", "west"), "nodes?nodePool=infer"),
        advice: null,
        dashboard: "fairlead-fleet?var-cluster=west&var-node_pool=infer",
      },
    ],
  };
}

/** GPUs that need care, by how soon. */
export const sickTables: readonly AlertTable[] = [
  table(
    "drain",
    {
      alert: "GpuDrainNow",
      severity: "warning",
      action: "ticket",
      summary: "Work runs on GPUs with a fault that ends or corrupts it.",
      step: "1m",
      firesAt: 2,
      quietAt: 1,
    },
    (gpus, pool, cluster) =>
      `Drain GPUs of node pool ${pool} in ${cluster} now: work on ${gpus} fails or is corrupted by a fault.`,
  ),
  table(
    "today",
    {
      alert: "GpuLookToday",
      severity: "warning",
      action: "ticket",
      summary: "GPUs on ready nodes cannot be used, and wait for repair.",
      step: "1m",
      firesAt: 15,
      quietAt: 14,
    },
    (gpus, pool, cluster) =>
      `Look at GPUs of node pool ${pool} in ${cluster} today: ${gpus} of ready nodes cannot be used.`,
  ),
  table(
    "watch",
    {
      alert: "GpuWatch",
      severity: "info",
      action: "digest",
      summary: "GPUs work, but show signs of a fault or are slowed down.",
      step: "1m",
      firesAt: 60,
      quietAt: 59,
    },
    (gpus, pool, cluster) =>
      `Watch GPUs of node pool ${pool} in ${cluster}: ${gpus} that work are slowed down or show signs of a fault.`,
  ),
];
