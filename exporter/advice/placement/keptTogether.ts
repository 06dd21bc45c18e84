import type { Snapshot } from "../../join/snapshot.ts";
import { oncePer } from "../../kernel/once.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";

/**
 * Why it is not known where a pod may go that leaves its node together with others: its scheduler keeps the pods of a gang in
 * one domain of the topology. A part of a sentence; `null`: it does not. A pod that is alone is in one domain on any node.
 */
export function keptTogether(snapshot: Snapshot, pod: number, together: number): string | null {
  if (together < 2) return null;
  const workload = snapshot.workloads[snapshot.pods[pod]?.workload ?? -1];
  const level = requiredLevels(snapshot.queueObjects).get(workload?.queueObject?.uid ?? "");
  return level === undefined
    ? null
    : `must stay in one domain of ${level} with the rest of its gang, and a plan does not say where that would be`;
}

/** The level that the object of a gang requires, in words, by the uid of the object. */
const requiredLevels = oncePer(
  ({ kueueWorkloads, kaiPodGroups, volcanoPodGroups }: QueueObjects): ReadonlyMap<string, string> => {
    const ofPodSets = kueueWorkloads.map(({ uid, podSets }) => ({
      uid,
      requiredTopology: podSets.find(({ requiredTopology }) => requiredTopology !== undefined)?.requiredTopology,
    }));
    return new Map(
      [...ofPodSets, ...kaiPodGroups, ...volcanoPodGroups].flatMap(({ uid, requiredTopology }) =>
        requiredTopology === undefined
          ? []
          : [[uid, requiredTopology.level ?? `tier ${requiredTopology.tier}`] as const],
      ),
    );
  },
);
