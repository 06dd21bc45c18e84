import { gpuStates } from "../model/gpuStates.ts";
import { nodeStates } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

/** What is there. */
export const inventoryMetrics = {
  fairlead_gpus: {
    unit: "gpus",
    help: "Physical GPUs by what they are doing; the states of a pool add up to its physical GPUs.",
    labels: ["cluster", "pool", "node_pool", "state", "capacity_type"],
    values: { state: gpuStates },
  },
  fairlead_pool_info: {
    unit: "info",
    help: "GPU models of a pool.",
    labels: ["cluster", "pool", "gpu_model"],
  },
  fairlead_nodes: {
    unit: "nodes",
    help: "Nodes that have or should have GPUs, by readiness.",
    labels: ["cluster", "node_pool", "state"],
    values: { state: nodeStates },
    stability: "alpha",
  },
  fairlead_uncounted_nodes: {
    unit: "nodes",
    help: "Nodes with GPUs whose number nothing says; they are left out of all amounts of GPUs.",
    labels: ["cluster"],
    stability: "alpha",
  },
  fairlead_accounting_imbalance_gpus: {
    unit: "gpus",
    help: "Difference between allocated GPUs counted by device and by pod, summed over the nodes of a pool.",
    labels: ["cluster", "pool"],
    stability: "alpha",
  },
} as const satisfies MetricArea;
