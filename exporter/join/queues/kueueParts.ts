import type { KueueAssignment, KueuePodSet, KueueWorkload } from "../../model/queues/kueue.ts";
import { allowedFlavors, type Flavor } from "./kueueFlavors.ts";
import { type KueueGangCache, sharedNeeds } from "./kueueGangCache.ts";
import type { WorkloadQueue } from "./kueueNever.ts";
import type { DeclaredPart } from "./queueSystem.ts";

/** A pod set with GPUs, with the part of it that is still asked for. */
export interface AskedPodSet {
  readonly part: DeclaredPart;
  /** The fewest of its pods that can run. */
  readonly min: number;
}

/** The input for reading a pod set. */
export interface PartContext {
  readonly queue: WorkloadQueue;
  readonly flavors: ReadonlyMap<string, Flavor>;
  readonly cache: KueueGangCache;
}

/**
 * A pod set of a Workload. Members whose quota is free again have ended, and no longer count. Without quota, if fewer pods are
 * enough (partial admission), it asks for these few: with less free capacity Kueue admits what fits.
 */
export function partOf(
  podSet: KueuePodSet,
  resource: string,
  { admission, reclaimable }: KueueWorkload,
  { queue, flavors, cache }: PartContext,
): AskedPodSet {
  const assignment = admission?.assignments.find((one) => one.podSet === podSet.name);
  const ended = reclaimable.find((one) => one.podSet === podSet.name)?.count ?? 0;
  const all = Math.max(0, (assignment?.count ?? podSet.count) - ended);
  const min = Math.min(all, Math.max(0, (podSet.minCount ?? podSet.count) - ended));
  const pods = admission === null ? min : all;
  const assigned = assignedFlavor(assignment, resource, flavors);
  const serving = assigned === null ? allowedFlavors(queue.quotas, resource, podSet.pod, flavors) : [assigned];
  const part = { pods, needs: sharedNeeds(cache, podSet.pod), scopes: namesOf(serving) };
  return { part: pods === all ? part : { ...part, mostPods: all }, min };
}

/**
 * What a pod set of an elastic job asks for in addition to what the job has: as many pods as it grows by, all or none, in the
 * flavor that the job has (kueue v0.19 pkg/scheduler/flavorassigner, TotalRequestsFor and fittingFlavors).
 */
export function growthPart(
  podSet: KueuePodSet,
  resource: string,
  old: KueueWorkload,
  { queue, flavors, cache }: PartContext,
): AskedPodSet & { readonly from: number } {
  const assignment = old.admission?.assignments.find((one) => one.podSet === podSet.name);
  const ended = old.reclaimable.find((one) => one.podSet === podSet.name)?.count ?? 0;
  const from = Math.max(0, (assignment?.count ?? 0) - ended);
  const pods = Math.max(0, podSet.count - from);
  const assigned = assignedFlavor(assignment, resource, flavors);
  const serving = assigned === null ? allowedFlavors(queue.quotas, resource, podSet.pod, flavors) : [assigned];
  return { part: { pods, needs: sharedNeeds(cache, podSet.pod), scopes: namesOf(serving) }, min: pods, from };
}

const namesOf = (flavors: readonly Flavor[]): readonly string[] => flavors.map(({ object }) => object.name);

function assignedFlavor(
  assignment: KueueAssignment | undefined,
  resource: string,
  flavors: ReadonlyMap<string, Flavor>,
): Flavor | null {
  if (assignment === undefined || !Object.hasOwn(assignment.flavors, resource)) return null;
  return flavors.get(assignment.flavors[resource] ?? "") ?? null;
}

/** The resource that makes a pod set one of GPUs; `null` when it asks for none. */
export function gpuResourceOf({ pod }: KueuePodSet, isGpu: (resource: string) => boolean): string | null {
  let first: string | null = null;
  for (const name of Object.keys(pod.requests))
    if ((pod.requests[name] ?? 0) > 0 && isGpu(name) && (first === null || name < first)) first = name;
  return first;
}
