import type { Analysis } from "../../analysis/analysis.ts";
import { inOneStep, type Steps } from "../../kernel/steps.ts";

/** The most that a workload used of its GPUs since `since`. */
export interface WorkloadUsage {
  /** Since when it has been watched with what it holds now, seconds since the epoch. */
  readonly since: number;
  /** Physical GPUs that it held then and ever since. */
  readonly gpus: number;
  /** Largest activity of all it holds, as physical GPUs that were busy at once. */
  readonly peakActiveGpus: number;
  /** Largest activity of any one device, 0..1 of the share held. */
  readonly peakActivity: number;
  /** Largest part of any one device's memory in use, 0..1; `null` where memory is not known. */
  readonly peakMemoryRatio: number | null;
}

/** The most that a queue of a domain held and asked for since `since`. */
export interface QueueUsage {
  readonly since: number;
  readonly peakDemand: number;
}

/** What is remembered of use from cycle to cycle. */
export interface UsageWatch {
  /** By `kind/namespace/name uid` of the workload. */
  readonly workloads: ReadonlyMap<string, WorkloadUsage>;
  /** By `queueKey`. */
  readonly queues: ReadonlyMap<string, QueueUsage>;
}

/** A process that has watched nothing yet. */
export const nothingWatched: UsageWatch = { workloads: new Map(), queues: new Map() };

/** The watch after one more moment. */
export function watchUsage(before: UsageWatch, analysis: Analysis): UsageWatch {
  return inOneStep(watchUsageInSteps(before, analysis));
}

/** `watchUsage` with pauses. */
export function* watchUsageInSteps(before: UsageWatch, _analysis: Analysis): Steps<UsageWatch> {
  yield;
  return before;
}
