import { allocatedTimeStates } from "../model/gpuStates.ts";
import type { MetricArea } from "./metric.ts";

/** Who holds which GPUs, and how much of them is used. */
export const utilizationMetrics = {
  fairlead_pool_gpu_utilization_ratio: {
    unit: "ratio",
    help: "Active part of the pool's allocated GPUs, without unobserved, starting, waiting and unavailable ones; absent if nothing was observed.",
    labels: ["cluster", "pool"],
  },
  fairlead_pool_gpu_activity_ratio: {
    unit: "ratio",
    help: "Mean activity of the pool's observed GPUs, allocated or not; absent if nothing was observed.",
    labels: ["cluster", "pool"],
  },
  fairlead_pool_gpu_memory_used_bytes: {
    unit: "bytes",
    help: "GPU memory in use on the pool's devices that report it.",
    labels: ["cluster", "pool"],
    stability: "alpha",
  },
  fairlead_pool_power_watts: {
    unit: "watts",
    help: "Power draw of the pool's GPUs that report it, each GPU once.",
    labels: ["cluster", "pool"],
    stability: "alpha",
  },
  fairlead_team_gpu_utilization_ratio: {
    unit: "ratio",
    help: "Active part of the team's allocated GPUs, without unobserved, starting, waiting and unavailable ones; absent if nothing was observed.",
    labels: ["cluster", "team"],
  },
  fairlead_pool_tensor_active_ratio: {
    unit: "ratio",
    help: "How busy tensor cores are, of the pool's GPUs and MIG instances that one pod holds alone and that report it; absent if none does.",
    labels: ["cluster", "pool"],
    stability: "alpha",
  },
  fairlead_pool_dram_active_ratio: {
    unit: "ratio",
    help: "How much of the time device memory is read or written, of the pool's GPUs and MIG instances that one pod holds alone and that report it; absent if none does.",
    labels: ["cluster", "pool"],
    stability: "alpha",
  },
  fairlead_pool_power_ratio: {
    unit: "ratio",
    help: "Power of the pool's whole GPUs that one pod holds alone, over what they may draw; absent if power or full power is known of none.",
    labels: ["cluster", "pool"],
    formula: "power / (the limit that is set, at most the full power of the model)",
    stability: "alpha",
  },
  fairlead_team_tensor_active_ratio: {
    unit: "ratio",
    help: "How busy tensor cores are, of the GPUs and MIG instances that one pod of the team holds alone and that report it; absent if none does.",
    labels: ["cluster", "team", "pool"],
    stability: "alpha",
  },
  fairlead_team_dram_active_ratio: {
    unit: "ratio",
    help: "How much of the time device memory is read or written, of the GPUs and MIG instances that one pod of the team holds alone and that report it; absent if none does.",
    labels: ["cluster", "team", "pool"],
    stability: "alpha",
  },
  fairlead_team_power_ratio: {
    unit: "ratio",
    help: "Power of the whole GPUs that one pod of the team holds alone, over what they may draw; absent if power or full power is known of none.",
    labels: ["cluster", "team", "pool"],
    formula: "power / (the limit that is set, at most the full power of the model)",
    stability: "alpha",
  },
  fairlead_team_pending_gpus: {
    unit: "gpus",
    help: "Physical GPUs that pods of the team wait for.",
    labels: ["cluster", "team"],
  },
  fairlead_team_idle_opted_out_gpus: {
    unit: "gpus",
    help: "Allocated GPUs of the team that are idle but opted out of being called idle.",
    labels: ["cluster", "team"],
    stability: "alpha",
  },
  fairlead_team_gpus: {
    unit: "gpus",
    help: "Physical GPUs that the team holds, by what they are doing; the states add up to what it holds.",
    labels: ["cluster", "team", "pool", "state"],
    values: { state: allocatedTimeStates },
  },
} as const satisfies MetricArea;
