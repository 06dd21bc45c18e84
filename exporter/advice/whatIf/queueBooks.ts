import { isUsable } from "../../analysis/rooms/nodeRoom.ts";
import { classIn } from "../../join/queues/domainOfNode.ts";
import { emptyQueue, queueView } from "../../join/queues/queueDrafts.ts";
import type { HeldInClass, QueueView } from "../../join/queues/queueing.ts";
import { type ClusterCopy, tidy } from "./clusterCopy.ts";

/** Physical GPUs that a leaf, and everything above it, has more of. */
export interface QueueChange {
  readonly team: string;
  /** Index of the class in which it is held; absent where the domain is one class. */
  readonly nodeClass?: number;
  readonly held?: number;
  readonly heldOnUnschedulable?: number;
  readonly pending?: number;
  readonly reserved?: number;
}

/** Books a change in a leaf and in everything above it; nothing where there is no leaf. */
export function bookInQueue(copy: ClusterCopy, leaf: number, change: QueueChange): void {
  const { held = 0, heldOnUnschedulable = 0, pending = 0, reserved = 0, team, nodeClass } = change;
  for (let next: number | null = leaf; next !== null; ) {
    const queue: QueueView | undefined = copy.queues[next];
    if (queue === undefined) return;
    const changed: QueueView = {
      ...queue,
      held: tidy(queue.held + held),
      heldOnUnschedulable: Math.max(0, tidy(queue.heldOnUnschedulable + heldOnUnschedulable)),
      pending: Math.max(0, tidy(queue.pending + pending)),
      reserved: queue.reserved === null ? null : Math.max(0, tidy(queue.reserved + reserved)),
      teams: next === leaf ? changedTeams(queue, team, held, pending) : queue.teams,
      ...(next === leaf && nodeClass !== undefined
        ? { heldByClass: changedClasses(copy, queue, nodeClass, { held, heldOnUnschedulable }) }
        : {}),
    };
    // What no queue answers for is sure of what it holds.
    const isUnqueued = queue.kind === "Unqueued";
    copy.setQueue(next, isUnqueued ? { ...changed, guaranteed: changed.held, limit: changed.held } : changed);
    next = queue.parent;
  }
}

function changedClasses(
  copy: ClusterCopy,
  queue: QueueView,
  nodeClass: number,
  more: HeldInClass,
): readonly HeldInClass[] {
  const classes = copy.domains[queue.domain]?.classes ?? [];
  return classes.map((_, i) => {
    const own = queue.heldByClass?.[i] ?? { held: 0, heldOnUnschedulable: 0 };
    if (i !== nodeClass) return own;
    return {
      held: tidy(own.held + more.held),
      heldOnUnschedulable: Math.max(0, tidy(own.heldOnUnschedulable + more.heldOnUnschedulable)),
    };
  });
}

function changedTeams({ teams }: QueueView, team: string, held: number, pending: number): QueueView["teams"] {
  const own = teams.find((one) => one.team === team) ?? { team, held: 0, pending: 0 };
  const next = { team, held: tidy(own.held + held), pending: Math.max(0, tidy(own.pending + pending)) };
  const others = teams.filter((one) => one.team !== team);
  if (next.held <= 0 && next.pending <= 0) return others;
  return [...others, next].sort((a, b) => (a.team < b.team ? -1 : 1));
}

/** The leaf in which a pod holds what it has of a pool on a node: its own, or where that is of another domain, the one that is called the same there. */
export function leafFor(copy: ClusterCopy, pod: number, pool: string, node: string): number {
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
  // Where queues could not be read, nothing is in any.
  if (unqueued >= 0 || copy.domains[domain]?.unknownBecause !== null) return unqueued;
  const added = { ...emptyQueue("none", "Unqueued", "unqueued", domain, null), isLeaf: true, weight: 0 };
  copy.setQueue(copy.queues.length, queueView({ ...added, zeroWeight: "never", limit: 0 }));
  return copy.queues.length - 1;
}

/** Books what a pod holds more (or less) of a device into its queue and its workload. `reserves`: its quota comes or goes with it. */
export function bookHeld(copy: ClusterCopy, pod: number, device: number, gpus: number, reserves: boolean): void {
  bookHeldOn(copy, pod, [[device, gpus]], reserves);
}

/** `bookHeld` of several devices: those of one pool and node in one go. */
export function bookHeldOn(
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
    const heldOnUnschedulable = node !== undefined && !isUsable(node) ? sum : 0;
    copy.gain(holder.workload, sum);
    const leaf = leafFor(copy, pod, view.pool, view.node);
    const domain = copy.domains[copy.queues[leaf]?.domain ?? -1];
    bookInQueue(copy, leaf, {
      ...{ team, held: sum, heldOnUnschedulable },
      ...(domain?.classes === undefined ? {} : { nodeClass: classIn(domain, view.pool, view.node) }),
      reserved: reserves ? sum : 0,
    });
    sum = 0;
  }
}
