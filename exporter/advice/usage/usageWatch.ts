import type { Analysis } from "../../analysis/analysis.ts";
import { queueKey } from "../../analysis/fairness/shortSince.ts";
import { mayBeQuietLong } from "../../analysis/stateLimits.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import type { AdviceMoment } from "../moment.ts";
import { observeWorkloads } from "./observeWorkloads.ts";

/** The most that a workload used of its GPUs since `since`. */
export interface WorkloadUsage {
  /** Since when it has been watched with what it holds now, seconds since the epoch. */
  readonly since: number;
  /** Physical GPUs that it held then and ever since. */
  readonly gpus: number;
  /** Largest activity of all it holds, as physical GPUs that were busy at once. */
  readonly peakActiveGpus: number;
  /** Largest activity of any one device, 0..1 of the share allocated. */
  readonly peakActivity: number;
  /** Largest part of any one device's memory in use, 0..1; `null` where memory is not known. */
  readonly peakMemoryRatio: number | null;
  /** As in `UsageWatch.workloads`. */
  readonly key: string;
  /** Its place among the workloads of the last moment. */
  readonly workload: number;
  /** Uids of the pods that it holds GPUs with. */
  readonly pods: readonly string[];
  /** All that it holds are whole GPUs, each its own alone. */
  readonly holdsWholeGpus: boolean;
  /** UUIDs of its whole GPUs that were ever above the idle threshold; only of workloads whose pods hold several each. */
  readonly activeGpus: ReadonlySet<string>;
}

/** The most that a queue of a domain allocated and asked for since `since`. */
export interface QueueUsage {
  readonly since: number;
  readonly peakDemand: number;
}

/** What is remembered of use from cycle to cycle. */
export interface UsageWatch {
  /** When it was last reported, seconds since the epoch. */
  readonly at?: number;
  /** By `kind/namespace/name uid` of the workload. */
  readonly workloads: ReadonlyMap<string, WorkloadUsage>;
  /** The same by their place among the workloads of the last moment, where they mostly are again. */
  readonly byPlace?: readonly (WorkloadUsage | undefined)[];
  /** By `queueKey`. */
  readonly queues: ReadonlyMap<string, QueueUsage>;
}

/** A process that has watched nothing yet. */
export const nothingWatched: UsageWatch = { workloads: new Map(), queues: new Map() };

/** After a longer time without a look, the watch begins anew. Seconds; three of the longest cycles. */
export const longestGapSeconds = 1800;

/** The name of a workload in the watch: two that follow each other under one name differ by uid. */
export function usageKey({ kind, namespace, name, owners, ownerUids }: WorkloadView): string {
  return `${kind}/${namespace}/${name} ${owners.at(-1)?.uid ?? ownerUids.at(-1) ?? ""}`;
}

/**
 * The watch after one more moment. A workload is watched for as long as it holds the same GPUs with the same pods, all of them
 * running and observed and on devices that are known; one moment without that makes its watch begin anew. Workloads that are
 * gone are forgotten.
 */
export function watchUsage(before: UsageWatch, analysis: Analysis): UsageWatch {
  const { snapshot } = analysis;
  const { at } = snapshot;
  // While pods are not read, nobody knows what is allocated or waits.
  if (!snapshot.coverage.objects) return { at, workloads: new Map(), queues: new Map() };
  const gap = at - (before.at ?? at);
  const known = gap < 0 || gap > longestGapSeconds ? nothingWatched : before;
  const byPlace = observeWorkloads(known, snapshot);
  const workloads = byKey(known, byPlace);
  return { at, workloads, byPlace, queues: watchQueues(known, analysis) };
}

/** By key; the very map of before where every workload is as it was. */
function byKey(
  before: UsageWatch,
  byPlace: readonly (WorkloadUsage | undefined)[],
): ReadonlyMap<string, WorkloadUsage> {
  const last = before.byPlace;
  if (last?.length === byPlace.length && byPlace.every((usage, place) => usage === last[place]))
    return before.workloads;
  const workloads = new Map<string, WorkloadUsage>();
  for (const usage of byPlace) {
    if (usage !== undefined) workloads.set(usage.key, usage);
  }
  return workloads;
}

function watchQueues(before: UsageWatch, { snapshot }: Analysis): ReadonlyMap<string, QueueUsage> {
  const watched = new Map<string, QueueUsage>();
  for (const queue of snapshot.queueing.queues) {
    const domain = snapshot.queueing.domains[queue.domain];
    if (domain === undefined) continue;
    const key = queueKey(queue, domain.name);
    const demand = queue.allocated + queue.pending;
    const known = before.queues.get(key);
    if (known !== undefined && known.peakDemand >= demand) watched.set(key, known);
    else watched.set(key, { since: known?.since ?? snapshot.at, peakDemand: demand });
  }
  return watched;
}

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
