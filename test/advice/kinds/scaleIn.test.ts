import { describe, expect, it } from "vitest";
import type { AdviceSettings } from "../../../exporter/advice/adviceSettings.ts";
import type { Found } from "../../../exporter/advice/candidate.ts";
import { findScaleIn } from "../../../exporter/advice/kinds/scaleIn.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import { inOneStep } from "../../../exporter/kernel/steps.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { KarpenterNodePool } from "../../../exporter/model/nodePools.ts";
import { book, listed } from "../../analysis/prices/priceBuilder.ts";
import { everyKind, gfdLabels, gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import { analysisAt, hour, momentOf } from "../usage/watchedCluster.ts";

const nodePool = "karpenter.sh/nodepool";

function karpenterNode(
  name: string,
  labels: Record<string, string> = {},
  parts: Partial<ClusterNode> = {},
): ClusterNode {
  return gpuNode(name, 8, { labels: { ...gfdLabels(8), [nodePool]: "gpu", ...labels }, ...parts });
}

const gpuPool: KarpenterNodePool = {
  name: "gpu",
  limits: {},
  consolidationPolicy: "WhenEmptyOrUnderutilized",
  consolidateAfterSeconds: 30,
  capacityTypes: [],
  replicas: null,
};

/** Two nodes of one NodePool, of which the second has been idle for two hours. */
function cluster(more: Partial<ClusterState> = {}): Partial<ClusterState> {
  return {
    nodes: [karpenterNode("busy"), karpenterNode("idle")],
    pods: [gpuPod("train", "busy", 8)],
    karpenterNodePools: [gpuPool],
    requestsByNode: new Map([
      ["busy", { pods: 4, cpuMilli: 9000, memoryBytes: 0 }],
      ["idle", { pods: 0, cpuMilli: 0, memoryBytes: 0 }],
    ]),
    known: new Set([...everyKind, "karpenterNodePools"]),
    ...more,
  };
}

function found(
  more: Partial<ClusterState> = {},
  settings: Partial<AdviceSettings> = {},
  since: Readonly<Record<string, number>> = { idle: now - 2 * hour },
): Found {
  const idleNodeSince = new Map(Object.entries(since).map(([name, at]) => [`unallocated/${name}`, at]));
  const analysis = { ...analysisAt(cluster(more)) };
  const nodes = analysis.idleNodes.nodes.map((idle) => {
    const name = analysis.snapshot.nodes[idle.node]?.name ?? "";
    return { ...idle, since: idleNodeSince.get(`unallocated/${name}`) ?? now };
  });
  const moment = momentOf({ ...analysis, idleNodes: { ...analysis.idleNodes, nodes } }, undefined, settings);
  return inOneStep(findScaleIn(moment, createTrial(moment)));
}

const reasonOf = (of: Found): string => of.withheld[0]?.reason ?? "";

describe("an idle node of an autoscaler", () => {
  it("is let go", () => {
    const { candidates, withheld } = found({ prices: book([listed()]) });
    expect(withheld).toEqual([]);
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      title: "take 1 idle node with 8 H100-80GB-HBM3 out of node pool gpu: idle",
      beneficiary: { kind: "pool", name: "gpu" },
      targets: ["Node idle"],
      disrupted: [],
      savingPerWeek: [{ currency: "USD", amount: 8 * 10 * 168 }],
      confidence: { level: "high" },
      signs: [{ kind: "nodes-left", nodes: ["idle"] }],
      measuredBy: { kind: "nodes-removed", nodes: [{ name: "idle", gpus: 8 }] },
    });
    expect(candidates[0]?.steps[0]?.command).toContain("kubectl drain idle");
  });

  it("is let go although pods without GPUs keep it, which its autoscaler does not do (karpenter-provider-aws 8447)", () => {
    const requestsByNode = new Map([["idle", { pods: 7, cpuMilli: 20_000, memoryBytes: 0 }]]);
    const [candidate] = found({ requestsByNode }).candidates;
    expect(candidate?.reason).toContain("7 pods without GPUs, those of DaemonSets counted in, would be drained");
    expect(candidate?.reason).toContain(
      "Karpenter takes a node away 30 s after it is empty (WhenEmptyOrUnderutilized)",
    );
    expect(candidate?.evidence).toContainEqual({
      name: "pods without GPUs on them, DaemonSets' counted in",
      value: "7",
    });
    expect(candidate?.confidence.level).toBe("medium");
    expect(candidate?.confidence.reasons.join()).toContain("disruption budgets");
  });

  it("is hardly to be believed where nobody knows what else runs on it", () => {
    expect(found({ requestsByNode: null }).candidates[0]?.confidence.level).toBe("low");
  });

  it("is one of at most so many as a plan may move, idle longest first", () => {
    const nodes = ["a", "b", "c"].map((name) => karpenterNode(name));
    const [candidate] = found(
      { nodes, pods: [] },
      { maxMoves: 2 },
      { a: now - 2 * hour, b: now - 4 * hour, c: now - 3 * hour },
    ).candidates;
    expect(candidate?.targets).toEqual(["Node b", "Node c"]);
    expect(candidate?.reason).toContain("for at least 3 h");
  });
});

describe("an idle node stays", () => {
  it("while it has not been idle for long", () => {
    expect(found({}, {}, { idle: now - hour + 1 })).toEqual({ candidates: [], withheld: [] });
  });

  it("while all nodes are busy: there is nothing to recommend", () => {
    expect(found({ pods: [gpuPod("train", "busy", 8), gpuPod("more", "idle", 1)] })).toEqual({
      candidates: [],
      withheld: [],
    });
  });

  it("when it is kept ready on purpose", () => {
    const analysis = analysisAt(cluster());
    const nodes = analysis.idleNodes.nodes.map((idle) => ({ ...idle, since: now - 2 * hour, isWarmPool: true }));
    const moment = momentOf({ ...analysis, idleNodes: { ...analysis.idleNodes, nodes } });
    expect(inOneStep(findScaleIn(moment, createTrial(moment)))).toEqual({ candidates: [], withheld: [] });
  });

  it("while work waits that fits onto it", () => {
    const withWork = found({ pods: [gpuPod("train", "busy", 8), gpuPod("next", null, 4)] });
    expect(withWork.candidates).toEqual([]);
    expect(reasonOf(withWork)).toContain("Pod research/next waits and could use them");
  });

  it("while queues cannot be read: who knows what waits for it", () => {
    const unread = found({ unreadable: new Set(["kueueWorkloads"]) });
    expect(unread.candidates).toEqual([]);
    expect(reasonOf(unread)).toContain("queues cannot be read");
  });

  it("while work waits that would need it and something else beside it", () => {
    const gang = ["a", "b"].map((name) =>
      gpuPod(name, null, 8, {
        labels: { "pod-group.scheduling.sigs.k8s.io/name": "g", "kueue.x-k8s.io/pod-group-name": "g" },
        annotations: { "kueue.x-k8s.io/pod-group-total-count": "2" },
      }),
    );
    expect(found({ pods: [gpuPod("train", "busy", 8), ...gang] }).candidates).toEqual([]);
  });

  it("not for work that its labels or its size keep away", () => {
    const elsewhere = gpuPod("a100", null, 4, { nodeSelector: { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB" } });
    const tooLarge = gpuPod("large", null, 16);
    expect(found({ pods: [gpuPod("train", "busy", 8), elsewhere, tooLarge] }).candidates).toHaveLength(1);
  });

  it("when nobody takes nodes away", () => {
    const nodes = [gpuNode("idle", 8)];
    const none = found({ nodes, pods: [], karpenterNodePools: [] });
    expect(none.candidates).toEqual([]);
    expect(reasonOf(none)).toContain("no autoscaler or cloud is known");
  });

  it("when its NodePool keeps a fixed number", () => {
    const fixed = found({ karpenterNodePools: [{ ...gpuPool, replicas: 2 }] });
    expect(fixed.candidates).toEqual([]);
    expect(reasonOf(fixed)).toContain("keeps exactly 2 nodes (spec.replicas)");
  });

  it.each(["karpenter.sh/do-not-disrupt", "cluster-autoscaler.kubernetes.io/scale-down-disabled"])(
    "when somebody asks so by %s",
    (name) => {
      const kept = found({
        nodes: [karpenterNode("busy"), karpenterNode("idle", {}, { annotations: { [name]: "true" } })],
      });
      expect(kept.candidates).toEqual([]);
      expect(reasonOf(kept)).toContain(`annotation ${name} of idle asks that it stay`);
      const free = { nodes: [karpenterNode("busy"), karpenterNode("idle", {}, { annotations: { [name]: "false" } })] };
      expect(found(free).candidates).toHaveLength(1);
    },
  );

  it("when it is reserved: it costs the same", () => {
    const nodes = [karpenterNode("busy"), karpenterNode("idle", { "karpenter.sh/capacity-type": "reserved" })];
    const reserved = found({ nodes });
    expect(reserved.candidates).toEqual([]);
    expect(reasonOf(reserved)).toContain("reserved capacity");
  });

  it("when its group is as small as it may be", () => {
    const nodes = ["busy", "idle"].map((name) =>
      gpuNode(name, 8, { labels: { ...gfdLabels(8), "cloud.google.com/gke-nodepool": "gpu" } }),
    );
    const sized = (minSize: number) =>
      found({ nodes, karpenterNodePools: [], autoscalerNodeGroups: [{ name: "gpu", minSize, maxSize: 4 }] });
    expect(sized(2).candidates).toEqual([]);
    expect(reasonOf(sized(2))).toContain("it has 2 nodes and keeps at least 2");
    expect(sized(1).candidates).toHaveLength(1);
  });
});
