import type { OwnerObject } from "../../model/cluster.ts";
import type { OwnerRef, Pod } from "../../model/pod.ts";
import { schedulerNames } from "../../model/wellKnown.ts";

const namesOf: Readonly<Record<keyof typeof schedulerNames, ReadonlySet<string>>> = {
  kai: new Set(schedulerNames.kai),
  volcano: new Set(schedulerNames.volcano),
};

/**
 * Whether a pod leaves it to KAI (Run:ai) or Volcano to place it. The field is fixed when the pod is created, and no other
 * scheduler binds such a pod: labels and annotations that belong to that scheduler count for these pods alone.
 */
export const isPlacedBy = (scheduler: keyof typeof schedulerNames, { schedulerName }: Pick<Pod, "schedulerName">) =>
  namesOf[scheduler].has(schedulerName);

/** The fields of a queue system's object that show for which object a controller made it. */
interface Owned {
  readonly namespace: string;
  readonly owner: OwnerRef | null;
}

/**
 * Finds the object of a queue system that a controller made for a pod or for one of its owners, the nearest first, as `isMadeFor`
 * has it: a pod may name another one in its annotations at any time. Where several were made for one owner, none is found: only
 * the pod's annotation distinguishes them.
 */
export function groupsByOwner<Group extends Owned>(
  groups: readonly Group[],
): (
  pod: Pick<Pod, "namespace" | "uid" | "owner">,
  owners: readonly Pick<OwnerObject, "uid" | "owner">[],
) => Group | null {
  const byOwner = new Map<string, Group | null>();
  for (const group of groups) {
    const uid = group.owner?.uid ?? "";
    if (uid !== "") byOwner.set(`${group.namespace}/${uid}`, byOwner.has(`${group.namespace}/${uid}`) ? null : group);
  }
  return (pod, owners) => {
    if (byOwner.size === 0) return null;
    const uids = [pod.uid, pod.owner?.uid, ...owners.flatMap((owner) => [owner.uid, owner.owner?.uid])];
    for (const uid of uids) {
      const group = uid === undefined ? undefined : byOwner.get(`${pod.namespace}/${uid}`);
      if (group !== undefined) return group;
    }
    return null;
  };
}

/**
 * Whether an object of a queue system was made by a controller for a pod: both are in one namespace, and what controls the
 * object is the pod or one of its owners. `owners`: nearest first, as far as they could be read.
 */
export function isMadeFor(
  object: Owned,
  pod: Pick<Pod, "namespace" | "uid" | "owner">,
  owners: readonly Pick<OwnerObject, "uid" | "owner">[],
): boolean {
  const uid = object.owner?.uid ?? "";
  if (uid === "" || object.namespace !== pod.namespace) return false;
  if (uid === pod.uid || uid === pod.owner?.uid) return true;
  return owners.some((owner) => uid === owner.uid || uid === owner.owner?.uid);
}
