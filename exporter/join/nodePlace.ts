import type { ClusterNode } from "../model/node.ts";
import { nodeAnnotations, nodeLabels } from "../model/wellKnown.ts";
import type { NodeView } from "./snapshot.ts";

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

/** The cloud's region; `null` where no label says. */
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
