import { mayBeQuietLong } from "../../analysis/stateLimits.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import type { AdviceMoment } from "../moment.ts";
import type { WorkloadUsage } from "../usage/usageWatch.ts";

/** Load of what serves requests comes with the hours: a watch shorter than a day says little of it. */
const servingHours = 24;

/** A workload, and what it used at most for as long as must be known before anybody says that it needs less. */
export interface WatchedWorkload {
  readonly usage: WorkloadUsage;
  readonly workload: WorkloadView;
}

/**
 * The workloads that have been watched for at least `advice.usageHours` (what serves requests: a day at least) with whole GPUs
 * that are all theirs, that did something, and of which nobody said that they may be idle.
 */
export function* watchedLong({ analysis, settings, usage }: AdviceMoment): Generator<WatchedWorkload> {
  const { at, workloads, pods } = analysis.snapshot;
  for (const one of usage.workloads.values()) {
    const workload = workloads[one.workload];
    if (workload === undefined || !one.holdsWholeGpus || one.peakActiveGpus <= 0) continue;
    const hours = mayBeQuietLong(workload) ? Math.max(servingHours, settings.usageHours) : settings.usageHours;
    if (at - one.since < hours * 3600) continue;
    if (workload.pods.some((index) => pods[index]?.idleOptOut !== false)) continue;
    yield { usage: one, workload };
  }
}
