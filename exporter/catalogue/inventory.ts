import { careTiers, degradedCauses, unavailableCauses } from "../model/gpuFaults.ts";
import { gpuStates } from "../model/gpuStates.ts";
import { nodeStates } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

/** The GPUs and nodes of the cluster. */
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
  fairlead_unavailable_gpus: {
    unit: "gpus",
    help: "Physical GPUs in state unavailable by what makes them so; the causes of a pool add up to that state in fairlead_gpus.",
    labels: ["cluster", "pool", "node_pool", "cause"],
    values: { cause: unavailableCauses },
    stability: "alpha",
  },
  fairlead_degraded_gpus: {
    unit: "gpus",
    help: "Allocated GPUs that work, and are slowed down by heat, power or their hardware.",
    labels: ["cluster", "pool", "node_pool", "cause"],
    values: { cause: degradedCauses },
    stability: "alpha",
  },
  fairlead_sick_gpus: {
    unit: "gpus",
    help: "Physical GPUs of ready nodes that need care, by how soon: drain now, look today, watch.",
    formula:
      "drain: held and taken out for a fault that ends work, or given out although rows could not be remapped; today: cannot be used; watch: works, but slowed down or about to be remapped",
    labels: ["cluster", "node_pool", "tier"],
    values: { tier: careTiers },
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
