import type { KueueClusterQueue, KueueLocalQueue, KueueUsage } from "../../model/queues/kueue.ts";
import type { QueueObjects, SchedulerSettings } from "../../model/queues/queueObjects.ts";
import { usageForWeight } from "../localQueues/admission.ts";
import {
  createPotentials,
  type FlavorAmounts,
  type KueueNode,
  kueueNodes,
  reservedByQueue,
  resourceIn,
} from "./kueueTree.ts";
import type { SchedulerView } from "./schedulerView.ts";

/** What Kueue writes for an infinite weighted share (largest int64, as JavaScript reads it). */
const infiniteShare = 2 ** 63;

const tolerance = 1e-9;

/** Kueue's own numbers of all ClusterQueues, Cohorts and LocalQueues. */
export function kueueViews(
  objects: QueueObjects,
  settings: SchedulerSettings["kueue"],
  isGpu: (resource: string) => boolean,
): readonly SchedulerView[] {
  if (objects.kueueClusterQueues.length === 0) return [];
  const reserved = reservedByQueue(objects.kueueWorkloads);
  const queues = new Map(objects.kueueClusterQueues.map((queue) => [queue.name, queue] as const));
  const cohorts = new Map(objects.kueueCohorts.map((cohort) => [cohort.name, cohort] as const));
  const lendable = lendableByParent();
  const shares = kueueNodes(objects, reserved).flatMap((node) => {
    const object = node.kind === "ClusterQueue" ? queues.get(node.name) : cohorts.get(node.name);
    return object === undefined ? [] : [shareView(node, object.weightedShare, lendable)];
  });
  return [
    ...objects.kueueClusterQueues.map((queue) => reservedView(queue, reserved.get(queue.name), isGpu)),
    ...shares,
    ...objects.kueueLocalQueues.flatMap((queue) => admissionView(queue, settings)),
  ];
}

function shareView(node: KueueNode, reported: number | null, lendable: Lendable): SchedulerView {
  return {
    scheduler: "kueue",
    number: "kueue-weighted-share",
    kind: node.kind,
    name: node.name,
    shard: "",
    computed: weightedShareOf(node, lendable),
    reported: reported !== null && reported >= infiniteShare ? Number.POSITIVE_INFINITY : reported,
  };
}

/** Lendable amounts by resource for the children of a cohort. */
type Lendable = (parent: KueueNode) => ReadonlyMap<string, number>;

function lendableByParent(): Lendable {
  const known = new Map<KueueNode, ReadonlyMap<string, number>>();
  const potentialsOf = createPotentials();
  return (parent) => {
    const found = known.get(parent);
    if (found !== undefined) return found;
    const sums = new Map<string, number>();
    for (const [key, amount] of potentialsOf(parent)) {
      const resource = resourceIn(key);
      sums.set(resource, (sums.get(resource) ?? 0) + amount);
    }
    known.set(parent, sums);
    return sums;
  };
}

/**
 * 1000 x borrowed / lendable / weight, the largest over resources (Kueue v0.19, pkg/cache/scheduler/fair_sharing.go). Kueue
 * writes it rounded up. Infinity for weight 0 while borrowing; 0 without a parent.
 */
function weightedShareOf(node: KueueNode, lendable: Lendable): number {
  if (node.parent === null) return 0;
  const borrowed = new Map<string, number>();
  for (const [key, quota] of node.subtree) {
    const over = (node.usage.get(key) ?? 0) - quota;
    if (over > tolerance) borrowed.set(resourceIn(key), (borrowed.get(resourceIn(key)) ?? 0) + over);
  }
  if (borrowed.size === 0) return 0;
  const available = lendable(node.parent);
  let share = 0;
  for (const [resource, amount] of borrowed) {
    const of = available.get(resource) ?? 0;
    if (of > 0) share = Math.max(share, (1000 * amount) / of);
  }
  if (share === 0) return 0;
  return node.weight === 0 ? Number.POSITIVE_INFINITY : share / node.weight;
}

function reservedView(
  queue: KueueClusterQueue,
  amounts: FlavorAmounts | undefined,
  isGpu: (resource: string) => boolean,
): SchedulerView {
  let computed = 0;
  for (const [key, amount] of amounts ?? []) if (isGpu(resourceIn(key))) computed += amount;
  return {
    scheduler: "kueue",
    number: "kueue-reserved-gpus",
    kind: "ClusterQueue",
    name: queue.name,
    shard: "",
    computed,
    reported: queue.reservation.length === 0 ? null : gpusOf(queue.reservation, isGpu),
  };
}

function gpusOf(usage: readonly KueueUsage[], isGpu: (resource: string) => boolean): number {
  return usage.reduce((sum, { resource, total }) => (isGpu(resource) ? sum + total : sum), 0);
}

/** Weighted usage by which admission fair sharing orders LocalQueues (KEP-4136). */
function admissionView(queue: KueueLocalQueue, settings: SchedulerSettings["kueue"]): readonly SchedulerView[] {
  if (queue.consumed === null) return [];
  return [
    {
      scheduler: "kueue",
      number: "kueue-admission-usage",
      kind: "LocalQueue",
      name: `${queue.namespace}/${queue.name}`,
      shard: "",
      computed: usageForWeight(queue, settings),
      reported: null,
    },
  ];
}
