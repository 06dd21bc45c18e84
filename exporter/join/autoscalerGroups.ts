import type { AutoscalerNodeGroup } from "../model/nodePools.ts";
import { nodeLabels } from "../model/wellKnown.ts";
import type { NodeView } from "./snapshot.ts";

/** The sizes of all groups of the Cluster Autoscaler that belong to one node pool. */
export type GroupSizes = Omit<AutoscalerNodeGroup, "name">;

/** `gke-CLUSTER-POOL-HASH-grp`, at the end of an address: one for each zone of the pool, of which the hash says them apart. */
const gkeGroup = /^(gke-.+)-[0-9a-f]{8}-grp$/;
/** `gke-CLUSTER-POOL-HASH-SUFFIX`: a node of such a group. */
const gkeNode = /^(gke-.+)-[0-9a-f]{8}-[0-9a-z]{4}$/;
/** `aks-POOL-NUMBER-vmss`, and its nodes with a number in base 36 after it. */
const aksGroup = /^(aks-.+-vmss)$/;
const aksNode = /^(aks-.+-vmss)[0-9a-z]{6}$/;
/** `eks-NODEGROUP-UUID`: the Auto Scaling group of a managed node group. */
const eksGroup = /^eks-(.+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What the name of a group and the names of its nodes have in common. */
function groupStem(name: string): string {
  const last = name.slice(name.lastIndexOf("/") + 1);
  const eks = eksGroup.exec(last)?.[1];
  if (eks !== undefined) return `eks/${eks}`;
  return gkeGroup.exec(last)?.[1] ?? aksGroup.exec(last)?.[1] ?? last;
}

/** The same of one of its nodes: the node pool itself where names say nothing, as with OKE's, whose groups are its pools. */
export function groupStemOfNode({ name, nodePool, labels }: Pick<NodeView, "name" | "nodePool" | "labels">): string {
  const eks = labels[nodeLabels.eksNodeGroup];
  if (eks !== undefined) return `eks/${eks}`;
  return gkeNode.exec(name)?.[1] ?? aksNode.exec(name)?.[1] ?? nodePool;
}

/** Finds the sizes of a node pool by the stem of one of its nodes; the sizes of its groups are added up. */
export function autoscalerGroups(groups: readonly AutoscalerNodeGroup[]): (stem: string) => GroupSizes | null {
  const sums = new Map<string, GroupSizes>();
  for (const { name, minSize, maxSize } of groups) {
    const stem = groupStem(name);
    const before = sums.get(stem) ?? { minSize: 0, maxSize: 0 };
    sums.set(stem, { minSize: added(before.minSize, minSize), maxSize: added(before.maxSize, maxSize) });
  }
  return (stem) => sums.get(stem) ?? null;
}

/** Unknown as soon as a part is. */
function added(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}
