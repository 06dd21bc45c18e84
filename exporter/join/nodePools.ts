import type { ClusterState } from "../model/cluster.ts";
import { gpuLikeResource } from "../model/gpuResource.ts";
import type { AutoscalerNodeGroup, KarpenterNodePool, NodePoolManager } from "../model/nodePools.ts";
import { gpuResources, nodeLabels } from "../model/wellKnown.ts";
import type { PoolFacts } from "./queues/queueSystem.ts";
import { isGpuResource } from "./queues/resourceGpus.ts";
import type { NodePoolView, NodeView } from "./snapshot.ts";

/** The input for finding node pools. `pools` gives the GPU resources on the nodes of each pool of GPUs. */
export interface NodePoolInput {
  readonly state: Pick<ClusterState, "karpenterNodePools" | "autoscalerNodeGroups">;
  readonly nodes: readonly NodeView[];
  readonly pools: readonly PoolFacts[];
}

/** Node pools that have nodes with GPUs, or that Karpenter may fill with GPUs by their limits, in the order of their names. */
export function nodePoolViews({ state, nodes, pools }: NodePoolInput): readonly NodePoolView[] {
  const found = new Map<string, Found>();
  for (const node of nodes) {
    const name = node.nodePool || unknown;
    const known = found.get(name);
    if (known === undefined) found.set(name, { first: node, nodes: 1, physicalGpus: node.physicalGpus ?? 0 });
    else {
      known.nodes += 1;
      known.physicalGpus += node.physicalGpus ?? 0;
    }
  }
  const karpenter = new Map(state.karpenterNodePools.map((pool) => [pool.name, pool] as const));
  const groups = autoscalerGroups(state.autoscalerNodeGroups);
  const names = new Set(found.keys());
  for (const { name, limits } of karpenter.values())
    if (Object.keys(limits).some((resource) => gpuLikeResource(resource))) names.add(name);
  return [...names].sort().map((name) => {
    const members = found.get(name);
    const isKarpenter = members === undefined || nodeLabels.karpenterNodePool in members.first.labels;
    const object = isKarpenter ? (karpenter.get(name) ?? null) : null;
    const group = members === undefined || isKarpenter ? null : groups(groupStemOfNode(members.first));
    return viewOf(name, members, isKarpenter, object, group, pools);
  });
}

/** The sizes of all groups of the Cluster Autoscaler that belong to one node pool. */
type GroupSizes = Omit<AutoscalerNodeGroup, "name">;

/**
 * The end of an address: `gke-CLUSTER-POOL-HASH-grp`. There is one group for each zone of the pool, distinguished by the hash.
 */
const gkeGroup = /^(gke-.+)-[0-9a-f]{8}-grp$/;
/** A node of such a group: `gke-CLUSTER-POOL-HASH-SUFFIX`. */
const gkeNode = /^(gke-.+)-[0-9a-f]{8}-[0-9a-z]{4}$/;
/** A scale set `aks-POOL-NUMBER-vmss`, and its nodes with a number in base 36 after it. */
const aksGroup = /^(aks-.+-vmss)$/;
const aksNode = /^(aks-.+-vmss)[0-9a-z]{6}$/;
/** The Auto Scaling group of a managed node group: `eks-NODEGROUP-UUID`. */
const eksGroup = /^eks-(.+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The part of a group's name that it shares with the names of its nodes. */
function groupStem(name: string): string {
  const last = name.slice(name.lastIndexOf("/") + 1);
  const eks = eksGroup.exec(last)?.[1];
  if (eks !== undefined) return `eks/${eks}`;
  return gkeGroup.exec(last)?.[1] ?? aksGroup.exec(last)?.[1] ?? last;
}

/**
 * The same part, found from one of the nodes: the node pool itself if names show nothing, as with OKE, whose groups are its
 * pools.
 */
function groupStemOfNode({ name, nodePool, labels }: Pick<NodeView, "name" | "nodePool" | "labels">): string {
  const eks = labels[nodeLabels.eksNodeGroup];
  if (eks !== undefined) return `eks/${eks}`;
  return gkeNode.exec(name)?.[1] ?? aksNode.exec(name)?.[1] ?? nodePool;
}

/** Finds the sizes of a node pool by the stem of one of its nodes; the sizes of its groups are added up. */
function autoscalerGroups(groups: readonly AutoscalerNodeGroup[]): (stem: string) => GroupSizes | null {
  const sums = new Map<string, GroupSizes>();
  for (const { name, minSize, maxSize } of groups) {
    const stem = groupStem(name);
    const before = sums.get(stem) ?? { minSize: 0, maxSize: 0 };
    sums.set(stem, { minSize: added(before.minSize, minSize), maxSize: added(before.maxSize, maxSize) });
  }
  return (stem) => sums.get(stem) ?? null;
}

/** The sum of two sizes, which is unknown if one of them is. */
function added(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

const unknown = "unknown";

interface Found {
  readonly first: NodeView;
  nodes: number;
  physicalGpus: number;
}

function viewOf(
  name: string,
  members: Found | undefined,
  isKarpenter: boolean,
  object: KarpenterNodePool | null,
  group: Omit<AutoscalerNodeGroup, "name"> | null,
  pools: readonly PoolFacts[],
): NodePoolView {
  const policy = object?.consolidationPolicy ?? "";
  // A NodePool with a fixed number of nodes is never consolidated, whatever its settings.
  const isStatic = object !== null && object.replicas !== null;
  return {
    name,
    manager: managerOf(name, isKarpenter, group !== null),
    limitGpus: object === null ? null : limitGpus(object, pools),
    consolidationPolicy: policy === "" || isStatic ? null : policy,
    consolidateAfterSeconds: isStatic ? null : (object?.consolidateAfterSeconds ?? null),
    ...(object === null ? {} : { karpenter: object }),
    minNodes: object?.replicas ?? group?.minSize ?? null,
    maxNodes: object?.replicas ?? object?.limits.nodes ?? group?.maxSize ?? null,
    capacityTypes: object?.capacityTypes ?? null,
    nodes: members?.nodes ?? 0,
    physicalGpus: members?.physicalGpus ?? 0,
  };
}

function managerOf(name: string, isKarpenter: boolean, hasGroup: boolean): NodePoolManager {
  if (isKarpenter) return "karpenter";
  if (hasGroup) return "cluster-autoscaler";
  return name === unknown ? "none" : "cloud";
}

/**
 * The physical GPUs up to which Karpenter fills the NodePool. Limits count units of what its nodes offer, shared or
 * partitioned as they are; before it has any, only whole GPUs have a meaning. `null`: no limit on GPUs, or none that can be
 * converted.
 */
function limitGpus({ name, limits }: KarpenterNodePool, pools: readonly PoolFacts[]): number | null {
  // Most NodePools only have limits on CPU, memory and nodes, whose names have no such form.
  const extended = Object.entries(limits).filter(([resource]) => resource.includes("/"));
  if (extended.length === 0) return null;
  const own = pools.map((pool) => pool.among(({ labels }) => labels[nodeLabels.karpenterNodePool] === name));
  let sum: number | null = null;
  for (const [resource, amount] of extended) {
    if (!isGpuResource(resource, own)) continue;
    const unit = unitOn(own, resource);
    if (unit === null) return null;
    sum = (sum ?? 0) + amount * unit;
  }
  return sum;
}

/** Physical GPUs of one unit, if all nodes that offer it agree; one whole GPU if none offers it. */
function unitOn(pools: readonly PoolFacts[], resource: string): number | null {
  let agreed: number | null = null;
  for (const { gpusPerUnit } of pools) {
    const unit = gpusPerUnit(resource);
    if (unit === undefined) continue;
    if (unit === null || (agreed !== null && agreed !== unit)) return null;
    agreed = unit;
  }
  return agreed ?? (resource === gpuResources.nvidia || wholeGpus.has(resource) ? 1 : null);
}

/** Resources of other vendors whose unit is one GPU. */
const wholeGpus: ReadonlySet<string> = new Set(["amd.com/gpu", "habana.ai/gaudi"]);
