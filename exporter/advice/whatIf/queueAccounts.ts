import { isUsable } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { classIn } from "../../join/queues/domainOfNode.ts";
import { emptyUnqueued } from "../../join/queues/queueDrafts.ts";
import type { AllocatedInClass, QueueView } from "../../join/queues/queueing.ts";
import { type ClusterCopy, tidy } from "./clusterCopy.ts";

/** By how many physical GPUs the amounts of a leaf queue, and of everything above it, change. */
export interface QueueChange {
  readonly team: string;
  /** Index of the class in which it is allocated; absent where the domain is one class. */
  readonly nodeClass?: number;
  readonly allocated?: number;
  readonly allocatedOnUnschedulable?: number;
  readonly pending?: number;
  readonly reserved?: number;
}

/** Accounts a change in a leaf queue (index) and in everything above it; without such a leaf, nothing changes. */
export function countInQueue(copy: ClusterCopy, leaf: number, change: QueueChange): void {
  const { allocated = 0, allocatedOnUnschedulable = 0, pending = 0, reserved = 0, team, nodeClass } = change;
  for (let next: number | null = leaf; next !== null; ) {
    const queue: QueueView | undefined = copy.queues[next];
    if (queue === undefined) return;
    const changed: QueueView = {
      ...queue,
      allocated: tidy(queue.allocated + allocated),
      allocatedOnUnschedulable: Math.max(0, tidy(queue.allocatedOnUnschedulable + allocatedOnUnschedulable)),
      pending: Math.max(0, tidy(queue.pending + pending)),
      reserved: queue.reserved === null ? null : Math.max(0, tidy(queue.reserved + reserved)),
      teams: next === leaf ? changedTeams(queue, team, allocated, pending) : queue.teams,
      ...(next === leaf && nodeClass !== undefined
        ? { allocatedByClass: changedClasses(copy, queue, nodeClass, { allocated, allocatedOnUnschedulable }) }
        : {}),
    };
    // Work outside of queues is entitled to what it holds.
    const isUnqueued = queue.kind === "Unqueued";
    copy.setQueue(next, isUnqueued ? { ...changed, guaranteed: changed.allocated, limit: changed.allocated } : changed);
    next = queue.parent;
  }
}

function changedClasses(
  copy: ClusterCopy,
  queue: QueueView,
  nodeClass: number,
  more: AllocatedInClass,
): readonly AllocatedInClass[] {
  const classes = copy.domains[queue.domain]?.classes ?? [];
  return classes.map((_, i) => {
    const own = queue.allocatedByClass?.[i] ?? { allocated: 0, allocatedOnUnschedulable: 0 };
    if (i !== nodeClass) return own;
    return {
      allocated: tidy(own.allocated + more.allocated),
      allocatedOnUnschedulable: Math.max(0, tidy(own.allocatedOnUnschedulable + more.allocatedOnUnschedulable)),
    };
  });
}

function changedTeams({ teams }: QueueView, team: string, allocated: number, pending: number): QueueView["teams"] {
  const own = teams.find((one) => one.team === team) ?? { team, allocated: 0, pending: 0 };
  const next = { team, allocated: tidy(own.allocated + allocated), pending: Math.max(0, tidy(own.pending + pending)) };
  const others = teams.filter((one) => one.team !== team);
  if (next.allocated <= 0 && next.pending <= 0) return others;
  return [...others, next].sort((a, b) => (a.team < b.team ? -1 : 1));
}

/**
 * Index of the leaf queue in which a pod counts for a pool on a node: its own, or, if that is in another domain, the one with
 * the same name in this domain.
 */
function leafFor(copy: ClusterCopy, pod: number, pool: string, node: string): number {
  const own = copy.queueOf(pod);
  const domain = copy.index.domainOf(pool, node);
  if (domain === null) return -1;
  const queue = copy.queues[own];
  if (queue?.domain === domain) return own;
  return leafLike(copy, queue, domain);
}

function leafLike(copy: ClusterCopy, queue: QueueView | undefined, domain: number): number {
  const named =
    queue === undefined
      ? -1
      : copy.queues.findIndex(
          (one) =>
            one.domain === domain &&
            one.scheduler === queue.scheduler &&
            one.kind === queue.kind &&
            one.name === queue.name,
        );
  if (named >= 0) return named;
  const unqueued = copy.queues.findIndex((one) => one.domain === domain && one.kind === "Unqueued");
  // Where queues could not be read, nothing is in a queue.
  if (unqueued >= 0 || copy.domains[domain]?.unknownBecause !== null) return unqueued;
  copy.setQueue(copy.queues.length, emptyUnqueued(domain));
  return copy.queues.length - 1;
}

/**
 * Counts what a pod holds more (or less) of a device, in its queue and in its workload. `reserves`: whether its quota comes or
 * goes with it.
 */
export function accountAllocated(
  copy: ClusterCopy,
  pod: number,
  device: number,
  gpus: number,
  reserves: boolean,
): void {
  accountAllocatedOn(copy, pod, [[device, gpus]], reserves);
}

/** Does the same as `accountAllocated` for several devices; those of one pool and node are counted together. */
export function accountAllocatedOn(
  copy: ClusterCopy,
  pod: number,
  changes: readonly (readonly [device: number, gpus: number])[],
  reserves: boolean,
): void {
  const holder = copy.pods[pod];
  if (holder === undefined) return;
  const team = copy.workloads[holder.workload]?.team ?? holder.team;
  let sum = 0;
  for (const [i, [device, gpus]] of changes.entries()) {
    const view = copy.devices[device];
    if (view === undefined) continue;
    sum += gpus;
    const next = copy.devices[changes[i + 1]?.[0] ?? -1];
    if (next?.pool === view.pool && next.node === view.node) continue;
    const node = copy.nodes[copy.index.nodeOf(view.node) ?? -1];
    const allocatedOnUnschedulable = node !== undefined && !isUsable(node) ? sum : 0;
    copy.gain(holder.workload, sum);
    const leaf = leafFor(copy, pod, view.pool, view.node);
    const domain = copy.domains[copy.queues[leaf]?.domain ?? -1];
    countInQueue(copy, leaf, {
      team,
      allocated: sum,
      allocatedOnUnschedulable,
      ...(domain?.classes === undefined ? {} : { nodeClass: classIn(domain, view.pool, view.node) }),
      reserved: reserves ? sum : 0,
    });
    sum = 0;
  }
}
