import { mayBeQuietLong } from "../../analysis/stateLimits.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import type { AdviceMoment } from "../moment.ts";
import type { WorkloadUsage } from "../usage/usageWatch.ts";

/** The load of serving work changes with the hours: a watch shorter than a day shows little about it. */
const servingHours = 24;

/** A workload and its highest use, over the time that must be known before advice to need less. */
export interface WatchedWorkload {
  readonly usage: WorkloadUsage;
  readonly workload: WorkloadView;
}

/**
 * The workloads that have been watched for at least `advice.usageHours` (serving work for at least a day), hold whole GPUs
 * that are entirely theirs, did something, and are not declared to be idle on purpose.
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
