import type { Analysis } from "../../analysis/analysis.ts";
import { queueKey } from "../../analysis/fairness/shortSince.ts";
import { mayBeQuietLong } from "../../analysis/stateLimits.ts";
import type { QueueView } from "../../join/queues/queueing.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import { isSameList } from "../../kernel/isSameList.ts";
import { once } from "../../kernel/once.ts";
import type { AdviceMoment } from "../moment.ts";
import { observeWorkloads } from "./observeWorkloads.ts";

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
  /** Its index among the workloads of the last moment. */
  readonly workload: number;
  /** Uids of its pods that hold GPUs. */
  readonly pods: readonly string[];
  /** Whether it holds only whole GPUs, each of them alone. */
  readonly holdsWholeGpus: boolean;
  /** The number of its whole GPUs that pods with several hold. */
  readonly severalGpus: number;
  /** UUIDs of its whole GPUs that were ever above the idle threshold; only for workloads whose pods hold several GPUs each. */
  readonly activeGpus: ReadonlySet<string>;
}

/** The most that a queue of a domain has held and asked for since `since`. */
export interface QueueUsage {
  readonly since: number;
  readonly peakDemand: number;
}

/** A watched queue, with what identifies it. */
interface WatchedQueue extends QueueUsage, Pick<QueueView, "scheduler" | "kind" | "name"> {
  readonly domain: string;
  readonly key: string;
}

/** What is remembered about use from cycle to cycle. */
export interface UsageWatch {
  /** When the watch was last updated, seconds since the epoch. */
  readonly at?: number;
  /** How many times it was updated. */
  readonly turn?: number;
  /** The watched workloads by `kind/namespace/name uid`. */
  readonly workloads: ReadonlyMap<string, WorkloadUsage>;
  /** The same by index among the workloads of the last moment: most of them are there again. */
  readonly byPlace?: readonly (WorkloadUsage | undefined)[];
  /** The watched queues by `queueKey`. */
  readonly queues: ReadonlyMap<string, QueueUsage>;
  /** The same by index among the queues of the last moment. */
  readonly queuesByPlace?: readonly (WatchedQueue | undefined)[];
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
  const byPlace = observeWorkloads(known, snapshot);
  const workloads = byKey(known, byPlace);
  return {
    at,
    turn: (known.turn ?? 0) + 1,
    byPlace,
    ...watchQueues(known, analysis),
    get workloads() {
      return workloads();
    },
  };
}

/** The watched workloads by key; the map of before if no workload has changed. Most moments ask for none of them. */
function byKey(
  before: UsageWatch,
  byPlace: readonly (WorkloadUsage | undefined)[],
): () => ReadonlyMap<string, WorkloadUsage> {
  if (isSameList(byPlace, before.byPlace ?? [])) return () => before.workloads;
  return once(() => new Map(byPlace.flatMap((usage) => (usage === undefined ? [] : [[usage.key, usage] as const]))));
}

function watchQueues(before: UsageWatch, { snapshot }: Analysis): Pick<UsageWatch, "queues" | "queuesByPlace"> {
  const { queues, domains } = snapshot.queueing;
  const last = before.queuesByPlace ?? [];
  const byPlace = queues.map((queue, place) => {
    const domain = domains[queue.domain]?.name;
    return domain === undefined ? undefined : watchedQueue(before, last[place], queue, domain, snapshot.at);
  });
  if (isSameList(byPlace, last)) return { queues: before.queues, queuesByPlace: last };
  const watched = new Map<string, QueueUsage>();
  for (const one of byPlace) if (one !== undefined) watched.set(one.key, one);
  return { queues: watched, queuesByPlace: byPlace };
}

/** `guess`: what was at the same place in the last moment. */
function watchedQueue(
  before: UsageWatch,
  guess: WatchedQueue | undefined,
  queue: QueueView,
  domain: string,
  at: number,
): WatchedQueue {
  const { scheduler, kind, name } = queue;
  const demand = queue.allocated + queue.pending;
  const isSame =
    guess?.name === name && guess.domain === domain && guess.kind === kind && guess.scheduler === scheduler;
  if (isSame && guess.peakDemand >= demand) return guess;
  const key = isSame ? guess.key : queueKey(queue, domain);
  const known = before.queues.get(key);
  const peakDemand = Math.max(known?.peakDemand ?? demand, demand);
  return { scheduler, kind, name, domain, key, since: known?.since ?? at, peakDemand };
}

/** The load of serving work changes with the hours: a watch shorter than a day shows little about it. */
const servingHours = 24;

/** A workload and its highest use, over a time that is long enough to advise that it needs less. */
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
