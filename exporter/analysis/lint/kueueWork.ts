import { quotaKey } from "../../join/queues/nodeQuotas.ts";
import type { Snapshot } from "../../join/snapshot.ts";
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
  waiting: PriorityRange | null;
  /** Priorities of the Workloads with quota; `null` where there are none. */
  admitted: PriorityRange | null;
  /** What is allocated, by `quotaKey`. */
  readonly allocated: ReadonlyMap<string, AllocatedQuota>;
}

/** The work of each ClusterQueue, by its name; queues without work are left out. */
export function kueueWork({ queueObjects, schedulerSettings }: Snapshot): ReadonlyMap<string, QueueWork> {
  const queueOf = clusterQueueFinder(queueObjects);
  // Without its feature gate the annotation has no effect (kueue v0.19, pkg/util/priority: EffectivePriority).
  const isBoosted = schedulerSettings.kueue?.priorityBoost !== false;
  const found = new Map<string, QueueWork & { readonly allocated: Map<string, AllocatedQuota> }>();
  for (const workload of queueObjects.kueueWorkloads) {
    const { admission } = workload;
    const name = isOpen(workload) ? queueOf(workload) : undefined;
    if (name === undefined) continue;
    const work = found.get(name) ?? { waiting: null, admitted: null, allocated: new Map<string, AllocatedQuota>() };
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

/** The range of all priorities of two sets of Workloads. */
export function together(a: PriorityRange | null, b: PriorityRange | null): PriorityRange | null {
  if (a === null || b === null) return a ?? b;
  return {
    count: a.count + b.count,
    lowest: Math.min(a.lowest, b.lowest),
    highest: Math.max(a.highest, b.highest),
  };
}

function clusterQueueFinder({
  kueueLocalQueues,
}: Snapshot["queueObjects"]): (workload: KueueWorkload) => string | undefined {
  const known = new Map<string, Map<string, string>>();
  for (const { namespace, name, clusterQueue } of kueueLocalQueues) {
    const ofNamespace = known.get(namespace) ?? new Map<string, string>();
    known.set(namespace, ofNamespace.set(name, clusterQueue));
  }
  return ({ namespace, localQueue, admission }) => admission?.clusterQueue ?? known.get(namespace)?.get(localQueue);
}

/** Whether a Workload is open, looked up once for an object that stays the same: there may be tens of thousands. */
const knownOpen = new WeakMap<KueueWorkload, boolean>();

function isOpen(workload: KueueWorkload): boolean {
  const known = knownOpen.get(workload);
  if (known !== undefined) return known;
  const open = isOpenWork(workload);
  knownOpen.set(workload, open);
  return open;
}

/** Whether a Workload asks for GPUs, has not ended, and, if it has no quota, is not deactivated. */
function isOpenWork({ podSets, admission, active, conditions }: KueueWorkload): boolean {
  const asksForGpus =
    podSets.some(({ pod }) => namesGpus(pod.requests)) ||
    (admission?.assignments.some(({ flavors }) => namesGpus(flavors)) ?? false);
  if (!asksForGpus || (admission === null && !active)) return false;
  return !conditions.some(({ type, isTrue }) => type === "Finished" && isTrue);
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
