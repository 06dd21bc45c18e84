import type { NodeView } from "../../join/snapshot.ts";

/**
 * Whether a pod that moves from one node to another may be interrupted there and could not be before: the new node has spot
 * capacity, or capacity that may be spot, and the old one does not. A missing node counts as worse.
 */
export function isWorseCapacity(
  { capacityType: from }: Pick<NodeView, "capacityType">,
  to: Pick<NodeView, "capacityType"> | undefined,
): boolean {
  if (to === undefined) return true;
  if (from === "spot" || from === to.capacityType) return false;
  return to.capacityType === "spot" || to.capacityType === null;
}
