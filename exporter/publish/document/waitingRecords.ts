import type { Analysis } from "../../analysis/analysis.ts";
import { instant, sortByTexts } from "./order.ts";
import type { DispatchedRecord, EvictionRecord, FindingRecord, PartialGangRecord } from "./schema.ts";

/** What is wrong in the configuration of queues, by code, kind and name. */
export function findingRecords({ findings }: Analysis): readonly FindingRecord[] {
  return sortByTexts(findings, (record) => [record.code, record.kind, record.name]);
}

/** Evictions that were observed in the moment, the oldest first. */
export function evictionRecords({ snapshot }: Analysis): readonly EvictionRecord[] {
  const records = snapshot.queueing.evicted.map(({ key: _key, at, ...work }) => ({ at: instant(at), ...work }));
  return sortByTexts(records, (record) => [record.at ?? "", record.namespace, record.name]);
}

/** Work that runs in other clusters, by namespace and name. */
export function dispatchedRecords({ snapshot }: Analysis): readonly DispatchedRecord[] {
  return (snapshot.queueing.dispatched ?? []).map(({ namespace, scheduler: _scheduler, uid: _uid, ...work }) => ({
    namespace,
    ...work,
    since: instant(work.since),
  }));
}

/** Gangs that have some members, but too few, with GPUs. */
export function partialGangRecords({ waiting, snapshot: { at } }: Analysis): readonly PartialGangRecord[] {
  return waiting.partialGangs.map(({ since, ...gang }) => ({
    ...gang,
    since: instant(since),
    gpuHours: (gang.allocatedGpus * (at - since)) / 3600,
  }));
}
