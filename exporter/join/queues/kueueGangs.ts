import { innerMap } from "../../kernel/innerMap.ts";
import { isSameList } from "../../kernel/isSameList.ts";
import type { KueueWorkload } from "../../model/queues/kueue.ts";
import type { DispatchedGang } from "./gangFacts.ts";
import { controllersOf } from "./kueueChecks.ts";
import type { Flavor } from "./kueueFlavors.ts";
import {
  type KueueGangCache,
  type ReadNamespace,
  type ReadWorkload,
  refreshKueueGangs,
  steadyQuotas,
} from "./kueueGangCache.ts";
import { type KueueNamespace, kueueNamespaces } from "./kueueNamespaces.ts";
import { queuesOfWorkloads, type WorkloadQueue, type WorkloadQueueFinder } from "./kueueNever.ts";
import { reserving } from "./kueueReserved.ts";
import { kueueSlices } from "./kueueSlices.ts";
import type { KueueInput } from "./kueueSystem.ts";
import type { KueueNode } from "./kueueTree.ts";
import { type ReadingRules, readWorkload } from "./kueueWorkload.ts";
import { limitRangesByNamespace } from "./limitRanges.ts";
import type { NamespaceGangs } from "./namespaceGangs.ts";
import type { DeclaredGang } from "./queueSystem.ts";
import { isGpuResource } from "./resourceGpus.ts";

/** The input for reading Workloads. */
export interface KueueGangInput extends KueueInput {
  readonly flavors: ReadonlyMap<string, Flavor>;
  readonly nodes: readonly KueueNode[];
  readonly cache: KueueGangCache;
}

/** Workloads with GPUs that have not ended: of this cluster, and of others. */
export interface KueueGangs {
  readonly gangs: readonly NamespaceGangs[];
  readonly dispatched: readonly DispatchedGang[];
  /** The Workloads that have quota. */
  readonly reserving: readonly KueueWorkload[];
}

/**
 * Every Workload with GPUs that has not ended; two Workloads of one elastic job become the running gang and its growth. A
 * namespace with the same Workloads and queues as the last time is not read again.
 */
export function kueueGangs(input: KueueGangInput): KueueGangs {
  const { cache, objects } = input;
  const { gpuResources } = cache;
  const judge = (resource: string): boolean => isGpuResource(resource, input.pools);
  refreshKueueGangs(cache, input.flavors, objects, judge);
  const queueOf = queuesOfWorkloads(input, steadyQuotas(cache, objects.kueueClusterQueues));
  const isGpu = (resource: string): boolean => {
    const found = gpuResources.get(resource) ?? judge(resource);
    gpuResources.set(resource, found);
    return found;
  };
  const rules: ReadingRules = {
    flavors: input.flavors,
    cache,
    isGpu,
    controllers: controllersOf(objects.kueueAdmissionChecks),
    limitRanges: limitRangesByNamespace(objects.limitRanges),
  };
  const found = { gangs: [] as NamespaceGangs[], dispatched: [] as DispatchedGang[], reserving: [] as KueueWorkload[] };
  const byNamespace = new Map<string, ReadNamespace>();
  for (const [namespace, from] of kueueNamespaces(objects)) {
    if (from.workloads.length === 0) continue;
    const last = cache.byNamespace.get(namespace);
    const isSame = last?.from === from && hasSameQueues(last, namespace, queueOf);
    const read = isSame ? last : readNamespace(namespace, from, last?.gangs ?? null, queueOf, rules);
    byNamespace.set(namespace, read);
    if (read.gangs !== null) found.gangs.push(read.gangs);
    for (const one of read.dispatched) found.dispatched.push(one);
    for (const one of read.reserving) found.reserving.push(one);
  }
  cache.byNamespace = byNamespace;
  return found;
}

function hasSameQueues({ from, queues }: ReadNamespace, namespace: string, queueOf: WorkloadQueueFinder): boolean {
  for (const [localQueue, byAdmission] of queues)
    for (const [admitted, queue] of byAdmission)
      if (!isSameQueue(queue, queueOf(from, namespace, localQueue, admitted))) return false;
  return true;
}

/** `last`: the gangs that the namespace had; it is returned again if they are the same. */
function readNamespace(
  namespace: string,
  from: KueueNamespace,
  last: NamespaceGangs | null,
  queueOf: WorkloadQueueFinder,
  rules: ReadingRules,
): ReadNamespace {
  const { workloads } = from;
  const { byWorkload } = rules.cache;
  const slices = kueueSlices(workloads);
  const queues = new Map<string, Map<string | null, WorkloadQueue>>();
  const gangs: DeclaredGang[] = [];
  const dispatched: DispatchedGang[] = [];
  const add = (read: Omit<ReadWorkload, "queue">): void => {
    if (read.gang !== null) gangs.push(read.gang);
    if (read.dispatched !== null) dispatched.push(read.dispatched);
  };
  for (const workload of workloads) {
    const { localQueue, admission } = workload;
    const admitted = admission?.clusterQueue ?? null;
    const ofLocalQueue = innerMap(queues, localQueue);
    const queue = ofLocalQueue.get(admitted) ?? queueOf(from, namespace, localQueue, admitted);
    ofLocalQueue.set(admitted, queue);
    if (!slices.isEmpty) {
      if (slices.isReplaced(workload)) continue;
      const old = slices.grownFrom(workload);
      if (old !== null) {
        add(readWorkload(workload, queue, rules, old));
        continue;
      }
    }
    let read = byWorkload.get(workload);
    if (read === undefined || !isSameQueue(read.queue, queue)) {
      read = { queue, ...readWorkload(workload, queue, rules, null) };
      byWorkload.set(workload, read);
    }
    add(read);
  }
  const own = last !== null && isSameList(last.gangs, gangs) ? last : { namespace, gangs };
  return { from, queues, gangs: gangs.length === 0 ? null : own, dispatched, reserving: reserving(from, slices) };
}

const isSameQueue = (a: WorkloadQueue, b: WorkloadQueue): boolean =>
  a === b || (a.clusterQueue === b.clusterQueue && a.quotas === b.quotas && a.takesIt === b.takesIt);
