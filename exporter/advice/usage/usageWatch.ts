import type { Analysis } from "../../analysis/analysis.ts";
import { mayBeQuietLong } from "../../analysis/stateLimits.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import { once } from "../../kernel/once.ts";
import type { AdviceMoment } from "../moment.ts";
import { isSettled, observeWorkloads } from "./observeWorkloads.ts";
import { type QueueWatch, watchQueues } from "./watchQueues.ts";
import { noTurns, type WorkTurns } from "./workTurns.ts";

/** The most that a workload has used of its GPUs since `since`. */
export interface WorkloadUsage {
  /** Since when it has been watched with what it holds now, seconds since the epoch. */
  readonly since: number;
  /** Physical GPUs that it has held since then. */
  readonly gpus: number;
  /** The largest activity of everything that it holds, as the number of physical GPUs that were busy at once. */
  readonly peakActiveGpus: number;
  /** The largest activity of any one of its devices, 0..1 of the allocated share. */
  readonly peakActivity: number;
  /** The largest part of the memory of any one of its devices that was in use, 0..1; `null` if memory is not known. */
  readonly peakMemoryRatio: number | null;
  /** Its key in `UsageWatch.workloads`. */
  readonly key: string;
  /** Uids of its pods that hold GPUs. */
  readonly pods: readonly string[];
  /** Whether it holds only whole GPUs, each of them alone. */
  readonly holdsWholeGpus: boolean;
  /** The number of its whole GPUs that pods with several hold. */
  readonly severalGpus: number;
  /** UUIDs of its whole GPUs that were ever above the idle threshold; only for workloads whose pods hold several GPUs each. */
  readonly activeGpus: ReadonlySet<string>;
}

/** What is remembered about use from cycle to cycle. */
export interface UsageWatch extends QueueWatch {
  /** When the watch was last updated, seconds since the epoch. */
  readonly at?: number;
  /** When each workload is looked at again. */
  readonly turns?: WorkTurns;
  /** The watched workloads by `kind/namespace/name uid`. */
  readonly workloads: ReadonlyMap<string, WorkloadUsage>;
  /** The same by index among the workloads of the last moment: most of them are there again. */
  readonly byPlace?: readonly (WorkloadUsage | undefined)[];
}

/** The watch of a process that has watched nothing yet. */
export const nothingWatched: UsageWatch = { workloads: new Map(), queues: new Map() };

/** If there was no look for longer than this (seconds), the watch begins anew. These are three of the longest cycles. */
export const longestGapSeconds = 1800;

/** The key of a workload in the watch: two workloads that exist one after the other under one name differ by uid. */
export function usageKey({ kind, namespace, name, owners, ownerUids }: WorkloadView): string {
  return `${kind}/${namespace}/${name} ${owners.at(-1)?.uid ?? ownerUids.at(-1) ?? ""}`;
}

/**
 * The watch after one more moment. A workload is watched for as long as the same pods hold the same GPUs, and all pods run, are
 * observed and are on known devices. If this is not true in one moment, its watch begins anew. Workloads that are gone are
 * forgotten.
 */
export function watchUsage(before: UsageWatch, analysis: Analysis): UsageWatch {
  const { snapshot } = analysis;
  const { at } = snapshot;
  // While pods are not read, it is not known what is allocated or waits.
  if (!snapshot.coverage.objects) return { at, workloads: new Map(), queues: new Map() };
  const gap = at - (before.at ?? at);
  const known = gap < 0 || gap > longestGapSeconds ? nothingWatched : before;
  const { byPlace, turns } = observeWorkloads(known, snapshot);
  const workloads = once(() => byKey(byPlace));
  const watched = watchQueues(known, analysis);
  return {
    at,
    turns,
    byPlace,
    ...(watched.columns === undefined ? {} : { columns: watched.columns }),
    get queues() {
      return watched.queues;
    },
    get workloads() {
      return workloads();
    },
  };
}

/** The watched workloads by key. Most moments ask for none of them. */
const byKey = (byPlace: readonly (WorkloadUsage | undefined)[]): ReadonlyMap<string, WorkloadUsage> =>
  new Map(byPlace.flatMap((usage) => (usage === undefined ? [] : [[usage.key, usage] as const])));

/** The load of serving work changes with the hours: a watch shorter than a day shows little about it. */
const servingHours = 24;

/** A workload and its highest use, over a time that is long enough to advise that it needs less. */
export interface WatchedWorkload {
  readonly usage: WorkloadUsage;
  readonly workload: WorkloadView;
  /** Its index among the workloads of the moment. */
  readonly index: number;
}

/**
 * The workloads that have been watched for at least `advice.usageHours` (serving work for at least a day), hold whole GPUs
 * that are entirely theirs, did something, are not settled (`isSettled`), and are not declared to be idle on purpose.
 */
export function* watchedLong({ analysis, settings, usage }: AdviceMoment): Generator<WatchedWorkload> {
  const { at, workloads, pods } = analysis.snapshot;
  const { byPlace = [], turns: { turn, due } = noTurns } = usage;
  for (let index = 0; index < byPlace.length; index += 1) {
    const one = byPlace[index];
    // What is not due in the next moment is settled, or not watched.
    if ((due[index] ?? 0) > turn + 1 || one === undefined || one.peakActiveGpus <= 0 || isSettled(one)) continue;
    const workload = workloads[index];
    if (workload === undefined) continue;
    const hours = mayBeQuietLong(workload) ? Math.max(servingHours, settings.usageHours) : settings.usageHours;
    if (at - one.since < hours * 3600) continue;
    if (workload.pods.some((index) => pods[index]?.idleOptOut !== false)) continue;
    yield { usage: one, workload, index };
  }
}
