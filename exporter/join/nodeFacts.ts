import type { CapacityType } from "../model/capacityType.ts";
import type { ClusterNode } from "../model/node.ts";
import { nodeAnnotations, nodeLabels } from "../model/wellKnown.ts";
import type { NodeView } from "./snapshot.ts";

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

/** Whether a node is not cordoned, and not under a maintenance taint. */
export function isSchedulable(node: ClusterNode): boolean {
  return (
    !node.unschedulable && !node.taints.some((t) => t.effect !== "PreferNoSchedule" && maintenanceTaint.test(t.key))
  );
}

/** Whether a node is ready by its condition, and not tainted as gone; `null` where the object does not say. */
export function isReady(node: ClusterNode): boolean | null {
  const gone = node.taints.some(
    (t) => t.key === "node.kubernetes.io/unreachable" || t.key === "node.kubernetes.io/not-ready",
  );
  return gone ? false : node.ready;
}

/** Schemes of `spec.providerID` that the clouds' own controllers write (kubernetes/cloud-provider-*). */
const cloudSchemes: Readonly<Record<string, string>> = {
  aws: "aws",
  gce: "gcp",
  azure: "azure",
  oci: "oci",
  ocid1: "oci",
};

/** Schemes of distributions and tools that run on any cloud: they do not show who is paid. */
const anywhere: ReadonlySet<string> = new Set([
  "k3s",
  "k3d",
  "rke2",
  "k0s",
  "kind",
  "minikube",
  "kwok",
  "microk8s",
  "talos",
  "fake",
  "simulated",
]);

/** Labels that only one cloud puts on its nodes, by the start of their names. */
const cloudLabels: readonly (readonly [string, string])[] = [
  ["eks.amazonaws.com/", "aws"],
  ["karpenter.k8s.aws/", "aws"],
  ["cloud.google.com/gke-", "gcp"],
  ["kubernetes.azure.com/", "azure"],
  ["oci.oraclecloud.com/", "oci"],
  ["node.coreweave.cloud/", "coreweave"],
];

/**
 * The cloud that rents out the node: by its providerID (`aws:///eu-west-1a/i-0abc`), or else by its labels; `null` if neither
 * shows it.
 */
export function providerOf({ providerId, labels }: Pick<ClusterNode, "providerId" | "labels">): string | null {
  const scheme = /^(?:([a-z][a-z0-9+-]{0,30}):\/\/|(ocid1)\.)/.exec(providerId.slice(0, 40));
  const name = scheme?.[1] ?? scheme?.[2];
  if (name !== undefined && !anywhere.has(name)) {
    return Object.hasOwn(cloudSchemes, name) ? (cloudSchemes[name] ?? null) : name;
  }
  for (const [start, provider] of cloudLabels) {
    for (const label in labels) if (label.startsWith(start)) return provider;
  }
  return null;
}

/** The cloud's region; `null` where no label names it. */
export function regionOf({ labels }: Pick<ClusterNode, "labels">): string | null {
  const region = labels[nodeLabels.region];
  return region === undefined || region === "" ? null : region;
}

const keepingAnnotations = [nodeAnnotations.karpenterDoNotDisrupt, nodeAnnotations.scaleDownDisabled] as const;

/** The annotation that asks to keep the node. */
export function keptBy({ annotations }: Pick<ClusterNode, "annotations">): Pick<NodeView, "keptBy"> {
  const name = keepingAnnotations.find((one) => Object.hasOwn(annotations, one) && annotations[one] === "true");
  return name === undefined ? {} : { keptBy: name };
}
