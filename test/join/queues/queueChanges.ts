import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiGroup, kaiQueue, volcanoGroup, volcanoQueue } from "../../queues/groupRows.ts";
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
import { now, owner, ownerRef } from "../clusterBuilder.ts";

function withQueues(change: (round: number, state: ClusterState, pick: number) => Partial<QueueObjects>) {
  return (state: ClusterState, pick: number, round: number): ClusterState => ({
    ...state,
    queues: { ...state.queues, ...change(round, state, pick) },
  });
}

const names = ["q", "q0", "q1", "q2", "q3", "q4", "q5"];

/** Gives something to every third pod, from a chosen one on. */
function ofPods(
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
  parts: Partial<Pod> = {},
) {
  return (state: ClusterState, pick: number): ClusterState => ({
    ...state,
    pods: state.pods.map((pod, i) =>
      i % 3 === pick % 3
        ? {
            ...pod,
            ...parts,
            labels: { ...pod.labels, ...labels },
            annotations: { ...pod.annotations, ...annotations },
          }
        : pod,
    ),
  });
}

/** Changes of the objects of queue systems, and of what pods say about them. */
export const queueChanges = {
  "queues of Kueue": withQueues((round) => ({
    kueueResourceFlavors: [flavor("any"), flavor("pool", { "karpenter.sh/nodepool": "other" })],
    kueueCohorts: [cohort("company", round % 4 === 3 ? "lab" : null), cohort("lab", "company", [quota("any", round)])],
    kueueClusterQueues: [
      clusterQueue("cq0", [quota("any", 2 + (round % 3), { lendingLimit: 1 })], { cohort: "lab" }),
      clusterQueue("cq1", [quota("pool", 1), quota("any", 3, { borrowingLimit: round % 2 })], { cohort: "company" }),
      clusterQueue("cq2", [quota("any", 4)], { queueingStrategy: "StrictFIFO", weight: 0 }),
    ],
  })),
  "local queues lead elsewhere": withQueues((round) => ({
    kueueLocalQueues: names.map((name, i) => localQueue(name, `cq${(round + i) % 4}`)),
  })),
  "a workload appears": withQueues((round, { queues }) => ({
    kueueWorkloads: [
      ...queues.kueueWorkloads.filter(({ name }) => name !== `w${round % 4}`),
      workload(`w${round % 4}`, [podSet(1 + (round % 3), 1)], { localQueue: names[round % 7] ?? "q" }),
    ],
  })),
  "a workload is admitted": withQueues((round, { queues }, pick) => ({
    kueueWorkloads: queues.kueueWorkloads.map((one, i) =>
      i === pick % queues.kueueWorkloads.length
        ? { ...one, ...admission(`cq${round % 3}`, "any", 2, 1), priority: round % 2 }
        : one,
    ),
  })),
  "a workload is of an owner": withQueues((round) => ({
    kueueWorkloads: [
      workload("owned", [podSet(2, 1)], {
        ...(round % 2 === 0 ? { owner: ownerRef(owner("Job", "train")) } : { jobUid: owner("JobSet", "set").uid }),
        ...(round % 3 === 0 ? admission("cq1", "any", 2, 1) : {}),
        localQueue: names[round % 7] ?? "q",
      }),
    ],
  })),
  "a workload ends": withQueues((_, { queues }) => ({
    kueueWorkloads: queues.kueueWorkloads.map((one) => ({ ...one, conditions: [condition("Finished", true)] })),
  })),
  "pods of a workload": ofPods({}, { "kueue.x-k8s.io/workload": "w1" }),
  "pods of a cluster queue": ofPods({ "kueue.x-k8s.io/cluster-queue-name": "cq1" }, {}),
  "pods of a local queue": ofPods({ "kueue.x-k8s.io/queue-name": "q1" }, {}),
  "queues of KAI": withQueues((round) => ({
    kaiQueues: [kaiQueue("parent"), kaiQueue("child", { parent: "parent", priority: round })],
    kaiPodGroups: [kaiGroup("g", round % 2 === 0 ? "child" : "gone", { minMember: 1 + round })],
  })),
  "pods of KAI": ofPods(
    { "kai.scheduler/queue": "child" },
    { "pod-group-name": "g" },
    { schedulerName: "kai-scheduler" },
  ),
  "queues of Volcano": withQueues((round) => ({
    volcanoQueues: [volcanoQueue("default"), volcanoQueue("research", { weight: 1 + round })],
    volcanoPodGroups: [volcanoGroup("g", round % 2 === 0 ? "research" : "default")],
  })),
  "pods of Volcano": ofPods({}, { "scheduling.k8s.io/group-name": "g" }, { schedulerName: "volcano" }),
  "resource quotas": withQueues((round) => ({
    resourceQuotas: [{ namespace: "research", name: "gpus", hard: { "nvidia.com/gpu": round }, used: {} }],
  })),
  "work is evicted": (state: ClusterState, _: number, round: number): ClusterState => ({
    ...state,
    evictions: [
      {
        key: `e${round}`,
        scheduler: "kueue",
        kind: "Workload",
        namespace: "research",
        name: "w1",
        uid: "uid-w1",
        at: now + round,
        reason: "Preempted",
        isPreemption: true,
        preemptor: "uid-w2",
        queue: null,
        priorityClass: null,
        allocated: { "nvidia.com/gpu": 2 },
        allocatedSince: now - 100,
        checkpointedAt: round % 2 === 0 ? now - 10 : null,
      },
    ],
  }),
  "no queue system any more": (state: ClusterState): ClusterState => ({ ...state, queues: noQueueObjects }),
} as const;
