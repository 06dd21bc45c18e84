import type { Analysis } from "../analysis/analysis.ts";
import type { QueueFairness } from "../analysis/fairness/fairness.ts";
import { queueKey } from "../analysis/fairness/shortSince.ts";
import type { QueueView } from "../join/queues/queueing.ts";
import { gpuTolerance } from "../model/gpuTolerance.ts";

/** A leaf queue that lacks GPUs, whatever the cause: GPUs of its entitlement, or of a guarantee without nodes. */
export interface ShortQueue {
  readonly queue: QueueView;
  /** Name of its quota domain. */
  readonly domain: string;
  readonly fairness: QueueFairness;
  /** The queues from which its scheduler would take what it misses, the largest amount first. */
  readonly borrowers: readonly { readonly queue: string; readonly gpus: number }[];
  /** How long its oldest work waits; `null` when that is not known. */
  readonly oldestSeconds: number | null;
  /**
   * The GPUs of its waiting work that fits into what is free, but nowhere together: GPUs that are merely given to the queue
   * start none of it. `null` if there is other work, or none.
   */
  readonly scatteredGpus: number | null;
  /** How long it has been short without a break; `null` if that is not remembered. */
  readonly shortSeconds: number | null;
}

/** Queues that miss GPUs, the worst first. */
export function shortQueues(analysis: Analysis): readonly ShortQueue[] {
  const { snapshot, fairness } = analysis;
  const { queues, domains } = snapshot.queueing;
  const short = queues.flatMap((queue, index) => {
    const own = fairness.queues[index] ?? null;
    return queue.isLeaf && own !== null && own.shortfall > gpuTolerance ? [{ queue, index, fairness: own }] : [];
  });
  if (short.length === 0) return [];
  const borrowers = borrowersByQueue(analysis);
  const oldest = oldestByQueue(analysis);
  const scattered = scatteredByQueue(analysis);
  return short
    .sort((a, b) => b.fairness.shortfall - a.fairness.shortfall)
    .map(({ queue, index, fairness: own }) => ({
      queue,
      domain: domains[queue.domain]?.name ?? "",
      fairness: own,
      borrowers: borrowers.get(index) ?? [],
      oldestSeconds: oldest.get(index) ?? null,
      scatteredGpus: scattered.get(index) ?? null,
      shortSeconds: secondsShort(analysis, queue),
    }));
}

/** For how long a queue has been short of its entitlement. */
function secondsShort({ snapshot, shortSince }: Analysis, queue: QueueView): number | null {
  const since = shortSince.get(queueKey(queue, snapshot.queueing.domains[queue.domain]?.name ?? ""));
  return since === undefined ? null : Math.max(0, snapshot.at - since);
}

function borrowersByQueue({ snapshot, fairness }: Analysis): ReadonlyMap<number, ShortQueue["borrowers"]> {
  const byQueue = new Map<number, { queue: string; gpus: number }[]>();
  for (const { starved, borrower, gpus } of fairness.domains.flatMap((domain) => domain?.pairs ?? [])) {
    const known = byQueue.get(starved) ?? [];
    known.push({ queue: snapshot.queueing.queues[borrower]?.name ?? "", gpus });
    byQueue.set(starved, known);
  }
  return byQueue;
}

/** For each queue all of whose waiting work fits nowhere together: its GPUs. */
function scatteredByQueue({ waiting }: Analysis): ReadonlyMap<number, number> {
  const byQueue = new Map<number, number>();
  const others = new Set<number>();
  for (const { queue, gpus } of waiting.queues) {
    if (queue === null) continue;
    const { fragmentation = 0, topology = 0 } = gpus;
    byQueue.set(queue, (byQueue.get(queue) ?? 0) + fragmentation + topology);
    const all = Object.values(gpus).reduce((sum, amount) => sum + amount, 0);
    if (all - fragmentation - topology > gpuTolerance) others.add(queue);
  }
  for (const [queue, gpus] of byQueue) if (others.has(queue) || gpus <= gpuTolerance) byQueue.delete(queue);
  return byQueue;
}

function oldestByQueue({ waiting }: Analysis): ReadonlyMap<number, number> {
  const byQueue = new Map<number, number>();
  for (const { queue, oldestSeconds } of waiting.queues) {
    if (queue !== null && oldestSeconds !== null) byQueue.set(queue, Math.max(oldestSeconds, byQueue.get(queue) ?? 0));
  }
  return byQueue;
}
