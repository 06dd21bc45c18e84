import type { Analysis } from "../../analysis/analysis.ts";
import { gangSuspects } from "../../analysis/stalledParts.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import { sortByTexts } from "./order.ts";
import type { WorkloadRecord } from "./schema.ts";

type SuspectRecord = WorkloadRecord["suspects"][number];

/** Finds the suspects of a workload: the members that differ from the others, in those of its gangs whose GPUs are stalled. */
export function suspectRecords(
  analysis: Pick<Analysis, "accountingEntries" | "snapshot">,
): (workload: WorkloadView) => readonly SuspectRecord[] {
  const { pods } = analysis.snapshot;
  const byGang = gangSuspects(analysis);
  if (byGang.size === 0) return () => [];
  return ({ pods: own }) => {
    const gangs = new Set(own.flatMap((index) => pods[index]?.gang?.id ?? []));
    const records = [...gangs].flatMap((gang) => {
      const suspects = byGang.get(gang);
      return (suspects?.pods ?? []).flatMap((index) => {
        const pod = pods[index];
        if (pod === undefined || suspects === undefined) return [];
        return [{ namespace: pod.namespace, pod: pod.name, node: pod.node, reason: suspects.how }];
      });
    });
    return sortByTexts(records, ({ namespace, pod }) => [namespace, pod]);
  };
}
