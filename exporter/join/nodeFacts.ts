import type { CapacityType } from "../model/capacityType.ts";
import type { ClusterNode } from "../model/node.ts";
import { nodeLabels } from "../model/wellKnown.ts";

const nodePoolLabels = [
  nodeLabels.karpenterNodePool,
  nodeLabels.gkeNodePool,
  nodeLabels.eksNodeGroup,
  nodeLabels.aksAgentPool,
  nodeLabels.okeNodePool,
] as const;

/** The autoscaler's or cloud's node pool; `unknown` without a label. */
export function nodePoolOf(node: ClusterNode): string {
  for (const label of nodePoolLabels) {
    const value = node.labels[label];
    if (value !== undefined && value !== "") return value;
  }
  return "unknown";
}

const capacityTypes: Readonly<Record<string, CapacityType>> = {
  "on-demand": "on-demand",
  on_demand: "on-demand",
  ondemand: "on-demand",
  spot: "spot",
  preemptible: "spot",
  reserved: "reserved",
  capacity_block: "reserved",
  "capacity-block": "reserved",
};

/** Labels that name the reservation of a node; nodes without a reservation do not have them. */
const reservationLabels = [
  nodeLabels.karpenterAwsReservation,
  nodeLabels.eksReservation,
  nodeLabels.gkeReservation,
] as const;

/**
 * How the node is paid for, normalised over the clouds' labels; `null` without a label. A named reservation takes precedence
 * over a type: Karpenter called reserved capacity on-demand before it had a type of its own.
 */
export function capacityTypeOf(node: Pick<ClusterNode, "labels">): CapacityType | null {
  const { labels } = node;
  if (labels[nodeLabels.gkeSpot] === "true" || labels[nodeLabels.gkePreemptible] === "true") return "spot";
  if (reservationLabels.some((label) => (labels[label] ?? "") !== "")) return "reserved";
  const named =
    labels[nodeLabels.karpenterCapacityType] ?? labels[nodeLabels.eksCapacityType] ?? labels[nodeLabels.aksPriority];
  if (named === undefined) return null;
  const spelling = named.toLowerCase();
  return Object.hasOwn(capacityTypes, spelling) ? (capacityTypes[spelling] ?? null) : null;
}

/** Taints by which autoscalers and administrators take a node out of service. */
const maintenanceTaint =
  /^(node\.kubernetes\.io\/(unschedulable|out-of-service)|ToBeDeletedByClusterAutoscaler|karpenter\.sh\/disrupted|karpenter\.sh\/disruption|cloud\.google\.com\/impending-node-termination)$|maintenance/i;

/** Not cordoned, and not under a maintenance taint. */
export function isSchedulable(node: ClusterNode): boolean {
  return (
    !node.unschedulable && !node.taints.some((t) => t.effect !== "PreferNoSchedule" && maintenanceTaint.test(t.key))
  );
}

/** Ready by its condition, and not tainted as gone; `null` where the object does not say. */
export function isReady(node: ClusterNode): boolean | null {
  const gone = node.taints.some(
    (t) => t.key === "node.kubernetes.io/unreachable" || t.key === "node.kubernetes.io/not-ready",
  );
  return gone ? false : node.ready;
}
