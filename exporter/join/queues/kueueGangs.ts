import type { Steps } from "../../kernel/steps.ts";
import type { Condition } from "../../model/queues/condition.ts";
import type { KueueAssignment, KueuePodSet, KueueWorkload } from "../../model/queues/kueue.ts";
import { allowedFlavors, type Flavor } from "./kueueFlavors.ts";
import { type KueueGangCache, refreshKueueGangs, sharedNeeds, steadyQuotas } from "./kueueGangCache.ts";
import { kueueNever, queuesOfWorkloads, type WorkloadQueue } from "./kueueNever.ts";
import { kueueOwnerUids } from "./kueueOwners.ts";
import { isFinished } from "./kueueReserved.ts";
import type { KueueInput } from "./kueueSystem.ts";
import type { KueueNode } from "./kueueTree.ts";
import type { DeclaredGang, DeclaredPart } from "./queueSystem.ts";
import { isGpuResource } from "./resourceGpus.ts";

/** What Workloads are read with. */
export interface KueueGangInput extends KueueInput {
  readonly flavors: ReadonlyMap<string, Flavor>;
  readonly nodes: readonly KueueNode[];
  readonly cache: KueueGangCache;
}

const workloadsPerStep = 2_000;

/** Every Workload with GPUs that has not ended. */
export function* kueueGangs(input: KueueGangInput): Steps<readonly DeclaredGang[]> {
  const { cache } = input;
  const { gpuResources } = cache;
  const judge = (resource: string): boolean => isGpuResource(resource, input.pools);
  refreshKueueGangs(cache, input.flavors, judge);
  const queueOf = queuesOfWorkloads(input, steadyQuotas(cache, input.objects.kueueClusterQueues));
  const isGpu = (resource: string): boolean => {
    const found = gpuResources.get(resource) ?? judge(resource);
    gpuResources.set(resource, found);
    return found;
  };
  const gangs: DeclaredGang[] = [];
  for (const [i, workload] of input.objects.kueueWorkloads.entries()) {
    if (i % workloadsPerStep === workloadsPerStep - 1) yield;
    const queue = queueOf(workload);
    let read = cache.byWorkload.get(workload);
    if (read === undefined || !isSameQueue(read.queue, queue)) {
      read = { queue, gang: isFinished(workload) ? null : gangOf(workload, queue, input, isGpu) };
      cache.byWorkload.set(workload, read);
    }
    if (read.gang !== null) gangs.push(read.gang);
  }
  return gangs;
}

const isSameQueue = (a: WorkloadQueue, b: WorkloadQueue): boolean =>
  a === b || (a.clusterQueue === b.clusterQueue && a.quotas === b.quotas && a.takesIt === b.takesIt);

function gangOf(
  workload: KueueWorkload,
  queue: WorkloadQueue,
  input: KueueGangInput,
  isGpu: (resource: string) => boolean,
): DeclaredGang | null {
  const members: ReturnType<typeof partOf>[] = [];
  for (const podSet of workload.podSets) {
    const resource = gpuResourceOf(podSet, isGpu);
    if (resource !== null) members.push(partOf(podSet, resource, workload, queue, input));
  }
  if (members.length === 0) return null;
  const { conditions, owner } = workload;
  const reserved = conditions.find(({ type }) => type === "QuotaReserved");
  const waits = reserved?.isTrue === true ? undefined : reserved;
  return {
    uid: workload.uid,
    kind: "Workload",
    namespace: workload.namespace,
    name: workload.name,
    ownerUids: kueueOwnerUids(workload),
    ownerKind: owner?.kind ?? null,
    ownerName: owner?.name ?? null,
    queue: { scheduler: "kueue", name: queue.clusterQueue ?? "", localQueue: workload.localQueue },
    priorityClass: workload.priorityClass,
    priority: workload.priority,
    since: waitsSince(workload),
    reservedAt: reserved?.isTrue === true ? reserved.changedAt : null,
    members: sum(members.map(({ part }) => part.pods)),
    min: sum(members.map(({ min }) => min)),
    parts: members.map(({ part }) => part),
    total: null,
    never: reserved?.isTrue === true ? null : kueueNever(workload, reserved, queue),
    reason: waits === undefined ? "" : reasonOf(waits),
    startedAt: startOf(conditions),
    isStarting: conditions.some(({ type, isTrue }) => type === "PodsReady" && !isTrue),
    kept: { draft: null },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** The resource that makes a pod set one of GPUs; `null` when it asks for none. */
function gpuResourceOf({ pod }: KueuePodSet, isGpu: (resource: string) => boolean): string | null {
  let first: string | null = null;
  for (const name of Object.keys(pod.requests))
    if ((pod.requests[name] ?? 0) > 0 && isGpu(name) && (first === null || name < first)) first = name;
  return first;
}

/** Members whose quota is free again have ended, and are no members any more. */
function partOf(
  podSet: KueuePodSet,
  resource: string,
  { admission, reclaimable }: KueueWorkload,
  { quotas }: WorkloadQueue,
  { flavors, cache }: KueueGangInput,
): { readonly part: DeclaredPart; readonly min: number } {
  const assignment = admission?.assignments.find((one) => one.podSet === podSet.name);
  const ended = reclaimable.find((one) => one.podSet === podSet.name)?.count ?? 0;
  const pods = Math.max(0, (assignment?.count ?? podSet.count) - ended);
  const assigned = assignedFlavor(assignment, resource, flavors);
  const serving = assigned === null ? allowedFlavors(quotas, resource, podSet.pod, flavors) : [assigned];
  return {
    part: { pods, needs: sharedNeeds(cache, podSet.pod), scopes: serving.map(({ object }) => object.name) },
    min: Math.min(pods, Math.max(0, (podSet.minCount ?? podSet.count) - ended)),
  };
}

function assignedFlavor(
  assignment: KueueAssignment | undefined,
  resource: string,
  flavors: ReadonlyMap<string, Flavor>,
): Flavor | null {
  if (assignment === undefined || !Object.hasOwn(assignment.flavors, resource)) return null;
  return flavors.get(assignment.flavors[resource] ?? "") ?? null;
}

/** Creation; after an eviction the time when it was put back into the queue, else when it was evicted. */
function waitsSince({ conditions, createdAt }: KueueWorkload): number | null {
  const at = (type: string) => conditions.find((one) => one.type === type && one.isTrue)?.changedAt ?? null;
  return at("Requeued") ?? at("Evicted") ?? createdAt;
}

/** `PodsReady` becomes true again after a lost pod was replaced; the start was the admission then, as far as can be told. */
function startOf(conditions: readonly Condition[]): number | null {
  const ready = conditions.find(({ type, isTrue }) => type === "PodsReady" && isTrue);
  if (ready === undefined) return null;
  const admitted = conditions.find(({ type, isTrue }) => type === "Admitted" && isTrue);
  return ready.reason === "Recovered" ? (admitted?.changedAt ?? ready.changedAt) : ready.changedAt;
}

const longestReason = 300;

function reasonOf({ reason, message }: Condition): string {
  return (message === "" ? reason : `${reason}: ${message}`).slice(0, longestReason);
}
