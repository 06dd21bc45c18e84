import { describe, expect, it } from "vitest";
import type { NodePoolView } from "../../exporter/join/snapshot.ts";
import { mayBeDisrupted } from "../../exporter/model/disruption.ts";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import { now } from "../join/clusterBuilder.ts";
import { budget } from "./guards/guardMoment.ts";
import { type KueueCase, kueueMoment, type RunningJob, type TestQueue } from "./kinds/kueueCluster.ts";
import { type MoveCluster, type MovePod, moveMoment, wants } from "./kinds/moveMoment.ts";
import { adviceOf, keptByOthers, nothing, only, titlesOf } from "./wholeAdvice.ts";

const node = (name: string, gpus = 8) => ({ name, gpus });
const pod = (name: string, on: string, gpus: number, parts: Partial<MovePod> = {}): MovePod => ({
  ...{ name, node: on, gpus },
  ...parts,
});
const unprotected = { podDisruptionBudgets: [] };

/** Three nodes of 8 GPUs that are used 7, 6 and 7, and a job that wants 4 (volcano issue 3948). */
const volcano3948: MoveCluster = {
  nodes: [node("n1"), node("n2"), node("n3")],
  pods: [pod("x", "n1", 7), pod("a", "n2", 1), pod("b", "n2", 1), pod("y", "n2", 4), pod("z", "n3", 7)],
  waiting: [wants("train", 1, 4)],
  parts: unprotected,
};

/** Those of its pods that would have to move, otherwise. */
const withMovers = (parts: Partial<MovePod>): MoveCluster => ({
  ...volcano3948,
  pods: volcano3948.pods.map((one) => (["a", "b", "y"].includes(one.name) ? { ...one, ...parts } : one)),
});

const evictions = ({ steps }: Recommendation): readonly string[] =>
  steps.map(({ request }) => request.path).filter((path) => path.endsWith("/eviction"));

describe("volcano issue 3948: 4 GPUs are free on three nodes, and a job wants them on one", () => {
  it("two pods move, and it fits", () => {
    const advice = only(adviceOf(moveMoment(volcano3948)));
    expect(advice.kind).toBe("defragment");
    expect(advice.targets).toEqual(["Pod ads/a", "Pod ads/b"]);
    expect(advice.effect.gainedGpus).toEqual({ worst: 4, best: 4 });
    expect(advice.effect.starts).toEqual(["vision/train"]);
    expect(advice.effect.before.blockedGpus).toBe(4);
    expect(advice.effect.after.leastAllocated.blockedGpus).toBe(0);
    // Both have run for an hour, and each would begin again: 2 x (1 h + 10 min).
    expect(advice.cost).toMatchObject({ pods: 2, gangs: 0, isUpperBound: true, teams: ["ads"] });
    expect(advice.cost.lostGpuHours).toBeCloseTo(2 * (1 + 10 / 60), 6);
    expect(advice.worthGpuHours).toBeCloseTo(4 * 24 - 2 * (1 + 10 / 60), 6);
  });

  it("nobody moves where one of them is of a gang that would be stopped as a whole", () => {
    const gang = { id: "ads/g", min: 2, bound: 2, partialSince: null };
    const others = volcano3948.pods.filter(({ name }) => name === "b" || name === "y" || name === "z");
    const withPair = (parts: Partial<MovePod>): MoveCluster => ({
      ...volcano3948,
      pods: [...others, pod("g-0", "n2", 1, parts), pod("g-1", "n1", 7, { ...parts, hours: 40 })],
    });
    expect(only(adviceOf(moveMoment(withPair({})))).targets).toEqual(["Pod ads/b", "Pod ads/g-0"]);
    const whole = adviceOf(moveMoment(withPair({ of: "g", gang, ownerKind: "Job" })));
    expect(nothing(whole)).toContain("worth: move ads/g (2 pods) and ads/b");
  });
});

describe("kueue issue 5243: quota comes free on nodes where it is of no use", () => {
  const small = (name: string, on: string, hours: number): RunningJob => ({
    ...{ name, queue: "ads", nodes: [on], gpusPerPod: 4, hours },
  });
  const scattered: KueueCase = {
    nodes: { a: 8, b: 8 },
    queues: [
      { name: "ads", nominal: 4 },
      { name: "search", nominal: 12 },
    ],
    running: [small("a1", "a", 1), small("a2", "a", 6), small("b1", "b", 1), small("b2", "b", 5)],
    waiting: [{ name: "whole", queue: "search", pods: 1, gpusPerPod: 8 }],
  };

  it("two that share a node are taken back, though two others would lose less", () => {
    const advice = adviceOf(kueueMoment(scattered));
    const reclaim = advice.recommendations.find(({ kind }) => kind === "reclaim");
    expect(reclaim?.targets).toEqual(["Job ads/b1", "Job ads/b2"]);
    expect(reclaim?.effect.gainedGpus).toEqual({ worst: 8, best: 8 });
    expect(reclaim?.effect.starts).toEqual(["search/whole"]);
  });
});

describe("descheduler issue 1584: each place is taken once", () => {
  const pool: NodePoolView = {
    ...{
      name: "gpu",
      manager: "karpenter",
      limitGpus: null,
      consolidationPolicy: "WhenEmpty",
      consolidateAfterSeconds: 300,
    },
    ...{ minNodes: null, maxNodes: null, capacityTypes: null, nodes: 2, physicalGpus: 16 },
  };
  const emptied = (free: number): MoveCluster => ({
    nodes: [
      { ...node("n1"), nodePool: "gpu" },
      { ...node("n2"), nodePool: "gpu" },
    ],
    pods: [
      ...Array.from({ length: 4 }, (_, i) => pod(`small-${i}`, "n1", 1)),
      pod("large", "n2", 8 - free, { ownerKind: null }),
    ],
    parts: { ...unprotected, nodePools: [pool] },
  });

  it("four pods do not all move to the one free place", () => {
    expect(titlesOf(adviceOf(moveMoment(emptied(1))))).toEqual([]);
    expect(titlesOf(adviceOf(moveMoment(emptied(3))))).toEqual([]);
  });

  it("but to four of them", () => {
    const advice = only(adviceOf(moveMoment(emptied(4))));
    expect(advice.cost.pods).toBe(4);
    expect(advice.effect.gainedGpus).toEqual({ worst: 8, best: 8 });
  });
});

describe("karpenter-provider-aws issue 8447: pods without GPUs keep an expensive node", () => {
  it("it is drained, with what they are and how sure that is", () => {
    const advice = adviceOf(keptByOthers()).recommendations.find(({ kind }) => kind === "scale_in");
    expect(advice?.targets).toEqual(["Node idle"]);
    expect(advice?.reason).toContain("7 pods without GPUs");
    expect(advice?.confidence.level).toBe("medium");
    expect(advice?.effect.before.idleNodeHoursPerWeek).toBe(2);
    expect(advice?.effect.after.leastAllocated.idleNodeHoursPerWeek).toBe(0);
    expect(advice?.steps.flatMap(({ dryRun }) => dryRun ?? []).join("\n")).toContain("--dry-run=server");
  });
});

describe("who may not be moved", () => {
  it.each<[string, MoveCluster, RegExp]>([
    [
      "a pod whose PodDisruptionBudget allows 0 disruptions",
      { ...volcano3948, parts: { podDisruptionBudgets: [budget(0, { namespace: "ads" })] } },
      /guard: .*PodDisruptionBudget ads\/serving allows 0 disruptions/,
    ],
    [
      "a pod, while budgets cannot be read",
      { ...volcano3948, parts: { podDisruptionBudgets: null } },
      /PodDisruptionBudgets could not be read/,
    ],
    ["work of a higher priority", withMovers({ priority: 200 }), /priority 200, above 100/],
    ["an estimated holding", withMovers({ estimated: true }), /only estimated/],
    ["a bare pod", withMovers({ ownerKind: null }), /has no controller/],
    [
      "a pod of a DaemonSet",
      withMovers({ owner: { apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: "uid-agent" } }),
      /belongs to DaemonSet agent/,
    ],
    ["a static pod", withMovers({ disruption: { ...mayBeDisrupted, isStatic: true } }), /is a static pod/],
    [
      "a pod that asks to be left alone",
      withMovers({ disruption: { ...mayBeDisrupted, forbiddenBy: "karpenter.sh/do-not-disrupt" } }),
      /annotation karpenter.sh\/do-not-disrupt/,
    ],
    [
      "a pod with data on its node",
      withMovers({ disruption: { ...mayBeDisrupted, hasLocalStorage: true } }),
      /volume of its node/,
    ],
  ])("%s", (_who, cluster, why) => {
    expect(nothing(adviceOf(moveMoment(cluster)))).toMatch(why);
  });

  it("but work of the same priority may: it is placed again", () => {
    expect(only(adviceOf(moveMoment(withMovers({ priority: 100 })))).targets).toEqual(["Pod ads/a", "Pod ads/b"]);
  });
});

describe("what a move costs", () => {
  const choice = (checkpointedAt: number | null): MoveCluster => ({
    nodes: [node("n1"), node("n2"), node("n3")],
    pods: [
      pod("long", "n1", 1, { hours: 10, checkpointedAt, workloadClass: "batch" }),
      pod("young", "n2", 1, { hours: 2, workloadClass: "batch" }),
      pod("full", "n3", 7, { hours: 99 }),
    ],
    waiting: [wants("train", 1, 8)],
    parts: unprotected,
  });

  it("is the work since the start, where no checkpoint is known: the young one moves", () => {
    const advice = only(adviceOf(moveMoment(choice(null))));
    expect(advice.targets).toEqual(["Pod ads/young"]);
    expect(advice.cost).toMatchObject({ isUpperBound: true });
    expect(advice.cost.lostGpuHours).toBeCloseTo(2 + 10 / 60, 6);
  });

  it("is the work since the last checkpoint: the one that has just made one moves", () => {
    const advice = only(adviceOf(moveMoment(choice(now - 360))));
    expect(advice.targets).toEqual(["Pod ads/long"]);
    expect(advice.cost).toMatchObject({ isUpperBound: false });
    expect(advice.cost.lostGpuHours).toBeCloseTo(0.1 + 10 / 60, 6);
  });
});

describe("gangs", () => {
  it("move whole, wherever their members are", () => {
    const gang = { id: "ads/g", min: 2, bound: 2, partialSince: null };
    const advice = only(
      adviceOf(
        moveMoment({
          nodes: [node("n1", 4), node("n2", 4), node("n3", 4)],
          pods: [
            pod("g-0", "n1", 1, { of: "g", gang, ownerKind: "Job" }),
            pod("g-1", "n2", 1, { of: "g", gang, ownerKind: "Job" }),
            pod("rest", "n2", 2, { hours: 500 }),
            pod("more", "n3", 3, { hours: 500 }),
          ],
          waiting: [wants("train", 1, 4)],
          parts: unprotected,
        }),
      ),
    );
    expect(advice.targets).toEqual(["Job ads/g"]);
    expect(advice.cost).toMatchObject({ pods: 2, gangs: 1 });
    expect(evictions(advice)).toEqual([]);
  });
});

describe("who loses GPUs for work of the same priority", () => {
  const borrowed = (parts: Partial<TestQueue>, running: Partial<RunningJob> = {}): KueueCase => ({
    nodes: { a: 8, b: 8 },
    queues: [
      { name: "ads", nominal: 8 },
      { name: "search", nominal: 8, ...parts },
    ],
    running: ["a", "b"].map((on) => ({
      ...{ name: `job-${on}`, queue: "ads", nodes: [on], gpusPerPod: 8, hours: on === "a" ? 1 : 3 },
      ...running,
    })),
    waiting: [{ name: "next", queue: "search", pods: 1, gpusPerPod: 8 }],
  });
  const policy = (reclaimWithinCohort: string): Partial<TestQueue> => ({
    parts: { preemption: { reclaimWithinCohort, withinClusterQueue: "Never", borrowWithinCohort: "Never" } },
  });
  const reclaimIn = (given: KueueCase) =>
    adviceOf(kueueMoment(given)).recommendations.filter(({ kind }) => kind === "reclaim");

  it("is who borrows, where the scheduler itself would take it back", () => {
    expect(reclaimIn(borrowed(policy("Any"))).map(({ targets }) => targets)).toEqual([["Job ads/job-a"]]);
  });

  it.each(["Never", "LowerPriority"])("is nobody under reclaimWithinCohort %s", (reclaimWithinCohort) => {
    expect(reclaimIn(borrowed(policy(reclaimWithinCohort)))).toEqual([]);
  });

  it("is never who holds no more than is promised", () => {
    const given = borrowed(policy("Any"));
    const queues = [
      { name: "ads", nominal: 16 },
      { name: "search", nominal: 0, ...policy("Any") },
    ];
    expect(reclaimIn({ ...given, queues })).toEqual([]);
  });

  it("is a Job near its backoffLimit only as a whole: none of its pods is evicted", () => {
    const job = { backoffLimit: 6, failed: 5, onDisruption: "Count", isSuspended: false } as const;
    const [advice] = reclaimIn(borrowed(policy("Any"), { owner: { job } }));
    expect(advice?.steps.length).toBeGreaterThan(0);
    for (const { request } of advice?.steps ?? []) expect(request.path).toContain("/workloads/job-job-a");
  });
});

describe("nothing is to be done", () => {
  it("where the only node with enough free GPUs is cordoned", () => {
    const nodes = [node("n1"), node("n2"), { ...node("n3"), schedulable: false }];
    const pods = [pod("x", "n1", 7), pod("y", "n2", 7)];
    const advice = adviceOf(moveMoment({ ...volcano3948, nodes, pods, waiting: [wants("train", 1, 8)] }));
    expect(titlesOf(advice)).toEqual([]);
  });

  it("where all is packed already", () => {
    const nodes = [node("n1"), node("n2")];
    const advice = adviceOf(moveMoment({ nodes, pods: [pod("x", "n1", 8), pod("y", "n2", 3)], parts: unprotected }));
    expect(advice).toMatchObject({ recommendations: [], withheld: [] });
  });

  it("where GPUs are short: moving pods makes none", () => {
    const nodes = [node("n1"), node("n2")];
    const pods = [pod("x", "n1", 7), pod("y", "n2", 7)];
    expect(titlesOf(adviceOf(moveMoment({ ...volcano3948, nodes, pods })))).toEqual([]);
  });

  it("by moving pods, where quota is short", () => {
    const advice = adviceOf(moveMoment({ ...volcano3948, limit: 3 }));
    expect(titlesOf(advice)).toEqual([]);
    expect(nothing(advice)).toContain("its queue has no quota left for it: moving pods gives it none");
  });
});
