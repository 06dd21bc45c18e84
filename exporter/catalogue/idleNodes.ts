import { idleKinds } from "../model/idleKinds.ts";
import { nodePoolManagers } from "../model/nodePools.ts";
import { idleWindowLabels, warmPoolLabels } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

const nodes = ["cluster", "pool", "node_pool", "capacity_type", "idle_kind", "warm_pool"] as const;
const kinds = { idle_kind: idleKinds, warm_pool: warmPoolLabels } as const;

/** Idle nodes, what they cost, and who could remove them. */
export const idleNodesMetrics = {
  fairlead_idle_nodes: {
    unit: "nodes",
    help: "Nodes with GPUs that are idle now; the two kinds are separate and never added up.",
    formula:
      "nodes with allocatable GPUs that are ready, schedulable, older than 15 min and without unattributed activity, on which nothing holds a GPU (unallocated), or on which everything that is allocated is idle (allocated)",
    example:
      "of 10 nodes, 2 have no pod with GPUs and 1 has one pod that was last active 40 min ago: unallocated 2, allocated 1.",
    labels: nodes,
    values: kinds,
  },
  fairlead_idle_node_seconds_total: {
    unit: "node_seconds",
    help: "Time of idle nodes since the start; a node with several pools counts for its first.",
    formula: "sum over covered steps of idle nodes at the begin of the step x its seconds",
    example: "2 nodes are unallocated for 3 h: 2 x 10800 = 21600.",
    labels: nodes,
    values: kinds,
  },
  fairlead_idle_node_hours: {
    unit: "node_hours",
    help: "Hours of idle nodes in the last 24 h and 7 d, also over restarts where a ledger is kept; time that is not covered counts nowhere.",
    formula:
      "node-seconds of idle nodes by the hour, summed over the window and divided by 3600; the window's first hour counts in proportion",
    example: "2 nodes were unallocated through the last night, from 22:00 to 06:00: 2 x 8 = 16.",
    labels: ["cluster", "pool", "node_pool", "idle_kind", "warm_pool", "window"],
    values: { ...kinds, window: idleWindowLabels },
  },
  fairlead_idle_node_covered_ratio: {
    unit: "ratio",
    help: "How much of the window of fairlead_idle_node_hours is covered; the rest is not known, and not idle.",
    formula: "covered seconds in the window / seconds of the window",
    example: "Fairlead was down for 6 of the last 24 h: 18 / 24 = 0.75.",
    labels: ["cluster", "window"],
    values: { window: idleWindowLabels },
  },
  fairlead_idle_node_longest_seconds: {
    unit: "seconds",
    help: "How long the node that has been idle longest has been idle of this kind without a break; no series where none is idle.",
    formula: "max over nodes that are idle now of now - since when, as seen by Fairlead",
    example: "one node has been unallocated for 20 min, another for 5 h: 18000.",
    labels: ["cluster", "pool", "node_pool", "idle_kind", "warm_pool"],
    values: kinds,
  },
  fairlead_idle_node_cost_per_hour: {
    unit: "cost_per_hour",
    help: "What nodes that are idle now cost per hour; nodes without a price are left out.",
    formula: "sum over idle nodes of the price of their GPUs per hour",
    example: "2 unallocated nodes of 8 GPUs at 6.88 per GPU: 2 x 8 x 6.88 = 110.08.",
    labels: [...nodes, "currency"],
    values: kinds,
  },
  fairlead_idle_node_cost_total: {
    unit: "cost",
    help: "What idle nodes cost since the start, at the prices of the time; nodes without a price are left out.",
    formula: "sum over covered steps of the idle nodes' price per hour x seconds of the step / 3600",
    example: "idle nodes that cost 110.08 an hour, for 3 h: 330.24.",
    labels: [...nodes, "currency"],
    values: kinds,
  },
  fairlead_node_pool_info: {
    unit: "info",
    help: "Who adds and removes the nodes of a node pool, and when Karpenter takes them away.",
    formula: "1 for each node pool that has nodes with GPUs, or whose Karpenter limits name GPUs",
    example: 'a NodePool that Karpenter empties only when nothing runs: {consolidation_policy="WhenEmpty"} 1.',
    labels: ["cluster", "node_pool", "manager", "consolidation_policy"],
    values: { manager: nodePoolManagers },
  },
  fairlead_node_pool_consolidate_after_seconds: {
    unit: "seconds",
    help: "How long Karpenter waits before it takes away a node that could go; no series where it never does, or it is not known.",
    formula: "spec.disruption.consolidateAfter of the NodePool; 0 where it is not set",
    example: "consolidateAfter 1h: 3600.",
    labels: ["cluster", "node_pool"],
    stability: "alpha",
  },
  fairlead_node_pool_limit_gpus: {
    unit: "gpus",
    help: "The most physical GPUs that the nodes of a node pool may have together, by Karpenter's limits; no series without one.",
    formula: "sum over GPU resources in spec.limits of amount x physical GPUs per unit",
    example: "a limit of 32 nvidia.com/gpu on nodes that share each GPU in 4: 32 / 4 = 8.",
    labels: ["cluster", "node_pool"],
  },
  fairlead_node_pool_bound_nodes: {
    unit: "nodes",
    help: "The fewest and the most nodes that a node pool may have, as Karpenter or the Cluster Autoscaler says; no series where neither does.",
    formula:
      "sizes of the autoscaler's node groups of the pool, added up; of Karpenter, spec.replicas, or limits.nodes",
    example: "two zonal groups of 0 to 4 and 1 to 4 nodes: min 1, max 8.",
    labels: ["cluster", "node_pool", "bound"],
    values: { bound: ["min", "max"] },
    stability: "alpha",
  },
} as const satisfies MetricArea;
