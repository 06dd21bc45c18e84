import { describe, expect, it } from "vitest";
import { analyse } from "../../../exporter/analysis/analyse.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { KarpenterNodePool } from "../../../exporter/model/nodePools.ts";
import type { Advice } from "../../../exporter/model/recommendation.ts";
import { decodeKarpenterNodePool } from "../../../exporter/sources/kubernetes/decodeKarpenterNodePool.ts";
import { account, listed } from "../../analysis/prices/priceBuilder.ts";
import { everyKind, gfdLabels, gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import { joined, stateSettings } from "../../join/outcomes.ts";
import { hour, momentOf } from "../usage/watchedCluster.ts";
import { adviceOf, nothing, only } from "../wholeAdvice.ts";

/** A NodePool as the API server gives it, with these `spec.disruption`. */
function nodePool(disruption: object): readonly KarpenterNodePool[] {
  const decoded = decodeKarpenterNodePool({
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "gpu", uid: "5f1d2c3b-0a9e-4d8c-b7a6-1e2f3a4b5c6d", generation: 4 },
    spec: {
      disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", budgets: [{ nodes: "10%" }], ...disruption },
    },
  });
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return [decoded.value];
}

interface Idle {
  readonly disruption?: object;
  readonly hours?: number;
  /** Pods without GPUs on the idle node. */
  readonly pods?: number;
  readonly capacityType?: string;
  readonly more?: Partial<ClusterState>;
}

/** A busy node and an idle one of a NodePool of Karpenter, at 10 USD for each GPU and hour. */
function adviceIn({ disruption = {}, hours = 2, pods = 0, capacityType = "on-demand", more = {} }: Idle): Advice {
  const labels = { ...gfdLabels(8), "karpenter.sh/nodepool": "gpu", "karpenter.sh/capacity-type": capacityType };
  const { snapshot } = joined({
    nodes: ["busy", "idle"].map((name) => gpuNode(name, 8, { labels })),
    pods: [gpuPod("train", "busy", 8)],
    karpenterNodePools: nodePool(disruption),
    requestsByNode: new Map([
      ["busy", { pods: 3, cpuMilli: 300, memoryBytes: 0 }],
      ["idle", { pods, cpuMilli: 100 * pods, memoryBytes: 0 }],
    ]),
    prices: account([listed()]),
    known: new Set([...everyKind, "karpenterNodePools"]),
    ...more,
  });
  const idleNodeSince = new Map([["unallocated/idle", now - hours * hour]]);
  return adviceOf(momentOf(analyse(snapshot, { ...stateSettings, idleNodeSince })));
}

describe("an idle node that Karpenter removes by itself is not advised", () => {
  it.each<[string, Idle, string]>([
    ["in half an hour", { disruption: { consolidateAfter: "2h30m" } }, "after 2 h 30 min"],
    ["at any moment", { disruption: { consolidateAfter: "90m" }, pods: 3 }, "idle within the hour"],
    [
      "long since: nothing is known that keeps it",
      { disruption: { consolidateAfter: "30s" } },
      "look at the autoscaler",
    ],
    [
      "outside the hours of a budget",
      {
        disruption: { consolidateAfter: "30s", budgets: [{ nodes: "0", schedule: "0 8 * * *", duration: "10h" }] },
        pods: 3,
      },
      "outside its hours",
    ],
  ])("%s", (_when, idle, reason) => {
    expect(nothing(adviceIn(idle))).toContain(reason);
  });

  it("nor one that the Cluster Autoscaler removes", () => {
    const labels = { ...gfdLabels(8), "cloud.google.com/gke-nodepool": "gpu" };
    const more: Partial<ClusterState> = {
      nodes: ["busy", "idle"].map((name) => gpuNode(name, 8, { labels })),
      karpenterNodePools: [],
      autoscalerNodeGroups: [{ name: "gpu", minSize: 0, maxSize: 4 }],
    };
    expect(nothing(adviceIn({ more }))).toContain("scale-down-unneeded-time");
    // Its twin: pods without GPUs keep the node, and someone has to drain it.
    expect(only(adviceIn({ more, pods: 3 })).targets).toEqual(["Node idle"]);
  });
});

describe("an idle node that stays is advised", () => {
  it("where pods without GPUs keep it: for what it has cost since, and no whole week", () => {
    const one = only(adviceIn({ disruption: { consolidateAfter: "30s" }, pods: 3 }));
    expect(one.targets).toEqual(["Node idle"]);
    expect(one.effect.savingPerWeek).toEqual([{ currency: "USD", amount: 8 * 10 * 2 }]);
    expect(one.effect.before.idleNodeHoursPerWeek).toBe(2);
    expect(one.reason).toContain(
      "They cost 80 USD an hour: 160 USD while they were idle so far, 13,440 USD in a week.",
    );
    expect(one.reason).toContain("capacity that is not reserved may not come back");
  });

  it("and claims a week after a week", () => {
    const one = only(adviceIn({ disruption: { consolidateAfter: "30s" }, pods: 3, hours: 24 * 20 }));
    expect(one.effect.savingPerWeek).toEqual([{ currency: "USD", amount: 8 * 10 * 168 }]);
  });

  it("where Karpenter removes it only tomorrow", () => {
    expect(only(adviceIn({ disruption: { consolidateAfter: "26h" } })).targets).toEqual(["Node idle"]);
  });

  it.each([
    ["consolidateAfter is Never", { consolidateAfter: "Never" }, "/spec/disruption/consolidateAfter"],
    ["a budget of 0 always holds", { consolidateAfter: "5m", budgets: [{ nodes: "0" }] }, "/spec/disruption/budgets/0"],
  ])("by the setting that keeps it where %s, not node by node", (_why, disruption, path) => {
    const one = only(adviceIn({ disruption, capacityType: "spot" }));
    expect(one.targets).toEqual(["NodePool gpu"]);
    expect(one.steps).toHaveLength(1);
    expect(one.steps[0]?.request.path).toBe("/apis/karpenter.sh/v1/nodepools/gpu");
    expect(JSON.stringify(one.steps[0]?.request.body)).toContain(path);
    expect(one.steps[0]?.precondition).toContain("its uid and generation");
    expect(one.reason).toContain("spot capacity may not come back");
    expect(one.confidence.level).not.toBe("high");
  });

  it("but not where it is reserved", () => {
    const reserved = adviceIn({ disruption: { consolidateAfter: "Never" }, capacityType: "reserved" });
    expect(nothing(reserved)).toContain("reserved capacity");
  });
});
