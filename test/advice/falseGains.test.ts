import { describe, expect, it } from "vitest";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import type { KarpenterNodePool } from "../../exporter/model/nodePools.ts";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import { exporterStandsStill } from "../../exporter/sources/dcgm/pageProblems.ts";
import { account, listed } from "../analysis/prices/priceBuilder.ts";
import { everyKind, gfdLabels, gpuNode, gpuPod, now } from "../join/clusterBuilder.ts";
import {
  analysisAt,
  deployment,
  hour,
  momentOf,
  pageAt,
  physicalGpu,
  podOf,
  replicaSet,
} from "./usage/watchedCluster.ts";
import { adviceOf, nothing, only } from "./wholeAdvice.ts";

/** 10 USD for each GPU and hour. */
const prices = account([listed()]);
const karpenter = (parts: Partial<KarpenterNodePool> = {}): readonly KarpenterNodePool[] => [
  {
    name: "gpu",
    limits: {},
    consolidationPolicy: "WhenEmpty",
    consolidateAfterSeconds: 300,
    capacityTypes: null,
    replicas: null,
    ...parts,
  },
];
const inPool = (name: string, labels: Record<string, string> = {}) =>
  gpuNode(name, 8, { labels: { ...gfdLabels(8), "karpenter.sh/nodepool": "gpu", ...labels } });
const known = new Set([...everyKind, "karpenterNodePools"] as const);
const physicalGpus = (node: string, pods: readonly string[], activity: number) =>
  pageAt(
    node,
    Array.from({ length: 8 }, (_, i) => physicalGpu(`${node}-${i}`, pods[i] === undefined ? 0 : activity, pods[i])),
  );

describe("moving pods so that a node comes free", () => {
  const [a, b] = [deployment("a"), deployment("b")];
  /** 11 of 16 GPUs are free, before and after. */
  const spread = (more: Partial<ClusterState> = {}): Partial<ClusterState> => ({
    prices,
    known,
    karpenterNodePools: karpenter(),
    nodes: [inPool("n1"), inPool("n2")],
    owners: [a, replicaSet(a), b, replicaSet(b)],
    pods: [podOf(a, "a-0", "n1", 2), podOf(b, "b-0", "n2", 3)],
    telemetry: [physicalGpus("n1", ["a-0", "a-0"], 0.8), physicalGpus("n2", ["b-0", "b-0", "b-0"], 0.8)],
    podDisruptionBudgets: [],
    ...more,
  });
  const adviceIn = (more: Partial<ClusterState> = {}) => adviceOf(momentOf(analysisAt(spread(more))));

  it("gains the node that then goes away, for as long as it was not needed", () => {
    const one = only(adviceIn());
    expect(one.title).toBe("move research/a-0 (2 GPUs) from n1 to n2: then n1 is empty and is removed");
    expect(one.effect.before.freeGpus).toBe(11);
    expect(one.effect.after.leastAllocated.freeGpus).toBe(3);
    expect(one.effect.gainedGpus).toEqual({ worst: 8, best: 8 });
    // Its pod came two hours ago: nobody can say that the node was not needed before.
    expect(one.effect.savingPerWeek).toEqual([{ currency: "USD", amount: 8 * 10 * 2 }]);
  });

  it.each<[string, Partial<ClusterState>, string]>([
    ["stays", { karpenterNodePools: karpenter({ consolidateAfterSeconds: null }) }, "it would stay and be paid for"],
    [
      "is let go by nobody now",
      { karpenterNodePools: karpenter({ budgets: [{ nodes: "0", reasons: ["Empty"], schedule: "" }] }) },
      "it would stay and be paid for",
    ],
    [
      "is emptied by Karpenter itself",
      { karpenterNodePools: karpenter({ consolidationPolicy: "WhenEmptyOrUnderutilized" }) },
      "Karpenter moves pods off nodes",
    ],
    ["is of a NodePool that nobody could read", { karpenterNodePools: [] }, "nobody knows whether an empty node"],
  ])("gains nothing where the node %s", (_what, more, reason) => {
    expect(nothing(adviceIn(more))).toContain(reason);
  });

  it("gains nothing where it is reserved, or nobody removes nodes at all: as many GPUs are free as before", () => {
    const reserved = { "karpenter.sh/capacity-type": "reserved" };
    expect(nothing(adviceIn({ nodes: [inPool("n1", reserved), inPool("n2", reserved)] }))).toBe("");
    expect(nothing(adviceIn({ nodes: [gpuNode("n1", 8), gpuNode("n2", 8)], karpenterNodePools: [] }))).toBe("");
  });
});

describe("letting go of idle GPUs", () => {
  const idle = deployment("idle");
  const idleFor = 75 * 60;
  const longAgo = { createdAt: now - 4 * hour, scheduledAt: now - 4 * hour };
  function released(more: Partial<ClusterState> = {}): Recommendation {
    const state: Partial<ClusterState> = {
      prices,
      known,
      nodes: [gpuNode("n1", 8)],
      owners: [idle, replicaSet(idle)],
      pods: [podOf(idle, "idle-0", "n1", 8, longAgo)],
      telemetry: [physicalGpus("n1", Array<string>(8).fill("idle-0"), 0)],
      ...more,
    };
    const idleSince = new Map(Array.from({ length: 8 }, (_, i) => [`n1/n1-${i}`, now - idleFor]));
    const advice = adviceOf(momentOf(analysisAt(state, now, { idleSince })));
    return only({ ...advice, recommendations: advice.recommendations.filter(({ kind }) => kind === "release_idle") });
  }

  it("saves no money while the node stays and nobody takes them, and none of reserved nodes", () => {
    expect(released().effect.savingPerWeek).toEqual([]);
    const never = { nodes: [inPool("n1")], karpenterNodePools: karpenter({ consolidateAfterSeconds: null }) };
    expect(released(never).effect.savingPerWeek).toEqual([]);
    const reserved = [inPool("n1", { "karpenter.sh/capacity-type": "reserved" })];
    expect(released({ nodes: reserved, karpenterNodePools: karpenter() }).effect.savingPerWeek).toEqual([]);
    expect(released().reason).not.toContain("a week");
  });

  it("saves what the node costs where it then goes away, and of a week no more than it was idle", () => {
    const one = released({ nodes: [inPool("n1")], karpenterNodePools: karpenter() });
    expect(one.effect.savingPerWeek).toEqual([{ currency: "USD", amount: 8 * 10 * 1.25 }]);
  });

  it("saves what waiting work takes of them", () => {
    const waiting = gpuPod("next", null, 4);
    const pods = [podOf(idle, "idle-0", "n1", 8, longAgo), waiting];
    const one = released({ pods });
    expect(one.effect.starts).toEqual(["research/next"]);
    expect(one.effect.savingPerWeek).toEqual([{ currency: "USD", amount: 4 * 10 * 1.25 }]);
    const labels = { ...gfdLabels(8), "karpenter.sh/capacity-type": "reserved" };
    const reserved = released({ pods, nodes: [gpuNode("n1", 8, { labels })] });
    expect(reserved.effect).toMatchObject({ starts: ["research/next"], savingPerWeek: [] });
  });
});

describe("seeing GPUs again", () => {
  const exporterPods = ["n2"].map((nodeName) => ({
    namespace: "gpu-operator",
    name: "dcgm-x",
    uid: "uid-x",
    nodeName,
  }));
  const small = deployment("small");

  it("gains no GPU-hours, and comes after what does", () => {
    const state: Partial<ClusterState> = {
      nodes: [gpuNode("n1", 1), gpuNode("n2", 8)],
      owners: [small, replicaSet(small)],
      pods: [
        podOf(small, "small-0", "n1", 1, { createdAt: now - 4 * hour, scheduledAt: now - 4 * hour }),
        gpuPod("train", "n2", 8),
      ],
      telemetry: [pageAt("n1", [physicalGpu("n1-0", 0, "small-0")])],
      exporterPods,
      problems: [exporterStandsStill({ target: "http://10.0.0.2:9400/metrics", node: "n2" }, "frozen", now - hour)],
    };
    const idleSince = new Map([["n1/n1-0", now - 2 * hour]]);
    const { recommendations } = adviceOf(momentOf(analysisAt(state, now, { idleSince })));
    expect(recommendations.map(({ kind }) => kind)).toEqual(["release_idle", "fix_source"]);
    expect(recommendations[1]).toMatchObject({
      effect: { gainedGpus: { worst: 8, best: 8 }, gainedGpuHours: { worst: 0, best: 0 }, savingPerWeek: [] },
      worthGpuHours: 0,
    });
  });
});
