import type { ResourceAmounts } from "../../model/node.ts";
import type { Condition } from "../../model/queues/condition.ts";
import type { KueueWorkload } from "../../model/queues/kueue.ts";
import { independentKinds } from "../declaredGangs.ts";
import type { DeclaredFacts, DispatchedGang } from "./gangFacts.ts";
import { type CheckedWorkload, checkedWorkload, checksReason } from "./kueueChecks.ts";
import { type ReadWorkload, sharedParts } from "./kueueGangCache.ts";
import { kueueNever, type WorkloadQueue } from "./kueueNever.ts";
import { kueueOwnerUids } from "./kueueOwners.ts";
import { type AskedPodSet, gpuResourceOf, growthPart, type PartContext, partOf } from "./kueueParts.ts";
import { isFinished } from "./kueueReserved.ts";
import { type LimitRanges, refusalBy, withDefaults } from "./limitRanges.ts";
import type { DeclaredGang } from "./queueSystem.ts";

/** What is the same for all Workloads of a moment. */
export interface ReadingRules extends Omit<PartContext, "queue"> {
  readonly isGpu: (resource: string) => boolean;
  readonly controllers: ReadonlyMap<string, string>;
  readonly limitRanges: LimitRanges;
}

const nothing = { gang: null, dispatched: null } as const;

/**
 * The gang of a Workload, or the work if it runs in another cluster. `old`: the running Workload of the same elastic job, which
 * this one extends.
 */
export function readWorkload(
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
