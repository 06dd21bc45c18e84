import { describe, expect, it } from "vitest";
import { configSchema } from "../../../exporter/config/schema.ts";
import type { Queueing, QueueView } from "../../../exporter/join/queues/queueing.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { Eviction } from "../../../exporter/model/queues/eviction.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiQueue } from "../../queues/groupRows.ts";
import {
  admission,
  clusterQueue,
  cohort,
  condition,
  flavor,
  localQueue,
  podSet,
  quota,
  workload,
} from "../../queues/kueueRows.ts";
import { gfdLabels, gpuNode, gpuPod, namespace, now, owner, ownerRef } from "../clusterBuilder.ts";
import { codes, snapshotOf } from "../outcomes.ts";

const h100 = "H100-80GB-HBM3";
const a100 = "A100-SXM4-80GB";
const a100Node = (name: string, physicalGpus: number) =>
  gpuNode(name, physicalGpus, { labels: gfdLabels(physicalGpus, "NVIDIA-A100-SXM4-80GB") });
const ofQueue = (name: string) => ({ labels: { "kueue.x-k8s.io/cluster-queue-name": name } });

const kueue: QueueObjects = {
  ...noQueueObjects,
  kueueResourceFlavors: [
    flavor("a100", { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB" }),
    flavor("h100", { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" }),
  ],
  kueueClusterQueues: [clusterQueue("cq", [quota("a100", 8), quota("h100", 8)])],
  kueueLocalQueues: [localQueue("q", "cq"), localQueue("old", "gone")],
};
const nodes = [a100Node("a", 8), gpuNode("h", 8)];

const queueingOf = (parts: Partial<ClusterState>): Queueing => snapshotOf({ nodes, queues: kueue, ...parts }).queueing;

function queueOf({ queues, domains }: Queueing, name: string, domain: string): QueueView | undefined {
  return queues.find((queue) => queue.name === name && domains[queue.domain]?.name === domain);
}

const waiting = (name: string, count: number, gpus: number, parts: Parameters<typeof workload>[2] = {}) =>
  workload(name, [podSet(count, gpus)], parts);
const withWorkloads = (...kueueWorkloads: QueueObjects["kueueWorkloads"]) => ({ ...kueue, kueueWorkloads });

describe("a quota domain", () => {
  it("can give out what is ready and schedulable, and what is allocated elsewhere", () => {
    const found = queueingOf({
      nodes: [gpuNode("ok", 8), gpuNode("cordoned", 8, { unschedulable: true }), gpuNode("gone", 8, { ready: false })],
      pods: [gpuPod("one", "cordoned", 3, ofQueue("cq")), gpuPod("two", "gone", 2), gpuPod("three", "ok", 1)],
    });
    expect(found.domains).toMatchObject([
      { name: h100, capacity: 13, allocatedOnUnschedulable: 5, unknownBecause: null },
    ]);
    expect(queueOf(found, "cq", h100)).toMatchObject({ allocated: 3, allocatedOnUnschedulable: 3 });
  });

  it("is never smaller than what is allocated in it, though GPUs were lost", () => {
    const lossy = gpuNode("n", 8, { allocatable: { "nvidia.com/gpu": 2 } });
    const found = queueingOf({ nodes: [lossy], pods: [gpuPod("p", "n", 4, ofQueue("cq"))] });
    expect(found.domains[0]?.capacity).toBe(4);
  });

  it("is all pools of a quota; pools of no quota are alone", () => {
    const any = { ...kueue, kueueResourceFlavors: [flavor("a100"), flavor("h100")] };
    expect(queueingOf({ queues: any }).domains.map(({ name }) => name)).toEqual([`${a100}+${h100}`]);
    expect(queueingOf({ queues: noQueueObjects }).domains.map(({ name }) => name)).toEqual([a100, h100]);
  });

  it("in which a quota cannot be said in GPUs says so", () => {
    const shared = gpuNode("s", 8, {
      labels: { ...gfdLabels(8), "nvidia.com/gpu.replicas": "4" },
      capacity: { "nvidia.com/gpu": 32 },
    });
    const snapshot = snapshotOf({ nodes: [...nodes, shared], queues: kueue });
    const [first, second] = snapshot.queueing.domains;
    expect([first?.unknownBecause, second?.unknownBecause]).toEqual([null, expect.stringContaining("ClusterQueue cq")]);
    expect(codes(snapshot)).toContain("queue-quota-unknown");
  });
});

describe("what pods hold", () => {
  it("is in the leaf of their queue, by team", () => {
    const namespaces = [namespace("research", { team: "vision" }), namespace("other", { team: "ads" })];
    const found = queueingOf({
      namespaces,
      queues: {
        ...kueue,
        kueueLocalQueues: [...kueue.kueueLocalQueues, localQueue("q", "cq", { namespace: "other" })],
      },
      pods: [
        gpuPod("one", "h", 2, ofQueue("cq")),
        gpuPod("two", "h", 3, { ...ofQueue("cq"), namespace: "other" }),
        gpuPod("three", "a", 1, { labels: { "kueue.x-k8s.io/queue-name": "q" } }),
      ],
    });
    expect(queueOf(found, "cq", h100)?.teams).toEqual([
      { team: "ads", allocated: 3, pending: 0 },
      { team: "vision", allocated: 2, pending: 0 },
    ]);
    expect(queueOf(found, "cq", h100)?.team).toBeNull();
    expect(queueOf(found, "cq", a100)).toMatchObject({ allocated: 1, team: "vision" });
    expect(queueOf(found, "kueue", a100)).toMatchObject({ kind: "Scheduler", allocated: 1, guaranteed: 8, limit: 8 });
  });

  it("is unqueued where no queue answers for it: entitled to just that", () => {
    const found = queueingOf({ pods: [gpuPod("own", "h", 2)] });
    expect(queueOf(found, "unqueued", h100)).toMatchObject({
      ...{ scheduler: "none", kind: "Unqueued", parent: null, isLeaf: true, allocated: 2, guaranteed: 2, limit: 2 },
      ...{ weight: 0, zeroWeight: "never", team: "research" },
    });
    expect(queueOf(found, "unqueued", a100)).toBeUndefined();
  });

  it("is unqueued where the queue is gone, which is a problem", () => {
    const snapshot = snapshotOf({
      nodes,
      queues: kueue,
      pods: [gpuPod("p", "h", 2, ofQueue("gone")), gpuPod("q", "h", 2, ofQueue("gone"))],
    });
    expect(queueOf(snapshot.queueing, "unqueued", h100)?.allocated).toBe(4);
    const problem = snapshot.problems.find(({ code }) => code === "queue-missing");
    expect(problem).toMatchObject({ subject: "kueue/gone", message: expect.stringContaining("2 pods (research/p") });
  });

  it("names only some queues that are gone, however many names pods carry", () => {
    const pods = Array.from({ length: 40 }, (_, i) => gpuPod(`p${i}`, `n${i}`, 1, ofQueue(`gone-${i}`)));
    const kueueLocalQueues = pods.map((_, i) => localQueue(`q${i}`, `gone-${i}`));
    const queues = { ...kueue, kueueLocalQueues };
    const snapshot = snapshotOf({ nodes: pods.map((_, i) => gpuNode(`n${i}`, 1)), queues, pods });
    expect(snapshot.problems.filter(({ code }) => code === "queue-missing").length).toBe(20);
    expect(queueOf(snapshot.queueing, "unqueued", h100)?.allocated).toBe(40);
  });

  it("is the team's where no scheduler has queues", () => {
    const found = queueingOf({ queues: noQueueObjects, pods: [gpuPod("p", "h", 2, ofQueue("any"))] });
    expect(queueOf(found, "research", h100)).toMatchObject({ kind: "Team", allocated: 2, team: "research" });
    expect(queueOf(found, "none", h100)).toMatchObject({ kind: "Scheduler", allocated: 2 });
  });

  it("is the team's in domains that no scheduler has, beside a scheduler's queues elsewhere", () => {
    const onlyH100 = { ...kueue, kueueClusterQueues: [clusterQueue("cq", [quota("h100", 8)])] };
    const found = queueingOf({ queues: onlyH100, pods: [gpuPod("one", "a", 2), gpuPod("two", "h", 1)] });
    expect(queueOf(found, "research", a100)?.allocated).toBe(2);
    expect(queueOf(found, "unqueued", h100)?.allocated).toBe(1);
  });

  it("is the team's where its queue has no quota of GPUs, as nobody's has", () => {
    const cpu = { ...quota("h100", 8), resource: "cpu" };
    const queues = { ...withWorkloads(waiting("w", 1, 1)), kueueClusterQueues: [clusterQueue("cq", [cpu])] };
    const snapshot = snapshotOf({ nodes, queues, pods: [gpuPod("p", "h", 2, ofQueue("cq"))] });
    expect(queueOf(snapshot.queueing, "research", h100)).toMatchObject({ kind: "Team", allocated: 2 });
    expect(codes(snapshot)).not.toContain("queue-missing");
  });

  it("is under the root of its own scheduler where there are two", () => {
    const found = queueingOf({
      queues: { ...kueue, kaiQueues: [kaiQueue("kai-queue")] },
      pods: [
        gpuPod("one", "h", 2, ofQueue("cq")),
        gpuPod("two", "h", 1, { schedulerName: "kai-scheduler", labels: { "kai.scheduler/queue": "kai-queue" } }),
      ],
    });
    const roots = found.queues.filter(
      ({ kind, domain }) => kind === "Scheduler" && found.domains[domain]?.name.includes(h100),
    );
    expect(roots.map(({ name, allocated }) => [name, allocated])).toEqual([
      ["kueue", 2],
      ["kai", 1],
    ]);
  });
});

describe("work that waits", () => {
  const reserved = admission("cq", "h100", 4, 2);

  it("goes to the first flavor in which its queue has headroom, else to the first", () => {
    const pods = [gpuPod("p", "a", 6, ofQueue("cq"))];
    const found = queueingOf({
      pods,
      queues: withWorkloads(waiting("fits", 1, 2), waiting("next", 2, 2, { createdAt: 1001 })),
    });
    expect(found.gangs.map(({ name, parts }) => [name, found.domains[parts[0]?.domain ?? -1]?.name])).toEqual([
      ["fits", a100],
      ["next", h100],
    ]);
    const full = queueingOf({
      pods: [...pods, gpuPod("q", "h", 8, ofQueue("cq"))],
      queues: withWorkloads(waiting("late", 4, 1)),
    });
    expect(full.domains[full.gangs[0]?.parts[0]?.domain ?? -1]?.name).toBe(a100);
  });

  it("is served by priority, then by age, then by name", () => {
    const found = queueingOf({
      queues: withWorkloads(
        waiting("b", 1, 1),
        waiting("a", 1, 1),
        waiting("old", 1, 1, { createdAt: 900 }),
        waiting("high", 1, 1, { priority: 10, createdAt: 5000 }),
      ),
    });
    const [leaf] = found.queues.filter(({ gangs }) => gangs.length > 0);
    expect(leaf?.gangs.map((gang) => found.gangs[gang]?.name)).toEqual(["high", "old", "a", "b"]);
  });

  it("beyond what its queue may ever hold is no demand", () => {
    const found = queueingOf({ queues: withWorkloads(waiting("w", 9, 1), waiting("ok", 8, 1)) });
    expect(found.gangs.map(({ name, never }) => [name, never])).toEqual([
      ["ok", null],
      ["w", "above-limit"],
    ]);
    expect(queueOf(found, "cq", a100)?.pending).toBe(8);
  });

  it("may use what others lend, but not what they keep", () => {
    const lends = (lendingLimit: number | null) =>
      queueingOf({
        queues: {
          ...withWorkloads(waiting("w", 6, 1)),
          kueueClusterQueues: [
            clusterQueue("cq", [quota("h100", 2)], { cohort: "lab" }),
            clusterQueue("lender", [quota("h100", 6, { lendingLimit })], { cohort: "lab" }),
          ],
        },
      }).gangs[0]?.never;
    expect([lends(null), lends(4), lends(3)]).toEqual([null, null, "above-limit"]);
  });

  it("that needs only some of its members is measured by these", () => {
    const [set] = [podSet(12, 1)];
    const found = queueingOf({ queues: withWorkloads(workload("w", [{ ...set, minCount: 6 }])) });
    expect(found.gangs[0]).toMatchObject({ never: null, min: 6, pods: 6, most: { pods: 12, gpus: 12 } });
  });

  it("for nodes that are not there is no demand", () => {
    const large = { ...kueue, kueueClusterQueues: [clusterQueue("cq", [quota("h100", 100)])] };
    const never = (of: ReturnType<typeof waiting>) =>
      queueingOf({ queues: { ...large, kueueWorkloads: [of] } }).gangs[0]?.never;
    expect(never(waiting("pod larger than a node", 1, 9))).toBe("no-node");
    expect(never(waiting("more than are here", 5, 2))).toBe("no-node");
    expect(never(waiting("all that is here", 4, 2))).toBeNull();
    const selecting = podSet(1, 1, { nodeSelector: { zone: "nowhere" } });
    expect(never(workload("nowhere", [selecting]))).toBe("no-node");
  });

  it("is what is missing of a gang that has quota", () => {
    const found = queueingOf({
      queues: withWorkloads(waiting("w", 4, 2, reserved)),
      pods: [0, 1, 2].map((i) =>
        gpuPod(`p${i}`, i < 2 ? "h" : null, 2, {
          ...ofQueue("cq"),
          annotations: { "kueue.x-k8s.io/workload": "w" },
          gated: i === 2,
        }),
      ),
    });
    expect(found.gangs).toMatchObject([{ bound: 2, min: 4, pods: 2, gpus: 4, notReadyPods: 2, never: null }]);
    expect(queueOf(found, "cq", h100)).toMatchObject({ allocated: 4, pending: 4, reserved: 8 });
    expect(found.queues[found.queueOfPod[2] ?? -1]).toBe(queueOf(found, "cq", h100));
  });

  it("is nothing once all are bound, and only pods that are there once it has begun", () => {
    const annotations = { "kueue.x-k8s.io/workload": "w" };
    const bound = [0, 1, 2, 3].map((i) => gpuPod(`p${i}`, "h", 2, { ...ofQueue("cq"), annotations }));
    const begun = {
      ...reserved,
      conditions: [...(reserved.conditions ?? []), condition("PodsReady", true)],
    };
    expect(queueingOf({ queues: withWorkloads(waiting("w", 4, 2, reserved)), pods: bound }).gangs).toEqual([]);
    // The others have ended.
    const pods = [...bound.slice(0, 2), gpuPod("again", null, 2, { ...ofQueue("cq"), annotations })];
    const found = queueingOf({ queues: withWorkloads(waiting("w", 4, 2, begun)), pods });
    expect(found.gangs).toMatchObject([{ pods: 1, gpus: 2, bound: 2, notReadyPods: 0 }]);
    const none = queueingOf({ queues: withWorkloads(waiting("w", 4, 2, begun)), pods: bound.slice(0, 2) });
    expect(none.gangs).toEqual([]);
  });

  it("has its pods by its owner where they do not name it", () => {
    const job = owner("Job", "train");
    const found = queueingOf({
      queues: withWorkloads(waiting("w", 2, 1, { ...admission("cq", "h100", 2, 1), owner: ownerRef(job) })),
      owners: [job],
      pods: [gpuPod("p", null, 1, { owner: ownerRef(job) })],
    });
    expect(found.gangs).toMatchObject([{ kind: "Job", name: "train", pods: 2, notReadyPods: 1, uid: "uid-w" }]);
  });

  it("by itself is a gang of its workload, in its queue", () => {
    const job = ownerRef(owner("Job", "train"));
    const found = queueingOf({
      pods: [
        gpuPod("p0", null, 2, {
          ...ofQueue("cq"),
          owner: job,
          createdAt: now - 50,
          nodeSelector: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" },
        }),
        gpuPod("p1", null, 1, { ...ofQueue("cq"), owner: job, createdAt: now - 90 }),
        gpuPod("alone", null, 1, { priority: 5 }),
      ],
    });
    expect(found.gangs).toMatchObject([
      { kind: "Pod", name: "alone", queue: null, never: null, parts: [{ queue: null, domain: 0 }] },
      { kind: "Job", name: "train", queue: "cq", pods: 2, gpus: 3, min: 1, since: now - 90, uid: job.uid },
    ]);
    expect(queueOf(found, "cq", h100)?.pending).toBe(2);
    expect(queueOf(found, "cq", a100)?.pending).toBe(1);
  });

  it("of a queue that is gone is no demand; of one whose objects were not read, it is", () => {
    const pods = [gpuPod("p", null, 1, ofQueue("gone"))];
    expect(queueingOf({ pods }).gangs).toMatchObject([{ never: "no-queue", queue: "gone" }]);
    const unread = queueingOf({ pods, queues: noQueueObjects });
    expect(unread.gangs).toMatchObject([{ never: null, queue: "gone" }]);
    expect(queueOf(unread, "research", a100)?.pending).toBe(1);
  });

  it("behind a gate of nobody's queue is held back", () => {
    expect(queueingOf({ pods: [gpuPod("p", null, 1, { gated: true })] }).gangs).toMatchObject([
      { never: "paused", notReadyPods: 1 },
    ]);
  });
});

describe("work that has begun", () => {
  it("is reported with its wait, once it has all members that it needs", () => {
    const annotations = { "kueue.x-k8s.io/workload": "w" };
    const reserved = {
      ...admission("cq", "h100", 2, 1),
      createdAt: now - 600,
      priorityClass: "urgent",
      conditions: [condition("QuotaReserved", true, { changedAt: now - 400 })],
    };
    const pods = [now - 300, now - 200].map((scheduledAt, i) =>
      gpuPod(`p${i}`, "h", 1, { ...ofQueue("cq"), annotations, scheduledAt }),
    );
    const queues = withWorkloads(waiting("w", 2, 1, reserved));
    const found = queueingOf({ queues, pods });
    expect(found.started).toEqual([
      {
        ...{ uid: "uid-w", queue: found.queueOfPod[0], priorityClass: "urgent", gpus: 2 },
        ...{ since: now - 600, reservedAt: now - 400, startedAt: now - 200 },
      },
    ]);
    expect(queueingOf({ queues, pods: pods.slice(1) }).started).toEqual([]);
  });

  it("without an object began when its first pod was bound, not when one was replaced", () => {
    const job = ownerRef(owner("Job", "train"));
    const one = gpuPod("p0", "h", 1, { owner: job, createdAt: now - 500, scheduledAt: now - 400 });
    const other = gpuPod("p1", "h", 1, { owner: job, createdAt: now - 90, scheduledAt: now - 60 });
    expect(queueingOf({ pods: [one, other] }).started).toMatchObject([
      { uid: job.uid, since: now - 500, startedAt: now - 400 },
    ]);
    expect(queueingOf({ pods: [{ ...one, scheduledAt: now - 901 }, other] }).started).toEqual([]);
  });
});

describe("an eviction", () => {
  const eviction: Eviction = {
    ...{ key: "k", scheduler: "kueue", kind: "Workload", namespace: "research", name: "w", uid: "uid-w" },
    ...{ at: now - 100, reason: "InCohortReclamation", isPreemption: true, preemptor: "uid-winner", queue: "cq" },
    ...{
      priorityClass: null,
      allocated: { "nvidia.com/gpu": 4, cpu: 8 },
      allocatedSince: now - 1100,
      checkpointedAt: null,
    },
  };
  const evicted = (parts: Partial<Eviction>, kueueWorkloads: QueueObjects["kueueWorkloads"] = []) =>
    queueingOf({
      evictions: [{ ...eviction, ...parts }],
      queues: { ...kueue, kueueWorkloads },
      namespaces: [namespace("research", { team: "vision" }), namespace("prod", { team: "search" })],
    }).evicted[0];

  it("costs all since the start at most, and what came after a checkpoint where there is one", () => {
    expect(evicted({})).toMatchObject({ gpus: 4, lostGpuSeconds: 4000, isUpperBound: true, team: "vision" });
    expect(evicted({ checkpointedAt: now - 300 })).toMatchObject({ lostGpuSeconds: 800, isUpperBound: false });
    expect(evicted({ checkpointedAt: now + 300 })).toMatchObject({ lostGpuSeconds: 4000, isUpperBound: true });
    expect(evicted({ checkpointedAt: now - 5000 })).toMatchObject({ lostGpuSeconds: 4000, isUpperBound: true });
    expect(evicted({ allocatedSince: null })).toMatchObject({ lostGpuSeconds: null, isUpperBound: true });
  });

  it("names who took the place, as far as that is known", () => {
    const winner = waiting("winner", 1, 4, {
      namespace: "prod",
      localQueue: "q",
      ...admission("cq", "h100", 1, 4),
      owner: ownerRef(owner("Job", "big")),
    });
    expect(evicted({}, [winner])?.preemptor).toEqual({ name: "prod/big", team: "search", queue: "cq" });
    expect(evicted({})?.preemptor).toEqual({ name: "uid-winner", team: null, queue: null });
    expect(evicted({ preemptor: null, isPreemption: false })?.preemptor).toBeNull();
  });
});

it("quotas of teams count where no scheduler has queues", () => {
  const settings = configSchema.parse({ queues: { teams: [{ team: "research", guarantee: 6, limit: 10 }] } });
  const { queueing } = snapshotOf({ nodes, pods: [gpuPod("p", "h", 2)] }, settings);
  expect(queueing.domains.map(({ name, capacity }) => [name, capacity])).toEqual([[`${a100}+${h100}`, 16]]);
  expect(queueing.queues).toMatchObject([
    { kind: "Scheduler", name: "none", guaranteed: 6, allocated: 2 },
    { kind: "Team", name: "research", guaranteed: 6, limit: 10, allocated: 2 },
  ]);
});

it("a chain of thousands of cohorts is walked to its end", () => {
  const kueueCohorts = Array.from({ length: 5000 }, (_, i) => cohort(`c${i}`, i === 0 ? null : `c${i - 1}`));
  const kueueClusterQueues = [clusterQueue("cq", [quota("h100", 4)], { cohort: "c4999" })];
  const found = queueingOf({ queues: { ...withWorkloads(waiting("w", 4, 1)), kueueCohorts, kueueClusterQueues } });
  expect(queueOf(found, "c0", h100)).toMatchObject({ guaranteed: 4, limit: 4, pending: 4 });
});

it("a cohort that only lends is a record without leaves", () => {
  const queues = { ...kueue, kueueClusterQueues: [], kueueCohorts: [cohort("lab", null, [quota("h100", 4)])] };
  expect(queueOf(queueingOf({ queues }), "lab", h100)).toMatchObject({ isLeaf: false, children: [], guaranteed: 4 });
});
