import type { NodeView } from "../../join/snapshot.ts";

/**
 * Whether a pod that leaves one node for another may be interrupted there where it was not before: spot capacity, or capacity
 * of which nothing says that it is not, where the pod does not have such already. A missing node is worse.
 */
export function isWorseCapacity(
  { capacityType: from }: Pick<NodeView, "capacityType">,
  to: Pick<NodeView, "capacityType"> | undefined,
): boolean {
  if (to === undefined) return true;
  if (from === "spot" || from === to.capacityType) return false;
  return to.capacityType === "spot" || to.capacityType === null;
}
