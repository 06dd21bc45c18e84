import { oncePer } from "../../kernel/once.ts";
import type { KueueAssignment, KueueWorkload } from "../../model/queues/kueue.ts";
import type { Flavor } from "./kueueFlavors.ts";
import type { KueueNamespace } from "./kueueNamespaces.ts";
import type { KueueSlices } from "./kueueSlices.ts";
import type { KueueNode } from "./kueueTree.ts";
import { isGpuResource, unitIn } from "./resourceGpus.ts";

/**
 * GPUs for which quota is reserved in the flavors of one domain, for each node's subtree: by Workloads that are admitted or
 * about to be (`reserving`), without the pods whose quota is free again. `null` where a unit is not known.
 */
export function reservedIn(
  nodes: readonly KueueNode[],
  workloads: readonly KueueWorkload[],
  flavors: ReadonlyMap<string, Flavor>,
  isInDomain: (flavor: string) => boolean,
): readonly (number | null)[] {
  const byQueue = new Map<string, number | null>();
  for (const workload of workloads) {
    if (workload.admission === null) continue;
    const { clusterQueue, assignments } = workload.admission;
    for (const assignment of assignments) {
      const known = byQueue.get(clusterQueue);
      byQueue.set(clusterQueue, plus(known, reservedBy(assignment, workload, flavors, isInDomain)));
    }
  }
  const reserved = nodes.map(({ name, clusterQueue }): number | null =>
    clusterQueue === null || !byQueue.has(name) ? 0 : (byQueue.get(name) ?? null),
  );
  for (let i = nodes.length - 1; i >= 0; i--) {
    const parent = nodes[i]?.parent ?? null;
    if (parent === null) continue;
    reserved[parent] = plus(reserved[parent], reserved[i] ?? null);
  }
  return reserved;
}

const plus = (known: number | null | undefined, more: number | null): number | null =>
  known === null || more === null ? null : (known ?? 0) + more;

/** The Workloads of a namespace that have quota; of two Workloads of one elastic job, the one that replaces the other. */
export function reserving(
  namespace: KueueNamespace,
  { isReplaced }: Pick<KueueSlices, "isReplaced">,
): readonly KueueWorkload[] {
  return admittedIn(namespace).filter((workload) => !isReplaced(workload));
}

/** The Workloads of a namespace that are admitted and have not ended. */
export const admittedIn = oncePer(({ workloads }: KueueNamespace): readonly KueueWorkload[] =>
  workloads.filter((workload) => workload.admission !== null && !isFinished(workload)),
);

/** Whether a Workload has ended: condition `Finished`. */
export function isFinished({ conditions }: KueueWorkload): boolean {
  return conditions.some(({ type, isTrue }) => type === "Finished" && isTrue);
}

function reservedBy(
  { podSet, count, flavors: assigned, usage }: KueueAssignment,
  { reclaimable }: KueueWorkload,
  flavors: ReadonlyMap<string, Flavor>,
  isInDomain: (flavor: string) => boolean,
): number | null {
  const freed = reclaimable.find((one) => one.podSet === podSet)?.count ?? 0;
  const remaining = count > 0 ? Math.max(0, count - freed) / count : 1;
  let gpus = 0;
  for (const [resource, amount] of Object.entries(usage)) {
    const name = Object.hasOwn(assigned, resource) ? assigned[resource] : undefined;
    const flavor = name === undefined ? undefined : flavors.get(name);
    if (flavor === undefined || name === undefined || !isInDomain(name) || !isGpuResource(resource, flavor.pools))
      continue;
    const unit = unitIn(flavor.pools, resource);
    if (unit === null) return null;
    gpus += amount * unit * remaining;
  }
  return gpus;
}
