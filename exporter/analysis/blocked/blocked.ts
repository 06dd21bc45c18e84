import type { Blocker } from "../../model/blockers.ts";
import type { Analysis } from "../analysis.ts";

/**
 * A waiting gang for which enough GPUs are free in the pools that could serve it, and that fits on no set of nodes.
 *
 * What it needs are the members that bring it to its minimum. A pool could serve it if it is in the quota domain in which the
 * gang waits (of work of no queue system: any pool), one of its nodes, were it empty, has the GPUs (or replicas, or MIG
 * instances) for one of its pods, and one is of a model that it takes; other labels, taints, CPU and memory decide where in
 * the pool it may go. Free is what nobody holds there on nodes that are ready and schedulable: on GPUs that are neither shared
 * by replicas nor partitioned for pods that ask for GPUs or a share of one; all of it for others, and for MIG instances also
 * slices that are in no instance. Where that is less than it needs, or than one kind of its pods does, it lacks capacity and
 * is not blocked. Nor is work that can never run (`never`), or that asks for an unknown number of GPUs.
 *
 * This looks at nodes alone, the cause of the wait (`WaitCause`) first at other reasons. So work with the cause
 * `fragmentation` is always blocked, and blocked work has the cause `fragmentation` but for these:
 *
 * - `constraint`, `admission_check`, `quota`, `gang`: that is why it waits now; it would still be blocked when that is
 *   settled. `constraint` also covers work that no node takes even when empty because of labels, taints, CPU or memory alone;
 * - `capacity`: the cause counts what is free on nodes whose labels and taints take it, and in instances. The blocker is
 *   `model`, `selector`, `mig_geometry`, or `spread` where more than one thing would have to change.
 */
export interface BlockedWork {
  /** Index into `Queueing.gangs`. */
  readonly gang: number;
  /** `kind/namespace/name uid` of the gang: stable while it waits. */
  readonly key: string;
  /** Pools that could serve it. */
  readonly pools: readonly string[];
  /** Physical GPUs that it needs to start, and that are free in its pools. */
  readonly gpus: number;
  readonly freeGpus: number;
  readonly blocker: Blocker;
  /** Since when it has been blocked without a break, seconds since the epoch. */
  readonly since: number;
  /** For longer than five minutes: it counts in what is published by pool. */
  readonly isStanding: boolean;
}

/** Work that is blocked at one moment. */
export interface Blocked {
  readonly work: readonly BlockedWork[];
  /** Since when each is blocked, by `key`: what the next moment must know. */
  readonly since: ReadonlyMap<string, number>;
}

/** A moment in which nothing is blocked. */
export const nothingBlocked: Blocked = { work: [], since: new Map() };

/** Standing blocked work of one pool, by what blocks it. */
interface BlockedInPool {
  readonly pool: string;
  readonly blocker: Blocker;
  readonly gangs: number;
  /** Physical GPUs that they need to start. */
  readonly gpus: number;
  readonly longestSeconds: number;
}

/** Work that has been blocked for more than five minutes; what several pools could serve counts once, in the first by name. */
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
