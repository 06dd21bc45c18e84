import type { Blocker } from "../../model/blockers.ts";
import type { Analysis } from "../analysis.ts";

/**
 * A waiting gang for which enough GPUs are free in the pools that could serve it, but which fits on no set of nodes.
 *
 * What it needs are the members that bring it to its minimum. A pool could serve it if three things are true: the pool is in
 * the quota domain in which the gang waits (for work of no queue system: any pool); one of its nodes, were it empty, has the
 * GPUs (or replicas, or MIG instances) for one of the pods; and one of its nodes has a model that the gang accepts. Other
 * labels, taints, CPU and memory decide where in the pool it may go. Free is what nobody holds there on nodes that are ready
 * and schedulable. For pods that ask for GPUs or a share of one, only GPUs that are neither shared by replicas nor partitioned
 * count; for others everything counts, and for MIG instances also slices that are in no instance. Where that is less than the
 * gang needs, or than one kind of its pods needs, the gang lacks capacity and is not blocked. Nor is work blocked that can
 * never run (`never`), or that asks for an unknown number of GPUs.
 *
 * This depends on nodes alone, whereas the cause of the wait (`WaitCause`) depends on other reasons first. So work with the
 * cause `fragmentation` is always blocked, and blocked work has the cause `fragmentation` with these exceptions:
 *
 * - `topology`: the blocker is `topology`, too;
 * - `constraint`, `admission_check`, `quota`, `gang`: that is why it waits now; it would still be blocked when that is settled.
 *   `constraint` also covers work that no node takes even when empty because of labels, taints, CPU or memory alone;
 * - `capacity`: this cause counts only what is free on nodes whose labels and taints allow the work, and in instances. The
 *   blocker is `model`, `selector`, `mig_geometry`, or `spread` where more than one thing would have to change.
 */
export interface BlockedWork {
  /** Index into `Queueing.gangs`. */
  readonly gang: number;
  /** `kind/namespace/name uid` of the gang; it does not change while the gang waits. */
  readonly key: string;
  /** The pools that could serve it. */
  readonly pools: readonly string[];
  /** Physical GPUs that it needs to start, and physical GPUs that are free in its pools. */
  readonly gpus: number;
  readonly freeGpus: number;
  readonly blocker: Blocker;
  /** Since when it has been blocked without a break, seconds since the epoch. */
  readonly since: number;
  /** Whether this has lasted for more than five minutes: only then it counts in what is published by pool. */
  readonly isStanding: boolean;
}

/** Work that is blocked at one moment. */
export interface Blocked {
  readonly work: readonly BlockedWork[];
  /** Since when each gang has been blocked, by `key`; the next moment needs it. */
  readonly since: ReadonlyMap<string, number>;
}

/** The value for a moment in which nothing is blocked. */
export const nothingBlocked: Blocked = { work: [], since: new Map() };

/** Standing blocked work of one pool, by what blocks it. */
interface BlockedInPool {
  readonly pool: string;
  readonly blocker: Blocker;
  readonly gangs: number;
  /** Physical GPUs that these gangs need to start. */
  readonly gpus: number;
  readonly longestSeconds: number;
}

/**
 * Work that has been blocked for more than five minutes; a gang that several pools could serve counts once, in the first by
 * name.
 */
export function blockedByPool({ blocked, snapshot }: Pick<Analysis, "blocked" | "snapshot">): readonly BlockedInPool[] {
  const sums = new Map<string, BlockedInPool>();
  for (const { pools, blocker, gpus, since, isStanding } of blocked.work) {
    const pool = [...pools].sort()[0];
    if (!isStanding || pool === undefined) continue;
    const key = `${blocker} ${pool}`;
    const before = sums.get(key) ?? { pool, blocker, gangs: 0, gpus: 0, longestSeconds: 0 };
    const longestSeconds = Math.max(before.longestSeconds, snapshot.at - since);
    sums.set(key, { ...before, gangs: before.gangs + 1, gpus: before.gpus + gpus, longestSeconds });
  }
  return [...sums.values()];
}
