import { describe, expect, it } from "vitest";
import { join } from "../../exporter/join/join.ts";
import { createJoinCache } from "../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import { noQueueObjects, type QueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import { kaiGroup, kaiQueue, volcanoGroup, volcanoQueue } from "../queues/groupRows.ts";
import {
  admission,
  clusterQueue,
  condition,
  flavor,
  localQueue,
  podSet,
  quota,
  workload,
} from "../queues/kueueRows.ts";
import { claimingPod, cluster, gpuNode, gpuPod, now, owner, ownerRef } from "./clusterBuilder.ts";
import { defaultSettings, podOf, snapshotOf } from "./outcomes.ts";

const nodes = [gpuNode("n", 8)];
const train = owner("Job", "train", null, { uid: "uid-train" });

const kueue = (...kueueWorkloads: QueueObjects["kueueWorkloads"]): QueueObjects => ({
  ...noQueueObjects,
  kueueResourceFlavors: [flavor("any")],
  kueueClusterQueues: [clusterQueue("cq", [quota("any", 8)])],
  kueueLocalQueues: [localQueue("q", "cq")],
  kueueWorkloads,
});
const kai = (...kaiPodGroups: QueueObjects["kaiPodGroups"]): QueueObjects => ({
  ...noQueueObjects,
  kaiQueues: [kaiQueue("parent"), kaiQueue("research", { parent: "parent" })],
  kaiPodGroups,
});
const volcano = (...volcanoPodGroups: QueueObjects["volcanoPodGroups"]): QueueObjects => ({
  ...noQueueObjects,
  volcanoQueues: [volcanoQueue("default")],
  volcanoPodGroups,
});

type PodParts = Parameters<typeof gpuPod>[3];
const owned: PodParts = { owner: ownerRef(train), labels: { "kueue.x-k8s.io/queue-name": "q" } };

const objectsIn = (parts: Partial<ClusterState>) =>
  snapshotOf({ nodes, owners: [train], ...parts }).workloads.map(({ queueObject }) => queueObject?.name ?? null);

describe("the object by which a queue system knows a workload", () => {
  it("is the Workload of its owner, bound or waiting", () => {
    const queues = kueue(
      workload("job-train", [podSet(2, 1)], { owner: ownerRef(train), ...admission("cq", "any", 2, 1) }),
    );
    const pods = [gpuPod("a", "n", 1, owned), gpuPod("b", null, 1, owned)];
    const { workloads } = snapshotOf({ nodes, owners: [train], pods, queues });
    expect(workloads.map(({ queueObject }) => queueObject)).toEqual([
      { scheduler: "kueue", kind: "Workload", namespace: "research", name: "job-train", uid: "uid-job-train" },
    ]);
  });

  it("is the Workload that a label of Kueue ties to the Job, or that the pod names", () => {
    const byUid = kueue(workload("w", [podSet(1, 1)], { jobUid: train.uid }));
    expect(objectsIn({ pods: [gpuPod("a", "n", 1, owned)], queues: byUid })).toEqual(["w"]);
    const named = { annotations: { "kueue.x-k8s.io/workload": "w" }, labels: { "kueue.x-k8s.io/queue-name": "q" } };
    expect(objectsIn({ pods: [gpuPod("a", "n", 1, named)], queues: kueue(workload("w", [podSet(1, 1)])) })).toEqual([
      "w",
    ]);
  });

  it("is the PodGroup of KAI or Volcano that its pods name", () => {
    const pods = (annotation: string) => [gpuPod("a", "n", 1, { annotations: { [annotation]: "g" } })];
    const ofKai = snapshotOf({ nodes, pods: pods("pod-group-name"), queues: kai(kaiGroup("g", "research")) });
    expect(ofKai.workloads[0]?.queueObject).toEqual({
      scheduler: "kai",
      kind: "PodGroup",
      namespace: "research",
      name: "g",
      uid: "uid-g",
    });
    for (const annotation of ["scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"]) {
      const found = snapshotOf({ nodes, pods: pods(annotation), queues: volcano(volcanoGroup("g", "default")) });
      expect(found.workloads[0]?.queueObject).toMatchObject({ scheduler: "volcano", kind: "PodGroup", name: "g" });
    }
  });

  it("is the first by name of several of one workload, whatever order they come in", () => {
    const groups = ["b", "a", "c"].map((name) => kaiGroup(name, "research", { owner: null }));
    const pods = ["c", "b", "a"].map((name) =>
      gpuPod(`pod-${name}`, "n", 1, { owner: ownerRef(train), annotations: { "pod-group-name": name } }),
    );
    expect(objectsIn({ pods, queues: kai(...groups) })).toEqual(["a"]);
    expect(objectsIn({ pods: [...pods].reverse(), queues: kai(...[...groups].reverse()) })).toEqual(["a"]);
  });

  it("may ask for claims alone", () => {
    const { labels = {}, owner: above = null } = owned;
    const claims = { ...claimingPod("a", null, "claim"), labels, owner: above };
    const queues = kueue(workload("w", [podSet(1, 0)], { owner: ownerRef(train) }));
    expect(objectsIn({ pods: [claims], queues })).toEqual(["w"]);
  });

  it("is none that has ended, none of another namespace, and none where no queue system is known", () => {
    const pods = [gpuPod("a", "n", 1, owned)];
    const of = (parts: Parameters<typeof workload>[2]) =>
      kueue(workload("w", [podSet(1, 1)], { owner: ownerRef(train), ...parts }));
    expect(objectsIn({ pods, queues: of({ conditions: [condition("Finished", true)] }) })).toEqual([null]);
    const named = [gpuPod("a", "n", 1, { annotations: { "pod-group-name": "g" } })];
    expect(
      objectsIn({ pods: named, queues: kai(kaiGroup("g", "research", { namespace: "other", owner: null })) }),
    ).toEqual([null]);
    expect(objectsIn({ pods, queues: noQueueObjects })).toEqual([null]);
  });

  it("is not known where queues could not be read", () => {
    const queues = kueue(workload("w", [podSet(1, 1)], { owner: ownerRef(train) }));
    const unreadable = new Set(["kueueWorkloads"] as const);
    expect(objectsIn({ pods: [gpuPod("a", "n", 1, owned)], queues, unreadable })).toEqual([null]);
  });
});

describe("the checkpoint of a queue object", () => {
  const checkpointOf = (pod: PodParts, queues: QueueObjects) =>
    podOf(snapshotOf({ nodes, owners: [train], pods: [gpuPod("p", "n", 1, pod)], queues }), "p").checkpointedAt;
  const reported = { checkpointedAt: now - 100 };

  it("is that of its pods", () => {
    const ofOwner = workload("w", [podSet(1, 1)], { owner: ownerRef(train), ...reported });
    expect(checkpointOf(owned, kueue(ofOwner))).toBe(now - 100);
    expect(checkpointOf({ annotations: { "pod-group-name": "g" } }, kai(kaiGroup("g", "research", reported)))).toBe(
      now - 100,
    );
    const named = { annotations: { "scheduling.k8s.io/group-name": "g" } };
    expect(checkpointOf(named, volcano(volcanoGroup("g", "default", reported)))).toBe(now - 100);
  });

  it("is none of pods of other objects, and none in the future", () => {
    const [first, second] = [
      kaiGroup("a", "research", { ...reported, owner: null }),
      kaiGroup("b", "research", { owner: null }),
    ];
    expect(checkpointOf({ annotations: { "pod-group-name": "b" } }, kai(first, second))).toBeNull();
    const later = kaiGroup("g", "research", { checkpointedAt: now + 5 });
    expect(checkpointOf({ annotations: { "pod-group-name": "g" } }, kai(later))).toBeNull();
  });

  it("renews the views of its own pods, and of no others", () => {
    const cache = createJoinCache();
    const pods = ["a", "b"].map((name) => gpuPod(name, "n", 1, { annotations: { "pod-group-name": name } }));
    const viewsWith = (checkpointedAt: number | null) => {
      const groups = [
        kaiGroup("a", "research", { checkpointedAt, owner: null }),
        kaiGroup("b", "research", { ...reported, owner: null }),
      ];
      const state = cluster({ nodes, pods, queues: kai(...groups) });
      return join(state, emptyMemory, defaultSettings, now, cache).snapshot.pods;
    };
    const [before, after] = [viewsWith(null), viewsWith(now - 7)];
    expect(before.map(({ checkpointedAt }) => checkpointedAt)).toEqual([null, now - 100]);
    expect(after.map(({ checkpointedAt }) => checkpointedAt)).toEqual([now - 7, now - 100]);
    expect(after[1]).toBe(before[1]);
    expect(after[0]).not.toBe(before[0]);
  });
});
