import type { Analysis } from "../analysis/analysis.ts";
import type { QueueFairness } from "../analysis/fairness/fairness.ts";
import type { QueueView } from "../join/queues/queueing.ts";
import { labelValue } from "../kernel/labelValue.ts";
import { type QueueLabels, seriesKey } from "./queueLabels.ts";
import { foldWaiting, type WaitingSeries } from "./waitingSeries.ts";

/** The label value of all queues beyond the budget. */
const otherQueues = "other";

/** What is published of one leaf queue in one domain, or of all that share the name `other`. Physical GPUs. */
export interface QueueSeries {
  readonly labels: QueueLabels;
  readonly allocated: number;
  readonly pending: number;
  readonly guaranteed: number;
  /** `Infinity` without a limit. */
  readonly limit: number;
  readonly reserved: number | null;
  /** `null` where several queues are folded together. */
  readonly weight: number | null;
  /** `null` where entitlement cannot be reported. */
  readonly fairness: FairnessSums | null;
}

/** The part of a queue's fairness that can be added up. Physical GPUs. */
export type FairnessSums = Pick<
  QueueFairness,
  | "entitled"
  | "deviation"
  | "shortfallByBorrowers"
  | "shortfallByIdleGap"
  | "shortfallByIndivisible"
  | "actionableShortfall"
> & {
  /** Whoever is to fix it. */
  readonly shortfallByAbsentCapacity: number;
  /** Of what it borrows: what its scheduler would move to starved queues. */
  readonly reclaimable: number;
};

/** A starved queue and a borrower, by the names of their series. */
export interface PairSeries {
  readonly domain: string;
  readonly starved: string;
  readonly borrower: string;
  readonly gpus: number;
}

/** The queues of a page. */
export interface QueueFold {
  readonly queues: readonly QueueSeries[];
  readonly waiting: readonly WaitingSeries[];
  readonly pairs: readonly PairSeries[];
  /** What would be moved if a setting did not hold it back. */
  readonly heldBack: readonly PairSeries[];
  /** Whether a queue has series of its own: `scheduler/name` as its objects have them. */
  readonly isNamed: (scheduler: string, name: string) => boolean;
  /** The most names that the page may have. */
  readonly limit: number;
  /** Queues with series of their own, and queues that share the name `other`. */
  readonly named: number;
  readonly folded: number;
}

/** Pairs of each domain that are published. */
const shownPairs = 10;

/**
 * The queues of a page: the `limit` largest leaf queues by allocated and waiting GPUs (then by name) keep their names, all
 * others of a system and domain are added up as `other`, so that sums over queues stay what they were.
 */
export function foldQueues(analysis: Analysis, limit: number): QueueFold {
  const { queues, domains } = analysis.snapshot.queueing;
  const leaves = [...queues.entries()].filter(([, queue]) => queue.isLeaf);
  const largest = leaves.length <= limit ? null : new Set(largestOf(leaves, limit));
  const labels = new Map<number, QueueLabels>();
  const named = new Set<string>();
  for (const [index, queue] of leaves) {
    const own = largest === null || largest.has(index);
    if (own) named.add(`${queue.scheduler}/${queue.name}`);
    labels.set(index, {
      scheduler: queue.scheduler,
      kind: queue.kind,
      queue: own ? labelValue(queue.name) : otherQueues,
      domain: labelValue(domains[queue.domain]?.name ?? ""),
      team: own ? labelValue(queue.team ?? "") : "",
    });
  }
  return {
    queues: addUp(analysis, labels),
    waiting: foldWaiting(analysis.waiting.queues, analysis.snapshot.queueing, labels),
    pairs: pairsOf(analysis, labels, "pairs"),
    heldBack: pairsOf(analysis, labels, "heldBack"),
    isNamed: (scheduler, name) => named.has(`${scheduler}/${name}`),
    limit,
    named: Math.min(limit, leaves.length),
    folded: Math.max(0, leaves.length - limit),
  };
}

/** Indices of the largest, by what they hold and wait for, then by name. */
function largestOf(leaves: readonly (readonly [number, QueueView])[], limit: number): readonly number[] {
  const size = ({ allocated, pending }: QueueView) => allocated + pending;
  return leaves
    .toSorted(([, a], [, b]) => size(b) - size(a) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .slice(0, limit)
    .map(([index]) => index);
}

function addUp({ snapshot, fairness }: Analysis, labels: ReadonlyMap<number, QueueLabels>): readonly QueueSeries[] {
  const sums = new Map<string, QueueSeries>();
  const reclaimable = new Map<number, number>();
  for (const { borrower, gpus } of fairness.domains.flatMap((domain) => domain?.pairs ?? []))
    reclaimable.set(borrower, (reclaimable.get(borrower) ?? 0) + gpus);
  for (const [index, own] of labels) {
    const queue = snapshot.queueing.queues[index];
    if (queue === undefined) continue;
    const key = seriesKey(own);
    const judged = fairness.queues[index] ?? null;
    const one = seriesOf(queue, own, judged === null ? null : sumsOf(judged, reclaimable.get(index) ?? 0));
    const known = sums.get(key);
    sums.set(key, known === undefined ? one : together(known, one));
  }
  return [...sums.values()];
}

const sumsOf = (fairness: QueueFairness, reclaimable: number): FairnessSums => ({
  entitled: fairness.entitled,
  deviation: fairness.deviation,
  shortfallByBorrowers: fairness.shortfallByBorrowers,
  shortfallByIdleGap: fairness.shortfallByIdleGap,
  shortfallByAbsentCapacity: fairness.shortfallByAbsentCapacity.reduce((sum, { gpus }) => sum + gpus, 0),
  shortfallByIndivisible: fairness.shortfallByIndivisible,
  actionableShortfall: fairness.actionableShortfall,
  reclaimable,
});

function seriesOf(queue: QueueView, labels: QueueLabels, fairness: FairnessSums | null): QueueSeries {
  const { allocated, pending, guaranteed, limit, reserved, weight } = queue;
  return { labels, allocated, pending, guaranteed, limit, reserved, weight, fairness };
}

function together(a: QueueSeries, b: QueueSeries): QueueSeries {
  return {
    labels: a.labels,
    allocated: a.allocated + b.allocated,
    pending: a.pending + b.pending,
    guaranteed: a.guaranteed + b.guaranteed,
    limit: a.limit + b.limit,
    reserved: a.reserved === null || b.reserved === null ? null : a.reserved + b.reserved,
    weight: null,
    fairness: a.fairness === null || b.fairness === null ? null : sumOf(a.fairness, b.fairness),
  };
}

function sumOf(a: FairnessSums, b: FairnessSums): FairnessSums {
  return {
    entitled: a.entitled + b.entitled,
    deviation: a.deviation + b.deviation,
    shortfallByBorrowers: a.shortfallByBorrowers + b.shortfallByBorrowers,
    shortfallByIdleGap: a.shortfallByIdleGap + b.shortfallByIdleGap,
    shortfallByAbsentCapacity: a.shortfallByAbsentCapacity + b.shortfallByAbsentCapacity,
    shortfallByIndivisible: a.shortfallByIndivisible + b.shortfallByIndivisible,
    actionableShortfall: a.actionableShortfall + b.actionableShortfall,
    reclaimable: a.reclaimable + b.reclaimable,
  };
}

/** The largest pairs of each domain; pairs of folded queues are added up. */
function pairsOf(
  { fairness, snapshot }: Analysis,
  labels: ReadonlyMap<number, QueueLabels>,
  which: "pairs" | "heldBack",
): readonly PairSeries[] {
  return fairness.domains.flatMap((found, index) => {
    const domain = labelValue(snapshot.queueing.domains[index]?.name ?? "");
    const sums = new Map<string, PairSeries>();
    for (const { starved, borrower, gpus } of found?.[which] ?? []) {
      const [hungry, full] = [labels.get(starved)?.queue, labels.get(borrower)?.queue];
      if (hungry === undefined || full === undefined) continue;
      const key = `${hungry}\u0000${full}`;
      sums.set(key, { domain, starved: hungry, borrower: full, gpus: gpus + (sums.get(key)?.gpus ?? 0) });
    }
    return [...sums.values()].sort((a, b) => b.gpus - a.gpus).slice(0, shownPairs);
  });
}
