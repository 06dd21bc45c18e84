import { keptTogether } from "../placement/keptTogether.ts";
import { placementRulesOf } from "../placement/placementRules.ts";
import type { Asked, Guard } from "./guard.ts";
import { podName } from "./guard.ts";

/**
 * A pod is moved only if it is known what the scheduler will require of its new place. Objections are rules that cannot be
 * judged here, a gang that its scheduler keeps in one domain of the topology, volumes that cannot be looked up, and a volume that only one node can attach while another pod keeps it.
 */
export const placement: Guard = (asked) => {
  if (asked.how !== "move") return [];
  const { snapshot } = asked.moment.analysis;
  const rules = placementRulesOf(snapshot);
  const together = Map.groupBy(asked.pods, ({ pod }) => pod.workload);
  return asked.pods.flatMap(({ index, pod }) => {
    const mates = together.get(pod.workload)?.length ?? 0;
    const reason = rules.unknownOf(index) ?? keptTogether(snapshot, index, mates) ?? keeperOf(asked, index);
    return reason === null ? [] : [{ pod: index, reason: `${podName(pod)} ${reason}.` }];
  });
};

/** The name of a pod that stays and shares a volume which only one node can attach; `null` if there is none. */
function keeperOf({ moment, pods: asked, lookup }: Asked, index: number): string | null {
  const { snapshot } = moment.analysis;
  const pod = snapshot.pods[index];
  if (pod?.volumeClaims === undefined) return null;
  for (const claim of placementRulesOf(snapshot).volumes.forOneNode(pod)) {
    const users = lookup.claimUsers(`${pod.namespace}/${claim}`);
    const other = snapshot.pods[users.find((user) => !asked.some((one) => one.index === user)) ?? -1];
    if (other !== undefined)
      return `shares the volume of claim ${claim} with ${podName(other)}, and only one node can attach it`;
  }
  return null;
}
