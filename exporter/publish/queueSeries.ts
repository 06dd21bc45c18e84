import type { Analysis } from "../analysis/analysis.ts";
import type { QueueFairness } from "../analysis/fairness/fairness.ts";
import type { QueueView } from "../join/queues/queueing.ts";
import { labelValue } from "../kernel/labelValue.ts";
import { foldWaiting, type QueueLabels, seriesKey, type WaitingSeries } from "./waitingSeries.ts";

/** The label value of all queues beyond the budget. */
const otherQueues = "other";

/** A leaf queue in one domain, and how it fares. */
export interface QueueMember {
  readonly queue: QueueView;
  /** `null` where entitlement is not known. */
  readonly fairness: QueueFairness | null;
  /** Physical GPUs of what it borrows that its scheduler would move to starved queues. */
  readonly reclaimable: number;
}

/** What is published under one name: one leaf queue in one domain, or all that share the name `other`. */
export interface QueueSeries {
  readonly labels: QueueLabels;
  /** At least one. */
  readonly members: readonly QueueMember[];
}

/** The sum of a number over all queues of a series; `null` if it is unknown for one of them. */
export function together(
  { members }: QueueSeries,
  numberOf: (member: QueueMember) => number | null | undefined,
): number | null {
  let sum = 0;
  for (const member of members) {
    const own = numberOf(member) ?? null;
    if (own === null) return null;
    sum += own;
  }
  return sum;
}

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
    queues: seriesOf(analysis, labels),
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

function seriesOf({ snapshot, fairness }: Analysis, labels: ReadonlyMap<number, QueueLabels>): readonly QueueSeries[] {
  const series = new Map<string, QueueSeries & { readonly members: QueueMember[] }>();
  const reclaimable = new Map<number, number>();
  for (const { borrower, gpus } of fairness.domains.flatMap((domain) => domain?.pairs ?? []))
    reclaimable.set(borrower, (reclaimable.get(borrower) ?? 0) + gpus);
  for (const [index, own] of labels) {
    const queue = snapshot.queueing.queues[index];
    if (queue === undefined) continue;
    const key = seriesKey(own);
    const member = { queue, fairness: fairness.queues[index] ?? null, reclaimable: reclaimable.get(index) ?? 0 };
    const known = series.get(key);
    if (known === undefined) series.set(key, { labels: own, members: [member] });
    else known.members.push(member);
  }
  return [...series.values()];
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
