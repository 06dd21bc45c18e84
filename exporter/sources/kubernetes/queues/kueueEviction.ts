import { bareRecord } from "../../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import type { Condition } from "../../../model/queues/condition.ts";
import type { Eviction } from "../../../model/queues/eviction.ts";
import type { KueueWorkload } from "../../../model/queues/kueue.ts";
import { conditionOf } from "../boundedFields.ts";

/** The prefix that Kueue adds to the message of a condition that the next reservation of quota has cleared. */
const cleared = "Previously: ";
const preempted = "Preempted";

/**
 * The eviction that a Workload reports, compared with its previous state; `null` where there is none, or where `before` already
 * reported it. `before` is absent for a Workload that appears for the first time: then only an eviction that still lasts
 * counts, with what the object still contains. Kueue clears Evicted with the next reservation. If an eviction came and went
 * between two readings, only the cleared condition reports it, and its time is at the latest that of the reservation.
 */
export function kueueEviction(before: KueueWorkload | undefined, now: KueueWorkload): Eviction | null {
  const evicted = conditionOf(now.conditions, "Evicted");
  if (evicted === null || evicted.changedAt === null) return null;
  const known = before === undefined ? null : conditionOf(before.conditions, "Evicted");
  if (evicted.isTrue) {
    if (known?.isTrue && known.changedAt === evicted.changedAt) return null;
  } else {
    const isMissed = before !== undefined && !known?.isTrue && known?.changedAt !== evicted.changedAt;
    if (!isMissed || !evicted.message.startsWith(cleared)) return null;
  }
  const isPreemption = evicted.isTrue ? evicted.reason === preempted : preemptionMessage.test(evicted.message);
  // Work that waited for quota and was made to stop waiting has lost nothing. Only a reservation clears Evicted, so work that
  // is evicted twice has held something in between.
  const neverAllocated = before?.admission === null && now.admission === null && !known?.isTrue;
  if (evicted.isTrue && neverAllocated && !isPreemption) return null;
  return describe(before, now, evicted, evicted.changedAt, isPreemption);
}

function describe(
  before: KueueWorkload | undefined,
  now: KueueWorkload,
  evicted: Condition,
  at: number,
  isPreemption: boolean,
): Eviction {
  // A cleared condition is about the time before the present admission.
  const holder = before?.admission ? before : evicted.isTrue ? now : null;
  const admission = holder?.admission ?? null;
  return {
    key: `${now.uid}@${at}`,
    scheduler: "kueue",
    kind: "Workload",
    namespace: now.namespace,
    name: now.name,
    uid: now.uid,
    at,
    reason: isPreemption ? preemptionReason(now, evicted) : evicted.isTrue ? evicted.reason : lastReason(before, now),
    isPreemption,
    preemptor: isPreemption ? preemptorIn(evicted.message) : null,
    queue: admission?.clusterQueue ?? queueIn(evicted.message),
    priorityClass: now.priorityClass,
    allocated: holder === null ? bareRecord() : allocatedBy(holder),
    allocatedSince: (before && allocatedSince(before)) ?? (evicted.isTrue ? allocatedSince(now) : null),
    checkpointedAt: now.checkpointedAt ?? before?.checkpointedAt ?? null,
  };
}

/** The uids in `(UID: ..., JobUID: ...)`; versions before 0.10 wrote only the first. */
const uids = /\(UID: ([^\s,)]{1,64})(?:, JobUID: ([^\s,)]{1,64}))?\)/;
const preemptionMessage = /^Previously: Preempted to accommodate a workload/;
const preempteePath = /preemptee path: (\S+)/;

function preemptorIn(message: string): string | null {
  const [, uid, jobUid] = uids.exec(message) ?? [];
  return [uid, jobUid].find((found) => found !== undefined && found !== "UNKNOWN") ?? null;
}

/** The queue at the end of `/root-cohort/cohort/queue`; `null` without a path. */
function queueIn(message: string): string | null {
  const path = preempteePath.exec(message)?.[1];
  const queue = path?.slice(path.lastIndexOf("/") + 1) ?? "";
  return queue === "" || queue === "UNKNOWN" ? null : queue;
}

/** Kueue's words for its reasons (`HumanReadablePreemptionReasons`); of two that begin alike, the longer comes first. */
const reasonWords: readonly (readonly [words: string, reason: string])[] = [
  ["prioritization in the ClusterQueue", "InClusterQueue"],
  ["reclamation within the cohort while borrowing", "InCohortReclaimWhileBorrowing"],
  ["reclamation within the cohort", "InCohortReclamation"],
  ["Fair Sharing within the cohort", "InCohortFairSharing"],
];

/** The kind of preemption, from the condition Preempted while it is true, otherwise from the message. */
function preemptionReason(now: KueueWorkload, evicted: Condition): string {
  const standing = conditionOf(now.conditions, preempted);
  if (evicted.isTrue && standing?.isTrue) return standing.reason;
  return reasonWords.find(([words]) => evicted.message.includes(`due to ${words}`))?.[1] ?? preempted;
}

/** The reason whose count in `schedulingStats` has grown. */
function lastReason(before: KueueWorkload | undefined, now: KueueWorkload): string {
  const countOf = (workload: KueueWorkload | undefined, reason: string): number =>
    workload?.evictions.reduce((sum, entry) => (entry.reason === reason ? sum + entry.count : sum), 0) ?? 0;
  const grown = now.evictions.find(({ reason }) => countOf(now, reason) > countOf(before, reason));
  return grown?.reason ?? "Evicted";
}

function allocatedSince({ conditions }: KueueWorkload): number | null {
  for (const type of ["Admitted", "QuotaReserved"]) {
    const condition = conditionOf(conditions, type);
    if (condition?.isTrue) return condition.changedAt;
  }
  return null;
}

/** The amounts of a Workload's admission, without what its ended pods have given back. */
function allocatedBy({ admission, reclaimable }: KueueWorkload): ResourceAmounts {
  const allocated = bareRecord<number>();
  for (const { podSet, count, usage } of admission?.assignments ?? []) {
    const ended = reclaimable.find((entry) => entry.podSet === podSet)?.count ?? 0;
    const share = count > 0 ? Math.max(0, count - ended) / count : 1;
    for (const [name, amount] of Object.entries(usage)) allocated[name] = (allocated[name] ?? 0) + amount * share;
  }
  return allocated;
}
