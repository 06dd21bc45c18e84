import { kueueForest } from "../../join/queues/kueueTree.ts";
import { type NodeQuotas, resourceIn } from "../../join/queues/nodeQuotas.ts";
import type { KueueClusterQueue, KueueLocalQueue, KueueUsage } from "../../model/queues/kueue.ts";
import type { QueueObjects, SchedulerSettings } from "../../model/queues/queueObjects.ts";
import { usageForWeight } from "../localQueues/admission.ts";
import { createPotentials, type FlavorAmounts, reservedByQueue, usageOf } from "./kueueAmounts.ts";
import type { SchedulerView } from "./schedulerView.ts";

/** The value that Kueue writes for an infinite weighted share (the largest int64, as JavaScript reads it). */
const infiniteShare = 2 ** 63;

const tolerance = 1e-9;

/** Kueue's own numbers for all ClusterQueues, Cohorts and LocalQueues. */
export function kueueViews(
  objects: QueueObjects,
  settings: SchedulerSettings["kueue"],
  isGpu: (resource: string) => boolean,
): readonly SchedulerView[] {
  if (objects.kueueClusterQueues.length === 0) return [];
  const reserved = reservedByQueue(objects);
  return [
    ...objects.kueueClusterQueues.map((queue) => reservedView(queue, reserved.get(queue.name), isGpu)),
    ...shareViews(objects, reserved),
    ...objects.kueueLocalQueues.flatMap((queue) => admissionView(queue, settings)),
  ];
}

/** Weighted shares of queues and cohorts that have an object. A tree with a cycle is left out, because Kueue stops there. */
function shareViews(objects: QueueObjects, reserved: ReadonlyMap<string, FlavorAmounts>): readonly SchedulerView[] {
  const { nodes } = kueueForest(objects);
  const usage = usageOf(nodes, reserved);
  const lendable = lendableByParent(createPotentials(nodes));
  return nodes.flatMap(({ name, clusterQueue, cohort, parent, isInCycle, quotas }, i): readonly SchedulerView[] => {
    const [object, own] = [clusterQueue ?? cohort, usage[i]];
    if (object === null || own === undefined || isInCycle) return [];
    const { weight, weightedShare: reported } = object;
    return [
      {
        scheduler: "kueue",
        number: "kueue-weighted-share",
        kind: clusterQueue === null ? "Cohort" : "ClusterQueue",
        name,
        shard: "",
        computed: parent === null ? 0 : weightedShareOf(quotas, own, weight, () => lendable(parent)),
        reported: reported !== null && reported >= infiniteShare ? Number.POSITIVE_INFINITY : reported,
      },
    ];
  });
}

/** Lendable amounts by resource for the children of a cohort (by index). */
function lendableByParent(potentialsOf: (node: number) => FlavorAmounts): (parent: number) => FlavorAmounts {
  const known = new Map<number, FlavorAmounts>();
  return (parent) => {
    const found = known.get(parent);
    if (found !== undefined) return found;
    const sums: FlavorAmounts = new Map();
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
 * writes it rounded up. It is Infinity for weight 0 while borrowing.
 */
function weightedShareOf(
  quotas: NodeQuotas,
  usage: FlavorAmounts,
  weight: number,
  lendable: () => FlavorAmounts,
): number {
  const borrowed = new Map<string, number>();
  for (const [key, { resource, subtree }] of quotas) {
    const over = (usage.get(key) ?? 0) - subtree;
    if (over > tolerance) borrowed.set(resource, (borrowed.get(resource) ?? 0) + over);
  }
  if (borrowed.size === 0) return 0;
  const available = lendable();
  let share = 0;
  for (const [resource, amount] of borrowed) {
    const of = available.get(resource) ?? 0;
    if (of > 0) share = Math.max(share, (1000 * amount) / of);
  }
  if (share === 0) return 0;
  return weight === 0 ? Number.POSITIVE_INFINITY : share / weight;
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

/** The weighted usage by which admission fair sharing orders LocalQueues (KEP-4136). */
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
