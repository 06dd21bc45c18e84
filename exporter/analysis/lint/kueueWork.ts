import { type KueueNamespace, kueueNamespaces, localQueuesIn } from "../../join/queues/kueueNamespaces.ts";
import { isFinished } from "../../join/queues/kueueReserved.ts";
import { quotaKey } from "../../join/queues/nodeQuotas.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { oncePer } from "../../kernel/once.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { KueueWorkload } from "../../model/queues/kueue.ts";

/** The priorities of some Workloads, as Kueue compares them. */
export interface PriorityRange {
  count: number;
  lowest: number;
  highest: number;
}

/** What holds quota of one flavor and resource in one ClusterQueue. */
export interface AllocatedQuota {
  /** Amount that is held, in units of the resource. */
  used: number;
  /** The lowest priority of the Workloads that hold it. */
  lowest: number;
}

/** The Workloads with GPUs of one ClusterQueue that have not ended. */
export interface QueueWork {
  /** Priorities of the Workloads without quota that are not deactivated; `null` where there are none. */
  readonly waiting: PriorityRange | null;
  /** Priorities of the Workloads with quota; `null` where there are none. */
  readonly admitted: PriorityRange | null;
  /** What is allocated, by `quotaKey`. */
  readonly allocated: ReadonlyMap<string, AllocatedQuota>;
}

/** The work of each ClusterQueue, by its name; queues without work are left out. */
export function kueueWork({ queueObjects, schedulerSettings }: Snapshot): ReadonlyMap<string, QueueWork> {
  // Without its feature gate the annotation has no effect (kueue v0.19, pkg/util/priority: EffectivePriority).
  const isBoosted = schedulerSettings.kueue?.priorityBoost !== false;
  const workIn = isBoosted ? workWithBoost : workWithoutBoost;
  const found = new Map<string, QueueWork>();
  for (const namespace of kueueNamespaces(queueObjects).values())
    for (const [name, work] of workIn(namespace)) {
      const known = found.get(name);
      found.set(name, known === undefined ? work : workOfBoth(known, work));
    }
  return found;
}

interface OpenWork extends QueueWork {
  waiting: PriorityRange | null;
  admitted: PriorityRange | null;
  readonly allocated: Map<string, AllocatedQuota>;
}

/** The work of each ClusterQueue that is in one namespace, while it has the same objects. */
const workWithBoost = oncePer((namespace: KueueNamespace) => workOf(namespace, true));
const workWithoutBoost = oncePer((namespace: KueueNamespace) => workOf(namespace, false));

function workOf(own: KueueNamespace, isBoosted: boolean): ReadonlyMap<string, QueueWork> {
  const localQueues = localQueuesIn(own);
  const found = new Map<string, OpenWork>();
  for (const workload of own.workloads) {
    const { admission, localQueue } = workload;
    const name = isOpen(workload) ? (admission?.clusterQueue ?? localQueues.get(localQueue)?.clusterQueue) : undefined;
    if (name === undefined) continue;
    const work: OpenWork = found.get(name) ?? { waiting: null, admitted: null, allocated: new Map() };
    found.set(name, work);
    const priority = workload.priority - (isBoosted ? 0 : (workload.priorityBoost ?? 0));
    if (admission === null) work.waiting = widened(work.waiting, priority);
    else {
      work.admitted = widened(work.admitted, priority);
      for (const assignment of admission.assignments) addAllocated(work.allocated, assignment, priority);
    }
  }
  return found;
}

/** The work of one ClusterQueue in two namespaces. */
function workOfBoth(one: QueueWork, other: QueueWork): QueueWork {
  const allocated = new Map(one.allocated);
  for (const [key, { used, lowest }] of other.allocated) {
    const known = allocated.get(key) ?? { used: 0, lowest };
    allocated.set(key, { used: known.used + used, lowest: Math.min(known.lowest, lowest) });
  }
  return {
    waiting: together(one.waiting, other.waiting),
    admitted: together(one.admitted, other.admitted),
    allocated,
  };
}

/** The range of all priorities of two sets of Workloads. */
export function together(a: PriorityRange | null, b: PriorityRange | null): PriorityRange | null {
  if (a === null || b === null) return a ?? b;
  return {
    count: a.count + b.count,
    lowest: Math.min(a.lowest, b.lowest),
    highest: Math.max(a.highest, b.highest),
  };
}

/** Whether a Workload asks for GPUs, has not ended, and, if it has no quota, is not deactivated. */
function isOpen(workload: KueueWorkload): boolean {
  const { podSets, admission, active } = workload;
  const asksForGpus =
    podSets.some(({ pod }) => namesGpus(pod.requests)) ||
    (admission?.assignments.some(({ flavors }) => namesGpus(flavors)) ?? false);
  if (!asksForGpus || (admission === null && !active)) return false;
  return !isFinished(workload);
}

const namesGpus = (byResource: object): boolean => Object.keys(byResource).some((name) => gpuLikeResource(name));

function widened(range: PriorityRange | null, priority: number): PriorityRange {
  if (range === null) return { count: 1, lowest: priority, highest: priority };
  range.count += 1;
  range.lowest = Math.min(range.lowest, priority);
  range.highest = Math.max(range.highest, priority);
  return range;
}

function addAllocated(
  allocated: Map<string, AllocatedQuota>,
  { flavors, usage }: NonNullable<KueueWorkload["admission"]>["assignments"][number],
  priority: number,
): void {
  for (const [resource, flavor] of Object.entries(flavors)) {
    if (!gpuLikeResource(resource)) continue;
    const key = quotaKey({ flavor, resource });
    const known = allocated.get(key) ?? { used: 0, lowest: priority };
    allocated.set(key, known);
    known.used += usage[resource] ?? 0;
    known.lowest = Math.min(known.lowest, priority);
  }
}
