import { gapReasons } from "../model/gapReasons.ts";
import { applicationErrors, degradedCauses, failureErrors, unavailableCauses } from "../model/gpuFaults.ts";
import { gpuStates } from "../model/gpuStates.ts";
import { nodeTimeStates } from "../model/idleKinds.ts";
import { idleReasons } from "../model/idleReasons.ts";
import { tokenKinds } from "../model/serving.ts";
import type { MetricArea } from "./metric.ts";

/** GPU time since the process started. All ratios over time follow from these counters. */
export const accountsMetrics = {
  fairlead_covered_seconds_total: {
    unit: "seconds",
    help: "Time that is accounted for, since the start.",
    labels: ["cluster"],
  },
  fairlead_uncovered_seconds_total: {
    unit: "seconds",
    help: "Time between two cycles that is not accounted for: the step was too long, the clock was set, or nodes and pods were not known.",
    labels: ["cluster", "reason"],
    values: { reason: gapReasons },
  },
  fairlead_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "Time of physical GPUs by what they were doing and for whom; all of a pool add up to its physical GPUs times the covered seconds.",
    labels: ["cluster", "state", "team", "queue", "pool", "capacity_type", "priority_class"],
    values: { state: gpuStates },
  },
  fairlead_unavailable_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "Time of physical GPUs in state unavailable by what made them so; all causes of a pool add up to that state in fairlead_gpu_seconds_total.",
    example: "an H100 of a healthy node that the API has not offered since XID 94, held by ads: cause ecc, team ads.",
    labels: ["cluster", "pool", "team", "cause"],
    values: { cause: unavailableCauses },
    stability: "alpha",
  },
  fairlead_degraded_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "Time of allocated GPUs that worked but were slowed down by heat, power or their hardware; it stays counted as what they did. Telemetry without clock event reasons shows none.",
    labels: ["cluster", "pool", "team", "cause"],
    values: { cause: degradedCauses },
    stability: "alpha",
  },
  fairlead_idle_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "Time of physical GPUs in state idle by why they are; all reasons of a pool add up to that state in fairlead_gpu_seconds_total.",
    example:
      "a server whose kernels poll for requests keeps a GPU wholly busy and has had none for three hours: reason no-requests for the last of them.",
    labels: ["cluster", "pool", "team", "reason"],
    values: { reason: idleReasons },
    stability: "alpha",
  },
  fairlead_served_requests_total: {
    unit: "count",
    help: "Requests that servers holding GPUs have answered or given up, by their own counters, since the start; absent where none is asked.",
    labels: ["cluster", "pool", "team"],
    stability: "alpha",
  },
  fairlead_served_tokens_total: {
    unit: "count",
    help: "Tokens that servers holding GPUs have read (prompt) and written (generated), by their own counters, since the start.",
    labels: ["cluster", "pool", "team", "kind"],
    values: { kind: tokenKinds },
    stability: "alpha",
  },
  fairlead_application_errors_total: {
    unit: "count",
    help: "XID errors that blame the job and not the GPU, by the team that held the GPU alone when it first showed the error. The same error once more on one GPU, and errors of GPUs that several teams share, are not counted.",
    example: "a job of search reads an address that is not its own (XID 31): team search, error memory_fault.",
    labels: ["cluster", "team", "error"],
    values: { error: applicationErrors },
    stability: "alpha",
  },
  fairlead_failures_total: {
    unit: "count",
    help: "Programs in batch pods that failed and were started again, by the XID error that a GPU of the pod showed then; unknown: none was seen.",
    example:
      "a container with 8 GPUs ends with exit code 1 after two hours, and the kubelet starts it again: 1, and error unknown.",
    labels: ["cluster", "team", "error"],
    values: { error: failureErrors },
    stability: "alpha",
  },
  fairlead_failed_lost_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "GPU time that these failures undid: since the last checkpoint, or since the start of the program where none is known, which is an upper bound.",
    example: "the 8 GPUs of the example above, without a checkpoint: 57,600.",
    labels: ["cluster", "team", "error"],
    values: { error: failureErrors },
    stability: "alpha",
  },
  fairlead_energy_joules_total: {
    unit: "joules",
    help: "Energy of the GPUs that report energy or power, divided among the accounting entries of each GPU; absent where none does.",
    labels: ["cluster", "team", "pool", "state"],
    values: { state: gpuStates },
    stability: "alpha",
  },
  fairlead_accounting_imbalance_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "Difference between allocated GPU time counted by device and by pod, summed over the nodes of a pool.",
    labels: ["cluster", "pool"],
    stability: "alpha",
  },
  fairlead_node_seconds_total: {
    unit: "node_seconds",
    help: "Time of nodes that have or should have GPUs by what they were doing; a node with several pools counts for its first.",
    labels: ["cluster", "node_pool", "pool", "state", "capacity_type"],
    values: { state: nodeTimeStates },
    stability: "alpha",
  },
} as const satisfies MetricArea;
