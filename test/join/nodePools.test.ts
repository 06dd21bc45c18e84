import { describe, expect, it } from "vitest";
import type { NodePoolView } from "../../exporter/join/snapshot.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../exporter/model/node.ts";
import type { AutoscalerNodeGroup, KarpenterNodePool } from "../../exporter/model/nodePools.ts";
import { gfdLabels, gpuNode, node } from "./clusterBuilder.ts";
import { nodeOf, snapshotOf } from "./outcomes.ts";

function karpenter(name: string, parts: Partial<KarpenterNodePool> = {}): KarpenterNodePool {
  return {
    name,
    limits: {},
    consolidationPolicy: "WhenEmpty",
    consolidateAfterSeconds: 600,
    capacityTypes: null,
    replicas: null,
    ...parts,
  };
}

/** A node of 8 GPUs with these labels. */
const gpus = (name: string, labels: Readonly<Record<string, string>>, parts: Partial<ClusterNode> = {}): ClusterNode =>
  gpuNode(name, 8, { ...parts, labels: { ...gfdLabels(8), ...labels, ...parts.labels } });

const inPool = (name: string) => ({ "karpenter.sh/nodepool": name });
const group = (name: string, minSize: number | null, maxSize: number | null): AutoscalerNodeGroup => ({
  name,
  minSize,
  maxSize,
});

const poolsOf = (parts: Partial<ClusterState>): readonly NodePoolView[] => snapshotOf(parts).nodePools;
const poolOf = (parts: Partial<ClusterState>, name: string): NodePoolView | undefined =>
  poolsOf(parts).find((pool) => pool.name === name);

describe("node pools", () => {
  it("are those of nodes with GPUs, by name, with who manages them", () => {
    const nodes = [
      gpus("n-3", { "eks.amazonaws.com/nodegroup": "train" }),
      gpus("n-1", inPool("burst")),
      gpus("n-2", inPool("burst")),
      gpus("n-4", {}),
      node("cpu-only", { labels: inPool("web") }),
    ];
    const pools = poolsOf({ nodes, karpenterNodePools: [karpenter("burst"), karpenter("web")] });
    expect(pools.map(({ name, manager, nodes: count, physicalGpus }) => [name, manager, count, physicalGpus])).toEqual([
      ["burst", "karpenter", 2, 16],
      ["train", "cloud", 1, 8],
      ["unknown", "none", 1, 8],
    ]);
    expect(pools[0]).toMatchObject({ consolidationPolicy: "WhenEmpty", consolidateAfterSeconds: 600, maxNodes: null });
    expect(pools[1]).toMatchObject({ consolidationPolicy: null, consolidateAfterSeconds: null });
  });

  it("that may have every capacity type are not taken for those whose object excludes each of them", () => {
    const nodes = [gpus("n-1", inPool("any")), gpus("n-2", inPool("none")), gpus("n-3", inPool("unread"))];
    const pools = poolsOf({ nodes, karpenterNodePools: [karpenter("any"), karpenter("none", { capacityTypes: [] })] });
    expect(pools.map(({ name, capacityTypes }) => [name, capacityTypes])).toEqual([
      ["any", null],
      ["none", []],
      ["unread", null],
    ]);
  });

  it("without a node are there when Karpenter's limits name GPUs", () => {
    const limits = { cpu: 100, "nvidia.com/gpu": 16 };
    const pools = poolsOf({
      karpenterNodePools: [karpenter("big", { limits }), karpenter("web", { limits: { cpu: 9 } })],
    });
    expect(pools).toMatchObject([{ name: "big", manager: "karpenter", limitGpus: 16, nodes: 0, physicalGpus: 0 }]);
  });

  it("of Karpenter whose object was not read are known by their nodes", () => {
    expect(poolsOf({ nodes: [gpus("n", inPool("burst"))] })).toMatchObject([
      { name: "burst", manager: "karpenter", limitGpus: null, consolidationPolicy: null, maxNodes: null },
    ]);
  });

  it("with a fixed number of nodes have it as both bounds, and no consolidation", () => {
    const pools = [
      karpenter("fixed", { replicas: 2, limits: { nodes: 4 } }),
      karpenter("most", { limits: { nodes: 4 } }),
    ];
    const nodes = [gpus("a", inPool("fixed")), gpus("b", inPool("most"))];
    expect(poolsOf({ nodes, karpenterNodePools: pools })).toMatchObject([
      { name: "fixed", minNodes: 2, maxNodes: 2, consolidationPolicy: null, consolidateAfterSeconds: null },
      { name: "most", minNodes: null, maxNodes: 4, consolidationPolicy: "WhenEmpty" },
    ]);
  });
});

describe("Karpenter's limit in physical GPUs", () => {
  const limited = (limits: KarpenterNodePool["limits"], ...nodes: readonly ClusterNode[]) =>
    poolOf({ nodes, karpenterNodePools: [karpenter("p", { limits })] }, "p")?.limitGpus;
  const shared = gpus("shared", inPool("p"), {
    capacity: { "nvidia.com/gpu": 32 },
    labels: { "nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing" },
  });

  it.each([
    ["of whole GPUs", limited({ "nvidia.com/gpu": 24 }, gpus("a", inPool("p"))), 24],
    ["of shared GPUs", limited({ "nvidia.com/gpu": 32 }, shared), 8],
    [
      "of shared GPUs, where another pool has whole ones",
      limited({ "nvidia.com/gpu": 32 }, shared, gpus("o", inPool("o"))),
      8,
    ],
    [
      "where nodes share their GPUs differently",
      limited({ "nvidia.com/gpu": 32 }, shared, gpus("b", inPool("p"))),
      null,
    ],
    ["of MIG instances on no node", limited({ "nvidia.com/mig-1g.10gb": 14 }, gpus("a", inPool("p"))), null],
    ["of another vendor's GPUs", limited({ "amd.com/gpu": 8 }), 8],
    ["on something else", limited({ cpu: 4, memory: 1e9, nodes: 3 }, gpus("a", inPool("p"))), null],
    ["of zero", limited({ "nvidia.com/gpu": 0 }), 0],
  ])("%s", (_what, found, wanted) => {
    expect(found).toBe(wanted);
  });
});

describe("groups of the Cluster Autoscaler", () => {
  const address = "https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroups";

  it.each<[what: string, labels: Record<string, string>, name: string, groups: AutoscalerNodeGroup[], bounds: unknown]>(
    [
      [
        "GKE: one for each zone, added up",
        { "cloud.google.com/gke-nodepool": "gpu" },
        "gke-main-gpu-40ce0341-x9ab",
        [group(`${address}/gke-main-gpu-40ce0341-grp`, 0, 4), group(`${address}/gke-main-gpu-9f00aa12-grp`, 1, 4)],
        ["cluster-autoscaler", 1, 8],
      ],
      [
        "GKE: not those of a pool whose name ends alike",
        { "cloud.google.com/gke-nodepool": "gpu" },
        "gke-main-gpu-40ce0341-x9ab",
        [group(`${address}/gke-main-big-gpu-40ce0341-grp`, 0, 4)],
        ["cloud", null, null],
      ],
      [
        "AKS: the scale set",
        { "kubernetes.azure.com/agentpool": "gpunp" },
        "aks-gpunp-38371103-vmss00000a",
        [group("aks-gpunp-38371103-vmss", 1, 3)],
        ["cluster-autoscaler", 1, 3],
      ],
      [
        "EKS: the Auto Scaling group of the managed node group",
        { "eks.amazonaws.com/nodegroup": "train" },
        "ip-10-0-0-1.ec2.internal",
        [group("eks-train-8cc1a2b3-0d1e-4f56-9a7b-c0ffee123456", 0, 9), group("eks-train", 5, 5)],
        ["cluster-autoscaler", 0, 9],
      ],
      [
        "OKE: the pool itself",
        { "oci.oraclecloud.com/node-pool-id": "ocid1.nodepool.oc1..aaa" },
        "10.0.0.1",
        [group("ocid1.nodepool.oc1..aaa", 2, 6)],
        ["cluster-autoscaler", 2, 6],
      ],
      [
        "sizes that are not known",
        { "kubernetes.azure.com/agentpool": "gpunp" },
        "aks-gpunp-38371103-vmss00000a",
        [group("aks-gpunp-38371103-vmss", null, 3)],
        ["cluster-autoscaler", null, 3],
      ],
      [
        "none of a NodePool of Karpenter",
        { ...inPool("gpu"), "eks.amazonaws.com/nodegroup": "gpu" },
        "n",
        [group("eks-gpu-8cc1a2b3-0d1e-4f56-9a7b-c0ffee123456", 0, 9)],
        ["karpenter", null, null],
      ],
    ],
  )("%s", (_what, labels, name, autoscalerNodeGroups, bounds) => {
    const [pool] = poolsOf({ nodes: [gpus(name, labels)], autoscalerNodeGroups });
    expect([pool?.manager, pool?.minNodes, pool?.maxNodes]).toEqual(bounds);
  });
});

describe("the capacity type of a node", () => {
  it.each<[string, Record<string, string>, string | null]>([
    ["without a label", {}, null],
    ["Karpenter, reserved", { "karpenter.sh/capacity-type": "reserved" }, "reserved"],
    [
      "Karpenter on AWS, out of a named reservation",
      {
        "karpenter.sh/capacity-type": "on-demand",
        "karpenter.k8s.aws/capacity-reservation-id": "cr-56fac701cc1951b03",
      },
      "reserved",
    ],
    ["EKS Auto Mode, out of a named reservation", { "eks.amazonaws.com/capacity-reservation-id": "cr-1" }, "reserved"],
    ["EKS, a capacity block", { "eks.amazonaws.com/capacityType": "CAPACITY_BLOCK" }, "reserved"],
    ["EKS, on demand", { "eks.amazonaws.com/capacityType": "ON_DEMAND" }, "on-demand"],
    ["GKE, a named reservation", { "cloud.google.com/reservation-name": "h100-2026" }, "reserved"],
    ["GKE, an empty name", { "cloud.google.com/reservation-name": "" }, null],
    ["GKE, spot", { "cloud.google.com/gke-spot": "true" }, "spot"],
    ["AKS, spot", { "kubernetes.azure.com/scalesetpriority": "spot" }, "spot"],
    ["a word of someone's own", { "karpenter.sh/capacity-type": "constructor" }, null],
  ])("%s", (_what, labels, wanted) => {
    expect(nodeOf(snapshotOf({ nodes: [gpus("n", labels)] }), "n").capacityType).toBe(wanted);
  });
});
