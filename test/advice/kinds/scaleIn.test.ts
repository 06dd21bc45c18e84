import { describe, expect, it } from "vitest";
import type { Found } from "../../../exporter/advice/candidate.ts";
import { findScaleIn } from "../../../exporter/advice/kinds/scaleIn.ts";
import type { AdviceSettings } from "../../../exporter/advice/moment.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { KarpenterNodePool } from "../../../exporter/model/nodePools.ts";
import { account, listed } from "../../analysis/prices/priceBuilder.ts";
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
  capacityTypes: null,
  replicas: null,
};

/** Two nodes of one NodePool; the second has been idle for two hours, and pods without GPUs keep it. */
function cluster(more: Partial<ClusterState> = {}): Partial<ClusterState> {
  return {
    nodes: [karpenterNode("busy"), karpenterNode("idle")],
    pods: [gpuPod("train", "busy", 8)],
    karpenterNodePools: [gpuPool],
    requestsByNode: new Map([
      ["busy", { pods: 4, cpuMilli: 9000, memoryBytes: 0 }],
      ["idle", { pods: 3, cpuMilli: 300, memoryBytes: 0 }],
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
  return findScaleIn(moment, createTrial(moment));
}

const reasonOf = (of: Found): string => of.withheld[0]?.reason ?? "";

describe("an idle node of an autoscaler", () => {
  it("is let go", () => {
    const { candidates, withheld } = found({ prices: account([listed()]) });
    expect(withheld).toEqual([]);
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      title: "take 1 idle node with 8 H100-80GB-HBM3 out of node pool gpu: idle",
      beneficiary: { kind: "pool", name: "gpu" },
      targets: ["Node idle"],
      disrupted: [],
      unused: [{ node: "idle", gpus: 8, since: now - 2 * hour }],
      confidence: { level: "medium" },
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
      "Karpenter removes an empty node of NodePool gpu after 30 s (WhenEmptyOrUnderutilized)",
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
      { nodes, pods: [], requestsByNode: null },
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
    expect(findScaleIn(moment, createTrial(moment))).toEqual({ candidates: [], withheld: [] });
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
    "when someone asks so by %s",
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
    const emptied = found({
      nodes,
      karpenterNodePools: [],
      requestsByNode: new Map(),
      autoscalerNodeGroups: [{ name: "gpu", minSize: 1, maxSize: 4 }],
    });
    expect(emptied.candidates).toEqual([]);
    expect(reasonOf(emptied)).toContain("the Cluster Autoscaler removes an empty node after 10 min");
  });
});

describe("an idle node goes by itself", () => {
  const noPods = new Map([["busy", { pods: 4, cpuMilli: 9000, memoryBytes: 0 }]]);

  it("within the hour, or has no reason to stay: nobody has to do it", () => {
    const soon = found({ karpenterNodePools: [{ ...gpuPool, consolidateAfterSeconds: 2.5 * hour }] });
    expect(soon.candidates).toEqual([]);
    expect(reasonOf(soon)).toContain("Karpenter removes an empty node of NodePool gpu after 2 h 30 min");
    const now_ = found({ requestsByNode: noPods });
    expect(now_.candidates).toEqual([]);
    expect(reasonOf(now_)).toContain("no pod runs on idle, which is 1 h 59 min late");
    const due = found({}, {}, { idle: now - hour });
    expect(due.candidates).toEqual([]);
  });

  it("but only tomorrow: it is let go today", () => {
    const tomorrow = {
      karpenterNodePools: [{ ...gpuPool, consolidateAfterSeconds: 24 * hour }],
      requestsByNode: noPods,
    };
    expect(found(tomorrow).candidates[0]?.targets).toEqual(["Node idle"]);
  });

  it("after the hours in which its NodePool lets none go", () => {
    const budgets = [{ nodes: "0", reasons: [], schedule: "0 9 * * mon-fri" }];
    const closed = found({ karpenterNodePools: [{ ...gpuPool, budgets }] });
    expect(closed.candidates).toEqual([]);
    expect(reasonOf(closed)).toContain("a disruption budget of 0 nodes with a schedule");
  });

  it("not by a NodePool that nobody could read", () => {
    expect(found({ karpenterNodePools: [], requestsByNode: noPods }).candidates).toHaveLength(1);
  });
});

describe("a setting that keeps idle nodes", () => {
  const revision = { apiVersion: "karpenter.sh/v1", uid: "uid-gpu", generation: 3 };

  it("is changed where consolidateAfter is Never, so that Karpenter touches empty nodes and no others", () => {
    const [candidate] = found({
      karpenterNodePools: [{ ...gpuPool, consolidateAfterSeconds: null, revision }],
    }).candidates;
    expect(candidate).toMatchObject({
      targets: ["NodePool gpu"],
      title: "let Karpenter remove empty nodes of NodePool gpu: it has 1 idle node with 8 H100-80GB-HBM3",
      plan: { changes: [{ kind: "removeNode", node: 1 }] },
      measuredBy: { kind: "nodes-removed", nodes: [{ name: "idle", gpus: 8 }] },
    });
    expect(candidate?.steps.map(({ request }) => request)).toEqual([
      {
        verb: "PATCH",
        path: "/apis/karpenter.sh/v1/nodepools/gpu",
        contentType: "application/json-patch+json",
        body: [
          { op: "test", path: "/metadata/uid", value: "uid-gpu" },
          { op: "test", path: "/metadata/generation", value: 3 },
          { op: "add", path: "/spec/disruption/consolidateAfter", value: "60m" },
          { op: "add", path: "/spec/disruption/consolidationPolicy", value: "WhenEmpty" },
        ],
      },
    ]);
    expect(candidate?.reason).toContain("has consolidateAfter: Never");
    expect(JSON.stringify(candidate?.steps)).not.toContain("/nodes/");
  });

  it("is changed where a budget of 0 always holds, for empty nodes alone", () => {
    const budgets = [
      { nodes: "20%", reasons: [], schedule: "" },
      { nodes: "0", reasons: [], schedule: "" },
      { nodes: "0%", reasons: ["Empty"], schedule: "" },
    ];
    const [candidate] = found({ karpenterNodePools: [{ ...gpuPool, budgets }] }).candidates;
    expect(candidate?.steps[0]?.request.body).toEqual([
      { op: "test", path: "/spec/disruption/budgets/2/nodes", value: "0%" },
      { op: "test", path: "/spec/disruption/budgets/1/nodes", value: "0" },
      { op: "remove", path: "/spec/disruption/budgets/2" },
      { op: "add", path: "/spec/disruption/budgets/1/reasons", value: ["Drifted", "Underutilized"] },
    ]);
    const drift = found({
      karpenterNodePools: [{ ...gpuPool, budgets: [{ nodes: "0", reasons: ["Drifted"], schedule: "" }] }],
    });
    expect(drift.candidates[0]?.targets).toEqual(["Node idle"]);
  });

  it("stays where its API has no word for empty nodes, and says so", () => {
    const budgets = [{ nodes: "0", reasons: [], schedule: "" }];
    const old = found({
      karpenterNodePools: [{ ...gpuPool, budgets, revision: { ...revision, apiVersion: "karpenter.sh/v1beta1" } }],
    });
    expect(old.candidates).toEqual([]);
    expect(reasonOf(old)).toContain("budgets have no reasons before karpenter.sh/v1");
  });
});

describe("what is given back", () => {
  it.each([
    [{}, "capacity that is not reserved may not come back"],
    [{ "karpenter.sh/capacity-type": "spot" }, "spot capacity may not come back"],
  ])("may not be had again (%j)", (labels, words) => {
    const [candidate] = found({ nodes: [karpenterNode("busy"), karpenterNode("idle", labels)] }).candidates;
    expect(candidate?.reason).toContain(words);
    expect(candidate?.confidence.reasons.join()).toContain("had again");
  });
});
