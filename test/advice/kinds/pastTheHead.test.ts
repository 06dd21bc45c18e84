import { describe, expect, it } from "vitest";
import { findUnblockGang } from "../../../exporter/advice/kinds/unblockGang.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { KueueClusterQueue, KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import { flavor, gpuQuota } from "../../analysis/queueObjectBuilder.ts";
import { gpuNode, now } from "../../join/clusterBuilder.ts";
import { condition } from "../../queues/kueueRows.ts";
import { foundBy, gainsOf, type KueueCase, kueueMoment, onlyCandidate } from "./kueueCluster.ts";

const never = { reclaimWithinCohort: "Never", withinClusterQueue: "Never", borrowWithinCohort: "Never" } as const;

/** A queue that serves strictly in order; by itself unless `parts` say more. */
const strict = (name: string, nominal: number, parts: Partial<KueueClusterQueue> = {}) => ({
  name,
  nominal,
  parts: { queueingStrategy: "StrictFIFO", cohort: null, preemption: never, ...parts } as const,
});

/** 24 GPUs, 8 of them free, and quota for all. The first of the queue asks for 24, the others for what is there. */
const blocked: KueueCase = {
  nodes: { n1: 8, n2: 8, n3: 8 },
  queues: [strict("vision", 24)],
  running: [{ name: "runs", queue: "vision", nodes: ["n1", "n2"], gpusPerPod: 8 }],
  waiting: [
    { name: "big", queue: "vision", pods: 3, gpusPerPod: 8 },
    { name: "tiny", queue: "vision", pods: 1, gpusPerPod: 1 },
    { name: "small", queue: "vision", pods: 1, gpusPerPod: 4 },
  ],
};

const asked = (given: KueueCase) => foundBy(findUnblockGang, kueueMoment(given));
const withGate = (priorityBoost: boolean): Partial<ClusterState> => ({
  schedulerSettings: { kueue: { fairSharing: false, admissionFairSharing: null, priorityBoost }, volcano: null },
});
const withQueue = (parts: Partial<KueueClusterQueue>, given: KueueCase = blocked): KueueCase => ({
  ...given,
  queues: [strict("vision", 24, parts)],
});
const withHead = (pods: number, gpusPerPod: number, given: KueueCase = blocked): KueueCase => ({
  ...given,
  waiting: [{ name: "big", queue: "vision", pods, gpusPerPod }, ...(given.waiting?.slice(1) ?? [])],
});

/** The same with other Workloads than the case makes. */
function withWorkloads(given: KueueCase, change: (one: KueueWorkload) => Partial<KueueWorkload>): KueueCase {
  const { queueObjects } = kueueMoment(given).analysis.snapshot;
  const kueueWorkloads = queueObjects.kueueWorkloads.map((one) => ({ ...one, ...change(one) }));
  return { ...given, more: { ...given.more, queues: { ...queueObjects, kueueWorkloads } } };
}

const product = "nvidia.com/gpu.product";

/** The same, by a Kueue that looks at nodes. */
function withTopology(given: KueueCase): KueueCase {
  const { queueObjects } = kueueMoment(given).analysis.snapshot;
  const kueueResourceFlavors = queueObjects.kueueResourceFlavors.map((one) => ({ ...one, topologyName: "racks" }));
  return { ...given, more: { ...given.more, queues: { ...queueObjects, kueueResourceFlavors } } };
}

/** A head that waits for 8 H100 while 4 are free, before one that asks for an A100. */
function otherGpus(headAsksForH100: boolean): KueueCase {
  const kinds = ["H100", "A100"] as const;
  const given: KueueCase = {
    ...withHead(1, 8),
    nodes: { n1: 8, n2: 8 },
    running: [{ name: "runs", queue: "vision", nodes: ["n1"], gpusPerPod: 4 }],
    queues: [
      strict("vision", 8, {
        quotas: [gpuQuota(8, { flavor: "h100" }), gpuQuota(8, { flavor: "a100" })],
      }),
    ],
  };
  const { queueObjects } = kueueMoment(given).analysis.snapshot;
  const selecting = ({ podSets, name }: KueueWorkload, of: string) =>
    podSets
      .map((one) => ({ ...one, pod: { ...one.pod, nodeSelector: { [product]: of } } }))
      .map((one) => (name === "big" && !headAsksForH100 ? { ...one, pod: { ...one.pod, nodeSelector: {} } } : one));
  return {
    ...given,
    more: {
      nodes: kinds.map((kind, i) => gpuNode(`n${i + 1}`, 8, { labels: { [product]: kind } })),
      queues: {
        ...queueObjects,
        kueueResourceFlavors: kinds.map((kind) => flavor(kind.toLowerCase(), { nodeLabels: { [product]: kind } })),
        kueueWorkloads: queueObjects.kueueWorkloads.map((one) => ({
          ...one,
          podSets: selecting(one, one.name === "small" || one.name === "tiny" ? "A100" : "H100"),
        })),
      },
    },
  };
}

/** Two queues of a cohort; the other has work, too. */
const inCohort = (reclaimWithinCohort: string): KueueCase => ({
  ...blocked,
  queues: [
    strict("vision", 16, { cohort: "all", preemption: { ...never, reclaimWithinCohort } }),
    strict("lender", 8, { cohort: "all" }),
  ],
  running: [
    { name: "runs", queue: "vision", nodes: ["n1"], gpusPerPod: 8 },
    { name: "theirs", queue: "lender", nodes: ["n2"], gpusPerPod: 8 },
  ],
});

describe("work behind the head of a strict queue", () => {
  it("is boosted past it where it fits, those that use most of what is free", () => {
    const moment = kueueMoment(blocked);
    const only = onlyCandidate(foundBy(findUnblockGang, moment));
    expect(only).toMatchObject({
      kind: "unblock_gang",
      title: "boost the priority of vision/tiny and vision/small (5 GPUs) past vision/big: then they start",
      beneficiary: { kind: "queue", name: "vision" },
      targets: ["Workload vision/small", "Workload vision/tiny"],
      plan: { changes: [] },
      disrupted: [],
      guards: [],
      confidence: { level: "low" },
      signs: [
        { kind: "priority-changed", work: "uid-workload-vision-tiny", from: 0, ahead: "uid-workload-vision-big" },
        { kind: "priority-changed", work: "uid-workload-vision-small", from: 0, ahead: "uid-workload-vision-big" },
      ],
    });
    expect(only.reason).toContain("it asks for 24 GPUs and its quota leaves 8 GPUs");
    expect(only.reason).toContain("No pod stops for it");
    expect(only.steps.map(({ title }) => title)).toEqual([
      "Boost the priority of Workload vision/tiny by 1",
      "Boost the priority of Workload vision/small by 1",
      "Take the boost off Workload vision/tiny again",
      "Take the boost off Workload vision/small again",
    ]);
    expect(gainsOf(moment, only)).toEqual({ mostAllocated: 5, leastAllocated: 5 });
  });

  it("no more of it than there is room for together, the largest first", () => {
    const waiting = [
      ...(blocked.waiting ?? []),
      { name: "wide", queue: "vision", pods: 1, gpusPerPod: 7 },
      { name: "other", queue: "vision", pods: 1, gpusPerPod: 2 },
    ];
    expect(onlyCandidate(asked({ ...blocked, waiting })).targets).toEqual([
      "Workload vision/tiny",
      "Workload vision/wide",
    ]);
  });

  it("no more of it than one plan may move", () => {
    const settings = { maxMoves: 1 };
    expect(onlyCandidate(asked({ ...blocked, settings })).targets).toEqual(["Workload vision/small"]);
  });

  it("is advised with more confidence where the feature gate is known to be on", () => {
    expect(onlyCandidate(asked({ ...blocked, more: withGate(true) })).confidence.level).toBe("medium");
  });

  const spacious = (given: KueueCase): KueueCase => ({ ...given, queues: [strict("vision", 64)] });
  const onAll = (gpusPerPod: number) => [{ name: "runs", queue: "vision", nodes: ["n1", "n2", "n3"], gpusPerPod }];
  const stated = (given: KueueCase, message: string): KueueCase =>
    withWorkloads(given, ({ name }) =>
      name === "big" ? { conditions: [condition("QuotaReserved", false, { reason: "Pending", message })] } : {},
    );

  it.each([
    ["asks for little more than its quota leaves", withHead(2, 8)],
    ["waits for nodes, which Kueue does not look at", spacious(blocked)],
    ["waits for nodes that are not there, which Kueue does not look at", spacious(withHead(4, 8))],
    ["asks for little more than is free", withTopology(spacious(withHead(2, 8)))],
    ["asks for little more than a node has", withTopology(spacious({ ...withHead(1, 8), running: onAll(4) }))],
    ["is about to get what others are preempted for", stated(blocked, "Pending the preemption of 1 workload(s)")],
    [
      "waits for CPU",
      stated(spacious(withHead(4, 8)), "insufficient unused quota for cpu in flavor h100, 8 more needed"),
    ],
  ])("is not where the head %s", (_why, given) => {
    const { candidates, withheld } = asked(given);
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ kind: "unblock_gang", subject: "vision", why: "no-plan" }]);
    expect(withheld[0]?.reason).toContain("vision/big may start with what is free, or why it waits is not known");
  });

  it.each([
    [
      "more than its queue may ever hold",
      { ...blocked, queues: [strict("vision", 23)] },
      "more than the queue may ever hold",
    ],
    ["more than is free, by far", withTopology(spacious(blocked)), "it asks for 24 GPUs and 8 GPUs are free"],
    [
      "more than any node has, by far",
      withTopology(spacious({ ...withHead(1, 8), running: onAll(5) })),
      "each of its pods asks for 8 GPUs on one node, and none has more than 3 GPUs free",
    ],
    [
      "what no flavor has",
      stated(
        spacious(withHead(4, 8)),
        "couldn't assign flavors to pod set main: flavor h100 doesn't match node affinity",
      ),
      "no node or flavor that is there suits it",
    ],
    ["other GPUs, though it asks for little more than there are", otherGpus(true), "what it waits for are other GPUs"],
  ])("is where the head asks for %s", (_what, given, why) => {
    expect(onlyCandidate(asked(given)).reason).toContain(why);
  });

  it("is not where the head would take those GPUs, too", () => {
    expect(asked(otherGpus(false)).candidates).toEqual([]);
  });

  it.each([
    [
      "with the feature gate off",
      { ...blocked, more: withGate(false) },
      "no-plan",
      "feature gate PriorityBoost, which is off",
    ],
    [
      "where LocalQueues take turns by use",
      withQueue({ admissionMode: "UsageBasedAdmissionFairSharing" }),
      "no-plan",
      "what LocalQueues have used",
    ],
    [
      "if it could preempt its equals then",
      withQueue({ preemption: { ...never, withinClusterQueue: "LowerPriority" } }),
      "guard",
      "could preempt vision/job-runs",
    ],
    [
      "if it could preempt its equals of the cohort then",
      inCohort("LowerPriority"),
      "guard",
      "could preempt lender/job-theirs",
    ],
    ["if it could preempt them anyway", inCohort("Any"), null, ""],
    [
      "where someone boosts it already",
      withWorkloads(blocked, ({ name }) => (name === "small" ? { priorityBoost: 1 } : {})),
      "no-plan",
      "someone boosts",
    ],
  ] as const)("is judged %s", (_when, given, why, reason) => {
    const { candidates, withheld } = asked(given);
    expect(candidates).toHaveLength(why === null ? 1 : 0);
    expect(withheld.map((one) => one.why)).toEqual(why === null ? [] : [why]);
    expect(withheld.map((one) => one.reason).join()).toContain(reason);
  });

  it("may preempt work of other priorities no more than before", () => {
    const running = [{ name: "runs", queue: "vision", nodes: ["n1", "n2"], gpusPerPod: 8, priority: -10 }];
    const preemption = { ...never, withinClusterQueue: "LowerPriority" };
    expect(asked({ ...withQueue({ preemption }), running }).candidates).toHaveLength(1);
  });

  it.each([
    [
      "the head is of a higher priority: that order is its owner's",
      {
        ...blocked,
        waiting: blocked.waiting?.map((one) => (one.name === "big" ? { ...one, priority: 10 } : one)) ?? [],
      },
    ],
    ["the queue serves whoever fits", withQueue({ queueingStrategy: "BestEffortFIFO" })],
    [
      "nothing behind the head fits",
      { ...blocked, running: [{ name: "runs", queue: "vision", nodes: ["n1", "n2", "n3"], gpusPerPod: 8 }] },
    ],
    ["nobody waits behind it", { ...blocked, waiting: blocked.waiting?.slice(0, 1) ?? [] }],
    [
      "all of them have waited for four minutes",
      withWorkloads(blocked, ({ createdAt }) => ({ createdAt: (createdAt ?? 0) + 1560 })),
    ],
    [
      "those behind have waited for four minutes",
      withWorkloads(blocked, ({ name }) => (name === "big" ? {} : { createdAt: now - 240 })),
    ],
    [
      "it waits for its next try itself",
      withWorkloads(blocked, ({ name }) => (name === "big" ? {} : { requeueAt: now + 600 })),
    ],
  ])("nobody is asked where %s", (_why, given) => {
    expect(asked(given)).toEqual({ candidates: [], withheld: [] });
  });

  it("is behind what is active only", () => {
    const { candidates, withheld } = asked(withWorkloads(blocked, ({ name }) => ({ active: name !== "big" })));
    expect(candidates).toEqual([]);
    expect(withheld.map(({ reason }) => reason).join()).toContain("vision/small fits and waits behind vision/tiny");
  });
});
