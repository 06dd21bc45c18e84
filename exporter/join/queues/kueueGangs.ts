import { innerMap } from "../../kernel/innerMap.ts";
import { isSameList } from "../../kernel/isSameList.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import type { Condition } from "../../model/queues/condition.ts";
import type { KueueWorkload } from "../../model/queues/kueue.ts";
import { independentKinds } from "../declaredGangs.ts";
import type { DeclaredFacts, DispatchedGang } from "./gangFacts.ts";
import { type CheckedWorkload, checkedWorkload, checksReason, controllersOf } from "./kueueChecks.ts";
import type { Flavor } from "./kueueFlavors.ts";
import {
  type KueueGangCache,
  type ReadNamespace,
  type ReadWorkload,
  refreshKueueGangs,
  sharedParts,
  steadyQuotas,
} from "./kueueGangCache.ts";
import { type KueueNamespace, kueueNamespaces } from "./kueueNamespaces.ts";
import { kueueNever, queuesOfWorkloads, type WorkloadQueue, type WorkloadQueueFinder } from "./kueueNever.ts";
import { kueueOwnerUids } from "./kueueOwners.ts";
import { type AskedPodSet, gpuResourceOf, growthPart, type PartContext, partOf } from "./kueueParts.ts";
import { isFinished, reserving } from "./kueueReserved.ts";
import { kueueSlices } from "./kueueSlices.ts";
import type { KueueInput } from "./kueueSystem.ts";
import type { KueueNode } from "./kueueTree.ts";
import { type LimitRanges, limitRangesByNamespace, refusalBy, withDefaults } from "./limitRanges.ts";
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

interface ReadingRules extends Omit<PartContext, "queue"> {
  readonly isGpu: (resource: string) => boolean;
  readonly controllers: ReadonlyMap<string, string>;
  readonly limitRanges: LimitRanges;
}

const nothing = { gang: null, dispatched: null } as const;

/** `old`: the running Workload of the same elastic job, which this one extends. */
function readWorkload(
  workload: KueueWorkload,
  queue: WorkloadQueue,
  rules: ReadingRules,
  old: KueueWorkload | null,
): Omit<ReadWorkload, "queue"> {
  if (isFinished(workload)) return nothing;
  const ranges = rules.limitRanges.get(workload.namespace) ?? [];
  const context: PartContext = { ...rules, queue };
  const asked: AskedPodSet[] = [];
  let [from, to] = [0, 0];
  let refusedBy: string | null = null;
  for (const written of workload.podSets) {
    const podSet = ranges.length === 0 ? written : withDefaults(written, ranges, rules.isGpu);
    const resource = gpuResourceOf(podSet, rules.isGpu);
    if (resource === null) continue;
    if (ranges.length > 0) refusedBy ??= refusalBy(ranges, podSet, rules.isGpu);
    if (old === null) asked.push(partOf(podSet, resource, workload, context));
    else {
      const growth = growthPart(podSet, resource, old, context);
      asked.push(growth);
      from += growth.from;
      to += podSet.count;
    }
  }
  if (asked.length === 0) return nothing;
  const checked = checkedWorkload(workload, rules.controllers);
  if (checked.dispatched !== null)
    return { gang: null, dispatched: dispatchedGang(workload, queue, asked, checked.dispatched) };
  const growth = old === null ? {} : { growth: { from, to }, growthOf: old.uid };
  const facts = { ...growth, ...factsOf(workload, checked, refusedBy) };
  const gang = gangOf(workload, queue, asked, checked, facts);
  return { gang: { ...gang, parts: sharedParts(rules.cache, gang.parts) }, dispatched: null };
}

function factsOf(workload: KueueWorkload, checked: CheckedWorkload, refusedBy: string | null): DeclaredFacts {
  const queuedAt = queuedSince(workload);
  return {
    ...(queuedAt === null || queuedAt === waitsSince(workload) ? {} : { queuedAt }),
    ...(checked.holding.length === 0 ? {} : { checks: checked.holding }),
    ...(checked.awaitsNodes ? { awaitsNodes: true } : {}),
    ...(refusedBy === null ? {} : { refusedBy }),
    ...(workload.isCopy === true && !isReserved(workload) ? { isCopy: true } : {}),
    ...howMembersRun(workload),
  };
}

const isReserved = ({ conditions }: KueueWorkload): boolean =>
  conditions.some(({ type, isTrue }) => type === "QuotaReserved" && isTrue);

/** What people read of a copy: a worker's users did not make it. */
const ofCopy = "MultiKueue made it for work that waits in another cluster";

/** Once its quota is reserved its pods are made, and those of a Job need not wait for each other. */
function howMembersRun(workload: KueueWorkload): Pick<DeclaredFacts, "membersRunAlone"> {
  const { owner } = workload;
  return owner !== null && independentKinds.has(owner.kind) && isReserved(workload) ? { membersRunAlone: true } : {};
}

function gangOf(
  workload: KueueWorkload,
  queue: WorkloadQueue,
  asked: readonly AskedPodSet[],
  checked: CheckedWorkload,
  facts: DeclaredFacts,
): DeclaredGang {
  const { conditions, owner } = workload;
  const reserved = conditions.find(({ type }) => type === "QuotaReserved");
  const hasQuota = reserved?.isTrue === true;
  const never = hasQuota ? null : kueueNever(workload, reserved, queue, facts.refusedBy !== undefined);
  const waits = hasQuota ? "" : conditionReason(reserved);
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
    reservedAt: hasQuota ? reserved.changedAt : null,
    members: sum(asked.map(({ part }) => part.mostPods ?? part.pods)),
    min: sum(asked.map(({ min }) => min)),
    parts: asked.map(({ part }) => part),
    total: null,
    never: never ?? (checked.isForOthers ? "elsewhere" : null),
    reason: [checksReason(checked, workload), waits, facts.isCopy === true ? ofCopy : ""]
      .filter((text) => text !== "")
      .join("; "),
    startedAt: startOf(conditions),
    isStarting: conditions.some(({ type, isTrue }) => type === "PodsReady" && !isTrue),
    kept: { draft: null },
    ...facts,
  };
}

function dispatchedGang(
  workload: KueueWorkload,
  { clusterQueue }: WorkloadQueue,
  asked: readonly AskedPodSet[],
  { cluster, since }: NonNullable<CheckedWorkload["dispatched"]>,
): DispatchedGang {
  const { uid, namespace, name, owner, localQueue, priorityClass } = workload;
  return {
    uid,
    kind: "Workload",
    namespace,
    name,
    ownerUids: kueueOwnerUids(workload),
    ownerKind: owner?.kind ?? null,
    ownerName: owner?.name ?? null,
    scheduler: "kueue",
    queue: clusterQueue ?? "",
    localQueue,
    priorityClass,
    cluster,
    since,
    pods: sum(asked.map(({ part }) => part.pods)),
    requests: totalOf(asked),
  };
}

function totalOf(asked: readonly AskedPodSet[]): ResourceAmounts {
  const total: Record<string, number> = {};
  for (const { part } of asked)
    for (const [resource, amount] of Object.entries(part.needs.requests))
      total[resource] = (total[resource] ?? 0) + amount * part.pods;
  return total;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Creation; after an eviction the time when it was put back into the queue, else when it was evicted. */
function waitsSince({ conditions, createdAt }: KueueWorkload): number | null {
  const at = (type: string) => conditions.find((one) => one.type === type && one.isTrue)?.changedAt ?? null;
  return at("Requeued") ?? at("Evicted") ?? createdAt;
}

/**
 * The time by which Kueue orders its queue (v0.19, pkg/workload `GetQueueOrderTimestamp` with its default `Eviction`): creation, but
 * the eviction where pods were not ready in time or an admission check asked for another try.
 */
function queuedSince({ conditions, createdAt }: KueueWorkload): number | null {
  const evicted = conditions.find(({ type, isTrue }) => type === "Evicted" && isTrue);
  return evicted !== undefined && putBehind.has(evicted.reason) ? (evicted.changedAt ?? createdAt) : createdAt;
}

const putBehind: ReadonlySet<string> = new Set(["PodsReadyTimeout", "AdmissionCheck"]);

/** `PodsReady` becomes true again after a lost pod was replaced; the start was the admission then, as far as is known. */
function startOf(conditions: readonly Condition[]): number | null {
  const ready = conditions.find(({ type, isTrue }) => type === "PodsReady" && isTrue);
  if (ready === undefined) return null;
  const admitted = conditions.find(({ type, isTrue }) => type === "Admitted" && isTrue);
  return ready.reason === "Recovered" ? (admitted?.changedAt ?? ready.changedAt) : ready.changedAt;
}

const longestReason = 300;

function conditionReason(condition: Condition | undefined): string {
  if (condition === undefined) return "";
  const { reason, message } = condition;
  return (message === "" ? reason : `${reason}: ${message}`).slice(0, longestReason);
}
