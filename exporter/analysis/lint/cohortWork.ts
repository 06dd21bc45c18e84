import type { CohortTree } from "../../join/queues/kueueTree.ts";
import { quotaKey } from "../../join/queues/nodeQuotas.ts";
import { once } from "../../kernel/once.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { KueueClusterQueue, KueueQuota } from "../../model/queues/kueue.ts";
import { type PriorityRange, type QueueWork, together } from "./kueueWork.ts";

/** The lowest priority that holds quota in one ClusterQueue. */
interface LowestOf {
  readonly queue: string;
  readonly priority: number;
}

/** By flavor and resource, the two ClusterQueues with the lowest priorities: one of them is not the queue in question. */
type LowestTwo = ReadonlyMap<string, readonly LowestOf[]>;

/** A tree of cohorts with the work in it, which determines what each of its queues can preempt by priority. */
export interface CohortWork {
  readonly ofQueue: ReadonlyMap<string, QueueWork>;
  /** The priorities of all work of its queues, and how many of them have any work. */
  readonly all: PriorityRange | null;
  readonly queuesWithWork: number;
  /** The lowest priorities in queues that hold more than their nominal quota: Kueue takes from no other queue of a cohort. */
  readonly ofBorrowers: LowestTwo;
  /** Number of queues that may borrow, by flavor and resource; counted when it is first asked for. */
  readonly borrowers: () => ReadonlyMap<string, number>;
}

/** Returns the work of a tree. */
export function cohortWork({ queues }: CohortTree, ofQueue: ReadonlyMap<string, QueueWork>): CohortWork {
  const ofBorrowers = new Map<string, readonly LowestOf[]>();
  let all: PriorityRange | null = null;
  let queuesWithWork = 0;
  for (const queue of queues) {
    const work = ofQueue.get(queue.name);
    if (work === undefined) continue;
    queuesWithWork += 1;
    all = together(all, together(work.waiting, work.admitted));
    for (const [key, { used, lowest: priority }] of work.allocated) {
      const nominal = queue.quotas.find((quota) => quotaKey(quota) === key)?.nominal ?? 0;
      if (used > nominal) ofBorrowers.set(key, withLowest(ofBorrowers.get(key), { queue: queue.name, priority }));
    }
  }
  return { ofQueue, all, queuesWithWork, ofBorrowers, borrowers: once(() => countBorrowers(queues)) };
}

function countBorrowers(queues: readonly KueueClusterQueue[]): ReadonlyMap<string, number> {
  const borrowers = new Map<string, number>();
  for (const { quotas } of queues)
    for (const key of new Set(quotas.filter(mayBorrow).map(quotaKey)))
      borrowers.set(key, (borrowers.get(key) ?? 0) + 1);
  return borrowers;
}

const withLowest = (known: readonly LowestOf[] = [], one: LowestOf): readonly LowestOf[] =>
  [...known, one].sort((a, b) => a.priority - b.priority).slice(0, 2);

/** Whether a quota lets its queue borrow. */
export const mayBorrow = ({ borrowingLimit }: KueueQuota): boolean => borrowingLimit !== 0;

/** The GPU quotas of a queue from which another queue of the tree may borrow. */
export function lentQuotas({ quotas }: KueueClusterQueue, { borrowers }: CohortWork): readonly KueueQuota[] {
  return quotas.filter(
    (quota) =>
      gpuLikeResource(quota.resource) &&
      quota.nominal > 0 &&
      quota.lendingLimit !== 0 &&
      (borrowers().get(quotaKey(quota)) ?? 0) > (mayBorrow(quota) ? 1 : 0),
  );
}

/** The lowest priority with which others borrow some flavors and resources; `null` if no queue does. */
export function lowestBorrowed(
  queue: string,
  quotas: readonly KueueQuota[],
  { ofBorrowers }: CohortWork,
): number | null {
  let lowest: number | null = null;
  for (const quota of quotas) {
    const other = ofBorrowers.get(quotaKey(quota))?.find((one) => one.queue !== queue);
    if (other !== undefined) lowest = Math.min(lowest ?? other.priority, other.priority);
  }
  return lowest;
}

/** What `LowerPriority` can take from the work that it may preempt at all. */
export type TakesLower =
  | { readonly does: "something" }
  | { readonly does: "nothing"; readonly highest: number; readonly lowest: number; readonly waiting: number }
  | { readonly does: "unknown" };

/**
 * Whether work of a queue can take what others borrow of these quotas, if it may take from lower priorities alone. If work
 * waits that could have some of these quotas, and others borrow them, the priorities of these decide; else the tree must have
 * one priority throughout, since it is not known what will wait.
 */
export function takesBackLower(queue: KueueClusterQueue, quotas: readonly KueueQuota[], tree: CohortWork): TakesLower {
  const work = tree.ofQueue.get(queue.name);
  if (work === undefined) return { does: "unknown" };
  const { waiting, allocated } = work;
  const open = quotas.filter((quota) => (allocated.get(quotaKey(quota))?.used ?? 0) < quota.nominal);
  const lowest = waiting === null ? null : lowestBorrowed(queue.name, open, tree);
  if (waiting === null || lowest === null) return ofOnePriority(tree);
  if (waiting.highest > lowest) return { does: "something" };
  return { does: "nothing", highest: waiting.highest, lowest, waiting: waiting.count };
}

/** The answer for several queues: if all their work has one priority, none of it is lower than any other. */
export function ofOnePriority({ all, queuesWithWork }: CohortWork): TakesLower {
  if (all === null || queuesWithWork < 2) return { does: "unknown" };
  return all.lowest === all.highest
    ? { does: "nothing", highest: all.highest, lowest: all.lowest, waiting: 0 }
    : { does: "unknown" };
}
