import { chargeBases } from "../model/charge.ts";
import { gpuStates } from "../model/gpuStates.ts";
import { capacityTypeLabels } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

/**
 * The cost of GPU time, at the prices of that time. Unallocated cost is not charged to anybody in these counters: it has an
 * empty team (docs/cost.md).
 */
export const costMetrics = {
  fairlead_cost_total: {
    unit: "cost",
    help: "Cost of GPU time since the start by what the GPUs were doing and for whom, in units of the currency; the twin of `fairlead_gpu_seconds_total`, for the time that has a price.",
    formula:
      "sum over accounting entries of physical GPUs x price of a GPU-hour of their node x seconds / 3600; all states of a pool add up to its nodes' prices x covered time",
    example:
      "A node of 8 GPUs costs 32 USD an hour, so a GPU-hour costs 4 USD. A team holds 2 of them for 30 minutes, half of the time active: 2 USD count as `active`, 2 USD as `underutilized`, and 12 USD as `free` without a team; 2 + 2 + 12 = 16 USD is half an hour of the node.",
    labels: ["cluster", "state", "team", "queue", "pool", "capacity_type", "priority_class", "currency"],
    values: { state: gpuStates },
    stability: "alpha",
  },
  fairlead_unpriced_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "Time of physical GPUs without a known price, since the start: it is in no cost, which is that much too low.",
    formula:
      "sum over the accounting entries of nodes without a price of physical GPUs x seconds; priced time + unpriced time = all GPU time of the pool",
    example:
      "A pool has 16 GPUs on two nodes, and one of the nodes has a price: 8 x 3600 = 28800 unpriced GPU-seconds after an hour.",
    labels: ["cluster", "pool"],
    stability: "alpha",
  },
  fairlead_namespace_cost_total: {
    unit: "cost",
    help: "Cost of the GPU time that was allocated to the pods of a namespace, since the start, in units of the currency; namespaces beyond the budget of series count as `other`.",
    formula:
      "sum over the accounting entries that a pod of the namespace holds, in every allocated state, of physical GPUs x price of a GPU-hour x seconds / 3600",
    example: "A pod holds 4 GPUs at 2.50 USD an hour for 6 hours, used or not: 4 x 2.50 x 6 = 60 USD.",
    labels: ["cluster", "namespace", "team", "currency"],
    stability: "alpha",
  },
  fairlead_co2e_grams_total: {
    unit: "grams",
    help: "CO2 equivalent of the energy that GPUs drew since the start; only where `cost.co2GramsPerKwh` says what a kWh emits.",
    formula: "fairlead_energy_joules_total / 3600000 x cost.co2GramsPerKwh",
    example: "A GPU that draws 500 W for 2 hours takes 1 kWh (3600000 J); at 380 g per kWh that is 380 g.",
    labels: ["cluster", "team", "pool", "state"],
    values: { state: gpuStates },
    stability: "alpha",
  },
  fairlead_cost_per_hour: {
    unit: "cost_per_hour",
    help: "What physical GPUs cost per hour now, by what they are doing; only those that have a price.",
    formula:
      "sum over accounting entries of physical GPUs x price of a GPU-hour of their node; all states of a pool add up to its nodes' prices",
    example:
      "a node of 8 GPUs costs 32 an hour; 5 GPUs are active, 1 is idle, 2 are free: active 20, idle 4, free 8; together 32.",
    labels: ["cluster", "pool", "node_pool", "capacity_type", "state", "currency"],
    values: { capacity_type: capacityTypeLabels, state: gpuStates },
    stability: "alpha",
  },
  fairlead_team_cost_per_hour: {
    unit: "cost_per_hour",
    help: "What a team pays per hour now; what it holds and does not pay for stays with the platform.",
    formula:
      "sum over the accounting entries that its pods hold, in the states that the charge basis charges, of physical GPUs x price of a GPU-hour",
    example: "a team holds 6 GPUs at 4 an hour, and 5 of them are active: 6 x 4 = 24 by allocation, 5 x 4 = 20 by use.",
    labels: ["cluster", "team", "charge", "currency"],
    values: { charge: chargeBases },
    stability: "alpha",
  },
  fairlead_queue_cost_per_hour: {
    unit: "cost_per_hour",
    help: "What the work of a queue is charged per hour now; an empty queue is work that no queue took.",
    formula:
      "sum over the accounting entries that pods of the queue hold, in the states that the charge basis charges, of physical GPUs x price of a GPU-hour",
    example: "a queue runs one job on 16 GPUs at 2.50 an hour, all active: 16 x 2.50 = 40 by allocation and by use.",
    labels: ["cluster", "queue", "charge", "currency"],
    values: { charge: chargeBases },
    stability: "alpha",
  },
  fairlead_namespace_cost_per_hour: {
    unit: "cost_per_hour",
    help: "What the work of a namespace is charged per hour now; namespaces beyond the budget of series are `other`.",
    formula:
      "sum over the accounting entries that pods of the namespace hold, in the states that the charge basis charges, of physical GPUs x price of a GPU-hour",
    example:
      "a notebook holds half a GPU at 3 an hour and has been idle for long: 0.5 x 3 = 1.50 by allocation, 0 by use.",
    labels: ["cluster", "namespace", "team", "charge", "currency"],
    values: { charge: chargeBases },
    stability: "alpha",
  },
  fairlead_unallocated_cost_per_hour: {
    unit: "cost_per_hour",
    help: "What GPUs cost per hour now that nobody holds: free, on idle or cordoned nodes, or not usable.",
    formula: "sum over the accounting entries without a pod of physical GPUs x price of a GPU-hour",
    example: "of 16 GPUs at 4 an hour, 13 are allocated: 3 x 4 = 12.",
    labels: ["cluster", "pool", "currency"],
    stability: "alpha",
  },
  fairlead_workload_cost_per_hour: {
    unit: "cost_per_hour",
    help: "What the workloads that cost most hold per hour now, used or not; `cost.topWorkloads` says how many.",
    formula:
      "sum over the accounting entries that its pods hold, in every state, of physical GPUs x price of a GPU-hour",
    example: "a job of 4 pods with 8 GPUs each at 12.29 an hour: 4 x 8 x 12.29 = 393.28.",
    labels: ["cluster", "team", "namespace", "workload", "currency"],
    stability: "alpha",
  },
  fairlead_workload_cost_per_progress_unit: {
    unit: "cost",
    help: "What a unit of progress of a workload has cost since Fairlead saw it first; of workloads that say how far they are (annotation `fairlead.dev/progress-units`), the `cost.topWorkloads` that have cost most.",
    formula:
      "cost of what was allocated to its pods, used or not, in covered time in which all of it had a price / units that it made in that time; none while no unit was made",
    example:
      "a job on 8 GPUs at 4 USD an hour says 12 epochs when it is first seen and 20 two hours later: 8 x 4 x 2 / (20 - 12) = 8 USD per epoch.",
    labels: ["cluster", "team", "namespace", "workload", "currency"],
    stability: "alpha",
  },
} as const satisfies MetricArea;
