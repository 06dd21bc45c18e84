import type { Analysis } from "../analysis/analysis.ts";
import type { QueueFairness } from "../analysis/fairness/fairness.ts";
import type { QueueWaiting } from "../analysis/waiting/waiting.ts";
import type { Queueing, QueueView } from "../join/queues/queueing.ts";
import { labelValue } from "../kernel/labelValue.ts";

/** The label value of all queues beyond the budget. */
const otherQueues = "other";

/** A leaf queue in one domain, and how it fares. */
export interface QueueMember {
  readonly queue: QueueView;
  /** The fairness of the queue; `null` where entitlement is not known. */
  readonly fairness: QueueFairness | null;
  /** Physical GPUs that it borrows and its scheduler would move to starved queues. */
  readonly reclaimable: number;
}

/** What is published under one name: one leaf queue in one domain, or all that share the name `other`. */
interface QueueSeries {
  readonly labels: QueueLabels;
  /** The queues that share the name; there is at least one. */
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
  /** Pairs between which GPUs would be moved if a setting did not hold that back. */
  readonly heldBack: readonly PairSeries[];
  /** Whether a queue has series of its own; scheduler and name are those of its objects. */
  readonly isNamed: (scheduler: string, name: string) => boolean;
  /** The most names that the page may have. */
  readonly limit: number;
  /** How many queues have series of their own; `folded` is how many share the name `other`. */
  readonly named: number;
  readonly folded: number;
}

/** The most pairs of each domain that are published. */
const shownPairs = 10;

/**
 * The queues of a page: the `limit` largest leaf queues by allocated and waiting GPUs (then by name) keep their names, all
 * others of a scheduler and domain are added up as `other`, so that sums over queues stay the same.
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

/** Indices of the largest queues, by what they hold and wait for, then by name. */
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

/** The labels of a queue's series. */
export interface QueueLabels {
  readonly scheduler: string;
  readonly kind: string;
  readonly queue: string;
  readonly domain: string;
  /** The team of the queue; empty where several teams share the queue, or none is known. */
  readonly team: string;
}

/** A key that is the same for the same labels. */
function seriesKey({ scheduler, kind, queue, domain, team }: QueueLabels): string {
  return [scheduler, kind, queue, domain, team].join("\u0000");
}

/** What is published of all that waits in one queue with one priority class. */
export interface WaitingSeries {
  readonly labels: QueueLabels;
  readonly priorityClass: string;
  readonly gangs: number;
  readonly gpus: QueueWaiting["gpus"];
  readonly oldestSeconds: number | null;
  readonly meanGpuAgeSeconds: number | null;
  readonly ageBuckets: readonly number[];
  readonly late: number;
}

/** Adds up what waits by the labels of its queues' series; work that no queue takes has empty labels. */
function foldWaiting(
  waiting: readonly QueueWaiting[],
  queueing: Queueing,
  labels: ReadonlyMap<number, QueueLabels>,
): readonly WaitingSeries[] {
  const sums = new Map<string, WaitingSeries>();
  for (const { queue, domain, priorityClass, ...rest } of waiting) {
    const own = (queue === null ? undefined : labels.get(queue)) ?? noQueue(queueing, domain);
    const one = { ...rest, labels: own, priorityClass: labelValue(priorityClass) };
    const key = `${seriesKey(own)}\u0000${one.priorityClass}`;
    const known = sums.get(key);
    sums.set(key, known === undefined ? one : merged(known, one));
  }
  return [...sums.values()];
}

function noQueue({ domains }: Queueing, domain: number | null): QueueLabels {
  const name = domain === null ? "" : (domains[domain]?.name ?? "");
  return { scheduler: "", kind: "", queue: "", domain: labelValue(name), team: "" };
}

function merged(a: WaitingSeries, b: WaitingSeries): WaitingSeries {
  const gpus = { ...a.gpus };
  for (const [cause, amount] of Object.entries(b.gpus)) {
    if (isCause(cause, b.gpus)) gpus[cause] = (gpus[cause] ?? 0) + amount;
  }
  return {
    labels: a.labels,
    priorityClass: a.priorityClass,
    gangs: a.gangs + b.gangs,
    gpus,
    oldestSeconds: largest(a.oldestSeconds, b.oldestSeconds),
    meanGpuAgeSeconds: meanOf(a, b),
    ageBuckets: a.ageBuckets.map((count, index) => count + (b.ageBuckets[index] ?? 0)),
    late: a.late + b.late,
  };
}

function isCause(key: string, gpus: QueueWaiting["gpus"]): key is keyof QueueWaiting["gpus"] {
  return Object.hasOwn(gpus, key);
}

function largest(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.max(a, b);
}

function meanOf(a: WaitingSeries, b: WaitingSeries): number | null {
  if (a.meanGpuAgeSeconds === null) return b.meanGpuAgeSeconds;
  if (b.meanGpuAgeSeconds === null) return a.meanGpuAgeSeconds;
  const [x, y] = [totalGpus(a), totalGpus(b)];
  return x + y > 0 ? (a.meanGpuAgeSeconds * x + b.meanGpuAgeSeconds * y) / (x + y) : a.meanGpuAgeSeconds;
}

function totalGpus({ gpus }: WaitingSeries): number {
  return Object.values(gpus).reduce((sum, amount) => sum + amount, 0);
}
