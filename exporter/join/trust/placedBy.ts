import type { OwnerObject } from "../../model/cluster.ts";
import type { OwnerRef, Pod } from "../../model/pod.ts";
import { schedulerNames } from "../../model/wellKnown.ts";

const namesOf: Readonly<Record<keyof typeof schedulerNames, ReadonlySet<string>>> = {
  kai: new Set(schedulerNames.kai),
  volcano: new Set(schedulerNames.volcano),
};

/**
 * Whether a pod is left to KAI (Run:ai) or Volcano to place. The field is fixed when the pod is created, and no other
 * scheduler binds such a pod: labels and annotations in that scheduler's words count for these pods alone.
 */
export const isPlacedBy = (scheduler: keyof typeof schedulerNames, { schedulerName }: Pick<Pod, "schedulerName">) =>
  namesOf[scheduler].has(schedulerName);

/**
 * Whether an object of a queue system was made by a controller for a pod: both are in one namespace, and what controls the
 * object is the pod or one of its owners. `owners`: nearest first, as far as they could be read.
 */
export function isMadeFor(
  object: { readonly namespace: string; readonly owner: OwnerRef | null },
  pod: Pick<Pod, "namespace" | "uid" | "owner">,
  owners: readonly Pick<OwnerObject, "uid" | "owner">[],
): boolean {
  const uid = object.owner?.uid ?? "";
  if (uid === "" || object.namespace !== pod.namespace) return false;
  if (uid === pod.uid || uid === pod.owner?.uid) return true;
  return owners.some((owner) => uid === owner.uid || uid === owner.owner?.uid);
}
