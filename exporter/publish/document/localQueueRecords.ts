import type { LocalQueues } from "../../analysis/localQueues/localQueues.ts";
import type { Queueing } from "../../join/queues/queueing.ts";
import type { LocalQueueRecord } from "./localQueueSchema.ts";
import { jsonNumber } from "./queueRecords.ts";
import { sortByTexts } from "./sortByTexts.ts";

/** The LocalQueues of a moment, by ClusterQueue, domain and name. */
export function localQueueRecords(
  { queues, domains }: Pick<Queueing, "queues" | "domains">,
  { shares, admission }: LocalQueues,
): readonly LocalQueueRecord[] {
  const records = shares.map((share): LocalQueueRecord => {
    const { byUsage = false, byWeight = false } = admission.get(share.clusterQueue) ?? {};
    const domain = share.queue === null ? undefined : domains[queues[share.queue]?.domain ?? -1];
    return {
      namespace: share.namespace,
      name: share.name,
      clusterQueue: share.clusterQueue,
      domain: domain?.name ?? null,
      servedBy: byUsage ? "usage" : "priority",
      weight: share.weight,
      weightIsUsed: byWeight,
      usage: jsonNumber(share.usage),
      allocated: share.allocated,
      pending: share.pending,
      entitled: share.entitled,
      deviation: share.deviation,
    };
  });
  return sortByTexts(records, (record) => [
    record.clusterQueue,
    record.domain ?? "",
    record.namespace ?? "\uffff",
    record.name ?? "\uffff",
  ]);
}
