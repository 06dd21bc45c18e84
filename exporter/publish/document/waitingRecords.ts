import type { Analysis } from "../../analysis/analysis.ts";
import type { EvictedWork } from "../../join/queues/queueing.ts";
import { instant } from "./order.ts";
import type { DeadlockRecord, DispatchedRecord, EvictionRecord, FindingRecord, PartialGangRecord } from "./schema.ts";
import { sortByTexts } from "./sortByTexts.ts";

/** What is wrong in the configuration of queues, by code, kind and name. */
export function findingRecords({ findings }: Analysis): readonly FindingRecord[] {
  return sortByTexts(
    findings.map(({ code, scheduler, kind, name, reason, change }) => ({
      code,
      scheduler,
      kind,
      name,
      reason,
      change,
    })),
    (record) => [record.code, record.kind, record.name],
  );
}

/** Evictions that the moment saw, the oldest first. */
export function evictionRecords({ snapshot }: Analysis): readonly EvictionRecord[] {
  return sortByTexts(snapshot.queueing.evicted.map(evictionRecord), (record) => [
    record.at ?? "",
    record.namespace,
    record.name,
  ]);
}

function evictionRecord(work: EvictedWork): EvictionRecord {
  const { preemptor } = work;
  return {
    at: instant(work.at),
    scheduler: work.scheduler,
    kind: work.kind,
    namespace: work.namespace,
    name: work.name,
    team: work.team,
    queue: work.queue,
    priorityClass: work.priorityClass,
    reason: work.reason,
    isPreemption: work.isPreemption,
    preemptor: preemptor === null ? null : { name: preemptor.name, team: preemptor.team, queue: preemptor.queue },
    gpus: work.gpus,
    lostGpuSeconds: work.lostGpuSeconds,
    isUpperBound: work.isUpperBound,
  };
}

/** Work that runs in other clusters, by namespace and name. */
export function dispatchedRecords({ snapshot }: Analysis): DispatchedRecord[] {
  return (snapshot.queueing.dispatched ?? []).map((work) => ({
    namespace: work.namespace,
    kind: work.kind,
    name: work.name,
    team: work.team,
    queue: work.queue,
    localQueue: work.localQueue,
    priorityClass: work.priorityClass,
    cluster: work.cluster,
    since: instant(work.since),
    pods: work.pods,
    gpus: work.gpus,
  }));
}

/** Gangs that have some members with GPUs. */
export function partialGangRecords({ waiting }: Analysis): PartialGangRecord[] {
  return waiting.partialGangs.map(
    ({ since, id, namespace, team, queue, pool, bound, min, allocatedGpus, missingGpus }) => ({
      id,
      namespace,
      team,
      queue,
      pool,
      bound,
      min,
      allocatedGpus,
      missingGpus,
      since: instant(since),
    }),
  );
}

/** Partial gangs that keep each other from starting. */
export function deadlockRecords({ waiting }: Analysis): DeadlockRecord[] {
  return waiting.deadlocks.map(({ pool, gangs, allocatedGpus, missingGpus, freeGpus }) => ({
    pool,
    gangs: [...gangs],
    allocatedGpus,
    missingGpus,
    freeGpus,
  }));
}
